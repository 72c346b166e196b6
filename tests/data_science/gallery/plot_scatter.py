"""Points with colours and sizes."""

import matplotlib.pyplot as plt
import numpy as np

x, y, size = np.random.default_rng(13).random((3, 60))
points = plt.scatter(x, y, s=size * 200, c=size, alpha=0.6, cmap="plasma")
plt.colorbar(points)
