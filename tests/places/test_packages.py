"""Packages of an index, in containers of each kind: installed there, run there, nowhere else."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.container.served_index import Index, served_index
from tests.data_science.session import Session
from tests.jail.conftest import BELLJAR
from tests.places.place import CONTAINERS, DOCKER, Place, need

NOBODY = "http://127.0.0.1:1/simple"
"""Port 1: nothing listens there."""
PROGRAM = "import guests, greeting\n[guests.LIST, greeting.greet('me')]"
RESULT = [["good day, you"], "good day, me"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    with served_index(tmp_path_factory.mktemp("index") / "asked") as index:
        yield index


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(params=CONTAINERS, ids=str)
def container(request: pytest.FixtureRequest) -> Place:
    found: Place = request.param
    need(found)
    return found


def run(place: Place, address: str, cache: Path, *options: str) -> dict[str, Any]:
    """What `belljar run --json` says, with its exit code as "code"."""
    source = ["--package-index", address, "--package-allow-private", "127.0.0.1"]
    done = subprocess.run(
        [BELLJAR, "run", *place.options(), *source, "--json", *options],
        env=os.environ | {"XDG_CACHE_HOME": str(cache)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found | {"code": done.returncode}


def test_a_package_and_what_it_needs(container: Place, index: Index, cache: Path) -> None:
    outcome = run(container, index.address, cache, "--package", "host-of-guests", "-c", PROGRAM)
    assert outcome["result"] == RESULT, outcome
    assert outcome["container"]["runtime"] == container.runtime
    assert outcome["container"]["packages"] == ["greeting==1.0", "host-of-guests==1.0"]
    asked = index.asked()
    again = run(
        container, index.address, cache, "--package", "Host_of_Guests", "-c", "import ctypes"
    )
    assert again["status"] == "refused"  # by the policy, which holds for the program
    assert index.asked() == asked  # and nobody was asked again


def test_hostile_wheels(index: Index, cache: Path) -> None:
    need(DOCKER)
    options = ("--package", "shadows", "--package", "starts-itself", "--package", "exits")
    program = "import json, math, shadows, starts_itself\n[json.dumps({}), math.pi > 3.1]"
    outcome = run(DOCKER, index.address, cache, *options, "-c", program)
    assert outcome["result"] == ["{}", True], outcome
    climbing = run(DOCKER, index.address, cache, "--package", "climbs", "-c", "1")
    assert climbing["code"] == 5
    assert not Path("/tmp/escape.py").exists()


def test_an_altered_tree_is_not_run(index: Index, cache: Path) -> None:
    need(DOCKER)
    assert run(DOCKER, index.address, cache, "--package", "scripted", "-c", "1")["code"] == 0
    (site,) = (cache / "belljar/packages").glob("*/site/scripted")
    (site / "__init__.py").write_text("def main(): print('altered')\n")
    outcome = run(DOCKER, index.address, cache, "--package", "scripted", "-c", "1")
    assert outcome["code"] == 5
    assert "remove that folder" in outcome["error"]["message"]


def test_an_image_with_packages_is_verified(index: Index, cache: Path, tmp_path: Path) -> None:
    need(DOCKER)
    options = ("--package", "host-of-guests")
    assert run(DOCKER, index.address, cache, *options, "-c", "1")["code"] == 0  # now it is there
    source = ("--package-index", index.address, "--package-allow-private", "127.0.0.1")

    def image(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BELLJAR, "image", *arguments],
            env=os.environ | {"XDG_CACHE_HOME": str(cache)},
            capture_output=True,
            text=True,
            timeout=300,
        )

    file = tmp_path / "image.tar"
    assert image("build", *options, *source, "--output", file).returncode == 0
    assert image("verify", file, *options, *source).returncode == 0
    without = image("verify", file)
    assert without.returncode == 1
    assert "name them with --package" in without.stdout


def test_an_index_that_is_not_there(cache: Path) -> None:
    need(DOCKER)
    outcome = run(DOCKER, NOBODY, cache, "--package", "greeting", "-c", "1")
    assert outcome["code"] == 5
    assert f"{NOBODY} cannot be reached" in outcome["error"]["message"]
    assert not list((cache / "belljar/packages").glob("*.new"))


# An index of the world's, for whoever names one: its address, and the hosts of its files.
if REAL_INDEX := os.environ.get("BELLJAR_TEST_PACKAGE_INDEX"):

    def test_an_index_of_the_world(cache: Path) -> None:
        hosts = os.environ.get("BELLJAR_TEST_PACKAGE_HOSTS", "")
        options = ("--package", "six", "--package-host", hosts, "-c", "import six\nsix.PY3")
        assert run(DOCKER, str(REAL_INDEX), cache, *options)["result"] is True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--package", "x"], "--package: they require a container"),
        (["--container", "--package", "./x"], "a package is a name"),
        (["--container", "--package", "x", "--image", "y"], "omit --image"),
        (["--container", "--package", "x", "--profile", "./own.toml"], "own.toml"),
        (["--container", "--package-host", "x"], "requires --package"),
        (["--container", "--package", "x", "--package-index", "/srv/x"], "https://"),
    ],
)
def test_usage(options: list[str], said: str) -> None:
    source = [] if "--package-index" in options else ["--package-index", NOBODY]
    done = subprocess.run(
        [BELLJAR, "run", *options, *source, "-c", "1"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert said in done.stderr


def test_without_an_index_there_is_none() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "PIP_INDEX_URL"}
    command = [BELLJAR, "run", "--container", "--package", "x", "-c", "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "there is no default" in done.stderr


# --- the server -------------------------------------------------------------------------------


def settings(index: str, cache: Path, *allowed: str) -> dict[str, str]:
    return {
        "BELLJAR_PACKAGES_ENABLED": "true",
        "BELLJAR_PACKAGES_INDEX": index,
        "BELLJAR_PACKAGES_ALLOW_PRIVATE": "127.0.0.1",
        "BELLJAR_PACKAGES_ALLOWED": ",".join(allowed),
        "BELLJAR_PACKAGES_FOLDER": str(cache / "belljar/packages"),
    }


def text_of(session: Session, **arguments: Any) -> str:
    """Of a call that is refused."""
    answer = session._call(
        "tools/call", name="execute_code", arguments={"code": PROGRAM, **arguments}
    )
    assert answer["isError"]
    return str(answer["content"][0]["text"])


def test_calls(index: Index, cache: Path) -> None:
    need(DOCKER)
    environment = os.environ | DOCKER.settings() | settings(index.address, cache, "host-*")
    environment["BELLJAR_CONTAINER_SPARES"] = "0"
    session = Session(BELLJAR, environment=environment)
    try:
        packages = {"packages": ["host-of-guests"]}
        outcome = session.run(PROGRAM, use_container=True, **packages)
        assert outcome["result"] == RESULT
        assert outcome["container"]["packages"] == ["greeting==1.0", "host-of-guests==1.0"]
        assert "use_container" in text_of(session, **packages)
        refused = text_of(session, use_container=True, packages=["greeting"])
        assert "the operator allows host-*" in refused
        assert "a package is a name" in text_of(session, use_container=True, packages=["-r x"])
        missing_one = text_of(session, use_container=True, packages=["host-of-nobody"])
        assert "has no package" in missing_one
        assert session.run("6 * 7")["result"] == 42  # the others go on
    finally:
        session.close()


def test_calls_where_it_is_off() -> None:
    need(CONTAINERS[0])
    session = Session(BELLJAR)
    try:
        assert "not enabled on this server" in text_of(session, packages=["greeting"])
        assert session.run("1", packages=[])["result"] == 1
    finally:
        session.close()


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"BELLJAR_CONTAINER_ENABLED": "false"}, 0, "container.enabled"),
        ({"BELLJAR_PACKAGES_ALLOWED": ""}, 0, "packages.allowed"),
        ({"BELLJAR_PACKAGES_ALLOWED": "a b"}, 2, "google-*"),
        ({"BELLJAR_PACKAGES_INDEX": "https://me:secret@host/simple"}, 2, "PIP_INDEX_URL"),
        ({"BELLJAR_PACKAGES_INDEX": "/srv/index"}, 2, "https://"),
    ],
)
def test_settings_that_make_no_sense(
    changes: dict[str, str], code: int, said: str, tmp_path: Path
) -> None:
    environment = os.environ | DOCKER.settings() | settings(NOBODY, tmp_path, "x") | changes
    done = subprocess.run(
        [BELLJAR, "serve", "--check"], env=environment, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == code, done.stderr
    assert said in done.stderr
