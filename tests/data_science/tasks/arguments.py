import argparse
import sys
import unittest
import string
import random
from unittest.mock import patch
import getpass
import time
import calendar
import heapq
import bisect
import copy
import decimal
import fractions

def task_func(length=8, charset=string.ascii_letters + string.digits):
    if length < 1:
        raise ValueError('length must be positive')
    return ''.join(random.choices(charset, k=length))

class TestCases(unittest.TestCase):
    def test_len(self):
        self.assertEqual(len(task_func(12)), 12)
        self.assertTrue(task_func().isalnum())
    def test_seed(self):
        random.seed(1); a = task_func()
        random.seed(1); b = task_func()
        self.assertEqual(a, b)
    @patch('random.choices')
    def test_patch(self, m):
        m.return_value = list('abc')
        self.assertEqual(task_func(3), 'abc')
        m.assert_called_once_with(string.ascii_letters + string.digits, k=3)
    @patch.object(random, 'choices', lambda s, k: ['z'] * k)
    def test_obj(self):
        self.assertEqual(task_func(2), 'zz')
    def test_args(self):
        with patch.object(sys, 'argv', ['prog', '--n', '3']):
            p = argparse.ArgumentParser()
            p.add_argument('--n', type=int)
            self.assertEqual(p.parse_args().n, 3)
    def test_misc(self):
        self.assertEqual(calendar.monthrange(2024, 2)[1], 29)
        self.assertEqual(heapq.nsmallest(2, [3, 1, 2]), [1, 2])
        self.assertEqual(copy.deepcopy({'a': [1]}), {'a': [1]})
        self.assertEqual(decimal.Decimal('0.1') + decimal.Decimal('0.2'), decimal.Decimal('0.3'))
    @patch('time.sleep', return_value=None)
    def test_sleep(self, s):
        time.sleep(100)
        s.assert_called_once_with(100)

if __name__ == '__main__':
    unittest.main()
