"""What a notebook shows of a cell, as MIME bundles. All that comes in is the program's.

A notebook's HTML runs scripts and loads addresses with its reader's rights. So HTML is made here:
of a page, its text in tags of a fixed list, without attributes; of a table, its cells. Markdown is
shown as text, since all who render it pass HTML and links on.
"""

from __future__ import annotations

import csv
import html
import io
import json
import re
from base64 import b64decode, b64encode
from html.parser import HTMLParser
from typing import Any

from belljar._escaping import bounded, escaped
from belljar._notebook import PNG

PLOTLY = "application/vnd.plotly.v1+json"

_MAX_ROWS = 60
_MAX_COLUMNS = 40
_MAX_PAGE = 400_000  # characters
_MAX_JSON = 1_000_000
_MAX_DEPTH = 100  # of tags

_TAGS = frozenset(
    "b blockquote br caption code dd del div dl dt em h1 h2 h3 h4 h5 h6 hr i ins kbd li mark ol p "
    "pre q s samp small span strong sub sup table tbody td tfoot th thead tr u ul var".split()
)
_EMPTY = frozenset({"br", "hr"})
# What is between them is no text for a reader.
_SILENT = frozenset({"script", "style", "template", "title", "head", "svg", "math", "textarea"})


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self._open: list[str] = []
        self._silent = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag in _SILENT:
            self._silent += 1
        elif tag in _TAGS and not self._silent and len(self._open) < _MAX_DEPTH:
            self.parts.append(f"<{tag}>")
            if tag not in _EMPTY:
                self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: Any) -> None:
        if tag in _EMPTY and not self._silent:
            self.parts.append(f"<{tag}>")

    def handle_endtag(self, tag: str) -> None:
        if tag in _SILENT:
            self._silent = max(self._silent - 1, 0)
        elif tag in self._open and not self._silent:
            while True:
                last = self._open.pop()
                self.parts.append(f"</{last}>")
                if last == tag:
                    break

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.parts.append(html.escape(escaped(data)))

    def finish(self) -> str:
        self.close()
        self.parts += [f"</{tag}>" for tag in reversed(self._open)]
        return "".join(self.parts)


def page(text: str) -> str | None:
    """Our own HTML of the program's. None: it is too long."""
    if len(text) > _MAX_PAGE:
        return None
    made = _Page()
    made.feed(text)
    return made.finish()


def table(text: str) -> str | None:
    """Our own HTML of a table's CSV: no tag or attribute comes from the program."""
    try:
        rows = list(csv.reader(io.StringIO(text), strict=True))
    except csv.Error:
        return None
    if len(rows) < 2:
        return None

    def line(tag: str, row: list[str]) -> str:
        cells = [html.escape(escaped(each)) for each in row[:_MAX_COLUMNS]]
        if len(row) > _MAX_COLUMNS:
            cells.append("…")
        return "<tr>" + "".join(f"<{tag}>{each}</{tag}>" for each in cells) + "</tr>"

    head, body = rows[0], rows[1:]
    lines = [line("td", row) for row in body[:_MAX_ROWS]]
    more = f"<p>{len(body):,} rows</p>" if len(body) > _MAX_ROWS else ""
    return (
        f'<table border="1"><thead>{line("th", head)}</thead>'
        f"<tbody>{''.join(lines)}</tbody></table>{more}"
    )


# Of a figure of plotly's: what its library would load from somewhere, or make a link of.
_LOADING = frozenset({"images", "mapbox", "map", "updatemenus", "sliders", "template", "config"})
_ADDRESS = re.compile(r"//|<\s*a\b|javascript:|data:|__proto__|constructor", re.IGNORECASE)


def _plain_figure(value: Any) -> Any:
    """Raises ValueError for what could load or link something."""
    if isinstance(value, dict):
        return {
            _plain_figure(key): _plain_figure(each)
            for key, each in value.items()
            if key not in _LOADING and not (key in {"source", "src"} and isinstance(each, str))
        }
    if isinstance(value, list):
        return [_plain_figure(each) for each in value]
    if isinstance(value, str) and _ADDRESS.search(value):
        raise ValueError(value)
    return value


def figure(text: str) -> dict[str, Any] | None:
    """The data and layout of a figure of plotly's, which its own renderer draws."""
    if len(text) > 4 * _MAX_JSON:
        return None
    try:
        given = json.loads(text)
        return {name: _plain_figure(given[name]) for name in ("data", "layout")}
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def picture(content: bytes) -> str | None:
    return b64encode(content).decode() if content.startswith(PNG) else None


def bundle(kind: str, data: str, text: str) -> dict[str, Any]:
    """Of a media type, its content (base64 of a picture), and the text in its place."""
    shown: dict[str, Any] = {"text/plain": bounded(text)}
    if kind == "text/csv":
        made = table(data)
    elif kind == "text/html":
        made = page(data)
    else:
        made = None
    if made is not None:
        shown["text/html"] = made
    if kind == "image/png":
        try:
            png = picture(b64decode(data, validate=True))
        except ValueError:
            png = None
        if png is not None:
            shown["image/png"] = png
    elif kind == PLOTLY and (drawn := figure(data)) is not None:
        shown[PLOTLY] = drawn
    elif kind == "application/json" and len(data) <= _MAX_JSON:
        try:
            shown[kind] = json.loads(data)
        except (ValueError, RecursionError):
            pass
    return shown
