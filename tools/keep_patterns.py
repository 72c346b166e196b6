"""Generates share/belljar/patterns, which engine/inside/runner/patterns.py reads.

    keep_patterns.py --share FOLDER --profile FILE --output FILE

Performs the imports of a zygote in this process, with a stand-in for the guards, and records what
`re` compiles.
"""

from __future__ import annotations

import re
import sys
from typing import Any


class Recorder:
    """Replaces `_sre` for the library's compiler."""

    def __init__(self, native: Any) -> None:
        self._native = native
        self.made: list[tuple[re.Pattern[Any], tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._native, name)

    def compile(self, text: object, flags: int, code: list[int], *more: object) -> re.Pattern[Any]:
        pattern = self._native.compile(text, flags, code, *more)
        # Flags and code are subclasses of int, which marshal does not accept.
        self.made.append((pattern, (int(flags), [int(each) for each in code], *more)))
        return pattern


recorder = Recorder(re._compiler._sre)  # type: ignore[attr-defined]
re._compiler._sre = recorder  # type: ignore[attr-defined]

# Imported only now, so that what they compile is recorded: a zygote imports them, too.
import argparse  # noqa: E402
import importlib  # noqa: E402
import marshal  # noqa: E402
import os  # noqa: E402
import tomllib  # noqa: E402
from pathlib import Path  # noqa: E402

# Modules of reviewed.LATE_ANYWAY whose import is mostly the compilation of their patterns.
_LATE = ("doctest", "html.parser")


def start(share: Path, profile: dict[str, Any]) -> None:
    """Imports everything that a zygote imports, and what a worker imports often."""
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(Path(__file__).parent))
    sys.modules["_belljar_guards"] = importlib.import_module("walk_surface").StandIn()
    sys.path[1:1] = [str(share / room) for room in ("policy", "runner", "site-packages")]
    importlib.import_module("belljar_runner").prepare(profile, {})
    for name in _LATE:
        importlib.import_module(name)


def patterns() -> list[tuple[str | bytes, int, tuple[Any, ...]]]:
    """Text, requested flags (the key of the cache) and the arguments of _sre.compile."""
    made = re._cache.items()  # type: ignore[attr-defined]
    asked = {id(pattern): int(key[2]) for key, pattern in made}  # a sentinel's class is no int's
    return [
        (pattern.pattern, asked[id(pattern)], arguments)
        for pattern, arguments in recorder.made
        if type(pattern.pattern) in (str, bytes) and id(pattern) in asked
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("share", "profile", "output"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    options.output.unlink(missing_ok=True)  # or the patterns would be loaded from it
    start(options.share, tomllib.loads(options.profile.read_text()))
    header = importlib.import_module("belljar_runner.patterns").HEADER
    scratch = options.output.with_name(f"{options.output.name}.new")
    scratch.write_bytes(header + marshal.dumps(patterns()))
    os.replace(scratch, options.output)


if __name__ == "__main__":
    main()
