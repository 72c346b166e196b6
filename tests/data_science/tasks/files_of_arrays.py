import unittest
import numpy as np
import pandas as pd
import os

def task_func(path, arr):
    np.save(path, arr)
    a = np.load(path)
    np.savetxt(path + '.txt', arr, delimiter=',', fmt='%.3f')
    b = np.loadtxt(path + '.txt', delimiter=',')
    np.savez(path + '.npz', a=arr, b=b)
    with np.load(path + '.npz') as z:
        keys = sorted(z.files)
    c = np.genfromtxt(path + '.txt', delimiter=',')
    return a, b, c, keys

class TestCases(unittest.TestCase):
    def setUp(self):
        self.p = 'arr.npy'
    def tearDown(self):
        for f in os.listdir('.'):
            if f.startswith('arr.npy'):
                os.remove(f)
    def test_same(self):
        x = np.round(np.random.rand(3, 2), 3)
        a, b, c, k = task_func(self.p, x)
        np.testing.assert_array_equal(a, x)
        np.testing.assert_allclose(b, x)
        np.testing.assert_allclose(c, b)
        self.assertEqual(k, ['a', 'b'])
    def test_missing(self):
        with self.assertRaises(FileNotFoundError):
            np.load('nothing.npy')
    def test_excel(self):
        df = pd.DataFrame({'a': [1]})
        df.to_html('arr.npy.html')
        self.assertEqual(df.to_dict('records'), [{'a': 1}])
        df.to_pickle('arr.npy.pkl')
        pd.testing.assert_frame_equal(pd.read_pickle('arr.npy.pkl'), df)
    def test_tofile(self):
        np.arange(3).tofile('arr.npy.bin')
        self.assertEqual(np.fromfile('arr.npy.bin', dtype=int).tolist(), [0, 1, 2])

if __name__ == '__main__':
    unittest.main()
