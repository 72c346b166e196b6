"""The `Sandbox` class."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Self, Unpack
from weakref import WeakSet

from belljar import _errors, _forks, _functions, _host, _options, _plain, _requests, _result
from belljar._errors import BelljarError
from belljar._options import Seconds
from belljar._requests import (
    RUN,
    SANDBOX,
    SESSION,
    Program,
    RunOptions,
    SandboxOptions,
    SessionOptions,
    Take,
)
from belljar._result import Result, Validation
from belljar._threads import Threads, default_concurrency, in_main_thread, starter

if TYPE_CHECKING:
    from belljar._awaited import Work
    from belljar._info import Info
    from belljar._session import Session
    from belljar._wire import OpenRequest, RunRequest, SessionRequest

# The location of the package, from which the other parts of Belljar are found, and the interpreter
# that zygotes are loaded into if they are not programs of their own. It must be the real
# interpreter, not a virtual environment's link to it.
_host.set_location(
    os.path.dirname(os.path.abspath(__file__)),
    getattr(sys, "_base_executable", None) or sys.executable or "",
)
# The modules of this import: the package may have been imported before.
_host.register_package(_result, _plain, _errors)
# Kills runs in daemon threads and waits until their stacks hold none of our frames.
atexit.register(_host.close_all)
atexit.register(starter.end)  # the last registered is called first


class Sandbox:
    """Runs each program in a fresh, sealed process that is used once and then destroyed.

        >>> with Sandbox(timeout=5) as box:
        ...     box.run("sum(range(10))").value
        45

    The constructor returns before the first worker is ready; `run` waits for one. A sandbox is
    thread-safe. It can be pickled, which stores its options only, and in a forked child it reopens
    on first use.

    Args:
        profile: What programs may use: a profile name, several names joined with "+", or the path
            of a profile file ("./own.toml"). See docs/profiles.md. None: for each program what is
            enabled and it needs (docs/profiles.md, "Without a name").
        timeout: Wall-clock limit of a run, in seconds or as "500ms". None: the profile's default.
        memory: Memory limit, on top of what the interpreter itself uses, in bytes or as "64m".
            None: the profile's default.
        cpu: CPU-time limit, in seconds or as "500ms". None: the same as `timeout` if that is given,
            else the profile's default.
        output: Limit for stdout and for stderr, each, in bytes or as "64m". Output beyond it is
            dropped and counted. None: the profile's default.
        isolation: "strict" refuses to run if namespaces or Landlock are missing. "standard" runs
            without them, and results report it.
        policy: "off" turns the language policy off; the kernel layers stay.
        language: The language of the programs: "python", or one of `belljar languages` that is
            installed here, such as "bash", or the path of a file that describes one. The kernel
            layers alone contain programs of others than Python, which take no inputs, functions or
            sessions. "restricted" and "full", which belljar 0.1 had here, still stand for
            policy="on" and "off".
        allowed_imports: The modules of the profile that may be imported. None: all of them.
        allow_domains: Hosts that programs may connect to, with profile "network": "example.org",
            "*.example.org", "example.org:8443".
        allow_private: Non-public addresses that programs may connect to: "10.1.0.0/16".
        spares: How many sealed workers to keep ready. None: 4, or 1 with containers.
        container: True runs each program in its own container. `ContainerOptions` does the same
            with options.
        packages: Packages to install from an index, with their dependencies, before the first run:
            "requests>=2.31,<3", "npm:left-pad@^1.3". They require a container, or a language:
            "cpython" for Python's, "javascript" or "typescript" for npm's, "shell" for both. See
            docs/packages.md.
        package_index: URL of the package index, as for pip, also for `Session.install`. None:
            PIP_INDEX_URL.
        npm_registry: The same for npm's packages. None: NPM_CONFIG_REGISTRY.
        package_hosts: Other hosts that the index serves files from.
        package_allow_private: Non-public addresses that the index may have: "10.1.0.0/16".

    Raises:
        ValueError, TypeError: An argument is invalid; the message names it.
        BelljarError: No installation was found, no container engine is available, and the like.
    """

    @SANDBOX
    def __init__(self, profile: str | None = None, **options: Unpack[SandboxOptions]) -> None:
        SANDBOX.check(options, "Sandbox.__init__")
        self._prepare(*_requests.sandbox_requests(profile, options))
        self._open()

    @classmethod
    def _closed_until_used(cls, profile: str | None, **options: Any) -> Self:
        """For callers that must not block while the sandbox opens."""
        SANDBOX.check(options, "Sandbox.__init__")
        sandbox = cls.__new__(cls)
        sandbox._prepare(*_requests.sandbox_requests(profile, options))
        return sandbox

    def _prepare(self, open_request: OpenRequest, defaults: RunRequest) -> None:
        self._open_request = open_request
        self._defaults = defaults  # used for what a run does not set
        self._is_closed = False
        self._after_fork()
        _forks.register(self)

    def _after_fork(self) -> None:
        # Reentrant: a signal handler may close the sandbox that this thread is just opening.
        self._lock = threading.RLock()
        self._engine: _host.Engine | None = None
        # Further ones, by profile: those that programs need, if no profile is named.
        self._others: dict[str, _host.Engine] = {}
        # For cells of its sessions in other languages.
        self._languages: dict[str, Sandbox] = {}

    # --- opening and closing ----------------------------------------------------------------------

    def _open(self) -> _host.Engine:
        """This process's engine, opened if necessary."""
        if (engine := self._engine) is not None:
            return engine
        with self._lock:
            if not self._is_closed and self._engine is None:
                self._engine = _host.Engine(self._open_request, self._defaults)
            if self._is_closed or self._engine is None:
                self._engine = None
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            return self._engine

    def _open_for(self, run_request: RunRequest) -> _host.Engine:
        """The engine for this program: with a named profile, the only one."""
        engine = self._open()
        if self._open_request["profile"]:
            return engine
        return self._open_other(engine, engine.wanted_profile(run_request))

    def _open_other(self, engine: _host.Engine, profile: str | None) -> _host.Engine:
        """That of the profile; None: `engine`."""
        if profile is None:
            return engine
        with self._lock:
            if self._is_closed:
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            if profile not in self._others:
                self._others[profile] = _host.Engine(
                    {**self._open_request, "profile": profile}, self._defaults
                )
            return self._others[profile]

    def wait_until_ready(self, timeout: Seconds | None = None) -> None:
        """Waits until a worker is ready for the next run.

        Args:
            timeout: In seconds or as "5s". None: no timeout.

        Raises:
            BelljarError: No worker was ready in time (`errno` is ETIMEDOUT), or none can be
                started; the message says why.
        """
        seconds = 1e9 if timeout is None else _options.seconds("timeout", timeout) / 1000
        if not self._open().wait_until_ready(seconds):
            what = "wait for a worker"
            raise BelljarError(what, f"{what}: none became ready in time", errno.ETIMEDOUT)

    def close(self) -> None:
        """Kills all runs, closes the sessions and stops the workers. Later runs raise; calling it
        again does nothing.

        Called during a run, from a function or a signal handler, it returns at once: that run ends
        as cancelled, and the workers stop after the last run has ended.
        """
        with self._lock:
            self._is_closed = True
            engines = [*self._others.values(), *([self._engine] if self._engine else [])]
            languages = list(self._languages.values())
            self._others, self._engine, self._languages = {}, None, {}
        for engine in engines:
            engine.close()
        # After the sessions that use them.
        for sandbox in languages:
            sandbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Sandbox], tuple[Any, ...]]:
        return _unopened, (type(self), self._open_request, self._defaults)

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<belljar.Sandbox {self._open_request['profile'] or 'basic'!r}{state}>"

    # --- running ----------------------------------------------------------------------------------

    @RUN
    def run(self, code: str | bytes, **options: Unpack[RunOptions]) -> Result:
        """Runs a program to its end and returns the result.

            >>> with Sandbox() as box:
            ...     result = box.run("print(f'{name}: {total(prices)}')",
            ...                      inputs={"name": "sum", "prices": [1.5, 2.5]},
            ...                      functions={"total": sum})
            >>> result.stdout
            'sum: 4.0\\n'

        An exception that the program raises, or a limit that stops it, is reported in the result.
        An exception in this thread, such as KeyboardInterrupt, kills the program at once and is
        raised.

        Args:
            code: The program. bytes must be UTF-8, with or without a BOM; the worker decodes them.
            timeout, memory, cpu, output: As for the sandbox. None: the sandbox's value.
            stdin: Standard input of the program. None: `input()` raises EOFError. A callable is
                asked for each line when the program reads it, in this thread, while the program's
                clock stands still: `stdin=input` asks at this terminal. It gets the prompt, a str
                whose `hidden` says that `getpass` asks, and returns a str, or None at the end.
            args: Arguments of the program: `sys.argv` after the program's name.
            env: Environment variables of the program, in `os.environ`. It gets none of this
                process's.
            filename: The name used in tracebacks and findings.
            inputs: Variables that are set before the program starts, by name. Values are plain data
                (docs/python.md, "Values").
            functions: Functions that the program may call, by name. They are called in this thread.
                Arguments and return values are plain data; an exception is raised again in the
                program. A coroutine function is one in the program too, and those that it gathers
                run side by side.
            files: Files for the workspace, if the profile has one, by name: bytes, a str (encoded
                as UTF-8), or the path of a local file.
            allowed_imports: A subset of the modules that the sandbox allows. None: all of them.
            allowed_domains: A subset of the hosts that the sandbox allows. None: all of them.
            stream: Called as `stream("stdout", text)`, in this thread, while the program runs. The
                result contains the whole output as well.
            raise_on_error: Raise `GuestFailed` unless the status is "ok".

        Raises:
            ValueError, TypeError: An argument is invalid; the message names it. Nothing was run.
            BelljarError: Belljar or this machine failed.
            GuestFailed: Only with `raise_on_error`.
        """
        RUN.check(options, "Sandbox.run")
        raise_on_error = options.pop("raise_on_error", False)
        return self._run(self._program(code, **options), None, raise_on_error=raise_on_error)

    def _run(
        self,
        run_request: RunRequest,
        cancellation: _host.Canceller | None,
        *,
        raise_on_error: bool,
    ) -> Result:
        engine = self._open_for(run_request)

        def run(own: RunRequest) -> Result:
            return _host.run(engine, own, cancellation, in_main_thread())

        result = _functions.answered(run_request, run)
        if raise_on_error:
            result.raise_for_status()
        return result

    def _program(
        self,
        code: str | bytes,
        *,
        take: Take | None = None,
        work: Work | None = None,
        **options: Any,
    ) -> RunRequest:
        return _requests.run_request(code, options, self._defaults, take=take, work=work)

    @RUN
    def run_many(
        self,
        programs: Iterable[str | bytes | Program],
        *,
        concurrency: int | None = None,
        **options: Unpack[RunOptions],
    ) -> Iterator[Result]:
        """Runs programs concurrently. Returns an iterator over the results, in program order.

            >>> with Sandbox() as box:
            ...     [result.value for result in box.run_many(["1 + 1", "2 + 2", "3 + 3"])]
            [2, 4, 6]
            >>> programs = [Program(code="int(input()) * n", stdin=line) for line in ("3", "4")]
            >>> with Sandbox() as box:
            ...     [result.value for result in box.run_many(programs, inputs={"n": 10})]
            [30, 40]

        `programs` is consumed as results are: at most twice `concurrency` programs are ahead.
        Closing the iterator, or an exception raised by `programs`, kills the pending runs. `stream`
        and `functions` are called in background threads, several at a time.

        Args:
            programs: Any number of programs: each as `code` of `run`, or as a dict (`Program`) of
                `code` and options of `run`, which take the place of those below for this program.
            concurrency: How many run at a time. None: the smaller of the number of processors and
                the number of spares.
            options: Options of `run`, used for every program that has no such option of its own.

        Raises:
            As `run`. An error of a single program is raised when its result is due, and says which
            one it is: "programs[3]".
        """
        RUN.check(options, "Sandbox.run_many")
        at_a_time = _options.count("concurrency", concurrency, 1)
        _options.check_programs(programs)
        template = self._program(b"", **_requests.of_request(options))
        return self._many(
            iter(programs),
            at_a_time or default_concurrency(self._open_request["spares"]),
            template,
            options,
        )

    def _many(
        self,
        programs: Iterator[str | bytes | Program],
        at_a_time: int,
        template: RunRequest,
        options: Mapping[str, Any],
    ) -> Iterator[Result]:
        threads = Threads(at_a_time)
        ahead: deque[_Pending] = deque()
        try:
            for index, entry in enumerate(programs):
                pending = _Pending(self, index, entry, template, options)
                ahead.append(pending)
                threads.do(pending.do)
                if len(ahead) >= 2 * at_a_time:
                    yield _taken(ahead)
            while ahead:
                yield _taken(ahead)
        finally:
            for pending in ahead:
                pending.cancel()
            threads.close()

    @SESSION
    def session(self, **options: Unpack[SessionOptions]) -> Session:
        """Opens a session: a live interpreter whose variables stay from cell to cell.

            >>> with Sandbox() as box, box.session() as session:
            ...     _ = session.run("x = 40")
            ...     session.run("x + 2").value
            42

        If the sandbox names no profile, the session has all enabled ones together, whose start
        takes seconds if there are large packages among them. In a container
        it has no checkpoints: a cell that is killed ends it, and `result.session.note` says so.
        Of other languages, Bash, JavaScript and R have sessions. They have no checkpoints,
        branches or containers, and after a cell that is stopped by a limit go on with a new
        interpreter and the files from before that cell. Cells may be in several languages; all
        have the hosts of the sandbox.

        Args:
            timeout, cpu, output: Limits of each cell that does not set its own. None: the
                sandbox's.
            memory: The memory limit of the session. None: the sandbox's.
            checkpoints: Maximum number of checkpoints; the oldest is dropped first.
            total_memory: Memory limit of the session and its checkpoints together, in bytes or as
                "1g": the oldest checkpoints are dropped until the rest fits. Each branch has its
                own. None: twice `memory`.
            project: A folder of this machine as the workspace, in the language "shell". Nothing in
                it changes; `Session.changes` says what the session did, and can make it real.
                Linux 6.6, and a folder of one's own.
            wait: How long a call waits for its turn, in seconds or as "500ms", before it raises
                `SessionBusy`. A session is also busy for some milliseconds after each cell, while
                the checkpoint is made.

        Raises:
            ValueError, TypeError: An argument is invalid; the message names it.
            BelljarError: No session can be opened here; the message says why.
        """
        SESSION.check(options, "Sandbox.session")
        return self._session(*_requests.session_request(options))

    def _session(self, request: SessionRequest, wait: int) -> Session:
        from belljar._session import Session

        live = _host.open_session(self._engine_of_sessions(), request, in_main_thread())
        return Session(live, self._defaults, wait, WeakSet(), partial(self._add_kernel, request))

    def _add_kernel(self, request: SessionRequest, live: _host.LiveSession, language: str) -> str:
        engine = self._in_language(language)._engine_of_sessions()
        return live.add_kernel(engine, request, in_main_thread())

    def _in_language(self, language: str) -> Sandbox:
        """The same sandbox for another language, with the same hosts."""
        if self._open_request["container"] is not None:
            what = "use another language in a session"
            raise BelljarError(what, f"{what}: in a container a session has one language")
        has_network = self.info().has_network
        with self._lock:
            if self._is_closed:
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            if language not in self._languages:
                sandbox = Sandbox.__new__(Sandbox)
                other = _requests.language(language)
                open_request: OpenRequest = {
                    **self._open_request,
                    "profile": self._profile_in(other, has_network),
                    "language": other,
                }
                defaults = self._defaults.copy()
                defaults.pop("allowed_imports", None)
                sandbox._prepare(open_request, defaults)
                self._languages[language] = sandbox
            return self._languages[language]

    def _profile_in(self, language: str, has_network: bool) -> str:
        """The profile for cells in another language, which take only a network from it; Python has
        the files of a session, too."""
        own = self._open_request["profile"] if has_network else ""
        if language:
            return own
        if not has_network:
            return "filesystem"
        if "/" in own or own.endswith(".toml"):  # an operator's file, which cannot be combined
            return own
        names = (own or "network").split("+")
        return "+".join(names if "filesystem" in names else ["filesystem", *names])

    def _engine_of_sessions(self) -> _host.Engine:
        engine = self._open()
        if self._open_request["profile"]:
            return engine
        return self._open_other(engine, engine.wanted_profile(self._defaults, continues=True))

    def validate(
        self,
        code: str | bytes,
        *,
        filename: str = "main.py",
        allowed_imports: Iterable[str] | None = None,
    ) -> Validation:
        """Reports what the language policy refuses, without running the program.

            >>> with Sandbox() as box:
            ...     verdict = box.validate("import glob\\nprint(1)")
            >>> verdict.ok, verdict.findings[0].rule, verdict.findings[0].line
            (False, 'BJ201', 1)

        Raises:
            As `run`.
        """
        options = {"filename": filename, "allowed_imports": allowed_imports}
        run_request = _requests.run_request(code, options, self._defaults, validate=True)
        engine = self._open_for(run_request)
        return _host.validate(engine, run_request, in_main_thread())

    def info(self) -> Info:
        """What programs may use in this sandbox, and how they are isolated.

        >>> with Sandbox() as box:
        ...     "math" in box.info().modules
        True
        """
        return self._info(self._open())

    def _info(self, engine: _host.Engine) -> Info:
        from belljar._info import info_of

        open_request = self._open_request
        is_container = open_request["container"] is not None
        return info_of(
            engine.facts,
            isolation="strict" if open_request["strict"] and not is_container else "standard",
            policy="off" if open_request["without_policy"] else "on",
            container=is_container,
        )


class _Pending:
    """One pending program of `run_many`."""

    def __init__(
        self,
        sandbox: Sandbox,
        index: int,
        entry: str | bytes | Program,
        template: RunRequest,
        options: Mapping[str, Any],
    ) -> None:
        self._sandbox = sandbox
        self._index = index
        self._raises = options.get("raise_on_error", False)
        self._run_request: RunRequest | None = None
        self._cancellation = _host.Canceller()
        self._is_done = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None
        try:
            if isinstance(entry, str | bytes):
                self._run_request = template | {"source": _options.source(entry)}
            else:
                own = _requests.own_options(entry)
                self._raises = own.get("raise_on_error", self._raises)
                self._run_request = sandbox._program(**_requests.of_request({**options, **own}))
        except Exception as error:
            self._error = _requests.of_program(index, error)

    def do(self) -> None:
        try:
            if self._run_request is not None:
                self._result = self._sandbox._run(
                    self._run_request, self._cancellation, raise_on_error=self._raises
                )
        except Exception as error:
            self._error = _requests.of_program(self._index, error)
        except BaseException as error:
            self._error = error
        self._is_done.set()

    def cancel(self) -> None:
        self._cancellation.cancel()

    def result(self) -> Result:
        self._is_done.wait()
        if self._error is not None:
            raise self._error
        assert self._result is not None
        return self._result


def _taken(ahead: deque[_Pending]) -> Result:
    """The result of the first program, which stays cancellable until its result has arrived."""
    result = ahead[0].result()
    ahead.popleft()
    return result


def _unopened(
    kind: type[Sandbox],
    open_request: OpenRequest,
    defaults: RunRequest,
) -> Sandbox:
    """A sandbox that opens on first use: an unpickled one may never be used."""
    sandbox = kind.__new__(kind)
    sandbox._prepare(open_request, defaults)
    return sandbox
