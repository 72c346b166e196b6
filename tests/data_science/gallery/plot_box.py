"""Boxes."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(14)
plt.boxplot([rng.normal(i, 1, 60) for i in range(4)], tick_labels=["a", "b", "c", "d"])
