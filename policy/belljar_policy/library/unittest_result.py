"""unittest.result, for guests: outcomes of tests, collected as they run."""

from __future__ import annotations

from typing import Any

from . import traceback
from .objects import is_a, its_own_only


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
