"""Augmented assignments: each operand once, in CPython's order."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("augmented-assignment",)

test_runs = runs({
    "all operators": """
        x = 7
        x += 3; x -= 1; x *= 4; x //= 5; x **= 2; x %= 30; x <<= 3; x >>= 1; x |= 1; x &= 13; x ^= 6
        y = 3; y /= 2
        class M:
            def __imatmul__(self, o): return ('imatmul', o)
        m = M(); m @= 4
        print(x, y, m)
        """,
    "order: target, value, store": """
        log = []
        class O:
            def __init__(self, name): object.__setattr__(self, 'name', name)
            def __getattr__(self, name): log.append(f'get {self.name}.{name}'); return V(name)
            def __setattr__(self, name, value): log.append(f'set {self.name}.{name}')
            def __getitem__(self, key): log.append(f'get {self.name}[{key}]'); return V(key)
            def __setitem__(self, key, value): log.append(f'set {self.name}[{key}]')
        class V:
            def __init__(self, name): self.n = name
            def __iadd__(self, other): log.append(f'iadd {self.n}'); return self
        def f(name): log.append(f'call {name}'); return O(name)
        def g(key): log.append(f'key {key}'); return key
        def h(): log.append('value'); return 1
        f('a').x += h()
        f('b')._y += h()
        f('c')[g('k')] += h()
        class T:
            inner = O('t')
            _inner = O('_t')
        T._inner[g(1)] += h()
        T._inner._w += h()
        print('\\n'.join(log))
        """,
    "in place or not": """
        a = b = [1]; a += (2,); t = u = (1,); t += (2,); s = 'a'; s += 'b'
        d = {'k': [0]}; d['k'] += [1]; d['k'][0] += 5
        print(a is b, a, t is u, t, s, d)
        """,
    "names in every scope": """
        total = 0
        def f():
            global total
            total += 1
            n = 0
            def g():
                nonlocal n
                n += 1
                return n
            return g() + g()
        class A:
            k = 1
            k += 1
            __m = 1
            __m += 2
        print(f(), total, A.k, A._A__m)
        """,
    "a target that fails leaves its effect": """
        t = ([],)
        try: t[0] += [1]
        except TypeError as e: print(e, t)
        """,
})  # fmt: skip

test_raises = raises([
    ("TypeError", "x = 1\nx += 'a'"),
    ("NameError", "x += 1"),
    ("UnboundLocalError", "x = 1\ndef f(): x += 1\nf()"),
    ("AttributeError", "class A: pass\nA().x += print('never')"),
    ("KeyError", "{}['a'] += print('never')"),
    ("SyntaxError", "a, b += 1"),
    ("SyntaxError", "f() += 1"),
    ("SyntaxError", "(x := 1) += 1"),
])  # fmt: skip

test_refused = refused([
    ("BJ101", 1, 1, "__builtins__ += 1"),
    ("BJ304", 1, 1, "x.__class__ += int"),
])  # fmt: skip
