"""A random forest and what it looks at."""

from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score

data = load_wine()
model = RandomForestClassifier(n_estimators=30, random_state=0)
print(cross_val_score(model, data.data, data.target, cv=3).round(6))
model.fit(data.data, data.target)
print(data.feature_names[model.feature_importances_.argmax()])
