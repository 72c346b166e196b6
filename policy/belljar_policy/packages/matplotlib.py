"""matplotlib: draws to memory, with the fonts that it includes and one for Chinese, Japanese and
Korean."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
import contextlib
import importlib
import importlib.util
import io
import logging
import os
import string
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import _belljar_guards as guards

from .. import lookout
from ..library.program import running
from . import by_name, load_native

MAX_SHOWN = 1000

shown: list[Any] = []
"""Figures that pyplot.show() has closed, in order: the runner keeps them."""

shown_at: dict[int, tuple[str, int]] = {}
"""By their ids, the file and line of the program that showed them."""

saved: dict[int, tuple[Any, str]] = {}
"""Figures that the program saved as files, by their ids, with the path: the runner does not show a
figure once more whose file is a part of the result."""

_CJK = ("notojp_matplotlib", "fonts/NotoSansCJKjp-Regular.otf")
"""The package, whose code is not loaded, and its font (OFL)."""

_NOWHERE = "/proc/self/fd"
"""An existing folder in which no file can be created, for matplotlib's settings and cache."""


class _NoTimer:
    """Replaces threading.Timer: a zygote has one thread."""

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def start(self) -> None:
        pass

    cancel = start


def _no_fontconfig(*_: Any, **__: Any) -> Any:
    raise OSError("fonts of this machine are not used: a figure looks the same everywhere")


@contextlib.contextmanager
def _instead(module: Any, name: str, value: Any) -> Iterator[None]:
    original = getattr(module, name)
    setattr(module, name, value)
    try:
        yield
    finally:
        setattr(module, name, original)


@contextlib.contextmanager
def _touching_nothing() -> Iterator[None]:
    """Prevents that the import creates a folder, starts fc-list and a timer, and writes a cache."""
    logging.disable(logging.CRITICAL)
    os.environ.update(MPLCONFIGDIR=_NOWHERE, MPLBACKEND="agg")
    try:
        with (
            _instead(os, "access", lambda *_, **__: True),
            _instead(threading, "Timer", _NoTimer),
            _instead(subprocess, "check_output", _no_fontconfig),
        ):
            yield
    finally:
        logging.disable(logging.NOTSET)


def prepare() -> None:
    try:
        with _touching_nothing():
            importlib.import_module("matplotlib.pyplot")
    except ModuleNotFoundError as error:
        if error.name != "matplotlib":
            raise


def _get_field(self: Any, field_name: str, args: Any, kwargs: Any) -> Any:
    """string.Formatter.get_field, with names checked like those of str.format."""
    first, rest = _string.formatter_field_name_split(field_name)
    found = self.get_value(first, args, kwargs)
    load = getattr if running.compile_text is None else guards.getattr
    for is_attribute, name in rest:
        found = load(found, name) if is_attribute else found[name]
    return found, first


def _only_own_backends() -> None:
    """savefig(backend="module://m"), switch_backend, use: a module that draws, by any name. And
    figure.hooks: functions by their modules' names, which get each new figure.
    """
    registry = importlib.import_module("matplotlib.backends.registry")
    known = {
        f"matplotlib.backends.backend_{name}"
        for name in registry.BackendRegistry._BUILTIN_BACKEND_TO_GUI_FRAMEWORK
    }
    backends = by_name.only_importing(frozenset(known), "only matplotlib's backends are available")
    registry.importlib = backends
    importlib.import_module("matplotlib.backend_bases").importlib = backends  # type: ignore[attr-defined]
    importlib.import_module("matplotlib.pyplot").importlib = by_name.only_importing(  # type: ignore[attr-defined]
        (), "figure hooks are not available"
    )


def _only_own_styles() -> None:
    """style.use("package.name"): the package is imported to find a file in it."""
    module: Any = importlib.import_module("matplotlib.style")
    files = module.importlib.resources.files

    def find(package: Any) -> Any:
        if lookout.watches():
            raise ModuleNotFoundError("styles of packages are not available")
        return files(package)

    resources = by_name.stand_in(module.importlib.resources, files=find)
    module.importlib = by_name.stand_in(importlib, resources=resources)


def adapt() -> None:
    _only_own_backends()
    _only_own_styles()
    # The base class of StrMethodFormatter("{x:.2f}").
    string.Formatter.get_field = _get_field  # type: ignore[method-assign]
    for package in ("matplotlib", "contourpy", "kiwisolver", "fontTools"):  # the last: PDF
        load_native(package, ("test", "_test", "_macosx", "_tkagg", "_gtk", "_qt"))
    for name in ("PngImagePlugin", "JpegImagePlugin", "GifImagePlugin", "BmpImagePlugin",
                 "WebPImagePlugin", "TiffImagePlugin",
                 "ImageFilter", "ImageDraw", "ImageOps"):  # fmt: skip
        importlib.import_module(f"PIL.{name}")
    importlib.import_module("mpl_toolkits.mplot3d")
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure = importlib.import_module("matplotlib.figure").Figure
    _dress(_show, pyplot.show)
    pyplot.show = _show
    pyplot.savefig = _saving_what_was_shown(pyplot)
    pyplot.gcf, pyplot.gca = _finding_what_was_shown(pyplot)
    figure.savefig = _warning_once(_noting_what_is_saved(figure))
    figure.tight_layout = _warning_once(figure.tight_layout)
    canvas = importlib.import_module("matplotlib.backends.backend_agg").FigureCanvasAgg
    canvas.draw = _warning_once(canvas.draw)
    importlib.import_module("matplotlib._api").warn_external = _warn  # type: ignore[attr-defined]
    helpers = importlib.import_module("matplotlib._text_helpers")
    helpers.warn_on_missing_glyph = _note_missing_glyph  # type: ignore[attr-defined]
    fonts: Any = importlib.import_module("matplotlib.font_manager")
    fonts._log = _SayingOnce(fonts._log)
    _with_font_for_cjk(fonts.fontManager)
    _use()


def _dress(ours: Any, original: Any) -> None:
    for name in ("__module__", "__qualname__", "__name__", "__doc__"):
        setattr(ours, name, getattr(original, name))


def _saving_what_was_shown(pyplot: Any) -> Any:
    """pyplot.savefig that, after show(), saves the figure that was shown last. It would save a new,
    empty one, which nobody wants; without a screen, show() closes nothing in plain Python."""
    original = pyplot.savefig

    def savefig(*args: Any, **kwargs: Any) -> Any:
        if shown and not pyplot.get_fignums():
            return shown[-1].savefig(*args, **kwargs)
        return original(*args, **kwargs)

    _dress(savefig, original)
    return savefig


def _finding_what_was_shown(pyplot: Any) -> tuple[Any, Any]:
    """pyplot.gcf and gca that, if the program itself asks after show(), give the figure that was
    shown last and its axes, as in plain Python without a screen: tests look at them. pyplot's own
    functions, which ask to draw, get a new figure."""
    new_figure, new_axes = pyplot.gcf, pyplot.gca

    def is_asked_for() -> bool:
        asks = sys._getframe(2).f_builtins is running.builtins
        return asks and bool(shown) and not pyplot.get_fignums()

    def gcf() -> Any:
        return shown[-1] if is_asked_for() else new_figure()

    def gca() -> Any:
        return shown[-1].gca() if is_asked_for() else new_axes()

    _dress(gcf, new_figure)
    _dress(gca, new_axes)
    return gcf, gca


def _noting_what_is_saved(figure: Any) -> Any:
    """Figure.savefig that remembers figures saved as files of the workspace."""
    original = figure.savefig

    def savefig(self: Any, fname: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, fname, *args, **kwargs)
        is_path = isinstance(fname, (str, os.PathLike))  # or a file, or PdfPages
        if type(self) is figure and is_path and len(saved) < MAX_SHOWN:
            # Any change sets it again; so does savefig, where it changed the layout for a while.
            self.stale = False
            path = os.path.abspath(os.fspath(fname))
            if not os.path.splitext(path)[1]:  # matplotlib adds it
                path += f".{kwargs.get('format') or self.canvas.get_default_filetype()}"
            saved[id(self)] = (self, path)
        return result

    _dress(savefig, original)
    return savefig


def _with_font_for_cjk(manager: Any) -> None:
    """Glyphs that the fonts of a text lack are taken from one more, whatever families the program
    asks for; its settings stay those of plain matplotlib."""
    package, file = _CJK
    spec = importlib.util.find_spec(package)
    if spec is None or spec.origin is None:
        return
    manager.addfont(os.path.join(os.path.dirname(spec.origin), file))
    font = manager.findfont(manager.ttflist[-1].name)
    find = manager._find_fonts_by_props

    def find_all(*args: Any, **kwargs: Any) -> Any:
        found = find(*args, **kwargs)
        return found if font in found else [*found, font]

    _dress(find_all, find)
    manager._find_fonts_by_props = find_all


class _SayingOnce(logging.LoggerAdapter[logging.Logger]):
    """Says each warning once. matplotlib repeats that a font is missing for every text that it
    measures."""

    def __init__(self, logger: logging.Logger) -> None:
        super().__init__(logger, {})
        self._said: set[str] = set()

    def warning(self, msg: object, *args: object, **kwargs: Any) -> None:
        text = str(msg) % args
        if text not in self._said:
            self._said.add(text)
            super().warning(msg, *args, **kwargs)


# --- warnings -------------------------------------------------------------------------------------


def _warn(message: str, category: type[Warning] | None = None) -> None:
    """matplotlib._api.warn_external, which takes the functions of this module for its caller: at
    the program's own line. Figures that are still open are drawn after its end."""
    level = _level_of_program()
    if level is not None:
        warnings.warn(message, category, stacklevel=level)
    else:
        end = running.filename, running.source.count("\n") + 1
        warnings.warn_explicit(message, category or UserWarning, *(_drawing.shown_at or end))


def _level_of_program() -> int | None:
    """The nearest frame of the program's, counted from the caller as for warnings.warn()."""
    frame: FrameType | None = sys._getframe(1)
    level = 1
    while frame is not None and not _is_of_program(frame):
        frame = frame.f_back
        level += 1
    return None if frame is None else level


def _is_of_program(frame: FrameType) -> bool:
    if frame.f_builtins is running.builtins:
        return True
    name = frame.f_globals.get("__name__")  # with the policy off
    return type(name) is str and name == "__main__"


class _Drawing:
    """What is being drawn."""

    missing: dict[str, dict[int, None]] | None = None
    """By the names of fonts, the code points of glyphs that they lack."""
    shown_at: tuple[str, int] | None = None


_drawing = _Drawing()


def _note_missing_glyph(codepoint: int, fontnames: str) -> None:
    """matplotlib._text_helpers.warn_on_missing_glyph, once for all glyphs of a figure."""
    if _drawing.missing is None:
        _warn_of_glyphs({fontnames: {codepoint: None}})
    else:
        _drawing.missing.setdefault(fontnames, {})[codepoint] = None


def _warn_of_glyphs(missing: dict[str, dict[int, None]]) -> None:
    for fonts, codepoints in missing.items():
        told = [
            f"{each} ({chr(each).encode('ascii', 'namereplace').decode('ascii')})"
            for each in codepoints
        ]
        glyphs = "Glyph" if len(told) == 1 else "Glyphs"
        names = ", ".join(sorted(fonts.split(", ")))
        _warn(f"{glyphs} {', '.join(told)} missing from font(s) {names}.")


def _warning_once(draw: Any) -> Any:
    """A method of a figure or a canvas that draws, with one warning of all missing glyphs."""

    def drawn(self: Any, *args: Any, **kwargs: Any) -> Any:
        if _drawing.missing is not None:
            return draw(self, *args, **kwargs)
        missing = _drawing.missing = {}
        _drawing.shown_at = shown_at.get(id(self))
        try:
            return draw(self, *args, **kwargs)
        finally:
            _drawing.missing = None
            _warn_of_glyphs(missing)

    _dress(drawn, draw)
    return drawn


# --- figures that are shown -----------------------------------------------------------------------


def _show(*_: Any, **__: Any) -> None:
    """pyplot.show: there is no screen. The figures become artifacts of the run, and are closed, as
    they are when a person closes their windows.
    """
    helpers = importlib.import_module("matplotlib._pylab_helpers")
    level = _level_of_program()
    frame = None if level is None else sys._getframe(level - 1)
    for manager in helpers.Gcf.get_all_fig_managers():
        if len(shown) < MAX_SHOWN:
            shown.append(manager.canvas.figure)
            if frame is not None:
                shown_at[id(shown[-1])] = frame.f_code.co_filename, frame.f_lineno
    helpers.Gcf.destroy_all()


def _use() -> None:
    """Runs what nearly every figure needs once: glyphs, layout, the renderer, PNG."""
    pyplot = importlib.import_module("matplotlib.pyplot")
    figure, axes = pyplot.subplots(figsize=(2, 2))
    axes.plot([1, 2, 3], label="a")
    axes.bar([1, 2], [3, 4])
    axes.set_title("Title $x^2$")
    axes.legend()
    figure.tight_layout()
    # PDF has fonts cut down by a package that sets attributes of its classes as it is loaded.
    for kind in ("png", "svg", "pdf", "jpg"):
        figure.savefig(io.BytesIO(), format=kind)
    pyplot.close("all")
