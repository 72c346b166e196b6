"""Scaling, encoding and a model in one, searched over a grid."""

import numpy as np
import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

rng = np.random.default_rng(8)
frame = pd.DataFrame({"size": rng.normal(size=120), "kind": rng.choice(["a", "b"], 120)})
target = (frame["size"] + (frame["kind"] == "a") > 0.5).astype(int)
steps = ColumnTransformer([("n", StandardScaler(), ["size"]), ("c", OneHotEncoder(), ["kind"])])
search = GridSearchCV(Pipeline([("prepare", steps), ("model", SVC())]), {"model__C": [0.1, 1, 10]})
search.fit(frame, target)
print(search.best_params_, round(search.best_score_, 6))
