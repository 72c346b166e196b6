"""What a program shows while it runs, by IPython.display: to the host at once, where that has a
notebook, and otherwise as artifacts, beside the text that the program prints.
"""

import json
import sys
from base64 import b64decode
from collections.abc import Callable
from typing import Any

from . import display
from .host_functions import CallHost, answered

# Among the functions of a request, and no program's (Request in engine/host/request.h). Called with
# media type ("value:…" of a cell's value, "clear" to remove what is there), data and text.
SHOWS = "@display"

MAX_KEPT = 20
_MAX_TEXT = 100_000  # characters of an object's repr
_SUFFIXES = {"text/html": "html", "image/png": "png", "image/svg+xml": "svg"}


class Shown:
    """Of one run."""

    def __init__(
        self, call_host: CallHost | None, max_bytes: int, is_program_s: Callable[[type], bool]
    ) -> None:
        self._call_host = call_host  # None: there is no notebook
        self._is_program_s = is_program_s  # a class
        self._max_bytes = max_bytes
        self.kept: list[tuple[str, str, bytes]] = []  # artifacts: name, media type, content
        self.left_out = 0

    def show(self, value: Any, kind: str, data: str, text: str) -> bool:
        """Whether the program need not print it. `kind`: empty for an object of no such class."""
        if not kind and display.shows_at_the_end(value):
            return True
        if self._call_host is None:
            self._keep(kind, data)
            return False
        if not kind:
            kind, data = display.table_of(value) or self._page_of(value)
            text = repr(value)
        self._tell(kind, data, text[:_MAX_TEXT])
        return True

    def show_value(self, value: object) -> None:
        """The value of a cell, to a notebook."""
        if self._call_host is None:
            return
        try:
            if (form := display.form_of(value)) is not None:
                kind, data, text = form
            else:
                kind, data = self._page_of(value)
                text = ""
            if data or text:
                self._tell(f"value:{kind}", data, text)
        except BaseException:  # it is shown as text
            pass

    def _page_of(self, value: object) -> tuple[str, str]:
        page = display.page_of(value, self._is_program_s)
        return ("text/plain", "") if page is None else ("text/html", page)

    def clear(self, waits: bool) -> None:
        if self._call_host is not None:
            self._tell("clear", "wait" if waits else "", "")

    def _tell(self, kind: str, data: str, text: str) -> None:
        assert self._call_host is not None
        call = json.dumps({"args": [kind, data, text], "kwargs": {}})
        if len(call) > self._max_bytes:
            call = json.dumps(
                {"args": ["text/plain", "", text[: self._max_bytes // 8]], "kwargs": {}}
            )
        answered(self._call_host(SHOWS, call))

    def _keep(self, kind: str, data: str) -> None:
        if kind not in _SUFFIXES:
            return
        if len(self.kept) == MAX_KEPT:
            self.left_out += 1
            return
        content = b64decode(data) if kind == "image/png" else data.encode("utf-8", "replace")
        name = f"display-{len(self.kept) + 1}.{_SUFFIXES[kind]}"
        self.kept.append((name, kind, content))


def begin(request: dict[str, Any]) -> Shown:
    is_live = SHOWS in request.get("functions", ())
    has_policy = request["policy"] != "off"
    is_program_s = sys.modules["_belljar_guards"].is_guest_class if has_policy else _is_of_main
    return Shown(request["call_host"] if is_live else None, request["max_result"], is_program_s)


def _is_of_main(cls: type) -> bool:
    return getattr(cls, "__module__", None) == "__main__"
