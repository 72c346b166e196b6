"""Four in one."""

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 1, 50)
figure, axes = plt.subplots(2, 2, sharex=True)
for power, each in enumerate(axes.flat, 1):
    each.plot(x, x**power)
    each.set_title(f"$x^{power}$", fontsize=8)
figure.tight_layout()
