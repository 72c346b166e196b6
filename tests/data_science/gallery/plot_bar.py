"""Bars beside each other."""

import matplotlib.pyplot as plt
import numpy as np

at = np.arange(3)
plt.bar(at - 0.2, [3, 5, 2], 0.4, label="before")
plt.bar(at + 0.2, [4, 3, 6], 0.4, yerr=[0.3, 0.2, 0.5], label="after")
plt.xticks(at, ["a", "b", "c"])
plt.legend()
