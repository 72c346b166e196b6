import numpy as np
import pandas as pd

rng = np.random.default_rng(0)
s = pd.Series(
    rng.normal(size=100).cumsum(), index=pd.date_range("2024-01-01", periods=100, freq="h")
)
print(s.rolling(5).mean().tail(3).round(4))
print(s.rolling("6h").apply(lambda w: w[-1] - w[0], raw=True).tail(3).round(4))
print(s.resample("D").ohlc().round(3))
print(
    s.ewm(span=10).mean().iloc[-1].round(5),
    s.diff().abs().max().round(5),
    s.pct_change().shift(2).notna().sum(),
)
print(s.expanding().std().tail(1).round(4))
print(s.asfreq("30min").interpolate().head(4).round(4))
print(s.tz_localize("UTC").tz_convert("Europe/Berlin").head(2))
