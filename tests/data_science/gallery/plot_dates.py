"""Dates on an axis."""

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import pandas as pd

days = pd.date_range("2024-01-01", periods=90, freq="D")
figure, axes = plt.subplots()
axes.fill_between(days, range(90), alpha=0.4)
axes.xaxis.set_major_locator(mdates.MonthLocator())
axes.xaxis.set_major_formatter(mdates.DateFormatter("%b"))
