"""A cell magic for IPython and notebooks that runs a cell in a sandbox.

    %load_ext belljar.ipython

    %%belljar --timeout 5 --input prices --output total
    total = sum(prices)
    print(total)

With `--session NAME` cells share a live Python, which stays until the extension is unloaded: the
next cell with that name has the variables. `%belljar_undo NAME` undoes its last cell.

Output appears while the cell runs, then its value and figures. Interrupting the kernel kills it.
"""

from __future__ import annotations

import contextlib
import dataclasses
import sys
from typing import Any

from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magic import Magics, cell_magic, line_magic, magics_class
from IPython.core.magic_arguments import argument, magic_arguments, parse_argstring
from IPython.display import display

from belljar import _options
from belljar._errors import BelljarError
from belljar._escaping import escaped
from belljar._result import Result
from belljar._sandbox import Sandbox
from belljar._session import Session


@magics_class
class BelljarMagics(Magics):
    """Keeps one sandbox per profile until the extension is unloaded."""

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self._sandboxes: dict[tuple[str | None, str | None], Sandbox] = {}
        self._sessions: dict[str, tuple[str | None, Session]] = {}  # with the profile

    @magic_arguments()
    @argument("--profile", "-p", help="Profile of the cell; default: what is enabled and needed.")
    @argument("--language", "-l", help='Language of the cell, such as "bash"; default: Python.')
    @argument("--session", "-s", metavar="NAME", help="A session, opened by the first such cell.")
    @argument("--timeout", "-t", help='Wall-clock limit: seconds, or "500ms".')
    @argument("--memory", "-m", help='Memory limit: bytes, or "64m".')
    @argument("--stdin", metavar="NAME", help="A notebook variable: standard input of the cell.")
    @argument(
        "--input", "-i", action="append", default=[], metavar="NAME",
        help="A notebook variable, plain data, to pass to the cell. May be repeated.",
    )  # fmt: skip
    @argument(
        "--output", "-o", action="append", default=[], metavar="NAME",
        help="A variable of the cell, plain data, to copy to the notebook. May be repeated.",
    )  # fmt: skip
    @argument("--result", "-r", metavar="NAME", help="A variable to store the belljar.Result in.")
    @argument("--raise", dest="raises", action="store_true", help="Raise if the cell fails.")
    @cell_magic
    def belljar(self, line: str, cell: str) -> None:
        """Runs the cell in a sandbox. Only the requested variables are copied to the notebook."""
        given = parse_argstring(self.belljar, line)
        language = None if given.language == "python" else given.language
        left: dict[str, Any] = {}

        def take(name: str | None = None, *value: Any) -> None:
            if name is not None and name in given.output and value:
                left[name] = value[0]

        try:
            options: dict[str, Any] = {
                "timeout": _number(given.timeout),
                "stdin": None if given.stdin is None else self._variable(given.stdin),
                "inputs": {name: self._variable(name) for name in given.input},
                "stream": _show,
            }
            for name in filter(None, [*given.output, given.result]):
                _options.variable("--output, --result", name)
            if given.session:
                session = self._session(given.session, given.profile, given.memory)
                result = session.run(cell, language=language, **options)
                left = _left_in(session, result, given.output, language)
            else:
                options |= {"memory": _number(given.memory)}
                if language is None:
                    options |= {"filename": "cell.py", "take": take if given.output else None}
                elif given.output:
                    raise ValueError("--output with --language needs --session")
                box = self._sandbox(given.profile, language)
                result = box._run(box._program(cell, **options), None, raise_on_error=False)
        except (TypeError, ValueError) as error:
            raise UsageError(f"%%belljar: {error}") from None
        # The output has already been shown.
        rest = dataclasses.replace(result, stdout="", stderr="")
        if not result.ok or result.value_repr is not None or result.artifacts:
            display(rest)
        self._hand_over(result, given.output, left)
        if given.result:
            self._shell.user_ns[given.result] = result
        if given.raises:
            result.raise_for_status()

    @line_magic
    def belljar_undo(self, line: str) -> None:
        """%belljar_undo NAME [CELLS]: undoes the last cells of a session."""
        name, _, cells = line.strip().partition(" ")
        if name not in self._sessions:
            raise UsageError(f"%belljar_undo: there is no session {name!r}")
        try:
            self._sessions[name][1].undo(int(cells or "1"))
        except ValueError as error:
            raise UsageError(f"%belljar_undo: {error}") from None

    def _session(self, name: str, profile: str | None, memory: str | None) -> Session:
        opened = self._sessions.get(name)
        if opened is None or opened[1].closed:
            session = self._sandbox(profile).session(memory=_number(memory))
            opened = self._sessions[name] = (profile, session)
        elif memory is not None or profile not in (None, opened[0]):
            raise ValueError(f"session {name!r} has been opened, with its profile and memory")
        return opened[1]

    def _sandbox(self, profile: str | None, language: str | None = None) -> Sandbox:
        key = (profile, language)
        if key not in self._sandboxes:
            self._sandboxes[key] = Sandbox(profile, language=language or "python")
        return self._sandboxes[key]

    def _variable(self, name: str) -> Any:
        try:
            return self._shell.user_ns[name]
        except KeyError:
            raise UsageError(f"%%belljar: you have no variable {name!r}") from None

    def _hand_over(self, result: Result, names: list[str], left: dict[str, Any]) -> None:
        self._shell.user_ns.update(left)
        for name in names:
            if name in left:
                continue
            is_there = name in result.variables
            why = "is too large or not plain data" if is_there else "was not left by the cell"
            print(f"%%belljar: {name} {why}; yours is as it was", file=sys.stderr)

    def close(self) -> None:
        self._sessions.clear()
        for sandbox in self._sandboxes.values():
            sandbox.close()
        self._sandboxes.clear()


def _left_in(
    session: Session, result: Result, names: list[str], language: str | None
) -> dict[str, Any]:
    """The variables that are plain data. Those of Python are read in a branch: the session stays as
    it is."""
    if language is not None:
        left = {}
        for name in names:
            with contextlib.suppress(BelljarError):  # it has none, or one that is not plain data
                left[name] = session.exchange(name, language, to=())
        return left
    there = [name for name in names if name in result.variables]
    if not there:
        return {}
    (branch,) = session.branch(1, reseed=False)
    with branch:
        values = {name: branch.run(name) for name in there}
    return {name: each.value for name, each in values.items() if each.has_value}


def _number(text: str | None) -> int | str | None:
    """For `Sandbox`: "5" becomes a number of seconds or bytes, "500ms" or "64m" stays a str."""
    return int(text) if text is not None and text.isdecimal() else text


def _show(name: str, text: str) -> None:
    stream = sys.stderr if name == "stderr" else sys.stdout
    # Untrusted text, which may be shown on a terminal.
    stream.write(escaped(text))
    stream.flush()


_KEY = "belljar_magics"


def load_ipython_extension(shell: InteractiveShell) -> None:
    magics = BelljarMagics(shell)
    shell.register_magics(magics)
    setattr(shell, _KEY, magics)


def unload_ipython_extension(shell: InteractiveShell) -> None:
    magics = getattr(shell, _KEY, None)
    if magics is not None:
        magics.close()
        shell.magics_manager.magics["cell"].pop("belljar", None)
        shell.magics_manager.magics["line"].pop("belljar_undo", None)
        delattr(shell, _KEY)
