"""What a program shows beside its result: figures as PNG, tables as CSV, formulas.

Artifacts are bytes in memory that the host copies; the report only says where each one is. What is
shown is the guest's: its artists draw, its objects are asked for their texts. So all of this may
run code of the guest's, raise anything and take long, which the host's clock bounds; what it may
not do is break the report. Methods are taken from the packages' own classes, as they were in the
zygote, and only objects of exactly these classes are shown.
"""

import base64
import io
import os
import sys
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

from .tracebacks import type_name

MAX_FIGURES = 20
MAX_PIXELS = 4_000_000
MAX_CELLS = 100_000  # of a table; they take some 0.15 s
MAX_COLUMNS = 1000
_CELLS_AT_A_TIME = 20_000  # that become text before the length is looked at
_NAMED_COLUMNS = 12  # in the note
_MAX_NAME = 40  # characters of a column's name there
_MAX_NOTE = 220  # characters: within the host's limit in bytes of UTF-8
_MAX_TEXT = 4 << 20  # bytes of one artifact that is text

_WORKSPACE = "/workspace/"  # whose files are a part of the result

_SUFFIXES = {
    "application/json": "json",
    "image/png": "png",
    "image/svg+xml": "svg",
    "text/html": "html",
    "text/latex": "tex",
    "text/markdown": "md",
    "text/plain": "txt",
}

_PNG = b"\x89PNG\r\n\x1a\n"
_mro_of = type.__dict__["__mro__"].__get__
_dict_of = type.__dict__["__dict__"].__get__

Keep = Callable[[bytes], int | None]
"""Takes an artifact's bytes: where they begin among all of them, or None if there is no room."""


class _Unfit(Exception):
    """Not shown, because it is too large or not what it says."""


class _Known:
    """The packages as the zygote left them; None: not part of this profile."""

    figure: Any = None
    managers: Any = None
    shown_figures: list[Any] = []
    lines_of_figures: dict[int, tuple[str, int]] = {}
    saved_figures: dict[int, tuple[Any, str]] = {}
    shown_plotly: list[Any] = []
    pandas: Any = None
    plotly: Any = None
    sympy: Any = None


_known = _Known()
_shown: dict[int, Callable[..., None]] = {}


def prepare() -> None:
    """Zygote, with the packages loaded."""
    loaded = sys.modules
    _known.figure = loaded.get("matplotlib.figure")
    _known.managers = loaded.get("matplotlib._pylab_helpers")
    ours = loaded.get("belljar_policy.packages.matplotlib")
    if ours is not None:
        _known.shown_figures = ours.shown
        _known.lines_of_figures = ours.shown_at
        _known.saved_figures = ours.saved
    ours = loaded.get("belljar_policy.packages.plotly")
    if ours is not None:
        _known.shown_plotly = ours.shown
    _known.pandas = loaded.get("pandas")
    _known.plotly = loaded.get("plotly.io")
    _known.sympy = loaded.get("sympy")
    for module, name, show in (
        ("pandas", "DataFrame", Display._show_frame),
        ("pandas", "Series", Display._show_series),
        ("plotly.graph_objects", "Figure", Display._show_plotly),
        ("sympy", "Basic", Display._show_formula),
        ("sympy", "MatrixBase", Display._show_formula),
    ):
        if module in loaded:
            _shown[id(getattr(loaded[module], name))] = show


def shows_at_the_end(value: object) -> bool:
    """Whether it is a figure, which is drawn as it is when the run ends."""
    for shown, module in ((_known.shown_figures, _known.figure), (_known.shown_plotly, _graphs())):
        if module is not None and type(value) is module.Figure:
            shown.append(value)
            return True
    return False


def _graphs() -> Any:
    return sys.modules.get("plotly.graph_objects") if _known.plotly is not None else None


def table_of(value: object) -> tuple[str, str] | None:
    """Media type and content of a table, as it is now."""
    pandas = _known.pandas
    if pandas is None:
        return None
    try:
        if type(value) is pandas.Series:
            value = pandas.Series.to_frame(value)
        if type(value) is pandas.DataFrame:
            rows, columns = pandas.DataFrame.shape.fget(value)
            return "text/csv", _csv_of(value, rows, columns)[0]
    except Exception:  # its parts are the program's
        pass
    return None


def forget_shown() -> None:
    """After a cell: its figures are closed, as in a notebook, so that the next shows its own."""
    _known.shown_figures.clear()
    _known.lines_of_figures.clear()
    _known.saved_figures.clear()
    _known.shown_plotly.clear()
    try:
        if _known.managers is not None:
            _known.managers.Gcf.figs.clear()
    except Exception:  # the program's own objects may be among the managers
        pass


class Display:
    """The artifacts of one run."""

    def __init__(self, keep: Keep) -> None:
        self._keep = keep
        self.artifacts: list[dict[str, Any]] = []
        self.left_out = 0

    def _add(self, name: str, media_type: str, content: bytes, note: str = "") -> None:
        offset = self._keep(content)
        if offset is None:
            raise _Unfit
        self.artifacts.append(
            {
                "name": name,
                "media_type": media_type,
                "offset": offset,
                "size": len(content),
                "note": note or None,
            }
        )

    def _add_text(self, name: str, media_type: str, text: object, note: str = "") -> None:
        if type(text) is not str or len(text) > _MAX_TEXT:
            raise _Unfit
        self._add(name, media_type, text.encode("utf-8", "backslashreplace"), note)

    def _try(self, show: Callable[..., None], *args: Any) -> None:
        try:
            show(*args)
        except BaseException:
            self.left_out += 1

    def show_kept(self, kept: list[tuple[str, str, bytes]], left_out: int) -> None:
        """What the program has shown by IPython.display."""
        for artifact in kept:
            self._try(self._add, *artifact)
        self.left_out += left_out

    def show_figures(self, value: object = None) -> None:
        """Those that the program left open or showed, and `value`."""
        for number, figure in enumerate(self._figures(value), 1):
            if number > MAX_FIGURES:
                self.left_out += 1
                continue
            self._try(self._show_figure, figure, number)

    def _figures(self, value: object) -> Iterator[Any]:
        if _known.figure is None:
            return
        open_figures = []
        try:
            for manager in list(_known.managers.Gcf.figs.values()):
                open_figures.append(manager.canvas.figure)
        except Exception:  # the program's own objects are among the managers
            self.left_out += 1
        seen: set[int] = set()
        for figure in (*_known.shown_figures, *open_figures, value):
            if type(figure) is not _known.figure.Figure or id(figure) in seen:
                continue
            seen.add(id(figure))
            if not _is_in_a_file(figure):
                yield figure

    def _show_figure(self, figure: Any, number: int) -> None:
        dpi, note = _dpi_of(figure)
        drawn = io.BytesIO()
        _known.figure.Figure.savefig(figure, drawn, format="png", dpi=dpi)
        content = drawn.getvalue()
        if content[: len(_PNG)] != _PNG or _pixels_of(content) > 2 * MAX_PIXELS:
            raise _Unfit
        self._add(f"figure-{number}.png", "image/png", content, note)

    def show_value(self, value: object) -> None:
        """The result, if it is a table, a figure of plotly's or a formula."""
        # By identity: the classes that are shown live as long as the interpreter.
        if (form := form_of(value)) is not None:
            self._try(self._show_form, *form)
            return
        for base in _mro_of(type(value)):
            if id(base) in _shown:
                self._try(_shown[id(base)], self, value)
                return

    def _show_form(self, kind: str, data: str, _: str) -> None:
        suffix = _SUFFIXES[kind]
        if kind == "image/png":
            self._add(f"result.{suffix}", kind, base64.b64decode(data))
        else:
            self._add_text(f"result.{suffix}", kind, data)

    def _show_series(self, value: Any) -> None:
        self._show_frame(_known.pandas.Series.to_frame(value))

    def _show_frame(self, value: Any) -> None:
        """The whole table, or its first rows: MAX_CELLS, or as many as fit in _MAX_TEXT."""
        frame = _known.pandas.DataFrame
        rows, columns = frame.shape.fget(value)
        text, shown = _csv_of(value, rows, columns)
        note = f"{rows} rows x {columns} columns: {_columns_of(value, columns)}"
        if shown < rows or columns > MAX_COLUMNS:
            kept = f"the first {shown} rows and {min(columns, MAX_COLUMNS)} columns of "
            note = kept + note
        self._add_text("result.csv", "text/csv", text, note[:_MAX_NOTE])

    def show_plotly(self) -> None:
        """Figures of plotly's that the program showed."""
        for number, figure in enumerate(_known.shown_plotly, 1):
            if number > MAX_FIGURES:
                self.left_out += 1
            else:
                self._try(self._show_plotly, figure, f"plotly-{number}")

    def _show_plotly(self, value: Any, name: str = "result") -> None:
        plotly = _known.plotly
        self._add_text(
            f"{name}.plotly.json",
            "application/vnd.plotly.v1+json",
            plotly.to_json(value, validate=False),
        )
        self._add_text(
            f"{name}.html",
            "text/html",
            plotly.to_html(value, include_plotlyjs="cdn", validate=False),
            "loads plotly.js from its makers' server when it is opened",
        )

    def _show_formula(self, value: Any) -> None:
        self._add_text("result.tex", "text/x-tex", _known.sympy.latex(value))


def form_of(value: object) -> tuple[str, str, str] | None:
    """Of an object of IPython.display's."""
    try:
        return sys.modules["belljar_policy.library.IPython_display"].form_of(value)
    except BaseException:  # not imported, or no longer ours
        return None


def page_of(value: object, is_program_s: Callable[[type], bool]) -> str | None:
    """What a class of the program's says that its object is as a page."""
    for base in _mro_of(type(value)):
        method = _dict_of(base).get("_repr_html_")
        if method is None:
            continue
        if type(method) is not FunctionType or not is_program_s(base):
            return None
        text = method(value)
        return text if type(text) is str and len(text) <= _MAX_TEXT else None
    return None


def _is_in_a_file(figure: Any) -> bool:
    """Whether a file of the result shows the figure as it is now."""
    _, path = _known.saved_figures.get(id(figure), (None, ""))
    if not path.startswith(_WORKSPACE):
        return False
    return figure._stale is False and os.path.isfile(path)


def _csv_of(value: Any, rows: int, columns: int) -> tuple[str, int]:
    """The table as CSV, and how many of its rows are in it. In pieces, since the length of a cell
    is known only when it is text."""
    pandas = _known.pandas
    frame = pandas.DataFrame
    # Rows that are only numbered need no column of numbers.
    numbered = type(frame.index.__get__(value, frame)) is pandas.RangeIndex
    width = max(min(columns, MAX_COLUMNS), 1)
    most = min(rows, max(MAX_CELLS // width, 1))
    at_a_time = max(_CELLS_AT_A_TIME // width, 1)
    pieces: list[str] = []
    size = shown = 0
    while True:
        end = min(shown + at_a_time, most)
        part = frame.iloc.fget(value)[shown:end, :MAX_COLUMNS]
        piece = frame.to_csv(part, index=not numbered, header=shown == 0)
        if type(piece) is not str:
            raise _Unfit
        size += len(piece)
        if size > _MAX_TEXT:
            if not pieces and end > 1:  # fewer rows may fit
                at_a_time, size = max(end // 8, 1), 0
                continue
            break
        pieces.append(piece)
        shown = end
        if shown >= most:
            break
    if not pieces:
        raise _Unfit
    return "".join(pieces), shown


def _columns_of(value: Any, columns: int) -> str:
    """ "id int64, name object and 3 more": names and types of the first columns."""
    frame = _known.pandas.DataFrame
    part = frame.iloc.fget(value)[:0, :_NAMED_COLUMNS]
    named = ", ".join(
        f"{_name_of(name)} {_name_of(str(dtype))}"
        for name, dtype in zip(part.columns, part.dtypes, strict=True)
    )
    more = columns - _NAMED_COLUMNS
    return named + (f" and {more} more" if more > 0 else "")


def _name_of(name: object) -> str:
    """On one line, whatever it is. Names are the program's: only plain ones are asked."""
    if type(name) not in (str, int, float, bool):
        return f"({type_name(type(name))})"
    text = str(name)[: _MAX_NAME + 1]
    text = "".join(each if each.isprintable() else "?" for each in text)
    return text if len(text) <= _MAX_NAME else text[:_MAX_NAME] + "…"


def _dpi_of(figure: Any) -> tuple[float, str]:
    """Dots per inch that keep the figure within MAX_PIXELS, and what to say about it."""
    width, height = (float(side) for side in _known.figure.Figure.get_size_inches(figure))
    dpi = float(_known.figure.Figure.get_dpi(figure))
    if not (0 < width < 1000 and 0 < height < 1000 and 0 < dpi <= 1_000_000):
        raise _Unfit
    pixels = width * height * dpi * dpi
    if pixels <= MAX_PIXELS:
        return dpi, ""
    return dpi * (
        MAX_PIXELS / pixels
    ) ** 0.5, f"drawn smaller than its {pixels / 1e6:.0f} megapixels"


def _pixels_of(png: bytes) -> int:
    return int.from_bytes(png[16:20], "big") * int.from_bytes(png[20:24], "big")
