"""Ordinary least squares with a summary."""

import numpy as np
import statsmodels.api as sm

rng = np.random.default_rng(6)
x = rng.normal(size=(100, 2))
y = 1 + x @ np.array([2.0, -1.0]) + rng.normal(scale=0.1, size=100)
fit = sm.OLS(y, sm.add_constant(x)).fit()
print(fit.params.round(6), fit.rsquared.round(6))
print(str(fit.summary()).splitlines()[2])
