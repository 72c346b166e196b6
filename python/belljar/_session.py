"""`Session`: a live interpreter that can be branched and rolled back, and survives its cells."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any, NoReturn, Self, Unpack
from weakref import WeakSet

from belljar import (
    _commands,
    _functions,
    _host,
    _options,
    _plain,
    _requests,
    _session_data,
    _transfers,
)
from belljar._changes import Changes
from belljar._commands import Command, CommandOptions, CommandResult
from belljar._errors import BelljarError
from belljar._options import FileContent, Size
from belljar._packages import InstalledPackage, locked
from belljar._requests import CELL, CellOptions
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
from belljar._threads import in_main_thread

if TYPE_CHECKING:
    from belljar._awaited import Work
    from belljar._wire import RunRequest

_MAX_BRANCHES = 256
_MAX_LABEL = 200  # bytes


class Session:
    """A live interpreter, made by `Sandbox.session`: the next cell has what a cell defines.

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

    Cells may be in several languages. Each has variables of its own, and all have the same files:

        >>> with Sandbox("filesystem") as box, box.session() as session:  # doctest: +SKIP
        ...     _ = session.run("seq 3 > numbers.txt", language="bash")
        ...     _ = session.run("total = sum(map(int, open('numbers.txt')))")
        ...     _ = session.exchange("total", "python", to="javascript")
        ...     session.run("total * 7", language="javascript").value
        42

    A session is thread-safe and does one thing at a time: calls wait for their turn, for at most
    `wait` of `Sandbox.session`. It is closed by `close`, by the end of `with`, with its sandbox,
    and when nothing refers to it any more. A forked child cannot use it.

    All methods raise `SessionClosed` once it is closed, and those that wait for a turn
    `SessionBusy`."""

    # Not for users: Sandbox.session makes one.
    def __init__(
        self,
        live: _host.LiveSession,
        defaults: RunRequest,
        wait: int,
        siblings: WeakSet[Session],
        add_kernel: Callable[[_host.LiveSession, str], str],
    ) -> None:
        self._live = live
        self._defaults = defaults  # of the sandbox
        self._wait = wait
        self._siblings = siblings
        self._add_kernel = add_kernel
        self._cells = 0  # as far as this object knows; for the file names of cells
        siblings.add(self)

    def _turn(self) -> _host.Turn:
        return _host.Turn(self._wait, in_main_thread())

    # --- running ----------------------------------------------------------------------------------

    @CELL
    def run(self, code: str | bytes, **options: Unpack[CellOptions]) -> Result:
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
            language: "python", or another that `belljar languages` lists with sessions: its
                interpreter starts with the first such cell. None: the session's own.
            filename: The name in tracebacks. None: "In[3]" for cell 3.

            All others are those of `Sandbox.run`.

        Raises:
            As `Sandbox.run`.
        """
        CELL.check(options, "Session.run")
        raise_on_error = options.pop("raise_on_error", False)
        result = self._run(self._cell(code, options), None, self._turn())
        if raise_on_error:
            result.raise_for_status()
        return result

    def _cell(
        self,
        code: str | bytes,
        options: Mapping[str, Any],
        work: Work | None = None,
        show: _requests.Show | None = None,
    ) -> RunRequest:
        if options.get("filename") is None:
            options = {**options, "filename": f"In[{self._cells + 1}]"}
        language = options.get("language")
        if "language" in options:
            options = {name: value for name, value in options.items() if name != "language"}
        cell = _requests.run_request(code, options, self._defaults, work=work, show=show)
        if language is not None:
            cell["language"] = self._language(_options.text("language", language))
        return cell

    def _language(self, name: str) -> str:
        """Its own name, once it has a kernel."""
        return name if name in self._live.languages() else self._add_kernel(self._live, name)

    def _run_showing(
        self, code: str, show: _requests.Show, **options: Unpack[CellOptions]
    ) -> Result:
        """For notebooks: `show` is called with media type, data and text of what a cell shows by
        IPython.display. All three are the program's, and may be anything."""
        return self._run(self._cell(code, options, show=show), None, self._turn())

    def _run(
        self, cell: RunRequest, cancellation: _host.Canceller | None, turn: _host.Turn
    ) -> Result:
        result = _functions.answered(
            cell, lambda own: _host.run_cell(self._live, own, cancellation, turn)
        )
        if result.session is not None:
            self._cells = max(self._cells, result.session.cell)
        return result

    def interrupt(self) -> bool:
        """Raises a KeyboardInterrupt in the running cell, and kills the cell if that does not end
        it.

        To be called from another thread. False: no cell is running.
        """
        return self._live.interrupt()

    # --- commands ---------------------------------------------------------------------------------

    def command(
        self,
        arguments: str | Iterable[str],
        *,
        stream: Callable[[str, str], object] | None = None,
        check: bool = False,
        **options: Unpack[CommandOptions],
    ) -> CommandResult:
        """Runs a command in a session of the language "shell", and waits for its end.

            >>> with Sandbox(language="shell") as box, box.session() as session:
            ...     session.files["greeting.txt"] = "hello\\n"
            ...     session.command(["tr", "a-z", "A-Z"], stdin="hello").stdout
            ...     session.command("wc -l < greeting.txt | tr -d ' '").stdout
            'HELLO'
            '1\\n'

        An exception in this thread, such as KeyboardInterrupt, kills it.

        Args:
            arguments: A program and its arguments, or a line for Bash.
            directory: Below the workspace, or absolute. Left out: the workspace.
            env: Variables of its environment, besides those of the session.
            stdin: Its standard input. None: none.
            timeout: None: two minutes.
            cpu: Of CPU time, with all that it starts. None: ten minutes.
            output: How much of each stream is kept: the end of it.
            stream: Called with text and "stdout" or "stderr" as output comes, in two threads.
            check: Raises CommandFailed unless it ends with exit code 0.

        Raises:
            ValueError, TypeError: An argument is invalid; the message names it.
            BelljarError: There is no such program, with the nearest; or too many commands run.
            SessionClosed: The session has ended.
        """
        shows = None if stream is None else _options.stream("stream", stream)
        request = _commands.foreground_request(arguments, options, shows is not None)
        command = Command(_host.start_command(self._live, request))
        result = _commands.result_of(command, shows, request["buffer"])
        return result.raise_for_status() if check else result

    def spawn(
        self,
        arguments: str | Iterable[str],
        *,
        terminal: bool | tuple[int, int] = False,
        **options: Unpack[CommandOptions],
    ) -> Command:
        """Starts a command that goes on in the background, until it ends or the session does.

            >>> with Sandbox(language="shell") as box, box.session() as session:
            ...     counter = session.spawn("for i in 1 2 3; do echo $i; done")
            ...     list(counter.lines())
            ['1', '2', '3']

        Args:
            terminal: True, or columns and rows: it has a terminal, in which its output and its
                errors are one stream, "stdout".
            stdin: None, left out: what `Command.write` gives it.
            timeout: None: until the session ends.
            cpu: None: an hour of CPU time.
            output: How much of each stream is kept for `Command.read`: the end of it.

            All others are those of `command`, as are the exceptions.
        """
        request = _commands.request(arguments, options, terminal=terminal)
        command = Command(_host.start_command(self._live, request))
        if (status := command.status).state == "not_started":
            raise BelljarError("start a command", f"start a command: {status.reason}")
        return command

    @property
    def commands(self) -> tuple[Command, ...]:
        """Those that run, and the last that have ended, the oldest first."""
        return tuple(Command(each) for each in _host.commands_of(self._live))

    def install(
        self, *requirements: str, lock: str | os.PathLike[str] | None = None
    ) -> tuple[InstalledPackage, ...]:
        """Installs packages for the commands of this session and of its later branches.

            >>> with Sandbox(language="shell") as box:  # doctest: +SKIP
            ...     with box.session(project=".") as session:
            ...         session.install("pytest>=8", "six")
            ...         session.command(["pytest", "-q"])

        They are resolved together with what it has already, come from `package_index` of the
        sandbox, or npm's from `npm_registry`, and are shown below `/packages`, read-only. Commands
        cannot reach either. An exception in this thread, such as KeyboardInterrupt, cancels it.

        Args:
            requirements: "six", "requests>=2.31,<3", also with " --hash=sha256:…" behind it;
                "npm:left-pad", "npm:@types/node@^20".
            lock: A file of pip's form, with digests, in place of requirements.

        Returns:
            All packages of the session, by name, with the digest of each.

        Raises:
            ValueError: A requirement is invalid, or no index is set.
            BelljarError: The index has no such package, or cannot be reached.
        """
        if (lock is None) == (not requirements):
            raise ValueError("install: name packages, or give a lock file")
        wanted = list(requirements) if lock is None else locked(lock)
        texts = _options.texts("requirements", wanted)
        return tuple(InstalledPackage(*each) for each in _host.install_packages(self._live, texts))

    @property
    def packages(self) -> tuple[InstalledPackage, ...]:
        """Those that are installed for its commands, dependencies included, by name."""
        return tuple(InstalledPackage(*each) for each in _host.packages_of(self._live))

    def changes(self) -> Changes:
        """What the session did to its project (`project` of `Sandbox.session`).

            >>> with Sandbox(language="shell") as box:  # doctest: +SKIP
            ...     with box.session(project=".") as session:
            ...         session.command(["make"], check=True)
            ...         changes = session.changes()
            ...         print(changes.diff())
            ...         changes.apply()

        It takes no turn: files that are being written are as they are at the moment.

        Raises:
            ValueError: The session has no project.
        """
        return Changes(_host.changes_of(self._live))

    def read_file(self, path: str, *, most: Size = _transfers.MOST) -> bytes:
        """Reads a file that a command can read, in a session of the language "shell".

            >>> with Sandbox(language="shell") as box, box.session() as session:
            ...     session.write_file("/tmp/new/a.txt", "hello")
            ...     session.read_file("/tmp/new/a.txt")
            b'hello'

        Args:
            path: Below the workspace, or absolute.
            most: The size that is not exceeded.

        Raises:
            FileNotFoundError, IsADirectoryError, PermissionError: As for a command.
            OSError: It is larger, or cannot be read; the message says why.
        """
        return _transfers.read(self, path, most)

    def write_file(self, path: str, content: FileContent) -> None:
        """Writes a file as a command would, with the folders that it is in.

        Args:
            content: bytes, a str (encoded as UTF-8), or the path of a local file.

        Raises:
            IsADirectoryError, PermissionError: As for a command.
            OSError: It cannot be written, for instance because the workspace is full.
        """
        _transfers.write(self, path, content)

    def upload(self, source: str | os.PathLike[str], target: str) -> None:
        """Copies a local file to the path `target`, or what is in a local folder to that folder.

        Links in a folder are copied as links. Raises as `write_file`.
        """
        _transfers.upload(self, source, target)

    def download(
        self, source: str, target: str | os.PathLike[str], *, most: Size = _transfers.MOST
    ) -> tuple[str, ...]:
        """Copies a file of the session to the local path `target`, or what is in a folder to that
        folder. What is there is overwritten.

        Names and contents may have been chosen by commands: treat them as untrusted. Links and
        special files are left out, and so is the right to execute a file.

        Args:
            most: The size that all files together do not exceed.

        Returns:
            The names of what was left out.

        Raises:
            As `read_file`.
        """
        return _transfers.download(self, source, target, most)

    # --- languages --------------------------------------------------------------------------------

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages that cells have used so far, the session's own first."""
        return tuple(self._live.languages())

    def share(self, name: str, value: object, *, to: str | Iterable[str] | None = None) -> None:
        """Sets a variable in several languages.

            >>> with Sandbox() as box, box.session() as session:
            ...     session.share("limits", {"low": 1, "high": 10})
            ...     session.run("limits['high']").value
            10

        It runs as a cell in each of them.

        Args:
            value: Plain data, as `inputs` of `run`. A language without such a type gets what is
                closest (docs/sessions.md, "Several languages").
            to: A language, or several. None: those that cells have used so far.

        Raises:
            ValueError, TypeError: The name or the value cannot be shared.
            BelljarError: The variable cannot be set in a language.
        """
        given = _options.inputs("share", {name: value})
        for language in self._targets(to, None):
            self._live.set_variable(language, *given[0], self._turn())

    def exchange(self, name: str, source: str, *, to: str | Iterable[str] | None = None) -> Any:
        """Sets a variable of one language in others, and returns its value.

        Args:
            source: The language that has it.
            to: A language, or several. None: all others that cells have used so far.

        Raises:
            ValueError, TypeError: An argument is invalid; the message names it.
            BelljarError: There is no such variable, or its value is not plain data.
        """
        _options.variable("name", name)
        source = self._language(_options.text("source", source))
        targets = self._targets(to, source)
        text = self._live.read_variable(source, name, self._turn())
        for language in targets:
            self._live.set_variable(language, name, text, self._turn())
        return _plain.decode(text)

    def _targets(self, to: str | Iterable[str] | None, source: str | None) -> list[str]:
        if to is None:
            return [each for each in self._live.languages() if each != source]
        names = [to] if isinstance(to, str) else _options.texts("to", to)
        return [self._language(_options.text("to", name)) for name in names]

    # --- states -----------------------------------------------------------------------------------

    def checkpoint(self, label: str | None = None) -> Checkpoint:
        """Returns the checkpoint of the current state.

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
        """The checkpoints that are held. The last one is the most recently made or used."""
        return tuple(
            Checkpoint(
                identity, cell, label or None, parent or None, _session_data.moment(made), current
            )
            for identity, cell, label, parent, made, current in self._live.checkpoints()
        )

    def rollback(self, checkpoint: Checkpoint | str) -> None:
        """Restores variables, modules and files as they were at a checkpoint.

        Raises:
            ValueError: There is no such checkpoint, or it is no longer held.
        """
        self._live.roll_back(_checkpoint(checkpoint), self._turn())

    def undo(self, cells: int = 1) -> None:
        """Restores the state before the last cells.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("x = 1")
            ...     _ = session.run("x = 2")
            ...     session.undo()
            ...     session.run("x").value
            1

        Raises:
            ValueError: Not so many cells have run, or the checkpoint is no longer held.
        """
        number = _options.count("cells", cells, 1)
        assert number is not None
        self._live.undo(number, self._turn())

    def branch(
        self, n: int, checkpoint: Checkpoint | str | None = None, *, reseed: bool = True
    ) -> list[Session]:
        """Makes `n` sessions with the same state. They share the memory that they do not change.

            >>> with Sandbox("basic") as box, box.session() as session:
            ...     _ = session.run("x = 10")
            ...     branches = session.branch(3)
            ...     [each.run("x + i", inputs={"i": i}).value for i, each in enumerate(branches)]
            [10, 11, 12]

        Args:
            n: From 1 to 256.
            checkpoint: The state to start from. None: the current one.
            reseed: Seeds the random numbers of each anew. False: all draw the same ones.

        Raises:
            ValueError: There is no such checkpoint, or it is no longer held.
        """
        number = _options.count("n", n, 1)
        if number is None or number > _MAX_BRANCHES:
            raise ValueError(f"n is {n}; give a number from 1 to {_MAX_BRANCHES}")
        origin = "" if checkpoint is None else _checkpoint(checkpoint)
        reseeds = _options.flag("reseed", reseed)
        siblings: WeakSet[Session] = WeakSet()
        made = self._live.branch(number, origin, reseeds, self._turn())
        branches = [
            Session(each, self._defaults, self._wait, siblings, self._add_kernel) for each in made
        ]
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
        """What differs in another session, or at a checkpoint of this one.

        The representations of values are made by the sessions' own code: treat them as untrusted.
        """
        if not isinstance(other, Session):
            checkpoint = _checkpoint(other, "other")
            found = self._live.compare_with_checkpoint(checkpoint, self._turn())
        elif other._live is self._live:
            raise ValueError("other is this very session")
        else:
            found = self._live.compare(other._live, self._turn())
        return _session_data.difference(found)

    # --- contents ---------------------------------------------------------------------------------

    @property
    def files(self) -> Files:
        """The files of the workspace, in a profile that has one, as a mapping of names to bytes."""
        return Files(self)

    def variables(self) -> tuple[Variable, ...]:
        """The variables that cells have defined, in order of definition."""
        return _session_data.variables(self._ask("variables"))

    def complete(self, code: str, cursor: int | None = None) -> tuple[Completion, ...]:
        """Completions of `code` at `cursor`, counted in characters. None: at the end."""
        return _session_data.completions(self._ask("complete", code, cursor))

    def inspect(self, code: str, cursor: int | None = None) -> str | None:
        """Signature and documentation of the name at `cursor`. None: the name is not known."""
        return _session_data.inspection(self._ask("inspect", code, cursor))

    def _ask(self, kind: str, code: str = "", cursor: int | None = None) -> str:
        return self._live.ask(kind, *_question(code, cursor), self._turn())

    def info(self) -> SessionInfo:
        """What the session uses, and whether it is busy.

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

    # --- closing ----------------------------------------------------------------------------------

    @property
    def closed(self) -> str | None:
        """Why it is closed. None: it is open."""
        return self._live.closed or None

    def close(self) -> None:
        """Ends the session and a running cell. Calling it again does nothing."""
        self._live.close("its caller closed it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> NoReturn:
        raise TypeError("a session cannot be copied or pickled; branch() copies it")

    def __repr__(self) -> str:
        state = " closed" if self.closed else ""
        return f"<belljar.Session {self.id[:8]} cells={self._cells}{state}>"


class Files(MutableMapping[str, bytes]):
    """The files of a session's workspace. They are part of its state: `Session.undo` and
    `Session.rollback` undo changes.

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
        """Writes several files at once, as one change."""
        if given := _options.files("files", {**files, **named}):
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
