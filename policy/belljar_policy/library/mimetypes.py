"""mimetypes, for guests: the library's own table, without files of the machine."""

from __future__ import annotations

import mimetypes as library

from .objects import only_for_its_own


def init(files: object = None) -> None:
    """Nothing: the table is complete."""


def reduce(has_files: bool) -> None:
    """Before the first use, which would look for files of the machine."""
    library.init([])
    for name in ("add_type", "guess_all_extensions", "guess_extension", "guess_type"):
        only_for_its_own(library.MimeTypes, name)
