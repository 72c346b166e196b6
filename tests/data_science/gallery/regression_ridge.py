"""Ridge and lasso, chosen by cross-validation."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV, RidgeCV

x, y = load_diabetes(return_X_y=True)
print(RidgeCV(alphas=[0.01, 0.1, 1]).fit(x, y).alpha_)
print(LassoCV(cv=5, random_state=0).fit(x, y).coef_.round(3))
