"""scikit-learn: what the first fit loads, and the search for thread pools that it makes once."""

from __future__ import annotations

import importlib

import _belljar_guards as guards

from . import load_native


def adapt() -> None:
    load_native("sklearn")
    # SelectFromModel(…, importance_getter="a.b"): a path that the program writes.
    importlib.import_module("sklearn.feature_selection._base").attrgetter = guards.attrgetter
    linear_model = importlib.import_module("sklearn.linear_model")
    cluster = importlib.import_module("sklearn.cluster")
    values = [[0.0], [1.0], [2.0], [3.0]]
    linear_model.LinearRegression().fit(values, [0, 1, 2, 3]).predict(values)
    # Looks for thread pools with ctypes; what it finds it keeps.
    cluster.KMeans(n_clusters=2, n_init=1, random_state=0).fit(values)
    importlib.import_module("sklearn.tree").DecisionTreeClassifier().fit(values, [0, 0, 1, 1])
