"""Containers from Python: which one is asked for, and what a run in one says."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from belljar import AsyncSandbox, BelljarError, ContainerOptions, Sandbox, _host

from tests.places.place import CONTAINERS, ENGINE_SOCKET, Place, load, need
from tests.python.conftest import Script, named
from tests.python.test_awaited import HOSTILE, MOST

NOWHERE = "/nonexistent/engine.sock"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "lxc"}, "container: engine is 'lxc'"),
        ({"runtime": "crun"}, "container: runtime is 'crun'"),
        ({"runtime": "runc", "require_gvisor": True}, "container: require_gvisor and runtime=runc"),
        ({"engine": "runsc", "runtime": "runc"}, "runtime=runc needs docker"),
        ({"engine": "runsc", "socket": NOWHERE}, "engine=runsc has no socket"),
        ({"packages": ("x",), "image": "y"}, "omit image"),
        ({"packages": ("x",), "package_index": ""}, "there is no default"),
        (
            {"packages": ("./x",), "package_index": "https://127.0.0.1/simple"},
            "a package is a name",
        ),
    ],
    ids=named,
)
def test_options_that_make_no_sense(options: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sandbox(container=ContainerOptions(**options))  # type: ignore[arg-type]


def test_packages_need_a_container(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    for profile in ("basic", "full", None):
        with pytest.raises(ValueError, match="packages: they require a container, or the language"):
            Sandbox(profile, packages=["requests"])
        # With one, they are its packages.
        with pytest.raises(ValueError, match="package_index: there is none: .* PIP_INDEX_URL"):
            Sandbox(profile, packages=["requests"], container=True)
    with pytest.raises(ValueError, match="packages: the container's options have it already"):
        Sandbox(packages=["a"], container=ContainerOptions(packages=("b",)))
    with pytest.raises(TypeError, match="packages is a str; give a list of str"):
        Sandbox(packages="requests", container=True)  # type: ignore[arg-type]


def test_types() -> None:
    with pytest.raises(TypeError, match="container: packages is a str"):
        Sandbox(container=ContainerOptions(packages="x"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="container: require_gvisor is a int"):
        Sandbox(container=ContainerOptions(require_gvisor=1))  # type: ignore[arg-type]


def test_an_engine_that_is_not_there() -> None:
    options = ContainerOptions(engine="docker", socket=NOWHERE)
    with pytest.raises(BelljarError, match=NOWHERE):
        Sandbox(container=options)


@pytest.fixture(params=CONTAINERS, ids=str)
def place(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    need(found)
    load(found, "basic")
    return found


def options_of(place: Place) -> dict[str, Any]:
    return {
        "engine": place.engine,
        "runtime": place.runtime,
        "socket": str(ENGINE_SOCKET) if place.engine == "docker" else None,
    }


@pytest.fixture
def box(place: Place) -> Iterator[Sandbox]:
    with Sandbox(container=ContainerOptions(**options_of(place)), spares=1) as sandbox:
        yield sandbox


def test_runs(place: Place, box: Sandbox) -> None:
    result = box.run("print('in')\nx + 1", inputs={"x": 41})
    assert (result.value, result.stdout) == (42, "in\n")
    assert result.container is not None
    assert result.container.runtime == place.runtime
    assert result.isolation.mode == box.info().isolation == "standard"
    assert box.run("1 / 0").status == "exception"


class Odd(Exception):
    pass


def test_functions(box: Sandbox) -> None:
    here = threading.get_ident()
    seen: list[str] = []

    def look_up(key: str, *, default: object = None) -> object:
        assert threading.get_ident() == here
        seen.append(f"[{key}]")
        return {"a": (1, b"x")}.get(key, default)

    def fail(kind: str) -> None:
        raise {"key": KeyError("nothing"), "odd": Odd("why")}[kind]

    def no_data() -> object:
        return object()

    result = box.run(
        """
print("before")
told = [look_up('a'), look_up('b', default={1})]
print("after")
for call in (lambda: fail("key"), lambda: fail("odd"), no_data, lambda: look_up(object())):
    try:
        call()
    except Exception as error:
        told.append((type(error).__name__, str(error)))
told
""",
        functions={"look_up": look_up, "fail": fail, "no_data": no_data},
        stream=lambda name, text: seen.append(text),
    )
    assert result.value is not None, result
    assert result.value[:2] == [(1, b"x"), {1}]
    assert result.value[2:4] == [("KeyError", "'nothing'"), ("RuntimeError", "Odd: why")]
    assert [name for name, _ in result.value[4:]] == ["TypeError", "TypeError"]
    assert "what no_data returned is a object" in result.value[4][1]
    assert "".join(seen) == "before\n[a][b]after\n"
    assert result.container is not None


def test_what_a_program_leaves(box: Sandbox) -> None:
    told: list[tuple[Any, ...]] = []
    asked = box._program("import math\na = (1, {2})\n1 / 0", take=lambda *args: told.append(args))
    result = box._run(asked, _host.Canceller(), raise_on_error=False)
    assert (result.status, told) == ("exception", [("math",), ("a", (1, {2})), ()])


def test_what_no_exception_is_ends_the_run(box: Sandbox) -> None:
    def enough() -> None:
        raise SystemExit("of it")

    with pytest.raises(SystemExit, match="of it"):
        box.run("try:\n    f()\nfinally:\n    g()", functions={"f": enough, "g": pytest.fail})
    assert box.run("1").value == 1


def test_the_clock_goes_on_in_a_function(box: Sandbox) -> None:
    result = box.run(
        "print('before')\nf()\nprint('after')",
        functions={"f": lambda: time.sleep(3)},  # sleeps: longer than the run may take
        timeout=1.5,
    )
    assert (result.status, result.stdout) == ("timeout", "before\n")


def test_async(place: Place) -> None:
    async def main() -> None:
        async with AsyncSandbox(container=ContainerOptions(**options_of(place)), spares=1) as box:

            async def slow(x: int) -> int:
                await asyncio.sleep(0)
                return x * 2

            result = await box.run(
                "import asyncio\nawait asyncio.gather(*(slow(n) for n in range(3)))",
                functions={"slow": slow},
            )
            assert result.value == [0, 2, 4], result
            begun = asyncio.Event()

            async def forever() -> None:
                begun.set()
                await asyncio.Event().wait()

            task = asyncio.create_task(box.run("await f()", functions={"f": forever}))
            await begun.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await box.run("1")).value == 1

    asyncio.run(asyncio.wait_for(main(), 180))


def test_an_attack_on_functions_that_are_awaited(place: Place) -> None:
    async def double(number: int) -> int:
        return 2 * number

    container = ContainerOptions(**options_of(place))
    with Sandbox("basic", policy="off", container=container, spares=1) as box:
        begin = HOSTILE + f"numbers = [say('+double', n)['value'] for n in range({MOST})]\n"
        control = begin + "while not (told := say('@await')): pass\ntold"
        told = box.run(control, functions={"double": double})
        assert told.value == {"ended": 1, "value": 0}, told
        for attack in ("say('+double', 1)", "say('@cancel', 17)", "say('@await', 1)"):
            killed = box.run(begin + attack, functions={"double": double})
            assert killed.status == "killed", killed
            assert killed.error is not None
            assert killed.error.message.endswith("a call that no runner makes")


INTERRUPTED = """
import os, signal, threading, time
from belljar import ContainerOptions, Sandbox
from tests.clocks import UNTIL_KILLED
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def soon(*_):
    threading.Timer(0.2, interrupt).start()
with Sandbox(container=ContainerOptions(**{options}), spares={spares}) as box:
    {before}
    try:
        {call}
    except KeyboardInterrupt:
        print("interrupted")
    else:
        print("it went on")
"""


@pytest.mark.parametrize(
    ("spares", "before", "call"),
    [
        (1, "box.run('1'); soon()", "box.run(UNTIL_KILLED)"),
        (1, "box.run('1')", 'box.run("print(1, flush=True)\\nwhile True: pass", stream=soon)'),
        (
            1,
            "box.run('1')",
            'box.run("f()", functions={"f": lambda: (soon(), threading.Event().wait())})',
        ),
        (0, "threading.Timer(0.1, interrupt).start()", 'box.run("1")'),
    ],
    ids=["sleeping", "busy", "in a function", "waiting for a container"],
)
def test_ctrl_c(place: Place, script: Script, spares: int, before: str, call: str) -> None:
    # Where there is none that waits, it is not waited for.
    done = script(
        INTERRUPTED.format(
            options=options_of(place),
            spares=spares,
            before=before,
            call=call,
        ),
        timeout=180,
    )
    assert done.stdout == "interrupted\n", done.stderr
    assert done.returncode == 0, done.stderr
