"""Days to months, and moving means."""

import numpy as np
import pandas as pd

days = pd.date_range("2024-01-01", periods=120, freq="D")
series = pd.Series(np.arange(120) ** 1.2, index=days)
print(series.resample("ME").mean().round(6).to_string())
print(series.rolling("7D").mean().iloc[-1].round(6), series.shift(1).diff().sum().round(6))
print(series.index[3].isoformat(), series.loc["2024-02"].size)
