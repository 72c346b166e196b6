"""Principal components of handwritten digits."""

from sklearn.cluster import DBSCAN
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

x, _ = load_digits(return_X_y=True)
reduced = PCA(5, random_state=0, svd_solver="full").fit(x)
print(reduced.explained_variance_ratio_.round(6))
print(len(set(DBSCAN(eps=18, min_samples=5).fit(x[:400]).labels_)))
