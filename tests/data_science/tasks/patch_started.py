import unittest
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from unittest.mock import patch

def task_func(df, target='t'):
    """Boxplot for outliers, IQR filter, summary."""
    q1, q3 = df[target].quantile([.25, .75])
    iqr = q3 - q1
    mask = df[target].between(q1 - 1.5 * iqr, q3 + 1.5 * iqr)
    fig, (ax1, ax2) = plt.subplots(1, 2, sharey=True)
    ax1.boxplot(df[target]); ax2.boxplot(df.loc[mask, target])
    ax1.set_title('Before'); ax2.set_title('After')
    plt.show()
    return df[mask].reset_index(drop=True), [ax1, ax2]

class TestCases(unittest.TestCase):
    def setUp(self):
        self.df = pd.DataFrame({'t': [1, 2, 3, 4, 100]})
        self.p = patch('matplotlib.pyplot.show')
        self.mock_show = self.p.start()
        self.addCleanup(self.p.stop)
    def test_out(self):
        r, a = task_func(self.df)
        self.assertEqual(r['t'].max(), 4)
        self.mock_show.assert_called_once()
    def test_titles(self):
        _, a = task_func(self.df)
        self.assertEqual([x.get_title() for x in a], ['Before', 'After'])
    def test_type(self):
        self.assertRaises(KeyError, task_func, self.df, 'q')
    def test_fig(self):
        _, a = task_func(self.df)
        self.assertIs(a[0].figure, a[1].get_figure())
        self.assertEqual(len(a[0].figure.axes), 2)

if __name__ == '__main__':
    unittest.main()
