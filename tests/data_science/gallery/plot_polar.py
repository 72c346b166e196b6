"""Around a circle."""

import matplotlib.pyplot as plt
import numpy as np

angle = np.linspace(0, 2 * np.pi, 200)
plt.polar(angle, 1 + np.cos(3 * angle))
