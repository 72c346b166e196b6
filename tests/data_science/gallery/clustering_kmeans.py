"""k-means, drawn."""

import matplotlib.pyplot as plt
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

points, _ = make_blobs(120, centers=3, random_state=1)
model = KMeans(3, n_init=4, random_state=0).fit(points)
print(round(model.inertia_, 6))
plt.scatter(points[:, 0], points[:, 1], c=model.labels_)
plt.scatter(*model.cluster_centers_.T, marker="x", color="red", s=100)
plt.title("Clusters")
