"""The actor of `SandboxPool`, on a node of a Ray cluster. `belljar.ray` has imported Ray."""

from __future__ import annotations

import copy
import itertools
import os
import threading
import time
from collections.abc import Mapping
from typing import Any

import ray

from belljar import _host
from belljar._result import Result
from belljar._sandbox import Sandbox

# A zygote makes about this many workers while as many processors run and collect them.
_CPUS_OF_A_SANDBOX = 4
_MAX_CANCELLED = 10_000


class NodeSandbox:
    """The actor. Ray calls `run` in as many threads as programs may run at a time, and the other
    methods in threads of their own, so that they do not wait for programs."""

    def __init__(self, sandbox: Sandbox, concurrency: int) -> None:
        boxes = -(-concurrency // _CPUS_OF_A_SANDBOX)
        self._boxes = [sandbox, *(copy.copy(sandbox) for _ in range(boxes - 1))]
        self._turn = itertools.count()
        self._lock = threading.Lock()
        self._running: dict[int, _host.Canceller] = {}
        # Programs that were cancelled before they started, in order.
        self._cancelled: dict[int, None] = {}

    @ray.method(concurrency_group="control")
    def open(self) -> tuple[str, int] | Exception:
        """The id of the node and of this process, or why there is no sandbox."""
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
                if len(self._cancelled) > _MAX_CANCELLED:  # of calls that had ended
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
        cancellation = _host.Canceller()
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
