"""Trend and season, drawn."""

import numpy as np
import pandas as pd
from statsmodels.tsa.seasonal import seasonal_decompose

days = pd.date_range("2023-01-01", periods=84, freq="D")
values = np.arange(84) * 0.1 + np.sin(np.arange(84) * 2 * np.pi / 7)
parts = seasonal_decompose(pd.Series(values, days), period=7)
print(parts.seasonal.iloc[:7].round(6).tolist())
parts.trend.plot(title="Trend")
