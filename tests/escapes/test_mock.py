"""Attacks on unittest.mock, which sets, imports and pretends, and on modules that it patches."""

from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import check_refused, run, run_plain

# Each succeeds in plain Python.
ATTACKS = {
    "a target is imported": """
        from unittest.mock import patch
        with patch("os.anything", create=True):
            pass
        patcher = patch("os.anything", create=True)
        loot = patcher.getter()
    """,
    "the original of a patch": """
        from unittest.mock import patch
        import json
        patcher = patch("json.codecs")
        loot = patcher.get_original()[0]
    """,
    "what a patch removes between two names of an import": """
        import json
        from unittest.mock import patch
        patched = patch("json.scanner", 1)
        patched.start()
        class Removes:
            def __del__(self):
                patched.stop()
                if hasattr(json, "scanner"):
                    del json.scanner
        loads = Removes()
        try:
            from json import loads, scanner
            loot = scanner
        except ImportError:
            pass
    """,
    "patch.dict finds a dictionary by name": """
        from unittest.mock import patch
        patcher = patch.dict("os.environ")
        patcher.__enter__()
        loot = type(patcher.in_dict)
    """,
    "the namespace of mock's own functions": """
        import operator
        from unittest.mock import Mock
        loot = operator.attrgetter("__globals__")(Mock.configure_mock)
    """,
    "the original is an interpreter attribute": """
        from unittest.mock import patch
        def f(): pass
        loot = patch.object(f, "__globals__").get_original()[0]
    """,
    "a mock wraps a generator's frame": """
        from unittest.mock import Mock
        def g(): yield
        loot = Mock(wraps=g()).__getattr__("gi_frame")._mock_wraps
    """,
    "create_autospec reads a generator's frame": """
        from unittest.mock import create_autospec
        def g(): yield
        loot = create_autospec(g())._mock_children["gi_frame"].spec
    """,
    "configure_mock walks to a module": """
        from unittest.mock import Mock
        import json
        found = json
        for part in "codecs.sys".split("."): found = Mock(wraps=found).__getattr__(part)._mock_wraps
        loot = found
    """,
    "a mock pretends to be a dataclass field": """
        import dataclasses
        from unittest.mock import Mock
        loot = 'escaped' if isinstance(Mock(spec=dataclasses.field()), dataclasses.Field) else None
    """,
    "a hook is patched among the builtins": """
        import builtins
        from unittest.mock import patch
        def f(): pass
        try: patch("builtins.@write", lambda o: o, create=True).start()
        except Exception: pass
        loot = f.__globals__
    """,
    "the import is patched, and is given namespaces": """
        from unittest.mock import patch
        box = []
        original = __import__
        def load(name, globals=None, *rest):
            box.append(globals)
            return original(name, globals, *rest)
        with patch("builtins.__import__", load):
            import json
        loot = box and box[0]
    """,
    "the class builder is patched": """
        from unittest.mock import patch
        box = []
        with patch("builtins.__build_class__", lambda function, *rest: box.append(function)):
            class A: pass
        loot = box[0].__globals__
    """,
    "builtins, as a module": """
        import builtins
        loot = builtins.__dict__
    """,
    "the program, as a module": """
        import __main__ as here
        loot = vars(here)
    """,
    "the builtins of the program as a module": """
        import __main__ as here
        loot = here.__builtins__
    """,
    "the builtins of the program, by getattr": """
        import __main__ as here
        loot = getattr(here, "__built" + "ins__")
    """,
    "other builtins for the program": """
        import __main__ as here
        box = []
        setattr(here, "__built" + "ins__", {"len": len, "__import__": __import__})
        def f(): return __import__
        loot = f()
    """,
    "a mock pretends to be a class": """
        from unittest.mock import Mock
        loot = 'escaped' if isinstance(Mock(spec=type), type) else None
    """,
    "a mock pretends to be a module": """
        import math, types
        from unittest.mock import Mock
        loot = 'escaped' if isinstance(Mock(spec=math), types.ModuleType) else None
    """,
    "what a mock pretends to be is set later": """
        import dataclasses
        from unittest.mock import Mock
        m = Mock()
        m.__dict__["_spec_class"] = dataclasses.Field
        loot = 'escaped' if isinstance(m, dataclasses.Field) else None
    """,
    "an own class takes what a mock reports": """
        import dataclasses
        from unittest.mock import NonCallableMock
        class A: pass
        reports = NonCallableMock.__dict__["__class__"]
        B = type("B", (), {"__class__": reports})
        b = B()
        b._spec_class = dataclasses.Field
        loot = 'escaped' if isinstance(b, dataclasses.Field) else None
    """,
    "a class of the library is patched for everybody": """
        import fractions
        from unittest.mock import patch
        patch.object(fractions.Fraction, "limit_denominator", lambda *_: 'escaped').start()
        loot = fractions.Fraction(1, 3).limit_denominator()
    """,
}  # fmt: skip


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])


def test_the_library_does_not_see_a_patch() -> None:
    """In plain Python it does: the decoder raises what its module has under the name."""
    source = """
    import json
    from unittest.mock import patch
    class Own(ValueError): pass
    with patch("json.decoder.JSONDecodeError", Own):
        try: json.loads("[")
        except Own: seen = True
        except ValueError: seen = False
    assert seen, "not seen"
    """
    plain, ran = run_plain(source), run(source)
    assert plain.error is None, plain.message
    assert (ran.error, ran.message) == ("AssertionError", "not seen")


@pytest.mark.parametrize("name", ["__import__", "__build_class__"])
def test_names_that_may_not_be_patched(name: str) -> None:
    check_refused(
        f"""
        from unittest.mock import patch
        with patch("builtins.{name}", print, create=True): pass
        """,
        "BJ305",
    )
