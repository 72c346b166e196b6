"""Is one way of sorting independent of another?"""

import pandas as pd
from scipy.stats import chi2_contingency

table = pd.crosstab(
    pd.Series(["a", "a", "b", "b", "b", "a"] * 10), pd.Series(["x", "y", "x", "x", "y", "x"] * 10)
)
print(table)
found = chi2_contingency(table)
print(round(found.statistic, 8), round(found.pvalue, 8), found.dof)
