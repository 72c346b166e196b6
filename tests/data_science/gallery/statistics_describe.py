"""Summary numbers of a column."""

import numpy as np
import pandas as pd

values = pd.Series(np.random.default_rng(1).normal(10, 2, 500))
print(values.describe().round(6).to_string())
print(round(values.skew(), 6), round(values.kurt(), 6))
print(np.percentile(values, [5, 50, 95]).round(6))
