"""tools/surface.py fails when a module or a class has a name that nobody has judged."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import RestrictedPython

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = Path(RestrictedPython.__file__).parents[1]
VERSION = ".".join(map(str, sys.version_info[:3]))
MINOR = ".".join(map(str, sys.version_info[:2]))

PROFILE = """
schema = 1
name = "orchard"

[modules.fruit]
why = "a test"
exports = ["Apple", "ripen"]
"""
FRUIT = """
import os

class Apple:
    def eat(self): pass

def ripen(): pass
"""


class Orchard:
    """A profile of one module, with a package folder to change the module in."""

    def __init__(self, folder: Path) -> None:
        self.profiles = folder / "profiles"
        self.packages = folder / "packages"
        (self.profiles / "surface").mkdir(parents=True)
        self.packages.mkdir()
        self.profile = self.profiles / "orchard.toml"
        self.withheld = self.profiles / "surface" / "orchard.toml"
        self.common = self.profiles / "surface" / "orchard.txt"
        self.recorded = self.profiles / "surface" / f"orchard-{MINOR}.txt"
        self.profile.write_text(PROFILE)
        self.withheld.write_text('[fruit]\n"a module" = "os"\n')
        self.write_module(FRUIT)

    def write_module(self, text: str) -> None:
        (self.packages / "fruit.py").write_text(text)

    def surface(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-I", str(ROOT / "tools" / "surface.py"), *arguments,
             "--profiles", str(self.profiles), "--path", str(self.packages),
             "--path", str(PACKAGES)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    def problems(self, *arguments: str) -> str:
        done = self.surface("check", *arguments)
        assert done.returncode == 1, done.stdout + done.stderr
        return done.stderr


@pytest.fixture
def orchard(tmp_path: Path) -> Orchard:
    made = Orchard(tmp_path)
    done = made.surface("record")
    assert done.returncode == 0, done.stderr
    return made


def test_what_is_recorded_passes(orchard: Orchard, tmp_path: Path) -> None:
    stamp = tmp_path / "stamp"
    done = orchard.surface("check", "--stamp", str(stamp))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert stamp.is_file()
    names = orchard.common.read_text().splitlines()
    assert names == sorted(names)
    assert {"fruit.Apple", "fruit.Apple.eat", "str.upper", "type.mro"} <= set(names)
    assert orchard.recorded.read_text() == ""  # one recorded Python: all of it is common


def test_what_pythons_share_is_recorded_once(orchard: Orchard) -> None:
    recorded = set(orchard.common.read_text().split())
    other = orchard.recorded.with_name("orchard-3.99.txt")
    other.write_text("fruit.Apple.glow\n")
    orchard.write_module(FRUIT.replace("eat", "bite"))
    done = orchard.surface("record")
    assert done.returncode == 0, done.stderr
    assert "new: fruit.Apple.bite" in done.stdout and "gone: fruit.Apple.eat" in done.stdout
    assert set(orchard.common.read_text().split()) == recorded - {"fruit.Apple.eat"}
    assert orchard.recorded.read_text() == "fruit.Apple.bite\n"
    assert other.read_text() == "fruit.Apple.eat\nfruit.Apple.glow\n"  # it has what it had


def test_a_name_of_another_python_is_not_recorded_for_this_one(orchard: Orchard) -> None:
    orchard.recorded.with_name("orchard-3.99.txt").write_text("fruit.Apple.glow\n")
    orchard.write_module(FRUIT.replace("def eat(self): pass", "def eat(self): pass\n    glow = 1"))
    assert "'fruit.Apple.glow'" in orchard.problems()


def test_a_new_name_in_a_module_has_to_be_judged(orchard: Orchard, tmp_path: Path) -> None:
    orchard.write_module(FRUIT + "def rot(): pass\n")
    stamp = tmp_path / "stamp"
    said = orchard.problems("--stamp", str(stamp))
    for part in ("orchard", "'fruit'", "'rot'", VERSION, str(orchard.profile), "withheld"):
        assert part in said.replace(str(orchard.withheld), "withheld"), said
    assert not stamp.exists()
    assert orchard.surface("record").returncode == 1  # recording is no judgement on it
    orchard.withheld.write_text('[fruit]\n"a module" = "os"\n"spoils" = "rot"\n')
    assert orchard.surface("check").returncode == 0


def test_a_new_attribute_of_a_class_has_to_be_judged(orchard: Orchard) -> None:
    orchard.write_module(FRUIT.replace("eat", "eat(self): pass\n    def peel"))
    said = orchard.problems()
    assert "'fruit.Apple.peel'" in said and VERSION in said and "surface.py record" in said
    done = orchard.surface("record")
    assert "new: fruit.Apple.peel" in done.stdout
    assert orchard.surface("check").returncode == 0


def test_what_is_gone_is_only_said(orchard: Orchard) -> None:
    orchard.write_module(FRUIT.replace("eat", "bite"))
    assert orchard.surface("record").returncode == 0
    orchard.write_module(FRUIT.replace("def eat(self): pass", "pass"))
    done = orchard.surface("check")
    assert done.returncode == 0
    assert "'fruit.Apple.bite'" in done.stdout and "note" in done.stdout


def test_a_python_without_a_list_fails_unless_told_to_warn(orchard: Orchard) -> None:
    orchard.recorded.unlink()
    assert "has no recorded surface" in orchard.problems()
    done = orchard.surface("check", "--warn")
    assert done.returncode == 0
    assert "has no recorded surface" in done.stderr and "BELLJAR_SURFACE=warn" in done.stderr


def test_a_way_outside_fails(orchard: Orchard) -> None:
    orchard.write_module(FRUIT.replace("def eat(self): pass", "tools = os"))
    orchard.surface("record")
    assert "fruit.Apple.tools: module" in orchard.problems()


def test_entries_that_say_two_things_fail(orchard: Orchard) -> None:
    orchard.withheld.write_text('[fruit]\n"a module" = "os"\n"a b" = "ripen"\n["x.y"]\n"z" = "z"\n')
    said = orchard.problems()
    assert "'ripen' is both exported and withheld" in said
    assert "'x.y', which is not a module" in said
    orchard.withheld.write_text('[fruit]\n"a" = "os"\n"b" = "os"\n')
    done = orchard.surface("check")
    assert done.returncode == 2 and "fruit.os is listed twice" in done.stderr


def test_bad_input_is_said_plainly(orchard: Orchard, tmp_path: Path) -> None:
    done = orchard.surface("check", "--python", str(tmp_path / "nothing"))
    assert done.returncode == 2 and "cannot be run" in done.stderr
    orchard.withheld.write_text("[fruit")
    done = orchard.surface("check")
    assert done.returncode == 2 and str(orchard.withheld) in done.stderr
    orchard.profile.unlink()
    done = orchard.surface("check")
    assert done.returncode == 2 and "contains no profile" in done.stderr


def test_this_repository_is_judged() -> None:
    """For the Python that runs the tests, which is the one that the build embeds."""
    tool = str(ROOT / "tools" / "surface.py")
    done = subprocess.run(
        [sys.executable, "-I", tool, "check", "--path", str(PACKAGES)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


PUBLIC = PROFILE.replace('["Apple", "ripen"]', '"public"')


@pytest.fixture
def public(tmp_path: Path) -> Orchard:
    """The module says itself what is public; none of it is listed by hand."""
    made = Orchard(tmp_path)
    made.profile.write_text(PUBLIC)
    made.write_module(FRUIT + "from collections import OrderedDict\n_seed = 1\n")
    done = made.surface("record")
    assert done.returncode == 0, done.stderr
    return made


def test_public_exports_are_recorded_by_name(public: Orchard) -> None:
    exports = public.profiles / "exports" / "orchard.txt"
    assert exports.read_text() == "fruit Apple\nfruit ripen\n"  # no modules, nothing of another's
    public.write_module(FRUIT + "def rot(): pass\n__all__ = ['ripen', 'rot', 'os']\n")
    said = public.problems()
    assert "'rot'" in said and "'Apple'" not in said
    done = public.surface("record")
    assert done.returncode == 0, done.stderr
    assert "new: fruit.rot" in done.stdout and "gone: fruit.Apple" in done.stdout
    assert exports.read_text() == "fruit ripen\nfruit rot\n"
    assert public.surface("check").returncode == 0


def test_what_is_withheld_of_them_is_not_recorded(public: Orchard) -> None:
    public.withheld.write_text('[fruit]\n"spoils" = "ripen"\n')
    said = public.problems()
    assert "'ripen' is both exported and withheld" in said
    assert public.surface("record").returncode == 0
    assert (public.profiles / "exports" / "orchard.txt").read_text() == "fruit Apple\n"


def test_a_profile_whose_packages_are_not_installed_is_not_judged(orchard: Orchard) -> None:
    table = '\n[packages.basket]\nwhy = "a test"\nmodules = ["fruit"]\n'
    orchard.profile.write_text(PROFILE + table)
    orchard.write_module(FRUIT + "def rot(): pass\n")
    away = orchard.profiles / "no-{set}"
    done = orchard.surface("check", "--set-packages", str(away))
    assert (done.returncode, done.stderr) == (0, "")
    assert "its packages are not installed" in done.stdout
    (orchard.profiles / "no-basket").mkdir()
    assert "'rot'" in orchard.problems("--set-packages", str(away))
