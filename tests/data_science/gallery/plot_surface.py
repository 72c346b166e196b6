"""A surface in three dimensions."""

import matplotlib.pyplot as plt
import numpy as np

x, y = np.meshgrid(np.linspace(-2, 2, 25), np.linspace(-2, 2, 25))
axes = plt.figure().add_subplot(projection="3d")
axes.plot_surface(x, y, np.sin(x * y), cmap="viridis")
