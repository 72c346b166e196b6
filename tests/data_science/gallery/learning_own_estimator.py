"""A model of the program's own among scikit-learn's."""

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.model_selection import cross_val_score


class Median(RegressorMixin, BaseEstimator):
    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, x, y):
        self.median_ = np.median(y)
        return self

    def predict(self, x):
        return np.full(len(x), self.median_ + self.shift)


x, y = np.arange(30.0).reshape(-1, 1), np.arange(30.0) % 7
print(Median(1.5).get_params(), cross_val_score(Median(), x, y, cv=3).round(6))
