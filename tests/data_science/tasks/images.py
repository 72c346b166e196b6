import itertools, math, random, unittest
import numpy as np
from PIL import Image, ImageFont, ImageEnhance
import io

def task_func(img, contrast=1.5):
    if not isinstance(img, Image.Image):
        raise TypeError('PIL image expected')
    out = ImageEnhance.Contrast(img.convert('L')).enhance(contrast)
    hist = out.histogram()
    buf = io.BytesIO()
    out.save(buf, format='JPEG')
    return out, hist, buf.getvalue()

class TestCases(unittest.TestCase):
    def setUp(self):
        self.img = Image.fromarray(np.tile(np.arange(16, dtype=np.uint8) * 16, (16, 1)))
    def test_hist(self):
        o, h, b = task_func(self.img)
        self.assertEqual(sum(h), 256)
        self.assertEqual(len(h), 256)
    def test_mode(self):
        self.assertEqual(task_func(self.img)[0].mode, 'L')
        self.assertEqual(Image.open(io.BytesIO(task_func(self.img)[2])).format, 'JPEG')
    def test_type(self):
        with self.assertRaises(TypeError):
            task_func('x')
    def test_ops(self):
        t = self.img.transpose(Image.FLIP_LEFT_RIGHT).crop((0, 0, 4, 4)).resize((2, 2), Image.LANCZOS)
        self.assertEqual(np.array(t).shape, (2, 2))
        self.img.thumbnail((8, 8))
        self.assertEqual(self.img.size, (8, 8))

if __name__ == '__main__':
    unittest.main()
