"""The sources of a session's cells: tracebacks quote lines of cells that ran long ago."""

import linecache
from typing import Any

MAX_SOURCES = 1000
MAX_BYTES = 16 << 20

_Entry = tuple[int, None, list[str], str]  # as linecache has it


class Sources:
    """The last MAX_SOURCES sources, or fewer with MAX_BYTES in all."""

    def __init__(self) -> None:
        self._kept: dict[str, tuple[int, _Entry]] = {}  # in order of their last run
        self._size = 0

    def remember(self, filename: str, text: str) -> None:
        size = len(text.encode("utf-8", "surrogatepass"))
        self._size -= self._kept.pop(filename, (0, None))[0]
        lines = [line + "\n" for line in text.split("\n")]
        self._kept[filename] = size, (len(text), None, lines, filename)
        self._size += size
        while len(self._kept) > MAX_SOURCES or (self._size > MAX_BYTES and len(self._kept) > 1):
            oldest = next(iter(self._kept))
            self._size -= self._kept.pop(oldest)[0]
            _forget(oldest)

    def restore(self) -> None:
        """The guest may have emptied linecache, or put something else there."""
        cache: Any = linecache.cache
        for filename, (_, entry) in self._kept.items():
            cache[filename] = entry


def _forget(filename: str) -> None:
    try:
        del linecache.cache[filename]
    except Exception:  # the guest may have emptied or replaced it
        pass
