"""pprint, for guests."""

from __future__ import annotations

import pprint
from typing import Any

import _belljar_guards as guards

from .dataclasses import fields


def reduce(_: bool) -> None:
    """Zygote, before the freeze: fields come from the class, not from the instance."""
    # The library trusts an instance's claimed fields and passes their names to getattr().
    printer: Any = pprint.PrettyPrinter

    def _pprint_dataclass(
        self: Any, obj: Any, stream: Any, indent: int, allowance: int, context: Any, level: int
    ) -> None:
        name = type(obj).__name__
        items = [(f.name, guards.getattr(obj, f.name)) for f in fields(obj) if f.repr]
        stream.write(f"{name}(")
        self._format_namespace_items(
            items, stream, indent + len(name) + 1, allowance, context, level
        )
        stream.write(")")

    printer._pprint_dataclass = _pprint_dataclass
