"""The guards on their own terms: errors, laziness, limits of each rule."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_identical, assert_runs, check_refused, run, run_plain


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("import random\nrandom.Random()._randbelow", ("[BJ302]", "_randbelow", "Random")),
        ("import json\njson.dumps.x = 1", ("[BJ305]", "function")),
        ("class S(str): pass\ngetattr(1, S('real'))", ("[BJ306]",)),
        ("'{0.__code__}'.format(lambda: 1)", ("[BJ308]",)),
        ("import dataclasses\nclass X(type(dataclasses.field())): pass", ("[BJ404]", "Field")),
        (
            "class D(dict):\n  def __init__(self): self.__dict__ = self\nD()",
            ("takes a plain dict only; define __getattr__ and __setattr__ instead",),
        ),
    ],
)
def test_errors_name_rule_object_and_attribute(source: str, said: tuple[str, ...]) -> None:
    check_refused(source, *said)


def test_a_refused_attribute_is_a_missing_one_to_hasattr() -> None:
    source = "(hasattr(print, '__self__'), getattr(print, '__self__', 7) == 7, hasattr(1, 'real'))"
    assert run_plain(source).result == "(True, False, True)"
    assert assert_runs(source).result == "(False, True, True)"


def test_ones_own_exceptions_pass_through_getattr() -> None:
    source = """
        class A:
            def __getattr__(self, name): raise KeyError(name)
        getattr(A(), 'x', 1)
        """
    assert run(source).error == "KeyError"


def test_private_names_of_ones_own() -> None:
    source = """
        import collections, types, enum, typing
        class A:
            _c = 1
            @classmethod
            def cm(cls): return cls._c
        class B(A, dict):
            def __init__(self): self._d = 2
            def get_both(self): return self._c, self._d
        class E(enum.Enum):
            X = 1
            def inner(self): return self._value_, self._name_
        def f(): f._n = getattr(f, '_n', 0) + 1; return f._n
        ns = types.SimpleNamespace(_x=1)
        P = collections.namedtuple('P', 'a b')
        print(A._c, A.cm(), B().get_both(), E.X.inner(), f(), f(), f._n, ns._x, P(1, 2)._asdict(),
              P._fields, super(B, B())._c)
        """
    assert assert_runs(source).stdout == (
        "1 1 (1, 2) (1, 'X') 1 2 2 1 {'a': 1, 'b': 2} ('a', 'b') 1\n"
    )


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("random._inst", "no attribute '_inst'"),  # of a module's stand-in, which has none
        ("enum.Enum._generate_next_value_", "[BJ302]"),
        ("enum.IntEnum._convert_", "[BJ302]"),
        ("random.Random._randbelow", "[BJ302]"),
        ("collections.abc.Mapping._abc_impl", "[BJ302]"),
        ("type.__subclasses__", "[BJ301]"),
    ],
)
def test_private_names_of_the_library(expression: str, said: str) -> None:
    check_refused(f"import random, enum, collections.abc\n{expression}", said)


def test_urlparse_results_are_named_tuples() -> None:
    source = "import urllib.parse as p\np.urlparse('http://a/b')._replace(scheme='x').scheme"
    assert run(source).result == "'x'"


def test_classes_in_the_making_are_the_guests_own() -> None:
    source = """
        class Meta(type):
            def __init__(cls, name, bases, ns): cls._made = name; cls.also = 1
        class D:
            def __set_name__(self, owner, name): owner._names = name; owner.x = 1
        class Base:
            def __init_subclass__(cls): cls._sub = 2; cls.y = 3
        class C(Base, metaclass=Meta):
            d = D()
        print(C._made, C.also, C._names, C.x, C._sub, C.y)
        """
    assert assert_runs(source).stdout == "C 1 d 1 2 3\n"


def test_classes_that_fail_in_the_making_leave_nothing() -> None:
    source = """
        class Base:
            def __init_subclass__(cls): raise ValueError
        for _ in range(200):
            try:
                class C(Base): pass
            except ValueError: pass
        import json
        json.JSONEncoder.x = 1
        """
    check_refused(source, "[BJ305]")


def test_nested_class_creation() -> None:
    source = """
        class Base:
            def __init_subclass__(cls):
                if cls.__name__ == 'A':
                    class Inner(Base): pass
                    cls.inner = Inner
                cls._z = 1
        class A(Base): pass
        print(A._z, A.inner._z, A.inner.__mro__[1] is Base)
        """
    assert assert_runs(source).stdout == "1 1 True\n"


def test_format_of_ordinary_things() -> None:
    source = """
        class P:
            def __init__(self): self.a_b = {'k': [1, 2]}
        print('{0.a_b[k][1]} {0.__class__.__name__} {{0.__x__}} {1:.{2}f}'.format(P(), 2.5, 1))
        print('{:_}'.format(1000000), '{a_b}'.format(a_b=1), '{0[_x]}'.format({'_x': 1}))
        """
    assert assert_runs(source).stdout == "2 P {0.__x__} 2.5\n1_000_000 1 1\n"
    assert run("'{'.format(1)").error == "ValueError"
    assert run("'{0.a_b'.format(1)").error == "ValueError"


def test_methodcaller_and_attrgetter() -> None:
    source = """
        import operator
        class A:
            def __init__(self): self.x = self; self.y = 1; self._z = 3
            def add(self, a, b=0): return a + b
        a = A()
        print(operator.attrgetter('y')(a), operator.attrgetter('x.y', '_z')(a),
              operator.methodcaller('add', 1, b=2)(a), max([a], key=operator.attrgetter('y')) is a)
        """
    assert assert_runs(source).stdout == "1 (1, 3) 3 True\n"
    check_refused("import operator\noperator.attrgetter('a.__globals__')", "[BJ301]")
    check_refused("import operator\nclass S(str): pass\noperator.attrgetter(S('a'))", "[BJ306]")
    check_refused("import operator\noperator.methodcaller('__reduce_ex__', 4)(1)", "[BJ301]")
    assert run("import operator\noperator.attrgetter('real')(1, 2)").error == "TypeError"
    assert run("import operator\noperator.attrgetter()").error == "TypeError"


def test_proxies() -> None:
    source = """
        import math, xml.etree.ElementTree as ET, collections
        print(math, repr(ET), math.__name__, type(math).__name__, 'sqrt' in dir(math), bool(math))
        print(collections.abc.Mapping.__name__, math == math, hash(math) == hash(math))
        """
    ran = assert_runs(source)
    assert ran.stdout.startswith(
        "<module 'math'> <module 'xml.etree.ElementTree'> math module True"
    )
    assert_identical("import math\nmath.no_such")


def test_exceptions_take_what_python_lets_them() -> None:
    source = """
        e = ValueError(1)
        e.extra = 2
        e.__cause__ = KeyError('k')
        e.add_note('n')
        e.__traceback__ = None if False else None
        e.__traceback__
        """
    assert run(source).result == "None"
    assert run(
        "e = ValueError(1)\ne.extra = 2\ne.__cause__ = None\ne.add_note('n')\ne.__notes__"
    ).result
