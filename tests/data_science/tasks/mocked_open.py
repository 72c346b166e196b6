import json
import unittest
from unittest.mock import patch, mock_open
import pandas as pd

def task_func(path):
    with open(path, 'r') as f:
        data = json.load(f)
    df = pd.json_normalize(data, sep='_')
    df['total'] = df.select_dtypes('number').sum(axis=1)
    return df

class TestCases(unittest.TestCase):
    @patch('builtins.open', new_callable=mock_open, read_data='[{"a": 1, "b": {"c": 2}}, {"a": 3, "b": {"c": 4}}]')
    def test_basic(self, mock_file):
        df = task_func('x.json')
        mock_file.assert_called_once_with('x.json', 'r')
        self.assertListEqual(list(df.columns), ['a', 'b_c', 'total'])
        self.assertListEqual(df['total'].tolist(), [3, 7])
    @patch('builtins.open', new_callable=mock_open, read_data='[]')
    def test_empty(self, mock_file):
        df = task_func('x.json')
        self.assertTrue(df.empty)
    @patch('builtins.open', new_callable=mock_open, read_data='{broken')
    def test_broken(self, mock_file):
        with self.assertRaises(json.JSONDecodeError):
            task_func('x.json')
    @patch('builtins.open', side_effect=FileNotFoundError)
    def test_nofile(self, mock_file):
        with self.assertRaises(FileNotFoundError):
            task_func('nofile.json')
    def test_frame_equal(self):
        m = mock_open(read_data=json.dumps([{'v': 1.5, 'n': 'x'}]))
        with patch('builtins.open', m):
            df = task_func('p')
        expected = pd.DataFrame({'v': [1.5], 'n': ['x'], 'total': [1.5]})
        pd.testing.assert_frame_equal(df, expected)

if __name__ == '__main__':
    unittest.main()
