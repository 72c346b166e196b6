"""A histogram with a density."""

import numpy as np
import seaborn as sns

sns.histplot(np.random.default_rng(19).gamma(2, 1, 300), kde=True, bins=20)
