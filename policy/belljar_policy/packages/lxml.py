"""lxml, whose C code opens files by itself: parse(path), external entities, document() of XSLT."""

from __future__ import annotations

from . import late


def prepare_late() -> None:
    late.map_native("lxml", opens_files=("lxml.etree",))
