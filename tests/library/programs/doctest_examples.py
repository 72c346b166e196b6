# ruff: noqa
"""Module doc.

>>> add(1, 2)
3
>>> add(1, 1)
3
"""

import doctest


def add(a, b):
    """Adds.

    >>> add(2, 2)
    4
    >>> for i in range(2):
    ...     print(i)
    ...     i
    0
    0
    1
    1
    >>> add(1, "x")
    Traceback (most recent call last):
        ...
    TypeError: unsupported operand type(s) for +: 'int' and 'str'
    >>> x = 5
    >>> x
    5
    >>> None
    >>> print("a\\n\\nb")
    a
    <BLANKLINE>
    b
    >>> [1, 2, 3] # doctest: +ELLIPSIS
    [1, ..., 3]
    >>> add(2, 3)
    6
    """
    return a + b


class A:
    """
    >>> A().m()
    7
    """

    def m(self):
        """
        >>> A().m()
        8
        """
        return 7

    @property
    def p(self):
        """
        >>> A().p
        1
        """
        return 1

    @staticmethod
    def s():
        """
        >>> A.s()
        'x'
        """
        return "x"


import re, io, contextlib

o = io.StringIO()
with contextlib.redirect_stdout(o):
    print(doctest.testmod())
    doctest.run_docstring_examples(A.m, {"A": A}, name="A.m")
print(re.sub(r'File ".*?", line \d+', "File", o.getvalue()))
