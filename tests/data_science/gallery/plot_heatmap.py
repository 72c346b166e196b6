"""A heat map with numbers."""

import numpy as np
import pandas as pd
import seaborn as sns

frame = pd.DataFrame(np.random.default_rng(16).normal(size=(30, 4)), columns=list("abcd"))
sns.heatmap(frame.corr(), annot=True, fmt=".1f", cmap="coolwarm", vmin=-1, vmax=1)
