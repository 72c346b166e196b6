import io
import re
import sys
import unittest


class Stack:
    def __init__(self): self._items = []
    def push(self, x): self._items.append(x)
    def pop(self):
        if not self._items: raise IndexError("empty stack")
        return self._items.pop()
    def __len__(self): return len(self._items)


def divide(a, b):
    """Divides.

    >>> divide(6, 3)
    2.0
    """
    return a / b


class StackTest(unittest.TestCase):
    made = 0

    @classmethod
    def setUpClass(cls): cls.shared = ["once"]

    def setUp(self):
        self.stack = Stack()
        StackTest.made += 1
        self.addCleanup(lambda: setattr(StackTest, "cleaned", True))

    def tearDown(self): del self.stack

    def test_push_and_pop(self):
        self.stack.push(1)
        self.stack.push(2)
        self.assertEqual(self.stack.pop(), 2)
        self.assertEqual(len(self.stack), 1)

    def test_pop_of_empty(self):
        with self.assertRaises(IndexError) as caught:
            self.stack.pop()
        self.assertIn("empty", str(caught.exception))
        self.assertRaisesRegex(ZeroDivisionError, "division", divide, 1, 0)

    def test_subtests(self):
        for a, b, want in [(1, 1, 1), (6, 4, 1.5), (5, 2, 2)]:
            with self.subTest(a=a, b=b):
                self.assertAlmostEqual(divide(a, b), want, places=3)

    def test_wrong(self):
        """This one fails on purpose."""
        self.assertEqual([1, 2, 3], [1, 2, 4], "lists differ")

    def test_error(self): self.stack.nothing()

    @unittest.skip("not today")
    def test_skipped(self): pass

    @unittest.expectedFailure
    def test_known_bug(self): self.assertTrue(False)

    @unittest.skipIf(sys.version_info < (3,), "old")
    def test_many_asserts(self):
        self.assertDictEqual({"a": 1}, dict(a=1)); self.assertIsNone(None); self.assertIsInstance(1, int)
        self.assertCountEqual([1, 2, 2], [2, 1, 2]); self.assertGreater(2, 1); self.assertNotIn(5, [1])
        self.assertRegex("abc1", r"\d"); self.assertMultiLineEqual("a\n", "a\n"); self.assertSetEqual({1}, {1})
        with self.assertWarns(DeprecationWarning):
            import warnings
            warnings.warn("x", DeprecationWarning)


class AsyncLike(unittest.TestCase):
    def runTest(self): self.assertIs(None, None)


suite = unittest.TestSuite()
suite.addTests(unittest.defaultTestLoader.loadTestsFromTestCase(StackTest))
suite.addTest(AsyncLike())
out = io.StringIO()
result = unittest.TextTestRunner(stream=out, verbosity=2).run(suite)
for line in re.sub(r"in [\d.]+s", "in N s", out.getvalue()).splitlines():
    if not line.lstrip().startswith(("File ", "^", "~")):
        print("|", line)
print(result.testsRun, len(result.failures), len(result.errors), len(result.skipped), len(result.expectedFailures), result.wasSuccessful())
print(StackTest.made, StackTest.cleaned, [str(t) for t, _ in result.errors], StackTest.shared)
