"""Files of a notebook's folder that its session may have: those that match the patterns of whoever
installed the kernel. The notebook itself may be hostile: it names them, and reaches no others.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterator, Sequence

_MAX_FILES = 200
_MAX_BYTES = 64 << 20  # of all
_MAX_LOOKED_AT = 5000  # entries of the folder


def _matches(name: str, patterns: Sequence[str]) -> bool:
    is_hidden = name.startswith(".")
    return any(
        fnmatch.fnmatchcase(name, each) and (not is_hidden or each.startswith("."))
        for each in patterns
    )


def _read(folder: int, name: str, room: int) -> bytes:
    """Raises OSError, and ValueError for what is no plain file or too large."""
    # Not a pipe, which would be waited for; nor a link, to wherever it leads.
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(name, flags, dir_fd=folder), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise ValueError("it is not a file")
        content = file.read(room + 1)
    if len(content) > room:
        raise ValueError(f"the files have more than {_MAX_BYTES >> 20} MiB")
    return content


def _named(names: Sequence[str], patterns: Sequence[str]) -> Iterator[str]:
    for name in names:
        if "/" in name or name in ("", ".", ".."):
            raise ValueError(f"{name!r}: only files of the notebook's own folder")
        if not _matches(name, patterns):
            raise ValueError(
                f"{name!r}: this kernel gives {', '.join(patterns) or 'no files'}; whoever "
                "installs it chooses: belljar kernel install --files '*.csv'"
            )
        yield name


def _found(folder: int, patterns: Sequence[str]) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for number, entry in enumerate(entries):
            if number == _MAX_LOOKED_AT:
                raise ValueError(f"the notebook's folder has more than {_MAX_LOOKED_AT:,} entries")
            if _matches(entry.name, patterns) and entry.is_file(follow_symlinks=False):
                yield entry.name


def read(patterns: Sequence[str], names: Sequence[str] | None = None) -> dict[str, bytes]:
    """The files of the working directory by these names, or all that match. Raises ValueError."""
    files: dict[str, bytes] = {}
    room = _MAX_BYTES
    folder = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        wanted = _found(folder, patterns) if names is None else _named(names, patterns)
        for name in sorted(wanted):
            if len(files) == _MAX_FILES:
                raise ValueError(f"there are more than {_MAX_FILES} files")
            try:
                files[name] = _read(folder, name, room)
            except OSError as error:
                is_link = os.path.islink(name)
                why = "it is a link" if is_link else os.strerror(error.errno or 0)
                raise ValueError(f"{name!r}: {why}") from None
            except ValueError as error:
                raise ValueError(f"{name!r}: {error}") from None
            room -= len(files[name])
    finally:
        os.close(folder)
    return files
