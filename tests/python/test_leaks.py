"""Nothing grows: descriptors, threads, children, memory."""

from __future__ import annotations

import gc
import os
import time
from dataclasses import dataclass

import pytest
from belljar import Sandbox

from tests.clocks import UNTIL_KILLED, until

PAGE = os.sysconf("SC_PAGESIZE")


@dataclass
class State:
    descriptors: int
    threads: int
    children: int
    resident: int  # bytes

    @classmethod
    def now(cls) -> State:
        gc.collect()
        with open("/proc/self/statm") as file:
            resident = int(file.read().split()[1]) * PAGE
        children = 0
        for task in os.listdir("/proc/self/task"):
            with open(f"/proc/self/task/{task}/children") as file:
                children += len(file.read().split())
        return cls(
            len(os.listdir("/proc/self/fd")),
            len(os.listdir("/proc/self/task")),
            children,
            resident,
        )


def settled(box: Sandbox, wanted: int) -> State:
    """When as many workers wait as at first: the pool refills by itself."""
    engine = box._engine
    assert engine is not None
    until(lambda: engine.counters()["waiting"] == wanted)
    time.sleep(0.3)  # sleeps: the last ones are being reaped
    return State.now()


def work(box: Sandbox, runs: int) -> None:
    for number in range(runs):
        result = box.run(
            "print('x' * 10_000)\nf(data)",
            inputs={"data": [number] * 100},
            functions={"f": lambda data: data},
            stream=lambda name, text: None,
        )
        assert result.value == [number] * 100
        if number % 50 == 0:
            assert box.run("1 / 0").status == "exception"
            assert box.run("while True: pass", timeout=0.05).status in {"timeout", "cpu_limit"}
            with pytest.raises(LookupError):
                box.run("print(1, flush=True)\n" + UNTIL_KILLED, stream=stop)


def stop(name: str, text: str) -> None:
    raise LookupError


def check(box: Sandbox, warm: int, runs: int, growth: int) -> None:
    box.wait_until_ready(30)
    work(box, warm)
    before = settled(box, 2)
    work(box, runs)
    after = settled(box, 2)
    assert after.descriptors <= before.descriptors + 2
    assert after.threads <= before.threads
    assert after.children <= before.children + 1
    assert after.resident - before.resident < growth


def test_some_hundred_runs() -> None:
    with Sandbox(spares=2) as box:
        check(box, 100, 300, 4 << 20)


def test_many_sandboxes() -> None:
    with Sandbox(spares=1) as box:
        box.run("1")
    before = State.now()
    for _ in range(8):
        with Sandbox(spares=1) as box:
            assert box.run("1").value == 1
    after = State.now()
    assert after.descriptors == before.descriptors
    assert after.threads == before.threads
    assert after.children == before.children
    assert after.resident - before.resident < 8 << 20


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_fifty_thousand_runs() -> None:
    with Sandbox(spares=2) as box:
        check(box, 1000, 50_000, 16 << 20)
