"""if, while, for, break, continue: paths, targets, else."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("if", "while", "for", "break-continue")

test_runs = runs({
    "if": """
        def f(x):
            if x == 1: return 'one'
            elif x == 2:
                if not x: pass
                else: return 'two'
            elif x: return 'truthy'
            else: return 'falsy'
        print([f(x) for x in (1, 2, 'a', 0, [], None)])
        """,
    "truth is asked once": """
        class T:
            def __bool__(self): print('asked'); return True
        if T(): print('yes')
        while T(): break
        print(1 if T() else 2)
        """,
    "while": """
        n = 5
        while n:
            n -= 1
            if n == 3: continue
            if n == 1: break
            print(n)
        else: print('never')
        while n > 5: pass
        else: print('else', n)
        """,
    "for targets": """
        class A: pass
        a, l = A(), [0, 0]
        for a.x in range(2): pass
        for a._y, (l[0], *l[1:]) in [(1, (2, 3, 4))]: pass
        for i, (j, *k) in enumerate(['abc', 'de']): print(i, j, k)
        for x in *[1, 2], 3: print(x, end=' ')
        for [p, q] in [(1, 2)]: pass
        for _ in []: print('never')
        else: print('else')
        print(vars(a), l, x, p, q)
        """,
    "for evaluates its iterable once and its target each time": """
        log = []
        class A: pass
        a = A()
        def t(x, n): log.append(n); return x
        for t(a, 'target').v in t([1, 2], 'iterable'): log.append(a.v)
        print(log)
        """,
    "iterators": """
        class I:
            def __init__(self): self._n = 0
            def __iter__(self): print('iter'); return self
            def __next__(self):
                self._n += 1
                if self._n > 2: raise StopIteration
                return self._n
        class Old:
            def __getitem__(self, i):
                if i > 1: raise IndexError
                return i
        print([x for x in I()], [x for x in Old()])
        for x in I():
            for y in Old():
                if y: break
                print(x, y)
            else: print('never')
        """,
    "changing what is iterated": "l = [1, 2, 3]\nfor x in l:\n    if x < 3: l.append(x + 10)\n    print(x)",
    "break and continue inside try and with": """
        class CM:
            def __enter__(self): return self
            def __exit__(self, *exc): print('exit', exc[0])
        for i in range(4):
            with CM():
                try:
                    if i == 0: continue
                    if i == 2: break
                    print('body', i)
                finally: print('finally', i)
        else: print('never')
        """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "for x in 5: pass"),
    ("RuntimeError", "d = {1: 1}\nfor k in d: d[k + 1] = 1"),
    ("ZeroDivisionError", "for x in [1, 0]: 1 / x"),
    ("NameError", "for x in []: pass\nx"),
    ("SyntaxError", "break"),
    ("SyntaxError", "if x: continue"),
    ("SyntaxError", "while 1:\n  def f(): break"),
    ("SyntaxError", "for f() in x: pass"),
    ("IndentationError", "if 1:\nprint(1)"),
    ("TypeError", "class I:\n  def __iter__(self): return 5\nfor x in I(): pass"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 5, "for __builtins__ in x: pass"),
    ("BJ101", 1, 9, "for a, *__import__ in x: pass"),
    ("BJ304", 1, 5, "for a.__class__ in x: pass"),
    ("BJ301", 4, 3, "while 1:\n  pass\nelse:\n  f.__globals__"),
])  # fmt: skip
