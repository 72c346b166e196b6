"""Regular expressions that the standard library compiles while it is imported, compiled ahead.

That is a twentieth of a zygote's start. The build keeps what `re` made of them in
share/belljar/patterns (tools/keep_patterns.py), and load() puts it where `re` looks first. What is
not there, because a module's pattern is another one by now, is compiled as ever.

Only the interpreter that made the file takes it: `sys.version` names the build. The file is as
trusted as the byte code beside it.
"""

from __future__ import annotations

import _sre
import marshal
import re
import sys

HEADER = b"belljar patterns 1\n" + sys.version.encode()
_FILE = f"{__file__.rsplit('/', 3)[0]}/patterns"


def load(path: str = _FILE) -> int:
    """Zygote, before other imports: how many there were; 0 where no file fits."""
    try:
        with open(path, "rb") as file:
            if file.read(len(HEADER)) != HEADER:
                return 0
            patterns = marshal.loads(file.read())
        for text, flags, arguments in patterns:
            made = _sre.compile(text, *arguments)
            re._cache[type(text), text, flags] = made  # type: ignore[attr-defined]
    except (OSError, EOFError, ValueError, TypeError):
        return 0
    return len(patterns)
