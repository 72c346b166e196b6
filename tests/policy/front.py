"""The policy's front half in this process: from source to findings or code, and no further.

A Policy changes its interpreter for good, so pytest must not build one. Judging source needs only
the names of a profile's modules.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]


@functools.cache
def front() -> Any:
    """A Policy for profiles/basic.toml whose compile() and check() work, and nothing else."""
    # Not at the top: the fixture in conftest.py says where _belljar_guards is.
    from belljar_policy import Policy
    from belljar_policy.modules import ModuleTable

    class Names(ModuleTable):
        def _build(self, entries: dict[str, dict[str, Any]]) -> None:
            for name, entry in entries.items():
                self._exports[name] = frozenset(entry.get("exports", ()))
                parent, _, child = name.rpartition(".")
                if parent:
                    self._exports[parent] = self._exports.get(parent, frozenset()) | {child}
            self._starred = {name: tuple(sorted(names)) for name, names in self._exports.items()}
            self._add_own()

        def load(self, name: str) -> None:
            """Nothing: the names are enough."""

    class Front(Policy):
        def __init__(self) -> None:
            with open(ROOT / "profiles" / "basic.toml", "rb") as file:
                self.modules = Names(tomllib.load(file), {"filesystem": ["os", "tempfile"]})

    return Front()


def exports() -> dict[str, Any]:
    """What the verifier judges imports by."""
    import __future__

    from tests.policy.verifier import OF_THE_PROGRAM

    modules = front().modules
    found = {name: modules.exports(name) for name in modules._exports}
    return {**found, **OF_THE_PROGRAM, "__future__": frozenset(__future__.all_feature_names)}
