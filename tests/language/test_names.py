"""Names: loaded, bound, deleted, shadowing, missing."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("name",)

test_runs = runs({
    "underscores": "_ = 1\n_x = 2\n__y = 3\n___ = 4\nx_ = 5\n__z_ = 6\nprint(_, _x, __y, ___, x_)",
    "names of builtins": "list = 3\ndef print_(sum): return sum\nprint(list, print_(2))",
    "names of missing builtins": """
        def open(x): return x
        eval = 3
        class A:
            def exec(self, compile): return compile
        print(open(1), eval, A().exec(4))
        """,
    "shadowing ends with del": "len = 3\ndel len\nprint(len('ab'))",
    "what a module may call itself": """
        __version__ = '1'
        __all__ = ['f']
        __author__: str = 'me'
        __all__ += ['g']
        print(__version__, __all__, __author__, __doc__, __name__, __debug__)
        """,
    "soft keywords": "match = case = type = _ = 1\nprint(match, case, type, _)",
})  # fmt: skip

test_raises = raises([
    ("NameError", "print(undefined)"),
    ("NameError", "x = 1\ndel x\nx"),
    ("NameError", "del undefined"),
    ("UnboundLocalError", "def f():\n  print(x)\n  x = 1\nf()"),
    ("UnboundLocalError", "def f():\n  del x\n  x = 1\nf()"),
    ("NameError", "def f():\n  x = 1\n  def g(): return x\n  del x\n  return g()\nf()"),
    ("NameError", "try: raise ValueError\nexcept ValueError as e: pass\ne"),
    ("NameError", "for i in []: pass\ni"),
    ("SyntaxError", "None = 1"),
    ("SyntaxError", "f() = 1"),
    ("SyntaxError", "del f()"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 2, 1, "x = 1\n__builtins__ = {}"),
    ("BJ101", 1, 6, "a, [*__import__] = 1, []"),
    ("BJ101", 1, 1, "__name__ = 'other'"),
    ("BJ101", 1, 1, "__debug__ = 1"),
    ("BJ101", 2, 5, "def f():\n    __class__ = int"),
    ("BJ102", 1, 7, "print(__builtins__)"),
    ("BJ102", 1, 9, "lambda: __import__"),
    ("BJ102", 2, 3, "class A:\n  __loader__"),
    ("BJ101", 1, 5, "del __builtins__"),
    ("BJ501", 1, 1, "open('1')"),
    ("BJ501", 1, 4, "f'{open}'"),
    ("BJ501", 2, 9, "def f(\n  g=    open): pass"),
])  # fmt: skip
