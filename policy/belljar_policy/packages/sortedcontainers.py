"""sortedcontainers: constructors fill instances of their class, and no module or other class."""

from __future__ import annotations

from typing import Any

from ..library.objects import only_for_its_own
from . import late


def _adapt(package: Any) -> None:
    for each in (
        package.SortedDict,
        package.SortedKeyList,
        package.SortedList,
        package.SortedSet,
    ):
        only_for_its_own(each, "__init__")


def prepare_late() -> None:
    late.adapt_on_import({"sortedcontainers": _adapt})
