"""Known escapes, each with the control that it works in plain Python."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_contained, assert_refused, check_attack, run, run_plain

ATTACKS = {
    "CVE-2023-37271 frames of a generator": """
        import math
        def gen(): yield g.gi_frame.f_back.f_back
        g = gen()
        loot = next(g).f_globals
        """,
    "CVE-2023-37271 computed": """
        def gen():
            yield getattr(getattr(getattr(g, 'gi_' + 'frame'), 'f_back'), 'f_globals')
        g = gen()
        loot = next(g)
        """,
    "CVE-2023-41039 str.format": """
        import textwrap
        class Catch:
            def __init__(self): self.got = None
            def __format__(self, spec): return ''
        class Key:
            pass
        loot = None
        text = '{0.__globals__[re]}'.format(textwrap.dedent)
        if 'module' in text: loot = __import__('os')
        """,
    "CVE-2023-41039 format_map": """
        import textwrap
        text = '{f.__globals__[re]}'.format_map({'f': textwrap.dedent})
        if 'module' in text: loot = __import__('os')
        """,
    "a str subclass as attribute name": """
        import textwrap
        class S(str):
            def startswith(self, *a): return False
        loot = getattr(textwrap.dedent, S('__globals__'))
        """,
    "CVE-2024-47532 AttributeError.obj": """
        import string
        try:
            string.no_such_name
        except AttributeError as e:
            loot = e.obj
        """,
    "CVE-2026-55830 a hook's name as an argument": """
        import textwrap
        class C: pass
        def f(m, _write_=lambda o: o, /):
            m.extra = 1
            return m.__globals__
        loot = f(textwrap.dedent)
        """,
    "CVE-2026-76825 string.Formatter": """
        import string, textwrap
        loot = string.Formatter().get_field('0.__globals__', (textwrap.dedent,), {})[0]
        """,
    "operator.attrgetter": """
        import operator, textwrap
        loot = operator.attrgetter('__globals__')(textwrap.dedent)
        """,
    "operator.methodcaller": """
        import operator
        loot = operator.methodcaller('__getattribute__', '__globals__')(
            __import__('textwrap').dedent)
        """,
    "update_wrapper with updated": """
        import functools, textwrap
        def f(): pass
        functools.update_wrapper(f, textwrap.dedent, assigned=(), updated=('__globals__',))
        loot = f.__globals__['re']
        """,
    "singledispatch evaluates annotations": """
        import functools
        got = []
        @functools.singledispatch
        def f(x): pass
        def g(x: '__import__("os")'): pass
        try:
            f.register(g)
        except TypeError as e:
            if 'module' in str(e): loot = __import__('os')
        """,
    "typing.get_type_hints evaluates annotations": """
        import typing
        class A:
            x: '[].append.__self__.__class__ and __import__("os")'
        try:
            loot = typing.get_type_hints(A)['x']
        except TypeError as e:
            loot = __import__('os')
        """,
    "enum.global_enum writes into builtins": """
        import enum
        E = enum.global_enum(enum.Enum('E', {'len': 1}, module='builtins'))
        if len is not E.len: raise SystemExit('not poisoned')
        loot = __import__('os')
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_cve_2025_22153_except_star() -> None:
    source = """
        class Liar(ExceptionGroup):
            def split(self, kind): return 'not a tuple', 1, 2
            def derive(self, excs): return self
        try:
            raise Liar('x', [ValueError()])
        except* ValueError:
            pass
        """
    assert_refused(source, "BJ402", line=5)
    # The control dies by a signal or by an internal error, depending on the version.
    assert run_plain(source).error is not None


def test_format_of_a_function_prints_no_namespace() -> None:
    ran = assert_contained(
        """
        import textwrap
        print('{0.__globals__}'.format(textwrap.dedent))
        """
    )
    assert "BJ308" in ran.message and ran.stdout == ""


def test_list_unpacking_is_plain() -> None:
    """RestrictedPython's [a, b] = y passed by its own hook; here no hook is needed."""
    assert run("[a, b] = [1, 2]\na + b").result == "3"
