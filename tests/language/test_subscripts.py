"""Items and slices: loads, stores, deletes; starred indexes."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, runs

CONSTRUCTS = ("subscript", "starred-subscript")

test_runs = runs({
    "keys are passed as they are": """
        class A:
            def __getitem__(self, key): return key
            def __class_getitem__(cls, key): return 'class', key
        a = A()
        print(a[1], a[1,], a[()], a[...], a[1:2], a[::], a[1:2, ::3], a[*[1, 2], 3], a[*()], A[int])
        print(a['x':'y':None], a[-1], a[(1, 2)], a[lambda: 0].__name__)
        """,
    "order of evaluation": """
        log = []
        def t(x): log.append(x if not isinstance(x, list) else 'list'); return x
        t([0, 1, 2])[t(0):t(2):t(1)] = t([5, 6])
        t([0, 1])[t(1)] += t(9)
        d = {}
        t(d)[t('k')] = t('v')
        i = 0
        l = [0, 0]
        i, l[i] = 1, 5
        i = l[i] = 0
        del t([1, 2])[t(-1)]
        print(log[:-1], d, l)
        """,
    "stores and deletes": """
        a = list(range(10))
        a[0], a[1:3], a[-1:] = 'x', [], 'yz'
        del a[::2], a[0]
        a[1] += 10; a[:1] *= 2
        d = {'a': {'b': 1}}
        d['a']['b'] -= 1; d['c'] = d; del d['c']
        print(a, d, bytearray(b'abc')[1:], 'text'[::-1], (1, 2)[-1], range(9)[2:5])
        """,
    "an object's own methods": """
        class A:
            def __init__(self): self._d = {}
            def __getitem__(self, k): print('get', k); return self._d.get(k, 0)
            def __setitem__(self, k, v): print('set', k, v); self._d[k] = v
            def __delitem__(self, k): print('del', k); del self._d[k]
        a = A(); a['x'] += 1; a['x'], a['y'] = 5, 6; del a['x'], a['y']
        """,
})  # fmt: skip

test_raises = raises([
    ("IndexError", "[][0]"),
    ("KeyError", "{}['k']"),
    ("TypeError", "x = 5\nx[0]"),
    ("TypeError", "x = (1,)\nx[0] = 2"),
    ("TypeError", "x = 'a'\ndel x[0]"),
    ("TypeError", "[1]['a']"),
    ("ValueError", "a = [1, 2, 3]\na[::2] = [1]"),
    ("TypeError", "x = ([],)\nx[0] += [1]"),
])  # fmt: skip
