"""IPython.display, for guests: what a program shows beside its output.

A notebook shows it at once (engine/inside/runner/shown.py); elsewhere there is its text, and pages
and pictures are artifacts. Objects are not asked for forms of their own.
"""

from __future__ import annotations

import base64
import json
import sys
from typing import Any

from .objects import is_a, its_own_only
from .program import running

_PNG = b"\x89PNG\r\n\x1a\n"


def _text_of(data: Any) -> str:
    if not is_a(data, str):
        raise TypeError(f"it is a {type(data).__name__}; give a str: the text itself")
    return str.__str__(data)


@its_own_only
class DisplayObject:
    """A text or a picture of one kind."""

    __slots__ = ("data",)
    media_type = "text/plain"

    def __init__(self, data: Any = None, url: Any = None, filename: Any = None) -> None:
        if url is not None:
            raise ValueError("[BJ502] nothing is loaded from addresses; give the data")
        if filename is not None:
            with running.scope["__builtins__"]["open"](filename, encoding="utf-8") as file:
                data = file.read()
        self.data = _text_of(data)

    def __repr__(self) -> str:
        return f"<IPython.core.display.{type(self).__name__} object>"


@its_own_only
class Pretty(DisplayObject):
    """Plain text."""

    __slots__ = ()


@its_own_only
class HTML(DisplayObject):
    """A piece of a page."""

    __slots__ = ()
    media_type = "text/html"


@its_own_only
class SVG(DisplayObject):
    """A drawing."""

    __slots__ = ()
    media_type = "image/svg+xml"


@its_own_only
class Markdown(DisplayObject):
    """Text with marks."""

    __slots__ = ()
    media_type = "text/markdown"


@its_own_only
class Latex(DisplayObject):
    """A formula, or text with formulas."""

    __slots__ = ()
    media_type = "text/latex"


@its_own_only
class Math(Latex):
    """A formula."""

    __slots__ = ()

    def __init__(self, data: Any = None, url: Any = None, filename: Any = None) -> None:
        DisplayObject.__init__(self, data, url, filename)
        self.data = f"$\\displaystyle {self.data.strip('$')}$"


@its_own_only
class JSON(DisplayObject):
    """Data, as a text or as lists, dicts and plain values."""

    __slots__ = ()
    media_type = "application/json"

    def __init__(
        self, data: Any = None, url: Any = None, filename: Any = None, expanded: Any = False
    ) -> None:
        is_text = data is None or is_a(data, str)
        DisplayObject.__init__(self, data if is_text else json.dumps(data), url, filename)


@its_own_only
class Image(DisplayObject):
    """A picture: the bytes of a PNG file."""

    __slots__ = ()
    media_type = "image/png"

    def __init__(
        self,
        data: Any = None,
        url: Any = None,
        filename: Any = None,
        format: Any = None,  # noqa: A002 (the library's name)
        embed: Any = None,
        width: Any = None,
        height: Any = None,
    ) -> None:
        if url is not None:
            raise ValueError("[BJ502] nothing is loaded from addresses; give the data")
        if is_a(data, str):  # as in the library
            filename, data = data, None
        if filename is not None:
            with running.scope["__builtins__"]["open"](filename, "rb") as file:
                data = file.read()
        if not is_a(data, bytes) or data[: len(_PNG)] != _PNG:
            raise ValueError("data is not a PNG file's bytes, the only pictures here")
        self.data = bytes(data)


_TEXTS = frozenset({"text/plain", "text/markdown", "text/latex", "application/json"})


def form_of(value: Any) -> tuple[str, str, str] | None:
    """Media type, data (base64 of a picture) and text of an object of these classes."""
    if not is_a(value, DisplayObject):
        return None
    kind, data = type(value).media_type, value.data
    if type(data) is bytes:
        return kind, base64.b64encode(data).decode(), repr(value)
    if type(data) is not str:  # the program's own by now
        return None
    return kind, data, data if kind in _TEXTS else repr(value)


def display(
    *objs: Any,
    include: Any = None,
    exclude: Any = None,
    metadata: Any = None,
    transient: Any = None,
    display_id: Any = None,
    raw: Any = False,
    clear: Any = False,
) -> None:
    """Shows objects: tables, figures and what the classes of this module make; others as text."""
    if clear:
        clear_output(True)
    for each in objs:
        kind, data, text = form_of(each) or ("", "", "")
        if running.shown is not None:
            sys.stdout.flush()  # what was printed before it comes before it
            if running.shown.show(each, kind, data, text):
                continue
        print(text or repr(each))


def clear_output(wait: Any = False) -> None:
    """Removes the output of the cell so far, in a notebook."""
    if running.shown is not None:
        sys.stdout.flush()
        running.shown.clear(bool(wait))
