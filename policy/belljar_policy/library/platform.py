"""platform, for guests: the interpreter and the kind of machine, nothing of the host."""

from __future__ import annotations

import collections
import os
import sys
from typing import Any

_MACHINE = os.uname().machine
_VERSION = sys.version.split()[0]

uname_result = collections.namedtuple("uname_result", "system node release version machine")  # noqa: PYI024


def system() -> str:
    """The operating system."""
    return "Linux"


def machine() -> str:
    """The processor's architecture."""
    return _MACHINE


def processor() -> str:
    """Unknown."""
    return ""


def node() -> str:
    """The name of the sandbox's host."""
    return "localhost"


def release() -> str:
    """Unknown: it would tell the host's kernel."""
    return ""


def version() -> str:
    """Unknown: it would tell the host's kernel."""
    return ""


def uname() -> Any:
    """The above."""
    return uname_result(system(), node(), release(), version(), machine())


def platform(aliased: bool = False, terse: bool = False) -> str:
    """A text for people."""
    return f"Linux-{_MACHINE}" if terse else f"Linux-{_MACHINE}-with-glibc"


def architecture(*_: Any, **__: Any) -> tuple[str, str]:
    """The bits of a pointer, and the format of programs."""
    return ("64bit" if sys.maxsize > 2**32 else "32bit", "ELF")


def python_version() -> str:
    """The version, as in "3.11.2"."""
    return _VERSION


def python_version_tuple() -> tuple[str, str, str]:
    """The version's parts."""
    major, minor, patch = _VERSION.split(".", 2)
    return major, minor, patch


def python_implementation() -> str:
    """CPython."""
    return "CPython"


def python_compiler() -> str:
    """What the interpreter was compiled with."""
    return sys.version.partition("[")[2].partition("]")[0]


def python_build() -> tuple[str, str]:
    """Number and date of the interpreter's build."""
    number, _, date = sys.version.partition("(")[2].partition(")")[0].partition(", ")
    return number, date


def python_branch() -> str:
    """Unknown."""
    return ""


def python_revision() -> str:
    """Unknown."""
    return ""


def libc_ver(*_: Any, **__: Any) -> tuple[str, str]:
    """The C library."""
    return ("glibc", "")
