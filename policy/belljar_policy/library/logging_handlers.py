"""logging.handlers, for guests: records to a queue, to a buffer and, with files, to files that are
rotated. Nothing is sent anywhere.
"""

from __future__ import annotations

import os
import time
from typing import Any

from . import logging, threading
from .objects import its_own_only

DEFAULT_TCP_LOGGING_PORT = 9020


@its_own_only
class BufferingHandler(logging.Handler):
    """logging.handlers.BufferingHandler."""

    def __init__(self, capacity: Any) -> None:
        logging.Handler.__init__(self)
        self.capacity = capacity
        self.buffer: list[Any] = []

    def shouldFlush(self, record: Any) -> bool:  # noqa: N802
        """Whether the buffer is full."""
        return len(self.buffer) >= self.capacity

    def emit(self, record: Any) -> None:
        """Keeps the record."""
        self.buffer.append(record)
        if self.shouldFlush(record):
            self.flush()

    def flush(self) -> None:
        """Forgets the records."""
        self.buffer = []

    def close(self) -> None:
        """flush()."""
        self.flush()


@its_own_only
class MemoryHandler(BufferingHandler):
    """logging.handlers.MemoryHandler."""

    def __init__(
        self, capacity: Any, flushLevel: Any = logging.ERROR, target: Any = None,  # noqa: N803
        flushOnClose: Any = True,  # noqa: N803
    ) -> None:  # fmt: skip
        BufferingHandler.__init__(self, capacity)
        self.flushLevel = flushLevel
        self.target = target
        self.flushOnClose = flushOnClose

    def shouldFlush(self, record: Any) -> bool:  # noqa: N802
        """Whether the buffer is full, or the record serious."""
        return len(self.buffer) >= self.capacity or record.levelno >= self.flushLevel

    def setTarget(self, target: Any) -> None:  # noqa: N802
        """Sets the handler that gets the records."""
        self.target = target

    def flush(self) -> None:
        """Hands the records to the target."""
        if self.target is not None:
            records, self.buffer = self.buffer, []
            for record in records:
                self.target.handle(record)

    def close(self) -> None:
        """Hands on what is left."""
        if self.flushOnClose:
            self.flush()
        self.target, self.buffer = None, []


@its_own_only
class QueueHandler(logging.Handler):
    """logging.handlers.QueueHandler."""

    def __init__(self, queue: Any) -> None:
        logging.Handler.__init__(self)
        self.queue = queue
        self.listener: Any = None

    def enqueue(self, record: Any) -> None:
        """Puts a record into the queue."""
        self.queue.put_nowait(record)

    def prepare(self, record: Any) -> Any:
        """The record with its text as its message."""
        text = self.format(record)
        record.message = record.msg = text
        record.args = record.exc_info = record.exc_text = record.stack_info = None
        return record

    def emit(self, record: Any) -> None:
        """Puts the record into the queue."""
        try:
            self.enqueue(self.prepare(record))
        except Exception:
            self.handleError(record)


@its_own_only
class QueueListener:
    """logging.handlers.QueueListener."""

    def __init__(
        self, queue: Any, *handlers: Any, respect_handler_level: Any = False
    ) -> None:  # fmt: skip
        self.queue = queue
        self.handlers = handlers
        self.respect_handler_level = respect_handler_level
        self._thread: Any = None

    def start(self) -> None:
        """Starts a thread that handles the records."""
        self._thread = threading.Thread(target=lambda: self._monitor(), daemon=True)
        self._thread.start()

    def handle(self, record: Any) -> None:
        """Gives the record to the handlers."""
        for handler in self.handlers:
            if not self.respect_handler_level or record.levelno >= handler.level:
                handler.handle(record)

    def _monitor(self) -> None:
        while True:
            record = self.queue.get()
            if record is None:
                return
            self.handle(record)

    def stop(self) -> None:
        """Ends the thread, after the records that are there."""
        if self._thread is not None:
            self.queue.put_nowait(None)
            self._thread.join()
            self._thread = None


@its_own_only
class BaseRotatingHandler(logging.FileHandler):
    """logging.handlers.BaseRotatingHandler."""

    namer: Any = None
    rotator: Any = None

    def shouldRollover(self, record: Any) -> Any:  # noqa: N802
        """For subclasses: whether the record belongs into a new file."""
        raise NotImplementedError

    def doRollover(self) -> None:  # noqa: N802
        """For subclasses: begins a new file."""
        raise NotImplementedError

    def rotation_filename(self, default_name: Any) -> Any:
        """The name of an older file."""
        return default_name if self.namer is None else self.namer(default_name)

    def rotate(self, source: Any, dest: Any) -> None:
        """Renames a file."""
        if self.rotator is not None:
            self.rotator(source, dest)
        elif os.path.exists(source):
            os.replace(source, dest)

    def emit(self, record: Any) -> None:
        """Writes the record, into a new file if it is time for one."""
        try:
            if self.shouldRollover(record):
                self.doRollover()
        except Exception:
            self.handleError(record)
        logging.FileHandler.emit(self, record)


@its_own_only
class RotatingFileHandler(BaseRotatingHandler):
    """logging.handlers.RotatingFileHandler."""

    def __init__(
        self, filename: Any, mode: Any = "a", maxBytes: Any = 0, backupCount: Any = 0,  # noqa: N803
        encoding: Any = None, delay: Any = False, errors: Any = None,
    ) -> None:  # fmt: skip
        self.maxBytes, self.backupCount = maxBytes, backupCount
        mode = "a" if maxBytes > 0 else mode
        logging.FileHandler.__init__(self, filename, mode, encoding, delay, errors)

    def shouldRollover(self, record: Any) -> bool:  # noqa: N802
        """Whether the file would become too large."""
        if self.maxBytes <= 0:
            return False
        if self.stream is None:
            self.stream = self._open()
        self.stream.seek(0, 2)
        return self.stream.tell() + len(f"{self.format(record)}\n") >= self.maxBytes

    def doRollover(self) -> None:  # noqa: N802
        """Numbers the older files anew."""
        logging.FileHandler.close(self)
        if self.backupCount > 0:
            for number in range(self.backupCount - 1, 0, -1):
                source = self.rotation_filename(f"{self.baseFilename}.{number}")
                if os.path.exists(source):
                    os.replace(source, self.rotation_filename(f"{self.baseFilename}.{number + 1}"))
            self.rotate(self.baseFilename, self.rotation_filename(f"{self.baseFilename}.1"))
        self.stream = self._open()


_INTERVALS = {"S": (1, "%Y-%m-%d_%H-%M-%S"), "M": (60, "%Y-%m-%d_%H-%M"),
              "H": (3600, "%Y-%m-%d_%H")}  # fmt: skip


@its_own_only
class TimedRotatingFileHandler(BaseRotatingHandler):
    """logging.handlers.TimedRotatingFileHandler. A new file begins when the interval is over since
    the handler was made."""

    def __init__(
        self, filename: Any, when: Any = "h", interval: Any = 1, backupCount: Any = 0,  # noqa: N803
        encoding: Any = None, delay: Any = False, utc: Any = False, atTime: Any = None,  # noqa: N803
        errors: Any = None,
    ) -> None:  # fmt: skip
        self.when, self.backupCount, self.utc, self.atTime = when.upper(), backupCount, utc, atTime
        seconds, self.suffix = _INTERVALS.get(self.when, (86400, "%Y-%m-%d"))
        if self.when.startswith("W"):
            seconds *= 7
        elif self.when not in (*_INTERVALS, "D", "MIDNIGHT"):
            raise ValueError(f"Invalid rollover interval specified: {self.when}")
        self.interval = seconds * interval
        self.rolloverAt = int(time.time()) + self.interval
        logging.FileHandler.__init__(self, filename, "a", encoding, delay, errors)

    def shouldRollover(self, record: Any) -> bool:  # noqa: N802
        """Whether the interval is over."""
        return time.time() >= self.rolloverAt

    def getFilesToDelete(self) -> list[str]:  # noqa: N802
        """The older files that are too many."""
        folder, name = os.path.split(self.baseFilename)
        found = sorted(each for each in os.listdir(folder) if each.startswith(f"{name}."))
        return [os.path.join(folder, each) for each in found[: -self.backupCount]]

    def doRollover(self) -> None:  # noqa: N802
        """Names the file after its time."""
        logging.FileHandler.close(self)
        began = self.rolloverAt - self.interval
        parts = time.gmtime(began) if self.utc else time.localtime(began)
        name = f"{self.baseFilename}.{time.strftime(self.suffix, parts)}"
        self.rotate(self.baseFilename, self.rotation_filename(name))
        if self.backupCount > 0:
            for each in self.getFilesToDelete():
                os.remove(each)
        self.stream = self._open()
        while self.rolloverAt <= time.time():
            self.rolloverAt += self.interval
