"""Paths as text: nothing here asks the operating system."""

import copy
import pathlib
import pickle
from pathlib import PurePath, PurePosixPath, PureWindowsPath

path = PurePath("/data") / "2024" / "sales.tar.gz"
print(path, repr(path), path.name, path.stem, path.suffix, path.suffixes, path.parts)
print(path.parent, list(path.parents), path.anchor, path.root, path.drive, path.is_absolute())
print(path.with_name("x"), path.with_suffix(".zip"), path.with_stem("y"))
print(path.relative_to("/data"), path.is_relative_to("/data"), path.match("*.gz"))
print(path.joinpath("a", "b"), path / PurePosixPath("c"), "/x" / PurePath("y"))
print(path.as_posix(), path.as_uri(), bytes(path), str(path))
print(sorted([PurePath("b"), PurePath("a")]), PurePath("a") == PurePath("a/"))
print(PurePath("a") < PurePath("b"))
print(len({PurePath("a"), PurePath("./a")}), PurePath("a/../b"), PurePath("").parts, PurePath())
windows = PureWindowsPath("c:\\Users", "me", "file.TXT")
print(windows, windows.drive, windows.parts, windows.as_posix(), windows.match("*.txt"))
print(windows == PureWindowsPath("C:/users/ME/file.txt"), windows.is_absolute())
print(type(PurePath("a")) is PurePosixPath, isinstance(path, pathlib.PurePath))
print(copy.deepcopy([path])[0] == path, pickle.loads(pickle.dumps(path)) == path)
match path:
    case PurePath(name=name, suffix=".gz"):
        print(name)
for wrong in ("relative_to", "with_name", "with_suffix"):
    try:
        getattr(path, wrong)("a/b")
    except ValueError as error:
        print(type(error).__name__)
