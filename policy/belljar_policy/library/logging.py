"""logging, for guests: writes records to stderr and to streams of the program.

A smaller implementation of our own: no files or sockets, and records only know the
program's frames.
"""

from __future__ import annotations

import os
import re
import sys
import time
from collections.abc import Callable
from string import Template
from typing import Any, NamedTuple

from . import scheduler, traceback
from .objects import is_a, its_own_only
from .program import place_of_caller
from .streams import of_interpreter

CRITICAL = FATAL = 50
ERROR = 40
WARNING = WARN = 30
INFO = 20
DEBUG = 10
NOTSET = 0
BASIC_FORMAT = "%(levelname)s:%(name)s:%(message)s"

_level_names: dict[Any, Any] = {
    CRITICAL: "CRITICAL",
    ERROR: "ERROR",
    WARNING: "WARNING",
    INFO: "INFO",
    DEBUG: "DEBUG",
    NOTSET: "NOTSET",
}
_levels: dict[Any, Any] = {
    **{name: level for level, name in _level_names.items()},
    "FATAL": FATAL,
    "WARN": WARN,
}
_started = time.time()
_has_files = [False]


def reduce(has_files: bool) -> None:
    """Zygote, before the freeze."""
    _has_files[0] = has_files


def getLevelName(level: Any) -> Any:  # noqa: N802
    """The name of a level, or the level of a name."""
    found = _level_names.get(level, _levels.get(level))
    return f"Level {level}" if found is None else found


def getLevelNamesMapping() -> dict[Any, Any]:  # noqa: N802
    """All levels by name."""
    return dict(_levels)


def addLevelName(level: Any, levelName: Any) -> None:  # noqa: N802, N803
    """Sets the name of a level."""
    _level_names[level] = levelName
    _levels[levelName] = level


def check_level(level: Any) -> int:
    """The number of a level given as a number or a name."""
    if type(level) is int:
        return level
    if is_a(level, int):
        return int.__index__(level)
    if type(level) is not str:
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    if level not in _levels:
        raise ValueError(f"Unknown level: {level!r}")
    return _levels[level]


# --- records and their text -----------------------------------------------------------------------


@its_own_only
class LogRecord:
    """logging.LogRecord. `exc_info` has no traceback: the exception knows its own."""

    def __init__(
        self,
        name: Any,
        level: Any,
        pathname: Any,
        lineno: Any,
        msg: Any,
        args: Any,
        exc_info: Any,
        func: Any = None,
        sinfo: Any = None,
    ) -> None:
        created = time.time()
        self.name = name
        self.msg = msg
        if type(args) is tuple and len(args) == 1 and type(args[0]) is dict and args[0]:
            args = args[0]
        self.args = args
        self.levelno = level
        self.levelname = getLevelName(level)
        self.pathname = self.filename = pathname
        self.module = "main" if pathname == "main.py" else str(pathname).removesuffix(".py")
        self.exc_info = exc_info
        self.exc_text = None
        self.stack_info = sinfo
        self.lineno = lineno
        self.funcName = func
        self.created = created
        self.msecs = int((created - int(created)) * 1000) + 0.0
        self.relativeCreated = (created - _started) * 1000
        thread = scheduler.running()
        self.thread, self.threadName = thread.number, thread.record.name
        self.process, self.processName = 1, "MainProcess"

    def getMessage(self) -> str:  # noqa: N802
        """The message with its arguments."""
        text = str(self.msg)
        return text % self.args if self.args else text

    def __repr__(self) -> str:
        place = f"{self.pathname}, {self.lineno}"
        return f'<LogRecord: {self.name}, {self.levelno}, {place}, "{self.msg}">'


def _need_record(record: Any) -> Any:
    # Formatting exposes the record's attributes to values in the format.
    if not is_a(record, LogRecord):
        raise TypeError(f"a LogRecord is needed, not {type(record).__name__!r}")
    return record


def makeLogRecord(values: Any) -> LogRecord:  # noqa: N802
    """A record with the attributes of the dict `values`."""
    record = LogRecord(None, None, "", 0, "", (), None)
    record.__dict__.update(dict(values))
    return record


def _percent(text: str, values: dict[str, Any]) -> str:
    return text % values


def _brace(text: str, values: dict[str, Any]) -> str:
    return text.format(**values)  # str's own, which judges names (see the guards)


def _dollar(text: str, values: dict[str, Any]) -> str:
    return Template(text).substitute(**values)


class _Style(NamedTuple):
    """A format style."""

    fill: Callable[[str, dict[str, Any]], str]
    default: str
    basic: str
    """The default format of basicConfig()."""
    time: tuple[str, ...]
    """The placeholder for the time."""
    field: str
    """A pattern that a valid format contains; compiled on first use."""


_STYLES = {
    "%": _Style(
        _percent,
        "%(message)s",
        BASIC_FORMAT,
        ("%(asctime)",),
        r"%\(\w+\)[#0+ -]*(\*|\d+)?(\.(\*|\d+))?[diouxXeEfFgGcrsa%]",
    ),
    "{": _Style(_brace, "{message}", "{levelname}:{name}:{message}", ("{asctime",), r"\{\w"),
    "$": _Style(
        _dollar,
        "${message}",
        "${levelname}:${name}:${message}",
        ("$asctime", "${asctime}"),
        r"\$(\w|\{\w)",
    ),
}


@its_own_only
class Formatter:
    """logging.Formatter."""

    __slots__ = ("__dict__", "_defaults", "_fmt", "_style", "datefmt")
    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s,%03d"

    def __init__(
        self,
        fmt: Any = None,
        datefmt: Any = None,
        style: Any = "%",
        validate: bool = True,
        *,
        defaults: Any = None,
    ) -> None:
        if type(style) is not str or style not in _STYLES:
            raise ValueError(f"Style must be one of: {','.join(_STYLES)}")
        if fmt is not None and type(fmt) is not str:
            raise TypeError("[BJ502] a format must be a plain str")
        if defaults is not None and type(defaults) is not dict:
            raise TypeError("[BJ502] defaults must be a plain dict")
        if fmt is not None and validate and not re.search(_STYLES[style].field, fmt):
            raise ValueError(f"Invalid format '{fmt}' for '{style}' style")
        self._style = style
        self._fmt = _STYLES[style].default if fmt is None else fmt
        self._defaults = defaults
        self.datefmt = datefmt

    def converter(self, seconds: Any) -> Any:
        """Seconds as a struct_time."""
        return time.localtime(seconds)

    def formatTime(self, record: Any, datefmt: Any = None) -> str:  # noqa: N802
        """The creation time of the record."""
        when = self.converter(record.created)
        if datefmt:
            return time.strftime(datefmt, when)
        text = time.strftime(self.default_time_format, when)
        if self.default_msec_format:
            return self.default_msec_format % (text, record.msecs)
        return text

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """The text of (type, exception, traceback)."""
        if type(ei) is not tuple or len(ei) != 3:
            raise TypeError("exc_info must be a tuple of three")
        return "".join(traceback.format_exception(ei[1])).removesuffix("\n")

    def usesTime(self) -> bool:  # noqa: N802
        """Whether the format contains the time."""
        return any(text in self._fmt for text in _STYLES[self._style].time)

    def formatMessage(self, record: Any) -> str:  # noqa: N802
        """The record without its exception."""
        values = {**(self._defaults or {}), **_need_record(record).__dict__}
        try:
            return _STYLES[self._style].fill(self._fmt, values)
        except KeyError as error:
            raise ValueError(f"Formatting field not found in record: {error}") from None

    def formatStack(self, stack_info: Any) -> Any:  # noqa: N802
        """Returns the stack, which is already text."""
        return stack_info

    def format(self, record: Any) -> str:
        """The record as text."""
        _need_record(record)
        record.message = record.getMessage()
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)
        text = self.formatMessage(record)
        if record.exc_info and not record.exc_text:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            text += ("" if text[-1:] == "\n" else "\n") + record.exc_text
        return text


_default_formatter = Formatter()


# --- filters and handlers -------------------------------------------------------------------------


@its_own_only
class Filter:
    """logging.Filter: accepts the records of a logger and its children."""

    def __init__(self, name: Any = "") -> None:
        self.name = name

    def filter(self, record: Any) -> Any:
        """Whether the record should be logged."""
        name = str(self.name)
        return not name or record.name == name or record.name.startswith(f"{name}.")


@its_own_only
class Filterer:
    """Common base class of loggers and handlers."""

    def __init__(self) -> None:
        self.filters: list[Any] = []

    def addFilter(self, filter: Any) -> None:  # noqa: A002, N802
        """Adds a Filter or a function."""
        if not any(filter is known for known in self.filters):
            self.filters.append(filter)

    def removeFilter(self, filter: Any) -> None:  # noqa: A002, N802
        """Removes it."""
        self.filters = [known for known in self.filters if known is not filter]

    def filter(self, record: Any) -> bool:
        """Whether all filters accept the record."""
        for known in self.filters:
            passes = known if not hasattr(type(known), "filter") else known.filter
            if not passes(record):
                return False
        return True


@its_own_only
class Handler(Filterer):
    """logging.Handler."""

    def __init__(self, level: Any = NOTSET) -> None:
        Filterer.__init__(self)
        self.level = check_level(level)
        self.formatter: Any = None
        self.name: Any = None

    def setLevel(self, level: Any) -> None:  # noqa: N802
        """Records below `level` are dropped."""
        self.level = check_level(level)

    def setFormatter(self, fmt: Any) -> None:  # noqa: N802
        """Sets the formatter."""
        self.formatter = fmt

    def set_name(self, name: Any) -> None:
        """Sets the handler's name."""
        self.name = name

    def get_name(self) -> Any:
        """The handler's name."""
        return self.name

    def format(self, record: Any) -> Any:
        """The record as text."""
        return (self.formatter or _default_formatter).format(record)

    def emit(self, record: Any) -> None:
        """For subclasses: handles a record."""
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def handle(self, record: Any) -> Any:
        """Emits the record if the filters accept it."""
        passes = self.filter(record)
        if passes:
            self.emit(record)
        return passes

    def handleError(self, record: Any) -> None:  # noqa: N802
        """Called if emit() fails: writes the exception to stderr."""
        stream = sys.stderr
        stream.write("--- Logging error ---\n")
        traceback.print_exc()
        stream.write(f"Message: {record.msg!r}\nArguments: {record.args}\n")

    def acquire(self) -> None:
        """Not needed: a handler gives up its turn only inside the program's own stream."""

    release = flush = close = acquire

    def __repr__(self) -> str:
        return f"<{type(self).__name__} ({getLevelName(self.level)})>"


@its_own_only
class NullHandler(Handler):
    """logging.NullHandler."""

    def emit(self, record: Any) -> None:
        """Nothing."""


@its_own_only
class StreamHandler(Handler):
    """logging.StreamHandler: to stderr, or to a stream that the program has."""

    terminator = "\n"

    def __init__(self, stream: Any = None) -> None:
        Handler.__init__(self)
        self.stream = of_interpreter("stderr") if stream is None else stream

    def setStream(self, stream: Any) -> Any:  # noqa: N802
        """Sets the stream; returns the old one if it was different."""
        old = self.stream
        self.stream = stream
        return None if old is stream else old

    def flush(self) -> None:
        """Hands what was written on."""
        if hasattr(type(self.stream), "flush"):
            self.stream.flush()

    def emit(self, record: Any) -> None:
        """Writes the record."""
        try:
            self.stream.write(self.format(record) + self.terminator)
            self.flush()
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)


@its_own_only
class FileHandler(StreamHandler):
    """logging.FileHandler: to a file, in profiles that give files."""

    def __init__(
        self,
        filename: Any,
        mode: Any = "a",
        encoding: Any = None,
        delay: Any = False,
        errors: Any = None,
    ) -> None:
        Handler.__init__(self)
        self.baseFilename = os.path.abspath(filename)
        self.mode, self.encoding, self.errors = mode, encoding, errors
        self.stream = None if delay else self._open()

    def _open(self) -> Any:
        return open(self.baseFilename, self.mode, encoding=self.encoding, errors=self.errors)

    def emit(self, record: Any) -> None:
        """Writes the record; opens the file first if that was put off."""
        if self.stream is None:
            self.stream = self._open()
        StreamHandler.emit(self, record)

    def close(self) -> None:
        """Closes the file; the next record opens it anew."""
        stream, self.stream = self.stream, None
        if stream is not None:
            stream.close()


@its_own_only
class _LastResort(StreamHandler):
    """Warnings of a program that set nothing up: to stderr as it is then."""

    def __init__(self) -> None:
        Handler.__init__(self, WARNING)

    @property
    def stream(self) -> Any:  # type: ignore[override]
        """sys.stderr."""
        return of_interpreter("stderr")


lastResort = _LastResort()  # noqa: N816


# --- loggers --------------------------------------------------------------------------------------


@its_own_only
class Logger(Filterer):
    """logging.Logger."""

    def __init__(self, name: Any, level: Any = NOTSET) -> None:
        Filterer.__init__(self)
        self.name = name
        self.level = check_level(level)
        self.parent: Any = None
        self.propagate = True
        self.handlers: list[Any] = []
        self.disabled = False

    def setLevel(self, level: Any) -> None:  # noqa: N802
        """Records below `level` are dropped."""
        self.level = check_level(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        """The level of the nearest logger above that has one."""
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level: Any) -> bool:  # noqa: N802
        """Whether a record of that level would be handled."""
        if self.disabled or _disabled[0] >= level:
            return False
        return level >= self.getEffectiveLevel()

    def getChild(self, suffix: Any) -> Logger:  # noqa: N802
        """The logger below this one."""
        return getLogger(suffix if self is root else f"{self.name}.{suffix}")

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level DEBUG."""
        if self.isEnabledFor(DEBUG):
            self._log(DEBUG, msg, args, **kwargs)

    def info(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level INFO."""
        if self.isEnabledFor(INFO):
            self._log(INFO, msg, args, **kwargs)

    def warning(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level WARNING."""
        if self.isEnabledFor(WARNING):
            self._log(WARNING, msg, args, **kwargs)

    def error(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level ERROR."""
        if self.isEnabledFor(ERROR):
            self._log(ERROR, msg, args, **kwargs)

    def exception(self, msg: Any, *args: Any, exc_info: Any = True, **kwargs: Any) -> None:
        """Logs with level ERROR, and the current exception."""
        self.error(msg, *args, exc_info=exc_info, **kwargs)

    def critical(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level CRITICAL."""
        if self.isEnabledFor(CRITICAL):
            self._log(CRITICAL, msg, args, **kwargs)

    warn = warning
    fatal = critical

    def log(self, level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with a numeric level."""
        if not is_a(level, int):
            raise TypeError("level must be an integer")
        if self.isEnabledFor(level):
            self._log(level, msg, args, **kwargs)

    def _log(
        self,
        level: Any,
        msg: Any,
        args: Any,
        exc_info: Any = None,
        extra: Any = None,
        stack_info: bool = False,
        stacklevel: int = 1,
    ) -> None:
        filename, line, function = place_of_caller(stacklevel)
        record = self.makeRecord(
            self.name, level, filename, line, msg, args, _exc_info(exc_info), function, extra
        )
        self.handle(record)

    def makeRecord(  # noqa: N802
        self,
        name: Any,
        level: Any,
        fn: Any,
        lno: Any,
        msg: Any,
        args: Any,
        exc_info: Any,
        func: Any = None,
        extra: Any = None,
        sinfo: Any = None,
    ) -> LogRecord:
        """The record of one call."""
        record = LogRecord(name, level, fn, lno, msg, args, exc_info, func, sinfo)
        if extra is not None:
            for key, value in dict(extra).items():
                if key in ("message", "asctime") or key in record.__dict__:
                    raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
                record.__dict__[key] = value
        return record

    def handle(self, record: Any) -> None:
        """Passes the record to the handlers."""
        if not self.disabled and self.filter(record):
            self.callHandlers(record)

    def addHandler(self, hdlr: Any) -> None:  # noqa: N802
        """Adds a handler."""
        if not any(hdlr is known for known in self.handlers):
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr: Any) -> None:  # noqa: N802
        """Removes it."""
        self.handlers[:] = [known for known in self.handlers if known is not hdlr]

    def hasHandlers(self) -> bool:  # noqa: N802
        """Whether this logger or a parent has a handler."""
        logger = self
        while logger is not None:
            if logger.handlers:
                return True
            logger = logger.parent if logger.propagate else None
        return False

    def callHandlers(self, record: Any) -> None:  # noqa: N802
        """Passes the record to the handlers of this logger and its parents."""
        found = False
        logger = self
        while logger is not None:
            for handler in logger.handlers:
                found = True
                if record.levelno >= handler.level:
                    handler.handle(record)
            logger = logger.parent if logger.propagate else None
        if not found and record.levelno >= lastResort.level:
            lastResort.handle(record)

    def __repr__(self) -> str:
        kind = "RootLogger" if self is root else type(self).__name__
        return f"<{kind} {self.name} ({getLevelName(self.getEffectiveLevel())})>"


def _exc_info(given: Any) -> Any:
    if given is None or given is False:
        return None
    if is_a(given, BaseException):
        error = given
    elif type(given) is tuple and len(given) == 3:
        error = given[1]
    elif given:
        error = sys.exc_info()[1]
    else:
        return None
    return (None if error is None else type(error), error, None)


root = Logger("root", WARNING)
_loggers: dict[str, Logger] = {}
_disabled = [NOTSET]


def _link(logger: Logger) -> None:
    """Links a new logger to its nearest parent and its children."""
    name = logger.name
    above = name
    logger.parent = root
    while "." in above:
        above = above.rpartition(".")[0]
        if above in _loggers:
            logger.parent = _loggers[above]
            break
    for other_name, other in _loggers.items():
        if other_name.startswith(f"{name}.") and not str(other.parent.name).startswith(f"{name}."):
            other.parent = logger


def all_loggers() -> list[Logger]:
    """All loggers but the root."""
    return list(_loggers.values())


def getLogger(name: Any = None) -> Logger:  # noqa: N802
    """The logger of that name, or the root."""
    if name is None or (type(name) is str and name in ("", "root")):
        return root
    if type(name) is not str:
        raise TypeError("A logger name must be a string")
    logger = _loggers.get(name)
    if logger is None:
        logger = Logger(name)
        _link(logger)
        _loggers[name] = logger
    return logger


@its_own_only
class LoggerAdapter:
    """logging.LoggerAdapter."""

    def __init__(self, logger: Any, extra: Any = None) -> None:
        self.logger = logger
        self.extra = extra

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """Adds the extra data of the adapter to a call."""
        kwargs["extra"] = self.extra
        return msg, kwargs

    def log(self, level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with a numeric level."""
        if self.isEnabledFor(level):
            msg, kwargs = self.process(msg, kwargs)
            self.logger.log(level, msg, *args, **kwargs)

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level DEBUG."""
        self.log(DEBUG, msg, *args, **kwargs)

    def info(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level INFO."""
        self.log(INFO, msg, *args, **kwargs)

    def warning(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level WARNING."""
        self.log(WARNING, msg, *args, **kwargs)

    def error(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level ERROR."""
        self.log(ERROR, msg, *args, **kwargs)

    def exception(self, msg: Any, *args: Any, exc_info: Any = True, **kwargs: Any) -> None:
        """Logs with level ERROR, and the current exception."""
        self.log(ERROR, msg, *args, exc_info=exc_info, **kwargs)

    def critical(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Logs with level CRITICAL."""
        self.log(CRITICAL, msg, *args, **kwargs)

    def isEnabledFor(self, level: Any) -> bool:  # noqa: N802
        """Whether a record of that level would be handled."""
        return self.logger.isEnabledFor(level)

    def setLevel(self, level: Any) -> None:  # noqa: N802
        """The level of the wrapped logger."""
        self.logger.setLevel(level)

    def getEffectiveLevel(self) -> Any:  # noqa: N802
        """The level of the wrapped logger."""
        return self.logger.getEffectiveLevel()

    def hasHandlers(self) -> Any:  # noqa: N802
        """Whether the wrapped logger or a parent has a handler."""
        return self.logger.hasHandlers()

    @property
    def name(self) -> Any:
        """The name of the wrapped logger."""
        return self.logger.name

    def __repr__(self) -> str:
        level = getLevelName(self.getEffectiveLevel())
        return f"<{type(self).__name__} {self.name} ({level})>"


# --- the module's functions -----------------------------------------------------------------------


def basicConfig(  # noqa: N802
    *,
    level: Any = None,
    format: Any = None,  # noqa: A002
    datefmt: Any = None,
    style: Any = "%",
    stream: Any = None,
    handlers: Any = None,
    force: bool = False,
    filename: Any = None,
    filemode: Any = "a",
    encoding: Any = None,
    errors: Any = "backslashreplace",
    **others: Any,
) -> None:
    """Configures the root logger: to stderr, to `stream`, or to a file if files are available."""
    if filename is not None and not _has_files[0]:
        raise PermissionError("[BJ502] logging does not write files; use stream=io.StringIO()")
    for name in others:
        raise ValueError(f"Unrecognised argument(s): {name}")
    if handlers is not None and (stream is not None or filename is not None):
        raise ValueError("'stream' or 'filename' should not be specified together with 'handlers'")
    if stream is not None and filename is not None:
        raise ValueError("'stream' and 'filename' should not be specified together")
    if force:
        root.handlers.clear()
    if root.handlers:
        return
    if type(style) is not str or style not in _STYLES:
        raise ValueError(f"Style must be one of: {','.join(_STYLES)}")
    formatter = Formatter(_STYLES[style].basic if format is None else format, datefmt, style)
    if filename is not None:
        handlers = [FileHandler(filename, filemode, encoding, errors=errors)]
    for handler in [StreamHandler(stream)] if handlers is None else list(handlers):
        if handler.formatter is None:
            handler.setFormatter(formatter)
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def disable(level: Any = CRITICAL) -> None:
    """Drops all records at `level` and below."""
    _disabled[0] = check_level(level)


def shutdown() -> None:
    """Does nothing: records are written immediately."""


def _of_root(name: str) -> Callable[..., None]:
    def call(msg: Any, *args: Any, **kwargs: Any) -> None:
        if not root.handlers:
            basicConfig()
        getattr(root, name)(msg, *args, **kwargs)

    call.__name__ = call.__qualname__ = name
    call.__doc__ = getattr(Logger, name).__doc__
    return call


debug = _of_root("debug")
info = _of_root("info")
warning = _of_root("warning")
error = _of_root("error")
exception = _of_root("exception")
critical = _of_root("critical")
fatal = critical
warn = warning


def log(level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    """Logs with a numeric level."""
    if not root.handlers:
        basicConfig()
    root.log(level, msg, *args, **kwargs)
