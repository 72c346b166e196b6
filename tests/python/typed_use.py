"""What type checkers make of the options: checked by `./dev lint`, never run.

mypy --strict fails here both for a correct call that it refuses and for a wrong one that it takes:
an ignored error that does not occur is an error. (Ignored without a code: what mypy says depends on
its cache.)
"""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import assert_type

from belljar import (
    AsyncSandbox,
    AsyncSession,
    ContainerOptions,
    Program,
    Result,
    Sandbox,
    Session,
)


def sandboxes() -> None:
    Sandbox("basic", timeout=5, memory="64m", cpu="500ms", output=1 << 20)
    Sandbox(isolation="standard", policy="off", spares=2, container=ContainerOptions())
    Sandbox(allowed_imports=["math"], allow_domains=("example.org",), allow_private=[])
    AsyncSandbox("basic", timeout=5, concurrency=2, container=True)
    Sandbox("full", packages=["requests>=2.31"], container=True)
    Sandbox(timeot=5)  # type: ignore[call-arg]
    Sandbox(isolation="loose")  # type: ignore[arg-type]
    Sandbox(timeout=b"5")  # type: ignore[arg-type]
    Sandbox("basic", 5)  # type: ignore
    Sandbox(concurrency=2)  # type: ignore[call-arg]
    AsyncSandbox(spares="2")  # type: ignore[arg-type]


def runs(box: Sandbox) -> None:
    assert_type(box.run("1", timeout=1.5, memory=None, cpu="1s", output="1m"), Result)
    box.run(b"1", stdin=b"1", args=["a"], env={"A": "b"}, filename="a.py", raise_on_error=True)
    box.run("1", inputs={"x": 1}, functions={"f": len}, files={"a": Path("b"), "c": b"d"})
    box.run("1", allowed_imports=[], allowed_domains=None, stream=print)
    assert_type(box.run_many(["1"], concurrency=2, timeout=1), Iterator[Result])
    box.run_many(["1", Program(code="1", stdin="x"), {"code": b"1", "inputs": {"x": 1}}])
    box.run_many([Program(stdin="x")])  # type: ignore[typeddict-item]
    box.run_many([{"code": "1", "stdn": "x"}])  # type: ignore
    box.run("1", timeot=1)  # type: ignore[call-arg]
    box.run("1", timeout=[])  # type: ignore[arg-type]
    box.run("1", filename=None)  # type: ignore[arg-type]
    box.run("1", functions={"f": 1})  # type: ignore[dict-item]
    box.run("1", stream=len)  # type: ignore[arg-type]
    box.run("1", 5)  # type: ignore
    box.run_many(["1"], stdin=1)  # type: ignore[arg-type]
    box.run_many(["1"], take=print)  # type: ignore[call-arg]


def sessions(box: Sandbox) -> None:
    session = box.session(timeout=1, memory="64m", checkpoints=4, total_memory="1g", wait=5)
    assert_type(session, Session)
    assert_type(session.run("1", timeout=1, filename=None, inputs={"x": 1}), Result)
    session.run("1", memory="64m")  # type: ignore[call-arg]
    session.run("1", cpu=b"")  # type: ignore[arg-type]
    box.session(checkpoints="4")  # type: ignore[arg-type]
    box.session(stdin="")  # type: ignore[call-arg]


async def asynchronous(box: AsyncSandbox) -> None:
    assert_type(await box.run("1", timeout=1, functions={"f": len}), Result)
    assert_type(box.run_many(["1"], memory="64m"), AsyncIterator[Result])
    session = box.session(wait="5s")
    assert_type(session, AsyncSession)
    assert_type(await session.run("1", stdin=""), Result)
    await box.run("1", timeot=1)  # type: ignore[call-arg]
    await session.run("1", memory=1)  # type: ignore[call-arg]
    box.session(wait=None)  # type: ignore[arg-type]
