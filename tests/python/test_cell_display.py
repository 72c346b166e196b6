"""What a notebook makes of a program's HTML and figures: tags of a list, and nothing that loads."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any

import pytest
from belljar import _cell_display


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<b>bold</b> & <i class='x'>more</i>", "<b>bold</b> &amp; <i>more</i>"),
        ("<table border=1><tr><td>1<td>2</table>", "<table><tr><td>1<td>2</td></td></tr></table>"),
        ("a<br/>b<hr>", "a<br>b<hr>"),
        ("<p>never closed", "<p>never closed</p>"),
        ("</div></body>after", "after"),
        ("&lt;script&gt;", "&lt;script&gt;"),
        ("<style>b {}</style><title>t</title>x", "x"),
        ("\x1b[31m", "\\x1b[31m"),
    ],
)
def test_a_page(text: str, shown: str) -> None:
    assert _cell_display.page(text) == shown


class _Attributes(HTMLParser):
    """A reader of its own of what was made."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[Any] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.add(tag)
        self.attributes += attrs


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<b onmouseover=alert(1)>a</b>",
    "<a href='javascript:alert(1)'>a</a>",
    "<svg><script>alert(1)</script></svg>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<!--><img src=x onerror=alert(1)>-->",
    "<![CDATA[><img src=x onerror=alert(1)>]]>",
    "<<b>script>alert(1)<</b>/script>",
    "<table background=http://a.org/x><tr><td style='background: url(http://a.org)'>1</table>",
    "<script><script></script><img src=x onerror=alert(1)>",
    "<b" + " a" * 10_000 + ">",
    "<b>" * 10_000,
    "<link rel=stylesheet href=//a.org><meta http-equiv=refresh content=0><base href=//a.org>",
    "<form action=//a.org><input><button>Send</button></form>",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_page_has_no_attribute_and_no_tag_that_does_something(attack: str) -> None:
    def read(text: str) -> _Attributes:
        reader = _Attributes()
        reader.feed(text)
        reader.close()
        return reader

    # The control: what is given has something to fear, or is long.
    given = read(attack)
    assert (
        given.attributes
        or given.tags - _cell_display._TAGS
        or len(attack) > 10_000
        or ("script" in attack or "<!" in attack)
    )
    shown = _cell_display.page(attack)
    assert shown is not None
    made = read(shown)
    assert not made.attributes
    assert made.tags <= _cell_display._TAGS


def test_a_long_page_is_not_made() -> None:
    assert _cell_display.page("x" * 1_000_000) is None
    assert _cell_display.bundle("text/html", "x" * 1_000_000, "text") == {"text/plain": "text"}


def figure(**layout: Any) -> str:
    return json.dumps({"data": [{"type": "bar", "y": [1]}], "layout": layout, "config": {"x": 1}})


def test_a_figure_keeps_its_data_and_layout() -> None:
    drawn = _cell_display.figure(figure(title={"text": "a/b: c"}, template={"data": {}}))
    assert drawn == {
        "data": [{"type": "bar", "y": [1]}],
        "layout": {"title": {"text": "a/b: c"}},
    }


@pytest.mark.parametrize(
    "layout",
    [
        {"title": {"text": "<a href='x'>a</a>"}},
        {"title": {"text": "javascript:alert(1)"}},
        {"x": ["http://a.org"]},
        {"x": {"y": "//a.org"}},
        {"__proto__": {"a": 1}},
    ],
)
def test_a_figure_that_names_an_address_is_text(layout: dict[str, Any]) -> None:
    assert _cell_display.figure(figure(**layout)) is None


def test_a_figure_loads_nothing() -> None:
    drawn = _cell_display.figure(
        figure(images=[{"source": "x"}], mapbox={"style": "x"}, a={"source": "/api/contents"})
    )
    assert drawn is not None and drawn["layout"] == {"a": {}}


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"data": []}', "5"])
def test_what_is_no_figure_is_text(text: str) -> None:
    assert _cell_display.bundle(_cell_display.PLOTLY, text, "t") == {"text/plain": "t"}


def test_a_picture_is_one() -> None:
    assert "image/png" in _cell_display.bundle("image/png", "iVBORw0KGgo=", "")
    for data in ("PHN2Zz4=", "é", "iVBORw0KGgo=\n<b>", ""):
        assert set(_cell_display.bundle("image/png", data, "t")) == {"text/plain"}
