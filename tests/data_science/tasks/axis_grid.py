import ast
import unittest
import pandas as pd
import seaborn as sns
from unittest.mock import patch, mock_open, MagicMock

def task_func(csv_file):
    df = pd.read_csv(csv_file)
    df['dict_column'] = df['dict_column'].apply(ast.literal_eval)
    ax = sns.pairplot(df.drop(columns='dict_column'))
    return df, ax

class TestCases(unittest.TestCase):
    def setUp(self):
        self.path = 'data_ast.csv'
        pd.DataFrame({'dict_column': ["{'A': 1}", "{'B': 2}"], 'Value1': [1.0, 2.0], 'Value2': [3.0, 4.5]}).to_csv(self.path, index=False)
    def tearDown(self):
        import os
        os.remove(self.path)
    def test_type(self):
        df, ax = task_func(self.path)
        self.assertIsInstance(df, pd.DataFrame)
        self.assertIsInstance(ax, sns.axisgrid.PairGrid)
    def test_dict(self):
        df, _ = task_func(self.path)
        self.assertEqual(df['dict_column'][0], {'A': 1})
        self.assertTrue(df['dict_column'].apply(lambda d: isinstance(d, dict)).all())
    def test_bad(self):
        with open(self.path, 'w') as f:
            f.write('dict_column,Value1\n"__import__(\'os\')",1\n')
        with self.assertRaises(ValueError):
            task_func(self.path)
    def test_missing(self):
        with self.assertRaises(FileNotFoundError):
            task_func('not_there.csv')

if __name__ == '__main__':
    unittest.main()
