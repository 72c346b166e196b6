"""Builds the policy of a profile and searches it, each part in a fork of its own.

The parts are the walks from each module (walk.py), the composed programs (recipes.py) and what may
interrupt the library (interrupts.py). Parts are numbered, and the seed decides what each one does,
so that a run can be repeated.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import signal
import sys
import time
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "policy"), os.environ["BELLJAR_GUARDS_DIR"]]
from tests.search.judge import Judge  # noqa: E402
from tests.search.state import State  # noqa: E402
from tests.search import interrupts, recipes  # noqa: E402
from tests.search.walk import Guest, Walk, in_time  # noqa: E402
from tools.profile_document import read_profile  # noqa: E402

SECONDS_OF_RECIPE = 20


class Machine:
    """One to a process: the policy changes its interpreter for good."""

    def __init__(self, profile_name: str, plant: Callable[[], None] | None = None) -> None:
        import belljar_policy

        profile = read_profile(ROOT / "profiles" / f"{profile_name}.toml")
        if plant is not None:
            plant()
        self.policy = belljar_policy.Policy(profile, tracebacks=runner_tracebacks())
        import _belljar_guards as guards

        self.guards = guards
        self.reviewed = reviewed(profile_name)

    def load_all(self) -> None:
        """For the walks: as if the program had imported everything."""
        self.policy.modules.load_all()

    def modules(self) -> list[str]:
        return sorted(self.policy.modules.proxies)

    def walk(self, module: str, seed: int, operations: int) -> dict[str, Any]:
        """From the exports of one module, or of the builtins."""
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        roots = {"call": guest.made("mock.call")} if module == "unittest.mock" else {}
        if module == "builtins":
            shown = self.policy._builtins
            roots |= {name: shown[name] for name in shown if name.isidentifier() and name[0] != "_"}
        elif module not in ("__future__", "__main__", "subprocess"):
            guest.run(f"import {module}")
            for name in self.guards.export_names(self.policy.modules.proxies[module]):
                if name.isidentifier() and guest.accessor(name) is not None:
                    roots[f"{module}.{name}"] = guest.made(f"{module}.{name}")
        before = State(self.policy, self.guards)
        walk = Walk(guest, judge, operations)
        walk.run(roots)
        for difference in before.differences():
            guest.report(difference, f"the walk from {module}")
        return {"found": guest.found, "operations": walk.done, "reached": len(walk._reached)}

    def try_recipe(self, name: str, seed: int, allowed: frozenset[str] | None) -> dict[str, Any]:
        """One composed program; its refusal is fine."""
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        before = State(self.policy, self.guards)
        guest.now = name
        compiled = self.policy.compile(recipes.all_recipes()[name], "recipe.py", allowed)
        judge.allowed = self.policy.modules.narrowed(allowed)
        error = ""
        if compiled.code is None:
            error = str(compiled.findings[0])
        else:
            try:
                in_time(SECONDS_OF_RECIPE, exec, compiled.code, guest.scope)
            except BaseException as raised:
                guest.see(raised, name)
                error = f"{type(raised).__name__}: {raised}"
        for value in contents_of(guest.scope.get("found")):
            guest.see(value, name)
        self.policy.finish_threads()
        for difference in before.differences(loads=True):
            guest.report(difference, name)
        return {"found": guest.found, "operations": 1, "error": error}

    def interrupt(self, name: str, what: str, at: int, seed: int) -> dict[str, Any]:
        """One interruption of one act: at the instruction of that number, or counts them (at = 0)."""
        judge = Judge(self.policy, self.guards)
        guest = Guest(self.policy, judge, seed)
        allowed = frozenset(self.policy.modules._exports) - interrupts.FORBIDDEN
        guest.scope["sys"] = self.policy.modules.proxies["sys"]
        guest.run(interrupts.INTRUDER)
        before = State(self.policy, self.guards)
        guest.run(interrupts.ACTS[name], allowed)
        judge.allowed = self.policy.modules.narrowed(allowed)
        before.permit(allowed)
        act = guest.scope["act"]
        if what == "depth":
            guest.now = f"{name}, {at} calls below the recursion limit"
            in_time(SECONDS_OF_RECIPE, at_depth, guest, act, at, allowed)
            count, place = at, ""
        else:
            action = None if not at else _ACTIONS[what](guest)
            guest.now = f"{name}, interrupted by {what} at its instruction {at}"
            done = in_time(SECONDS_OF_RECIPE, interrupts.interrupted, act, guest.scope, at, action)
            count, place = done.count, done.place
        where = f"{guest.now} ({place})"
        try:
            guest.scope["probe"]()
        except Exception:
            pass
        for cls in guest.scope["caught"]:
            if not self.guards.is_guest_class(cls):
                guest.report("a class of the program that counts as the library's", where)
        self.policy.finish_threads()
        for difference in before.differences(loads=True):
            guest.report(difference, where)
        return {"found": guest.found, "operations": 1, "count": count}


def at_depth(guest: Any, act: Any, calls: int, allowed: frozenset[str]) -> None:
    """Calls `act` so deep that only so many calls more are allowed."""
    guest.run(
        "def deep(f, n):\n    if n: return deep(f, n - 1)\n    return f()\n"
        "def fits(n):\n    try: deep(int, n)\n    except RecursionError: return False\n    return True",
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


def _forge(guest: Any) -> Callable[[], Any]:
    def action() -> None:
        for name in ("forged", "meta_forged"):
            made = guest.scope[name]()
            if isinstance(made, type):
                guest.scope["caught"].append(made)

    return action


_ACTIONS: dict[str, Callable[[Any], Callable[[], Any]]] = {
    "Ctrl-C": lambda guest: interrupts.raising(KeyboardInterrupt),
    "the recursion limit": lambda guest: interrupts.raising(RecursionError),
    "memory that ends": lambda guest: interrupts.raising(MemoryError),
    "a finalizer that makes a class": _forge,
    "a finalizer that imports": lambda guest: guest.scope["probe"],
}


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


def reviewed(profile_name: str) -> dict[str, str]:
    return {}


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
                try:
                    pipe.write(json.dumps(part()))
                except BaseException as error:
                    import traceback

                    pipe.write(json.dumps({"broken": "".join(traceback.format_exception(error))}))
        os._exit(0)
    os.close(sending)
    with os.fdopen(receiving, errors="replace") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"died": status}
