"""Scores programs that a model has written: a reward function for verl, and its parts.

    custom_reward_function:      # of verl's configuration; reward_kwargs as for `compute_score`
      path: pkg://belljar.rewards
      name: compute_score
      reward_kwargs: {profile: full, timeout: 5, memory: 256m}

    >>> compute_score("mbpp", "```python\\ndef add(a, b): return a + b\\n```",
    ...               {"assert_case": ["assert add(2, 3) == 5"]})["score"]
    1.0

Training finds any way to score without solving the task, so a program must not be able to score
itself. Each test runs in a fresh process. Whatever can be compared in this process is: the program
gets the input but not the expected output, and `f(2)` of `assert f(2) == 4`, whose value arrives as
plain data. Other assertions run in the program's own process, where it can defeat them if it looks
for them; `Case.is_compared_outside` and the key `inside` report that.

A failure of this machine raises a BelljarError and is never a score.
"""

from __future__ import annotations

import ast
import json
import re
import secrets
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from belljar import _forks, _host, _options
from belljar._result import Result
from belljar._sandbox import Sandbox

__all__ = ["Case", "Grade", "compute_score", "extract_code", "grade"]

_MAX_DETAIL = 300  # characters


@dataclass(frozen=True, slots=True)
class Case:
    """The result of one test."""

    passed: bool
    status: str
    """"passed"; "wrong": another value or output; "exited": the program exited before the test
    ended; "no_value": its value is not plain data, or too large; "no_program": the answer has none;
    else the status of the result, such as "timeout"."""
    is_compared_outside: bool
    """Whether the comparison was made in this process. False: in the program's own."""
    detail: str
    """What went wrong, shortened. Partly chosen by the program."""


@dataclass(frozen=True, slots=True)
class Grade:
    """The results of a program's tests."""

    cases: tuple[Case, ...]
    """In order. With `every=False`, `grade` stops after the first that fails."""
    total: int

    @property
    def passed(self) -> int:
        return sum(case.passed for case in self.cases)

    @property
    def is_solved(self) -> bool:
        return self.total > 0 and self.passed == self.total


@dataclass(frozen=True, slots=True)
class _Test:
    """What is run, and what is expected of it."""

    ending: str
    stdin: str | None
    arguments: tuple[Any, ...]
    expected: Any
    kind: str
    """What is compared: "stdout"; the "value", or for `is` whether it is the "same"; its "json";
    "inside": nothing in this process."""


# --- what verl calls ------------------------------------------------------------------------------


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: str | Mapping[str, Any],
    extra_info: Mapping[str, Any] | None = None,
    *,
    continuous: bool = False,
    max_tests: int | None = None,
    most_tests: int | None = None,
    reward_router_address: str | None = None,
    reward_model_tokenizer: object = None,
    **options: Any,
) -> dict[str, Any]:
    """Scores the program in a model's answer.

    verl calls it in several threads, which share one sandbox in each process.

    Args:
        data_source, extra_info: Not used.
        solution_str: The model's answer. Its last block of code is scored; without one the whole
            answer, if it is a program. Else the status is "no_program" and the score 0.
        ground_truth: The tests, in the forms of verl's data sets, as a dict or its JSON:
            {"inputs": ["1 2\\n"], "outputs": ["3\\n"]}: standard input and output;
            {"fn_name": "add", "inputs": ["1\\n2"], "outputs": ["3"]}: a function, or a method of
            class Solution, with its arguments a line each in JSON;
            {"assert_case": ["assert add(1, 2) == 3"]}: statements after the program.
        continuous: The score is the share of tests that pass. False: 1.0 if all do, else 0.0, and
            no test runs after one that failed.
        max_tests: Runs only the first tests, up to this number. None: all.
        most_tests: The former name of `max_tests`.
        reward_router_address, reward_model_tokenizer: Passed by verl if there is a reward model.
            Not used.
        options: Those of `Sandbox`: profile, timeout, memory, language and so on.

    Returns:
        The same keys for each sample, since verl collects them by key: `score`, `acc` (whether it
        solves the task), `passed` and `tests` (numbers of tests), `inside` (how many were decided
        in the program's own process), `status` (of the first test that failed, else "passed") and
        `detail` (JSON: for each test that ran, its status and what went wrong).

    Raises:
        ValueError: The tests have none of these forms.
        BelljarError: This machine failed, so there is no score.
    """
    block = _block(solution_str)
    grade_ = _grade(
        solution_str if block is None else block,
        ground_truth,
        _sandboxes.of(options),
        every=continuous,
        max_tests=max_tests if most_tests is None else most_tests,
        may_be_prose=block is None,
    )
    failed = [case.status for case in grade_.cases if not case.passed]
    share = grade_.passed / grade_.total if grade_.total else 0.0
    return {
        "score": share if continuous else float(grade_.is_solved),
        "acc": grade_.is_solved,
        "passed": grade_.passed,
        "tests": grade_.total,
        "inside": sum(not case.is_compared_outside for case in grade_.cases),
        "status": failed[0] if failed else "passed",
        "detail": json.dumps([[case.status, case.detail] for case in grade_.cases]),
    }


class _Sandboxes:
    """The sandboxes of this process, by their options. verl's threads share one process."""

    def __init__(self) -> None:
        self._opened: dict[str, Sandbox] = {}
        self._after_fork()
        _forks.register(self)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def of(self, options: Mapping[str, Any]) -> Sandbox:
        key = repr(sorted(options.items()))
        with self._lock:
            if key not in self._opened:
                self._opened[key] = Sandbox(**options)
            return self._opened[key]


_sandboxes = _Sandboxes()


# --- grading --------------------------------------------------------------------------------------

_BLOCK = re.compile(r"^[ \t]*```[ \t]*([\w+-]*)[^\n]*\n(.*?)(?:^[ \t]*```|\Z)", re.M | re.S)


def extract_code(answer: str) -> str:
    """The last block of Python, else the last block without a language, else the whole answer. A
    block that is not closed ends where the answer does.

        >>> extract_code("So:\\n```python\\nprint(1)\\n```\\nDone.")
        'print(1)\\n'
    """
    block = _block(answer)
    return answer if block is None else block


def _block(answer: str) -> str | None:
    blocks: list[tuple[str, str]] = _BLOCK.findall(answer)
    for wanted in (("python", "python3", "py"), ("",)):
        for language, code in reversed(blocks):
            if language.lower() in wanted:
                return code
    return None


def grade(
    code: str,
    tests: str | Mapping[str, Any],
    *,
    sandbox: Sandbox,
    every: bool = True,
    max_tests: int | None = None,
    most_tests: int | None = None,
) -> Grade:
    """Runs a program against tests, each in its own process.

    Args:
        code: The program.
        tests: As `ground_truth` of `compute_score`.
        sandbox: The sandbox to use, with its limits.
        every: False: stops after the first test that fails.
        max_tests: Runs only the first tests, up to this number. None: all.
        most_tests: The former name of `max_tests`.

    Raises:
        ValueError: The tests have none of these forms.
        BelljarError: This machine failed.
    """
    return _grade(
        code,
        tests,
        sandbox,
        every=every,
        max_tests=max_tests if most_tests is None else most_tests,
    )


_NO_PROGRAM = Case(False, "no_program", True, "the answer has no program")


def _grade(
    code: str,
    tests: str | Mapping[str, Any],
    sandbox: Sandbox,
    *,
    every: bool,
    max_tests: int | None,
    may_be_prose: bool = False,
) -> Grade:
    """`may_be_prose`: the code is an answer without a block. It is not parsed here: a long text can
    crash Python's parser, and this process with it."""
    wanted = list(_read(tests))[:max_tests]
    if not code.strip():
        return Grade((_NO_PROGRAM,), len(wanted))
    cases: list[Case] = []
    for test in wanted:
        result, token = _run(code, test, sandbox)
        if may_be_prose and result.error is not None and result.error.type == "SyntaxError":
            return Grade((_NO_PROGRAM,), len(wanted))
        cases.append(_judged(test, result, token))
        if not (every or cases[-1].passed):
            break
    return Grade(tuple(cases), len(wanted))


def _read(tests: str | Mapping[str, Any]) -> Iterator[_Test]:
    given = json.loads(tests) if isinstance(tests, str) else tests
    if not isinstance(given, Mapping):
        raise ValueError(f"tests: a {type(given).__qualname__}; give a dict, or its JSON")
    if (asserts := given.get("assert_case")) is not None:
        for text in asserts:
            yield _assertion(str(text))
        return
    inputs, outputs = given.get("inputs"), given.get("outputs")
    if inputs is None or outputs is None or len(inputs) != len(outputs):
        raise ValueError('tests: there is neither "assert_case" nor as many "inputs" as "outputs"')
    name = given.get("fn_name")
    if name is not None and not _options.is_variable(str(name)):
        raise ValueError(f"tests: fn_name {name!r} is not the name of a function")
    for put, expected in zip(inputs, outputs, strict=True):
        if name is None:
            yield _Test("", _text(put), (), _text(expected), "stdout")
        else:
            yield _Test(_CALL.format(name=name), None, _arguments(put), _data(expected), "json")


def _text(value: Any) -> str:
    return "\n".join(map(str, value)) if isinstance(value, list) else str(value)


def _arguments(put: Any) -> tuple[Any, ...]:
    if isinstance(put, str):
        return tuple(json.loads(line) for line in put.splitlines() if line.strip())
    return tuple(put)


def _data(value: Any) -> Any:
    """In these data sets an expected value is JSON in a str, or plain."""
    if isinstance(value, str):
        try:
            return json.loads(value)
        except ValueError:
            return value
    return value


# In a tuple, because a plain None is not reported as a value.
_CALL = """
try:
    belljar_function = {name}
except NameError:
    belljar_function = Solution().{name}
(belljar_function(*belljar_arguments),)
"""


def _assertion(text: str) -> _Test:
    """`assert expression == literal` becomes the expression, whose value is compared here."""
    body = ast.parse(text.strip()).body
    last = body[-1] if body else None
    if not isinstance(last, ast.Assert):
        return _Test(f"\n{text}\n", None, (), None, "inside")
    before = "".join(f"{ast.unparse(each)}\n" for each in body[:-1])
    asked = last.test
    if isinstance(asked, ast.Compare) and len(asked.ops) == 1:
        kind = {ast.Eq: "value", ast.Is: "same"}.get(type(asked.ops[0]))
        try:
            expected = ast.literal_eval(asked.comparators[0])
        except ValueError:
            kind = None
        if kind:
            ending = f"\n{before}({ast.unparse(asked.left)},)\n"
            return _Test(ending, None, (), expected, kind)
    return _Test(f"\n{text}\n", None, (), None, "inside")


def _run(code: str, test: _Test, sandbox: Sandbox) -> tuple[Result, str]:
    source = f"{code}\n{test.ending}"
    options: dict[str, Any] = {}
    # Only a program that gets to its end returns this, unless it looks for it.
    token = secrets.token_hex(16)
    if test.kind == "inside":
        source += f"\n({token!r},)\n"
    if test.kind == "json":
        options["inputs"] = {"belljar_arguments": test.arguments}
    return sandbox.run(source, stdin=test.stdin, **options), token


def _judged(test: _Test, result: Result, token: str) -> Case:
    outside = test.kind != "inside"

    def case(status: str, detail: str = "") -> Case:
        return Case(status == "passed", status, outside, _host.program_text(detail, _MAX_DETAIL))

    if not result.ok:
        error = result.error
        what = f"{error.type}: {error.message}" if error else ""
        if not outside and error is not None and error.type == "AssertionError":
            return case("wrong", what)
        return case(result.status, what)
    if test.kind == "stdout":
        if result.exit_code:
            return case("exited", f"with {result.exit_code}")
        if "stdout" in result.truncated:
            return case("wrong", "more output than the limit")
        if _lines(result.stdout) == _lines(test.expected):
            return case("passed")
        return case("wrong", f"printed {result.stdout[:_MAX_DETAIL]!r}")
    if result.exit_code is not None:
        return case("exited", "the program called exit()")
    if not result.has_value or type(result.value) is not tuple or len(result.value) != 1:
        return case("no_value", result.value_repr or "")
    expected = test.expected if outside else token
    if _is_equal(result.value[0], expected, test.kind):
        return case("passed")
    return case("wrong", f"returned {result.value_repr or ''}" if outside else "")


def _lines(text: str) -> list[str]:
    """For comparing as judges do: no white space at ends of lines, no empty lines at the end."""
    return [line.rstrip() for line in text.rstrip().splitlines()]


def _is_equal(value: Any, expected: Any, kind: str) -> bool:
    """Both are plain data, so this calls none of the program's code."""
    if kind == "json":
        value = _as_json(value)
    if kind == "same" and type(value) is not type(expected):
        return False
    return bool(value == expected)


def _as_json(value: Any) -> Any:
    """The value as it would come back from JSON: tuples as lists, keys as strings."""
    if isinstance(value, list | tuple):
        return [_as_json(each) for each in value]
    if isinstance(value, dict):
        return {
            key if isinstance(key, str) else json.dumps(key, default=repr): _as_json(each)
            for key, each in value.items()
        }
    return value
