"""Saves untrusted files below a folder and nowhere else."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
from pathlib import Path, PurePosixPath


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
    if sys.platform == "win32":
        _save_on_windows(Path(path), parts, content, overwrite=overwrite)
    else:
        _save(path, parts, content, overwrite=overwrite)
    return os.path.join(path, *parts)


def make_folder(name: str, folder: str | os.PathLike[str]) -> None:
    """Creates `name` below `folder`, which exists, unless it is there."""
    parts = _parts(name)
    if sys.platform == "win32":
        _target_on_windows(Path(folder), parts).mkdir(parents=True, exist_ok=True)
    else:
        os.close(_made(os.fspath(folder), parts))


def _save(path: str, parts: list[str], content: bytes, *, overwrite: bool) -> None:
    directory = _made(path, parts[:-1])
    try:
        _write(directory, parts[-1], content, overwrite=overwrite)
    finally:
        os.close(directory)


def _made(path: str, parts: list[str]) -> int:
    """A descriptor of the folder below `path`, which is created."""
    directory = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        # One component at a time, from a descriptor: a symbolic link that replaces part of the path
        # meanwhile is not followed.
        for part in parts:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, dir_fd=directory)
            below = os.open(part, flags, dir_fd=directory)
            os.close(directory)
            directory = below
    except BaseException:
        os.close(directory)
        raise
    return directory


def _parts(name: str) -> list[str]:
    parts = name.split("/")
    if any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise ValueError(f"artifact {name!r}: its name leads out of the folder")
    assert not PurePosixPath(name).is_absolute()
    return parts


def _write(directory: int, name: str, content: bytes, *, overwrite: bool) -> None:
    # Atomic: the old file stays until the new one is complete.
    written = f".belljar-{secrets.token_hex(8)}" if overwrite else name
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(written, flags, 0o666, dir_fd=directory)
    try:
        with open(file, "wb") as stream:
            stream.write(content)
        if overwrite:
            os.replace(written, name, src_dir_fd=directory, dst_dir_fd=directory)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(written, dir_fd=directory)
        raise


# Names of devices in every folder, regardless of what follows the first dot.
_DEVICES = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
    + [f"{port}{number}" for port in ("COM", "LPT") for number in "0123456789¹²³"]
)


def _is_windows_name(name: str) -> bool:
    """Whether Windows gives a file exactly this name ("Naming Files, Paths, and Namespaces" in its
    documentation)."""
    return (
        not any(each < " " or each in '<>:"/\\|?*' for each in name)
        and not name.endswith((" ", "."))
        and name.partition(".")[0].rstrip(" ").upper() not in _DEVICES
    )


def _target_on_windows(folder: Path, parts: list[str]) -> Path:
    """Without descriptors of folders: the folder must be one that only its owner changes."""
    if wrong := next((part for part in parts if not _is_windows_name(part)), None):
        raise ValueError(f"artifact {'/'.join(parts)!r}: Windows has no file named {wrong!r}")
    beneath = folder.resolve()
    target = beneath.joinpath(*parts)
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.parent.resolve().is_relative_to(beneath):
        raise ValueError(f"artifact {'/'.join(parts)!r}: a link leads out of the folder")
    return target


def _save_on_windows(folder: Path, parts: list[str], content: bytes, *, overwrite: bool) -> None:
    target = _target_on_windows(folder, parts)
    written = target.with_name(f".belljar-{secrets.token_hex(8)}") if overwrite else target
    with open(written, "xb") as stream:
        try:
            stream.write(content)
        except BaseException:
            stream.close()
            written.unlink()
            raise
    if overwrite:
        os.replace(written, target)
