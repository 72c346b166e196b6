"""unittest.result, for guests: outcomes of tests, collected or written as they run."""

from __future__ import annotations

from typing import Any

from . import traceback
from .objects import is_a, its_own_only, mro_of
from .unittest_case import SubTest


@its_own_only
class TestResult:
    """unittest.TestResult. Output of tests is shown immediately: `buffer` has no effect."""

    def __init__(self, stream: Any = None, descriptions: Any = None, verbosity: Any = None) -> None:
        self.failfast = False
        self.failures: list[Any] = []
        self.errors: list[Any] = []
        self.testsRun = 0
        self.skipped: list[Any] = []
        self.expectedFailures: list[Any] = []
        self.unexpectedSuccesses: list[Any] = []
        self.shouldStop = False
        self.buffer = False

    def printErrors(self) -> None:  # noqa: N802
        """Called after all tests have run."""

    def startTest(self, test: Any) -> None:  # noqa: N802
        """Called before each test."""
        self.testsRun += 1

    def stopTest(self, test: Any) -> None:  # noqa: N802
        """Called after each test."""

    def startTestRun(self) -> None:  # noqa: N802
        """Called before the first test."""

    def stopTestRun(self) -> None:  # noqa: N802
        """Called after the last test."""

    def _failed(self) -> None:
        if self.failfast:
            self.stop()

    def addError(self, test: Any, err: Any) -> None:  # noqa: N802
        """An unexpected exception."""
        self.errors.append((test, self._exc_info_to_string(err, test)))
        self._failed()

    def addFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """A failed assertion."""
        self.failures.append((test, self._exc_info_to_string(err, test)))
        self._failed()

    def addSubTest(self, test: Any, subtest: Any, err: Any) -> None:  # noqa: N802
        """A subtest ended; `err` is None when it passed."""
        if err is not None:
            where = self.failures if issubclass(err[0], test.failureException) else self.errors
            where.append((subtest, self._exc_info_to_string(err, test)))
            self._failed()

    def addSuccess(self, test: Any) -> None:  # noqa: N802
        """The test passed."""

    def addSkip(self, test: Any, reason: Any) -> None:  # noqa: N802
        """The test was skipped."""
        self.skipped.append((test, reason))

    def addExpectedFailure(self, test: Any, err: Any) -> None:  # noqa: N802
        """The test failed as it was expected to."""
        self.expectedFailures.append((test, self._exc_info_to_string(err, test)))

    def addUnexpectedSuccess(self, test: Any) -> None:  # noqa: N802
        """The test passed, which was not expected."""
        self.unexpectedSuccesses.append(test)
        self._failed()

    def wasSuccessful(self) -> bool:  # noqa: N802
        """Whether no test has failed so far."""
        return not (self.failures or self.errors or self.unexpectedSuccesses)

    def stop(self) -> None:
        """Stops before the remaining tests."""
        self.shouldStop = True

    def _exc_info_to_string(self, err: Any, test: Any) -> str:
        error = err[1]
        if not is_a(error, BaseException):
            raise TypeError(f"an exception is needed, not {type(error).__name__!r}")
        return "".join(traceback.lines_of(error))

    def __repr__(self) -> str:
        kind = type(self)
        return (
            f"<{kind.__module__}.{kind.__qualname__} run={self.testsRun} "
            f"errors={len(self.errors)} failures={len(self.failures)}>"
        )


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
