"""A pytest plugin for graders: tests that run what students have written, sealed.

    @pytest.mark.belljar(timeout=2)
    def test_greets(run_untrusted):
        assert run_untrusted(Path("student.py"), stdin="Ada\\n").stdout == "Hello, Ada\\n"

    def test_adds(run_untrusted):
        assert run_untrusted.call(Path("student.py"), "add", 2, 3) == 5

A test that fails shows what the programs had to say. Every pytest of an environment that has
Belljar loads this module: it imports nothing of Belljar before a fixture is asked for.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from belljar import Result, Sandbox

_OPTIONS = {
    "profile": 'what programs may use: "basic", "data-science", …',
    "timeout": 'wall clock of a run: seconds, or "500ms"',
    "memory": 'memory of a run: "64m"',
    "output": "how much of stdout and of stderr is kept, each",
    "isolation": '"strict", or "standard" where namespaces are forbidden',
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("belljar", "untrusted programs (belljar)")
    for name, what in _OPTIONS.items():
        group.addoption(f"--belljar-{name}", metavar=name.upper(), help=what)
        parser.addini(f"belljar_{name}", f"{what}; as --belljar-{name}")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "belljar(**options): options of Sandbox.run for the programs of this test, and profile",
    )


class Runner:
    """What the fixture `run_untrusted` gives."""

    def __init__(self, boxes: _Sandboxes, options: dict[str, Any]) -> None:
        self._sandbox = boxes.of(options.pop("profile", None))
        self._options = options
        self.results: list[Result] = []
        """Of all runs of this test, in order."""

    def __call__(self, program: str | Path, **options: Any) -> Result:
        """Runs a file, given as a Path, or code, given as text. Options: those of `Sandbox.run`."""
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
        """What a function of the program returns; plain data both ways.

        The test fails if the program does, if it has no such function, or if what that returns is
        no plain data. The program runs first, as the module `__main__`.
        """
        __tracebackhide__ = True
        if not isinstance(function, str):
            raise TypeError(f"function is a {type(function).__qualname__}; give its name, a str")
        if not all(part.isidentifier() for part in function.split(".")):
            raise ValueError(f"function: {function!r} is not the name of one")
        # In a tuple: of a None that stands alone nothing would come back.
        ending = f"\n\n({function}(*belljar_args, **belljar_kwargs),)\n"
        inputs = {"belljar_args": args, "belljar_kwargs": kwargs}
        result = self._run(program, ending, {"inputs": inputs})
        from belljar._notebook import bounded
        from belljar._result_text import failure

        if not result.ok:
            pytest.fail(f"{function}() could not be called: {bounded(failure(result))}")
        if result.exit_code is not None:
            pytest.fail(f"{function}() did not return: the program has called exit()")
        if not result.has_value:
            what = "too much" if "value" in result.truncated else "what is no plain data"
            pytest.fail(f"{function}() returned {what}: {bounded(result.value_repr or '')}")
        return result.value[0]


class _Sandboxes:
    """Those of a session, by profile."""

    def __init__(self, config: pytest.Config) -> None:
        self._options = {
            name: config.getoption(f"--belljar-{name}") or config.getini(f"belljar_{name}") or None
            for name in _OPTIONS
        }
        self._opened: dict[str, Sandbox] = {}

    def of(self, profile: str | None) -> Sandbox:
        from belljar import Sandbox

        options = {name: value for name, value in self._options.items() if value is not None}
        wanted = profile or options.pop("profile", "basic")
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
    """A `belljar.Sandbox`, one for the session, as --belljar-… and the ini file have it."""
    return _belljar_sandboxes.of(None)


_RUNNER = pytest.StashKey[Runner]()


@pytest.fixture
def run_untrusted(
    request: pytest.FixtureRequest, _belljar_sandboxes: _Sandboxes
) -> Iterator[Runner]:
    """Runs a student's file, given as a Path, or code; returns a `belljar.Result`."""
    options: dict[str, Any] = {}
    for mark in reversed(list(request.node.iter_markers("belljar"))):
        if mark.args:
            raise TypeError(
                f"@pytest.mark.belljar({mark.args[0]!r}): options go by name, as in profile=…"
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
        from belljar._notebook import bounded
        from belljar._result_text import result_text

        for number, result in enumerate(runner.results, 1):
            report.sections.append(
                (f"untrusted program {number}: {result.status}", bounded(result_text(result)))
            )
    return report


def pytest_assertrepr_compare(
    config: pytest.Config, op: str, left: object, right: object
) -> list[str] | None:
    for one, other in ((left, right), (right, left)):
        if type(one).__module__ == "belljar._result" and type(one).__name__ == "Result":
            return [
                f"{left!r} {op} {right!r}",
                "a Result is only equal to another of all the same parts;",
                f"compare its value, stdout or status with {other!r}",
            ]
    if _RUNNER in config.stash and isinstance(left, str) and isinstance(right, str):
        from belljar._notebook import spelled_out

        # pytest shows where texts differ as they are, and one of them may be a program's output.
        if spelled_out(left + right) != left + right:
            return [f"{_beginning(left)} {op} {_beginning(right)}", "with control characters"]
    return None


def _beginning(text: str) -> str:
    return repr(text) if len(text) <= 1000 else f"{text[:1000]!r}…"
