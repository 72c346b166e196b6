"""cmd, for guests: reads lines as the program's own input() does, without readline."""

from __future__ import annotations

import cmd
from typing import Any

from .objects import check_classes_of
from .program import running


def _input(prompt: Any) -> Any:
    """input() as the program has it now: tests patch it."""
    return running.builtins["input"](prompt)


def reduce(has_files: bool) -> None:
    """Before the first use."""
    library: Any = cmd
    original = library.Cmd.__init__

    def __init__(  # noqa: N807
        self: Any, completekey: Any = "tab", stdin: Any = None, stdout: Any = None
    ) -> None:
        original(self, None, stdin, stdout)  # with a key, cmdloop() would import readline

    library.Cmd.__init__ = __init__
    check_classes_of(library)
    library.input = _input
