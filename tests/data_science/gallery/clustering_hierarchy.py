"""A tree of clusters."""

import numpy as np
from scipy.cluster.hierarchy import dendrogram, fcluster, linkage

points = np.random.default_rng(9).normal(size=(12, 2))
tree = linkage(points, "ward")
print(tree[-1].round(6), fcluster(tree, 3, "maxclust"))
dendrogram(tree)
