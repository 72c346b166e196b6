"""cmd, for guests: reads lines as the program's own input() does, without readline."""

from __future__ import annotations

import cmd
from typing import Any

from .builtins import input
from .objects import check_classes_of


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
    library.input = input
