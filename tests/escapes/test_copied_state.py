"""copy, deepcopy and pickle: state of library objects, and state that a program supplies."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_same

ATTACKS = {
    "the memo has the dict of a library object": """
        import copy, textwrap
        memo = {}
        copy.deepcopy(textwrap.TextWrapper(), memo)
        loot = 'escaped' if any(type(v) is dict and 'width' in v for v in memo.values()) else None
        """,
    "the memo has the dict of a library object in a list": """
        import copy, textwrap
        memo = {}
        copy.deepcopy([[textwrap.TextWrapper()]], memo)
        loot = 'escaped' if any(type(v) is dict and 'width' in v for v in memo.values()) else None
        """,
    "what lies in the memo becomes the state of a library object": """
        import copy, textwrap
        wrapper, memo = textwrap.TextWrapper(), {}
        copy.deepcopy(wrapper, memo)
        for key, value in list(memo.items()):
            if type(value) is dict: memo = {key: {'width': 'escaped'}}
        loot = copy.deepcopy(wrapper, memo).width
        """,
    "what lies in the memo becomes a part of a library object": """
        import collections, copy
        part = [1]
        queue = collections.UserList()
        queue.data = part
        copied = copy.deepcopy(queue, {id(part): 'escaped'})
        loot = copied.data
        """,
    "__deepcopy__ sees the state of what has the object": """
        import copy, textwrap
        loot = []
        class Spy:
            def __deepcopy__(self, memo):
                loot.extend('escaped' for v in memo.values() if type(v) is dict and 'width' in v)
                return self
        wrapper = textwrap.TextWrapper()
        wrapper.placeholder = Spy()
        copy.deepcopy(wrapper)
        loot = loot and loot[0]
        """,
    "the dict of a subclass of a library class": """
        import copy, textwrap
        class W(textwrap.TextWrapper): pass
        memo = {}
        copy.deepcopy(W(), memo)
        loot = 'escaped' if any(type(v) is dict and 'width' in v for v in memo.values()) else None
        """,
    "an exception's own dict has another class": """
        import copy
        class A(Exception): pass
        class B(Exception): pass
        e = A()
        e.__dict__['__class__'] = B
        loot = 'escaped' if type(copy.copy(e)) is B else None
        """,
    "an exception's state has another class": """
        import copy
        class B(Exception): pass
        class A(Exception):
            def __reduce__(self): return A, (), {'__class__': B}
        loot = 'escaped' if type(copy.deepcopy(A())) is B else None
        """,
    "a pickled exception has another class": """
        import pickle
        class B(Exception): pass
        class A(Exception):
            def __reduce__(self): return A, (), {'__class__': B}
        globals().update(A=A, B=B)
        loot = 'escaped' if type(pickle.loads(pickle.dumps(A()))) is B else None
        """,
    "an exception's state has a dict of the program's": """
        import copy
        class Spy(dict): pass
        mine = Spy()
        class A(Exception):
            def __reduce__(self): return A, (), {'__dict__': mine}
        copied = copy.copy(A())
        copied.x = 1
        loot = 'escaped' if mine else None
        """,
    "an exception's __setstate__": """
        class A(Exception): pass
        class B(Exception): pass
        import operator
        e = A()
        operator.methodcaller('__setstate__', {'__class__': B})(e)
        loot = 'escaped' if type(e) is B else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_a_thread_is_not_copied_in_depth() -> None:
    assert_same("""
        import copy, pickle, threading
        class T(threading.Thread): pass
        for way in (copy.deepcopy, pickle.dumps):
            for thread in (threading.Thread(target=print), T()):
                try: way(thread)
                except TypeError as error: print(type(error))
        print(type(copy.copy(thread)).__name__)
        """)


def test_a_memo_is_the_programs_for_its_own_objects() -> None:
    assert_same("""
        import collections, copy
        class Node:
            def __init__(self, *parts): self.parts = list(parts)
            def __deepcopy__(self, memo):
                made = Node()
                memo[id(self)] = made
                made.parts = copy.deepcopy(self.parts, memo)
                return made
        shared, queue = Node(), collections.deque([1])
        a = Node(shared, queue, {1: shared}, [queue])
        a.parts.append(a)
        memo = {}
        b = copy.deepcopy([a, a, shared, queue], memo)
        print(b[0] is b[1], b[0].parts[0] is b[2], b[0].parts[4] is b[0], b[0].parts[2][1] is b[2])
        print(b[0].parts[1] is b[3], b[0].parts[3][0] is b[3], b[3] is queue, memo[id(a)] is b[0])
        kept = Node()
        c = copy.deepcopy([kept, shared], {id(kept): kept})
        print(c[0] is kept, c[1] is shared)
        """)


def test_a_shared_part_stays_shared() -> None:
    assert_same("""
        import collections, copy, fractions, decimal, datetime
        class Item: pass
        item = Item()
        part = [item]
        whole = collections.OrderedDict(a=part, b=collections.deque([part, item]), c=collections.Counter(x=1))
        made = copy.deepcopy(whole)
        print(made["a"] is made["b"][0], made["a"][0] is made["b"][1], made["a"] is part)
        class D(collections.UserDict): pass
        d = D(a=part); d.b = part
        e = copy.deepcopy(d)
        print(e["a"] is e.b, e["a"] is part, type(e).__name__, e.b[0] is item)
        values = [fractions.Fraction(1, 2), decimal.Decimal("1.5"), datetime.date(2020, 1, 1), range(3), iter([1, 2]), 1j]
        print(copy.deepcopy(values)[:4], next(copy.deepcopy(values)[4]))
        """)


def test_an_exceptions_attributes_are_copied() -> None:
    assert_same("""
        import copy, pickle
        class E(Exception):
            def __init__(self, text, code):
                super().__init__(text, code)
                self.code = code
                self._inner = [code]
        for way in (copy.copy, copy.deepcopy, lambda e: pickle.loads(pickle.dumps(e))):
            e = E("a", 3)
            e.add_note("noted")
            e.more = {"x": [1]}
            f = way(e)
            print(type(f).__name__, f.args, f.code, f._inner, f.__notes__, f.more, f.more is e.more)
            k = way(KeyError("k")); k.x = 1
            print(repr(way(k)), way(k).x, repr(way(OSError(2, "no", "file"))))
        """)
