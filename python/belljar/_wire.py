"""What the extension is handed: types, for type checkers alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypedDict


class ContainerRequest(TypedDict):
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


class OpenRequest(TypedDict):
    """Of a sandbox."""

    profile: str
    strict: bool
    restricted: bool
    allow_domains: list[str]
    allow_private: list[str]
    spares: int | None
    container: ContainerRequest | None


class RunRequest(TypedDict, total=False):
    """Of one run, or of all of a sandbox: what is not usual. Milliseconds and bytes."""

    validate: Literal[True]
    source: bytes
    filename: str
    stdin: bytes
    timeout: int
    cpu: int
    memory: int
    output: int
    allowed_imports: list[str]
    allowed_domains: list[str]
    files: list[tuple[str, bytes]]
    inputs: list[tuple[str, str]]
    """Name, and the value's JSON form."""
    functions: list[str]
    call: Callable[[str, str], str]
    """Name and arguments to the answer: JSON."""
    stream: Callable[[str, str], object]
