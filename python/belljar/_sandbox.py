"""`Sandbox`: what programs call."""

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

from belljar import _errors, _forks, _functions, _host, _options, _plain, _result
from belljar._errors import BelljarError
from belljar._functions import Functions
from belljar._options import ContainerOptions, FileContent, Seconds, Size
from belljar._result import Result, Validation
from belljar._threads import Threads, default_concurrency

if TYPE_CHECKING:
    from belljar._info import Info
    from belljar._wire import OpenRequest, RunRequest

Stream = Callable[[str, str], object]
"""Called with "stdout" or "stderr", and a text."""


# Where the other parts of Belljar are, seen from this package; and the interpreter that its zygotes
# are loaded into, where they are no program of their own. Not a virtual environment's link to it.
_host.look_from(
    os.path.dirname(os.path.abspath(__file__)),
    getattr(sys, "_base_executable", None) or sys.executable or "",
)
# Those of this import: there may have been one before.
_host.know_package(_result, _plain, _errors)
# Kills what still runs in daemon threads, and waits until nothing of ours is on their stacks.
atexit.register(_host.close_all)


Take = Callable[..., None]
"""When a program has ended by itself or by an exception: called with name and value of each of its
variables that is plain data, with the name of each other one, and at last with nothing."""


class RunOptions(TypedDict, total=False):
    """What `run` takes by name; see there."""

    timeout: Seconds | None
    memory: Size | None
    cpu: Seconds | None
    output: Size | None
    stdin: str | bytes | None
    filename: str
    inputs: Mapping[str, object] | None
    functions: Functions | None
    files: Mapping[str, FileContent] | None
    allowed_imports: Iterable[str] | None
    allowed_domains: Iterable[str] | None
    stream: Stream | None
    raise_on_error: bool


class Sandbox:
    """Runs programs, each in a fresh process that is sealed, used once and destroyed.

        >>> with Sandbox(timeout=5) as box:
        ...     box.run("sum(range(10))").value
        45

    Returns before the first worker is ready; `run` waits for one. Any thread may use it, several at
    a time. In a forked child it opens anew on first use, and it pickles as its options.

    Args:
        profile: What programs may use: a profile's name, several with "+" between them, or the path
            of a file of your own ("./own.toml"); docs/profiles.md.
        timeout: Wall clock of a run, in seconds or as "500ms"; None: the profile's.
        memory: Beyond the interpreter's own, in bytes or as "64m"; None: the profile's.
        cpu: CPU time, as `timeout`; None: as that, if it is given.
        output: Of stdout and of stderr, each, as `memory`; what comes after is dropped and counted.
        isolation: "strict" refuses to run where a layer is missing; "standard" runs without
            namespaces and Landlock where there are none, and results say so.
        language: "full" switches the language policy off and leaves the kernel's layers.
        allowed_imports: Only these of the profile's modules; None: all.
        allow_domains: Hosts that programs may reach, with profile "network": "example.org",
            "*.example.org", "example.org:8443".
        allow_private: Addresses that are not public and may be reached all the same: "10.1.0.0/16".
        spares: How many workers wait, sealed, for a run; None: 4, or 1 container.
        container: True runs programs in a container each; or `ContainerOptions`.

    Raises:
        ValueError, TypeError: An argument, which is named.
        BelljarError: There is no installation, no container engine, …
    """

    def __init__(
        self,
        profile: str = "basic",
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
    def _closed_until_used(cls, profile: str, **options: Any) -> Self:
        """For whoever may not wait for the opening."""
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
        self._defaults = defaults  # what a run has that is given its source and nothing else
        self._is_closed = False
        self._after_fork()
        _forks.know(self)

    def _after_fork(self) -> None:
        # A handler of a signal may close what this thread is just opening.
        self._lock = threading.RLock()
        # Where handlers of signals run.
        self._main_thread = threading.main_thread().ident
        self._engine: _host.Engine | None = None

    # --- opening and closing ----------------------------------------------------------------------

    def _open(self) -> _host.Engine:
        """The engine of this process."""
        if (engine := self._engine) is not None:
            return engine
        with self._lock:
            if not self._is_closed and self._engine is None:
                self._engine = _host.Engine(self._open_request, self._defaults)
            if self._is_closed or self._engine is None:
                self._engine = None
                raise BelljarError("run in a sandbox", "run in a sandbox: it is closed")
            return self._engine

    def wait_until_ready(self, timeout: Seconds | None = None) -> None:
        """Returns when the next run will find its worker waiting.

        Args:
            timeout: Seconds, or "5s"; None: as long as it takes.

        Raises:
            BelljarError: There is none by then (its `errno` is ETIMEDOUT), or none to be had, and
            why.
        """
        seconds = 1e9 if timeout is None else _options.seconds("timeout", timeout) / 1000
        if not self._open().wait_until_ready(seconds):
            what = "wait for a worker"
            raise BelljarError(what, f"{what}: none became ready in time", errno.ETIMEDOUT)

    def close(self) -> None:
        """Kills what runs and ends the workers. Runs afterwards are errors. Twice is once.

        From within a run, as a function or a signal's handler calls it, it returns at once: that
        run ends as cancelled, and the workers go with the last one.
        """
        with self._lock:
            self._is_closed = True
            engine, self._engine = self._engine, None
        if engine is not None:
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
        return f"<belljar.Sandbox {self._open_request['profile']!r}{state}>"

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
        filename: str = "main.py",
        inputs: Mapping[str, object] | None = None,
        functions: Functions | None = None,
        files: Mapping[str, FileContent] | None = None,
        allowed_imports: Iterable[str] | None = None,
        allowed_domains: Iterable[str] | None = None,
        stream: Stream | None = None,
        raise_on_error: bool = False,
    ) -> Result:
        """Runs a program to its end, and returns what came of it.

            >>> with Sandbox() as box:
            ...     result = box.run("print(f'{name}: {total(prices)}')",
            ...                      inputs={"name": "sum", "prices": [1.5, 2.5]},
            ...                      functions={"total": sum})
            >>> result.stdout
            'sum: 4.0\\n'

        What the program does, raising and being stopped by a limit too, is in the result. An
        exception in this thread, such as KeyboardInterrupt, kills it at once and is raised.

        Args:
            code: The program. bytes are UTF-8, with or without a mark, and are decoded inside.
            timeout, memory, cpu, output: As of the sandbox; None: what that has.
            stdin: What it reads as standard input; None: `input()` raises EOFError.
            filename: As tracebacks and findings name it.
            inputs: Variables that it finds: plain data (docs/python.md, "Values").
            functions: What it may call: name to callable. Arguments and what is returned are plain
                data; an exception becomes one of the program's. Called in this thread.
            files: For the workspace of a profile that has one: name to bytes, to str, which becomes
                UTF-8, or to the path of a file of yours.
            allowed_imports: Only these of the modules that the sandbox allows; None: all of them.
            allowed_domains: Only these of the hosts that the sandbox allows; None: all of them.
            stream: Called as `stream("stdout", text)` while it runs, in this thread. The result has
                all of it as well.
            raise_on_error: Raises `GuestFailed` unless the status is "ok".

        Raises:
            ValueError, TypeError: An argument, which is named. Nothing was run.
            BelljarError: Belljar or this machine failed.
            GuestFailed: With `raise_on_error`.
        """
        run_request = self._program(
            code,
            timeout=timeout,
            memory=memory,
            cpu=cpu,
            output=output,
            stdin=stdin,
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
        engine = self._open()
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
        """The arguments of `run`, checked as far as that goes without knowing the profile.

        `take` is told what the program leaves: for integrations that carry it to another program.
        """
        # Only what is given is looked at: most runs are given nothing, and wait for this.
        run_request: RunRequest = {"source": _options.source(code)}
        if validate:
            run_request["validate"] = True
        if filename != "main.py":
            run_request["filename"] = _options.text("filename", filename)
        _ask_limits(run_request, timeout, memory, cpu, output)
        if stdin is not None:
            run_request["stdin"] = _options.standard_input(stdin)
        if inputs is not None:
            run_request["inputs"] = _options.inputs(inputs)
        if functions is not None or take is not None:
            callables = _functions.checked(functions)
            if twice := callables.keys() & dict(run_request.get("inputs", ())).keys():
                raise ValueError(f"inputs and functions: {min(twice)!r} is there twice")
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
                    f"allowed_imports: {module!r} is none of the modules that this sandbox was "
                    "made with"
                )
        return run_request

    def run_many(
        self,
        programs: Iterable[str | bytes],
        *,
        concurrency: int | None = None,
        **options: Unpack[RunOptions],
    ) -> Iterator[Result]:
        """Runs programs side by side; an iterator over their results, in the order of the programs.

            >>> with Sandbox() as box:
            ...     [result.value for result in box.run_many(["1 + 1", "2 + 2", "3 + 3"])]
            [2, 4, 6]

        Programs are taken as results are: at most twice as many as run at a time are begun ahead.
        Closing the iterator, and an exception in `programs`, kill what runs. `stream` and
        `functions` are called in threads of the iterator's, several at a time.

        Args:
            programs: As `code` of `run`, any number of them.
            concurrency: How many run at a time; None: as many as there are processors and spares.
            options: Those of `run`, for each program.

        Raises:
            As `run`; of a program's own error when it is its turn.
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

    def validate(
        self,
        code: str | bytes,
        *,
        filename: str = "main.py",
        allowed_imports: Iterable[str] | None = None,
    ) -> Validation:
        """Says what the language policy refuses, without running the program.

            >>> with Sandbox() as box:
            ...     verdict = box.validate("import os\\nprint(1)")
            >>> verdict.ok, verdict.findings[0].rule, verdict.findings[0].line
            (False, 'BJ201', 1)

        Raises:
            As `run`.
        """
        run_request = self._program(
            code, filename=filename, allowed_imports=allowed_imports, validate=True
        )
        return _host.validate(self._open(), run_request, get_ident() == self._main_thread)

    def info(self) -> Info:
        """What programs may use here, and what holds them.

        >>> with Sandbox() as box:
        ...     "math" in box.info().modules
        True
        """
        from belljar._info import info_of

        open_request = self._open_request
        is_container = open_request["container"] is not None
        return info_of(
            self._open().facts,
            isolation="strict" if open_request["strict"] and not is_container else "standard",
            language="restricted" if open_request["restricted"] else "full",
            container=is_container,
        )


def _ask_limits(
    run_request: RunRequest,
    timeout: Seconds | None,
    memory: Size | None,
    cpu: Seconds | None,
    output: Size | None,
) -> None:
    """Into `run_request` those that are given."""
    if timeout is not None:
        run_request["timeout"] = _options.seconds("timeout", timeout)
    if memory is not None:
        run_request["memory"] = _options.size("memory", memory)
    if cpu is not None:
        run_request["cpu"] = _options.seconds("cpu", cpu)
    if output is not None:
        run_request["output"] = _options.size("output", output)


class _Pending:
    """One program of `run_many`."""

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
    """The first one's result. It stays among those that are to be cancelled until it is there."""
    result = ahead[0].result()
    ahead.popleft()
    return result


def _unopened(
    kind: type[Sandbox],
    open_request: OpenRequest,
    defaults: RunRequest,
) -> Sandbox:
    """One that opens on first use: what was pickled may never be used."""
    sandbox = kind.__new__(kind)
    sandbox._prepare(open_request, defaults)
    return sandbox
