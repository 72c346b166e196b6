"""openpyxl: sheets are written in memory, and not to temporary files first."""

from __future__ import annotations

import io
import mimetypes
from typing import Any

from . import late


def _adapt_sheet_writer(module: Any) -> None:
    module.create_temporary_file = lambda suffix="": io.BytesIO()
    module.WorksheetWriter.cleanup = lambda self: None


def _adapt_writer(module: Any) -> None:
    def write_worksheet(self: Any, ws: Any) -> None:
        """The library's, except that it has the sheet's text in memory."""
        ws._drawing = module.SpreadsheetDrawing()
        ws._drawing.charts = ws._charts
        ws._drawing.images = ws._images
        if self.workbook.write_only:
            if not ws.closed:
                ws.close()
            writer = ws._writer
        else:
            writer = module.WorksheetWriter(ws)
            writer.write()
        ws._rels = writer._rels
        self._archive.writestr(ws.path[1:], writer.out.getvalue())
        self.manifest.append(ws)
        writer.cleanup()

    module.ExcelWriter.write_worksheet = write_worksheet


def prepare_late() -> None:
    mimetypes.init([])  # without the files of this machine
    late.adapt_on_import(
        {
            "openpyxl.worksheet._writer": _adapt_sheet_writer,
            "openpyxl.writer.excel": _adapt_writer,
        }
    )
