import os
import shutil
import unittest
import random
import string
import pathlib
import filecmp
import fnmatch
import stat
import tempfile
from collections import Counter

def task_func(directory):
    if not os.path.exists(directory):
        return None
    d = pathlib.Path(directory)
    ext = Counter(p.suffix for p in d.rglob('*') if p.is_file())
    size = sum(p.stat().st_size for p in d.glob('**/*') if p.is_file())
    py = fnmatch.filter([p.name for p in d.iterdir()], '*.py')
    return dict(ext), size, sorted(py)

class TestCases(unittest.TestCase):
    def setUp(self):
        self.d = tempfile.mkdtemp(prefix='t_')
        for n, c in [('a.py', 'print(1)'), ('b.py', ''), ('c.txt', 'x' * 10)]:
            with open(os.path.join(self.d, n), 'w') as f:
                f.write(c)
    def tearDown(self):
        shutil.rmtree(self.d, ignore_errors=True)
    def test_ext(self):
        e, s, p = task_func(self.d)
        self.assertEqual(e, {'.py': 2, '.txt': 1})
        self.assertEqual(s, 18)
        self.assertEqual(p, ['a.py', 'b.py'])
    def test_none(self):
        self.assertIsNone(task_func('/nope/nope'))
    def test_cmp(self):
        shutil.copy(os.path.join(self.d, 'a.py'), os.path.join(self.d, 'z.py'))
        self.assertTrue(filecmp.cmp(os.path.join(self.d, 'a.py'), os.path.join(self.d, 'z.py')))
        shutil.copytree(self.d, self.d + '2')
        self.assertEqual(len(os.listdir(self.d + '2')), 4)
        shutil.rmtree(self.d + '2')
    def test_scandir(self):
        with os.scandir(self.d) as it:
            self.assertEqual(sorted(e.name for e in it if e.is_file()), ['a.py', 'b.py', 'c.txt'])
    def test_rename(self):
        os.rename(os.path.join(self.d, 'c.txt'), os.path.join(self.d, 'd.txt'))
        self.assertTrue(os.path.exists(os.path.join(self.d, 'd.txt')))
        self.assertEqual(os.path.splitext('x/y.tar.gz'), ('x/y.tar', '.gz'))
        self.assertTrue(os.access(self.d, os.R_OK))

if __name__ == '__main__':
    unittest.main()
