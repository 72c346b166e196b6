"""Saves untrusted files below a folder and nowhere else."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import PurePosixPath

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def save(
    name: str, content: bytes | None, folder: str | os.PathLike[str], *, overwrite: bool
) -> str:
    """Writes `content` to `name` below `folder`; see `Artifact.save`."""
    if content is None:
        raise ValueError(f"artifact {name!r} has no content: it exceeded the size limits")
    parts = _parts(name)
    path = os.fspath(folder) if isinstance(folder, os.PathLike) else folder
    if not isinstance(path, str):
        raise TypeError(f"folder is a {type(path).__qualname__}; give a str or a Path")
    os.makedirs(path, exist_ok=True)
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # One component at a time, from a descriptor: a symbolic link that replaces part of the path
        # meanwhile is not followed.
        for part in parts[:-1]:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=directory)
            below = os.open(part, _DIRECTORY, dir_fd=directory)
            os.close(directory)
            directory = below
        _write(directory, parts[-1], content, overwrite=overwrite)
    finally:
        os.close(directory)
    return os.path.join(path, *parts)


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise ValueError(f"artifact {name!r}: its name leads out of the folder")
    assert not PurePosixPath(name).is_absolute()
    return parts


def _write(directory: int, name: str, content: bytes, *, overwrite: bool) -> None:
    # Atomic: the old file stays until the new one is complete.
    written = f".belljar-{secrets.token_hex(8)}" if overwrite else name
    file = os.open(written, _NEW_FILE, 0o666, dir_fd=directory)
    try:
        with open(file, "wb") as stream:
            stream.write(content)
        if overwrite:
            os.replace(written, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(written, dir_fd=directory)
        raise
