"""Contours."""

import matplotlib.pyplot as plt
import numpy as np

x, y = np.meshgrid(np.linspace(-3, 3, 60), np.linspace(-3, 3, 60))
z = np.exp(-(x**2) - y**2) - np.exp(-((x - 1) ** 2) - (y - 1) ** 2)
plt.contourf(x, y, z, 12, cmap="RdBu")
plt.contour(x, y, z, 12, colors="black", linewidths=0.5)
