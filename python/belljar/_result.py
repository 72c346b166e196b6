"""What came of a run: plain values, without a way back to the sandbox.

Everything in them but status, usage, limits and isolation is what the program chose to write:
display and parse it as a stranger's. They compare, pickle and copy as any dataclass does.

The extension makes them by the tables of engine/core (result_objects.cc): tools/result_fields.py
adds here what has a new row there.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from belljar._errors import GuestFailed

Status = Literal["ok", "exception", "refused", "timeout", "cpu_limit", "memory_limit", "killed"]
"""How a run ended. `killed` is any other end from outside: a signal, a hostile system call, a
cancellation."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the language policy refuses, with where it stands and what to do instead."""

    rule: str
    """"BJ201"; `belljar rules BJ201` explains it."""
    name: str
    """"import-not-allowed"."""
    line: int | None
    """From 1; None: the whole source."""
    column: int | None
    """From 1, in characters."""
    end_line: int | None
    end_column: int | None
    """One past the last character."""
    reason: str
    hint: str | None
    """What to do instead."""
    profile: str | None
    """The profile that would allow it."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """What ended a program: an exception of its own, or the reason why it was stopped."""

    type: str
    """"ZeroDivisionError"; of a run that was stopped "Timeout", "MemoryLimit" and their like."""
    message: str
    line: int | None
    column: int | None
    traceback: str | None
    """With the program's own lines."""
    hint: str | None


@dataclass(frozen=True, slots=True)
class Usage:
    """What a run used."""

    wall_time: float
    """Seconds, from the program being handed over to its end."""
    cpu_time: float
    """Seconds of user and system time."""
    max_rss_bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """What a run could use. Times in seconds, sizes in bytes."""

    timeout: float
    cpu: float
    memory_bytes: int
    output_bytes: int
    result_bytes: int
    source_bytes: int
    file_size_bytes: int
    artifact_bytes: int
    artifacts_bytes: int
    open_files: int
    processes: int


@dataclass(frozen=True, slots=True)
class Layer:
    """One layer of the seal, as it was seen on that worker from outside."""

    name: str
    held: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Isolation:
    """What held the program in."""

    mode: str
    """"strict" or "standard"."""
    language: str
    """"restricted" or "full"."""
    layers: tuple[Layer, ...]


@dataclass(frozen=True, slots=True)
class SecurityEvent:
    """A system call that the seal has denied, or killed for."""

    layer: str
    action: str
    detail: str
    count: int


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """A connection, or a try at one, of a program in a profile with a network."""

    host: str
    port: int
    protocol: str
    allowed: bool
    detail: str | None
    bytes_sent: int
    bytes_received: int
    started: float
    """Seconds after the run began."""
    lasted: float


@dataclass(frozen=True, slots=True)
class Container:
    """The container that a run was in."""

    engine: str
    runtime: str
    """"runsc" is gVisor."""
    image_digest: str
    warm: bool
    """Whether it was waiting; else it was started for this run."""
    started_in: float
    """Seconds until code could run in it."""
    not_limited: tuple[str, ...]
    """Of "memory", "processes" and "cpu" what the engine limits for no container."""
    packages: tuple[str, ...]
    """What was installed for it: "requests==2.31.0"."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the program made or changed, or a figure or table that it showed.

    Name and content are the program's: do not source, unpack or open them where that runs
    something.
    """

    name: str
    """Of a file its path below the workspace, else "figure-1.png"."""
    origin: str
    """"file" or "display"."""
    media_type: str
    size: int
    """Bytes of the whole."""
    sha256: str | None
    """Of the whole, in hexadecimal."""
    content: bytes | None = field(repr=False)
    """The whole; None: more than is taken along, and `note` says so."""
    note: str | None

    @property
    def text(self) -> str | None:
        """The content as text, or None where it is not UTF-8 or was not taken along."""
        if self.content is None:
            return None
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> str:
        """Writes it below `folder`, under its own name, and returns the path of the file.

        The folder is made if it is not there, as are folders in the name. Nothing is written
        outside of it or through a symbolic link below it.

            >>> import tempfile
            >>> from belljar import Sandbox
            >>> with Sandbox("filesystem") as box, tempfile.TemporaryDirectory() as folder:
            ...     made = box.run("open('a.txt', 'w').write('hello')").artifacts
            ...     open(made[0].save(folder)).read()
            'hello'

        Raises:
            ValueError: There is no content, or the name leads out of the folder.
            FileExistsError: There is a file of that name, and `overwrite` is False.
            OSError: It cannot be written.
        """
        from belljar._saving import save

        return save(self.name, self.content, folder, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What a program looks like that was validated, from its syntax tree."""

    imports: tuple[str, ...]
    """Dotted names of modules, sorted, each once."""
    branches: int
    nesting: int


@dataclass(frozen=True, slots=True)
class Validation:
    """What the language policy says of a program that was not run."""

    ok: bool
    """Whether `run` would begin with it. Some things are only known when a program runs."""
    findings: tuple[Finding, ...]
    analysis: Analysis | None
    """None: the source is not Python, or could not be judged."""
    error: ErrorReport | None
    """Why it could not be judged, as when that took too long; `ok` is False then."""


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """What came of one run."""

    ok: bool
    """Whether the program ran to its end: `status` is "ok"."""
    status: Status
    value: Any
    """The last expression's value unless that is None, else that of a variable `result`: plain
    data, or None."""
    has_value: bool
    """Whether `value` is what the program left. False: there was nothing, or it was not plain data
    (then `value_repr` shows it)."""
    value_repr: str | None
    """Its repr, bounded."""
    stdout: str
    stderr: str
    stdout_dropped: int
    """Bytes of it that were past the limit."""
    stderr_dropped: int
    error: ErrorReport | None
    exit_code: int | None
    """Of `sys.exit`."""
    findings: tuple[Finding, ...]
    variables: tuple[str, ...]
    """Names bound at the top level."""
    artifacts: tuple[Artifact, ...]
    artifacts_left_out: int
    artifacts_note: str | None
    """What was left out: symbolic links, FIFOs, more files than are listed."""
    isolation: Isolation
    usage: Usage
    limits: Limits
    security_events: tuple[SecurityEvent, ...]
    network: tuple[NetworkEvent, ...]
    network_left_out: int
    container: Container | None
    truncated: tuple[str, ...]
    """What was cut: "stdout", "stderr", "value", "value_repr", "traceback", "findings",
    "variables", "message", "artifacts", "network"."""
    execution_id: str
    """A UUID."""

    def raise_for_status(self) -> None:
        """Raises `GuestFailed` unless the program ran to its end."""
        if not self.ok:
            raise GuestFailed(self)

    def __repr__(self) -> str:
        parts: list[str] = [self.status]
        if self.has_value:
            try:
                shown = repr(self.value)
            except ValueError:
                shown = "(an int of more digits than Python prints)"
            parts.append(f"value={shown if len(shown) <= 60 else shown[:57] + '...'}")
        if self.error is not None:
            from belljar._notebook import spelled_out

            parts.append(f"error={spelled_out(self.error.type[:60])}")
        for name in ("stdout", "stderr"):
            if text := getattr(self, name):
                parts.append(f"{name}={len(text):,} characters")
        if self.artifacts:
            parts.append(f"artifacts={len(self.artifacts)}")
        return f"<belljar.Result {' '.join(parts)}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """For notebooks: output, value and figures. Nothing of it is run there."""
        from belljar._notebook import bundle

        return bundle(self)
