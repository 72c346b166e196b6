"""What happens in the middle of library code, at any of its instructions: an error, or the program.

A program cannot trace, but what this does stands for what it can have: a finalizer, a comparison or
a signal handler that is C all the way has no frame and runs anywhere; Ctrl-C, memory that ends and
the recursion limit raise anywhere. Afterwards everything must be as before (state.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

# Programs whose library code changes what is permitted, or makes classes, or runs text: `act` is
# interrupted.
ACTS = {
    "import a module late": "import importlib\ndef act(): return importlib.import_module('colorsys')",
    "import it by __import__": "def act(): return __import__('colorsys')",
    "dictConfig": (
        "import logging.config\n"
        "def act(): logging.config.dictConfig({'version': 1, 'handlers': {'h': {'class': "
        "'logging.StreamHandler'}}})"
    ),
    "mock": "def act():\n    with mock.patch('json.dumps', spec=True) as p: return p",
    "doctest": (
        "import doctest\ndef f(): '>>> import colorsys'\n"
        "def act(): doctest.run_docstring_examples(f, {})"
    ),
    "timeit": "import timeit\ndef act(): return timeit.timeit('import colorsys', number=1)",
    "exec": "def act(): exec('import math\\nclass C: x = 1\\n', {})",
    "compile": "def act(): return eval(compile('[x for x in (1, 2)]', '<x>', 'eval'))",
    "named tuple": "def act(): return collections.namedtuple('P', 'a b'), typing.NamedTuple('Q', [('a', int)])",
    "dataclass": "def act():\n    @dataclasses.dataclass(slots=True)\n    class C: x: int = 1\n    return C(1)",
    "enum": "def act(): return enum.Enum('E', 'a b'), enum.Flag('F', 'a b')",
    "deepcopy": "def act(): return copy.deepcopy([threading.Thread(target=plain), Reduced(), Data()])",
    "pickle": "def act(): return pickle.loads(pickle.dumps([Data(), Colour.RED, {1: Reduced()}]))",
    "thread": "def act():\n    t = threading.Thread(target=plain); t.start(); t.join()",
    "signature": "def act(): return inspect.signature(plain), typing.get_type_hints(Data)",
    "asyncio": "import asyncio\ndef act(): return asyncio.run(waiting(1))",
    "warnings": "import warnings\ndef act():\n    with warnings.catch_warnings(record=True): warnings.warn('x')",
    "unittest": (
        "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
        "        with self.assertRaises(Loud): raise Loud\n"
        "def act(): unittest.defaultTestLoader.loadTestsFromTestCase(T).run(unittest.TestResult())"
    ),
    "traceback": "import traceback\ndef act():\n    try: json.loads('x')\n    except ValueError as e: return traceback.format_exception(e), e.__traceback__",
    "datetime": "import datetime\ndef act(): return datetime.datetime.strptime('2020', '%Y')",
    "modules of sys": "import sys\ndef act(): return sys.modules['json'], dict(sys.modules)",
    "codecs": "def act(): return 'x'.encode('utf-7'), b'x'.decode('cp037')",
    "singledispatch": "def act(): return functools.singledispatch(plain)(1)",
    "json": "def act(): return json.dumps({'x': [1]}), json.loads('[1]')",
}  # fmt: skip

# What the program does there, without a frame of its own: the class would be the library's if the
# absence of a frame proved anything, and `probe` may import what `act` may not.
INTRUDER = """
class Tell:
    def __set_name__(self, owner, name): caught.append(owner)
caught = []
forged = functools.partial(type, "Forged", (), {"__match_args__": ("_names",), "canary_name": Tell()})
meta_forged = functools.partial(Meta, "Forged", (), {"__match_args__": ("_names",), "canary_name": Tell()})
def probe():
    import importlib
    try: note(importlib.import_module('tomllib'))
    except ImportError: pass
    try: note(__import__('tomllib'))
    except ImportError: pass
    try:
        import fractions
        note(fractions)
    except ImportError: pass
    try: note(sys.modules["fractions"])
    except KeyError: pass
"""

FORBIDDEN = frozenset({"fractions", "tomllib"})
"""What `act` may not import: one that is loaded, and one that is not."""


class Interruption:
    """Counts the instructions of library code, and does something at one of them."""

    def __init__(self, scope: Any, at: int, action: Callable[[], Any] | None) -> None:
        self._scope = scope
        self._at = at
        self._action = action
        self.count = 0
        self.place = ""

    def __call__(self, frame: Any, event: str, _: Any) -> Any:
        if frame.f_globals is self._scope:
            return self if event == "call" else None
        if frame.f_globals is globals():
            return None
        frame.f_trace_opcodes = True
        frame.f_trace_lines = False
        if event == "opcode":
            self.count += 1
            if self.count == self._at and self._action is not None:
                self.place = f"{frame.f_code.co_filename.rpartition('/')[2]}:{frame.f_lineno}"
                self._action()
        return self


def interrupted(act: Any, scope: Any, at: int, action: Any) -> Interruption:
    """Runs `act` and returns what became of it."""
    interruption = Interruption(scope, at, action)
    sys.settrace(interruption)
    try:
        act()
    except BaseException:
        pass
    finally:
        sys.settrace(None)
    return interruption


def raising(kind: type[BaseException]) -> Callable[[], Any]:
    def action() -> None:
        raise kind

    return action


def _forge(guest: Any) -> Callable[[], Any]:
    def action() -> None:
        for name in ("forged", "meta_forged"):
            made = guest.scope[name]()
            if isinstance(made, type):
                guest.scope["caught"].append(made)

    return action


KINDS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "Ctrl-C": lambda guest: raising(KeyboardInterrupt),
    "the recursion limit": lambda guest: raising(RecursionError),
    "memory that ends": lambda guest: raising(MemoryError),
    "a finalizer that makes a class": _forge,
    "a finalizer that imports": lambda guest: guest.scope["probe"],
    "depth": lambda guest: None,  # the recursion limit itself: at_depth() in machine.py
}
