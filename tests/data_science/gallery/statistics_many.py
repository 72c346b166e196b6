import numpy as np
import scipy
import scipy.stats as st
from scipy import stats
from scipy.stats import (
    bootstrap,
    kstest,
    linregress,
    mannwhitneyu,
    norm,
    pearsonr,
    shapiro,
    ttest_ind,
)

rng = np.random.default_rng(0)
a, b = rng.normal(0, 1, 40), rng.normal(0.5, 1, 40)
print(
    ttest_ind(a, b),
    pearsonr(a, b),
    linregress(a, b),
    mannwhitneyu(a, b),
    shapiro(a),
    kstest(a, "norm"),
)
print(
    norm.ppf(0.975),
    norm(1, 2).cdf(2),
    st.binom.pmf(3, 10, 0.5),
    scipy.stats.poisson.rvs(3, size=3, random_state=1),
    stats.f_oneway(a, b),
    stats.chi2_contingency([[1, 2], [3, 4]])[0],
)
print(bootstrap((a,), np.mean, random_state=0, n_resamples=99).confidence_interval)
print(stats.gaussian_kde(a)(0), stats.describe(a), stats.zscore([1, 2, 3]), stats.mode([1, 1, 2]))
print(
    scipy.special.gamma(5),
    scipy.linalg.expm(np.zeros((2, 2))),
    scipy.constants.c,
    scipy.signal.butter(2, 0.2)[0].round(4),
    scipy.interpolate.interp1d([0, 1], [0, 2])(0.5),
    scipy.sparse.eye(2).toarray(),
    scipy.spatial.distance.cdist([[0]], [[1]]),
    scipy.fft.fft([1, 2]),
    scipy.ndimage.gaussian_filter([0, 1.0, 0], 1).round(3),
    scipy.cluster.hierarchy.linkage([[0], [1], [3]]),
)
