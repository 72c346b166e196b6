"""Logistic regression on flowers."""

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import confusion_matrix
from sklearn.model_selection import train_test_split

x, y = load_iris(return_X_y=True)
x_train, x_test, y_train, y_test = train_test_split(x, y, random_state=0)
model = LogisticRegression(max_iter=500).fit(x_train, y_train)
print(confusion_matrix(y_test, model.predict(x_test)))
print(model.score(x_test, y_test))
