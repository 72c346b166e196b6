"""Lines with a legend."""

import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 10, 200)
plt.plot(x, np.sin(x), label="sine")
plt.plot(x, np.cos(x), "--", label="cosine")
plt.xlabel("x")
plt.ylabel("y")
plt.legend()
plt.grid(True)
