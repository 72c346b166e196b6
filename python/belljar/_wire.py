"""Types of the extension's arguments, for type checkers only."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypedDict


class ContainerRequest(TypedDict):
    """`ContainerOptions` for the extension; an empty str stands for None."""

    engine: str
    runtime: str
    image: str
    require_gvisor: bool
    socket: str


class OpenRequest(TypedDict):
    """The options of a sandbox."""

    profile: str
    """Empty: none is named, and each run gets the enabled profiles that it uses."""
    language: str
    strict: bool
    without_policy: bool
    allow_domains: list[str]
    allow_private: list[str]
    spares: int | None
    container: ContainerRequest | None
    packages: list[str]
    package_index: str
    """Empty: none."""
    npm_registry: str
    package_hosts: list[str]
    package_allow_private: list[str]


class RunRequest(TypedDict, total=False):
    """Non-default options of one run, or of all runs of a sandbox; milliseconds and bytes."""

    validate: Literal[True]
    source: bytes
    language: str
    """Of a cell, in the words of the catalogue; not of a run."""
    filename: str
    stdin: bytes
    args: list[str]
    env: list[str]
    """Each as "NAME=VALUE"."""
    timeout: int
    cpu: int
    memory: int
    output: int
    allowed_imports: list[str]
    allowed_domains: list[str]
    files: list[tuple[str, bytes]]
    inputs: list[tuple[str, str]]
    """Name and value, the value in JSON form."""
    functions: list[str]
    call: Callable[[str, str], str]
    """Takes name and arguments, returns the answer; arguments and answer are JSON."""
    stream: Callable[[str, str], object]


class SessionRequest(TypedDict, total=False):
    """Non-default options of a session; milliseconds and bytes."""

    timeout: int
    cpu: int
    memory: int
    output: int
    checkpoints: int
    total_memory: int
    project: bytes


class CommandRequest(TypedDict):
    """A command of a session; milliseconds and bytes, 0 for none."""

    arguments: list[str]
    directory: str
    environment: list[str]
    """Each as "NAME=VALUE"."""
    terminal: tuple[int, int] | None
    """Columns and rows."""
    input: bytes | None
    """None: what is written later."""
    timeout: int
    cpu: int
    buffer: int
    waits_for_reader: bool
