"""A run of the search: parts in an order that the seed decides, each in a fork, until time or parts
end.
"""

from __future__ import annotations

import collections
import random
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tests.search import hostile, interrupts, planted, recipes
from tests.search.machine import CALLS_OF_DEPTH, Machine, in_fork

MODULES_OF_WALK = 6


class Part(NamedTuple):
    name: str
    run: Callable[[], dict[str, Any]]


class Report(NamedTuple):
    found: dict[str, str]
    broken: list[str]
    operations: int
    parts: int
    crashes: int


def short(machine: Machine, seed: int, operations: int, interruptions: int) -> Iterator[Part]:
    """Every module, every recipe and every act once."""
    yield from recipe_parts(machine, seed)
    yield from walk_parts(machine, seed, operations)
    yield from interruption_parts(machine, seed, interruptions)


def control(machine: Machine, seed: int) -> Iterator[Part]:
    """The modules and acts that planted.py has changed."""
    modules = sorted({name.partition(".")[0] for name in planted.WALKED})
    for module in modules:
        yield Part(f"walk from {module}", lambda module=module: machine.walk([module], seed, 6_000))
    for part in interruption_parts(machine, seed, 3):
        if part.name.startswith("planted"):
            yield part


def endless(machine: Machine, seed: int) -> Iterator[Part]:
    """The same with more each time, and other seeds."""
    while True:
        parts = list(short(machine, seed, 4_000, 3))
        random.Random(seed).shuffle(parts)
        yield from parts
        seed += 1


def walk_parts(machine: Machine, seed: int, operations: int) -> Iterator[Part]:
    names = machine.modules()
    random.Random(seed).shuffle(names)
    for start in range(0, len(names), MODULES_OF_WALK):
        group = names[start : start + MODULES_OF_WALK]
        yield Part(
            f"walk from {', '.join(group)}",
            lambda group=group: machine.walk(group, seed, operations * len(group)),
        )


def recipe_parts(machine: Machine, seed: int) -> Iterator[Part]:
    groups: dict[str, list[str]] = collections.defaultdict(list)
    for name in recipes.all_recipes():
        groups[name.rpartition(", in ")[2]].append(name)
    for group, names in groups.items():
        yield Part(f"recipe {group}", lambda names=names: machine.try_recipes(names, seed))


def interruption_parts(machine: Machine, seed: int, each: int) -> Iterator[Part]:
    pick = random.Random(seed)
    for name in list(interrupts.ACTS):
        for what in interrupts.KINDS:
            for _ in range(each):
                last = CALLS_OF_DEPTH if what == "depth" else machine.instructions(name)
                at = pick.randint(1, last)
                yield Part(
                    f"{name}, interrupted by {what}",
                    lambda name=name, what=what, at=at: machine.interrupt(name, what, at, seed),
                )


def run(machine: Machine, parts: Iterator[Part], until: float | None = None) -> Report:
    """One after the other: what they find does not depend on anything else."""
    found: dict[str, str] = {}
    broken: list[str] = []
    operations = number = crashes = 0
    for part in parts:
        if until is not None and time.monotonic() > until:
            break
        answer = in_fork(part.run)
        number += 1
        operations += answer.get("operations", 0)
        for what, how in answer.get("found", ()):
            found.setdefault(what, how)
        if "broken" in answer:
            broken.append(f"{part.name}: {answer['broken']}")
        if answer.get("died") in machine.crashes:
            crashes += 1
        elif "died" in answer:
            broken.append(f"{part.name}: ended with wait status {answer['died']}")
    return Report(found, broken, operations, number, crashes)


def program(how: str) -> str:
    """A program that does what the walk did: hostile classes, operations, the expression."""
    return f"{hostile.PROGRAM_HEAD}{hostile.CLASSES}{hostile.OPERATIONS}\nfound = {how}\n"
