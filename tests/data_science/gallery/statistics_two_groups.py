"""Two groups: are their means different?"""

import numpy as np
from scipy import stats

rng = np.random.default_rng(2)
a, b = rng.normal(0, 1, 40), rng.normal(0.5, 1, 40)
test = stats.ttest_ind(a, b)
print(round(test.statistic, 8), round(test.pvalue, 8))
print(round(stats.mannwhitneyu(a, b).pvalue, 8))
low, high = test.confidence_interval()
print(round(low, 6), round(high, 6))
