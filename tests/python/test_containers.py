"""Containers from Python: which one is asked for, and what a run in one says."""

from __future__ import annotations

import pytest
from belljar import BelljarError, ContainerOptions, Sandbox

from tests.places.place import CONTAINERS, ENGINE_SOCKET, Place, load, missing, unavailable
from tests.python.conftest import named

NOWHERE = "/nonexistent/engine.sock"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"engine": "lxc"}, "container: engine is 'lxc'"),
        ({"runtime": "crun"}, "container: runtime is 'crun'"),
        ({"runtime": "runc", "require_gvisor": True}, "container: require_gvisor and runtime=runc"),
        ({"engine": "runsc", "runtime": "runc"}, "runtime=runc needs docker"),
        ({"engine": "runsc", "socket": NOWHERE}, "engine=runsc has no socket"),
        ({"packages": ("x",), "image": "y"}, "leave image out"),
        ({"packages": ("x",), "package_index": ""}, "there is no usual one"),
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
    if why := missing(found):
        unavailable(why)
    load(found, "basic")
    return found


def test_runs(place: Place) -> None:
    options = ContainerOptions(
        engine=place.engine,  # type: ignore[arg-type]
        runtime=place.runtime,  # type: ignore[arg-type]
        socket=str(ENGINE_SOCKET) if place.engine == "docker" else None,
    )
    with Sandbox(container=options, spares=1) as box:
        result = box.run("print('in')\nx + 1", inputs={"x": 41})
        assert (result.value, result.stdout) == (42, "in\n")
        assert result.container is not None
        assert result.container.runtime == place.runtime
        assert result.isolation.mode == box.info().isolation == "standard"
        assert box.run("1 / 0").status == "exception"
        with pytest.raises(BelljarError, match="functions"):
            box.run("f()", functions={"f": lambda: 1})
