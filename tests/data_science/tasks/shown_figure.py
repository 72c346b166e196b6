import pandas as pd
import numpy as np
import unittest
import matplotlib.pyplot as plt
from sklearn.impute import KNNImputer

def task_func(df, column):
    df = df.copy()
    df[column] = df[column].fillna(df[column].median())
    z = (df[column] - df[column].mean()) / df[column].std()
    plt.figure()
    plt.hist(z, bins=10)
    plt.title(column)
    plt.grid(axis='y', alpha=.75)
    plt.show()
    return z

class TestCases(unittest.TestCase):
    def test_mean(self):
        z = task_func(pd.DataFrame({'a': [1, None, 3]}), 'a')
        self.assertAlmostEqual(z.mean(), 0)
    def test_plot(self):
        task_func(pd.DataFrame({'a': [1, 2, 3]}), 'a')
        fig = plt.gcf()
        self.assertEqual(len(fig.axes[0].patches), 10)
        self.assertEqual(plt.gca().get_title(), 'a')
    def test_key(self):
        with self.assertRaises(KeyError):
            task_func(pd.DataFrame(), 'b')
    def test_knn(self):
        X = KNNImputer(n_neighbors=1).fit_transform([[1, 2], [np.nan, 2.1], [8, 9]])
        self.assertEqual(X[1, 0], 1)

if __name__ == '__main__':
    unittest.main()
