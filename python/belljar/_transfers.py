"""Files of a session of commands: read, written and copied by commands in it.

They have the rights of a command, and no others: a path leads where it leads for a command, and the
host opens nothing that a command names."""

from __future__ import annotations

import errno
import io
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

from belljar import _options, _saving
from belljar._options import FileContent, Size

if TYPE_CHECKING:
    from belljar._commands import CommandResult
    from belljar._session import Session

MOST = "256m"

# The scripts end with the number of an error where they know it, as in errno(3).
_READ = f"""
[ -d "$1" ] && exit {errno.EISDIR}
[ -e "$1" ] || exit {errno.ENOENT}
[ -r "$1" ] || exit {errno.EACCES}
[ -f "$1" ] || {{ echo "it is a device, or another special file" >&2; exit 1; }}
exec head -c "$2" < "$1"
"""
_WRITE = f"""
[ -d "$1" ] && exit {errno.EISDIR}
folder=$(dirname -- "$1")
[ -e "$1" ] || {{ mkdir -p -- "$folder" && [ -w "$folder" ]; }} || exit {errno.EACCES}
[ ! -e "$1" ] || [ -w "$1" ] || exit {errno.EACCES}
exec cat > "$1"
"""
_PACK = 'cd -- "$1" && exec tar -c --hard-dereference -f - .'
_UNPACK = 'mkdir -p -- "$1" && cd -- "$1" && exec tar -x -f - --no-same-owner'
_KNOWN = (errno.EISDIR, errno.ENOENT, errno.EACCES)


def read(session: Session, path: str, most: Size) -> bytes:
    size = _options.size("most", most)
    return _output(session, _READ, path, size, str(size + 1))


def write(session: Session, path: str, content: FileContent) -> None:
    ((_, data),) = _options.files("content", {path: content})
    _check(_run(session, _WRITE, path, data), path)


def upload(session: Session, source: str | os.PathLike[str], target: str) -> None:
    if not os.path.isdir(source):
        write(session, target, Path(source))
        return
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        archive.add(source, arcname=".", filter=_without_owner)
    _check(_run(session, _UNPACK, target, packed.getvalue()), target)


def download(
    session: Session, source: str, target: str | os.PathLike[str], most: Size
) -> tuple[str, ...]:
    size = _options.size("most", most)
    try:
        content = read(session, source, size)
    except IsADirectoryError:
        return unpack(_output(session, _PACK, source, size), Path(target))
    path = Path(target)
    _saving.save(path.name, content, path.parent, overwrite=True)
    return ()


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def unpack(packed: bytes, folder: Path) -> tuple[str, ...]:
    """Saves the regular files of an archive that may be hostile, and names what was left out."""
    folder.mkdir(parents=True, exist_ok=True)
    left_out = []
    try:
        with tarfile.open(fileobj=io.BytesIO(packed), mode="r:") as archive:
            for member in archive:
                name = os.path.normpath(member.name)
                if member.isdir():
                    if name != ".":
                        _saving.make_folder(name, folder)
                    continue
                # One with holes may claim any size.
                is_file = member.isreg() and not member.issparse()
                file = archive.extractfile(member) if is_file else None
                if file is None:
                    left_out.append(name)
                else:
                    _saving.save(name, file.read(), folder, overwrite=True)
    except (tarfile.TarError, ValueError, ArithmeticError) as error:
        raise OSError(
            errno.EIO, f"the session has sent an archive that is damaged: {error}"
        ) from None
    return tuple(left_out)


def _run(session: Session, script: str, path: str, stdin: bytes, *more: str) -> CommandResult:
    arguments = ["/bin/bash", "-c", script, "belljar", _options.text("path", path), *more]
    return session.command(arguments, stdin=stdin)


def _output(session: Session, script: str, path: str, most: int, *more: str) -> bytes:
    arguments = ["/bin/bash", "-c", script, "belljar", _options.text("path", path), *more]
    result = session.command(arguments, output=most + 1)
    _check(result, path)
    content = result.stdout_bytes
    if len(content) > most or result.stdout_dropped:
        raise OSError(errno.EFBIG, f"it has more than {most} bytes; give a higher `most`", path)
    return content


def _check(result: CommandResult, path: str) -> None:
    if result.ok:
        return
    code = result.exit_code
    if result.status.state == "exited" and code in _KNOWN:
        raise OSError(code, os.strerror(code), path)  # a subclass, such as FileNotFoundError
    last = result.stderr.strip().rpartition("\n")[2]
    why = result.status.reason or last or f"exit code {code}"
    raise OSError(errno.EIO, why, path)
