"""The rest of multiprocessing, for guests: processes, queues, pipes and shared values, in threads
of the program. See multiprocessing.py.
"""

from __future__ import annotations

import itertools
from array import array
from typing import Any

from . import queue, threading
from .objects import its_own_only

_numbers = itertools.count(1)


@its_own_only
class Process(threading.Thread):
    """multiprocessing.Process: a thread."""

    def __init__(
        self, group: Any = None, target: Any = None, name: Any = None, args: Any = (),
        kwargs: Any = None, *, daemon: Any = None,
    ) -> None:  # fmt: skip
        number = next(_numbers)
        threading.Thread.__init__(
            self, None, target, f"Process-{number}" if name is None else name, args,
            {} if kwargs is None else kwargs, daemon=daemon,
        )  # fmt: skip

    @property
    def pid(self) -> Any:
        """A number, once it has started."""
        return None if self.ident is None else self.ident + 1

    @property
    def exitcode(self) -> Any:
        """0 once it has ended."""
        return None if self.ident is None or self.is_alive() else 0

    def terminate(self) -> None:
        """Refused while it runs: nobody can stop a thread."""
        if self.is_alive():
            raise PermissionError(
                "[BJ502] a process is a thread here, and cannot be stopped: let its function "
                "return, for example when a threading.Event is set"
            )

    kill = terminate

    def close(self) -> None:
        """Nothing: there is nothing to release."""

    def __repr__(self) -> str:
        state = "initial" if self.ident is None else "started" if self.is_alive() else "stopped"
        return f"<{type(self).__name__} name={self.name!r} {state}>"


@its_own_only
class Queue(queue.Queue):
    """multiprocessing.Queue and JoinableQueue."""

    def close(self) -> None:
        """Nothing: no process has the other end."""

    join_thread = cancel_join_thread = close


@its_own_only
class SimpleQueue:
    """multiprocessing.SimpleQueue."""

    __slots__ = ("_items",)

    def __init__(self) -> None:
        self._items: Any = queue.SimpleQueue()

    def put(self, obj: Any) -> None:
        """Adds an object."""
        self._items.put(obj)

    def get(self) -> Any:
        """Waits for an object and takes it."""
        return self._items.get()

    def empty(self) -> bool:
        """Whether there is none."""
        return self._items.empty()

    def close(self) -> None:
        """Nothing."""


@its_own_only
class Connection:
    """An end of a Pipe()."""

    __slots__ = ("_in", "_out")

    def __init__(self, incoming: Any, outgoing: Any) -> None:
        self._in, self._out = incoming, outgoing

    def send(self, obj: Any) -> None:
        """Sends an object to the other end."""
        if self._out is None:
            raise OSError("connection is read-only")
        self._out.put(obj)

    def recv(self) -> Any:
        """Waits for an object of the other end."""
        if self._in is None:
            raise OSError("connection is write-only")
        obj = self._in.get()
        if obj is _END:
            raise EOFError
        return obj

    send_bytes, recv_bytes = send, recv

    def poll(self, timeout: Any = 0.0) -> bool:
        """Whether recv() would return at once."""
        return self._in is not None and not self._in.empty()

    def close(self) -> None:
        """Ends what the other end receives."""
        if self._out is not None:
            self._out.put(_END)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_END = object()


def Pipe(duplex: Any = True) -> Any:  # noqa: N802
    """Two ends, the first only for receiving unless `duplex`."""
    there: Any = queue.SimpleQueue()
    back: Any = queue.SimpleQueue() if duplex else None
    return Connection(there, back), Connection(back, there)


@its_own_only
class Value:
    """multiprocessing.Value."""

    __slots__ = ("_lock", "value")

    def __init__(self, typecode_or_type: Any, *args: Any, lock: Any = True) -> None:
        self._lock: Any = threading.RLock() if lock is True or not lock else lock
        self.value = args[0] if args else 0

    def get_lock(self) -> Any:
        """The lock around it."""
        return self._lock

    def get_obj(self) -> Any:
        """Itself."""
        return self

    def acquire(self, *args: Any) -> Any:
        """get_lock().acquire()."""
        return self._lock.acquire(*args)

    def release(self) -> None:
        """get_lock().release()."""
        self._lock.release()

    def __enter__(self) -> Any:
        return self._lock.__enter__()

    def __exit__(self, *error: Any) -> None:
        self._lock.__exit__(*error)


@its_own_only
class Array:
    """multiprocessing.Array."""

    __slots__ = ("_items", "_lock")

    def __init__(
        self, typecode_or_type: Any, size_or_initializer: Any, *, lock: Any = True
    ) -> None:
        self._lock: Any = threading.RLock() if lock is True or not lock else lock
        given = size_or_initializer
        self._items = array(typecode_or_type, [0] * given if type(given) is int else list(given))

    def get_lock(self) -> Any:
        """The lock around it."""
        return self._lock

    def get_obj(self) -> Any:
        """Itself."""
        return self

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: Any) -> Any:
        found = self._items[index]
        return found.tolist() if type(found) is array else found

    def __setitem__(self, index: Any, value: Any) -> None:
        if type(index) is slice:
            value = array(self._items.typecode, value)
        self._items[index] = value

    def __iter__(self) -> Any:
        return iter(self._items)


RawValue, RawArray = Value, Array


@its_own_only
class _Manager:
    """What Manager() returns: objects that all processes share, as all objects are."""

    __slots__ = ()

    def dict(self, *args: Any, **named: Any) -> Any:
        """A dict."""
        return {**dict(*args), **named}

    def list(self, *args: Any) -> Any:
        """A list."""
        return list(*args)

    def Queue(self, maxsize: Any = 0) -> Any:  # noqa: N802
        """A queue."""
        return Queue(maxsize)

    JoinableQueue = Queue

    def Lock(self) -> Any:  # noqa: N802
        """A lock."""
        return threading.Lock()

    def RLock(self) -> Any:  # noqa: N802
        """A lock that its holder may take again."""
        return threading.RLock()

    def Event(self) -> Any:  # noqa: N802
        """An event."""
        return threading.Event()

    def Semaphore(self, value: Any = 1) -> Any:  # noqa: N802
        """A semaphore."""
        return threading.Semaphore(value)

    def Value(self, typecode: Any, value: Any) -> Any:  # noqa: N802
        """A value."""
        return Value(typecode, value)

    def Array(self, typecode: Any, sequence: Any) -> Any:  # noqa: N802
        """An array."""
        return Array(typecode, sequence)

    def start(self) -> None:
        """Nothing."""

    shutdown = start

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def Manager() -> Any:  # noqa: N802
    """multiprocessing.Manager."""
    return _Manager()
