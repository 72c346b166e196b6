"""A curve through points."""

import numpy as np
from scipy.optimize import curve_fit


def decay(t, size, rate, rest):
    return size * np.exp(-rate * t) + rest


t = np.linspace(0, 4, 50)
y = decay(t, 2.5, 1.3, 0.5) + 0.05 * np.random.default_rng(7).normal(size=50)
found, covariance = curve_fit(decay, t, y)
print(found.round(5), np.sqrt(np.diag(covariance)).round(5))
