"""Violins."""

import matplotlib.pyplot as plt
import numpy as np

rng = np.random.default_rng(15)
plt.violinplot([rng.normal(i, 1, 80) for i in range(3)], showmedians=True)
