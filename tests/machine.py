"""What a test needs of the machine, asked for in one place.

A test that needs more than a checkout and a build says so by one of these functions. Where the
machine lacks it, the test is skipped with the reason; with BELLJAR_MUST_WORK=1, as CI sets it, it
fails. C++ tests do the same with BELLJAR_SKIP_OR_FAIL of tests/support/support.h.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NoReturn

import pytest

ROOT = Path(__file__).resolve().parents[1]
BUILD = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve()
BELLJAR = BUILD / "belljar"


def must_work() -> bool:
    """Whether this machine is to have all that tests need."""
    return os.environ.get("BELLJAR_MUST_WORK") == "1"


def cannot(why: str) -> NoReturn:
    """Skips where the machine cannot; fails there when it must."""
    if must_work():
        pytest.fail(why)
    pytest.skip(why)


def need(found: object, why: str) -> None:
    """`why`: what is missing and what installs it."""
    if not found:
        cannot(why)


def need_build() -> None:
    """A build tree with the command."""
    need(os.access(BELLJAR, os.X_OK), f"there is no build in {BUILD}: ./dev build")


def need_guards() -> str:
    """The folder of the policy's extension module, for tests that build a policy themselves."""
    folder = os.environ.get("BELLJAR_GUARDS_DIR", "")
    found = bool(folder) and any(Path(folder).glob("_belljar_guards*.so"))
    need(found, "BELLJAR_GUARDS_DIR does not name the folder of _belljar_guards")
    return folder


def lacks(found: object, what: str) -> None:
    """For what few machines have, and CI's need not: another Python, a shell. Always skips."""
    if not found:
        pytest.skip(f"there is no {what} here")


def need_program(name: str, package: str) -> str:
    """The path of a program, and the Debian package that has it."""
    # What is in /usr/sbin is not on every user's PATH.
    found = shutil.which(name) or shutil.which(f"/usr/sbin/{name}")
    need(found, f"there is no {name} on PATH: install {package}")
    return str(found)


def need_wrapper(*command: str | Path) -> None:
    """A machine made up by `command`, which runs the words after it."""
    done = subprocess.run([*command, "/bin/true"], capture_output=True, text=True, check=False)
    need(done.returncode == 0, f"cannot make up such a machine: {done.stderr}")


def need_files(*paths: Path) -> None:
    """What ./dev test installs below build/."""
    missing = [str(path) for path in paths if not path.exists()]
    need(not missing, f"not installed: {', '.join(missing)} (./dev test installs them)")


def need_root(why: str) -> None:
    """For tests that act as several users, or mount."""
    need(os.geteuid() == 0, f"only root {why}")


def need_open(*paths: str | os.PathLike[str]) -> None:
    """Files that all users may read, for tests that become another. Where a checkout is below a
    folder of root's own, they always skip."""
    for each in paths:
        path = Path(each).resolve()
        closed = [at for at in (path, *path.parents) if at.stat().st_mode & 0o005 != 0o005]
        lacks(not closed, f"build that other users may read: {closed}")


def need_packages(profile: str) -> None:
    """The packages of a profile."""
    folder = BUILD / "share/belljar/packages" / profile
    need(folder.is_dir(), f"the packages of {profile} are not installed: ./dev setup {profile}")


def corpus(name: str) -> Path:
    """Programs of others, which a checkout may have beside it."""
    path = ROOT.parent / "shared/corpora" / name
    lacks(path.exists(), f"{name} beside the checkout")
    return path


@functools.cache
def _checks() -> dict[str, dict[str, Any]]:
    done = subprocess.run([BELLJAR, "doctor", "--json"], capture_output=True, check=False)
    assert done.returncode in (0, 1), done
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def need_layers(*names: str) -> None:
    """Layers of the kernel, by their names in `belljar doctor`."""
    need_build()
    checks = _checks()
    missing = [f"{name}: {checks[name]['detail']}" for name in names if not checks[name]["found"]]
    need(not missing, "; ".join(missing))


def engines_later() -> str:
    """The file that gets the names of tests that are for later; empty: engines are not hidden."""
    return os.environ.get("BELLJAR_TEST_ENGINES_LATER", "")


def docker_socket() -> Path:
    """Of the dockerd that tools/containers starts for tests."""
    if engines_later():
        return Path("/nonexistent/docker.sock")
    return Path(os.environ.get("BELLJAR_DOCKER_SOCKET", BUILD.parent / "containers/docker.sock"))


def docker_command() -> str | None:
    # The package's own command where it is there, whatever else is called docker on PATH.
    return shutil.which("/usr/bin/docker") or shutil.which("docker")


def _why_no_engine(engine: str, runtime: str) -> str:
    if os.geteuid() != 0:
        return "engines hold all of the limits for root only"
    at = docker_socket()
    if engine == "docker" and not at.is_socket():
        return f"no engine at {at}: tools/containers start"
    if engine == "docker" and not docker_command():
        return "there is no docker command: tools/containers install"
    if engine == "podman" and not shutil.which("podman"):
        return "there is no podman on PATH: tools/packages.txt"
    if "runsc" in (engine, runtime) and not shutil.which("runsc"):
        return "there is no runsc on PATH: tools/containers install"
    return ""


class EngineLater(pytest.skip.Exception):
    """Ends a test where engines are hidden, as `./dev test` in CI does: so no test takes one for
    granted. These it then runs once more."""


def need_engine(engine: str, runtime: str = "") -> None:
    """An engine by which tests can start containers: docker, podman, or runsc alone."""
    if engines_later():
        raise EngineLater("engines are hidden")
    need(not (why := _why_no_engine(engine, runtime)), why)
