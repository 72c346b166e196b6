"""What tests of sessions over a project share."""

import functools
import os
import tempfile
from pathlib import Path

import belljar
import pytest

from tests.machine import must_work


def tree_of(folder: Path) -> dict[str, tuple[int, bytes]]:
    """All below it: mode and content."""
    tree: dict[str, tuple[int, bytes]] = {}
    for parent, names, files in os.walk(folder):
        for name in (*names, *files):
            path = Path(parent, name)
            if path.is_symlink():
                content = b"-> " + os.fsencode(os.readlink(path))
            else:
                content = b"" if path.is_dir() else path.read_bytes()
            tree[str(path.relative_to(folder))] = (path.lstat().st_mode, content)
    return tree


@functools.cache
def _why_not() -> str:
    with tempfile.TemporaryDirectory() as folder, belljar.Sandbox(language="shell") as box:
        try:
            box.session(project=folder).close()
        except belljar.BelljarError as error:
            return str(error)
    return ""


def need_projects() -> None:
    """Linux 6.6, and as root a file system with id-mapped mounts."""
    if why := _why_not():
        if must_work():
            pytest.fail(why)
        pytest.skip(why)
