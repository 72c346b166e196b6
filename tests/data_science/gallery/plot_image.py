"""An array as an image, with an arrow."""

import matplotlib.pyplot as plt
import numpy as np

plt.imshow(np.hypot(*np.mgrid[-5:6, -5:6]), cmap="magma")
plt.annotate("centre", (5, 5), (1, 1), color="white", arrowprops={"color": "white"})
plt.colorbar()
