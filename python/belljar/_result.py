"""The result of a run, as plain dataclasses without a reference to the sandbox.

Everything except status, usage, limits and isolation is chosen by the program: treat it as
untrusted when you display or parse it. Results can be compared, pickled and copied.

The extension creates these objects from the tables of engine/host (result_objects.cc);
tools/result_fields.py adds a field here for each new row.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any, Literal

from belljar import _host, _plain
from belljar._escaping import bounded, escaped

Status = Literal["ok", "exception", "refused", "timeout", "cpu_limit", "memory_limit", "killed"]
"""How a run ended. `killed` covers every other end from outside: a signal, a forbidden system call,
a cancellation."""
MAX_CHARACTERS = 10_000
"""Of each part of a text for a model, as `Result.for_model` counts them."""


@dataclass(frozen=True, slots=True)
class Finding:
    """Something in a program that the language policy refuses."""

    rule: str
    """"BJ201"; `belljar rules BJ201` explains it."""
    name: str
    """"import-not-allowed"."""
    line: int | None
    """Counts from 1. None: the finding is about the whole source."""
    column: int | None
    """Counts from 1, in characters."""
    end_line: int | None
    end_column: int | None
    """One past the last character."""
    reason: str
    hint: str | None
    """What to do instead."""
    profile: str | None
    """A profile that allows it."""


@dataclass(frozen=True, slots=True)
class ErrorReport:
    """Why a program failed: the exception that it raised, or why it was stopped."""

    type: str
    """"ZeroDivisionError"; for a run that was stopped, "Timeout", "MemoryLimit" and so on."""
    message: str
    line: int | None
    column: int | None
    traceback: str | None
    """Includes the program's source lines."""
    hint: str | None


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that a run used."""

    wall_time: float
    """Seconds from handing the program to the worker until its end."""
    cpu_time: float
    """Seconds of user and system time."""
    max_rss_bytes: int


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a run. Times are in seconds, sizes in bytes."""

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
    """One layer of the seal, as observed on the worker from outside."""

    name: str
    held: bool
    detail: str


def former_policy(policy: str) -> str:
    """The policy as belljar 0.1 named it."""
    return "full" if policy == "off" else "restricted"


@dataclass(frozen=True, slots=True)
class Isolation:
    """How the program was isolated."""

    mode: str
    """"strict" or "standard"."""
    policy: str
    """The language policy: "on" or "off"."""
    layers: tuple[Layer, ...]

    @property
    def language(self) -> str:
        """Deprecated: `policy` by its former name, "restricted" or "full"."""
        return former_policy(self.policy)


@dataclass(frozen=True, slots=True)
class SecurityEvent:
    """A system call that the seal denied, or killed the program for."""

    layer: str
    action: str
    detail: str
    count: int


@dataclass(frozen=True, slots=True)
class NetworkEvent:
    """A connection, or an attempt at one, of a program in a profile with a network."""

    host: str
    port: int
    protocol: str
    allowed: bool
    detail: str | None
    bytes_sent: int
    bytes_received: int
    started: float
    """Seconds since the start of the run."""
    lasted: float


@dataclass(frozen=True, slots=True)
class Container:
    """The container that a program ran in."""

    engine: str
    runtime: str
    """"runsc" is gVisor."""
    image_digest: str
    warm: bool
    """Whether it was already running. False: it was started for this run."""
    started_in: float
    """Seconds until it could run code."""
    not_limited: tuple[str, ...]
    """Which of "memory", "processes" and "cpu" the engine cannot limit."""
    packages: tuple[str, ...]
    """The packages that were installed for it: "requests==2.31.0"."""


@dataclass(frozen=True, slots=True)
class SessionReport:
    """The session of a cell, and the place of the cell in it."""

    id: str
    cell: int
    """The number of the cell, from 1."""
    checkpoint: str | None
    """The id of the checkpoint before the cell: `Session.rollback` to it undoes the cell."""
    restored: bool
    """Whether the cell was stopped, so that the session continued from that checkpoint."""
    restarted: bool
    """Whether the interpreter of another language has ended, so that the session continued with a
    new one, without its variables."""
    note: str | None
    """Further remarks on the session."""


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file that the program created or changed, or a figure or table that it displayed.

    The program chooses name and content. Do not execute or unpack them, or open them with anything
    that runs code from them.
    """

    name: str
    """The path of a file, relative to the workspace; for displayed output, "figure-1.png"."""
    origin: str
    """"file" or "display"."""
    media_type: str
    size: int
    """The size of the whole file in bytes."""
    sha256: str | None
    """The digest of the whole file, in hexadecimal."""
    content: bytes | None = field(repr=False)
    """The whole content. None: it exceeded the limits; see `note`."""
    note: str | None

    @property
    def text(self) -> str | None:
        """The content as text. None: it is not UTF-8, or there is no content."""
        if self.content is None:
            return None
        try:
            return self.content.decode()
        except UnicodeDecodeError:
            return None

    def save(self, folder: str | os.PathLike[str], *, overwrite: bool = False) -> str:
        """Writes it below `folder`, under its own name, and returns the path of the file.

        Missing folders are created. Nothing is written outside the folder or through a symbolic
        link below it.

            >>> import tempfile
            >>> from belljar import Sandbox
            >>> with Sandbox("filesystem") as box, tempfile.TemporaryDirectory() as folder:
            ...     made = box.run("open('a.txt', 'w').write('hello')").artifacts
            ...     open(made[0].save(folder)).read()
            'hello'

        Raises:
            ValueError: There is no content, or the name leads out of the folder.
            FileExistsError: The file exists and `overwrite` is False.
            OSError: The file cannot be written.
        """
        from belljar._saving import save

        return save(self.name, self.content, folder, overwrite=overwrite)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Properties of a validated program, from its syntax tree."""

    imports: tuple[str, ...]
    """Dotted names of the imported modules, sorted, without duplicates."""
    branches: int
    nesting: int


@dataclass(frozen=True, slots=True)
class Validation:
    """The findings of the language policy for a program, which was not run."""

    ok: bool
    """Whether `run` would start it. Some violations are only found at run time."""
    findings: tuple[Finding, ...]
    analysis: Analysis | None
    """None: the source is not valid Python or could not be checked."""
    error: ErrorReport | None
    """Why it could not be checked, for instance a timeout. `ok` is False then."""


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """The result of one run."""

    ok: bool
    """Whether the program ran to its end: `status` is "ok"."""
    status: Status
    value: Any
    """The value of the last expression or, if that is None, of the variable `result`: plain data,
    or None."""
    has_value: bool
    """Whether `value` holds the program's value. False: there is none, or it is not plain data
    (`value_repr` shows it)."""
    value_repr: str | None
    """The repr of the value, of bounded length."""
    stdout: str
    stderr: str
    stdout_dropped: int
    """Bytes dropped because of the output limit."""
    stderr_dropped: int
    error: ErrorReport | None
    language: str
    """The language of the program if it is not Python: "bash". Else empty."""
    exit_code: int | None
    """The argument of `sys.exit`."""
    findings: tuple[Finding, ...]
    variables: tuple[str, ...]
    """Names bound at the top level."""
    artifacts: tuple[Artifact, ...]
    artifacts_left_out: int
    artifacts_note: str | None
    """What was left out: symbolic links, FIFOs, files beyond the maximum number."""
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
    session: SessionReport | None
    """Only for a cell of a session."""
    stdout_bytes: bytes | None
    """The bytes of `stdout`, if they are not UTF-8. None: `stdout` has everything."""
    stderr_bytes: bytes | None
    """The same for `stderr`."""

    def for_model(self, characters: int = MAX_CHARACTERS) -> str:
        """Output, value, error with its hint, and files, as a language model should read them: the
        text that the MCP server answers with.

            >>> from belljar import Sandbox
            >>> with Sandbox() as box:
            ...     print(box.run("print('hi')\\n6 * 7").for_model())
            stdout:
            hi
            <BLANKLINE>
            value:
            42

        Args:
            characters: The length of each part; the middle of what is longer is cut out. Digits and
                punctuation count as two, line ends as four.
        """
        # A repr that was cut does not show the end of the value.
        is_cut = self.has_value and "value_repr" in self.truncated
        json = _plain.encode(self.value, "value") if is_cut else None
        return _host.answer_text(self, json, characters)

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
                shown = "(an int with more digits than Python prints)"
            parts.append(f"value={shown if len(shown) <= 60 else shown[:57] + '...'}")
        if self.error is not None:
            parts.append(f"error={escaped(self.error.type[:60])}")
        for name in ("stdout", "stderr"):
            if text := getattr(self, name):
                parts.append(f"{name}={len(text):,} characters")
        if self.artifacts:
            parts.append(f"artifacts={len(self.artifacts)}")
        return f"<belljar.Result {' '.join(parts)}>"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        """For notebooks: output, value and figures. None of it is executed there."""
        from belljar._notebook import bundle

        return bundle(self)


class GuestFailed(Exception):  # noqa: N818 - not an error of the caller's
    """The program did not run to its end. See `raise_on_error` and `Result.raise_for_status`.

        >>> from belljar import Sandbox
        >>> with Sandbox() as box:
        ...     try:
        ...         box.run("1 / 0", raise_on_error=True)
        ...     except GuestFailed as failed:
        ...         print(failed, failed.result.error.line)
        exception: ZeroDivisionError: division by zero 1

    Control characters in its message are escaped, because it may be printed to a terminal.

    Attributes:
        result: The `Result`, including the output up to the failure.
    """

    result: Result

    def __init__(self, result: Result) -> None:
        self.result = result
        error = result.error
        what = f": {error.type}: {error.message}" if error else ""
        super().__init__(bounded(f"{result.status}{what}"))

    def __reduce__(self) -> tuple[type[GuestFailed], tuple[Result]]:
        return type(self), (self.result,)
