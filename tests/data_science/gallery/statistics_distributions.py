"""Distributions: densities, quantiles, fits."""

import numpy as np
from scipy import stats

print(stats.norm.cdf(1.96).round(8), stats.binom(10, 0.3).pmf(3).round(8))
sample = stats.gamma(a=2.0, scale=1.5).rvs(400, random_state=3)
print(np.round(stats.gamma.fit(sample, floc=0), 5))
print(stats.kstest(sample, "gamma", args=(2.0, 0, 1.5)).pvalue.round(6))
