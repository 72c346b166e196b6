"""Builds the policy of a profile and searches it, each part in a fork of its own.

The parts are the walks from each module (walk.py), the composed programs (recipes.py) and what may
interrupt the library (interrupts.py). Parts are numbered, and the seed decides what each one does,
so that a run can be repeated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]
from tests.search import interrupts, recipes  # noqa: E402
from tests.search.judge import Judge  # noqa: E402
from tests.search.state import State  # noqa: E402
from tests.search.walk import Guest, Walk, in_time  # noqa: E402
from tools.profile_document import read_profile  # noqa: E402

SECONDS_OF_RECIPE = 20
_CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGFPE, signal.SIGBUS)
CALLS_OF_DEPTH = 150  # how near to the recursion limit


class Machine:
    """One to a process: the policy changes its interpreter for good."""

    def __init__(self, profile_name: str, plant: Callable[[], None] | None = None) -> None:
        import belljar_policy

        if "POLICY_SET_PACKAGES" in os.environ:
            # Not this environment's, which a sandbox has not: numpy.testing would import pytest.
            sys.path[:] = [each for each in sys.path if "site-packages" not in each]
            sys.path.append(os.environ["POLICY_SET_PACKAGES"])
        profile = read_profile(ROOT / "profiles" / f"{profile_name}.toml")
        if plant is not None:
            plant()
        self.policy = belljar_policy.Policy(profile, tracebacks=runner_tracebacks())
        import _belljar_guards as guards

        self.guards = guards
        self._instructions: dict[str, int] = {}
        # The walk passes any object to the packages' native code, for whose memory safety nothing
        # is claimed (docs/policy.md, "What is not claimed").
        self.crashes = _CRASHES if self.policy.modules.open_packages else ()

    def modules(self) -> list[str]:
        return sorted(self.policy.modules.proxies.keys() | self.policy.modules._exports.keys())

    def walk(self, modules: list[str], seed: int, operations: int) -> dict[str, Any]:
        """From the exports of these modules; the builtins' are those of `builtins`."""
        self.policy.modules.load_all()
        # As `warnings` does for the first one that it prints, and that imports pickle.
        importlib.import_module("tracemalloc")
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        before = self._state()
        walk = Walk(guest, judge, operations)
        walk.run({name: value for module in modules for name, value in self._roots(guest, module)})
        # gc.disable() is an export.
        for difference in before.differences(but=frozenset({"collector"})):
            guest.report(difference, f"the walk from {', '.join(modules)}")
        return {"found": guest.found, "operations": walk.done}

    def _state(self) -> State:
        """The audit hook of profiles with packages lets nobody look at all objects."""
        lookout = sys.modules["belljar_policy.lookout"]
        lookout.end()
        try:
            return State(self.policy, self.guards)
        finally:
            if self.policy.modules.open_packages:
                lookout.begin(self.policy._builtins)

    def _roots(self, guest: Guest, module: str) -> Iterator[tuple[str, Any]]:
        if module == "builtins":
            for name, value in self.policy._builtins.items():
                if name.isidentifier() and name[0] != "_":
                    yield name, value
        elif self.policy.compile(f"import {module}").code is not None:
            guest.run(f"import {module}")
            for name in self.guards.export_names(self.policy.modules.proxies[module]):
                if guest.accessor(name) is not None:
                    # Not `module.name`: a function may hide the module (sympy.series).
                    guest.run(f"from {module} import {name} as export")
                    yield f"{module}.{name}", guest.scope["export"]

    def try_recipes(self, names: list[str], seed: int) -> dict[str, Any]:
        """Composed programs, one after the other; their refusal is fine."""
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        before = self._state()
        for name in names:
            guest.now = name
            compiled = self.policy.compile(recipes.all_recipes()[name], "recipe.py")
            if compiled.code is None:
                continue
            guest.scope["found"] = []
            try:
                in_time(SECONDS_OF_RECIPE, guest.execute, compiled.code)
            except BaseException as raised:
                guest.see(raised, name)
            for value in contents_of(guest.scope.get("found")):
                guest.see(value, name)
        self.policy.finish_threads()
        for difference in before.differences(loads=True, but=frozenset({"allowed imports"})):
            guest.report(difference, f"one of {len(names)} like {names[-1]}")
        return {"found": guest.found, "operations": len(names)}

    def interrupt(self, name: str, what: str, at: int, seed: int) -> dict[str, Any]:
        """One act with one interruption, at the instruction of that number, or so many calls below
        the recursion limit."""
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        allowed = frozenset(self.policy.modules._exports) - interrupts.FORBIDDEN
        guest.scope["sys"] = self.policy.modules.proxies["sys"]
        guest.run(interrupts.INTRUDER)
        before = self._state()
        guest.run(interrupts.ACTS[name], allowed)
        judge.allowed = self.policy.modules.narrowed(allowed)
        before.permit(allowed)
        act = guest.scope["act"]
        place = ""
        if what == "depth":
            guest.now = f"{name}, {at} calls below the recursion limit"
            in_time(SECONDS_OF_RECIPE, at_depth, guest, act, at, allowed)
        else:
            guest.now = f"{name}, interrupted by {what} at its instruction {at}"
            action = interrupts.KINDS[what](guest)
            done = in_time(SECONDS_OF_RECIPE, interrupts.interrupted, act, guest.scope, at, action)
            place = f" ({done.place})"
        in_time(SECONDS_OF_RECIPE, guest.scope["probe"])
        for cls in guest.scope["caught"]:
            if not self.guards.is_guest_class(cls):
                guest.report(
                    "a class of the program that counts as the library's", guest.now + place
                )
        self.policy.finish_threads()
        for difference in before.differences(loads=True):
            guest.report(difference, guest.now + place)
        return {"found": guest.found, "operations": 1}

    def instructions(self, name: str) -> int:
        """How many of the library are between the beginning of an act and its end."""
        if name not in self._instructions:
            allowed = frozenset(self.policy.modules._exports) - interrupts.FORBIDDEN
            counted = in_fork(lambda: {"count": self._count(name, allowed)})
            self._instructions[name] = max(counted.get("count", 1), 1)
        return self._instructions[name]

    def _count(self, name: str, allowed: frozenset[str]) -> int:
        guest = Guest(self.policy, Judge(self.policy, self.guards), 1)
        guest.scope["sys"] = self.policy.modules.proxies["sys"]
        guest.run(interrupts.ACTS[name], allowed)
        act = guest.scope["act"]
        return interrupts.interrupted(act, guest.scope, 0, None).count


def at_depth(guest: Any, act: Any, calls: int, allowed: frozenset[str]) -> None:
    """Calls `act` so deep that only so many calls more are allowed."""
    guest.run(
        "def deep(f, n):\n    if n: return deep(f, n - 1)\n    return f()\n"
        "def fits(n):\n    try: deep(int, n)\n    except RecursionError: return False\n"
        "    return True",
        allowed,
    )
    low, high = 1, 20_000
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if guest.scope["fits"](middle) else (low, middle - 1)
    try:
        guest.scope["deep"](act, max(low - calls, 0))
    except BaseException:
        pass


def contents_of(value: Any, depth: int = 4) -> Iterator[Any]:
    """The value, and what plain containers in it hold."""
    yield value
    if depth and type(value) in (list, tuple, set, frozenset):
        for each in list(value):
            yield from contents_of(each, depth - 1)
    elif depth and type(value) in (dict, types.MappingProxyType):
        for each in list(value.values()):
            yield from contents_of(each, depth - 1)


def runner_tracebacks() -> types.ModuleType:
    """What shows exceptions in a worker."""
    path = ROOT / "engine" / "inside" / "runner" / "tracebacks.py"
    spec = importlib.util.spec_from_file_location("belljar_tracebacks", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def profiles() -> list[str]:
    """Those with a language policy."""
    paths = sorted((ROOT / "profiles").glob("*.toml"))
    return [path.stem for path in paths if "modules" in read_profile(path)]


def answer_of(part: Callable[[], dict[str, Any]]) -> str:
    try:
        answer = json.dumps(part())
    except BaseException as error:
        answer = json.dumps({"broken": "".join(traceback.format_exception(error))})
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # the last one may be pending
    return answer


def in_fork(part: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What the part reports, or that it ended early."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        with os.fdopen(sending, "w", errors="backslashreplace") as pipe:
            with open(os.devnull, "w") as nothing:
                os.dup2(nothing.fileno(), 1)
                os.dup2(nothing.fileno(), 2)
                pipe.write(answer_of(part))
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, errors="replace") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"died": status}
