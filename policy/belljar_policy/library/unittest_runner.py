"""unittest.runner, for guests: outcomes of tests, written as they run."""

from __future__ import annotations

import time
from typing import Any
from warnings import simplefilter

import _belljar_guards as guards

from . import warnings
from .objects import its_own_only, mro_of
from .streams import of_interpreter
from .unittest_case import SubTest
from .unittest_result import TestResult


@its_own_only
class LineWriter:
    """A stream with writeln()."""

    __slots__ = ("stream",)

    def __init__(self, stream: Any) -> None:
        self.stream = stream

    def write(self, text: str) -> None:
        """Writes text."""
        self.stream.write(text)

    def writeln(self, text: str | None = None) -> None:
        """Writes text and ends the line."""
        self.stream.write((text or "") + "\n")

    def flush(self) -> None:
        """Flushes the stream."""
        self.stream.flush()


@its_own_only
class TextTestResult(TestResult):
    """unittest.TextTestResult."""

    separator1 = "=" * 70
    separator2 = "-" * 70

    def __init__(self, stream: Any, descriptions: Any, verbosity: int) -> None:
        TestResult.__init__(self, stream, descriptions, verbosity)
        self.stream = stream
        self.showAll = verbosity > 1
        self.dots = verbosity == 1
        self.descriptions = descriptions
        self._newline = True

    def getDescription(self, test: Any) -> str:  # noqa: N802
        """The test's name, and the first line of its documentation."""
        doc = test.shortDescription()
        return f"{test}\n{doc}" if self.descriptions and doc else str(test)

    def startTest(self, test: Any) -> None:  # noqa: N802
        super().startTest(test)
        if self.showAll:
            self.stream.write(self.getDescription(test))
            self.stream.write(" ... ")
            self.stream.flush()
            self._newline = False

    def _write_status(self, test: Any, status: str) -> None:
        is_part = SubTest in mro_of(type(test))
        if is_part or self._newline:
            if not self._newline:
                self.stream.writeln()
            if is_part:
                self.stream.write("  ")
            self.stream.write(self.getDescription(test))
            self.stream.write(" ... ")
        self.stream.writeln(status)
        self.stream.flush()
        self._newline = True

    def _show(self, test: Any, word: str, letter: str) -> None:
        if self.showAll:
            self._write_status(test, word)
        elif self.dots:
            self.stream.write(letter)
            self.stream.flush()

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        if err is not None:
            if issubclass(err[0], subtest.failureException):
                self._show(subtest, "FAIL", "F")
            else:
                self._show(subtest, "ERROR", "E")
        super().addSubTest(test, subtest, err)

    def addSuccess(self, test: Any) -> None:  # noqa: N802
        super().addSuccess(test)
        self._show(test, "ok", ".")

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addError(test, err)
        self._show(test, "ERROR", "E")

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addFailure(test, err)
        self._show(test, "FAIL", "F")

    def addSkip(self, test: Any, reason: Any) -> None:  # noqa: N802
        super().addSkip(test, reason)
        self._show(test, f"skipped {reason!r}", "s")

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        super().addExpectedFailure(test, err)
        self._show(test, "expected failure", "x")

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        super().addUnexpectedSuccess(test)
        self._show(test, "unexpected success", "u")

    def printErrors(self) -> None:  # noqa: N802
        if self.dots or self.showAll:
            self.stream.writeln()
            self.stream.flush()
        self.printErrorList("ERROR", self.errors)
        self.printErrorList("FAIL", self.failures)
        if self.unexpectedSuccesses:
            self.stream.writeln(self.separator1)
            for test in self.unexpectedSuccesses:
                self.stream.writeln(f"UNEXPECTED SUCCESS: {self.getDescription(test)}")
            self.stream.flush()

    def printErrorList(self, flavour: str, errors: Any) -> None:  # noqa: N802
        """Writes the tests of one kind with their tracebacks."""
        for test, text in errors:
            self.stream.writeln(self.separator1)
            self.stream.writeln(f"{flavour}: {self.getDescription(test)}")
            self.stream.writeln(self.separator2)
            self.stream.writeln(str(text))
            self.stream.flush()


@its_own_only
class TextTestRunner:
    """unittest.TextTestRunner."""

    resultclass = TextTestResult

    def __init__(
        self,
        stream: Any = None,
        descriptions: bool = True,
        verbosity: int = 1,
        failfast: bool = False,
        buffer: bool = False,
        resultclass: Any = None,
        warnings: Any = None,
        *,
        tb_locals: bool = False,
    ) -> None:
        self.stream = LineWriter(of_interpreter("stderr") if stream is None else stream)
        self.descriptions = descriptions
        self.verbosity = verbosity
        self.failfast = failfast
        self.buffer = buffer
        self.warnings = warnings
        if resultclass is not None:
            self.resultclass = resultclass

    def _makeResult(self) -> Any:  # noqa: N802
        return self.resultclass(self.stream, self.descriptions, self.verbosity)

    def run(self, test: Any) -> Any:
        """Runs a test or suite and writes the results."""
        result = self._makeResult()
        if self.failfast:
            guards.setattr(result, "failfast", True)
        with warnings.catch_warnings():
            if self.warnings:
                simplefilter(self.warnings)
            started = time.perf_counter()
            _call(result, "startTestRun")
            try:
                test(result)
            finally:
                _call(result, "stopTestRun")
            taken = time.perf_counter() - started
        result.printErrors()
        self._summarise(result, taken)
        return result

    def _summarise(self, result: Any, taken: float) -> None:
        stream = self.stream
        stream.writeln("-" * 70)
        count = result.testsRun
        stream.writeln(f"Ran {count} test{'s' if count != 1 else ''} in {taken:.3f}s")
        stream.writeln()
        infos = []
        if not result.wasSuccessful():
            stream.write("FAILED")
            counted = (("failures", result.failures), ("errors", result.errors))
            infos = [f"{name}={len(found)}" for name, found in counted if found]
        else:
            stream.write("OK")
        for name, attribute in (
            ("skipped", "skipped"),
            ("expected failures", "expectedFailures"),
            ("unexpected successes", "unexpectedSuccesses"),
        ):
            found = guards.getattr(result, attribute, ())
            if found:
                infos.append(f"{name}={len(found)}")
        stream.writeln(f" ({', '.join(infos)})" if infos else "")
        stream.flush()


def _call(result: Any, name: str) -> None:
    method = guards.getattr(result, name, None)
    if method is not None:
        method()
