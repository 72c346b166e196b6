"""unittest.case, for guests: test cases, their contexts and decorators.

The assertions are the library's own functions. Everything that looks up names, stores results of a
test, or touches other modules is replaced: the library's run() calls whatever method the instance
names, assertWarns() writes into every loaded module, and results get tracebacks.
"""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any
from warnings import simplefilter

import _belljar_guards as guards

from . import alone, logging, warnings
from .objects import dict_of, is_a, its_own_only, mro_of
from .unittest_result import TestResult


def _load_alone(package: str, module: str) -> ModuleType:
    """Loads one module of a package without running the package's `__init__` and its imports.

    Nothing of it stays in sys.modules: a program without the policy imports the real ones.
    """
    spec = importlib.util.find_spec(package)
    assert spec is not None
    before = {name: sys.modules[name] for name in sys.modules if name.partition(".")[0] == package}
    sys.modules[package] = importlib.util.module_from_spec(spec)
    try:
        return importlib.import_module(f"{package}.{module}")
    finally:
        names = [name for name in sys.modules if name.partition(".")[0] == package]
        alone.taken_out.extend(map(sys.modules.pop, names))
        sys.modules.update(before)


_library: Any = _load_alone("unittest", "case")

# Reviewed for what they do to `self` and the values: they compare, format and raise.
_ASSERTIONS = (
    "assertFalse assertTrue assertEqual assertNotEqual assertAlmostEqual assertNotAlmostEqual "
    "assertSequenceEqual assertListEqual assertTupleEqual assertSetEqual assertIn assertNotIn "
    "assertIs assertIsNot assertDictEqual assertCountEqual assertMultiLineEqual assertLess "
    "assertLessEqual assertGreater assertGreaterEqual assertIsNone assertIsNotNone "
    "assertIsInstance assertNotIsInstance assertRegex assertNotRegex fail "
    "_baseAssertEqual _formatMessage _truncateMessage"
).split()

_TYPE_EQUALITY = {
    dict: "assertDictEqual",
    list: "assertListEqual",
    tuple: "assertTupleEqual",
    set: "assertSetEqual",
    frozenset: "assertSetEqual",
    str: "assertMultiLineEqual",
}


@its_own_only
class SkipTest(Exception):
    """Raised in a test to skip it."""


@its_own_only
class _ShouldStop(Exception):
    """Stops the test, whose outcome has already been reported."""


def _error_of(error: BaseException) -> tuple[type, BaseException, None]:
    """An exception as passed to results: without the traceback, which contains frames."""
    return (type(error), error, None)


# --- decorators -----------------------------------------------------------------------------------


def _mark(item: Any, **marks: Any) -> Any:
    if not (guards.is_guest_class(item) or guards.is_guest_function(item)):
        raise TypeError("[BJ502] only the program's own tests can be marked")
    for name, value in marks.items():
        setattr(item, f"__unittest_{name}__", value)
    return item


def _marked(name: str, *items: Any) -> Any:
    for item in items:
        value = getattr(item, f"__unittest_{name}__", None)
        if value:
            return value
    return None


def skip(reason: Any) -> Any:
    """Decorator: the test is not run."""
    if type(reason) is FunctionType:  # @skip without a reason
        return skip("")(reason)

    def decorate(item: Any) -> Any:
        if guards.is_guest_class(item):
            return _mark(item, skip=True, skip_why=reason)

        def skipped(*_: Any, **__: Any) -> None:
            raise SkipTest(reason)

        setattr(skipped, "__unittest_skip__", True)  # noqa: B010 (a class would mangle it)
        setattr(skipped, "__unittest_skip_why__", reason)  # noqa: B010
        return skipped

    return decorate


def skipIf(condition: Any, reason: Any) -> Any:  # noqa: N802
    """Decorator: the test is not run if `condition` is true."""
    return skip(reason) if condition else _same


def skipUnless(condition: Any, reason: Any) -> Any:  # noqa: N802
    """Decorator: the test is not run if `condition` is false."""
    return _same if condition else skip(reason)


def _same(item: Any) -> Any:
    return item


def expectedFailure(test_item: Any) -> Any:  # noqa: N802
    """Decorator: the test is expected to fail."""
    return _mark(test_item, expecting_failure=True)


def _need_case(case: Any) -> Any:
    if not is_a(case, TestCase):
        raise TypeError(f"a TestCase is needed, not {type(case).__name__!r}")
    return case


# --- contexts -------------------------------------------------------------------------------------


@its_own_only
class _Failing:
    """The context of assertRaises and similar methods: reports what did not happen."""

    __slots__ = ("_case", "_msg")

    def __init__(self, case: Any, msg: Any) -> None:
        self._case = _need_case(case)
        self._msg = msg

    def _fail(self, text: str) -> None:
        case = self._case
        raise case.failureException(case._formatMessage(self._msg, text))


def _names(expected: Any) -> str:
    kinds = expected if type(expected) is tuple else (expected,)
    names = [str(getattr(kind, "__name__", kind)) for kind in kinds]
    return names[0] if type(expected) is not tuple else str(expected)


@its_own_only
class _Expecting(_Failing):
    """assertRaises and assertWarns, as a context or with a call."""

    __slots__ = ("_called", "_pattern", "expected")
    _base: type = BaseException
    _kind = "an exception type or tuple of exception types"

    def __init__(self, who: str, case: Any, expected: Any, pattern: Any, msg: Any = None) -> None:
        kinds = expected if type(expected) is tuple else (expected,)
        for kind in kinds:
            if not (isinstance(kind, type) and self._base in mro_of(kind)):
                raise TypeError(f"{who}() arg 1 must be {self._kind}")
        _Failing.__init__(self, case, msg)
        self.expected = expected
        if pattern is not None and isinstance(pattern, (str, bytes)):
            pattern = re.compile(pattern)
        self._pattern = pattern
        self._called: str | None = None

    def _run(self, args: tuple, kwargs: dict[str, Any]) -> Any:
        callable_obj, *rest = args
        self._called = str(getattr(callable_obj, "__name__", callable_obj))
        with self:  # type: ignore[attr-defined]
            callable_obj(*rest, **kwargs)
        return None

    def _by(self) -> str:
        return f" by {self._called}" if self._called else ""

    @property
    def expected_regex(self) -> Any:
        """The pattern of assertRaisesRegex and assertWarnsRegex."""
        return self._pattern


@its_own_only
class _AssertRaises(_Expecting):
    __slots__ = ("exception",)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, exc_type: Any, error: Any, _: Any) -> bool:
        if exc_type is None:
            self._fail(f"{_names(self.expected)} not raised{self._by()}")
        if not issubclass(exc_type, self.expected):
            return False
        if is_a(error, BaseException):
            BaseException.with_traceback(error, None)
        self.exception = error
        pattern = self._pattern
        if pattern is not None and not pattern.search(str(error)):
            self._fail(f'"{pattern.pattern}" does not match "{error!s}"')
        return True


@its_own_only
class _AssertWarns(_Expecting):
    __slots__ = ("_catch", "_log", "filename", "lineno", "warning", "warnings")
    _base = Warning
    _kind = "a warning type or tuple of warning types"

    def __enter__(self) -> Any:
        self._catch = warnings.catch_warnings(record=True)
        self.warnings = self._log = self._catch.__enter__()
        simplefilter("always", self.expected)
        return self

    def __exit__(self, exc_type: Any, error: Any, _: Any) -> None:
        self._catch.__exit__(None, None, None)
        if exc_type is not None:
            return
        first = None
        for caught in self._log or ():
            if not isinstance(caught.message, self.expected):
                continue
            if first is None:
                first = caught.message
            if self._pattern is not None and not self._pattern.search(str(caught.message)):
                continue
            self.warning = caught.message
            self.filename = caught.filename
            self.lineno = caught.lineno
            return
        if first is not None:
            self._fail(f'"{self._pattern.pattern}" does not match "{first!s}"')
        self._fail(f"{_names(self.expected)} not triggered{self._by()}")


@its_own_only
class _LogWatcher(logging.Handler):
    """Collects the records for assertLogs."""

    def __init__(self) -> None:
        logging.Handler.__init__(self)
        self.records: list[Any] = []
        self.output: list[str] = []

    def emit(self, record: Any) -> None:
        self.records.append(record)
        self.output.append(f"{record.levelname}:{record.name}:{record.getMessage()}")


@its_own_only
class _AssertLogs(_Failing):
    __slots__ = ("_forbids", "_level", "_logger", "_old", "output", "records")

    def __init__(self, case: Any, logger: Any, level: Any, forbids: bool) -> None:
        _Failing.__init__(self, case, None)
        self._logger = logger if is_a(logger, logging.Logger) else logging.getLogger(logger)
        self._level = logging.check_level(logging.INFO if level is None else level)
        self._forbids = forbids

    def __enter__(self) -> Any:
        watcher = _LogWatcher()
        watcher.setLevel(self._level)
        self.records, self.output = watcher.records, watcher.output
        logger = self._logger
        self._old = (logger.handlers, logger.level, logger.propagate)
        logger.handlers, logger.propagate = [watcher], False
        logger.setLevel(self._level)
        return None if self._forbids else self

    def __exit__(self, exc_type: Any, error: Any, _: Any) -> bool:
        logger = self._logger
        logger.handlers, level, logger.propagate = self._old
        logger.setLevel(level)
        if exc_type is not None:
            return False
        name, level_name = logger.name, logging.getLevelName(self._level)
        if self._forbids:
            if self.records:
                self._fail(f"Unexpected logs found: {self.output!r}")
        elif not self.records:
            self._fail(f"no logs of level {level_name} or higher triggered on {name}")
        return False


class _Outcome:
    """The outcome of a test so far."""

    __slots__ = ("expected_failure", "expects_failure", "result", "success")

    def __init__(self, result: Any) -> None:
        self.result = result
        self.success = True
        self.expects_failure = False
        self.expected_failure: Any = None

    def attempt(self, test: Any, call: Callable[[], Any]) -> None:
        """Runs one step of the test and reports a failure to the result."""
        try:
            call()
        except BaseException as error:
            self.failed(test, error)

    def failed(self, test: Any, error: BaseException) -> None:
        """Reports `error` to the result; KeyboardInterrupt propagates."""
        kind = type(error)
        if issubclass(kind, KeyboardInterrupt):
            raise error
        if issubclass(kind, _ShouldStop):
            return
        if issubclass(kind, SkipTest):
            self.success = False
            add_skip(self.result, test, str(error))
            return
        if self.expects_failure:
            self.expected_failure = _error_of(error)
            return
        self.success = False
        if type(test) is SubTest:
            self.result.addSubTest(test.test_case, test, _error_of(error))
        elif issubclass(kind, test.failureException):
            self.result.addFailure(test, _error_of(error))
        else:
            self.result.addError(test, _error_of(error))


def add_skip(result: Any, test: Any, reason: Any) -> None:
    """Calls result.addSkip if the result has it."""
    add = guards.getattr(result, "addSkip", None)
    if add is None:
        result.addSuccess(test)
    else:
        add(test, reason)


@its_own_only
class _SubTestContext:
    __slots__ = ("_before", "_case", "_subtest")

    def __init__(self, case: Any, message: Any, params: dict[str, Any]) -> None:
        self._case = _need_case(case)
        self._before = before = case._subtest
        everything = dict(params)  # the innermost first, as the library shows them
        for name, value in before.params.items() if before is not None else ():
            everything.setdefault(name, value)
        self._subtest = SubTest(case, message, everything)

    def __enter__(self) -> None:
        self._case._subtest = self._subtest

    def __exit__(self, exc_type: Any, error: Any, _: Any) -> bool:
        case = self._case
        case._subtest = self._before
        outcome = case._outcome
        if type(outcome) is not _Outcome:
            return False
        if error is None:
            outcome.result.addSubTest(case, self._subtest, None)
            return True
        outcome.failed(self._subtest, error)
        if guards.getattr(outcome.result, "failfast", False):
            raise _ShouldStop
        if outcome.expected_failure is not None:
            raise _ShouldStop
        return True


# --- test cases -----------------------------------------------------------------------------------


def name_of(cls: Any) -> str:
    """The name of a class in reports."""
    return f"{cls.__module__}.{cls.__qualname__}"


class TestCase:
    """unittest.TestCase."""

    __slots__ = ("__dict__", "__weakref__", "_cleanups", "_equality", "_outcome", "_subtest")

    failureException = AssertionError  # noqa: N815
    longMessage = True  # noqa: N815
    maxDiff = 640  # noqa: N815
    _diffThreshold = 65536  # noqa: N815
    _class_cleanups: list[Any] = []

    def __init_subclass__(cls, *args: Any, **kwargs: Any) -> None:
        super().__init_subclass__(*args, **kwargs)
        cls._class_cleanups = []

    def __init__(self, methodName: Any = "runTest") -> None:  # noqa: N803
        if type(methodName) is not str:
            raise TypeError("[BJ306] a test's name must be a plain str")
        self._testMethodName = methodName
        method = guards.getattr(self, methodName, None)
        if method is None and methodName != "runTest":
            raise ValueError(f"no such test method in {type(self)}: {methodName}")
        doc = guards.getattr(method, "__doc__", None)
        self._testMethodDoc = doc if method is not None and is_a(doc, str) else None
        self._cleanups: list[Any] = []
        self._equality: dict[Any, Any] = dict(_TYPE_EQUALITY)
        self._outcome: Any = None
        self._subtest: Any = None

    def setUp(self) -> None:  # noqa: N802
        """Runs before each test."""

    def tearDown(self) -> None:  # noqa: N802
        """Runs after each test."""

    @classmethod
    def setUpClass(cls) -> None:  # noqa: N802
        """Runs before the tests of the class."""

    @classmethod
    def tearDownClass(cls) -> None:  # noqa: N802
        """Runs after the tests of the class."""

    # what it is

    def countTestCases(self) -> int:  # noqa: N802
        """One."""
        return 1

    def defaultTestResult(self) -> Any:  # noqa: N802
        """A result that only collects outcomes."""
        return TestResult()

    def shortDescription(self) -> str | None:  # noqa: N802
        """The first line of the test's documentation."""
        doc = self._testMethodDoc
        return doc.strip().split("\n")[0].strip() if doc else None

    def id(self) -> str:
        """The test's full name."""
        return f"{name_of(type(self))}.{self._testMethodName}"

    def __eq__(self, other: object) -> Any:
        if type(self) is not type(other):
            return NotImplemented
        return self._testMethodName == other._testMethodName  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self._testMethodName))

    def __str__(self) -> str:
        place = name_of(type(self))
        return f"{self._testMethodName} ({place}.{self._testMethodName})"

    def __repr__(self) -> str:
        return f"<{name_of(type(self))} testMethod={self._testMethodName}>"

    # running

    def _mark(self, name: str, method: Any) -> Any:
        return _marked(name, type(self), method)

    def run(self, result: Any = None) -> Any:
        """Runs the test; the outcome goes to `result`."""
        stop_all = None
        if result is None:
            result = self.defaultTestResult()
            start_all = guards.getattr(result, "startTestRun", None)
            stop_all = guards.getattr(result, "stopTestRun", None)
            if start_all is not None:
                start_all()
        result.startTest(self)
        try:
            method = guards.getattr(self, self._testMethodName)
            if self._mark("skip", method):
                add_skip(result, self, self._mark("skip_why", method) or "")
                return result
            self._run_steps(method, result)
            return result
        finally:
            result.stopTest(self)
            if stop_all is not None:
                stop_all()

    def _run_steps(self, method: Any, result: Any) -> None:
        outcome = _Outcome(result)
        expects_failure = bool(self._mark("expecting_failure", method))
        self._outcome = outcome
        try:
            outcome.attempt(self, self._call_set_up)
            if outcome.success:
                outcome.expects_failure = expects_failure
                outcome.attempt(self, lambda: self._callTestMethod(method))
                outcome.expects_failure = False
                outcome.attempt(self, self._call_tear_down)
            self.doCleanups()
            if not outcome.success:
                pass
            elif outcome.expected_failure is not None:
                result.addExpectedFailure(self, outcome.expected_failure)
            elif expects_failure:
                result.addUnexpectedSuccess(self)
            else:
                result.addSuccess(self)
        finally:
            self._outcome = None

    # Another way of calling them: IsolatedAsyncioTestCase

    def _call_set_up(self) -> None:
        self.setUp()

    def _call_test(self, method: Any) -> Any:
        return method()

    def _call_tear_down(self) -> None:
        self.tearDown()

    def _call_cleanup(self, function: Any, args: Any, kwargs: Any) -> None:
        function(*args, **kwargs)

    def _callTestMethod(self, method: Any) -> None:  # noqa: N802
        if self._call_test(method) is not None:
            warnings.warn(
                f"It is deprecated to return a value that is not None from a test case ({method})",
                DeprecationWarning,
            )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def debug(self) -> None:
        """Runs the test without a result: exceptions propagate."""
        method = guards.getattr(self, self._testMethodName)
        if self._mark("skip", method):
            raise SkipTest(self._mark("skip_why", method) or "")
        self._call_set_up()
        self._call_test(method)
        self._call_tear_down()
        while self._cleanups:
            self._call_cleanup(*self._cleanups.pop())

    def skipTest(self, reason: Any) -> None:  # noqa: N802
        """Skips the current test."""
        raise SkipTest(reason)

    def subTest(self, msg: Any = None, **params: Any) -> Any:  # noqa: N802
        """A subtest, whose failure does not end the test."""
        return _SubTestContext(self, msg, params)

    # cleaning up

    def addCleanup(self, function: Any, /, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Calls `function` after tearDown, the last one first."""
        self._cleanups.append((function, args, kwargs))

    def enterContext(self, cm: Any) -> Any:  # noqa: N802
        """Enters `cm` now and exits it during cleanup."""
        value = cm.__enter__()
        TestCase.addCleanup(self, cm.__exit__, None, None, None)
        return value

    def doCleanups(self) -> bool:  # noqa: N802
        """Runs the cleanups now."""
        outcome = self._outcome or _Outcome(self.defaultTestResult())
        while self._cleanups:
            function, args, kwargs = self._cleanups.pop()
            outcome.attempt(self, lambda: self._call_cleanup(function, args, kwargs))  # noqa: B023
        return outcome.success

    @classmethod
    def addClassCleanup(cls, function: Any, /, *args: Any, **kwargs: Any) -> None:  # noqa: N802
        """Calls `function` after tearDownClass."""
        cls._class_cleanups.append((function, args, kwargs))

    @classmethod
    def enterClassContext(cls, cm: Any) -> Any:  # noqa: N802
        """Enters `cm` now and exits it during the class's cleanup."""
        value = cm.__enter__()
        cls.addClassCleanup(cm.__exit__, None, None, None)
        return value

    # replaced assertions

    def addTypeEqualityFunc(self, typeobj: Any, function: Any) -> None:  # noqa: N802
        """Sets how assertEqual compares two objects of exactly `typeobj`."""
        self._equality[typeobj] = function

    def _getAssertEqualityFunc(self, first: Any, second: Any) -> Any:  # noqa: N802
        if type(first) is type(second):
            asserter = self._equality.get(type(first))
            if asserter is not None:
                return guards.getattr(self, asserter) if is_a(asserter, str) else asserter
        return self._baseAssertEqual  # type: ignore[attr-defined]

    def _expect(
        self, kind: Any, who: str, expected: Any, pattern: Any, args: tuple, kwargs: dict[str, Any]
    ) -> Any:
        if args and args[0] is not None:
            return kind(who, self, expected, pattern)._run(args, kwargs)
        msg = kwargs.pop("msg", None)
        if kwargs:
            raise TypeError(
                f"{next(iter(kwargs))!r} is an invalid keyword argument for this function"
            )
        return kind(who, self, expected, pattern, msg)

    def assertRaises(self, expected: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
        """Checks that the call or the block raises `expected`."""
        return self._expect(_AssertRaises, "assertRaises", expected, None, args, kwargs)

    def assertRaisesRegex(  # noqa: N802
        self, expected: Any, expected_regex: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """assertRaises, and the exception's text matches."""
        return self._expect(
            _AssertRaises, "assertRaisesRegex", expected, expected_regex, args, kwargs
        )

    def assertWarns(self, expected: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N802
        """Checks that the call or the block issues the warning `expected`."""
        return self._expect(_AssertWarns, "assertWarns", expected, None, args, kwargs)

    def assertWarnsRegex(  # noqa: N802
        self, expected: Any, expected_regex: Any, *args: Any, **kwargs: Any
    ) -> Any:
        """assertWarns, and the warning's text matches."""
        return self._expect(
            _AssertWarns, "assertWarnsRegex", expected, expected_regex, args, kwargs
        )

    def assertLogs(self, logger: Any = None, level: Any = None) -> Any:  # noqa: N802
        """The block logs something."""
        return _AssertLogs(self, logger, level, forbids=False)

    def assertNoLogs(self, logger: Any = None, level: Any = None) -> Any:  # noqa: N802
        """The block logs nothing."""
        return _AssertLogs(self, logger, level, forbids=True)


class SubTest(TestCase):
    """A subtest, as passed to results."""

    def __init__(self, test_case: Any, message: Any, params: dict[str, Any]) -> None:
        TestCase.__init__(self)
        self.test_case = test_case
        self.params = params
        self.failureException = test_case.failureException
        self._message = message

    def runTest(self) -> None:  # noqa: N802
        """Subtests are run by their test."""
        raise NotImplementedError("subtests cannot be run directly")

    def id(self) -> str:
        return f"{self.test_case.id()} {self._description()}"

    def shortDescription(self) -> str | None:  # noqa: N802
        return self.test_case.shortDescription()

    def _description(self) -> str:
        parts = []
        if self._message is not None:
            parts.append(f"[{self._message}]")
        if self.params:
            inner = ", ".join(f"{name}={value!r}" for name, value in self.params.items())
            parts.append(f"({inner})")
        return " ".join(parts) or "(<subtest>)"

    def __str__(self) -> str:
        return f"{self.test_case} {self._description()}"


def run_class_cleanups(cls: Any) -> Iterator[BaseException]:
    """Runs the functions added with addClassCleanup(); returns their exceptions."""
    cleanups = dict_of(cls).get("_class_cleanups")
    while type(cleanups) is list and cleanups:
        function, args, kwargs = cleanups.pop()
        try:
            function(*args, **kwargs)
        except Exception as error:
            yield error


def _complete() -> None:
    for name in _ASSERTIONS:
        setattr(TestCase, name, _library.TestCase.__dict__[name])
    for old, new in _OLD_NAMES.items():
        setattr(TestCase, old, TestCase.__dict__[new])
    its_own_only(TestCase)
    its_own_only(SubTest)


_OLD_NAMES = {
    "assertEquals": "assertEqual",
    "assertNotEquals": "assertNotEqual",
    "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual",
    "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRaisesRegexp": "assertRaisesRegex",
    "assertRegexpMatches": "assertRegex",
}

_complete()
