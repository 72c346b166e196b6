import numpy as np
import pandas as pd
from statsmodels.graphics.tsaplots import plot_acf, plot_pacf
from statsmodels.tsa.arima.model import ARIMA
from statsmodels.tsa.holtwinters import ExponentialSmoothing
from statsmodels.tsa.seasonal import seasonal_decompose
from statsmodels.tsa.stattools import adfuller

s = pd.Series(
    np.sin(np.arange(60) / 3) + np.arange(60) / 20,
    index=pd.date_range("2020-01", periods=60, freq="MS"),
)
print(ARIMA(s, order=(1, 1, 0)).fit().forecast(3).round(3))
print(
    ExponentialSmoothing(s, trend="add", seasonal="add", seasonal_periods=12)
    .fit()
    .forecast(2)
    .round(2)
)
print(seasonal_decompose(s, period=12).trend.dropna().head(2).round(3), round(adfuller(s)[0], 4))
plot_acf(s)
plot_pacf(s)
