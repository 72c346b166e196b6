import matplotlib.pyplot as plt
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    ConfusionMatrixDisplay,
    accuracy_score,
    classification_report,
    confusion_matrix,
    roc_auc_score,
)
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_iris(return_X_y=True, as_frame=True)
Xa, Xb, ya, yb = train_test_split(X, y, test_size=0.3, random_state=42, stratify=y)
model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=500))
print(cross_val_score(model, Xa, ya, cv=5, n_jobs=-1).round(4))
model.fit(Xa, ya)
p = model.predict(Xb)
print(accuracy_score(yb, p), confusion_matrix(yb, p))
print(classification_report(yb, p))
search = GridSearchCV(
    Pipeline([("s", StandardScaler()), ("m", LogisticRegression(max_iter=500))]),
    {"m__C": [0.1, 1, 10]},
    cv=3,
    verbose=1,
)
search.fit(Xa, ya)
print(search.best_params_, round(search.best_score_, 4))
print(pd.DataFrame(search.cv_results_)[["param_m__C", "mean_test_score"]])
rf = RandomForestClassifier(n_estimators=20, random_state=0, n_jobs=2).fit(Xa, ya)
print(rf.score(Xb, yb), pd.Series(rf.feature_importances_, index=X.columns).sort_values().round(4))
gb = GradientBoostingClassifier(random_state=0, n_estimators=10).fit(Xa, ya)
print(roc_auc_score(yb, gb.predict_proba(Xb), multi_class="ovr"))
ConfusionMatrixDisplay.from_predictions(yb, p)

plt.show()
