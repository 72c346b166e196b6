"""unittest, for guests: suites, the loader and main().

Tests are found in the program's own globals by guarded names: the library's loader looks up any
dotted name in sys.modules and imports what is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import _belljar_guards as guards

from .objects import is_a, its_own_only, mro_of, refuses
from .own_modules import own
from .program import running
from .unittest_async import IsolatedAsyncioTestCase
from .unittest_case import (
    SkipTest,
    TestCase,
    add_skip,
    expectedFailure,
    name_of,
    run_class_cleanups,
    skip,
    skipIf,
    skipUnless,
)
from .unittest_result import TestResult
from .unittest_runner import TextTestResult, TextTestRunner

__all__ = [
    "IsolatedAsyncioTestCase",
    "SkipTest",
    "TestCase",
    "TestLoader",
    "TestProgram",
    "TestResult",
    "TestSuite",
    "TextTestResult",
    "TextTestRunner",
    "addModuleCleanup",
    "defaultTestLoader",
    "expectedFailure",
    "main",
    "makeSuite",
    "skip",
    "skipIf",
    "skipUnless",
]


@its_own_only
class _Fixture:
    """Represents a failed setUpClass or similar function in the report."""

    __slots__ = ("_name",)
    failureException = AssertionError  # noqa: N815

    def __init__(self, name: str) -> None:
        self._name = name

    def id(self) -> str:
        """The name of what failed."""
        return self._name

    def shortDescription(self) -> None:  # noqa: N802
        """No description."""

    def countTestCases(self) -> int:  # noqa: N802
        """Not a test."""
        return 0

    def __str__(self) -> str:
        return self._name

    def __repr__(self) -> str:
        return f"<ErrorHolder description={self._name!r}>"


class _Fixtures:
    """setUpModule, setUpClass and their teardown, while an outermost suite runs."""

    def __init__(self, result: Any) -> None:
        self._result = result
        self._current: Any = None
        self._began = False
        self._module_failed = False
        self._failed: list[Any] = []  # classes

    def enter(self, test: Any) -> bool:
        """Called before `test`. False: the test cannot be run."""
        cls = type(test)
        if cls is not self._current:
            self._leave_class()
            self._begin()
            self._current = cls
            if not self._module_failed and not getattr(cls, "__unittest_skip__", False):
                setup = guards.getattr(cls, "setUpClass", None)
                if setup is not None and not self._attempt(setup, f"setUpClass ({name_of(cls)})"):
                    self._failed.append(cls)
                    self._clean_class(cls)
        return not self._module_failed and not any(cls is failed for failed in self._failed)

    def finish(self) -> None:
        """Called after the last test."""
        self._leave_class()
        if self._began and not self._module_failed:
            self._call_of_program("tearDownModule")
        while _module_cleanups:
            function, args, kwargs = _module_cleanups.pop()
            self._attempt(functools.partial(function, *args, **kwargs), "tearDownModule (__main__)")

    def _begin(self) -> None:
        if not self._began:
            self._began = True
            self._module_failed = not self._call_of_program("setUpModule")

    def _call_of_program(self, name: str) -> bool:
        function = running.scope.get(name)
        return function is None or self._attempt(function, f"{name} (__main__)")

    def _leave_class(self) -> None:
        cls = self._current
        self._current = None
        if cls is None or self._module_failed or any(cls is failed for failed in self._failed):
            return
        if not getattr(cls, "__unittest_skip__", False):
            teardown = guards.getattr(cls, "tearDownClass", None)
            if teardown is not None:
                self._attempt(teardown, f"tearDownClass ({name_of(cls)})")
            self._clean_class(cls)

    def _clean_class(self, cls: Any) -> None:
        if guards.is_guest_class(cls):
            for error in run_class_cleanups(cls):
                self._report(error, f"tearDownClass ({name_of(cls)})")

    def _attempt(self, call: Callable[[], Any], name: str) -> bool:
        try:
            call()
        except Exception as error:
            self._report(error, name)
            return False
        return True

    def _report(self, error: BaseException, name: str) -> None:
        if issubclass(type(error), SkipTest):
            add_skip(self._result, _Fixture(name), str(error))
        else:
            self._result.addError(_Fixture(name), (type(error), error, None))


_module_cleanups: list[Any] = []
_fixtures: list[_Fixtures] = []  # of the outermost suite that runs


def addModuleCleanup(function: Any, /, *args: Any, **kwargs: Any) -> None:  # noqa: N802
    """Calls `function` after tearDownModule."""
    _module_cleanups.append((function, args, kwargs))


@its_own_only
class TestSuite:
    """unittest.TestSuite."""

    def __init__(self, tests: Any = ()) -> None:
        self._tests: list[Any] = []
        self.addTests(tests)

    def __repr__(self) -> str:
        return f"<{type(self).__module__}.{type(self).__qualname__} tests={list(self)}>"

    def __iter__(self) -> Iterator[Any]:
        return iter(self._tests)

    def countTestCases(self) -> int:  # noqa: N802
        """The number of tests."""
        return sum(test.countTestCases() for test in self)

    def addTest(self, test: Any) -> None:  # noqa: N802
        """Adds a test or a suite."""
        if not callable(test):
            raise TypeError(f"{test!r} is not callable")
        if isinstance(test, type) and (TestCase in mro_of(test) or TestSuite in mro_of(test)):
            raise TypeError(
                "TestCases and TestSuites must be instantiated before passing them to addTest()"
            )
        self._tests.append(test)

    def addTests(self, tests: Any) -> None:  # noqa: N802
        """Adds several tests."""
        if isinstance(tests, str):
            raise TypeError("tests must be an iterable of tests, not a string")
        for test in tests:
            self.addTest(test)

    def run(self, result: Any, debug: bool = False) -> Any:
        """Runs the tests in their order."""
        outermost = not _fixtures
        if outermost:
            _fixtures.append(_Fixtures(result))
        fixtures = _fixtures[0]
        try:
            for test in self:
                if guards.getattr(result, "shouldStop", False):
                    break
                if is_a(test, TestCase) and not fixtures.enter(test):
                    continue
                test(result)
            if outermost:
                fixtures.finish()
        finally:
            if outermost:
                _fixtures.clear()
        return result

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)

    def debug(self) -> None:
        """Runs the tests without a result: exceptions propagate."""
        for test in self:
            test.debug()


_NO_FILES = "give the classes to loadTestsFromTestCase()"


@its_own_only
class TestLoader:
    """unittest.TestLoader, for tests in the program."""

    testMethodPrefix = "test"  # noqa: N815
    sortTestMethodsUsing: Any = None  # noqa: N815
    suiteClass = TestSuite  # noqa: N815
    discover = refuses("TestLoader.discover", _NO_FILES)

    def __init__(self) -> None:
        self.errors: list[str] = []

    def getTestCaseNames(self, testCaseClass: Any) -> list[str]:  # noqa: N802, N803
        """The names of the test methods, sorted."""
        prefix = self.testMethodPrefix
        names = [
            name
            for name in guards.dir(testCaseClass)
            if type(name) is str
            and name.startswith(prefix)
            and callable(guards.getattr(testCaseClass, name, None))
        ]
        names.sort(key=functools.cmp_to_key(self.sortTestMethodsUsing or _compare))
        return names

    def loadTestsFromTestCase(self, testCaseClass: Any) -> Any:  # noqa: N802, N803
        """A suite of all tests of the class."""
        if TestSuite in mro_of(testCaseClass):
            raise TypeError(
                "Test cases should not be derived from TestSuite. Maybe you meant to "
                "derive from TestCase?"
            )
        names = self.getTestCaseNames(testCaseClass)
        if not names and guards.getattr(testCaseClass, "runTest", None) is not None:
            names = ["runTest"]
        return self.suiteClass([testCaseClass(name) for name in names])

    def loadTestsFromModule(self, module: Any = None, pattern: Any = None) -> Any:  # noqa: N802
        """A suite of all tests of a module that the program made, or else of the program."""
        scope = guards.scope_of(module) or running.scope
        suites = [
            self.loadTestsFromTestCase(value)
            for name, value in sorted(
                ((name, value) for name, value in scope.items() if type(name) is str),
                key=lambda item: item[0],
            )
            if guards.is_guest_class(value) and TestCase in mro_of(value)
        ]
        tests = self.suiteClass(suites)
        load_tests = scope.get("load_tests")
        return tests if load_tests is None else load_tests(self, tests, pattern)

    def loadTestsFromName(self, name: Any, module: Any = None) -> Any:  # noqa: N802
        """The tests named "Class" or "Class.method" in the program."""
        if type(name) is not str:
            raise TypeError("[BJ306] a test's name must be a plain str")
        first, _, rest = name.removeprefix("__main__.").partition(".")
        found = running.scope.get(first)
        if found is None and own.is_own(first):
            found = own.load(first)
        scope = guards.scope_of(found)
        if scope is not None:
            if not rest:
                return self.loadTestsFromModule(found)
            first, _, rest = rest.partition(".")
            found = scope.get(first)
        if guards.is_guest_class(found) and TestCase in mro_of(found):
            if not rest:
                return self.loadTestsFromTestCase(found)
            if callable(guards.getattr(found, rest, None)):
                return self.suiteClass([found(rest)])
        elif not rest and callable(found):
            made = found()
            if is_a(made, TestSuite):
                return made
            if is_a(made, TestCase):
                return self.suiteClass([made])
        raise AttributeError(f"the program has no test {name!r}")

    def loadTestsFromNames(self, names: Any, module: Any = None) -> Any:  # noqa: N802
        """A suite of the named tests."""
        return self.suiteClass([self.loadTestsFromName(name, module) for name in names])


def _compare(left: str, right: str) -> int:
    return (left > right) - (left < right)


defaultTestLoader = TestLoader()  # noqa: N816


def makeSuite(  # noqa: N802
    testCaseClass: Any,  # noqa: N803
    prefix: Any = "test",
    sortUsing: Any = None,  # noqa: N803
    suiteClass: Any = TestSuite,  # noqa: N803
) -> Any:
    """A suite of all tests of the class. Python 3.13 has it no more, programs still do."""
    loader = TestLoader()
    loader.testMethodPrefix = prefix
    loader.sortTestMethodsUsing = sortUsing
    loader.suiteClass = suiteClass
    return loader.loadTestsFromTestCase(testCaseClass)


@its_own_only
class TestProgram:
    """unittest.main: runs the program's tests; the outcome goes to stderr and is the exit code."""

    def __init__(
        self,
        module: Any = "__main__",
        defaultTest: Any = None,  # noqa: N803
        argv: Any = None,
        testRunner: Any = None,  # noqa: N803
        testLoader: Any = None,  # noqa: N803
        exit: bool = True,  # noqa: A002
        verbosity: int = 1,
        failfast: Any = None,
        catchbreak: Any = None,
        buffer: Any = None,
        warnings: Any = None,
        *,
        tb_locals: bool = False,
    ) -> None:
        if module is not None and (type(module) is not str or module != "__main__"):
            raise PermissionError(
                "[BJ502] unittest.main() runs the tests of the program itself; leave `module` out"
            )
        words = [] if argv is None else [word for word in list(argv)[1:] if type(word) is str]
        options = {word for word in words if word[:1] == "-"}
        names = [word for word in words if word[:1] != "-"]
        if options & {"-v", "--verbose"}:
            verbosity = 2
        elif options & {"-q", "--quiet"}:
            verbosity = 0
        if not names and defaultTest is not None:
            names = [defaultTest] if type(defaultTest) is str else list(defaultTest)
        loader = defaultTestLoader if testLoader is None else testLoader
        tests = loader.loadTestsFromNames(names) if names else loader.loadTestsFromModule(None)
        runner = TextTestRunner if testRunner is None else testRunner
        if isinstance(runner, type):
            if runner is TextTestRunner or TextTestRunner in mro_of(runner):
                runner = runner(
                    verbosity=verbosity,
                    failfast=bool(failfast or options & {"-f", "--failfast"}),
                    warnings="default" if warnings is None else warnings,
                )
            else:
                runner = runner()
        self.result = runner.run(tests)
        if exit:
            raise SystemExit(not self.result.wasSuccessful())


main = TestProgram
