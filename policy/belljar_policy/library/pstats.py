"""pstats, for guests: the library's own, which prints tables; profiles are not kept in files, since
a file of them is read by marshal, which makes code objects.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

from .alone import load, stand_in
from .objects import check_classes_of, is_a, present_as


def _init(self: Any, *values: Any) -> None:
    for name, value in zip(type(self).__annotations__, values, strict=True):
        setattr(self, name, value)


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
    return f"{type(self).__name__}({fields})"


def _eq(self: Any, other: Any) -> Any:
    return vars(self) == vars(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(tuple(vars(self).values()))


def _dataclass(**_: Any) -> Any:
    """In place of dataclasses.dataclass, whose methods are text and for programs' classes."""

    def decorate(cls: Any) -> Any:
        cls.__init__, cls.__repr__, cls.__eq__, cls.__hash__ = _init, _repr, _eq, _hash
        return cls

    return decorate


_library: Any = load("pstats", {"dataclasses": stand_in("dataclasses", dataclass=_dataclass)})

SortKey = _library.SortKey
Stats = _library.Stats
FunctionProfile = _library.FunctionProfile
StatsProfile = _library.StatsProfile

_NO_FILES = "[BJ502] profiles are not kept in files; pass the Profile object to pstats.Stats()"


def refuse_files(*_: Any) -> None:
    """In place of what writes or reads them."""
    raise PermissionError(_NO_FILES)


def _without_files(original: Any) -> Any:
    def load_stats(self: Any, arg: Any) -> None:
        if is_a(arg, str):
            refuse_files()
        original(self, arg)

    return load_stats


Stats.load_stats = _without_files(Stats.load_stats)
Stats.dump_stats = lambda self, filename: refuse_files()
Stats.sort_arg_dict_default = MappingProxyType(Stats.sort_arg_dict_default)
for _name in ("dump_stats", "load_stats"):
    getattr(Stats, _name).__name__ = _name
    getattr(Stats, _name).__qualname__ = f"Stats.{_name}"
    getattr(Stats, _name).__module__ = "pstats"
check_classes_of(_library)
present_as("pstats", globals())
