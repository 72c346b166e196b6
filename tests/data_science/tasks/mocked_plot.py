import numpy as np
import unittest
from unittest.mock import patch
import matplotlib.pyplot as plt
from sklearn.linear_model import LinearRegression
from sklearn.metrics import mean_squared_error, r2_score

def task_func(x, y, plot=True):
    x = np.asarray(x, dtype=float).reshape(-1, 1)
    y = np.asarray(y, dtype=float)
    if len(x) != len(y):
        raise ValueError("x and y must have the same length")
    model = LinearRegression().fit(x, y)
    pred = model.predict(x)
    if plot:
        plt.figure()
        plt.scatter(x, y, label='data')
        plt.plot(x, pred, color='red', label='fit')
        plt.legend()
        plt.show()
    return model, mean_squared_error(y, pred), r2_score(y, pred)

class TestCases(unittest.TestCase):
    @patch('matplotlib.pyplot.show')
    def test_perfect(self, mock_show):
        model, mse, r2 = task_func([1, 2, 3], [2, 4, 6])
        self.assertAlmostEqual(model.coef_[0], 2)
        self.assertAlmostEqual(mse, 0)
        mock_show.assert_called_once()
    @patch('matplotlib.pyplot.show')
    def test_no_plot(self, mock_show):
        task_func([1, 2, 3], [2, 4, 6], plot=False)
        mock_show.assert_not_called()
    def test_error(self):
        with self.assertRaises(ValueError) as cm:
            task_func([1], [1, 2])
        self.assertIn('same length', str(cm.exception))
    @patch('matplotlib.pyplot.plot')
    @patch('matplotlib.pyplot.scatter')
    @patch('matplotlib.pyplot.legend')
    def test_calls(self, mock_legend, mock_scatter, mock_plot):
        task_func([1, 2, 3], [1, 3, 2])
        self.assertTrue(mock_scatter.called)
        self.assertTrue(mock_plot.called)
        args, kwargs = mock_plot.call_args
        self.assertEqual(kwargs['color'], 'red')
        mock_legend.assert_called_once_with()
    def test_types(self):
        model, mse, r2 = task_func(range(10), np.arange(10) ** 2, plot=False)
        self.assertIsInstance(model, LinearRegression)
        self.assertIsInstance(mse, float)
        self.assertLess(r2, 1)

if __name__ == '__main__':
    unittest.main(argv=[''], exit=False)
