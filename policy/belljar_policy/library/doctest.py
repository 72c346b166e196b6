"""doctest, for guests: the examples in the program's own documentation.

Parser and comparison are the library's and work on text. Examples are checked and compiled by the
policy like the program, run in a copy of its globals, and never reach exec() as text. Other
modules, files and the debugger are not available.
"""

from __future__ import annotations

import importlib
import io
import linecache
import re
import sys
from collections.abc import Iterator
from types import FunctionType, ModuleType
from typing import Any

import _belljar_guards as guards

from . import traceback
from .objects import dict_of, is_a
from .program import compile_text, functions_and_classes, running
from .scopes import namespace


def _load_library() -> Any:
    """The library's doctest without its debugger, which is slowest to import."""
    stand_ins = {"pdb": ModuleType("pdb"), "unittest": ModuleType("unittest")}
    stand_ins["pdb"].Pdb = object  # type: ignore[attr-defined]
    for name in ("TestCase", "TestSuite"):
        setattr(stand_ins["unittest"], name, guards.library_class(name, (), {}))
    # Without the policy, programs must import the real modules, so nothing stays in sys.modules.
    before = {name: sys.modules.pop(name, None) for name in (*stand_ins, "doctest")}
    sys.modules.update(stand_ins)
    try:
        return importlib.import_module("doctest")
    finally:
        for name, module in before.items():
            if module is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = module


_library = _load_library()
_parser = _library.DocTestParser()
_checker = _library.OutputChecker()

TestResults = _library.TestResults
DONT_ACCEPT_TRUE_FOR_1 = _library.DONT_ACCEPT_TRUE_FOR_1
DONT_ACCEPT_BLANKLINE = _library.DONT_ACCEPT_BLANKLINE
NORMALIZE_WHITESPACE = _library.NORMALIZE_WHITESPACE
ELLIPSIS = _library.ELLIPSIS
SKIP = _library.SKIP
IGNORE_EXCEPTION_DETAIL = _library.IGNORE_EXCEPTION_DETAIL
COMPARISON_FLAGS = _library.COMPARISON_FLAGS
REPORT_UDIFF = _library.REPORT_UDIFF
REPORT_CDIFF = _library.REPORT_CDIFF
REPORT_NDIFF = _library.REPORT_NDIFF
REPORT_ONLY_FIRST_FAILURE = _library.REPORT_ONLY_FIRST_FAILURE
FAIL_FAST = _library.FAIL_FAST
REPORTING_FLAGS = _library.REPORTING_FLAGS

_DIVIDER = "*" * 70
# Since 3.13 skipped examples count, and the text is no longer "1 items".
_COUNTS_SKIPPED = sys.version_info >= (3, 13)
_DOC_BEGINS = r"(^|.*:)\s*\w*(\"|')"


class _Test:
    """The examples of one docstring."""

    def __init__(self, name: str, doc: str, line: int | None) -> None:
        self.name = name
        self.line = line
        self.examples = _parser.get_examples(doc, name)


# --- finding --------------------------------------------------------------------------------------


def _doc_of(value: Any) -> str | None:
    doc = guards.getattr(value, "__doc__", None)
    return str.__str__(doc) if is_a(doc, str) else None


def _source_of(value: Any) -> str:
    """The text of the file that has a function or class."""
    if type(value) is FunctionType:
        return running.text_of(value.__code__.co_filename) or ""
    if isinstance(value, type):
        file = running.scope_of(dict_of(value).get("__module__")).get("__file__")
        return (running.text_of(file) if type(file) is str else None) or ""
    return running.source


def _line_of(value: Any, name: str) -> int | None:
    """The line number where the documentation of `value` begins, counted from 0."""
    lines = _source_of(value).split("\n")
    if type(value) is FunctionType:
        start = value.__code__.co_firstlineno - 1
    elif isinstance(value, type):
        head = re.compile(rf"^\s*class\s*{re.escape(name.rpartition('.')[2])}\b")
        start = next((i for i, line in enumerate(lines) if head.match(line)), -1)
        if start < 0:
            return None
    else:
        return 0
    for number in range(start, len(lines)):
        if re.match(_DOC_BEGINS, lines[number]):
            return number
    return None


def _function_in(member: Any) -> Any:
    """The object that has the documentation of a class member."""
    if type(member) in (staticmethod, classmethod):
        member = member.__func__
    elif type(member) is property:
        return member
    return member if type(member) is FunctionType and guards.is_guest_function(member) else None


def _documented(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, value
    if guards.is_guest_class(value):
        for key, member in list(dict_of(value).items()):
            if guards.is_guest_class(member):
                yield from _documented(f"{name}.{key}", member)
            else:
                found = _function_in(member)
                if found is not None:
                    yield f"{name}.{key}", found


def _tests_of(name: str, value: Any) -> Iterator[_Test]:
    for full, found in _documented(name, value):
        where = found.fget if type(found) is property else found
        yield _Test(full, _doc_of(found) or "", _line_of(where, full))


def _program_tests(name: str, scope: dict[str, Any]) -> list[_Test]:
    doc = scope.get("__doc__")
    tests = [_Test(name, str.__str__(doc) if is_a(doc, str) else "", 0)]
    for key, value in functions_and_classes(scope):
        tests.extend(_tests_of(f"{name}.{key}", value))
    extra = scope.get("__test__")
    if type(extra) is dict:
        for key, value in extra.items():
            where = f"{name}.__test__.{key}"
            if type(value) is str:
                tests.append(_Test(where, value, None))
            else:
                tests.extend(_tests_of(where, value))
    return sorted(tests, key=lambda test: test.name)


# --- running --------------------------------------------------------------------------------------


def _show(value: Any) -> None:
    """sys.displayhook, without setting `_` in the interpreter's builtins."""
    if value is not None:
        sys.stdout.write(repr(value) + "\n")


class _Runner:
    def __init__(self, verbose: bool, flags: int) -> None:
        self._verbose = verbose
        self._flags = flags
        self._write = sys.stdout.write
        self.tallies: list[tuple[str, int, int]] = []  # name, failed, tried
        self._skipped = 0

    def run(self, test: _Test, names: dict[str, Any]) -> None:
        """Runs the examples of one docstring, which share `names`."""
        tried = failed = 0
        for number, example in enumerate(test.examples):
            flags = self._flags
            for flag, wanted in example.options.items():
                flags = flags | flag if wanted else flags & ~flag
            if flags & SKIP:
                self._skipped += 1
                tried += _COUNTS_SKIPPED
                continue
            tried += 1
            if self._verbose:
                self._begin(example)
            quiet = flags & REPORT_ONLY_FIRST_FAILURE and failed
            if not self._passes(test, number, example, names, flags, bool(quiet)):
                failed += 1
                if flags & FAIL_FAST:
                    break
        self.tallies.append((test.name, failed, tried))

    def _passes(
        self,
        test: _Test,
        number: int,
        example: Any,
        names: dict[str, Any],
        flags: int,
        quiet: bool,
    ) -> bool:
        got, error = _execute(f"<doctest {test.name}[{number}]>", example.source, names)
        if error is None:
            passes = example.exc_msg is None and _checker.check_output(example.want, got, flags)
            if not passes and example.exc_msg is not None:
                passes = _checker.check_output(example.want, got, flags)
            report = _checker.output_difference(example, got, flags)
        else:
            final = traceback.final_lines(error)[-1]
            if example.exc_msg is None:
                passes, report = False, "Exception raised:\n" + _indented(_text_of(error))
            else:
                passes = _checker.check_output(example.exc_msg, final, flags)
                if not passes and flags & IGNORE_EXCEPTION_DETAIL:
                    strip = _library._strip_exception_details
                    passes = _checker.check_output(strip(example.exc_msg), strip(final), flags)
                report = _checker.output_difference(example, got + _text_of(error), flags)
        if passes:
            if self._verbose:
                self._write("ok\n")
        elif not quiet:
            self._write(self._failure(test, example) + report)
        return passes

    def _begin(self, example: Any) -> None:
        expecting = (
            f"Expecting:\n{_indented(example.want)}" if example.want else ("Expecting nothing\n")
        )
        self._write(f"Trying:\n{_indented(example.source)}{expecting}")

    def _failure(self, test: _Test, example: Any) -> str:
        line = "?" if test.line is None else str(test.line + example.lineno + 1)
        return (
            f'{_DIVIDER}\nFile "{running.filename}", line {line}, in {test.name}\n'
            f"Failed example:\n{_indented(example.source)}"
        )

    def summarise(self) -> Any:
        """Writes how many examples failed, like the library."""
        bad = sorted(tally for tally in self.tallies if tally[1])
        tried = sum(tally[2] for tally in self.tallies)
        failed = sum(tally[1] for tally in self.tallies)
        if self._verbose:
            self._write_good(tried)
        if bad:
            self._write(f"{_DIVIDER}\n{_count(len(bad), 'item')} had failures:\n")
            for name, failures, tries in bad:
                self._write(f" {failures:3d} of {tries:3d} in {name}\n")
        if self._verbose:
            self._write(f"{_count(tried, 'test')} in {_count(len(self.tallies), 'item')}.\n")
            and_failed = f" and {failed} failed" if failed or not _COUNTS_SKIPPED else ""
            self._write(f"{tried - failed} passed{and_failed}.\n")
        if failed:
            self._write(f"***Test Failed*** {_count(failed, 'failure')}{self._and_skipped()}.\n")
        elif self._verbose:
            self._write("Test passed.\n")
        return self.results()

    def _and_skipped(self) -> str:
        if not _COUNTS_SKIPPED or not self._skipped:
            return ""
        return f" and {_count(self._skipped, 'skipped test')}"

    def results(self) -> Any:
        """The numbers of failed and of attempted examples."""
        failed = sum(tally[1] for tally in self.tallies)
        tried = sum(tally[2] for tally in self.tallies)
        skipped = {"skipped": self._skipped} if _COUNTS_SKIPPED else {}
        return TestResults(failed, tried, **skipped)

    def _write_good(self, tried: int) -> None:
        empty = sorted(name for name, _, tries in self.tallies if not tries)
        good = sorted((n, tries) for n, failed, tries in self.tallies if tries and not failed)
        if empty:
            self._write(f"{_count(len(empty), 'item')} had no tests:\n")
            for name in empty:
                self._write(f"    {name}\n")
        if good:
            self._write(f"{_count(len(good), 'item')} passed all tests:\n")
            for name, tries in good:
                word = "test" if tries == 1 and _COUNTS_SKIPPED else "tests"
                self._write(f" {tries:3d} {word} in {name}\n")


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 and _COUNTS_SKIPPED else 's'}"


def _indented(text: str) -> str:
    return re.sub(r"(?m)^(?!$)", "    ", text)


def _text_of(error: BaseException) -> str:
    return "".join(traceback.lines_of(error))


def _execute(filename: str, source: str, names: dict[str, Any]) -> tuple[str, BaseException | None]:
    """Runs one example; returns its output and how it ended."""
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    captured = io.StringIO()
    stdout, hook = sys.stdout, sys.displayhook
    failure: BaseException | None = None
    sys.stdout, sys.displayhook = captured, _show
    try:
        guards.run_text(compile_text(source, filename, shows_values=True), names, names)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failure = error
    finally:
        sys.stdout, sys.displayhook = stdout, hook
    try:
        got = captured.getvalue()
    except ValueError:  # the example closed it
        got = ""
    return got + ("\n" if got and not got.endswith("\n") else ""), failure


# --- public functions -----------------------------------------------------------------------------


def testmod(
    m: Any = None,
    name: Any = None,
    globs: Any = None,
    verbose: Any = None,
    report: bool = True,
    optionflags: int = 0,
    extraglobs: Any = None,
    raise_on_error: bool = False,
    exclude_empty: bool = False,
) -> Any:
    """Runs the examples in the documentation of the program, or of a module of its own, its
    functions and classes."""
    scope = running.scope if m is None else guards.scope_of(m)
    if scope is None:
        raise TypeError("[BJ502] testmod() tests the program itself, and modules of its own")
    if raise_on_error:
        raise TypeError("[BJ502] raise_on_error is not available: failures are reported")
    runner = _Runner(bool(verbose), int(optionflags))
    given = scope if globs is None else globs
    label = ("__main__" if m is None else m.__name__) if name is None else str(name)
    for test in _program_tests(label, scope):
        if exclude_empty and not test.examples:
            continue
        runner.run(test, namespace(given, extraglobs))
    return runner.summarise() if report else runner.results()


def run_docstring_examples(
    f: Any,
    globs: Any = None,
    verbose: bool = False,
    name: Any = "NoName",
    compileflags: Any = None,
    optionflags: int = 0,
) -> None:
    """Runs the examples in the documentation of `f`, which may be the text itself."""
    runner = _Runner(bool(verbose), int(optionflags))
    label = str(name)
    if type(f) is str:
        tests = [_Test(label, f, None)]
    elif guards.is_guest_function(f) or guards.is_guest_class(f):
        tests = list(_tests_of(label, f))
    else:
        raise TypeError("[BJ502] only the program's own functions and classes can be tested")
    for test in tests:
        runner.run(test, namespace(running.scope if globs is None else globs))
