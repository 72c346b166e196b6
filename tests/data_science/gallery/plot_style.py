"""A style, a colour map by its name, and modules under the names that people know."""

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

plt.style.use("ggplot")
figure, (left, right) = plt.subplots(1, 2)
for index in range(5):
    left.plot(np.arange(4) ** index, color=plt.cm.viridis(index / 4))
left.set_yscale("symlog")
sm.graphics.tsa.plot_acf(np.arange(30.0) % 7, ax=right)
print(matplotlib.pyplot is plt, plt.cm is matplotlib.cm, sm.tsa.stattools is not None)
