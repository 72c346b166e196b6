"""A pytest plugin for graders: tests that run student programs in a sandbox.

    @pytest.mark.belljar(timeout=2)
    def test_greets(run_untrusted):
        assert run_untrusted(Path("student.py"), stdin="Ada\\n").stdout == "Hello, Ada\\n"

    def test_adds(run_untrusted):
        assert run_untrusted.call(Path("student.py"), "add", 2, 3) == 5

A failing test shows the output of its programs. Every pytest session loads this module if Belljar
is installed, so it imports nothing of Belljar before a fixture is requested.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from belljar import Result, Sandbox

_OPTIONS = {
    "profile": 'profile of the programs: "basic", "data-science", …',
    "timeout": 'wall-clock limit of a run: seconds, or "500ms"',
    "memory": 'memory limit of a run: "64m"',
    "output": "limit for stdout and for stderr, each",
    "isolation": '"strict", or "standard" where namespaces are not available',
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("belljar", "untrusted programs (belljar)")
    for name, what in _OPTIONS.items():
        group.addoption(f"--belljar-{name}", metavar=name.upper(), help=what)
        parser.addini(f"belljar_{name}", f"{what}; same as --belljar-{name}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "belljar(**options): profile, and options of Sandbox.run, for the programs of this test",
    )


class Runner:
    """The value of the fixture `run_untrusted`."""

    def __init__(self, boxes: _Sandboxes, options: dict[str, Any]) -> None:
        self._sandbox = boxes.of(options.pop("profile", None))
        self._options = options
        self.results: list[Result] = []
        """The results of all runs of this test, in order."""

    def __call__(self, program: str | Path, **options: Any) -> Result:
        """Runs a file (a Path) or code (a str). The options are those of `Sandbox.run`."""
        return self._run(program, "", options)

    def _run(self, program: str | Path, ending: str, options: dict[str, Any]) -> Result:
        options = self._options | options
        source: str | bytes
        if isinstance(program, Path):
            options.setdefault("filename", program.name)
            source = program.read_bytes() + ending.encode()
        elif isinstance(program, str):
            source = program + ending
        else:
            raise TypeError(
                f"program is a {type(program).__qualname__}; give a Path, or code as a str"
            )
        result = self._sandbox.run(source, **options)
        self.results.append(result)
        return result

    def call(self, program: str | Path, function: str, /, *args: Any, **kwargs: Any) -> Any:
        """Runs the program, calls one of its functions and returns the function's value.

        Arguments and value are plain data. The test fails if the program fails, has no such
        function, or the value is not plain data. The program runs first, as module `__main__`.
        """
        __tracebackhide__ = True
        if not isinstance(function, str):
            raise TypeError(f"function is a {type(function).__qualname__}; give its name, a str")
        if not all(part.isidentifier() for part in function.split(".")):
            raise ValueError(f"function: {function!r} is not a function name")
        # In a tuple, because a plain None is not reported as a value.
        ending = f"\n\n({function}(*belljar_args, **belljar_kwargs),)\n"
        inputs = {"belljar_args": args, "belljar_kwargs": kwargs}
        result = self._run(program, ending, {"inputs": inputs})
        from belljar import _host
        from belljar._escaping import bounded
        from belljar._result import MAX_CHARACTERS

        if not result.ok:
            why = bounded(_host.failure_text(result, MAX_CHARACTERS))
            pytest.fail(f"{function}() could not be called: {why}")
        if result.exit_code is not None:
            pytest.fail(f"{function}() did not return: the program called exit()")
        if not result.has_value:
            what = "a value that is "
            what += "too large" if "value" in result.truncated else "not plain data"
            pytest.fail(f"{function}() returned {what}: {bounded(result.value_repr or '')}")
        return result.value[0]


class _Sandboxes:
    """The sandboxes of a session, by profile."""

    def __init__(self, config: pytest.Config) -> None:
        self._options = {
            name: config.getoption(f"--belljar-{name}") or config.getini(f"belljar_{name}") or None
            for name in _OPTIONS
        }
        self._opened: dict[str | None, Sandbox] = {}

    def of(self, profile: str | None) -> Sandbox:
        from belljar import Sandbox

        options = {name: value for name, value in self._options.items() if value is not None}
        wanted = profile or options.pop("profile", None)
        options.pop("profile", None)
        if wanted not in self._opened:
            try:
                self._opened[wanted] = Sandbox(wanted, **options)
            except (TypeError, ValueError) as error:
                raise pytest.UsageError(f"belljar: {error}") from None
        return self._opened[wanted]

    def close(self) -> None:
        for sandbox in self._opened.values():
            sandbox.close()


@pytest.fixture(scope="session")
def _belljar_sandboxes(pytestconfig: pytest.Config) -> Iterator[_Sandboxes]:
    boxes = _Sandboxes(pytestconfig)
    yield boxes
    boxes.close()


@pytest.fixture(scope="session")
def belljar_sandbox(_belljar_sandboxes: _Sandboxes) -> Sandbox:
    """A session-wide `belljar.Sandbox`, configured by --belljar-… and the ini file."""
    return _belljar_sandboxes.of(None)


_RUNNER = pytest.StashKey[Runner]()


@pytest.fixture
def run_untrusted(
    request: pytest.FixtureRequest, _belljar_sandboxes: _Sandboxes
) -> Iterator[Runner]:
    """Runs a student's file (a Path) or code (a str) and returns a `belljar.Result`."""
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("belljar"))):
        if mark.args:
            raise TypeError(
                f"@pytest.mark.belljar({mark.args[0]!r}): pass options by name, such as profile=…"
            )
        options |= mark.kwargs
    runner = Runner(_belljar_sandboxes, options)
    request.node.stash[_RUNNER] = request.config.stash[_RUNNER] = runner
    yield runner
    del request.config.stash[_RUNNER]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    runner = item.stash.get(_RUNNER, None)
    if runner is not None and report.when == "call" and report.failed:
        from belljar._escaping import bounded

        for number, result in enumerate(runner.results, 1):
            report.sections.append(
                (f"untrusted program {number}: {result.status}", bounded(result.for_model()))
            )
    return report


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    for one, other in ((left, right), (right, left)):
        if type(one).__module__ == "belljar._result" and type(one).__name__ == "Result":
            return [
                f"{left!r} {op} {right!r}",
                "a Result only equals another Result with the same fields;",
                f"compare its value, stdout or status with {other!r}",
            ]
    if _RUNNER in config.stash and isinstance(left, str) and isinstance(right, str):
        from belljar._escaping import escaped

        # pytest shows the differing texts unescaped, and one of them may be a program's output.
        if escaped(left + right) != left + right:
            return [f"{_beginning(left)} {op} {_beginning(right)}", "with control characters"]
    return None


def _beginning(text: str) -> str:
    return repr(text) if len(text) <= 1000 else f"{text[:1000]!r}…"
