"""Logarithmic axes."""

import matplotlib.pyplot as plt
import numpy as np

x = np.logspace(0, 4, 40)
plt.loglog(x, x**1.5, "o-", markersize=3)
plt.axhline(1e3, color="gray", linestyle=":")
