"""xml.etree.ElementTree, for guests without files: documents come from text and file objects."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

from .objects import refuses

_has_files = True  # until reduce()


class _Reader:
    """Holds one method of a file object: the library may open() what has no such method."""

    __slots__ = ("read",)

    def __init__(self, source: Any, who: str) -> None:
        if isinstance(source, (str, bytes, int)):
            raise PermissionError(f"[BJ502] {who} takes a file object; wrap text in io.StringIO")
        try:
            self.read = source.read
        except AttributeError:
            raise PermissionError(f"[BJ502] {who} takes a file object") from None


class _Writer:
    """The same for output."""

    __slots__ = ("write",)

    def __init__(self, target: Any, who: str) -> None:
        if isinstance(target, (str, bytes, int)):
            raise PermissionError(f"[BJ502] {who} takes a file object; use io.StringIO or BytesIO")
        try:
            self.write = target.write
        except AttributeError:
            raise PermissionError(f"[BJ502] {who} takes a file object") from None


def parse(source: Any, parser: Any = None) -> Any:
    """xml.etree.ElementTree.parse from a file object."""
    tree = ElementTree.ElementTree()
    tree.parse(source, parser)
    return tree


def iterparse(source: Any, events: Any = None, parser: Any = None) -> Any:
    """xml.etree.ElementTree.iterparse; without files, from a file object."""
    if parser is not None:
        raise TypeError("[BJ502] iterparse() takes no parser of the program's")
    return ElementTree.iterparse(source if _has_files else _Reader(source, "iterparse()"), events)


def canonicalize(xml_data: Any = None, *, out: Any = None, **options: Any) -> Any:
    """xml.etree.ElementTree.canonicalize of text."""
    if "from_file" in options:
        raise PermissionError("[BJ502] canonicalize() takes the document as text")
    return ElementTree.canonicalize(xml_data, out=out, **options)


def _tree_parse(original: Callable) -> Callable:
    def parse(self: Any, source: Any, parser: Any = None) -> Any:
        """Load external XML document from a file object."""
        return original(self, _Reader(source, "parse()"), parser)

    return parse


def _tree_write(original: Callable) -> Callable:
    def write(self: Any, file_or_filename: Any, *args: Any, **kwargs: Any) -> Any:
        """Write element tree to a file object as XML."""
        return original(self, _Writer(file_or_filename, "write()"), *args, **kwargs)

    return write


def _tree_init(original: Callable) -> Callable:
    def __init__(self: Any, element: Any = None, file: Any = None) -> None:  # noqa: N807
        if file is not None:
            file = _Reader(file, "ElementTree()")
        original(self, element, file)

    return __init__


# A method of a Python class takes anything for `self`, and then does to it, by the names that it


def reduce(has_files: bool) -> None:
    """Zygote, before the freeze: the tree's own methods open no files."""
    global _has_files
    if has_files:
        return
    _has_files = False
    tree: Any = ElementTree.ElementTree
    tree.__init__ = _tree_init(tree.__init__)
    tree.parse = _tree_parse(tree.parse)
    tree.write = _tree_write(tree.write)
    tree.write_c14n = refuses("ElementTree.write_c14n", "use canonicalize()")
