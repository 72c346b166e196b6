from scipy.stats import randint
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans, MeanShift, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.manifold import TSNE
from sklearn.metrics import adjusted_rand_score, silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import RandomizedSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, export_text, plot_tree

X, y = make_blobs(120, centers=3, random_state=0)
for m in (
    KMeans(3, n_init=3, random_state=0),
    DBSCAN(1.0),
    AgglomerativeClustering(3),
    SpectralClustering(3, random_state=0),
    MeanShift(),
):
    print(type(m).__name__, round(adjusted_rand_score(y, m.fit_predict(X)), 3))
print(
    PCA(1).fit(X).explained_variance_ratio_.round(4),
    round(float(GaussianMixture(3, random_state=0).fit(X).bic(X)), 2),
)
print(
    TSNE(2, perplexity=10, random_state=0, max_iter=250).fit_transform(X).shape,
    round(float(silhouette_score(X, y)), 4),
)
print(KNeighborsClassifier(3).fit(X, y).score(X, y))

t = DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
print(export_text(t))
plot_tree(t)
print(
    SVC(probability=True, random_state=0).fit(X, y).predict_proba(X[:1]).round(2),
    MLPClassifier((5,), max_iter=50, random_state=0).fit(X, y).score(X, y),
)

print(permutation_importance(t, X, y, n_repeats=2, random_state=0).importances_mean.round(3))

print(HistGradientBoostingClassifier(max_iter=5, random_state=0).fit(X, y).score(X, y))

print(
    RandomizedSearchCV(
        DecisionTreeClassifier(random_state=0),
        {"max_depth": randint(1, 5)},
        n_iter=3,
        random_state=0,
        cv=2,
    )
    .fit(X, y)
    .best_params_
)
