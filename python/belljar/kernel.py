"""A Jupyter kernel whose cells run in a session: notebooks in JupyterLab, nbconvert, nbclient and
papermill, sealed.

    belljar kernel install --sys-prefix --profile data-science
    jupyter nbconvert --to notebook --execute --ExecutePreprocessor.kernel_name=belljar a.ipynb

Output appears while a cell runs, then its value, tables and figures. Interrupting raises a
KeyboardInterrupt in the cell. `input()` and `getpass()` ask in the notebook, where its client can;
the cell's clock stands still meanwhile, for at most ten minutes (`--input-timeout`). A cell that is
stopped by a limit costs that cell only: variables are as they were before it. A line of its own:
`%undo [CELLS]`, `%checkpoint [LABEL]`, `%checkpoints`, `%rollback ID`.

`%time`, `%timeit`, `len?`; `display()` and IPython.display, at once.

With `--language bash` a cell that begins with `%%bash` is in that language, with variables of its
own and the files of the session. `%exchange NAME FROM [TO...]` passes a value between languages.

The kernel's process runs none of the notebook's code. HTML from cells is not passed on: tables and
pages are rendered here, from their text. The notebook's folder is not in the sandbox; `--files
'*.csv'` gives sessions its files of these names, and `%put NAME` one as it is by then.
"""

from __future__ import annotations

import _thread
import argparse
import json
import shlex
import signal
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from ipykernel.kernelbase import Kernel

from belljar import _cell_display, _cell_magics, _host, _notebook_files
from belljar._errors import BelljarError
from belljar._escaping import bounded, escaped
from belljar._functions import Ask, Interrupted, Prompt
from belljar._notebook import MAX_PICTURES
from belljar._options import seconds, size
from belljar._result import ErrorReport, Result
from belljar._sandbox import Sandbox
from belljar._session import Session

_MAX_SHOWN = 500  # by one cell
# Of a cell's value, what it is shown as besides text.
_FORMS = ("text/csv", "text/html", "application/json")


class BelljarKernel(Kernel):  # type: ignore[misc]
    """One session, from the first cell until the kernel is shut down or restarted."""

    implementation = "belljar"
    implementation_version = _host.VERSION
    banner = f"Belljar {_host.VERSION}: Python {_host.PYTHON_VERSION} in a sandbox"
    language_info = {
        "name": "python",
        "version": _host.PYTHON_VERSION,
        "mimetype": "text/x-python",
        "file_extension": ".py",
        "pygments_lexer": "ipython3",
        "codemirror_mode": {"name": "ipython", "version": 3},
        "nbconvert_exporter": "python",
    }
    # For opening the session; set by the command line.
    profile: str | None = None
    limits: dict[str, Any] = {}
    input_timeout = 600.0  # seconds
    files: Sequence[str] = ()  # patterns: what sessions have of the notebook's folder
    languages: Sequence[str] = ()  # besides Python, that cells may be in

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._box: Sandbox | None = None
        self._session: Session | None = None
        self._asks = False  # in the main thread
        self._is_late = False
        self._numbers: dict[int, int] = {}  # the session's of a cell -> the notebook's
        self._shown = 0  # things, by the cell that runs
        self._value_forms: dict[str, Any] = {}  # of its value, besides text
        self._uncounted = 0  # cells so far that have no number in the notebook

    def _opened(self) -> Session:
        if self._session is None or self._session.closed:
            files = _notebook_files.read(self.files) if self.files else {}
            self._box = self._box or Sandbox(self.profile)
            self._session = self._box.session(**self.limits)
            self._numbers.clear()
            if files:
                self._session.files.update(files)
        return self._session

    def pre_handler_hook(self) -> None:
        super().pre_handler_hook()
        # Raises the KeyboardInterrupt in the cell, not here.
        signal.signal(signal.SIGINT, lambda *_: self._interrupt_here())

    def _interrupt_here(self) -> None:
        """In the main thread."""
        if self._asks:
            raise KeyboardInterrupt
        if self._session is not None:
            self._session.interrupt()

    def _interrupt(self) -> None:
        if self._asks:
            _thread.interrupt_main()
        elif self._session is not None:
            self._session.interrupt()

    def _ask(self, prompt: Prompt) -> str | None:
        """The prompt is in the cell's output already."""

        def give_up() -> None:
            self._is_late = True
            self._interrupt()

        timer = threading.Timer(self.input_timeout, give_up)
        timer.daemon = True
        self._is_late = False
        try:
            self._asks = True
            timer.start()
            line: str = (self.getpass if prompt.hidden else self.raw_input)("")
            return line
        except KeyboardInterrupt:
            if self._is_late:
                return None
            raise Interrupted from None
        finally:
            self._asks = False
            timer.cancel()

    def _send_interrupt_children(self) -> None:
        """Called for an interrupt request, in the thread of the control channel."""
        self._interrupt()

    # --- requests ---------------------------------------------------------------------------------

    async def do_execute(
        self,
        code: str,
        silent: bool,
        store_history: bool = True,
        user_expressions: dict[str, Any] | None = None,
        allow_stdin: bool = False,
        **_: Any,
    ) -> dict[str, Any]:
        try:
            cell = _cell_magics.read(code)
            if cell.asked is not None:
                return self._do_question(cell.asked, silent)
            if cell.command is not None:
                return self._do_command(*cell.command, silent)
            self._allow_stdin = allow_stdin  # of the base class, for raw_input()
            ask = self._ask if allow_stdin and cell.language is None else None
            return self._do_cell(cell, silent, self._name(silent or not store_history), ask)
        except (BelljarError, ValueError) as error:
            return self._failed(type(error).__name__, str(error), [f"{error}"], silent)

    def _name(self, is_uncounted: bool) -> str:
        """For tracebacks: with the number that the notebook shows."""
        if not is_uncounted:
            return f"<cell {self.execution_count}>"
        self._uncounted += 1
        return f"<cell without number {self._uncounted}>"

    def _do_cell(
        self, cell: _cell_magics.Cell, silent: bool, name: str, ask: Ask | None
    ) -> dict[str, Any]:
        if not cell.code.strip():
            return self._ok()

        def show(stream: str, text: str) -> None:
            # Progress bars return to the start of their line.
            self._say(stream, "\r".join(map(escaped, text.split("\r"))))

        self._shown, self._value_forms = 0, {}
        if cell.language is not None:
            self._check_language(cell.language)
        session = self._opened()
        if silent or cell.language is not None:
            result = session.run(
                cell.code,
                language=cell.language,
                filename=name,
                stream=None if silent else show,
                stdin=ask,
            )
        else:
            result = session._run_showing(
                cell.code, self._show_now, filename=name, stream=show, stdin=ask
            )
        if result.session is not None:
            self._numbers[result.session.cell] = self.execution_count
        if not silent:
            self._show(result)
            if result.session is not None and result.session.restored:
                self._say(
                    "stderr", "[belljar: undone; variables are as they were before this cell]\n"
                )
            if cell.is_timed:
                self._say("stdout", _cell_magics.usage_text(result.usage))
        if result.ok:
            return self._ok()
        error = result.error or ErrorReport(result.status, "", None, None, None, None)
        lines = _refusal(result, name) or _traceback(error)
        return self._failed(bounded(error.type), bounded(error.message), lines, silent)

    def _check_language(self, name: str) -> None:
        if name not in ("python", *self.languages):
            magics = ", ".join(f"%%{each}" for each in ("time", "timeit", *self.languages))
            raise ValueError(
                f"%%{name}: this kernel has {magics}; to add a language: belljar kernel install "
                "--language NAME"
            )

    def _do_question(self, name: str, silent: bool) -> dict[str, Any]:
        text = self._opened().inspect(name, len(name))
        if not silent:
            self._say("stdout", bounded(text or f"{name} is not defined here").rstrip() + "\n")
        return self._ok()

    def _show_now(self, kind: Any, data: Any = "", text: Any = "") -> None:
        """Called by the cell, with what it shows by IPython.display."""
        if not all(isinstance(each, str) for each in (kind, data, text)):
            raise ValueError("display() shows text")
        self._shown += 1
        if self._shown > _MAX_SHOWN:
            raise ValueError(f"a cell shows at most {_MAX_SHOWN} things")
        if kind.startswith("value:"):
            self._value_forms = _cell_display.bundle(kind.removeprefix("value:"), data, text)
        elif kind == "clear":
            self._send("clear_output", wait=data == "wait")
        else:
            self._display(_cell_display.bundle(kind, data, text))

    def _display(self, data: dict[str, Any]) -> None:
        self._send("display_data", data=data, metadata={})

    def _show(self, result: Result) -> None:
        displayed = [each for each in result.artifacts if each.origin == "display"]
        for each in [each for each in displayed if each.media_type == "image/png"][:MAX_PICTURES]:
            if (png := _cell_display.picture(each.content or b"")) is not None:
                self._display({"image/png": png, "text/plain": f"<{bounded(each.name)}>"})
        forms = self._value_forms
        for each in displayed:
            kind, text = each.media_type, each.text or ""
            if kind == _cell_display.PLOTLY or (
                kind in _FORMS and each.name.startswith("result.") and not forms
            ):
                made = _cell_display.bundle(kind, text, f"<{each.name}>")
                if each.name.startswith("result."):
                    forms = made
                else:
                    self._display(made)
        if result.value_repr is not None:
            data = forms | {"text/plain": bounded(result.value_repr)}
            self._send(
                "execute_result", data=data, metadata={}, execution_count=self.execution_count
            )

    def _do_command(self, name: str, argument: str, silent: bool) -> dict[str, Any]:
        session = self._opened()
        if name == "undo":
            if argument and not argument.isdecimal():
                raise ValueError(f"%undo {argument}: give a number of cells")
            session.undo(int(argument or "1"))
            said = "undone"
        elif name == "checkpoint":
            said = session.checkpoint(argument or None).id
        elif name == "checkpoints":
            said = "\n".join(
                f"{each.id}  {self._moment(each.cell)}  {each.label or ''}".rstrip()
                for each in session.checkpoints
            )
        elif name == "rollback":
            session.rollback(argument)
            said = f"as at {argument}"
        elif name == "exchange":
            words = argument.split()
            if len(words) < 2:
                raise ValueError("%exchange: give a variable and the language that has it")
            what, source, *to = words
            for language in (source, *to):
                self._check_language(language)
            said = bounded(repr(session.exchange(what, source, to=to or None)))
        elif name == "put":
            files = _notebook_files.read(self.files, shlex.split(argument))
            if not files:
                raise ValueError("%put: give the names of files")
            session.files.update(files)
            said = "\n".join(f"put {each}, {len(files[each]):,} bytes" for each in files)
        else:
            raise ValueError(
                f"%{name}: there are %undo, %checkpoint, %checkpoints, %rollback, %put, "
                "%exchange, %time and %timeit only"
            )
        if not silent:
            self._say("stdout", escaped(said) + "\n")
        return self._ok()

    def _moment(self, cell: int) -> str:
        number = self._numbers.get(cell)
        return "before the first cell" if number is None else f"after cell {number}"

    async def do_complete(self, code: str, cursor_pos: int) -> dict[str, Any]:
        try:
            found = self._opened().complete(code, min(cursor_pos, len(code)))
        except (BelljarError, ValueError):
            found = ()
        first = found[0] if found else None
        same = [
            each for each in found if first and (each.start, each.end) == (first.start, first.end)
        ]
        types = [
            {"text": each.text, "type": each.type or "", "start": each.start, "end": each.end}
            for each in same
        ]
        return {
            "status": "ok",
            "matches": [escaped(each.text) for each in same],
            "cursor_start": first.start if first else cursor_pos,
            "cursor_end": first.end if first else cursor_pos,
            "metadata": {"_jupyter_types_experimental": types},
        }

    async def do_inspect(
        self, code: str, cursor_pos: int, detail_level: int = 0, omit_sections: Any = ()
    ) -> dict[str, Any]:
        try:
            text = self._opened().inspect(code, min(cursor_pos, len(code)))
        except (BelljarError, ValueError):
            text = None
        data = {} if text is None else {"text/plain": bounded(text)}
        return {"status": "ok", "found": text is not None, "data": data, "metadata": {}}

    async def do_is_complete(self, code: str) -> dict[str, Any]:
        """A guess by the last line: nothing here parses the code."""
        last = code.rstrip("\n").rpartition("\n")[2]
        if code.endswith("\n") or not last.strip():
            return {"status": "complete"}
        if last.rstrip().endswith((":", "\\", ",", "(", "[", "{")) or last[:1] in " \t":
            indent = last[: len(last) - len(last.lstrip())]
            deeper = "    " if last.rstrip().endswith(":") else ""
            return {"status": "incomplete", "indent": indent + deeper}
        return {"status": "complete"}

    async def do_shutdown(self, restart: bool) -> dict[str, Any]:
        if self._box is not None:
            self._box.close()
        self._box = self._session = None
        return {"status": "ok", "restart": restart}

    # --- answers ----------------------------------------------------------------------------------

    def _ok(self) -> dict[str, Any]:
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [],
            "user_expressions": {},
        }

    def _failed(self, name: str, message: str, lines: list[str], silent: bool) -> dict[str, Any]:
        error = {"ename": name, "evalue": message, "traceback": lines}
        if not silent:
            self._send("error", **error)
        return {"status": "error", "execution_count": self.execution_count, **error}

    def _say(self, name: str, text: str) -> None:
        self._send("stream", name=name, text=text)

    def _send(self, kind: str, **content: Any) -> None:
        self.send_response(self.iopub_socket, kind, content)


def _refusal(result: Result, name: str) -> list[str]:
    """Of a cell that was not run: each finding once, where it is."""
    lines = []
    for each in result.findings:
        place = f"{name}:{each.line or 1}:{each.column or 1}"
        lines.append(bounded(f"{place}: {each.rule} {each.reason}"))
        if each.hint:
            lines.append(bounded(f"    hint: {each.hint}"))
    return lines


def _traceback(error: ErrorReport) -> list[str]:
    shown = bounded(error.traceback or f"{error.type}: {error.message}").rstrip()
    hint = [bounded(f"hint: {error.hint}")] if error.hint else []
    return [*shown.splitlines(), *hint]


# --- the command line -----------------------------------------------------------------------------


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="belljar kernel", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("command", choices=["install", "uninstall"])
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user; the default")
    where.add_argument("--sys-prefix", action="store_true", help="in this environment of Python")
    where.add_argument("--prefix", help="below this folder")
    parser.add_argument("--name", default="belljar", help='of the kernel; default "belljar"')
    parser.add_argument("--display-name", default=None, help="in menus")
    _session_options(parser)
    return parser


def _session_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--profile", help="what cells may use; default: all enabled ones")
    parser.add_argument("--timeout", help='wall-clock limit of a cell: seconds, or "5m"')
    parser.add_argument("--input-timeout", help="longest wait for an answer; default: 10m")
    parser.add_argument(
        "--files",
        action="append",
        metavar="PATTERN",
        help="files of the notebook's folder that sessions have, such as '*.csv'; repeatable",
    )
    parser.add_argument(
        "--language",
        action="append",
        metavar="NAME",
        help="a language besides Python that cells may be in, such as bash; repeatable",
    )
    parser.add_argument("--memory", help='memory limit of the session: bytes, or "2g"')


def _limits(given: argparse.Namespace) -> dict[str, Any]:
    limits = {}
    if given.timeout is not None:
        limits["timeout"] = seconds("--timeout", given.timeout) / 1000
    if given.memory is not None:
        limits["memory"] = size("--memory", given.memory)
    return limits


def _input_timeout(given: argparse.Namespace) -> float:
    return seconds("--input-timeout", given.input_timeout) / 1000


def _kernel_spec(given: argparse.Namespace) -> dict[str, Any]:
    argv = [sys.executable, "-m", "belljar.kernel", "-f", "{connection_file}"]
    for option in ("profile", "timeout", "input-timeout", "memory"):
        if (value := getattr(given, option.replace("-", "_"))) is not None:
            argv += [f"--{option}", value]
    argv += [f"--files={pattern}" for pattern in given.files or ()]
    argv += [f"--language={name}" for name in given.language or ()]
    profile = f" ({given.profile})" if given.profile else ""
    return {
        "argv": argv,
        "display_name": given.display_name or f"Python in Belljar{profile}",
        "language": "python",
        "interrupt_mode": "message",
    }


def manage(arguments: Iterable[str]) -> int:
    """`install` and `uninstall`."""
    from jupyter_client.kernelspec import KernelSpecManager

    given = _arguments().parse_args(list(arguments))
    specs = KernelSpecManager()
    if given.command == "uninstall":
        try:
            print(f"removed {shlex.quote(specs.remove_kernel_spec(given.name))}")
        except KeyError:
            raise ValueError(f"there is no kernel {given.name!r}") from None
        return 0
    _limits(given)
    if given.input_timeout is not None:
        _input_timeout(given)
    Sandbox(given.profile, spares=1).close()  # reports an unusable profile
    for name in given.language or ():  # likewise
        with Sandbox(language=name, spares=1) as box, box.session():
            pass
    prefix = sys.prefix if given.sys_prefix else given.prefix
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        for logo in (Path(__file__).parent / "logos").iterdir():
            (Path(folder) / logo.name).write_bytes(logo.read_bytes())
        (Path(folder) / "kernel.json").write_text(json.dumps(_kernel_spec(given), indent=1))
        place = specs.install_kernel_spec(folder, given.name, user=prefix is None, prefix=prefix)
    print(f"installed {shlex.quote(place)}")
    return 0


def main(arguments: list[str]) -> int:
    if arguments[:1] in (["install"], ["uninstall"], ["-h"], ["--help"]):
        try:
            return manage(arguments)
        except (BelljarError, OSError, ValueError) as error:
            print(f"belljar kernel: {error}", file=sys.stderr)
            return 2 if isinstance(error, ValueError) else 5  # as the command's
    from ipykernel.kernelapp import IPKernelApp

    parser = argparse.ArgumentParser(add_help=False)
    _session_options(parser)
    given, others = parser.parse_known_args(arguments)
    BelljarKernel.profile = given.profile
    BelljarKernel.limits = _limits(given)
    if given.input_timeout is not None:
        BelljarKernel.input_timeout = _input_timeout(given)
    BelljarKernel.files = tuple(given.files or ())
    BelljarKernel.languages = tuple(given.language or ())
    IPKernelApp.launch_instance(argv=others, kernel_class=BelljarKernel)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
