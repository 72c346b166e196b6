"""A pie."""

import matplotlib.pyplot as plt

plt.pie([4, 3, 2], labels=["bread", "milk", "tea"], autopct="%1.0f%%", explode=[0.1, 0, 0])
