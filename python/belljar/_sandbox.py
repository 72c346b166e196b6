"""The `Sandbox` class."""

from __future__ import annotations

import atexit
import errno
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from threading import get_ident
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, TypedDict, Unpack
from weakref import WeakSet

from belljar import _errors, _forks, _functions, _host, _options, _plain, _result
from belljar._errors import BelljarError
from belljar._functions import Functions
from belljar._options import ContainerOptions, FileContent, Seconds, Size
from belljar._result import Result, Validation
from belljar._threads import Threads, default_concurrency, starter

if TYPE_CHECKING:
    from belljar._info import Info
    from belljar._session import Session
    from belljar._wire import OpenRequest, RunRequest, SessionRequest

Stream = Callable[[str, str], object]
"""Called with "stdout" or "stderr", and the text."""


# The location of the package, from which the other parts of Belljar are found, and the interpreter
# that zygotes are loaded into if they are not programs of their own. It must be the real
# interpreter, not a virtual environment's link to it.
_host.look_from(
    os.path.dirname(os.path.abspath(__file__)),
    getattr(sys, "_base_executable", None) or sys.executable or "",
)
# The modules of this import: the package may have been imported before.
_host.know_package(_result, _plain, _errors)
# Kills runs in daemon threads and waits until their stacks hold none of our frames.
atexit.register(_host.close_all)
atexit.register(starter.end)  # the last registered is called first


Take = Callable[..., None]
"""Called after a program has finished or raised: with name and value of each variable that is plain
data, with the name alone of each other variable, and finally without arguments."""


class RunOptions(TypedDict, total=False):
    """The keyword arguments of `Sandbox.run`."""

    timeout: Seconds | None
    memory: Size | None
    cpu: Seconds | None
    output: Size | None
    stdin: str | bytes | None
    args: Iterable[str]
    env: Mapping[str, str] | None
    filename: str
    inputs: Mapping[str, object] | None
    functions: Functions | None
    files: Mapping[str, FileContent] | None
    allowed_imports: Iterable[str] | None
    allowed_domains: Iterable[str] | None
    stream: Stream | None
    raise_on_error: bool


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
            of a profile file ("./own.toml"). See docs/profiles.md. None: "basic", and for each
            program those enabled profiles that its text uses (docs/python.md, "Profiles").
        timeout: Wall-clock limit of a run, in seconds or as "500ms". None: the profile's default.
        memory: Memory limit, on top of what the interpreter itself uses, in bytes or as "64m".
            None: the profile's default.
        cpu: CPU-time limit, in seconds or as "500ms". None: the same as `timeout` if that is given,
            else the profile's default.
        output: Limit for stdout and for stderr, each, in bytes or as "64m". Output beyond it is
            dropped and counted. None: the profile's default.
        isolation: "strict" refuses to run if namespaces or Landlock are missing. "standard" runs
            without them, and results report it.
        language: "full" turns the language policy off; the kernel layers stay.
        allowed_imports: The modules of the profile that may be imported. None: all of them.
        allow_domains: Hosts that programs may connect to, with profile "network": "example.org",
            "*.example.org", "example.org:8443".
        allow_private: Non-public addresses that programs may connect to: "10.1.0.0/16".
        spares: How many sealed workers to keep ready. None: 4, or 1 with containers.
        container: True runs each program in its own container. `ContainerOptions` does the same
            with options.

    Raises:
        ValueError, TypeError: An argument is invalid; the message names it.
        BelljarError: No installation was found, no container engine is available, and the like.
    """

    def __init__(
        self,
        profile: str | None = None,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        isolation: Literal["strict", "standard"] = "strict",
        language: Literal["restricted", "full"] = "restricted",
        allowed_imports: Iterable[str] | None = None,
        allow_domains: Iterable[str] = (),
        allow_private: Iterable[str] = (),
        spares: int | None = None,
        container: bool | ContainerOptions = False,
    ) -> None:
        self._take(
            profile=profile,
            timeout=timeout,
            memory=memory,
            cpu=cpu,
            output=output,
            isolation=isolation,
            language=language,
            allowed_imports=allowed_imports,
            allow_domains=allow_domains,
            allow_private=allow_private,
            spares=spares,
            container=container,
        )
        self._open()

    @classmethod
    def _closed_until_used(cls, profile: str | None, **options: Any) -> Self:
        """For callers that must not block while the sandbox opens."""
        sandbox = cls.__new__(cls)
        sandbox._take(profile=profile, **options)
        return sandbox

    def _take(
        self,
        *,
        timeout: Seconds | None,
        memory: Size | None,
        cpu: Seconds | None,
        output: Size | None,
        allowed_imports: Iterable[str] | None,
        **open_request: Any,
    ) -> None:
        defaults: RunRequest = {}
        _ask_limits(defaults, timeout, memory, cpu, output)
        if allowed_imports is not None:
            defaults["allowed_imports"] = _options.texts("allowed_imports", allowed_imports)
        self._prepare(_options.open_request(**open_request), defaults)

    def _prepare(self, open_request: OpenRequest, defaults: RunRequest) -> None:
        self._open_request = open_request
        self._defaults = defaults  # used for what a run does not set
        self._is_closed = False
        self._after_fork()
        _forks.know(self)

    def _after_fork(self) -> None:
        # Reentrant: a signal handler may close the sandbox that this thread is just opening.
        self._lock = threading.RLock()
        # Signal handlers run in the main thread.
        self._main_thread = threading.main_thread().ident
        self._engine: _host.Engine | None = None
        # Of the profiles that programs needed beyond it, if none is named.
        self._others: dict[str, _host.Engine] = {}

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
        wanted = engine.wanted_profile(run_request["source"], bool(run_request.get("files")))
        return engine if wanted is None else self._open_other(wanted)

    def _open_other(self, profile: str) -> _host.Engine:
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
            self._others, self._engine = {}, None
        for engine in engines:
            engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[Callable[..., Sandbox], tuple[Any, ...]]:
        return _unopened, (type(self), self._open_request, self._defaults)

    def __repr__(self) -> str:
        state = " closed" if self._is_closed else ""
        return f"<belljar.Sandbox {self._open_request['profile'] or 'basic'!r}{state}>"

    # --- running ----------------------------------------------------------------------------------

    def run(
        self,
        code: str | bytes,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        stdin: str | bytes | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        filename: str = "main.py",
        inputs: Mapping[str, object] | None = None,
        functions: Functions | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        raise_on_error: bool = False,
    ) -> Result:
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
            stdin: Standard input of the program. None: `input()` raises EOFError.
            args: Arguments of the program: `sys.argv` after the program's name.
            env: Environment variables of the program, in `os.environ`. It gets none of this
                process's.
            filename: The name used in tracebacks and findings.
            inputs: Variables that are set before the program starts, by name. Values are plain data
                (docs/python.md, "Values").
            functions: Functions that the program may call, by name. They are called in this thread.
                Arguments and return values are plain data; an exception is raised again in the
                program.
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
        run_request = self._program(
            code,
            timeout=timeout,
            memory=memory,
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
        return self._run(run_request, None, raise_on_error=raise_on_error)

    def _run(
        self,
        run_request: RunRequest,
        cancellation: _host.Cancellation | None,
        *,
        raise_on_error: bool,
    ) -> Result:
        engine = self._open_for(run_request)
        result = _host.run(engine, run_request, cancellation, get_ident() == self._main_thread)
        if raise_on_error:
            result.raise_for_status()
        return result

    def _program(
        self,
        code: str | bytes,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        stdin: str | bytes | None = None,
        args: Iterable[str] = (),
        env: Mapping[str, str] | None = None,
        filename: str = "main.py",
        inputs: Mapping[str, object] | None = None,
        functions: Functions | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        validate: bool = False,
        take: Take | None = None,
    ) -> RunRequest:
        """The arguments of `run`, checked as far as possible without the profile.

        `take` receives the program's variables, for integrations that pass them to the next
        program.
        """
        # Skips what is not given: most runs set no option, and this adds to their latency.
        run_request: RunRequest = {"source": _options.source(code)}
        if validate:
            run_request["validate"] = True
        if filename != "main.py":
            run_request["filename"] = _options.text("filename", filename)
        _ask_limits(run_request, timeout, memory, cpu, output)
        if stdin is not None:
            run_request["stdin"] = _options.standard_input(stdin)
        if args := _options.texts("args", args):
            run_request["args"] = args
        if env is not None:
            run_request["env"] = _options.environment(env)
        if inputs is not None:
            run_request["inputs"] = _options.inputs(inputs)
        if functions is not None or take is not None:
            callables = _functions.checked(functions)
            if twice := callables.keys() & dict(run_request.get("inputs", ())).keys():
                raise ValueError(f"inputs and functions both define {min(twice)!r}")
            if take is not None:
                callables[_functions.TAKES_VARIABLES] = take
            run_request["functions"] = list(callables)
            run_request["call"] = _functions.answering(callables)
        if files is not None:
            run_request["files"] = _options.files(files)
        if allowed_imports is not None:
            run_request["allowed_imports"] = self._narrowed(allowed_imports)
        if allowed_domains is not None:
            run_request["allowed_domains"] = _options.texts("allowed_domains", allowed_domains)
        if stream is not None:
            run_request["stream"] = _options.stream(stream)
        return run_request

    def _narrowed(self, allowed_imports: Iterable[str]) -> list[str]:
        run_request = _options.texts("allowed_imports", allowed_imports)
        given = self._defaults.get("allowed_imports")
        if given is None:
            return run_request
        for module in run_request:
            if not any(module == each or module.startswith(f"{each}.") for each in given):
                raise ValueError(
                    f"allowed_imports: {module!r} is not one of the modules that this sandbox "
                    "allows"
                )
        return run_request

    def run_many(
        self,
        programs: Iterable[str | bytes],
        *,
        concurrency: int | None = None,
        **options: Unpack[RunOptions],
    ) -> Iterator[Result]:
        """Runs programs concurrently. Returns an iterator over the results, in program order.

            >>> with Sandbox() as box:
            ...     [result.value for result in box.run_many(["1 + 1", "2 + 2", "3 + 3"])]
            [2, 4, 6]

        `programs` is consumed as results are: at most twice `concurrency` programs are ahead.
        Closing the iterator, or an exception raised by `programs`, kills the pending runs. `stream`
        and `functions` are called in background threads, several at a time.

        Args:
            programs: Any number of programs, each as `code` of `run`.
            concurrency: How many run at a time. None: the smaller of the number of processors and
                the number of spares.
            options: Options of `run`, used for every program.

        Raises:
            As `run`. An error of a single program is raised when its result is due.
        """
        most = _options.count("concurrency", concurrency, 1)
        _options.check_programs(programs)
        given: dict[str, Any] = {**options}
        raise_on_error = given.pop("raise_on_error", False)
        template = self._program(b"", **given)
        return self._many(
            iter(programs),
            most or default_concurrency(self._open_request["spares"]),
            template,
            raise_on_error,
        )

    def _many(
        self,
        programs: Iterator[str | bytes],
        most: int,
        template: RunRequest,
        raise_on_error: bool,
    ) -> Iterator[Result]:
        threads = Threads(most)
        ahead: deque[_Pending] = deque()
        try:
            for code in programs:
                run_request = template | {"source": _options.source(code)}
                pending = _Pending(self, run_request, raise_on_error)
                ahead.append(pending)
                threads.do(pending.do)
                if len(ahead) >= 2 * most:
                    yield _taken(ahead)
            while ahead:
                yield _taken(ahead)
        finally:
            for pending in ahead:
                pending.cancel()
            threads.close()

    def session(
        self,
        *,
        timeout: Seconds | None = None,
        memory: Size | None = None,
        cpu: Seconds | None = None,
        output: Size | None = None,
        checkpoints: int = 16,
        total_memory: Size | None = None,
        wait: Seconds = 60,
    ) -> Session:
        """Opens a session: a live Python whose variables stay from cell to cell.

            >>> with Sandbox() as box, box.session() as session:
            ...     _ = session.run("x = 40")
            ...     session.run("x + 2").value
            42

        Without a named profile, it is that of all enabled ones together. In a container it has no
        checkpoints: a cell that is killed ends it, and `result.session.note` says so.

        Args:
            timeout, cpu, output: Limits of each cell, unless it has its own. None: the sandbox's.
            memory: The memory limit of the session. None: the sandbox's.
            checkpoints: How many are held at most; the oldest is dropped first.
            total_memory: Of the session and its checkpoints together, in bytes or as "1g": older
                checkpoints are dropped until the rest fits. Each branch has as much. None: twice
                `memory`.
            wait: How long a call waits for its turn, in seconds or as "500ms", before it raises
                `SessionBusy`. A session is also busy for some milliseconds after each cell, while
                the checkpoint is made.

        Raises:
            ValueError, TypeError: An argument is invalid; the message names it.
            BelljarError: No session can be opened here; the message says why.
        """
        from belljar._session import Session

        asked, turn = self._session_request(
            timeout, memory, cpu, output, checkpoints, total_memory, wait
        )
        return Session(self, self._open_session(asked), turn, WeakSet())

    @staticmethod
    def _session_request(
        timeout: Seconds | None,
        memory: Size | None,
        cpu: Seconds | None,
        output: Size | None,
        checkpoints: int,
        total_memory: Size | None,
        wait: Seconds,
    ) -> tuple[SessionRequest, int]:
        asked: SessionRequest = {}
        _ask_limits(asked, timeout, memory, cpu, output)
        if number := _options.count("checkpoints", checkpoints, 1):
            asked["checkpoints"] = number
        if total_memory is not None:
            asked["total_memory"] = _options.size("total_memory", total_memory)
        return asked, _options.seconds("wait", wait)

    def _engine_of_sessions(self) -> _host.Engine:
        engine = self._open()
        if not self._open_request["profile"] and (profile := engine.profile_of_sessions()):
            engine = self._open_other(profile)
        return engine

    def _open_session(self, asked: SessionRequest) -> _host.Session:
        engine = self._engine_of_sessions()
        return _host.open_session(engine, asked, get_ident() == self._main_thread)

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
        run_request = self._program(
            code, filename=filename, allowed_imports=allowed_imports, validate=True
        )
        engine = self._open_for(run_request)
        return _host.validate(engine, run_request, get_ident() == self._main_thread)

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
            language="restricted" if open_request["restricted"] else "full",
            container=is_container,
        )


def _ask_limits(
    run_request: RunRequest | SessionRequest,
    timeout: Seconds | None,
    memory: Size | None,
    cpu: Seconds | None,
    output: Size | None,
) -> None:
    """Sets the given limits in `run_request`."""
    if timeout is not None:
        run_request["timeout"] = _options.seconds("timeout", timeout)
    if memory is not None:
        run_request["memory"] = _options.size("memory", memory)
    if cpu is not None:
        run_request["cpu"] = _options.seconds("cpu", cpu)
    if output is not None:
        run_request["output"] = _options.size("output", output)


class _Pending:
    """One pending program of `run_many`."""

    def __init__(self, sandbox: Sandbox, run_request: RunRequest, raise_on_error: bool) -> None:
        self._sandbox = sandbox
        self._run_request = run_request
        self._raises = raise_on_error
        self._cancellation = _host.Cancellation()
        self._is_done = threading.Event()
        self._result: Result | None = None
        self._error: BaseException | None = None

    def do(self) -> None:
        try:
            self._result = self._sandbox._run(
                self._run_request, self._cancellation, raise_on_error=self._raises
            )
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
