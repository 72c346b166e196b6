"""warnings, for guests.

The library's catch_warnings(module=) sets attributes of its argument, and warn_explicit() and
formatwarning() read source lines from any file; these are not available.
"""

from __future__ import annotations

import warnings
from typing import Any

from .objects import is_a, its_own_only
from .program import place_of_caller

_registry: dict[Any, Any] = {}  # which warnings were shown; the program cannot reach it


@its_own_only
class WarningMessage:
    """A warning recorded by catch_warnings(record=True)."""

    __slots__ = ("category", "file", "filename", "line", "lineno", "message", "source")

    def __init__(self, message: Any, category: Any, filename: str, lineno: int) -> None:
        self.message = message
        self.category = category
        self.filename = filename
        self.lineno = lineno
        self.file = self.line = self.source = None

    def __str__(self) -> str:
        return (
            f"{{message : {self.message!r}, category : {self.category.__name__!r}, "
            f"filename : {self.filename!r}, lineno : {self.lineno}, line : {self.line!r}}}"
        )


def warn(message: Any, category: Any = None, stacklevel: int = 1, source: Any = None) -> None:
    """warnings.warn; frames that are not the program's do not count."""
    filename, line, _ = place_of_caller(stacklevel)
    if is_a(message, Warning):
        category = type(message)
    elif category is None:
        category = UserWarning
    elif not (isinstance(category, type) and issubclass(category, Warning)):
        raise TypeError(f"category must be a Warning subclass, not '{type(category).__name__:s}'")
    warnings.warn_explicit(message, category, filename, line, "__main__", _registry)


@its_own_only
class catch_warnings:  # noqa: N801 (the library's name)
    """warnings.catch_warnings; `module` may not be given."""

    __slots__ = ("_entered", "_filters", "_options", "_record", "_show", "_show_impl")

    def __init__(
        self,
        *,
        record: bool = False,
        action: Any = None,
        category: Any = Warning,
        lineno: int = 0,
        append: bool = False,
    ) -> None:
        self._record = record
        self._options = None if action is None else (action, category, lineno, append)
        self._entered = False

    def __enter__(self) -> list[WarningMessage] | None:
        if self._entered:
            raise RuntimeError("Cannot enter catch_warnings twice")
        self._entered = True
        library: Any = warnings
        self._filters = library.filters
        library.filters = self._filters[:]
        library._filters_mutated()
        self._show_impl = library._showwarnmsg_impl
        log: list[WarningMessage] | None = None
        if self._record:
            seen = log = []

            def keep(shown: Any) -> None:
                seen.append(
                    WarningMessage(shown.message, shown.category, shown.filename, shown.lineno)
                )

            library._showwarnmsg_impl = keep
        if self._options is not None:
            warnings.simplefilter(*self._options)
        return log

    def __exit__(self, *_: object) -> None:
        if not self._entered:
            raise RuntimeError("Cannot exit catch_warnings without entering first")
        library: Any = warnings
        library.filters = self._filters
        library._filters_mutated()
        library._showwarnmsg_impl = self._show_impl
