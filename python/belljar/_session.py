"""`Session`: a live Python that stays, can be branched and rolled back, and survives its cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn, Self
from weakref import WeakSet

from belljar import _host, _options, _session_data
from belljar._functions import Functions
from belljar._options import FileContent, Seconds, Size
from belljar._result import Result
from belljar._session_data import (
    Checkpoint,
    Completion,
    Difference,
    SessionInfo,
    Variable,
    path_bytes,
    path_text,
)

if TYPE_CHECKING:
    from belljar._sandbox import Sandbox, Stream
    from belljar._wire import RunRequest

_MAX_BRANCHES = 256
_MAX_LABEL = 200  # bytes


class Session:
    """A live Python, made by `Sandbox.session`: what a cell defines is there in the next one.

        >>> with Sandbox("basic") as box, box.session() as session:
        ...     _ = session.run("import math\\nradius = 2")
        ...     session.run("round(math.pi * radius**2, 2)").value
        12.57

    Before each cell there is a checkpoint, and a cell that is stopped by a limit, killed or
    cancelled costs that cell only: the session goes on from its checkpoint, and
    `result.session.restored` says so.

        >>> with Sandbox("basic") as box, box.session() as session:
        ...     _ = session.run("x = 1")
        ...     result = session.run("x = 2\\nwhile True: pass", timeout=0.2)
        ...     result.ok, result.session.restored, session.run("x").value
        (False, True, 1)

    A session is thread-safe and does one thing at a time: a call waits for its turn, at most as
    long as `wait` of `Sandbox.session` says. It is closed by `close`, by the end of `with`, with
    its sandbox, and when nothing refers to it any more. A forked child cannot use it.

    All methods raise `SessionClosed` once it is closed, and those that need its turn `SessionBusy`.
    """

    # Not for users: Sandbox.session makes one.
    def __init__(
        self, sandbox: Sandbox, live: _host.Session, wait: int, siblings: WeakSet[Session]
    ) -> None:
        self._sandbox = sandbox
        self._live = live
        self._wait = wait
        self._siblings = siblings
        self._cells = 0  # as far as this object knows: names the sources of cells
        siblings.add(self)

    def _turn(self) -> _host.Turn:
        return _host.Turn(self._wait, get_ident() == self._sandbox._main_thread)

    # --- running ----------------------------------------------------------------------------------

    def run(
        self,
        code: str | bytes,
        *,
        timeout: Seconds | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        stdin: str | bytes | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        filename: str | None = None,
        inputs: Mapping[str, object] | None = None,
        functions: Functions | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        raise_on_error: bool = False,
    ) -> Result:
        """Runs a cell: like `Sandbox.run`, in the session's namespace.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("def total(): return sum(map(price, cart))",
            ...                     inputs={"cart": ["tea", "milk"]})
            ...     session.run("total()", functions={"price": {"tea": 3, "milk": 1}.get}).value
            4

        The value is that of the last expression, unless a semicolon follows; the next cell has it
        as `_`. Variables given as `inputs` stay. Functions stay too, but can be called only by
        cells that are given them. `value` and `inputs` are plain data, as in `Sandbox.run`; the
        variables of the session may be anything.

        An exception in this thread, such as KeyboardInterrupt, raises a KeyboardInterrupt in the
        cell, kills it if it does not end then, and is raised when it has ended. The session stays.

        Args:
            timeout, cpu, output: Limits of this cell. None: the session's. The memory limit is the
                session's.
            filename: The name in tracebacks. None: "In[3]" for cell 3.

            All others are those of `Sandbox.run`.

        Raises:
            As `Sandbox.run`.
        """
        cell = self._cell(
            code,
            timeout=timeout,
            cpu=cpu,
            output=output,
            stdin=stdin,
            args=args,
            env=env,
            filename=filename,
            inputs=inputs,
            functions=functions,
            files=files,
            allowed_imports=allowed_imports,
            allowed_domains=allowed_domains,
            stream=stream,
        )
        result = self._run(cell, None, self._turn())
        if raise_on_error:
            result.raise_for_status()
        return result

    def _cell(self, code: str | bytes, *, filename: str | None, **options: Any) -> RunRequest:
        if filename is None:
            filename = f"In[{self._cells + 1}]"
        return self._sandbox._program(code, filename=filename, **options)

    def _run(
        self, cell: RunRequest, cancellation: _host.Cancellation | None, turn: _host.Turn
    ) -> Result:
        result = _host.run_cell(self._live, cell, cancellation, turn)
        if result.session is not None:
            self._cells = max(self._cells, result.session.cell)
        return result

    def interrupt(self) -> bool:
        """Raises a KeyboardInterrupt in the cell that runs, and kills it if it does not end then.

        For other threads. False: no cell runs.
        """
        return self._live.interrupt()

    # --- states -----------------------------------------------------------------------------------

    def checkpoint(self, label: str | None = None) -> Checkpoint:
        """The checkpoint of the present state.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("x = [1]")
            ...     before = session.checkpoint("one item")
            ...     _ = session.run("x.append(2)")
            ...     session.rollback(before)
            ...     session.run("x").value
            [1]

        Args:
            label: Text for people, at most 200 bytes. Checkpoints with a label are dropped last
                when there are too many (`checkpoints` of `Sandbox.session`).
        """
        text = "" if label is None else _options.text("label", label)
        if len(text.encode()) > _MAX_LABEL:
            raise ValueError(f"label: it has at most {_MAX_LABEL} bytes of UTF-8")
        made = self._live.checkpoint(text, self._turn())
        return next(each for each in self.checkpoints if each.id == made)

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Those that are held; the last one was made or used last."""
        return tuple(
            Checkpoint(
                identity, cell, label or None, parent or None, _session_data.moment(made), current
            )
            for identity, cell, label, parent, made, current in self._live.checkpoints()
        )

    def rollback(self, checkpoint: Checkpoint | str) -> None:
        """Makes variables, modules and files what they were at a checkpoint.

        Raises:
            ValueError: There is no such checkpoint, or it is no longer held.
        """
        self._live.roll_back(_checkpoint(checkpoint), self._turn())

    def undo(self, cells: int = 1) -> None:
        """Makes the state what it was before the last cells.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("x = 1")
            ...     _ = session.run("x = 2")
            ...     session.undo()
            ...     session.run("x").value
            1

        Raises:
            ValueError: Fewer cells have run, or the checkpoint is no longer held.
        """
        number = _options.count("cells", cells, 1)
        assert number is not None
        self._live.undo(number, self._turn())

    def branch(
        self, n: int, checkpoint: Checkpoint | str | None = None, *, reseed: bool = True
    ) -> list[Session]:
        """Makes `n` sessions with the same state, which share the memory that they do not change.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("x = 10")
            ...     branches = session.branch(3)
            ...     [each.run("x + i", inputs={"i": i}).value for i, each in enumerate(branches)]
            [10, 11, 12]

        Args:
            n: From 1 to 256.
            checkpoint: Of which state. None: the present one.
            reseed: Gives each new seeds for its random numbers. False: they draw the same.

        Raises:
            ValueError: There is no such checkpoint, or it is no longer held.
        """
        number, origin, reseeds = self._branch_arguments(n, checkpoint, reseed)
        return self._branches(self._live.branch(number, origin, reseeds, self._turn()))

    @staticmethod
    def _branch_arguments(
        n: int, checkpoint: Checkpoint | str | None, reseed: bool
    ) -> tuple[int, str, bool]:
        number = _options.count("n", n, 1)
        if number is None or number > _MAX_BRANCHES:
            raise ValueError(f"n is {n}; give a number from 1 to {_MAX_BRANCHES}")
        origin = "" if checkpoint is None else _checkpoint(checkpoint)
        return number, origin, _options.flag("reseed", reseed)

    def _branches(self, made: list[_host.Session]) -> list[Session]:
        siblings: WeakSet[Session] = WeakSet()
        branches = [Session(self._sandbox, each, self._wait, siblings) for each in made]
        for each in branches:
            each._cells = self._cells
        return branches

    def keep(self) -> Session:
        """Closes the other branches of the same call of `branch`, and returns this one."""
        for each in list(self._siblings):
            if each is not self:
                each._live.close("another branch was kept")
        return self

    def compare(self, other: Session | Checkpoint | str) -> Difference:
        """What is different in another session, or at a checkpoint of this one.

        The representations of values are made by the sessions' own code: treat them as untrusted.
        """
        return _session_data.difference(self._compare(other, self._turn()))

    def _compare(self, other: Session | Checkpoint | str, turn: _host.Turn) -> _host.Comparison:
        if not isinstance(other, Session):
            return self._live.compare_with_checkpoint(_checkpoint(other, "other"), turn)
        if other._live is self._live:
            raise ValueError("other is this very session")
        return self._live.compare(other._live, turn)

    # --- what is in it ----------------------------------------------------------------------------

    @property
    def files(self) -> Files:
        """The files of the workspace, in a profile that has one, as a mapping of names to bytes."""
        return Files(self)

    def variables(self) -> tuple[Variable, ...]:
        """The variables that cells have defined, in order of definition."""
        return _session_data.variables(self._ask("variables"))

    def complete(self, code: str, cursor: int | None = None) -> tuple[Completion, ...]:
        """How `code` could go on at `cursor`, counted in characters. None: at its end."""
        return _session_data.completions(self._ask("complete", code, cursor))

    def inspect(self, code: str, cursor: int | None = None) -> str | None:
        """Signature and documentation of the name at `cursor`. None: it is not known."""
        return _session_data.inspection(self._ask("inspect", code, cursor))

    def _ask(self, kind: str, code: str = "", cursor: int | None = None) -> str:
        return self._live.ask(kind, *_question(code, cursor), self._turn())

    def info(self) -> SessionInfo:
        """What the session has used, and whether it is in use.

        >>> with Sandbox("basic") as box, box.session() as session:
        ...     _ = session.run("1")
        ...     session.info().cells
        1
        """
        cells, busy, checkpoints, opened, idle, memory = self._live.info()
        return SessionInfo(
            self.id, cells, busy, checkpoints, _session_data.moment(opened), idle, memory
        )

    @property
    def id(self) -> str:
        """Unguessable: 128 random bits in hexadecimal."""
        return self._live.id

    # --- its end ----------------------------------------------------------------------------------

    @property
    def closed(self) -> str | None:
        """Why it is closed. None: it is open."""
        return self._live.closed or None

    def close(self) -> None:
        """Ends it, with the cell that runs. Calling it again does nothing."""
        self._live.close("its caller closed it")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled; branch() copies it")

    def __repr__(self) -> str:
        state = " closed" if self.closed else ""
        return f"<belljar.Session {self.id[:8]} cells={self._cells}{state}>"


class Files(MutableMapping[str, bytes]):
    """The files of a session's workspace. Each change is one of the session's state, which
    `Session.undo` and `Session.rollback` undo.

    Names are paths below the workspace, with "/" between their parts. Names and contents may have
    been chosen by cells: treat them as untrusted.
    """

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getitem__(self, name: str) -> bytes:
        return self._session._live.read_file(_path(name), self._session._turn())

    def __setitem__(self, name: str, content: FileContent) -> None:
        self.update({name: content})

    def __delitem__(self, name: str) -> None:
        self._session._live.remove_file(_path(name), self._session._turn())

    def __iter__(self) -> Iterator[str]:
        return iter(self.sizes())

    def __len__(self) -> int:
        return len(self.sizes())

    def __contains__(self, name: object) -> bool:
        return name in self.sizes()

    def sizes(self) -> dict[str, int]:
        """Each name, with the size in bytes."""
        listed = self._session._live.files(self._session._turn())
        return {path_text(path): size for path, size in listed}

    def read_text(self, name: str, encoding: str = "utf-8") -> str:
        """Raises UnicodeDecodeError for other text, and KeyError if there is no such file."""
        return self[name].decode(encoding)

    def write(self, name: str, content: FileContent) -> None:
        """bytes, a str (encoded as UTF-8), or the path of a local file."""
        self.update({name: content})

    def update(  # type: ignore[override]
        self, files: Mapping[str, FileContent] = {}, /, **named: FileContent
    ) -> None:
        """Writes several at once, as one change."""
        if given := _options.files({**files, **named}):
            self._session._live.write_files(given, self._session._turn())

    def __repr__(self) -> str:
        return f"<belljar.Files of {self._session!r}>"


def _path(name: str) -> bytes:
    if not isinstance(name, str):
        raise TypeError(f"a file's name is a {type(name).__qualname__}; give a str")
    return path_bytes(name)


def _checkpoint(checkpoint: Checkpoint | str, argument: str = "checkpoint") -> str:
    if isinstance(checkpoint, Checkpoint):
        return checkpoint.id
    if isinstance(checkpoint, str):
        return _options.text(argument, checkpoint)
    wanted = "a Checkpoint, or its id" if argument == "checkpoint" else "a Session or a Checkpoint"
    raise TypeError(f"{argument} is a {type(checkpoint).__qualname__}; give {wanted}")


def _question(code: str, cursor: int | None) -> tuple[bytes, int | None]:
    if not isinstance(code, str):
        raise TypeError(f"code is a {type(code).__qualname__}; give a str")
    if cursor is not None:
        if isinstance(cursor, bool) or not isinstance(cursor, int):
            raise TypeError(f"cursor is a {type(cursor).__qualname__}; give a whole number")
        if not 0 <= cursor <= len(code):
            raise ValueError(f"cursor is {cursor}; give a place in the code, from 0 to {len(code)}")
    return _options.source(code), cursor
