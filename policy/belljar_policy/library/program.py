"""The running program: its file name, its globals, and the compilation of further text.

doctest and timeit run text that came after the program was compiled. It goes through the same
policy, in the program's own builtins; nothing here takes a namespace as it is given.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import Any

import _belljar_guards as guards

NAME_OF_TEXT = "__exec__"
"""The `__name__` of text that runs in globals of its own, as no module is called."""
NO_SCOPE: dict[str, Any] = {}
"""The scope while no program runs. Told by its identity: a program could empty its own."""


class _Program:
    """One to a process, as a policy is."""

    filename = "main.py"
    source = ""
    scope: dict[str, Any] = NO_SCOPE
    builtins: dict[str, Any] = {}
    modules: dict[str, Any] = {}
    """The proxies, by name."""
    load_module: Callable[[str], Any] = staticmethod(lambda name: None)
    """The proxy of a module that the program may import, or None."""
    load_late: Callable[[str], None] = staticmethod(lambda name: None)
    """Loads a module of ModuleTable that is loaded on its first import, for the library."""
    start_over: Callable[[], None] = staticmethod(lambda: None)
    """Ends this process: the program needs a module that its zygote has left out (preload.py)."""
    absent_modules: frozenset[str] = frozenset()
    """Those modules."""
    may_import: Callable[[str], bool] = staticmethod(lambda name: True)
    """Whether this call may import the module."""
    is_withheld: Callable[[str, str], bool] = staticmethod(lambda module, name: False)
    """Whether the library's module has a name that the profile withholds."""
    shown: Any = None
    """Takes what the program shows (IPython_display.py); None: it is only printed."""
    executable = "/usr/bin/python3"
    """sys.executable: what it names is not there, and subprocess takes it for Python."""
    start_python: Callable[..., list[Any]] | None = None
    """Runs Python code in a jar of its own (refusing_subprocess.py), where the host does so: from
    source, name, arguments, environment, standard input and seconds to exit code, whether the
    seconds were over, and output."""
    has_end = False
    """Whether something runs after the program: threads, functions of atexit, __del__() of what its
    globals name. Most programs have nothing, and the code for it stays untouched."""
    has_network = False
    """Whether connections can be made: the profile has an egress proxy."""
    has_module: Callable[[str], bool] = staticmethod(lambda name: False)
    """Whether the profile has the module."""
    is_of_others: Callable[[str], bool] = staticmethod(lambda name: False)
    """Whether the library or another profile has the module: a mere folder is not one then."""
    own: Any = None
    """library/own_modules.py: the modules of the program's own files."""
    decode: Callable[[bytes, str], str] = staticmethod(lambda source, filename: source.decode())
    """The text of a source file, or SyntaxError: the runner's, as for the program itself."""
    compile_module: Callable[[str, str, str], CodeType]
    """Policy._compile_module, for own_modules.py."""
    check_module: Callable[[str, str, str], tuple[CodeType | None, list[Any], list[str]]]
    """Policy._check_module, likewise."""
    compile_text: Callable[[str, str, bool], CodeType] | None = None
    compile_mode: Callable[[str, str, str], tuple[CodeType, frozenset[str]]] | None = None
    """Policy._compile_mode, for library/scopes.py."""
    library_scopes: list[dict[str, Any]] = []
    """The globals of library code that runs as the program's."""
    run_as_guest: Callable[[list[tuple[Any, str]], dict[str, Any]], dict[str, Any]] | None = None
    """Runs trees of library code as the program's own code (Policy._run_as_guest)."""
    host_calls: Any = None
    """The host's functions that the program awaits: those of belljar_runner.host_calls, if it was
    given any."""
    tracebacks: Any = None
    """What shows exceptions with the guest's frames: the module belljar_runner.tracebacks."""

    def text_of(self, filename: str) -> str | None:
        """The text of a file of the program's, by its name in tracebacks."""
        return self.source if filename == self.filename else self.own.texts.get(filename)

    def scope_of(self, module: Any) -> dict[str, Any]:
        """The globals of a class's module, by its `__module__`."""
        found = self.own.scopes.get(module) if type(module) is str else None
        return self.scope if found is None else found

    def globals_of(self, function: Any) -> dict[str, Any]:
        """Of a function of the program's: those of its module."""
        if type(function) is not FunctionType:
            return self.scope
        names = function.__globals__
        is_of_library = any(names is each for each in self.library_scopes)
        return self.scope if is_of_library else names

    def need(self, module: str) -> None:
        """Before the proxy of a module is looked up that the program may not have named."""
        if module in self.absent_modules:
            self.start_over()


running = _Program()


def compile_text(text: Any, filename: str, *, shows_values: bool = False) -> CodeType:
    """Code of `text`, checked like the program's own source.

    `shows_values`: top-level expressions go to sys.displayhook, as in the interactive interpreter.
    Raises SyntaxError, and PermissionError for what the policy refuses.
    """
    if type(text) is not str:  # a subclass could show the check another text than the compiler
        raise TypeError("[BJ502] source text must be a plain str")
    if running.compile_text is None:
        raise RuntimeError("there is no policy to check the text")
    return running.compile_text(text, filename, shows_values)


def place_of_caller(level: Any = 1) -> tuple[str, int, str]:
    """File name, line and function of the program's frame `level` calls up, at most the outermost.

    Only the program's frames count.
    """
    place = (running.filename, 1, "<module>")
    left = level if type(level) is int else 1
    for place in places_of_callers():  # noqa: B007
        left -= 1
        if left <= 0:
            break
    return place


def places_of_callers() -> Iterator[tuple[str, int, str]]:
    """File name, line and function of each of the program's frames, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_builtins is running.builtins:
            yield frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back


def functions_and_classes(scope: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What the program defined at the top level of a module, by name."""
    for name, value in sorted(
        ((name, value) for name, value in scope.items() if type(name) is str),
        key=lambda item: item[0],
    ):
        if guards.is_guest_function(value) or guards.is_guest_class(value):
            yield name, value
