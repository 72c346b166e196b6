"""An uncaught exception as text and as a place: CPython's traceback of the guest's own frames.

The standard library's TracebackException is not used for the whole, because it believes what it is
shown: it walks a million frames, follows `__cause__` wherever a guest's property leads, and raises
where a class lies about its name. Its formatter of single frames is used, and for SyntaxErrors and
suggestions CPython's C code, shown an exception of our own. The order and the words follow
Lib/traceback.py; tests compare with the real thing.

`isinstance` is not used on what the guest made: it believes a `__class__` property.
"""

import contextlib
import importlib
import io
import itertools
import linecache
import sys
import traceback
from collections import deque
from collections.abc import Iterator, Sequence
from types import CodeType, TracebackType
from typing import NamedTuple

# What CPython finds "Did you mean" with, imported when it is first asked: since 3.13, and for
# misspelt keywords since 3.14.
with contextlib.suppress(ImportError):
    importlib.import_module("_suggestions")
if sys.version_info >= (3, 14):
    importlib.import_module("codeop")

MAX_TEXT = 64 * 1024  # characters of a traceback
MAX_MESSAGE = 8 * 1024

# One frame or message; so that the first and the last of them always fit.
_MAX_PIECE = MAX_TEXT // 8
_MAX_FRAMES = 1000  # of one traceback, as CPython's own limit is
_MAX_CARET_LINE = 2000
_MAX_CHAIN = 64
_MAX_EXCEPTIONS = 500  # in all chains and groups: groups of groups of groups grow fast
_MAX_GROUP_WIDTH = 15  # this and the next two as in Lib/traceback.py
_MAX_GROUP_DEPTH = 10
_MAX_REPEATED = 3

# Beginnings of the names of cells: of those that name none, and of prompts and notebooks.
CELLS = ("In[", "<cell ")

# Text that the program had compiled while it ran (library/doctest.py, timeit.py, scopes.py), and
# the other cells of its session.
_LATER_TEXT = ("<doctest ", "<timeit-src>", "<string>", *CELLS)

_own_files: dict[str, str] = {}
"""The text of the program's other files, by the name that their code has (own_modules.py)."""

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n\n"

# The slots themselves: a guest's class may have put a property in front of any of them.
_cause_of = vars(BaseException)["__cause__"].__get__
_context_of = vars(BaseException)["__context__"].__get__
_suppresses_context = vars(BaseException)["__suppress_context__"].__get__
_traceback_of = vars(BaseException)["__traceback__"].__get__
_members_of = vars(BaseExceptionGroup)["exceptions"].__get__
_qualified_name_of = vars(type)["__qualname__"].__get__
_module_of = vars(type)["__module__"].__get__
_to_exact_text = str.__str__


class Place(NamedTuple):
    """Lines and columns from 1; the end column is one past the last character."""

    line: int | None
    column: int | None
    end_line: int | None
    end_column: int | None


NOWHERE = Place(None, None, None, None)


class Description(NamedTuple):
    type: str
    message: str
    place: Place
    text: str
    message_was_cut: bool
    text_was_cut: bool


def describe(error: BaseException, filename: str, lines: Sequence[str]) -> Description:
    """`lines` is the source of `filename`; linecache must know it too."""
    message = message_of(error)
    text = _CutText(MAX_TEXT)
    formatter = _Formatter(filename)
    for piece in formatter.exception(error):
        text.add(piece)
    return Description(
        type_name(type(error)),
        message[:MAX_MESSAGE],
        place_of(error, filename, lines),
        text.joined(),
        len(message) > MAX_MESSAGE,
        text.was_cut or formatter.left_out,
    )


def pieces(error: BaseException, filename: str, *, chain: bool = True) -> Iterator[str]:
    """The text as describe() has it, for a program that asks while it runs."""
    formatter = _Formatter(filename)
    return formatter.exception(error) if chain else formatter.alone(error)


def lines_of(error: BaseException, filename: str) -> list[tuple[str, int, str, str, str]]:
    """For each of the guest's frames: file, line, function, source line, and the text of it all."""
    entries = itertools.islice(_guest_entries(_traceback_of(error), filename), _MAX_FRAMES)
    found = []
    for entry in entries:
        code = entry.tb_frame.f_code
        line = _position(entry)[0]
        source = linecache.getline(code.co_filename, line).strip()
        found.append((
            code.co_filename, line, exact_text(code.co_name), source, _bounded(_frame_text(entry)),
        ))  # fmt: skip
    return found


def final_lines(error: BaseException, filename: str) -> list[str]:
    """What comes after the frames: type, message, notes."""
    return _final_lines(error, filename)


def describe_barely(error: BaseException) -> Description:
    """For when the guest has broken what describe() needs."""
    name, message = type_name(type(error)), message_of(error)[:MAX_MESSAGE]
    return Description(name, message, NOWHERE, f"{name}: {message}\n", True, True)


def traceback_of(error: BaseException) -> TracebackType | None:
    return _traceback_of(error)


def place_of(error: BaseException, filename: str, lines: Sequence[str]) -> Place:
    """Where the innermost of the guest's frames in the program itself was."""
    innermost = None
    entries = _guest_entries(_traceback_of(error), filename, with_own_files=False)
    for innermost in entries:  # noqa: B007
        pass
    if innermost is None:
        return NOWHERE
    line, end_line, start, end = _position(innermost)
    return Place(line, _column(lines, line, start), end_line, _column(lines, end_line, end))


def place_of_syntax_error(error: SyntaxError) -> Place:
    """Where the compiler found it. Its columns count from 1 already; 0 and -1 are "unknown"."""
    values = (error.lineno, error.offset, error.end_lineno, error.end_offset)
    return Place(*(v if type(v) is int and v > 0 else None for v in values))


def type_name(cls: type) -> str:
    """The name as a traceback has it, with the module unless it is a built-in or the guest's."""
    name = exact_text(_qualified_name_of(cls))[:200]
    try:
        module = _module_of(cls)
    except AttributeError:  # the guest has deleted it
        module = None
    if not issubclass(type(module), str):
        return f"<unknown>.{name}"
    module = exact_text(module)[:200]
    return name if module in {"__main__", "builtins"} else f"{module}.{name}"


def message_of(error: BaseException) -> str:
    """str() of the exception, which is the guest's code."""
    try:
        if type(error) in (SyntaxError, IndentationError, TabError) and type(error.msg) is str:
            return error.msg  # str() would add the place, which is elsewhere in the report
        return exact_text(str(error))
    except BaseException:
        return "<exception str() failed>"


def exact_text(text: str) -> str:
    """The same characters without the methods of a guest's subclass of str."""
    return text if type(text) is str else _to_exact_text(text)


class _CutText:
    """Keeps the beginning and the end of a text of any length."""

    def __init__(self, limit: int) -> None:
        self._half = limit // 2
        self._head: list[str] = []
        self._head_size = 0
        self._tail: deque[str] = deque()
        self._tail_size = 0
        self._dropped = 0

    @property
    def was_cut(self) -> bool:
        return self._dropped > 0

    def add(self, piece: str) -> None:
        if not self._tail and self._head_size + len(piece) <= self._half:
            self._head.append(piece)
            self._head_size += len(piece)
            return
        self._tail.append(piece)
        self._tail_size += len(piece)
        while self._tail_size > self._half:
            dropped = len(self._tail.popleft())
            self._tail_size -= dropped
            self._dropped += dropped

    def joined(self) -> str:
        if self._dropped:
            self._tail.appendleft(f"  [... {self._dropped} characters left out ...]\n")
        return "".join(itertools.chain(self._head, self._tail))


class _Formatter:
    """Writes one exception with all that hangs on it."""

    def __init__(self, filename: str) -> None:
        self._filename = filename
        self._seen: set[int] = set()
        self._left = _MAX_EXCEPTIONS
        self.left_out = False
        # State of the boxes around groups, as in Lib/traceback.py.
        self._depth = 0
        self._need_close = False
        # Recursion comes back to the same few instructions.
        self._texts: dict[tuple[int, int], str] = {}

    def exception(self, error: BaseException) -> Iterator[str]:
        """Pieces of at most about _MAX_PIECE characters, each ending in a newline."""
        for joint, link in reversed(self._chain(error)):
            if joint:
                yield from self._boxed(joint)
            if link is None:
                yield from self._boxed("[... more exceptions left out ...]\n")
            else:
                yield from self.alone(link)

    def alone(self, error: BaseException) -> Iterator[str]:
        """The same without its causes and context."""
        if issubclass(type(error), BaseExceptionGroup):
            yield from self._group(error)
            return
        frames = self._frames(_traceback_of(error))
        if frames:
            yield from self._boxed("Traceback (most recent call last):\n", *frames)
        yield from self._boxed(*_final_lines(error, self._filename))

    def _chain(self, error: BaseException) -> list[tuple[str, BaseException | None]]:
        """The exceptions from this one inwards, each with the words that come before the outer."""
        chain: list[tuple[str, BaseException | None]] = []
        while True:
            self._seen.add(id(error))
            self._left -= 1
            if len(chain) == _MAX_CHAIN or self._left < 0:
                chain.append(("", None))
                self.left_out = True
                return chain
            cause, context = _cause_of(error), _context_of(error)
            if cause is not None and id(cause) not in self._seen:
                joint, inner = _CAUSE, cause
            elif (
                context is not None
                and not _suppresses_context(error)
                and id(context) not in self._seen
            ):
                joint, inner = _CONTEXT, context
            else:
                chain.append(("", error))
                return chain
            chain.append((joint, error))
            error = inner

    def _group(self, group: BaseExceptionGroup) -> Iterator[str]:
        if self._depth > _MAX_GROUP_DEPTH:
            yield from self._boxed(f"... (max_group_depth is {_MAX_GROUP_DEPTH})\n")
            return
        is_outermost = self._depth == 0
        if is_outermost:
            self._depth = 1
        frames = self._frames(_traceback_of(group))
        if frames:
            header = "Exception Group Traceback (most recent call last):\n"
            yield self._box(header, "+" if is_outermost else "|")
            yield from self._boxed(*frames)
        yield from self._boxed(*_final_lines(group, self._filename))
        yield from self._members(_members_of(group))
        if is_outermost:
            self._depth = 0

    def _members(self, members: Sequence[BaseException]) -> Iterator[str]:
        shown = min(len(members), _MAX_GROUP_WIDTH + 1)
        self._need_close = False
        for index in range(shown):
            is_last = index == shown - 1
            if is_last:
                self._need_close = True  # a group inside may close for us
            is_rest = index == _MAX_GROUP_WIDTH
            corner = "+-" if index == 0 else "  "
            title = "..." if is_rest else index + 1
            yield f"{self._indent()}{corner}+---------------- {title} ----------------\n"
            self._depth += 1
            if is_rest:
                rest = len(members) - _MAX_GROUP_WIDTH
                yield from self._boxed(f"and {rest} more exception{'s' if rest > 1 else ''}\n")
            else:
                yield from self.exception(members[index])
            if is_last and self._need_close:
                yield f"{self._indent()}+------------------------------------\n"
                self._need_close = False
            self._depth -= 1

    def _frames(self, first: TracebackType | None) -> list[str]:
        head: list[tuple[TracebackType, int]] = []
        tail: deque[tuple[TracebackType, int]] = deque(maxlen=_MAX_FRAMES // 2)
        dropped = 0
        for run in _runs(_guest_entries(first, self._filename)):
            if len(head) < _MAX_FRAMES // 2:
                head.append(run)
            else:
                dropped += len(tail) == tail.maxlen
                tail.append(run)
        texts = [self._run_text(*run) for run in head]
        if dropped:
            self.left_out = True
            texts.append(f"  [... {dropped} frames left out ...]\n")
        texts.extend(self._run_text(*run) for run in tail)
        return texts

    def _run_text(self, entry: TracebackType, repeated: int) -> str:
        key = id(entry.tb_frame.f_code), entry.tb_lasti
        text = self._texts.get(key)
        if text is None:
            text = self._texts[key] = _bounded(_frame_text(entry))
        if repeated:
            plural = "s" if repeated > 1 else ""
            text += f"  [Previous line repeated {repeated} more time{plural}]\n"
        return text

    def _indent(self) -> str:
        return "  " * self._depth

    def _boxed(self, *texts: str) -> Iterator[str]:
        for text in texts:
            yield self._box(text, "|")

    def _box(self, text: str, margin: str) -> str:
        if not self._depth:
            return text
        prefix = f"{self._indent()}{margin} "
        return "".join(prefix + line for line in text.splitlines(keepends=True))


def know_own(filename: str, text: str) -> None:
    """A file of the program's own, whose frames are shown from now on, with their lines."""
    _own_files[filename] = text
    lines = [line + "\n" for line in text.split("\n")]
    linecache.cache[filename] = (len(text), None, lines, filename)


def _guest_entries(
    entry: TracebackType | None, filename: str, *, with_own_files: bool = True
) -> Iterator[TracebackType]:
    while entry is not None:
        name = entry.tb_frame.f_code.co_filename
        if type(name) is str and (
            name == filename
            or name.startswith(_LATER_TEXT)
            or (with_own_files and name in _own_files)
        ):
            yield entry
        entry = entry.tb_next


def _runs(entries: Iterator[TracebackType]) -> Iterator[tuple[TracebackType, int]]:
    """The entries that are shown, and after how many more of the same line each is followed."""

    def line_of(entry: TracebackType) -> tuple[int, str]:
        return entry.tb_lineno, entry.tb_frame.f_code.co_name

    for _, same in itertools.groupby(entries, line_of):
        shown = list(itertools.islice(same, _MAX_REPEATED))
        repeated = sum(1 for _ in same)  # noqa: B031 (the rest of it)
        for entry in shown[:-1]:
            yield entry, 0
        yield shown[-1], repeated


def _frame_text(entry: TracebackType) -> str:
    line, end_line, start, end = _position(entry)
    code = entry.tb_frame.f_code
    try:
        if len(linecache.getline(code.co_filename, line)) > _MAX_CARET_LINE:
            start = end = None  # carets would be found by parsing it again
        summary = traceback.FrameSummary(
            code.co_filename,
            line,
            exact_text(code.co_name),
            lookup_line=False,  # not now, but when it is formatted
            end_lineno=end_line,
            colno=start,
            end_colno=end,
        )
        return traceback.StackSummary().format_frame_summary(summary)
    except Exception:  # code objects that lie about their positions
        return f'  File "{code.co_filename}", line {line}, in {exact_text(code.co_name)}\n'


def _position(entry: TracebackType) -> tuple[int, int | None, int | None, int | None]:
    """Line, end line, and the columns as CPython has them: bytes from 0."""
    code: CodeType = entry.tb_frame.f_code
    positions = itertools.islice(code.co_positions(), max(entry.tb_lasti, 0) // 2, None)
    line, end_line, start, end = next(positions, NOWHERE)
    return (entry.tb_lineno if line is None else line), end_line, start, end


def _column(lines: Sequence[str], line: int | None, offset: int | None) -> int | None:
    if line is None or offset is None or not 0 < line <= len(lines):
        return None
    return len(lines[line - 1].encode()[:offset].decode("utf-8", "replace")) + 1


def _final_lines(error: BaseException, filename: str) -> list[str]:
    """What comes after the frames: type, message, notes."""
    name = type_name(type(error))
    lines = _syntax_error_lines(error, name) if issubclass(type(error), SyntaxError) else None
    if lines is None:
        message = message_of(error)
        final = f"{name}: {message}" if message else name
        lines = [_bounded(final + _suggestion(error, filename) + "\n")]
    return lines + _note_lines(error)


def _syntax_error_lines(error: SyntaxError, name: str) -> list[str] | None:
    try:
        place = (error.filename, error.lineno, error.offset, error.text)
        probe = SyntaxError(error.msg, (*place, error.end_lineno, error.end_offset))
        *above, final = _shown_by_cpython(probe).splitlines(keepends=True)
    except BaseException:  # made by the guest, of anything
        return None
    return [_bounded(line) for line in (*above, name + final.removeprefix("SyntaxError"))]


def _note_lines(error: BaseException) -> list[str]:
    try:
        notes = getattr(error, "__notes__", None)
        if notes is None:
            return []
        if not isinstance(notes, (list, tuple)):
            # Before 3.12 CPython ends no line here.
            return [_bounded(repr(notes)) + ("\n" if sys.version_info >= (3, 12) else "")]
        notes = list(itertools.islice(notes, 100))
    except BaseException:
        return ["<__notes__ repr() failed>\n"]
    lines = []
    for note in notes:
        try:
            text = exact_text(str(note))
        except BaseException:
            text = "<note str() failed>"
        lines.append(_bounded(text + "\n"))
    return lines


def _suggestion(error: BaseException, filename: str) -> str:
    """CPython's ". Did you mean: 'x'?", which in 3.11 only its C code can make.

    So the C code is shown an exception with just what it needs, and its text is read back.
    """
    probe: BaseException
    if type(error) is NameError:
        entries = list(deque(_guest_entries(_traceback_of(error), filename), maxlen=1))
        if not entries:
            return ""
        last = entries[0]
        probe = NameError("?", name=error.name).with_traceback(
            TracebackType(None, last.tb_frame, last.tb_lasti, last.tb_lineno)
        )
    elif type(error) is AttributeError:
        if error.obj is None or _is_refusal(error):
            return ""
        probe = AttributeError("?", name=error.name, obj=error.obj)
    else:
        return ""
    try:
        shown = _shown_by_cpython(probe)
    except BaseException:
        return ""
    suggestion = shown.removeprefix(f"{type(error).__name__}: ?").rstrip("\n")
    # Names that the policy has made up, which nobody can spell.
    return "" if "'@" in suggestion else suggestion


def _is_refusal(error: BaseException) -> bool:
    """A guard's: the name is right, so one that looks alike is something else."""
    return bool(error.args) and type(error.args[0]) is str and error.args[0].startswith("[BJ")


def _shown_by_cpython(probe: BaseException) -> str:
    """What CPython itself prints for it. `probe` is ours, so that nothing else hangs on it."""
    written = io.StringIO()
    stream = sys.stderr
    limit = getattr(sys, "tracebacklimit", None)
    try:
        sys.stderr = written
        sys.tracebacklimit = 0  # it would look for the source of frames in files
        sys.__excepthook__(type(probe), probe, probe.__traceback__)
    finally:
        sys.stderr = stream
        if limit is None:
            del sys.tracebacklimit
        else:
            sys.tracebacklimit = limit
    return written.getvalue()


def _bounded(text: str) -> str:
    if len(text) <= _MAX_PIECE:
        return text
    half = _MAX_PIECE // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"
