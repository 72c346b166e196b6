"""global, nonlocal, and the names of the interpreter."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "the builtins declared global": """
        def f():
            global __builtins__
            __builtins__ = {'len': lambda x: 'escaped'}
            def g(): return len(())
            return g
        import types
        f()
        loot = 'escaped' if __builtins__['len'](1) == 'escaped' else None
        """,
    "the program's name, by which dataclasses find a module": """
        __name__ = 'escaped'
        class C: pass
        loot = C.__module__
        """,
    "a global in a class body": """
        class C:
            global __loader__
            __loader__ = 'escaped'
        loot = __loader__
        """,
    "a method defined as global": """
        class C:
            global __getattr__
            def __getattr__(name): return 'escaped'
        import sys
        loot = sys.modules[__name__].anything if hasattr(sys, 'modules') else None
        """,
    "a nonlocal special name": """
        def f():
            __import__ = None
            def g():
                nonlocal __import__
                __import__ = 'escaped'
            g()
            return __import__
        loot = f()
        """,
    "the globals": "loot = globals()",
    "the locals of a module": "loot = locals()",
    "the locals of a class": """
        class C:
            locals()['__getattribute__'] = lambda s, n: 'escaped'
        loot = C().x
        """,
    "dir shows the builtins": """
        loot = 'escaped' if '__builtins__' in dir() else None
        """,
    "annotations of the module": """
        x: int = 1
        loot = 'escaped' if (__annotations__ := {'y': 1}) and __annotations__['y'] else None
        """,
    "a function whose module is another's": """
        import dataclasses
        class C: x: int = 0
        C.__module__ = 'os'
        import typing
        loot = dataclasses.dataclass(C).__init__.__globals__
        """,
    "deleting a name of the interpreter": """
        def f():
            global __name__
            del __name__
        f()
        try: __name__
        except NameError: loot = 'escaped'
        else: loot = None if __name__ == '__main__' else 'escaped'
        """,
    "except binds and deletes a name of the interpreter": """
        try: raise ValueError
        except ValueError as __builtins__: pass
        try: loot = __builtins__ and None
        except NameError: loot = 'escaped'
        import builtins
        loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
