"""A small class, its tests, and the examples in its documentation."""

import doctest
import io
import unittest


class Stack:
    """Last in, first out.

    >>> stack = Stack([1, 2])
    >>> stack.push(3)
    >>> stack.pop()
    3
    >>> len(stack)
    2
    """

    def __init__(self, items=()):
        self._items = list(items)

    def __len__(self):
        return len(self._items)

    def push(self, item):
        self._items.append(item)

    def pop(self):
        """
        >>> Stack().pop()
        Traceback (most recent call last):
            ...
        IndexError: the stack is empty
        """
        if not self._items:
            raise IndexError("the stack is empty")
        return self._items.pop()


class StackTest(unittest.TestCase):
    def setUp(self):
        self.stack = Stack("ab")

    def test_push_and_pop(self):
        self.stack.push("c")
        self.assertEqual([self.stack.pop() for _ in range(3)], ["c", "b", "a"])

    def test_empty(self):
        with self.assertRaisesRegex(IndexError, "empty"):
            Stack().pop()

    def test_lengths(self):
        for size in range(3):
            with self.subTest(size=size):
                self.assertEqual(len(Stack(range(size))), size)

    @unittest.expectedFailure
    def test_no_negative_items(self):
        self.stack.push(-1)
        self.assertNotEqual(self.stack.pop(), -1)


if __name__ == "__main__":
    # Without these two, the outcome goes to stderr and is the program's exit code.
    report = io.StringIO()
    runner = unittest.TextTestRunner(stream=report, verbosity=2)
    program = unittest.main(testRunner=runner, exit=False)
    for line in report.getvalue().splitlines():
        if " ... " in line:
            print(line)
    print("tests passed:", program.result.wasSuccessful(), program.result.testsRun)
    print("documentation:", doctest.testmod())
