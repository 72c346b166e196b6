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


def need_program(name: str, package: str) -> None:
    """A program on PATH, and the Debian package that has it."""
    need(shutil.which(name), f"there is no {name} on PATH: install {package}")


def need_files(*paths: Path) -> None:
    """What ./dev test installs below build/."""
    missing = [str(path) for path in paths if not path.exists()]
    need(not missing, f"not installed: {', '.join(missing)} (./dev test installs them)")


def need_root(why: str) -> None:
    """For tests that act as several users."""
    need(os.geteuid() == 0, f"only root {why}")


def need_packages(profile: str) -> None:
    """The packages of a profile."""
    folder = BUILD / "share/belljar/packages" / profile
    need(folder.is_dir(), f"the packages of {profile} are not installed: ./dev setup {profile}")


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


def docker_socket() -> Path:
    """Of the dockerd that tools/containers starts for tests."""
    return Path(os.environ.get("BELLJAR_DOCKER_SOCKET", BUILD.parent / "containers/docker.sock"))


def why_no_engine(engine: str, runtime: str = "") -> str:
    """Why tests cannot start containers by docker or by runsc alone; empty: they can."""
    if os.geteuid() != 0:
        return "engines hold all of the limits for root only"
    if engine == "docker" and not docker_socket().is_socket():
        return f"no engine at {docker_socket()}: tools/containers start"
    if "runsc" in (engine, runtime) and shutil.which("runsc") is None:
        return "there is no runsc on PATH: tools/containers install"
    return ""


def need_engine(engine: str) -> None:
    """An engine by which this user can start containers."""
    need(not (why := why_no_engine(engine)), why)
