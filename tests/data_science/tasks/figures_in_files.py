import unittest
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.animation import FuncAnimation, PillowWriter
from cycler import cycler
import matplotlib.image as mpimg
import os

def task_func(series, pdf='all.pdf'):
    plt.rc('axes', prop_cycle=cycler(color=['r', 'g']))
    with PdfPages(pdf) as pp:
        for name, v in series.items():
            fig, ax = plt.subplots()
            ax.plot(v)
            ax.set_title(name)
            pp.savefig(fig)
            plt.close(fig)
    return os.path.getsize(pdf)

class TestCases(unittest.TestCase):
    def tearDown(self):
        for f in ('all.pdf', 'a.gif', 'a.png'):
            if os.path.exists(f):
                os.remove(f)
    def test_pdf(self):
        self.assertGreater(task_func({'a': [1, 2], 'b': [2, 1]}), 1000)
    def test_anim(self):
        fig, ax = plt.subplots()
        line, = ax.plot([], [])
        def update(i):
            line.set_data(range(i), range(i))
            return line,
        a = FuncAnimation(fig, update, frames=3, blit=True)
        a.save('a.gif', writer=PillowWriter(fps=5))
        self.assertTrue(os.path.exists('a.gif'))
    def test_img(self):
        mpimg.imsave('a.png', np.random.rand(5, 6))
        self.assertEqual(mpimg.imread('a.png').shape, (5, 6, 4))
    def test_err(self):
        with self.assertRaises(AttributeError):
            task_func([1])

if __name__ == '__main__':
    unittest.main()
