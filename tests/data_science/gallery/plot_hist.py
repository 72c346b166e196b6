"""A histogram."""

import matplotlib.pyplot as plt
import numpy as np

counts, edges, _ = plt.hist(np.random.default_rng(12).normal(size=1000), bins=25, edgecolor="white")
print(counts.sum(), edges.round(3)[:3])
