"""Sandboxes on the machines of a Ray cluster.

    with SandboxPool(timeout=5) as pool:          # an actor with a sandbox on each node
        pool.run("6 * 7").result.value            # 42
        for execution in pool.map(programs):      # in order
            print(execution.index, execution.result.status)

    ray.data.from_items(rows).map_batches(BatchRunner, compute=ActorPoolStrategy(size=2))

In the driver one thread, the dispatcher (`_ray_dispatcher.py`), knows the state of nodes and
programs. A program goes to the least busy node, together with others if they are short: a call of
an actor costs about as much as a run. Ray restarts and repeats nothing here, since it cannot know
whether a program may run twice: the dispatcher replaces an actor that was lost, and repeats its
programs only as often as `retries` allows.

Ray trusts everyone who can reach its ports. Programs cannot: they run in sandboxes.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from queue import SimpleQueue
from typing import Any, Self

try:
    import ray  # noqa: F401 - what the modules below need
except ModuleNotFoundError as missing:
    if missing.name != "ray":
        raise
    raise ModuleNotFoundError(
        "belljar.ray needs Ray: pip install 'belljar-sandbox[ray]'", name="ray"
    ) from missing

from belljar import _options
from belljar._options import Seconds
from belljar._ray_dispatcher import (
    DeadlineExceeded,
    Dispatcher,
    Execution,
    ExecutionLost,
    Job,
    Node,
)
from belljar._requests import RunOptions
from belljar._result import Result
from belljar._sandbox import Sandbox
from belljar._threads import default_concurrency

__all__ = ["BatchRunner", "DeadlineExceeded", "Execution", "ExecutionLost", "Node", "SandboxPool"]

_CALLED = {"functions", "stream"}
_OPTIONS = {"code"} | RunOptions.__annotations__.keys() - _CALLED - {"raise_on_error"}

Program = str | bytes | Mapping[str, Any]
"""Code, or the arguments of `Sandbox.run` by name, among them "code"."""


class SandboxPool:
    """Runs programs on all nodes of a Ray cluster, in sandboxes that are kept ready there.

    Takes the arguments of `Sandbox`, and:

    Args:
        actors: Number of actors, which Ray spreads over its nodes. None: one on each node,
            including those that join later.
        cpus: Number of processors that Ray reserves for each actor, which runs as many programs at
            a time. None: those of its node or, with `actors`, 1.
        in_flight: Maximum number of programs that an actor holds, running and waiting. None: 32 for
            each that it runs at a time. Short programs are sent several at a time. If an actor is
            lost, so are the programs that it holds.

    The methods are thread-safe. The package must be installed on every node.

    Raises:
        ValueError, TypeError: An argument is invalid; the message names it.
    """

    def __init__(
        self,
        profile: str | None = None,
        *,
        actors: int | None = None,
        cpus: int | None = None,
        in_flight: int | None = None,
        **options: Any,
    ) -> None:
        self._sandbox = Sandbox._closed_until_used(profile, **options)
        self._dispatcher = Dispatcher(
            self._sandbox,
            _options.count("actors", actors, 1),
            _options.count("cpus", cpus, 1),
            _options.count("in_flight", in_flight, 1),
        )
        self._numbers = itertools.count()

    def run(
        self,
        code: str | bytes,
        *,
        retries: int = 0,
        deadline: Seconds | None = None,
        **options: Any,
    ) -> Execution:
        """Runs one program, as `Sandbox.run` would on the node.

        Args:
            code: The program.
            retries: How often it is repeated if its actor or node is lost, so that it may run more
                than once. A program that fails, or is stopped by a limit, is not repeated.
            deadline: Time until the result must be there, in seconds or as "5s". Waiting for a node
                counts.
            options: Those of `Sandbox.run` except `functions` and `stream`, which cannot be called
                from another process.

        Raises:
            ExecutionLost, DeadlineExceeded: There is no result.
            ValueError, TypeError, BelljarError: As `Sandbox.run`.
        """
        future, job = self._future(code, retries, deadline, options)
        try:
            execution = future.result()
        except BaseException:
            self._dispatcher.cancel([job])
            raise
        if execution.error is not None:
            raise execution.error
        return execution

    async def run_async(
        self,
        code: str | bytes,
        *,
        retries: int = 0,
        deadline: Seconds | None = None,
        **options: Any,
    ) -> Execution:
        """Like `run`. Cancelling the task kills the program."""
        future, job = self._future(code, retries, deadline, options)
        try:
            execution = await asyncio.wrap_future(future)
        except BaseException:
            self._dispatcher.cancel([job])
            raise
        if execution.error is not None:
            raise execution.error
        return execution

    def map(
        self,
        programs: Iterable[Program],
        *,
        in_order: bool = True,
        retries: int = 0,
        deadline: Seconds | None = None,
        **options: Any,
    ) -> Iterator[Execution]:
        """Runs programs on all nodes. Returns an iterator over their executions.

        A program that was lost, or missed its deadline, does not end the iteration: its `error`
        says so. `programs` is consumed as results are, only so far ahead as the nodes can hold
        them. Closing the iterator kills the pending programs.

        Args:
            programs: Any number of programs, each as code, or as the arguments of `run` in a dict:
                {"code": "print(input())", "stdin": "1"}.
            in_order: False: executions come as they end.
            retries: As for `run`, for each program.
            deadline: As for `run`, for each program, from when it is taken from `programs`.
            options: As for `run`, for each program that does not set its own.
        """
        _options.check_programs(programs)
        common, limit, again = self._asked(options, retries, deadline)
        return self._map(iter(programs), common, _options.flag("in_order", in_order), again, limit)

    def _map(
        self,
        programs: Iterator[Program],
        common: Mapping[str, Any],
        in_order: bool,
        retries: int,
        limit: float | None,
    ) -> Iterator[Execution]:
        done: SimpleQueue[Execution] = SimpleQueue()
        pending = _Pending(self, common, retries, limit, done.put)
        try:
            while True:
                while pending.wants_more():
                    try:
                        pending.submit(next(programs))
                    except StopIteration:
                        pending.is_last = True
                if pending.is_done():
                    return
                while (execution := pending.due(in_order)) is None:
                    pending.take(done.get())
                yield execution
        finally:
            pending.cancel()

    async def map_async(
        self,
        programs: Iterable[Program] | AsyncIterable[Program],
        *,
        in_order: bool = True,
        retries: int = 0,
        deadline: Seconds | None = None,
        **options: Any,
    ) -> AsyncIterator[Execution]:
        """Like `map`; `programs` may be an asynchronous iterable."""
        if not isinstance(programs, AsyncIterable):
            _options.check_programs(programs)
        common, limit, again = self._asked(options, retries, deadline)
        in_order = _options.flag("in_order", in_order)
        loop = asyncio.get_running_loop()
        done: asyncio.Queue[Execution] = asyncio.Queue()

        def settle(execution: Execution) -> None:
            try:
                loop.call_soon_threadsafe(done.put_nowait, execution)
            except RuntimeError:
                pass  # the loop is closed, and nobody waits

        pending = _Pending(self, common, again, limit, settle)
        ahead = _each(programs)
        try:
            while True:
                while pending.wants_more():
                    try:
                        pending.submit(await anext(ahead))
                    except StopAsyncIteration:
                        pending.is_last = True
                if pending.is_done():
                    return
                while (execution := pending.due(in_order)) is None:
                    pending.take(await done.get())
                yield execution
        finally:
            pending.cancel()

    def wait_until_ready(self, timeout: Seconds | None = None) -> None:
        """Waits until every actor has opened its sandbox or failed to.

        Raises:
            BelljarError: Not all had in time, for instance because Ray has no free processors for
                them, or no node can open a sandbox; the message says why.
        """
        until = None if timeout is None else time.monotonic() + _seconds("timeout", timeout)
        self._dispatcher.wait_until_ready(until)

    def nodes(self) -> list[Node]:
        """The current state of the actors."""
        return self._dispatcher.nodes()

    def close(self) -> None:
        """Kills all programs and ends the actors. Calling it again does nothing."""
        self._dispatcher.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __reduce__(self) -> Any:
        raise TypeError("a SandboxPool stays in the process that made it: make one in each")

    def _asked(
        self, options: Mapping[str, Any], retries: int, deadline: Seconds | None
    ) -> tuple[dict[str, Any], float | None, int]:
        common = self._request({"code": b"", **options})
        del common["source"]
        limit = None if deadline is None else _seconds("deadline", deadline)
        return common, limit, _options.count("retries", retries, 0) or 0

    def _request(self, options: Mapping[str, Any]) -> dict[str, Any]:
        """Checked here, so that errors are raised in the caller."""
        for name in options:
            if name not in _OPTIONS:
                why = ": it would be called in another process" if name in _CALLED else ""
                raise TypeError(f"{name} is not an option of a pool{why}")
        return dict(self._sandbox._program(**options))

    def _future(
        self,
        code: str | bytes,
        retries: int,
        deadline: Seconds | None,
        options: Mapping[str, Any],
    ) -> tuple[Future[Execution], Job]:
        common, limit, again = self._asked(options, retries, deadline)
        future: Future[Execution] = Future()

        def settle(execution: Execution) -> None:
            if future.set_running_or_notify_cancel():
                future.set_result(execution)

        own = {"source": _options.source(code)}
        return future, self._submit(0, common, own, again, limit, settle)

    def _submit(
        self,
        index: int,
        common: Mapping[str, Any],
        own: Mapping[str, Any],
        retries: int,
        limit: float | None,
        settle: Callable[[Execution], object],
    ) -> Job:
        until = None if limit is None else time.monotonic() + limit
        job = Job(next(self._numbers), index, common, own, retries, until, settle)
        self._dispatcher.submit(job)
        return job


class _Pending:
    """The programs of one `map` whose results are pending. For the caller's thread; only `settle`
    is called in others."""

    def __init__(
        self,
        pool: SandboxPool,
        common: Mapping[str, Any],
        retries: int,
        limit: float | None,
        settle: Callable[[Execution], object],
    ) -> None:
        self.is_last = False
        self._pool, self._common, self._retries = pool, common, retries
        self._limit, self._settle = limit, settle
        self._submitted = self._yielded = 0
        self._jobs: dict[int, Job] = {}
        self._ended: dict[int, Execution] = {}

    def wants_more(self) -> bool:
        return (
            not self.is_last and self._submitted - self._yielded < self._pool._dispatcher.capacity
        )

    def is_done(self) -> bool:
        return self._submitted == self._yielded

    def submit(self, program: Program) -> None:
        own: Mapping[str, Any]
        if isinstance(program, Mapping):
            own = self._pool._request(program)
        else:
            own = {"source": _options.source(program)}
        index = self._submitted
        self._jobs[index] = self._pool._submit(
            index, self._common, own, self._retries, self._limit, self._settle
        )
        self._submitted += 1

    def take(self, execution: Execution) -> None:
        del self._jobs[execution.index]
        self._ended[execution.index] = execution

    def due(self, in_order: bool) -> Execution | None:
        index = self._yielded if in_order else next(iter(self._ended), -1)
        execution = self._ended.pop(index, None)
        self._yielded += execution is not None
        return execution

    def cancel(self) -> None:
        self._pool._dispatcher.cancel(list(self._jobs.values()))


async def _each(programs: Iterable[Program] | AsyncIterable[Program]) -> AsyncIterator[Program]:
    if isinstance(programs, AsyncIterable):
        async for program in programs:
            yield program
    else:
        for program in programs:
            yield program


def _seconds(name: str, value: Seconds) -> float:
    return _options.seconds(name, value) / 1000


# --- Ray Data -------------------------------------------------------------------------------------


class BatchRunner:
    """For `Dataset.map_batches`: runs the program in each row, and adds its result.

        ds.map_batches(BatchRunner, compute=ActorPoolStrategy(size=2), batch_size=64,
                       fn_constructor_kwargs={"code": "program", "timeout": 5})

    Adds the columns `status`, `stdout`, `stderr`, `value` (its repr), `error`, `wall_time` and
    `cpu_time`. Each actor of Ray Data that holds one opens a sandbox.

    Args:
        code: The column with the program.
        stdin: The column with its standard input. None: no standard input.
        concurrency: Number of programs that run at a time. None: as for `Sandbox.run_many`.
        options: Those of `Sandbox`.
    """

    def __init__(
        self,
        profile: str | None = None,
        *,
        code: str = "code",
        stdin: str | None = None,
        concurrency: int | None = None,
        **options: Any,
    ) -> None:
        self._code, self._stdin = code, stdin
        self._sandbox = Sandbox(profile, **options)
        at_a_time = _options.count("concurrency", concurrency, 1)
        self._threads = ThreadPoolExecutor(at_a_time or default_concurrency(options.get("spares")))

    def __call__(self, batch: dict[str, Any]) -> dict[str, Any]:
        for column in (self._code, self._stdin):
            if column is not None and column not in batch:
                raise ValueError(f"there is no column {column!r}, but: {', '.join(batch)}")
        rows = range(len(batch[self._code]))
        results = self._threads.map(lambda row: self._run(batch, row), rows)
        columns: dict[str, list[Any]] = {name: [] for name in _COLUMNS}
        for result in results:
            error = result.error
            columns["status"].append(result.status)
            columns["stdout"].append(result.stdout)
            columns["stderr"].append(result.stderr)
            columns["value"].append(result.value_repr or "")
            columns["error"].append(f"{error.type}: {error.message}" if error else "")
            columns["wall_time"].append(result.usage.wall_time)
            columns["cpu_time"].append(result.usage.cpu_time)
        return {**batch, **columns}

    def _run(self, batch: dict[str, Any], row: int) -> Result:
        given = None if self._stdin is None else str(batch[self._stdin][row])
        return self._sandbox.run(str(batch[self._code][row]), stdin=given)


_COLUMNS = ("status", "stdout", "stderr", "value", "error", "wall_time", "cpu_time")
