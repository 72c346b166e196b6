"""Calls everything that a profile exports with functions of the library, and prints as JSON which
of the calls changed one. Started by test_stores_of_the_library.py.

    hostile_stores.py PROFILE
"""

from __future__ import annotations

import json
import os
import signal
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"], str(ROOT)]

from tools.profile_document import read_profile  # noqa: E402

SECONDS = 0.2  # of one call; some wait
GUEST = """
def own(*args, **names): return None
class Own:
    def method(self, *args): return None
def call(function, *args): return function(*args)
def nested(function, first, *args): return function(first)(*args)
"""
_SHOWN = (
    "__dict__", "__defaults__", "__kwdefaults__", "__code__", "__name__", "__qualname__",
    "__module__", "__doc__", "__annotations__",
)  # fmt: skip


def careless(function: Any, *_: Any) -> None:
    """The control: it changes a function past every store."""
    function.__dict__["planted"] = 1


def state_of(victim: Any) -> list[Any]:
    """What can be changed in it."""
    parts: list[Any] = []
    for name in _SHOWN:
        part = getattr(victim, name, None)
        parts.append(dict(part) if isinstance(part, dict) else part)
    return parts


def callables(policy: Any, guards: Any) -> Iterator[tuple[str, Callable]]:
    """What is exported, and the methods of its classes."""
    yield "control.careless", careless
    for module, proxy in sorted(policy.modules.proxies.items()):
        if module in ("__main__", "builtins", "time"):
            continue
        for name in sorted(guards.export_names(proxy)):
            value = getattr(proxy, name, None)
            if not callable(value) or name in ("_exit", "abort", "kill", "exit"):
                continue
            yield f"{module}.{name}", value
            if isinstance(value, type) and not issubclass(value, BaseException):
                for attribute in sorted(dir(value)):
                    found = getattr(value, attribute, None)
                    if attribute[:1] != "_" and callable(found):
                        yield f"{module}.{name}.{attribute}", found


def attempts(victim: Any, guest: dict[str, Any]) -> Iterator[Callable[[Callable], Any]]:
    """Ways to pass it."""
    own, text = guest["own"], "x"
    call, nested = guest["call"], guest["nested"]
    for args in ((victim,), (victim, own), (own, victim), (victim, text), (victim, text, 1)):
        yield lambda each, args=args: call(each, *args)
    for first in (text, own, guest["Own"]):
        yield lambda each, first=first: nested(each, first, victim)
    yield lambda each: nested(each, victim, own)


def main() -> None:
    import _belljar_guards as guards
    import belljar_policy

    policy = belljar_policy.Policy(read_profile(ROOT / "profiles" / f"{sys.argv[1]}.toml"))
    policy.modules.load_all()
    import copy
    import string
    import textwrap

    victims: list[Any] = [
        textwrap.dedent, copy.deepcopy, string.Template.substitute, closure(),
    ]  # fmt: skip
    scope = policy.guest_globals()
    compiled = policy.compile(GUEST)
    assert compiled.code is not None, compiled.findings
    exec(compiled.code, scope)

    def out(*_: object) -> None:
        raise TimeoutError

    signal.signal(signal.SIGALRM, out)
    results = os.dup(1)
    silent = os.open(os.devnull, os.O_WRONLY)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    changed: dict[str, list[str]] = {}
    calls = 0
    for name, each in callables(policy, guards):
        for victim in victims:
            before = state_of(victim)
            for attempt in attempts(victim, scope):
                calls += 1
                try:
                    signal.setitimer(signal.ITIMER_REAL, SECONDS)
                    try:
                        attempt(each)
                    finally:
                        signal.setitimer(signal.ITIMER_REAL, 0)
                except BaseException:
                    pass
            if state_of(victim) != before:
                changed.setdefault(name, []).append(getattr(victim, "__qualname__", "?"))
                if isinstance(victim, types.FunctionType):
                    victim.__dict__.clear()
    os.write(results, json.dumps({"calls": calls, "changed": changed}).encode())
    os._exit(0)


def closure() -> Any:
    """A function that a decorator of the library's made."""
    import contextlib

    @contextlib.contextmanager
    def made() -> Iterator[int]:
        yield 1

    return made


if __name__ == "__main__":
    main()
