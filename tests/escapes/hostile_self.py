"""Calls every method of the library's classes with objects that record what is done to them.

Started by test_hostile_self.py. Prints one JSON object: how many methods and calls there were, what
was looked up or stored by a name of the guest's choice on an object that is not the guest's, what
was handed out that no guest may hold, and which stores by names of the library's own there were.

A method written in Python takes any object for `self`. Here `self` and the arguments are either

- Hostile: an instance of a guest's class, whose items and results are the next of these;
- Trap: an object of the host's, which notes the names that are looked up and stored on it;
- text that begins with CANARY, plain or of a subclass of str that adds up to it.

A name on a Trap that begins with CANARY was chosen by the guest: getattr() or setattr() on
anything.
"""

from __future__ import annotations

import functools
import inspect
import json
import os
import random
import signal
import sys
import tomllib
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"], str(ROOT)]

CANARY = "canary_name"
# Not to be had without a hook, which insists on a `self` of that class.
GUARDED = ("__setattr__", "__delattr__")
ROUNDS = 200
STEPS = 150  # of Hostile objects in one call: the end of what would go on for ever
SECONDS = 0.25  # of one call that spins without them

GUEST = """
class Hostile:
    def __new__(cls, *args, **names): return made(object.__new__(cls))
    def __init__(self, *args, **names): pass
    def __getattr__(self, name): return following()
    def __setattr__(self, name, value): note(value)
    def __call__(self, *args, **names):
        for value in args: note(value)
        for value in names.values(): note(value)
        return following()
    def __iter__(self): return iter([following(), following()])
    def __getitem__(self, key):
        note(key)
        return following()
    def __setitem__(self, key, value):
        note(key)
        note(value)
    def __delitem__(self, key): note(key)
    def __contains__(self, key):
        note(key)
        return flip()
    def __len__(self): return 2
    def __bool__(self): return flip()
    def __index__(self): return 1
    def __int__(self): return 1
    def __float__(self): return 1.0
    def __str__(self): return text()
    def __repr__(self): return text()
    def __format__(self, spec): return text()
    def __dir__(self): return [text(), text()]
    def __hash__(self): return 1
    def __eq__(self, other):
        note(other)
        return flip()
    def __lt__(self, other):
        note(other)
        return flip()
    __le__ = __gt__ = __ge__ = __ne__ = __eq__
    def __add__(self, other):
        note(other)
        return following()
    __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __mod__ = __rmod__ = __add__
    __or__ = __ror__ = __and__ = __rand__ = __truediv__ = __rtruediv__ = __add__
    def __enter__(self): return following()
    def __exit__(self, kind, value, traceback): return flip()

class Text(str):
    def __add__(self, other): return text()
    def __radd__(self, other): return text()
    def __eq__(self, other): return flip()
    def __hash__(self): return 1
    def startswith(self, *args): return flip()
    def endswith(self, *args): return flip()
    def isidentifier(self): return True
    def __len__(self): return 3

class Class:
    kept = 1

def call(function, args): return function(*args)
"""


class Out(BaseException):
    """The call has had its steps; no `except Exception` stops it."""


class Trap:
    """An object of the host's. It has nothing, and says who asked for what."""

    def __getattribute__(self, name: str) -> Any:
        if name in ("__class__", "__dict__"):
            return object.__getattribute__(self, name)
        if str.__contains__(name, CANARY):
            RECORD.by_name("looked up", name)
            return 1
        raise AttributeError(name)

    def __setattr__(self, name: str, value: object) -> None:
        if str.__contains__(name, CANARY):
            RECORD.by_name("stored", name)
        else:
            RECORD.stores.add((RECORD.method, name))

    __call__ = None
    __hash__ = object.__hash__

    def look_into(self) -> None:
        """Notes what was put into its __dict__ past __setattr__."""
        names = object.__getattribute__(self, "__dict__")
        for name in list(names):
            RECORD.by_name("put", name)
            del names[name]


class Careless:
    """The control: a class of the library's as it should not be."""

    def looks_up(self) -> Any:
        return getattr(self.target, self.name)

    def stores(self) -> None:
        setattr(self.target, "x"[1:] + self.name, 1)

    def hands_out(self) -> None:
        self.take(sys)

    def puts(self) -> None:
        cls = type(self)
        cls.__new__(cls).__dict__.update(self.__dict__)


class Record:
    """What one class's methods did."""

    def __init__(self) -> None:
        self.method = ""
        self.names: set[tuple[str, str, str]] = set()
        self.loot: set[tuple[str, str]] = set()
        self.stores: set[tuple[str, str]] = set()
        self.calls = 0

    def by_name(self, what: str, name: str) -> None:
        """A name with a part of the guest's; a prefix of the library's makes it no free choice."""
        if str.startswith(name, CANARY):
            self.names.add((self.method, what, CANARY))


RECORD = Record()
TRAP = Trap()


class Chooser:
    """What a hostile object gives next. The guest's code calls these."""

    def __init__(self, is_loot: Any) -> None:
        self._random = random.Random(1)
        self._left = 0
        self._is_loot = is_loot
        self._kinds: list[int] = []
        self._makes_traps = False
        self.guest: dict[str, Any] = {}
        self.samples: list[Any] = []  # of the classes beside the one that is tried

    def start(self, seed: int) -> None:
        """Begins a call; each has a few kinds of objects, so that some get deep."""
        self._random.seed(seed * 7919)
        self._left = STEPS
        self._makes_traps = True
        self._kinds = self._random.sample(range(8), self._random.randint(3, 6))

    def _step(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise Out

    def following(self) -> Any:
        """Any of the objects."""
        self._step()
        kind = self._random.choice(self._kinds)
        if kind < 2:
            return self.hostile()
        if kind < 4:
            return TRAP
        if kind == 4:
            return CANARY
        if kind == 5:
            return self.guest["Text"](CANARY)
        if kind == 6 and self.samples:
            return self._random.choice(self.samples)
        return self._random.choice(
            [self.guest["Class"], [CANARY], (CANARY, 1), {CANARY: 1}, 1, None, "", b"x"]
        )

    def hostile(self) -> Any:
        """One of the guest's, for `self` or an argument."""
        self._makes_traps = False
        try:
            return self.guest["Hostile"]()
        finally:
            self._makes_traps = True

    def made(self, instance: Any) -> Any:
        """What Hostile.__new__ gives: `instance`, with a name of the guest's in it, or a trap."""
        if self._makes_traps and self.flip():
            return TRAP
        instance.__dict__[CANARY] = 1
        return instance

    def text(self) -> str:
        """A name."""
        self._step()
        return CANARY

    def flip(self) -> bool:
        """An answer."""
        self._step()
        return self._random.random() < 0.5

    def note(self, value: object) -> None:
        """What the library gave to a hostile object."""
        self._step()
        if self._is_loot(value):
            RECORD.loot.add((RECORD.method, repr(value)[:80]))


def functions_of(cls: type) -> Iterator[tuple[str, types.FunctionType]]:
    """The methods written in Python that `cls` itself has and that a guest, or C, can call."""
    for name, value in list(cls.__dict__.items()):
        if name[:1] == "_" and not (name[:2] == "__" and name[-2:] == "__"):
            continue
        if name in GUARDED:
            continue
        if isinstance(value, property):
            found = [value.fget, value.fset, value.fdel]
        elif isinstance(value, (classmethod, staticmethod)):
            found = [value.__func__]
        elif isinstance(value, functools.cached_property):
            found = [vars(value)["func"]]  # it shows the library's to nobody
        else:
            found = [value]
        for function in found:
            if type(function) is types.FunctionType:
                yield name, function


def classes_of(policy: Any, guards: Any) -> list[type]:
    """Every class that is exported, or is the class of something exported, and their bases."""
    found: dict[type, None] = {Careless: None}
    todo: list[Any] = []
    policy.modules.load_all()
    for proxy in policy.modules.proxies.values():
        for name in guards.export_names(proxy):
            todo.append(getattr(proxy, name))
    for value in todo:
        for cls in (value if isinstance(value, type) else type(value), type(value)):
            for base in cls.__mro__:
                found[base] = None
        if isinstance(value, type):
            for name in dir(value):
                attribute = getattr(value, name, None) if name[:1] != "_" else None
                for base in type(attribute).__mro__:
                    found[base] = None
    # Heap types: written in Python, most. Those of unittest.mock are the program's own.
    return [cls for cls in found if cls.__flags__ & (1 << 9) and not guards.is_guest_class(cls)]


def samples_of(cls: type) -> list[Any]:
    """Instances of the public classes of the module of `cls` that need no arguments."""
    made = []
    for value in list(vars(sys.modules.get(cls.__module__, sys)).values()):
        if isinstance(value, type) and value.__module__ == cls.__module__:
            try:
                made.append(value())
            except Exception:
                continue
    return made


def arity(function: types.FunctionType) -> int:
    """How many arguments to give; where any number goes, a few."""
    takes_any = function.__code__.co_flags & inspect.CO_VARARGS
    return function.__code__.co_argcount + (3 if takes_any else 0)


def try_methods(cls: type, chooser: Chooser) -> int:
    """Calls each method of `cls` ROUNDS times; returns how many methods there are."""
    methods = list(functions_of(cls))
    chooser.samples = samples_of(cls)
    own = [sample for sample in chooser.samples if type(sample) is cls]
    call = chooser.guest["call"]
    for name, function in methods:
        RECORD.method = f"{cls.__module__}.{cls.__qualname__}.{name}"
        for seed in range(ROUNDS):
            chooser.start(seed)
            first = TRAP if seed == 1 else chooser.hostile()
            if own and seed % 4 == 2:  # as it is meant to be, with arguments that are not
                first = own[seed % len(own)]
            args = [first] + [chooser.following() for _ in range(arity(function) - 1)]
            try:
                # Both within: on a busy machine the alarm comes late.
                signal.setitimer(signal.ITIMER_REAL, SECONDS)
                try:
                    call(function, args)
                finally:
                    signal.setitimer(signal.ITIMER_REAL, 0)
            except BaseException:
                pass
            Trap.look_into(TRAP)
            RECORD.calls += 1
    return len(methods)


def in_child(cls: type, chooser: Chooser) -> dict[str, Any]:
    """The record of one class, from a process of its own: its methods change what they like."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            signal.alarm(int(60 * float(os.environ.get("BELLJAR_TEST_SLOWNESS", "1"))))
            count = try_methods(cls, chooser)
            signal.setitimer(signal.ITIMER_REAL, 0)
            record = {
                "methods": count,
                "calls": RECORD.calls,
                "names": sorted(RECORD.names),
                "loot": sorted(RECORD.loot),
                "stores": sorted(RECORD.stores),
            }
            os.write(writing, json.dumps(record).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    # Not os.fdopen(): the guards let no file be made of a descriptor.
    text = b"".join(iter(lambda: os.read(reading, 1 << 16), b""))
    os.close(reading)
    os.waitpid(child, 0)
    return json.loads(text) if text else {"died": [f"{cls.__module__}.{cls.__qualname__}"]}


def main() -> None:
    import _belljar_guards as guards
    import belljar_policy

    from tests.policy.zygote import is_loot

    with open(ROOT / "profiles" / "basic.toml", "rb") as file:
        policy = belljar_policy.Policy(tomllib.load(file))
    chooser = Chooser(is_loot)
    scope = policy.guest_globals()
    for name in ("following", "text", "flip", "note", "made"):
        scope[name] = getattr(chooser, name)
    compiled = policy.compile(GUEST)
    assert compiled.code is not None, compiled.findings
    exec(compiled.code, scope)
    chooser.guest = scope

    def out(*_: object) -> None:
        raise Out

    signal.signal(signal.SIGALRM, out)
    total: dict[str, Any] = {
        "methods": 0, "calls": 0, "names": [], "loot": [], "stores": [], "died": [],
    }  # fmt: skip
    silent = os.open(os.devnull, os.O_WRONLY)
    results = os.dup(1)
    os.dup2(silent, 1)
    for cls in classes_of(policy, guards):
        for key, value in in_child(cls, chooser).items():
            total[key] += value
    os.write(results, json.dumps(total).encode())


if __name__ == "__main__":
    main()
