"""A Python executor for smolagents that runs each action of a CodeAgent in a sandbox.

    executor = BelljarExecutor(timeout=10)
    agent = CodeAgent(tools, model, executor=executor, instructions=executor.instructions)

All actions are cells of one session (`Sandbox.session`): whatever they define stays, and an action
that is stopped by a limit is undone. With `session=False` each action runs as a program in its own
process. Variables that are plain data are passed on to the next action; modules, functions, classes
and other objects are not, and the agent is told which. An action that is stopped by a limit or by
`final_answer` does not change the variables.

Tools run outside the sandbox with the rights of this process, and their arguments come from the
model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from smolagents.local_python_executor import CodeOutput, InterpreterError, PythonExecutor

from belljar import _functions, _host, _options, _plain
from belljar._escaping import escaped
from belljar._kept_session import KeptSession, offer_of
from belljar._result import MAX_CHARACTERS, Result
from belljar._sandbox import Sandbox
from belljar._session import Session

_MAX_STATE = 16 << 20  # characters of names and JSON, of all variables together
_MAX_NAMES = 10_000
_MAX_NAME = 256

_INSTRUCTIONS = (
    "Each code action runs in a fresh Python process. Variables that hold plain data (None, bool, "
    "int, float, str, bytes, list, tuple, dict, set) are kept for the next action; modules, "
    "functions, classes and other objects are not, even if other instructions say so: import and "
    "define them again in each action that uses them. "
)

_SESSION_INSTRUCTIONS = (
    "All code actions run in one live Python: variables, imports, functions and classes stay for "
    "the next action. An action that a limit stops is undone as a whole. "
)


class _FinalAnswer(BaseException):
    """Not an Exception, so it ends the run and the program cannot catch it."""

    def __init__(self, value: object) -> None:
        self.value = value


class BelljarExecutor(PythonExecutor):
    """For `CodeAgent(executor=…)`. Opens a sandbox unless one is given, and closes only that one.

    Args:
        sandbox: An existing sandbox to use, with its profile.
        profile: Profile of the executor's own sandbox. None: as for `Sandbox`.
        timeout, memory: Limits of an action, as in `Sandbox.run`. None: the sandbox's.
        max_characters: Maximum length of the logs that the model gets; the middle is cut out.
        session: Whether all actions are cells of one session. False: each is a separate program.
        most_characters: The former name of `max_characters`.

    Raises:
        ValueError: Both a sandbox and a profile are given, or `session` with containers.

    Attributes:
        variables: The variables that the next action gets. `send_variables` adds to them. With a
            session: only those that no action has got yet.
        lost: Names of earlier actions' variables that could not be kept.
        last_result: The result of the last action. None if `final_answer` ended it.
    """

    def __init__(
        self,
        sandbox: Sandbox | None = None,
        *,
        profile: str | None = None,
        timeout: float | str | None = None,
        memory: int | str | None = None,
        max_characters: int = MAX_CHARACTERS,
        session: bool = True,
        most_characters: int | None = None,
    ) -> None:
        if sandbox is not None and profile is not None:
            raise ValueError("profile: the given sandbox already has one; give only one of the two")
        if timeout is not None:
            _options.seconds("timeout", timeout)
        if memory is not None:
            _options.size("memory", memory)
        self._is_ours = sandbox is None
        self._sandbox = Sandbox(profile) if sandbox is None else sandbox
        self._limits: dict[str, Any] = {"timeout": timeout, "memory": memory}
        self._kept: KeptSession | None = None
        if _options.flag("session", session):
            self._kept = KeptSession(self._sandbox, self._limits)
        if self._kept is not None:
            self._offer = self._kept.offer()
        else:
            self._offer = offer_of(self._sandbox._open(), self._limits)
        self._max_characters = max_characters if most_characters is None else most_characters
        self._tools: dict[str, Callable[..., Any]] = {}
        self.variables: dict[str, Any] = {}
        self.lost: set[str] = set()
        self.last_result: Result | None = None
        # CodeAgent reads it after a failed action.
        self.state: dict[str, Any] = {"_print_outputs": ""}

    @property
    def session(self) -> Session | None:
        """The session of the actions, for instance to undo one. It opens on first use."""
        return None if self._kept is None else self._kept.open()

    @property
    def instructions(self) -> str:
        """For CodeAgent's argument `instructions`: what its own prompt does not say."""
        first = _INSTRUCTIONS if self._kept is None else _SESSION_INSTRUCTIONS
        return first + self._offer

    def send_tools(self, tools: Mapping[str, Callable[..., Any]]) -> None:
        self._tools = {
            name: _ending(tool) if name == "final_answer" else tool
            for name, tool in _functions.checked("tools", tools).items()
        }

    def send_variables(self, variables: Mapping[str, Any]) -> None:
        if not isinstance(variables, Mapping):
            raise TypeError(
                f"variables is a {type(variables).__qualname__}; give a dict: name to value"
            )
        for name, value in variables.items():
            _plain.encode(value, f"variables[{_options.variable('variables', name)!r}]")
        self.variables.update(variables)

    def __call__(self, code_action: str) -> CodeOutput:
        self.last_result = None
        if self._kept is not None:
            return self._in_session(self._kept.open(), code_action)
        said: list[str] = []
        notes: list[str] = []
        left = _Left()
        run_request = self._sandbox._program(
            code_action,
            **self._limits,
            filename="action.py",
            inputs={n: value for n, value in self.variables.items() if n not in self._tools},
            functions=self._tools,
            stream=lambda _, text: said.append(text),
            take=left.take,
        )
        try:
            result = self._sandbox._run(run_request, None, raise_on_error=False)
        except _FinalAnswer as answer:
            return CodeOutput(answer.value, self._logs(said, []), is_final_answer=True)
        self.last_result = result
        if left.is_all:
            self.variables = left.variables
            before = self.lost if len(self.lost) < _MAX_NAMES else set()
            self.lost = (before | left.lost) - left.variables.keys()
            if left.lost:
                names = ", ".join(sorted(left.lost))
                notes.append(
                    f"[belljar: not kept for the next action, too large or not plain data: {names}]"
                )
        return self._answer(result, said, notes)

    def _in_session(self, session: Session, code_action: str) -> CodeOutput:
        said: list[str] = []
        notes: list[str] = []
        try:
            result = session.run(
                code_action,
                inputs={n: value for n, value in self.variables.items() if n not in self._tools},
                functions=self._tools,
                stream=lambda _, text: said.append(text),
            )
        except _FinalAnswer as answer:
            self.variables = {}
            return CodeOutput(answer.value, self._logs(said, []), is_final_answer=True)
        self.last_result = result
        if result.session is not None and result.session.restored:
            notes.append("[belljar: the action was undone; everything is as it was before it]")
        elif result.status != "refused":
            self.variables = {}
        return self._answer(result, said, notes)

    def _answer(self, result: Result, said: list[str], notes: list[str]) -> CodeOutput:
        notes += [f"[belljar: file {each.name}, {each.size:,} bytes]" for each in result.artifacts]
        logs = self._logs(said, notes)
        if not result.ok:
            self._fail(result)
        value = result.value if _is_printable(result.value) else None
        return CodeOutput(
            result.value_repr if value is None else value, logs, is_final_answer=False
        )

    def _logs(self, said: list[str], notes: list[str]) -> str:
        printed = _host.program_text("".join(said), self._max_characters)
        parts = [printed, *(escaped(each) for each in notes)]
        logs = self.state["_print_outputs"] = "\n".join(part for part in parts if part)
        return logs

    def _fail(self, result: Result) -> NoReturn:
        text = _host.failure_text(result, self._max_characters)
        missing = re.match(
            r"name '(\w+)' is not defined", result.error.message if result.error else ""
        )
        if missing and missing[1] in self.lost:
            text += (
                f"\nhint: {missing[1]!r} of an earlier action was too large or not plain data, and "
                "was not kept; "
            )
            text += "import or define it again in this action."
        raise InterpreterError(text)

    def cleanup(self) -> None:
        """Closes the session, and the sandbox if it is the executor's own. CodeAgent calls this."""
        if self._kept is not None:
            self._kept.close()
        if self._is_ours:
            self._sandbox.close()


class _Left:
    """The variables of an action, as reported by a worker that may be hostile: names, sizes and
    numbers are checked."""

    def __init__(self) -> None:
        self.variables: dict[str, Any] = {}
        self.lost: set[str] = set()
        self.is_all = False
        self._size = 0

    def take(self, name: str | None = None, *value: Any) -> None:
        if name is None:
            self.is_all = True
            return
        if not isinstance(name, str) or len(name) > _MAX_NAME or not name.isidentifier():
            return
        if len(self.variables) + len(self.lost) >= _MAX_NAMES:
            return
        size = len(name) + (len(_plain.encode(value[0], name)) if value else 0)
        if not value or not _options.is_variable(name) or self._size + size > _MAX_STATE:
            self.lost.add(name)
            return
        self._size += size
        self.variables[name] = value[0]


def _is_printable(value: object) -> bool:
    """Agents print values, and printing an int with more than 4,300 digits raises."""
    try:
        str(value)
    except ValueError:
        return False
    return True


def _ending(tool: Callable[..., Any]) -> Callable[..., Any]:
    def final_answer(*args: Any, **kwargs: Any) -> NoReturn:
        value = tool(*args, **kwargs)
        if not _is_printable(value):
            raise ValueError("final_answer(): it has an int with more digits than Python prints")
        raise _FinalAnswer(value)

    return final_answer
