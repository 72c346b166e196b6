"""A forecast."""

import numpy as np
import statsmodels.api as sm

rng = np.random.default_rng(10)
series = np.cumsum(rng.normal(0.2, 1, 80))
fit = sm.tsa.ARIMA(series, order=(1, 1, 0)).fit()
print(fit.params.round(3), fit.forecast(3).round(2))
