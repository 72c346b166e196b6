"""email, for guests: messages from and to text.

Loaded without sockets, which only the name of a message's host needs. The classes of headers are
made ahead: the library makes each when a message first has such a header, and a class that is made
while a program runs is the program's.
"""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterator
from typing import Any

import _belljar_guards as guards

from .objects import check_classes_of

_PARTS = (
    "_encoded_words", "_header_value_parser", "_parseaddr", "_policybase", "base64mime", "charset",
    "contentmanager", "encoders", "errors", "feedparser", "generator", "header", "headerregistry",
    "iterators", "message", "mime.application", "mime.audio", "mime.base", "mime.image",
    "mime.message", "mime.multipart", "mime.nonmultipart", "mime.text", "parser", "policy",
    "quoprimime", "utils",
)  # fmt: skip


@contextlib.contextmanager
def _without_sockets() -> Iterator[None]:
    """A stand-in for the module socket, unless it is loaded."""
    if "socket" in sys.modules:
        yield
        return
    stand_in: Any = types.ModuleType("socket")
    stand_in.getfqdn = lambda name="": name or "localhost"
    sys.modules["socket"] = stand_in
    try:
        yield
    finally:
        del sys.modules["socket"]


def _load() -> list[Any]:
    with _without_sockets():
        return [importlib.import_module(f"email.{part}") for part in _PARTS]


def _make_headers(registry_class: Any) -> dict[tuple[type, type], Any]:
    registry = registry_class()
    classes = {*registry.registry.values(), registry.default_class}
    base = registry.base_class
    return {
        (cls, base): guards.library_class(
            f"_{cls.__name__}", (cls, base), {"__module__": registry_class.__module__}
        )
        for cls in classes
    }


# When this module is imported: later classes are the program's (guards/origin.cc).
_MODULES = _load()
_REGISTRY: Any = sys.modules["email.headerregistry"].HeaderRegistry
_HEADERS = _make_headers(_REGISTRY)


def _name_the_host() -> None:
    """Since 3.13 make_msgid() imports socket when it is called, in a worker that cannot."""
    utils: Any = sys.modules["email.utils"]
    if hasattr(utils, "socket"):
        return
    original = utils.make_msgid

    def make_msgid(idstring: Any = None, domain: Any = None) -> str:
        with _without_sockets():
            return original(idstring, domain)

    for attribute in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(make_msgid, attribute, getattr(original, attribute))
    utils.make_msgid = make_msgid


def reduce(has_files: bool) -> None:
    """Before the first use."""
    make = _REGISTRY.__getitem__

    def __getitem__(self: Any, name: str) -> Any:  # noqa: N807
        found = _HEADERS.get((self.registry.get(name.lower(), self.default_class), self.base_class))
        return make(self, name) if found is None else found

    _REGISTRY.__getitem__ = __getitem__
    for module in _MODULES:
        check_classes_of(module)
    _name_the_host()
