"""pyproject.toml agrees with the tree that it is built from. Nothing is built here."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


def pins(name: str) -> set[tuple[str, str]]:
    return set(PIN.findall((ROOT / f"requirements/{name}.txt").read_text()))


def sets_of_profiles() -> set[str]:
    found: set[str] = set()
    for path in (ROOT / "profiles").glob("*.toml"):
        found |= tomllib.loads(path.read_text()).get("packages", {}).keys()
    return found


def test_each_set_of_packages_is_an_extra():
    assert set(PROJECT["project"]["optional-dependencies"]) >= sets_of_profiles()


@pytest.mark.parametrize("name", sorted(sets_of_profiles()))
def test_extras_have_the_pins_of_requirements(name):
    extra = {tuple(each.split("==")) for each in PROJECT["project"]["optional-dependencies"][name]}
    assert extra == pins(name)


def test_what_the_policy_needs_is_built_with_in_its_version():
    assert {f"{name}=={version}".lower() for name, version in pins("runtime")} <= {
        each.lower().partition(";")[0] for each in PROJECT["build-system"]["requires"]
    }


def test_everything_to_build_with_is_pinned():
    assert all("==" in each for each in PROJECT["build-system"]["requires"])


def test_each_version_with_a_wheel_is_supported_and_no_other():
    """[tool.belljar-wheels] is the list; what else names versions agrees with it."""
    pythons = PROJECT["tool"]["belljar-wheels"]["pythons"]
    minors = [int(each.removeprefix("3.")) for each in pythons]
    assert minors == list(range(minors[0], minors[-1] + 1))
    wanted = f">=3.{minors[0]},<3.{minors[-1] + 1}"
    assert PROJECT["project"]["requires-python"] == wanted
    classifiers = re.findall(
        r"^Programming Language :: Python :: (3\.\d+)$",
        "\n".join(PROJECT["project"]["classifiers"]),
        re.MULTILINE,
    )
    assert classifiers == pythons
    cmake = (ROOT / "tools/cmake/BelljarPython.cmake").read_text()
    assert re.search(r"set\(BELLJAR_PYTHONS (.*)\)", cmake)[1].split() == pythons


def test_a_missing_library_is_named_with_what_installs_it(tmp_path):
    done = subprocess.run(
        [
            *("cmake", "-S", ROOT, "-B", tmp_path),
            "-DCMAKE_DISABLE_FIND_PACKAGE_spdlog=ON",
            "-DCMAKE_DISABLE_FIND_PACKAGE_pugixml=ON",
        ],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode != 0
    said = done.stderr
    assert "apt-get install --no-install-recommends libpugixml-dev libspdlog-dev\n" in said
