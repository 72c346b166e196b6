"""What a wheel for older systems would lack, or have too much of, seen in this build's programs.

Otherwise only `./dev wheels`, which takes minutes, notices.
"""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from tests.machine import BUILD, need_build, need_program

ROOT = Path(__file__).resolve().parents[2]
COMMAND = "belljar"
# Without the locales of the C++ library (docs/releasing.md, "Size").
SMALL = ("belljar-guest", "belljar-launcher", "belljar-zygote.so", "python/belljar/_host*.so")
# Not in wheels: old headers have other names for the functions of <sys/stat.h> (glibc 2.33) and for
# strtol and its kin (2.38), old_glibc.h keeps libstdc++ from waiting by other clocks (2.30), and a
# static libgcc is for development builds.
NOT_IN_WHEELS = re.compile(
    r"[fl]?stat(64)?|fstatat(64)?|mknod(at)?|__isoc23_\w+"
    r"|pthread_(cond_clockwait|mutex_clocklock|rwlock_clock(rd|wr)lock)|_dl_find_object"
)
VERSION = re.compile(r"(\w+)@{1,2}GLIBC_(\d+)\.(\d+)")


def versions(library: Path, kind: str) -> list[tuple[str, tuple[int, int]]]:
    """The symbols of glibc that `library` defines or uses, with their versions."""
    nm = need_program("nm", "binutils")
    listed = subprocess.run([nm, "-D", kind, library], capture_output=True, text=True, check=True)
    return [
        (name, (int(major), int(minor))) for name, major, minor in VERSION.findall(listed.stdout)
    ]


def promised() -> tuple[int, int]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    _, major, minor = settings["tool"]["belljar-wheels"]["platform"].split("_")
    return int(major), int(minor)


def old_names() -> set[str]:
    """What this machine's C library defines for programs built for the promised version."""
    libraries = [
        Path(path)
        for path in Path("/proc/self/maps").read_text(encoding="ascii").split()
        if re.search(r"/lib(c|m|pthread|dl|rt)\.so", path)
    ]
    return {
        name
        for library in set(libraries)
        for name, version in versions(library, "--defined-only")
        if version <= promised()
    }


def newer(library: Path) -> set[str]:
    used = {name for name, version in versions(library, "--undefined-only") if version > promised()}
    return {name for name in used - old_names() if not NOT_IN_WHEELS.fullmatch(name)}


def replaced() -> set[str]:
    text = (ROOT / "tools/wheels/old_glibc.c").read_text(encoding="utf-8")
    return set(re.findall(r"^[a-z][\w *]*?\b(\w+)\(", text, re.MULTILINE)) | set(
        re.findall(r"^char (\w+) = ", text, re.MULTILINE)
    )


def shipped(pattern: str) -> list[Path]:
    need_build()
    found = sorted(BUILD.glob(pattern))
    assert found, f"{pattern} is not in {BUILD}"
    return found


@pytest.mark.parametrize("pattern", [COMMAND, *SMALL])
def test_what_is_newer_than_promised_has_a_replacement(pattern: str) -> None:
    for library in shipped(pattern):
        missing = newer(library) - replaced()
        assert not missing, (
            f"{library.name} uses {', '.join(sorted(missing))}, which glibc "
            f"{'.'.join(map(str, promised()))} lacks; define it in tools/wheels/old_glibc.c"
        )


def test_the_replacements_are_seen() -> None:
    # The control: without them, what the command uses would be a finding.
    (command,) = shipped(COMMAND)
    assert "strerrorname_np" in newer(command)
    assert "strerrorname_np" in replaced()


def locales(library: Path) -> list[str]:
    nm = need_program("nm", "binutils")
    listed = subprocess.run(
        [nm, "-DC", "--undefined-only", library], capture_output=True, text=True, check=True
    )
    name = r"U (std::(?:locale|ios_base|basic_[io]stream|__cxx11::\w*stream).*)"
    return re.findall(name, listed.stdout)


@pytest.mark.parametrize("pattern", SMALL)
def test_what_is_small_has_no_locales(pattern: str) -> None:
    # One header is enough, of Boost's too: 150 kB in each program, compressed.
    for library in shipped(pattern):
        assert not locales(library), library


def test_locales_are_seen() -> None:
    # The control: the command has them through its libraries.
    (command,) = shipped(COMMAND)
    assert locales(command)
