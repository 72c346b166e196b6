"""Attacks with text that runs: eval, exec, compile, and the namespaces that they take and show."""

from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_stopped, run

# Each succeeds in plain Python. `len.__self__` is the module of the builtins; under the policy the
# hook "@dunder" refuses it.
ATTACKS = {
    "text imports": "loot = eval('__import__(\"os\")')",
    "text imports by a statement": """
        ns = {}
        exec("import os", ns)
        loot = ns["os"]
    """,
    "text reads the builtins": "loot = eval('len.__self__')",
    "text is run by C code": "loot = list(map(eval, ['len.__self__']))[0]",
    "text brings its builtins": """
        ns = {"__builtins__": {"__import__": __import__, "getattr": getattr, "len": len}}
        loot = eval('getattr(len, "__self__")', ns)
    """,
    "text has its builtins shown": """
        ns = {}
        exec("x = 1", ns)
        loot = ns["__builtins__"]
    """,
    "globals bring a hook": "loot = eval('len.__self__', {'@dunder': lambda o: o})",
    "locals bring a hook": "loot = eval('len.__self__', {}, {'@dunder': lambda o: o})",
    "locals of a function bring a hook": """
        def f():
            names = locals()
            names['@dunder'] = lambda o: o
            return eval('len.__self__', globals(), names)
        loot = f()
    """,
    "a hook comes after the function": """
        ns = {}
        exec("def f(): return len.__self__", ns)
        ns["@dunder"] = lambda o: o
        loot = ns["f"]()
    """,
    "a hook comes after the function, and another text": """
        ns = {}
        exec("def f(): return len.__self__", ns)
        ns["@dunder"] = lambda o: o
        exec("x = f()", ns)
        loot = ns["x"]
    """,
    "the globals get a hook": """
        try: globals()["@dunder"] = lambda o: o
        except TypeError: pass
        loot = len.__self__
    """,
    "the globals are updated with a hook": """
        try: globals().update({"@dunder": lambda o: o})
        except TypeError: pass
        loot = len.__self__
    """,
    "the globals get a hook by default": """
        try: globals().setdefault("@dunder", lambda o: o)
        except TypeError: pass
        loot = eval("len.__self__")
    """,
    "a class body gets a hook": """
        class A:
            try: locals()["@dunder"] = lambda o: o
            except TypeError: pass
            exec("x = len.__self__")
        loot = A.x
    """,
    "the globals show the builtins": "loot = globals()['__builtins__']",
    "the globals show the builtins to get": "loot = globals().get('__builtins__')",
    "the globals are copied": "loot = dict(globals())",
    "the globals are merged": "loot = {} | globals()",
    "the globals themselves": "loot = vars()",
    "other builtins for new functions": """
        import builtins
        box = []
        try: globals()["__builtins__"] = {"len": len, "__import__": __import__}
        except TypeError: pass
        loot = eval("(lambda: len.__self__)()")
    """,
    "source that is not what it says": """
        class Source(str):
            def __str__(self): return "1"
            def lstrip(self, *_): return "1"
            def __eq__(self, other): return True
            def __hash__(self): return hash("1")
        eval("1")
        loot = eval(Source('__import__("os")'))
    """,
    "source in bytes": "loot = eval(b'len.__self__')",
    "what compile returns": "loot = compile('1', 'f', 'eval')",
    "code in what compile returns": """
        code = compile('1', 'f', 'eval')
        loot = code.__copy__() if hasattr(code, "__copy__") else getattr(code, "_code", code)
    """,
    "text of mock's own namespace": """
        from unittest.mock import Mock
        loot = Mock(side_effect=eval)("pkgutil")
    """,
    "names of mock's own namespace": """
        from unittest.mock import Mock
        loot = Mock(side_effect=lambda *_: globals().copy() and eval("__builtins__"))()
    """,
    "the namespace of a function of a text": """
        import operator
        ns = {}
        exec("def f(): pass", ns)
        loot = operator.attrgetter("__globals__")(ns["f"])
    """,
    "a dataclass of a text with a module's name": """
        import operator
        ns = {"__name__": "os"}
        exec("from dataclasses import dataclass\\n@dataclass\\nclass A:\\n x: int = 1", ns)
        loot = operator.attrgetter("__globals__")(ns["A"].__init__)
    """,
    "timed text": """
        import timeit
        box = []
        timeit.timeit("box.append(len.__self__)", globals=globals(), number=1)
        loot = box[0]
    """,
    "text defines what no class may": """
        box = []
        class A:
            exec("def __getattribute__(self, name): return 'escaped'")
        loot = A().anything
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


@pytest.mark.uncontrolled("plain Python has no such objects")
def test_the_dict_behind_globals_is_private() -> None:
    for name in ("_names", "_code"):
        ran = run(f"import operator\noperator.attrgetter({name!r})(globals())")
        assert ran.error == "AttributeError" and not ran.loot, ran
    assert_stopped("type(globals())()", "globals() makes these")
    assert_stopped("type(compile('1', '', 'eval'))()", "cannot create 'code' instances")


@pytest.mark.uncontrolled("the limit is that of plain Python")
def test_text_that_runs_itself_ends() -> None:
    ran = run("def f():\n    exec('f()')\nf()")
    assert ran.error == "RecursionError", ran
    ran = run("x = 'eval(x)'\neval(x)")
    assert ran.error == "RecursionError", ran
