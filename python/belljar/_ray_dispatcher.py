"""The driver's side of `SandboxPool`: assigns programs to nodes, and handles those whose node is
lost. `belljar.ray` has imported Ray.
"""

from __future__ import annotations

import heapq
import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from belljar._errors import BelljarError
from belljar._ray_node import NodeSandbox
from belljar._result import Result
from belljar._sandbox import Sandbox
from belljar._threads import starter

_AHEAD = 2  # calls per program that a node runs at a time: one runs, one waits
_SHORT, _LONG = 0.02, 0.1  # seconds: a call that took less gets more programs the next time
_LOOK_FOR_NODES = 5.0  # seconds
_LONGEST_PAUSE = 10.0  # seconds before an actor is replaced that has never answered
_MAX_FAILURES = 3  # in a row of an actor to start, before waiting programs fail


class ExecutionLost(BelljarError):  # noqa: N818 - as SessionClosed
    """The actor or node that held the program was lost, and the result with it. The program may
    have run completely, in part, or not at all."""


class DeadlineExceeded(BelljarError):  # noqa: N818 - as SessionClosed
    """The deadline passed before the program had a result. If it was running, it was killed."""


@dataclass(frozen=True, slots=True)
class Execution:
    """The result of one program, or why there is none."""

    index: int
    """Its position among the programs of `map`, from 0."""
    attempts: int
    """How often it was sent to a node. More than 1: it may have run more than once."""
    node: str | None
    """Ray's id of the node that had it last. None: it was not sent to any."""
    outcome: Result | None
    error: Exception | None
    """Why there is no outcome: the program was lost, its deadline passed, or `Sandbox.run`
    raised."""

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
    """The id of its process. None: it has not started."""
    concurrency: int
    """How many programs it runs at a time."""
    in_flight: int
    """How many programs it holds, running and waiting."""
    is_ready: bool
    error: str | None
    """Why its sandbox could not be opened."""


class Job:
    """A program that has no result yet. Only the dispatcher changes it."""

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

    def __init__(self, key: str, handle: Any, concurrency: int, in_flight: int) -> None:
        self.key, self.handle, self.concurrency = key, handle, concurrency
        self.node: str | None = None if key.startswith("#") else key
        self.pid: int | None = None
        self.calls: dict[int, list[Job]] = {}
        self.max_calls = min(in_flight, _AHEAD * concurrency)
        self.max_batch = max(1, in_flight // self.max_calls)
        self.batch = 1
        self.is_ready = False
        self.error: Exception | None = None

    @property
    def free(self) -> int:
        return self.max_calls - len(self.calls) if self.is_ready else 0

    def learn(self, seconds: float, programs: int) -> None:
        """Adapts how many programs a call gets to how long the last one took."""
        if seconds < _SHORT and programs >= self.batch:
            self.batch = min(self.batch * 2, self.max_batch)
        elif seconds > _LONG:
            self.batch = max(1, self.batch // 2)


class Dispatcher:
    """The thread that knows the state of nodes and programs. Others post events to it.

    Takes a sandbox that is not open, and arguments of `SandboxPool`.
    """

    def __init__(
        self, sandbox: Sandbox, actors: int | None, cpus: int | None, in_flight: int | None
    ) -> None:
        self.capacity = 64  # of programs; callers read it
        self._sandbox, self._actors = sandbox, actors
        self._cpus, self._in_flight = cpus, in_flight
        self._events: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_closed = False
        # From here on: only for the dispatcher's thread.
        self._nodes: dict[str, _Actor] = {}
        self._replaced: dict[str, tuple[int, float]] = {}  # failures in a row, not before then
        self._waiting: deque[Job] = deque()
        self._jobs: dict[int, Job] = {}
        self._deadlines: list[tuple[float, int]] = []
        self._call_numbers = itertools.count()
        self._next_look = 0.0
        self._ready: list[tuple[float | None, Future[None]]] = []
        self._error: BelljarError | None = None
        if not ray.is_initialized():
            ray.init()
        self._class = ray.remote(
            concurrency_groups={"control": 4}, max_restarts=0, max_task_retries=0
        )(NodeSandbox)
        self._thread = threading.Thread(target=self._dispatch, name="belljar-ray", daemon=True)
        starter.start(self._thread)

    # --- for other threads ------------------------------------------------------------------------

    def submit(self, job: Job) -> None:
        self._post(lambda: self._take(job))

    def cancel(self, jobs: list[Job]) -> None:
        with self._lock:
            if jobs and not self._is_closed:
                self._events.put(lambda: self._give_up(jobs, None))

    def wait_until_ready(self, until: float | None) -> None:
        future: Future[None] = Future()
        self._post(lambda: self._ready.append((until, future)))
        future.result()

    def nodes(self) -> list[Node]:
        future: Future[list[Node]] = Future()
        self._post(lambda: future.set_result([_node_of(each) for each in self._nodes.values()]))
        return future.result()

    def close(self) -> None:
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._events.put(self._end)
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _post(self, event: Callable[[], None]) -> None:
        with self._lock:  # an event after the last one would never be read
            if self._is_closed:
                raise BelljarError("run on Ray", "run on Ray: the pool is closed")
            self._events.put(event)

    # --- for its own thread -----------------------------------------------------------------------

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
            # Nobody must wait for ever.
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

    def _take(self, job: Job) -> None:
        self._jobs[job.number] = job
        self._waiting.append(job)
        if job.deadline is not None:
            heapq.heappush(self._deadlines, (job.deadline, job.number))

    def _settle(self, job: Job, outcome: Result | None, error: Exception | None) -> None:
        self._jobs.pop(job.number, None)
        job.end(outcome, error)

    def _look_for_nodes(self) -> None:
        """Keeps an actor on each node, or the requested number."""
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
        held = sum(each.max_calls * each.max_batch for each in self._nodes.values())
        self.capacity = max(64, held)
        if not wanted and self._waiting:
            what = "run on Ray"
            self._fail_waiting(BelljarError(what, f"{what}: no node has the requested "
                                                  "processors"))  # fmt: skip

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

    def _next_jobs(self, maximum: int) -> list[Job]:
        """The next ones that share their common options."""
        jobs: list[Job] = []
        while self._waiting and len(jobs) < maximum:
            job = self._waiting[0]
            if not job.is_settled:
                if jobs and job.common is not jobs[0].common:
                    break
                jobs.append(job)
            self._waiting.popleft()
        return jobs

    def _call(self, actor: _Actor, jobs: list[Job]) -> None:
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
        if failures >= _MAX_FAILURES and not any(each.is_ready for each in self._nodes.values()):
            what = "run on Ray"
            self._fail_waiting(BelljarError(what, f"{what}: an actor does not start: {why}"))

    @staticmethod
    def _kill(actor: _Actor) -> None:
        try:
            ray.kill(actor.handle, no_restart=True)
        except Exception:
            pass  # it has ended, or Ray has

    def _expire(self) -> None:
        now = time.monotonic()
        late = []
        while self._deadlines and self._deadlines[0][0] <= now:
            job = self._jobs.get(heapq.heappop(self._deadlines)[1])
            if job is not None:
                late.append(job)
        if late:
            self._give_up(late, "its deadline has passed")

    def _give_up(self, jobs: list[Job], why: str | None) -> None:
        """Ends these programs, and kills those that are running. `why` is None if nobody waits for
        them."""
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


def _node_of(actor: _Actor) -> Node:
    held = sum(len(jobs) for jobs in actor.calls.values())
    error = None if actor.error is None else str(actor.error)
    return Node(actor.node, actor.pid, actor.concurrency, held, actor.is_ready, error)
