"""Unit roots and autocorrelation."""

import numpy as np
from statsmodels.tsa.stattools import acf, adfuller

series = np.random.default_rng(11).normal(size=200)
print(round(adfuller(series)[0], 6), acf(series, nlags=3).round(6))
