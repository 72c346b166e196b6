"""raise, with and without cause; what hangs together."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("raise",)

test_runs = runs({
    "forms": """
        def tell(f):
            try: f()
            except BaseException as e:
                print(repr(e), repr(e.__cause__), repr(e.__context__), e.__suppress_context__)
        def a(): raise ValueError
        def b(): raise ValueError(1, 2)
        def c(): raise ValueError('v') from KeyError('k')
        def d():
            try: raise KeyError('k')
            except KeyError: raise ValueError('v')
        def e():
            try: raise KeyError('k')
            except KeyError: raise ValueError('v') from None
        def f():
            try: raise KeyError('k')
            except KeyError: raise
        def g():
            try: raise KeyError('k')
            finally: raise ValueError('in finally')
        def h(): raise ValueError from TypeError
        def i(): raise (lambda: KeyboardInterrupt('made'))()
        for each in (a, b, c, d, e, f, g, h, i): tell(each)
        """,
    "one's own exceptions": """
        class E(Exception):
            def __init__(self, code, **more):
                super().__init__(f'code {code}')
                self.code, self._more = code, more
        class F(E, ValueError): pass
        try: raise F(5, a=1)
        except E as e: print(repr(e), e.code, e._more, e.args, isinstance(e, ValueError))
        e = E(1); e.add_note('a note'); print(e.__notes__)
        e.__cause__ = KeyError('set'); print(repr(e.__cause__))
        print(e.with_traceback(None) is e)
        """,
    "a bare raise in a function called from a handler": """
        def again(): raise
        try:
            try: 1 / 0
            except ZeroDivisionError: again()
        except ZeroDivisionError as e: print('again', e)
        """,
    "order": """
        log = []
        def t(x): log.append(x); return x
        try: raise t(ValueError) from t(KeyError)
        except ValueError: print(log)
        """,
})  # fmt: skip

test_raises = raises([
    ("ValueError", "raise ValueError"),
    ("KeyError", "raise KeyError('k')"),
    ("RuntimeError", "raise"),
    ("TypeError", "raise 5"),
    ("TypeError", "raise 'text'"),
    ("TypeError", "raise ValueError from 5"),
    ("TypeError", "class A:\n  def __new__(cls): return 5\nraise A"),
    ("SystemExit", "raise SystemExit(3)"),
    ("StopIteration", "raise StopIteration(1)"),
    ("E", "class E(Exception):\n  def __str__(self): return 'shown'\ndef f():\n  raise E\nf()"),
    ("SyntaxError", "raise x from"),
])  # fmt: skip

test_refused = refused([
    ("BJ303", 4, 3, "try:\n  raise x\nexcept E as e:\n  e.__traceback__.tb_frame"),
    ("BJ303", 1, 20, "raise E.with_trace(e.__traceback__.tb_frame)"),
])  # fmt: skip
