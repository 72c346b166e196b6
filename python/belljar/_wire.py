"""What the extension is handed: types, for type checkers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypedDict


class ContainerWishes(TypedDict):
    """Of `ContainerOptions`; an empty text stands for None."""

    engine: str
    runtime: str
    image: str
    require_gvisor: bool
    packages: list[str]
    socket: str
    package_index: str
    package_hosts: list[str]
    package_allow_private: list[str]


class Wishes(TypedDict):
    """Of a sandbox."""

    profile: str
    strict: bool
    restricted: bool
    allow_domains: list[str]
    allow_private: list[str]
    spares: int | None
    container: ContainerWishes | None


class Asked(TypedDict):
    """Of one run. Milliseconds and bytes."""

    validate: bool
    source: bytes
    filename: str
    stdin: bytes | None
    timeout: int | None
    cpu: int | None
    memory: int | None
    output: int | None
    allowed_imports: list[str] | None
    allowed_domains: list[str] | None
    files: list[tuple[str, bytes]]
    inputs: list[tuple[str, str]]
    """Name, and the value's JSON form."""
    functions: list[str]
    call: Callable[[str, str], str] | None
    """Name and arguments to the answer: JSON."""
    stream: Callable[[str, str], object] | None
    watch_signals: bool
    """Whether the caller is the thread that handlers of signals run in."""
