"""A confidence interval by resampling."""

import numpy as np

rng = np.random.default_rng(5)
data = rng.exponential(2.0, 80)
means = rng.choice(data, (2000, data.size)).mean(axis=1)
print(np.quantile(means, [0.025, 0.975]).round(8))
