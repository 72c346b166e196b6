"""xml.dom.minidom, for guests: documents from text and from file objects.

Its methods take any object for `self`, and set attributes of the nodes that they are given. Each
checks that both are nodes.
"""

from __future__ import annotations

import xml.dom.expatbuilder
import xml.dom.minidom as library
import xml.dom.xmlbuilder
from typing import Any

from .objects import check_classes_of, is_a, refuses
from .program import running

_TAKES_NODES = (
    "appendChild", "insertBefore", "replaceChild", "removeChild", "setAttributeNode",
    "removeAttributeNode", "replaceWholeText", "importNode", "renameNode", "isSameNode",
)  # fmt: skip


# What loads documents from any address.
_LOADING: dict[Any, tuple[str, ...]] = {
    xml.dom.xmlbuilder.DOMImplementationLS: (
        "createDOMBuilder", "createDOMInputSource", "createDOMWriter",
    ),
    xml.dom.xmlbuilder.DocumentLS: ("abort", "load", "loadXML", "saveXML"),
}  # fmt: skip


def parse(file: Any, parser: Any = None, bufsize: Any = None) -> Any:
    """The document in a file."""
    if type(file) is str:
        with running.builtins["open"](file, "rb") as opened:
            return library.parseString(opened.read())
    return library.parseString(file.read())


def parseString(string: Any, parser: Any = None) -> Any:  # noqa: N802
    """The document in a text."""
    return library.parseString(string)


def _only_nodes(cls: Any, name: str) -> None:
    original = cls.__dict__[name]

    def method(self: Any, *args: Any) -> Any:
        for each in args:
            if not (each is None or type(each) in (str, bool, int) or is_a(each, library.Node)):
                raise TypeError(f"{name}() takes nodes, not {type(each).__name__!r}")
        return original(self, *args)

    method.__name__, method.__qualname__ = original.__name__, original.__qualname__
    method.__doc__ = original.__doc__
    setattr(cls, name, method)


def reduce(has_files: bool) -> None:
    """Before the first use."""
    for cls, names in _LOADING.items():
        for name in names:
            setattr(cls, name, refuses(f"{cls.__name__}.{name}", "use parseString()"))
    check_classes_of(library)
    check_classes_of(xml.dom.expatbuilder)
    for cls in [value for value in vars(library).values() if isinstance(value, type)]:
        for name in _TAKES_NODES:
            if name in vars(cls) and callable(vars(cls)[name]):
                _only_nodes(cls, name)
