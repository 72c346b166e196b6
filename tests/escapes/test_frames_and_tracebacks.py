"""Frames: by tracebacks, by errors that hold objects."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "the frame in __exit__": """
        class C:
            def __enter__(self): pass
            def __exit__(self, kind, value, tb):
                global loot
                loot = tb.tb_frame.f_globals
                return True
        with C(): 1 / 0
        """,
    "f_back out of one's own program": """
        def f():
            try: raise ValueError
            except ValueError as e: return e.__traceback__.tb_frame.f_back
        loot = f()
        """,
    "the frames of a traceback in a pattern": """
        try: 1 / 0
        except ZeroDivisionError as e:
            match e:
                case Exception(__traceback__=tb): loot = tb.tb_frame
        """,
    "a frame by a traceback's own attribute, in a pattern": """
        class C:
            def __enter__(self): pass
            def __exit__(self, kind, value, tb):
                global loot
                match tb:
                    case object(tb_frame=f): loot = f
                return True
        with C(): 1 / 0
        """,
    "a frame from an exception's with_traceback": """
        try: 1 / 0
        except Exception as e: saved = e
        loot = saved.with_traceback(saved.__traceback__).__traceback__.tb_frame
        """,
    "the frame of library code that called back": """
        import heapq
        def key(x):
            global loot
            try: raise ValueError
            except ValueError as e: loot = e.__traceback__.tb_frame.f_back.f_globals
            return x
        list(heapq.merge([1], key=key))
        """,
    "the traceback that contextmanager throws in": """
        import contextlib
        @contextlib.contextmanager
        def c():
            global loot
            try: yield
            except ValueError as e: loot = getattr(e, '__trace' + 'back__').tb_frame
        with c(): raise ValueError
        """,
    "an ExitStack's callback gets a traceback": """
        import contextlib
        def leave(kind, value, tb):
            global loot
            loot = getattr(tb, 'tb_next') or tb.tb_frame
            return True
        with contextlib.ExitStack() as stack:
            stack.push(leave)
            1 / 0
        loot = loot if type(loot).__name__ == 'frame' else loot.tb_frame
        """,
    "the object of an AttributeError of the library": """
        import json
        try: json.JSONEncoder().encode_it
        except AttributeError as e: loot = e.obj.iterencode.__func__.__globals__
        """,
    "the object of an AttributeError, through library code": """
        import heapq, json
        try: json.no_such
        except AttributeError as e: error = e
        take = error.__getattribute__
        loot = next(heapq.merge(['obj'], key=take)) and take('obj')
        """,
    "the frame where an error was made, by a dataclass": """
        import dataclasses
        @dataclasses.dataclass
        class Frame: tb_frame: object
        class C:
            def __enter__(self): return self
            def __exit__(self, kind, value, tb):
                self.tb = tb
                return True
        with C() as c: 1 / 0
        class Any(type):
            def __instancecheck__(cls, o): return True
        class Take(Frame, metaclass=Any): pass
        match c.tb:
            case Take(f): loot = f
        """,
    "a recursion error's deepest frame": """
        def f(): return f()
        try: f()
        except RecursionError as e:
            tb = e.__traceback__
            while tb.tb_next: tb = tb.tb_next
            loot = tb.tb_frame
        """,
    "traceback's frame": """
        try: 1 / 0
        except ZeroDivisionError as e: loot = e.__traceback__.tb_frame
        """,
    "traceback through with_traceback and a context manager": """
        class C:
            def __enter__(self): return self
            def __exit__(self, t, v, tb):
                self.tb = tb
                return True
        with C() as c: 1 / 0
        loot = getattr(c.tb, 'tb_frame')
        """,
    "exception's context holds frames": """
        def f():
            try: 1 / 0
            except Exception as e: return e
        loot = getattr(f(), '__traceback__').tb_frame
        """,
    "AttributeError of library code": """
        import json
        class E(Exception): pass
        try: json.no_such
        except AttributeError as e: loot = getattr(e, 'obj')
        """,
    "the stream behind sys.stdout by AttributeError.obj": """
        import sys
        try: sys.stdout.no_such
        except AttributeError as e: loot = 'escaped' if e.obj is not None else None
        """,
    "CVE-2024-47532 AttributeError.obj": """
        import string
        try:
            string.no_such_name
        except AttributeError as e:
            loot = e.obj
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
