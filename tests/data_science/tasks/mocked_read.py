import io
import sys
import unittest
from contextlib import redirect_stdout
from unittest.mock import patch, MagicMock
import pandas as pd

def task_func(file_path):
    df = pd.read_csv(file_path)
    print(f"Rows: {len(df)}")
    return df.groupby('cat')['val'].agg(['sum', 'mean', 'count']).reset_index()

class TestCases(unittest.TestCase):
    @patch('pandas.read_csv')
    def test_mock(self, mock_read_csv):
        mock_read_csv.return_value = pd.DataFrame({'cat': ['a', 'b', 'a'], 'val': [1, 2, 3]})
        out = task_func('fake.csv')
        mock_read_csv.assert_called_with('fake.csv')
        self.assertEqual(out.loc[out['cat'] == 'a', 'sum'].values[0], 4)
    @patch('pandas.read_csv', side_effect=pd.errors.EmptyDataError)
    def test_empty(self, m):
        with self.assertRaises(pd.errors.EmptyDataError):
            task_func('x')
    @patch('sys.stdout', new_callable=io.StringIO)
    def test_print(self, out):
        task_func(io.StringIO('cat,val\nx,1\n'))
        self.assertEqual(out.getvalue().strip(), 'Rows: 1')
    def test_redirect(self):
        buf = io.StringIO()
        with redirect_stdout(buf):
            task_func(io.StringIO('cat,val\nx,1\ny,2'))
        self.assertIn('Rows: 2', buf.getvalue())
    def test_stdout(self):
        captured = io.StringIO()
        sys.stdout = captured
        task_func(io.StringIO('cat,val\nx,1\ny,2'))
        sys.stdout = sys.__stdout__
        self.assertTrue(captured.getvalue().startswith('Rows'))

if __name__ == '__main__':
    unittest.main()
