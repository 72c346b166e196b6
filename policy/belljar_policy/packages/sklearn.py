"""scikit-learn: loads what the first fit needs, and searches for thread pools once."""

from __future__ import annotations

import importlib

import _belljar_guards as guards

from . import load_native


def adapt() -> None:
    load_native("sklearn")
    # SelectFromModel(…, importance_getter="a.b"): an attribute path from the program.
    importlib.import_module("sklearn.feature_selection._base").attrgetter = guards.attrgetter
    linear_model = importlib.import_module("sklearn.linear_model")
    cluster = importlib.import_module("sklearn.cluster")
    values = [[0.0], [1.0], [2.0], [3.0]]
    linear_model.LinearRegression().fit(values, [0, 1, 2, 3]).predict(values)
    # Searches for thread pools with ctypes and caches the result.
    cluster.KMeans(n_clusters=2, n_init=1, random_state=0).fit(values)
    importlib.import_module("sklearn.tree").DecisionTreeClassifier().fit(values, [0, 0, 1, 1])
