"""Sandboxes on the machines of a Ray cluster.

    with SandboxPool(timeout=5) as pool:          # an actor on each node, which holds a sandbox
        pool.run("6 * 7").result.value            # 42
        for execution in pool.map(programs):      # in order; at most so many ahead
            print(execution.index, execution.result.status)

    ray.data.from_items(rows).map_batches(BatchRunner, compute=ActorPoolStrategy(size=2))

The driver has one thread, the dispatcher, which alone knows the state of nodes and programs; the
others hand it events. A program goes to the node with the least to do, together with others if
they are short: a call of an actor costs about as much as a run. Ray restarts and repeats nothing
here, since it cannot know whether a program may run twice: the dispatcher replaces an actor that
was lost, and repeats what it held only as often as `retries` allows.

Ray itself trusts everyone who reaches its ports. Programs reach none: they are in a sandbox as
everywhere.
"""

from __future__ import annotations

import asyncio
import copy
import heapq
import inspect
import itertools
import threading
import time
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any, Self

try:
    import ray
except ModuleNotFoundError as missing:
    if missing.name != "ray":
        raise
    raise ModuleNotFoundError(
        "belljar.ray needs Ray: pip install 'belljar-sandbox[ray]'", name="ray"
    ) from missing
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from belljar import _host, _options
from belljar._errors import BelljarError
from belljar._options import Seconds
from belljar._result import Result
from belljar._sandbox import RunOptions, Sandbox
from belljar._threads import default_concurrency, starter

__all__ = ["BatchRunner", "DeadlineExceeded", "Execution", "ExecutionLost", "Node", "SandboxPool"]

_CALLED = {"functions", "stream"}
_OPTIONS = {"code"} | RunOptions.__annotations__.keys() - _CALLED - {"raise_on_error"}

Program = str | bytes | Mapping[str, Any]
"""Code, or the arguments of `Sandbox.run` by name, among them "code"."""

# A zygote makes about this many workers while as many processors run and collect them.
_CPUS_OF_A_SANDBOX = 4
_AHEAD = 2  # calls of a node for each program that it runs at a time: one runs, one waits for it
_SHORT, _LONG = 0.02, 0.1  # seconds: a call that took less gets more programs the next time
_LOOK_FOR_NODES = 5.0  # seconds
_LONGEST_PAUSE = 10.0  # seconds before an actor is replaced that has never answered
_MOST_FAILURES = 3  # of an actor to start, before those who wait are told
_MOST_CANCELLED = 10_000


class ExecutionLost(BelljarError):  # noqa: N818 - as SessionClosed
    """The actor or the node that held the program is gone, and with it the result: the program may
    have run, wholly, in part, or not at all."""


class DeadlineExceeded(BelljarError):  # noqa: N818 - as SessionClosed
    """The program had no result when its deadline passed. If it was running, it was killed."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What came of one program."""

    index: int
    """Its position among the programs of `map`, from 0."""
    attempts: int
    """How often it was handed to a node. More than 1: it may have run more than once."""
    node: str | None
    """Ray's id of the node that had it last. None: it was handed to none."""
    outcome: Result | None
    error: Exception | None
    """Why there is no outcome: it was lost, its deadline passed, or what `Sandbox.run` raised."""

    @property
    def result(self) -> Result:
        """The outcome; raises the error if there is none."""
        if self.error is not None:
            raise self.error
        assert self.outcome is not None
        return self.outcome


@dataclass(frozen=True, slots=True)
class Node:
    """An actor of the pool."""

    node: str | None
    """Ray's id of its node. None: it has not started."""
    pid: int | None
    """Of its process. None: it has not started."""
    concurrency: int
    """How many programs it runs at a time."""
    in_flight: int
    """How many programs it holds, running and waiting."""
    is_ready: bool
    error: str | None
    """Why its sandbox could not be opened."""


# --- on a node ------------------------------------------------------------------------------------


class _NodeSandbox:
    """The actor. Ray calls `run` in as many threads as programs may run at a time, and the other
    methods in threads of their own, so that they do not wait for programs."""

    def __init__(self, sandbox: Sandbox, concurrency: int) -> None:
        boxes = -(-concurrency // _CPUS_OF_A_SANDBOX)
        self._boxes = [sandbox, *(copy.copy(sandbox) for _ in range(boxes - 1))]
        self._turn = itertools.count()
        self._lock = threading.Lock()
        self._running: dict[int, _host.Cancellation] = {}
        # Those that are asked for before they start, in the order of asking.
        self._cancelled: dict[int, None] = {}

    @ray.method(concurrency_group="control")
    def open(self) -> tuple[str, int] | Exception:
        """The id of the node and of this process, or why there is no sandbox."""
        import os

        try:
            for box in self._boxes:
                box.wait_until_ready(120)
        except Exception as error:
            return error
        return ray.get_runtime_context().get_node_id(), os.getpid()

    @ray.method(concurrency_group="control")
    def cancel(self, numbers: list[int]) -> None:
        with self._lock:
            for number in numbers:
                if (cancellation := self._running.get(number)) is not None:
                    cancellation.cancel()
                    continue
                self._cancelled[number] = None
                if len(self._cancelled) > _MOST_CANCELLED:  # of calls that had ended before
                    del self._cancelled[next(iter(self._cancelled))]

    def run(
        self, common: Mapping[str, Any], programs: list[tuple[int, Mapping[str, Any]]]
    ) -> tuple[float, list[Result | Exception | None]]:
        """The seconds that it took, and what came of each. None: it was cancelled before."""
        started = time.monotonic()
        box = self._boxes[next(self._turn) % len(self._boxes)]
        results = [self._one(box, number, {**common, **own}) for number, own in programs]
        return time.monotonic() - started, results

    def _one(self, box: Sandbox, number: int, request: Any) -> Result | Exception | None:
        cancellation = _host.Cancellation()
        with self._lock:
            if number in self._cancelled:
                del self._cancelled[number]
                return None
            self._running[number] = cancellation
        try:
            return box._run(request, cancellation, raise_on_error=False)
        except Exception as error:
            return error
        finally:
            with self._lock:
                del self._running[number]


# --- in the driver --------------------------------------------------------------------------------


class _Job:
    """A program on its way. Only the dispatcher changes it."""

    __slots__ = (
        "attempts", "common", "deadline", "index", "is_settled", "node", "number", "own", "retries",
        "settle",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        index: int,
        common: Mapping[str, Any],
        own: Mapping[str, Any],
        retries: int,
        deadline: float | None,
        settle: Callable[[Execution], object],
    ) -> None:
        self.number, self.index, self.common, self.own = number, index, common, own
        self.retries, self.deadline, self.settle = retries, deadline, settle
        self.attempts = 0
        self.node: _Actor | None = None
        self.is_settled = False

    def end(self, outcome: Result | None, error: Exception | None) -> None:
        if not self.is_settled:
            self.is_settled = True
            where = None if self.node is None else self.node.node
            self.settle(Execution(self.index, self.attempts, where, outcome, error))


class _Actor:
    """What the dispatcher knows of an actor."""

    def __init__(self, key: str, handle: Any, concurrency: int, most: int) -> None:
        self.key, self.handle, self.concurrency = key, handle, concurrency
        self.node: str | None = None if key.startswith("#") else key
        self.pid: int | None = None
        self.calls: dict[int, list[_Job]] = {}
        self.most_calls = min(most, _AHEAD * concurrency)
        self.most_batch = max(1, most // self.most_calls)
        self.batch = 1
        self.is_ready = False
        self.error: Exception | None = None

    @property
    def free(self) -> int:
        return self.most_calls - len(self.calls) if self.is_ready else 0

    def learn(self, seconds: float, programs: int) -> None:
        """How many programs to hand over at a time, from how long the last call took."""
        if seconds < _SHORT and programs >= self.batch:
            self.batch = min(self.batch * 2, self.most_batch)
        elif seconds > _LONG:
            self.batch = max(1, self.batch // 2)


class SandboxPool:
    """Runs programs on all nodes of a Ray cluster, in sandboxes that are kept ready there.

    Takes the arguments of `Sandbox`, and:

    Args:
        actors: How many actors there are, which Ray spreads over its nodes. None: one on each node,
            also on those that join later.
        cpus: How many processors of Ray's each actor takes; it runs as many programs at a time.
            None: those of its node or, with `actors`, 1.
        in_flight: How many programs an actor holds at most, running and waiting. None: 32 for each
            that it runs at a time. Short programs are handed over several at a time; a lost actor
            loses what it holds.

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
        signature = inspect.signature(Sandbox)
        given = signature.bind(profile, **options)
        given.apply_defaults()
        self._sandbox = Sandbox._closed_until_used(**given.arguments)
        self._actors = _options.count("actors", actors, 1)
        self._cpus = _options.count("cpus", cpus, 1)
        self._in_flight = _options.count("in_flight", in_flight, 1)
        self._numbers = itertools.count()
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False
        # From here on, of the dispatcher alone.
        self._nodes: dict[str, _Actor] = {}
        self._replaced: dict[str, tuple[int, float]] = {}  # failures in a row, not before then
        self._capacity = 64  # of programs; callers read it
        self._waiting: deque[_Job] = deque()
        self._jobs: dict[int, _Job] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._call_numbers = itertools.count()
        self._next_look = 0.0
        self._ready: list[tuple[float | None, Future[None]]] = []
        self._error: BelljarError | None = None
        if not ray.is_initialized():
            ray.init()
        self._class = ray.remote(
            concurrency_groups={"control": 4}, max_restarts=0, max_task_retries=0
        )(_NodeSandbox)
        self._thread = threading.Thread(target=self._dispatch, name="belljar-ray", daemon=True)
        starter.start(self._thread)

    # --- the caller's threads ---------------------------------------------------------------------

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
            retries: How often it is repeated if its actor or node is lost: it may then have run
                more than once. A program that fails, or is stopped by a limit, is not repeated.
            deadline: In seconds or as "5s": when the result must be there, also if the program is
                still waiting for a node.
            options: Those of `Sandbox.run` except `functions` and `stream`, which are called in the
                process that runs the program.

        Raises:
            ExecutionLost, DeadlineExceeded: There is no result.
            ValueError, TypeError, BelljarError: As `Sandbox.run`.
        """
        future, job = self._future(code, retries, deadline, options)
        try:
            execution = future.result()
        except BaseException:
            self._cancel([job])
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
            self._cancel([job])
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
        """Runs programs on all nodes. Returns an iterator over what came of each.

        A program that was lost, or missed its deadline, does not end the iteration: its `error`
        says so. `programs` is consumed as results are, at most as many ahead as the nodes may hold.
        Closing the iterator kills the pending ones.

        Args:
            programs: Any number, each as code, or as the arguments of `run` in a dict:
                {"code": "print(input())", "stdin": "1"}.
            in_order: False: as they end.
            retries: As for `run`, of each.
            deadline: In seconds or as "5s", of each, from when it is taken from `programs`.
            options: As for `run`, of each that does not have its own.
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
        """Waits until the sandbox of every actor is open, or cannot be opened.

        Raises:
            BelljarError: They were not in time, for instance since Ray has no free processors for
                them, or no sandbox can be opened on any node; the message says why.
        """
        until = None if timeout is None else time.monotonic() + _seconds("timeout", timeout)
        future: Future[None] = Future()
        self._tell(lambda: self._ready.append((until, future)))
        future.result()

    def nodes(self) -> list[Node]:
        """The actors as they are now."""
        future: Future[list[Node]] = Future()
        self._tell(lambda: future.set_result([self._shown(each) for each in self._nodes.values()]))
        return future.result()

    def close(self) -> None:
        """Kills all programs and ends the actors. Calling it again does nothing."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._events.put(self._end)
        if threading.current_thread() is not self._thread:
            self._thread.join()

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
        """Checked here, where the caller is."""
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
    ) -> tuple[Future[Execution], _Job]:
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
    ) -> _Job:
        until = None if limit is None else time.monotonic() + limit
        job = _Job(next(self._numbers), index, common, own, retries, until, settle)
        self._tell(lambda: self._take(job))
        return job

    def _tell(self, event: Callable[[], None]) -> None:
        with self._lock:  # an event after the last one would never be read
            if self._is_closed:
                raise BelljarError("run on Ray", "run on Ray: the pool is closed")
            self._events.put(event)

    def _cancel(self, jobs: list[_Job]) -> None:
        with self._lock:
            if jobs and not self._is_closed:
                self._events.put(lambda: self._give_up(jobs, None))

    @staticmethod
    def _shown(actor: _Actor) -> Node:
        held = sum(len(jobs) for jobs in actor.calls.values())
        error = None if actor.error is None else str(actor.error)
        return Node(actor.node, actor.pid, actor.concurrency, held, actor.is_ready, error)

    # --- the dispatcher ---------------------------------------------------------------------------

    def _dispatch(self) -> None:
        try:
            while not (self._is_closed and not self._nodes and self._events.empty()):
                self._read_events()
                if not self._is_closed:
                    self._look_for_nodes()
                    self._expire()
                    self._hand_over()
                    self._answer_ready()
        except BaseException as error:
            # Whoever waits must not wait for ever.
            with self._lock:
                self._is_closed = True
            what = "run on Ray"
            self._error = BelljarError(what, f"{what}: the pool has failed: {error!r}")
            self._end()
            while True:
                try:
                    self._events.get_nowait()()
                except Empty:
                    break
            self._end()

    def _read_events(self) -> None:
        now = time.monotonic()
        until = [self._next_look, *(each[0] for each in self._deadlines[:1])]
        until += [each for each, _ in self._ready if each is not None]
        try:
            event = self._events.get(timeout=max(0.0, min(until) - now))
            while True:
                event()
                event = self._events.get_nowait()
        except Empty:
            pass

    def _take(self, job: _Job) -> None:
        self._jobs[job.number] = job
        self._waiting.append(job)
        if job.deadline is not None:
            heapq.heappush(self._deadlines, (job.deadline, job.number))

    def _settle(self, job: _Job, outcome: Result | None, error: Exception | None) -> None:
        self._jobs.pop(job.number, None)
        job.end(outcome, error)

    def _look_for_nodes(self) -> None:
        """An actor for each node, or the number that was asked for."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_FOR_NODES
        if self._actors is not None:
            wanted = {f"#{i}": self._cpus or 1 for i in range(self._actors)}
        else:
            wanted = {
                each["NodeID"]: self._cpus or int(each["Resources"]["CPU"])
                for each in ray.nodes()
                if each["Alive"] and each["Resources"].get("CPU", 0) >= (self._cpus or 1)
            }
        for key in self._nodes.keys() - wanted.keys():
            self._lose(self._nodes[key], "its node has left the cluster")
        for key in self._replaced.keys() - wanted.keys():
            del self._replaced[key]
        for key, cpus in wanted.items():
            not_before = self._replaced.get(key, (0, 0.0))[1]
            if key not in self._nodes:
                if now >= not_before:
                    self._start(key, cpus)
                else:
                    self._next_look = min(self._next_look, not_before)
        held = sum(each.most_calls * each.most_batch for each in self._nodes.values())
        self._capacity = max(64, held)
        if not wanted and self._waiting:
            what = "run on Ray"
            self._fail_waiting(BelljarError(what, f"{what}: no node has the processors that are "
                                                  "asked for"))  # fmt: skip

    def _start(self, key: str, cpus: int) -> None:
        placed = (
            "SPREAD" if key.startswith("#") else NodeAffinitySchedulingStrategy(key, soft=False)
        )
        handle = self._class.options(
            num_cpus=cpus, max_concurrency=cpus, scheduling_strategy=placed
        ).remote(self._sandbox, cpus)
        actor = self._nodes[key] = _Actor(key, handle, cpus, self._in_flight or 32 * cpus)
        self._when_done(handle.open.remote(), lambda future: self._opened(actor, future))

    def _when_done(self, reference: Any, then: Callable[[Future[Any]], None]) -> None:
        reference.future().add_done_callback(lambda future: self._events.put(lambda: then(future)))

    def _opened(self, actor: _Actor, future: Future[Any]) -> None:
        if self._nodes.get(actor.key) is not actor:
            return
        error = future.exception()
        if error is not None:
            self._lose(actor, str(error).partition("\n")[0])
            return
        opened = future.result()
        if isinstance(opened, Exception):
            actor.error = opened
            return
        actor.node, actor.pid = opened
        actor.is_ready = True
        self._replaced.pop(actor.key, None)

    def _hand_over(self) -> None:
        nodes = [each for each in self._nodes.values() if each.free]
        while self._waiting and nodes:
            actor = min(nodes, key=lambda each: len(each.calls) / each.concurrency)
            # No more for one than for each of the calls that could be made.
            share = -(-len(self._waiting) // sum(each.free for each in nodes))
            jobs = self._next_jobs(min(actor.batch, share))
            if jobs:
                self._call(actor, jobs)
            if not actor.free:
                nodes.remove(actor)
        errors = [each.error for each in self._nodes.values() if each.error is not None]
        if errors and len(errors) == len(self._nodes):
            self._fail_waiting(errors[0])

    def _next_jobs(self, most: int) -> list[_Job]:
        """Those next in turn that have their options in common."""
        jobs: list[_Job] = []
        while self._waiting and len(jobs) < most:
            job = self._waiting[0]
            if not job.is_settled:
                if jobs and job.common is not jobs[0].common:
                    break
                jobs.append(job)
            self._waiting.popleft()
        return jobs

    def _call(self, actor: _Actor, jobs: list[_Job]) -> None:
        number = next(self._call_numbers)
        for job in jobs:
            job.attempts += 1
            job.node = actor
        actor.calls[number] = jobs
        programs = [(job.number, job.own) for job in jobs]
        reference = actor.handle.run.remote(jobs[0].common, programs)
        self._when_done(reference, lambda future: self._called(actor, number, future))

    def _called(self, actor: _Actor, number: int, future: Future[Any]) -> None:
        jobs = actor.calls.get(number)
        if jobs is None:  # its actor was given up in the meantime
            return
        error = future.exception()
        if isinstance(error, RayError) and not isinstance(error, RayTaskError):
            self._lose(actor, type(error).__name__)
            return
        del actor.calls[number]
        if error is not None:
            what = "run on Ray"
            for job in jobs:
                self._settle(job, None, BelljarError(what, f"{what}: {error}"))
            return
        seconds, results = future.result()
        actor.learn(seconds, len(jobs))
        for job, result in zip(jobs, results, strict=True):
            if isinstance(result, Exception):
                self._settle(job, None, result)
            else:
                self._settle(job, result, None)  # None only if it is settled already

    def _lose(self, actor: _Actor, why: str) -> None:
        """Gives an actor up. What it holds is repeated or said to be lost."""
        del self._nodes[actor.key]
        self._kill(actor)
        failures = 0 if actor.is_ready else self._replaced.get(actor.key, (0, 0.0))[0] + 1
        pause = min(_LONGEST_PAUSE, 0.05 * 2**failures)
        self._replaced[actor.key] = (failures, time.monotonic() + pause)
        self._next_look = 0.0
        again = []
        for job in itertools.chain.from_iterable(actor.calls.values()):
            if job.is_settled:
                continue
            if job.attempts <= job.retries:
                again.append(job)
                continue
            what = "run on Ray"
            text = (
                f"{what}: the actor that held the program is gone ({why}); the program may have "
                f"run, wholly or in part (attempt {job.attempts})"
            )
            self._settle(job, None, ExecutionLost(what, text))
        actor.calls.clear()
        self._waiting.extendleft(reversed(again))
        if failures >= _MOST_FAILURES and not any(each.is_ready for each in self._nodes.values()):
            what = "run on Ray"
            self._fail_waiting(BelljarError(what, f"{what}: an actor does not start: {why}"))

    @staticmethod
    def _kill(actor: _Actor) -> None:
        try:
            ray.kill(actor.handle, no_restart=True)
        except Exception:
            pass  # it is gone, or Ray is

    def _expire(self) -> None:
        now = time.monotonic()
        late = []
        while self._deadlines and self._deadlines[0][0] <= now:
            job = self._jobs.get(heapq.heappop(self._deadlines)[1])
            if job is not None:
                late.append(job)
        if late:
            self._give_up(late, "its deadline has passed")

    def _give_up(self, jobs: list[_Job], why: str | None) -> None:
        """Kills those that are running. `why` is None if nobody waits for them."""
        by_actor: dict[_Actor, list[int]] = {}
        for job in jobs:
            if job.is_settled or job.number not in self._jobs:
                continue
            held = job.node is not None and self._nodes.get(job.node.key) is job.node
            if held and job.node is not None:
                by_actor.setdefault(job.node, []).append(job.number)
            what = "run on Ray"
            text = f"{what}: {why or 'it was cancelled'} (attempts: {job.attempts})"
            self._settle(
                job, None, DeadlineExceeded(what, text) if why else BelljarError(what, text)
            )
        for actor, numbers in by_actor.items():
            actor.handle.cancel.remote(numbers)

    def _fail_waiting(self, error: Exception) -> None:
        while self._waiting:
            self._settle(self._waiting.popleft(), None, error)

    def _answer_ready(self) -> None:
        if not self._ready:
            return
        nodes = list(self._nodes.values())
        is_ready = bool(nodes) and all(each.is_ready or each.error for each in nodes)
        now = time.monotonic()
        still = []
        for until, future in self._ready:
            if is_ready and any(each.is_ready for each in nodes):
                future.set_result(None)
            elif is_ready:
                future.set_exception(next(each.error for each in nodes if each.error))
            elif until is not None and now >= until:
                what = "wait for the pool"
                ready = sum(each.is_ready for each in nodes)
                text = (
                    f"{what}: {ready} of {len(nodes)} actors are ready; has Ray as many free "
                    "processors on each node as they take (cpus=)?"
                )
                future.set_exception(BelljarError(what, text))
            else:
                still.append((until, future))
        self._ready = still

    def _end(self) -> None:
        what = "run on Ray"
        error = self._error or BelljarError(what, f"{what}: the pool was closed")
        for job in list(self._jobs.values()):
            self._settle(job, None, error)
        self._waiting.clear()
        for _, future in self._ready:
            future.set_exception(error)
        self._ready = []
        for actor in self._nodes.values():
            self._kill(actor)
        self._nodes.clear()


class _Pending:
    """The programs of one `map` that are ahead of the results. Of the caller's thread, except for
    what `settle` does."""

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
        self._jobs: dict[int, _Job] = {}
        self._ended: dict[int, Execution] = {}

    def wants_more(self) -> bool:
        return not self.is_last and self._submitted - self._yielded < self._pool._capacity

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
        self._pool._cancel(list(self._jobs.values()))


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
    """For `Dataset.map_batches`: runs the program in each row, and adds what came of it.

        ds.map_batches(BatchRunner, compute=ActorPoolStrategy(size=2), batch_size=64,
                       fn_constructor_kwargs={"code": "program", "timeout": 5})

    Adds the columns `status`, `stdout`, `stderr`, `value` (its repr), `error`, `wall_time` and
    `cpu_time`. Each actor of Ray Data that holds one opens a sandbox.

    Args:
        code: The column with the program.
        stdin: The column with its standard input. None: it has none.
        concurrency: How many programs run at a time. None: as for `Sandbox.run_many`.
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
        most = _options.count("concurrency", concurrency, 1)
        self._threads = ThreadPoolExecutor(most or default_concurrency(options.get("spares")))

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
