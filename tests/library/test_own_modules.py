"""Modules that a program makes, and its builtins, which it may change: both are its own."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_identical, assert_runs, check_attack, run

SAME = {
    "text runs in it": """
        from types import ModuleType
        m = ModuleType("tmp_sol", "")
        text = "class Solution:\\n    def f(self): return helper() + 1\\ndef helper(): return 1"
        exec(text, m.__dict__)
        print(m.Solution().f(), m.helper(), m.__name__, repr(m.__doc__))
        m.helper = lambda: 41
        print(m.Solution().f(), hasattr(m, "nothing"), getattr(m, "helper")())
        del m.helper
        try: m.Solution().f()
        except NameError as e: print(e)
        """,
    "names": """
        import types
        m = types.ModuleType("m")
        m.a, m._b = 1, 2
        setattr(m, "c", 3)
        vars(m)["d"] = 4
        print(sorted(n for n in dir(m) if n[:2] != "__"), m._b, vars(m)["c"], "d" in m.__dict__)
        print(isinstance(m, types.ModuleType), m, eval("a + c", m.__dict__))
        """,
    "a dataclass in text": """
        import types
        m = types.ModuleType("m")
        text = "from dataclasses import dataclass\\n@dataclass\\nclass P:\\n    x: int = 1\\n"
        exec(text, m.__dict__)
        print(m.P(2).x, m.P() == m.P())
        """,
    "tests in it": """
        import io, types, unittest
        m = types.ModuleType("m")
        text = "import unittest\\nclass T(unittest.TestCase):\\n    def test(self): pass\\n"
        exec(text, vars(m))
        suite = unittest.TestLoader().loadTestsFromModule(m)
        print(unittest.TextTestRunner(io.StringIO()).run(suite).testsRun)
        """,
    "in sys.modules": """
        import sys, types
        m = sys.modules["m"] = types.ModuleType("m")
        m.x = 1
        print(sys.modules["m"].x)
        """,
    "not a name": """
        import types
        try: types.ModuleType()
        except TypeError as e: print(type(e).__name__)
        """,
    "builtins are written": """
        import builtins
        lines = []
        before = builtins.print
        builtins.print = lambda *a: lines.append(a)
        print("kept")
        builtins.print = before
        print(lines)
        builtins.input = lambda prompt="": "typed"
        print(input("? "))
        builtins.helper = 3
        print(helper)
        del builtins.helper
        try: helper
        except NameError as e: print(e)
        """,
    "builtins in functions and text": """
        import builtins
        def f(): return len("abc")
        old, builtins.len = builtins.len, lambda x: -1
        print(f(), eval("len('abc')"))
        builtins.len = old
        print(f())
        """,
}  # fmt: skip


@pytest.mark.parametrize("name", SAME)
def test_as_in_cpython(name: str) -> None:
    assert_identical(SAME[name])


ATTACKS = {
    "a hook in its namespace": """
        import types
        m = types.ModuleType("m")
        try: vars(m)["@private"] = lambda o: o
        except TypeError: pass
        setattr(m, "v", globals())
        exec("import builtins\\nr = getattr(v, '__class__') and vars(builtins)", m.__dict__)
        loot = m.r
        """,
    "its own builtins": """
        import types
        m = types.ModuleType("m")
        try: vars(m)["__builtins__"] = {"len": "escaped"}
        except TypeError: pass
        exec("r = len", vars(m))
        loot = m.r
        """,
    "the name of a library's module": """
        import types, dataclasses
        m = types.ModuleType("os")
        exec("import sys\\nclass C: pass\\nr = sys.modules[C.__module__]", vars(m))
        loot = m.r
        """,
    "the import statement is replaced": """
        import builtins, os
        def stolen(*a): return os
        builtins.__import__ = stolen
        import json
        loot = json
        """,
    "what makes classes is replaced": """
        import builtins, sys
        got = []
        real = builtins.__build_class__
        builtins.__build_class__ = lambda f, *a: got.append(f.__globals__)
        class C: pass
        builtins.__build_class__ = real
        loot = got[0]
        """,
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_the_library_keeps_its_builtins() -> None:
    ran = assert_runs("""
        import builtins, json, textwrap
        builtins.len = builtins.isinstance = builtins.getattr = lambda *a: 1 / 0
        print(json.dumps({"a": [1]}), textwrap.dedent(" a"))
        """)
    assert ran.stdout == '{"a": [1]} a\n'


def test_hooks_are_no_names_of_builtins() -> None:
    ran = run("import builtins\nsetattr(builtins, '@private', lambda o: o)")
    assert ran.error == "AttributeError"
    ran = run("import builtins\nprint([n for n in dir(builtins) if '@' in n])")
    assert ran.stdout == "[]\n"
