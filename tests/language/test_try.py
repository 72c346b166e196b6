"""try, except, else, finally: which parts run, and who has the last word."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("try", "bare-except-types")

if sys.version_info >= (3, 14):  # PEP 758
    test_bare_types = runs({
        "several without parentheses": """
            class A:
                def __init__(self): self._kinds = KeyError
                def go(self, key):
                    try: return {'a': 1}[key]
                    except TypeError, self._kinds: return 'caught'
            print(A().go('b'), A().go([]))
            try: raise ExceptionGroup('g', [ValueError(1), TypeError(2)])
            except* ValueError, TypeError: print('both')
            """,
    })  # fmt: skip

test_runs = runs({
    "paths": """
        def f(x):
            try:
                print('try', x)
                if x == 1: raise ValueError('v')
                if x == 2: raise KeyError('k')
                if x == 3: return 'returned'
            except ValueError as e: print('except', e)
            except (KeyError, IndexError): return 'from except'
            else: print('else')
            finally: print('finally')
            return 'end'
        print([f(x) for x in range(4)])
        """,
    "finally has the last word": """
        def f():
            for i in range(3):
                try: continue
                finally:
                    if i == 1: break
            return i
        def g():
            while True:
                try: return 'try'
                finally: break
            return 'after'
        def h():
            try: raise ValueError
            finally: return 'swallowed'
        def i():
            try: return 'a'
            finally: print('f')
        def j():
            try:
                try: 1 / 0
                finally: print('inner')
            except ZeroDivisionError: return 'outer'
        def k():
            x = 1
            try: return x
            finally: x = 2
        def l():
            for i in range(2):
                try: 1 / 0
                except ZeroDivisionError: continue
                finally: print('l', i)
            return 'l'
        print(f(), g(), h(), i(), j(), k(), l())
        """,
    "the name goes when the handler ends": """
        e = 'before'
        try: 1 / 0
        except ZeroDivisionError as e: print(e)
        print('e' in dir())
        def f():
            try: raise KeyError(1)
            except KeyError as e: keep = e
            try: return e
            except UnboundLocalError: return repr(keep)
        print(f())
        class A:
            try: 1 / 0
            except ZeroDivisionError as __e: pass
        """,
    "handlers are expressions, asked in order": """
        log = []
        def t(x): log.append(x if type(x) is not tuple else 'tuple'); return x
        try: raise KeyError('k')
        except t(ValueError): pass
        except t((TypeError, LookupError)) as e: print(repr(e))
        except t(Exception): pass
        print([getattr(x, '__name__', x) for x in log])
        """,
    "an exception in each part": """
        def tell(f):
            try: f()
            except Exception as e:
                while e is not None:
                    print(repr(e), end=' <- ')
                    e = e.__context__
                print()
        def in_except():
            try: raise ValueError(1)
            except ValueError: raise KeyError(2)
            finally: print('finally')
        def in_else():
            try: pass
            except ValueError: pass
            else: raise KeyError(3)
            finally: print('finally')
        def in_finally():
            try: raise ValueError(4)
            finally: raise KeyError(5)
        def in_type():
            try: raise ValueError(6)
            except 1 / 0: pass
        for f in (in_except, in_else, in_finally, in_type): tell(f)
        """,
    "bare, nested and everything": """
        try:
            try: raise KeyboardInterrupt
            except Exception: print('no')
        except: print('bare')
        try: raise SystemExit(1)
        except BaseException as e: print(repr(e))
        """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "try: raise ValueError\nexcept 5: pass"),
    ("TypeError", "try: raise ValueError\nexcept (KeyError, 'x'): pass"),
    ("ValueError", "try: raise ValueError(1)\nfinally: print('f')"),
    ("NameError", "try: 1 / 0\nexcept Undefined: pass"),
    ("KeyError", "try: 1 / 0\nexcept ZeroDivisionError: {}['k']"),
    ("SyntaxError", "try: pass"),
    ("SyntaxError", "try: pass\nexcept: pass\nexcept ValueError: pass"),
    ("SyntaxError", "try: pass\nexcept ValueError as a.b: pass"),
    ("SyntaxError", "try: pass\nexcept A: pass\nexcept* B: pass"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 2, 1, "try: pass\nexcept E as __builtins__: pass"),
    ("BJ301", 2, 8, "try: pass\nexcept f.__globals__: pass"),
    ("BJ501", 3, 10, "try: pass\nexcept E: pass\nfinally: open('1')"),
])  # fmt: skip
