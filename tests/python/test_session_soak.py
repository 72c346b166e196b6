"""An hour of random operations on sessions, each compared with a model in plain Python.

The model of a state is the dictionary of its variables. Cells run in both: what a session says that
a variable is must be what plain Python makes of the same lines. BELLJAR_SOAK_SECONDS (3600) and
BELLJAR_SOAK_SEED choose another length and another order.
"""

from __future__ import annotations

import copy
import os
import random
import time
from dataclasses import dataclass, field

import belljar
import pytest

SESSIONS = 50
SECONDS = float(os.environ.get("BELLJAR_SOAK_SECONDS", "3600"))
SEED = int(os.environ.get("BELLJAR_SOAK_SEED", str(time.time_ns())))

CELLS = (
    "a = {n}",
    "a += {n}",
    "b = [a] * ({n} % 7)",
    "b.append({n})",
    "c = {{'k{n}': a, **(c if isinstance(c, dict) else {{}})}}",
    "d = str({n}) * ({n} % 50)",
    "a, c = a * 3 % 1000003, None",
    "b = sorted(b, reverse=True)[:20]",
    "def f(x): return x + {n}\na = f(a)",
    "class P:\n    def __init__(self, x): self.x = x\np = P({n})\na = p.x",
    "big = list(range({n} * 1000))\na = len(big)\ndel big",
)
NAMES = ("a", "b", "c", "d")
STOPPED = (
    ("a = 'lost'\nwhile True: pass", "timeout"),
    ("b = 'lost'\nb = [0] * 10**9", "memory_limit"),
)


@dataclass
class Model:
    """One session, and what its variables must be: now, and at each checkpoint that it may have."""

    session: belljar.Session
    state: dict[str, object]
    at: dict[str, dict[str, object]] = field(default_factory=dict)


def start(box: belljar.Sandbox) -> Model:
    session = box.session()
    state = {"a": 0, "b": [], "c": None, "d": ""}
    assert session.run("a, b, c, d = 0, [], None, ''").ok
    return Model(session, state)


def check(model: Model) -> None:
    assert model.session.run(f"[{', '.join(NAMES)}]").value == [model.state[n] for n in NAMES]


def run_cell(model: Model, dice: random.Random, log: list[str]) -> None:
    code = dice.choice(CELLS).format(n=dice.randrange(1, 100))
    log.append(code)
    result = model.session.run(code)
    assert result.ok, result
    if result.session.checkpoint:
        model.at[result.session.checkpoint] = copy.deepcopy(model.state)
    names: dict[str, object] = dict(model.state)
    exec(code, names)
    model.state = {name: names[name] for name in NAMES}


def stop_cell(model: Model, dice: random.Random, log: list[str]) -> None:
    code, status = dice.choice(STOPPED)
    log.append(code)
    result = model.session.run(code, timeout=0.3 if status == "timeout" else 20)
    assert result.status == status and result.session.restored, result


def fail_cell(model: Model, dice: random.Random, log: list[str]) -> None:
    log.append("a failure")
    result = model.session.run("d = 'failed'\n1 / 0")
    assert result.error.type == "ZeroDivisionError"
    model.state["d"] = "failed"


def roll_back(model: Model, dice: random.Random, log: list[str]) -> None:
    known = [each.id for each in model.session.checkpoints if each.id in model.at]
    if not known:
        return
    chosen = dice.choice(known)
    log.append(f"roll back to {chosen}")
    try:
        model.session.rollback(chosen)
    except ValueError as error:  # dropped since the list was made
        assert "no longer held" in str(error)
        return
    model.state = copy.deepcopy(model.at[chosen])


def checkpoint(model: Model, dice: random.Random, log: list[str]) -> None:
    made = model.session.checkpoint("soak" if dice.random() < 0.2 else None)
    log.append(f"checkpoint {made.id}")
    model.at[made.id] = copy.deepcopy(model.state)


OPERATIONS = (
    (run_cell, 60), (fail_cell, 5), (stop_cell, 2), (roll_back, 10), (checkpoint, 10),
)  # fmt: skip


@pytest.mark.soak
@pytest.mark.timeout(SECONDS + 600)
def test_sessions_are_what_plain_python_makes_of_them():
    dice = random.Random(SEED)
    log: list[str] = []
    end = time.monotonic() + SECONDS  # clock: so long it goes on
    with belljar.Sandbox("basic") as box:
        models = [start(box) for _ in range(SESSIONS)]
        count = 0
        try:
            while time.monotonic() < end:  # clock: as above
                count += 1
                log.clear()
                index = dice.randrange(len(models))
                model = models[index]
                what = dice.random()
                if what < 0.03:
                    log.append("close, open")
                    model.session.close()
                    models[index] = start(box)
                elif what < 0.08:
                    log.append("branch")
                    [branch] = model.session.branch(1)
                    other = dice.choice([i for i in range(len(models)) if i != index])
                    models[other].session.close()
                    models[other] = Model(branch, copy.deepcopy(model.state))
                    check(models[other])
                else:
                    operations, weights = zip(*OPERATIONS, strict=True)
                    for act in dice.choices(operations, weights, k=dice.randrange(1, 5)):
                        act(model, dice, log)
                check(models[index])
        except BaseException:
            print(f"seed {SEED}, operation {count}: {log}")
            raise
        finally:
            print(f"{count} operations")
        for model in models:
            check(model)
