import unittest
from unittest.mock import MagicMock, patch

import pandas as pd
from sklearn.linear_model import LinearRegression
from sklearn.preprocessing import StandardScaler


def task_func(frame, path):
    """Fits a line to the scaled column x, and saves the table with its predictions."""
    if frame.empty:
        raise ValueError("the frame is empty")
    model = LinearRegression()
    scaled = StandardScaler().fit_transform(frame[["x"]])
    model.fit(scaled, frame["y"])
    frame = frame.assign(predicted=model.predict(scaled))
    frame.to_csv(path, index=False)
    return frame


class TestTask(unittest.TestCase):
    def setUp(self):
        self.frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "y": [2.0, 4.0, 6.0]})

    @patch("pandas.DataFrame.to_csv")
    def test_it_saves(self, to_csv):
        result = task_func(self.frame, "out.csv")
        to_csv.assert_called_once_with("out.csv", index=False)
        self.assertAlmostEqual(result["predicted"][2], 6.0)

    @patch.object(pd.DataFrame, "to_csv", side_effect=PermissionError("read-only"))
    def test_an_error_is_passed_on(self, to_csv):
        with self.assertRaises(PermissionError):
            task_func(self.frame, "out.csv")

    @patch("pandas.DataFrame.to_csv", MagicMock())
    @patch("sklearn.linear_model.LinearRegression.predict", return_value=[0, 1, 2])
    @patch("sklearn.preprocessing.StandardScaler.fit_transform", return_value=[[1], [2], [3]])
    def test_the_model_is_asked(self, fit_transform, predict):
        self.assertEqual(list(task_func(self.frame, "out.csv")["predicted"]), [0, 1, 2])
        fit_transform.assert_called_once()
        predict.assert_called_once()

    def test_it_is_itself_again(self):
        with patch("pandas.DataFrame.to_csv"):
            pass
        self.assertIn("x,y", self.frame.to_csv())


if __name__ == "__main__":
    unittest.main()
