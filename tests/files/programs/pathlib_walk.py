import fnmatch
import glob
import os
from pathlib import Path, PurePosixPath

root = Path("tree")
for i in range(3):
    for j in range(2):
        folder = root / f"d{i}" / f"e{j}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i}{j}.txt").write_text(f"{i * j}\n" * (i + 1), encoding="utf-8")
        (folder / "data.bin").write_bytes(bytes(range(i * 10)))
print(sorted(str(p) for p in root.rglob("*.txt")))
print(sum(p.stat().st_size for p in root.rglob("*") if p.is_file()))
print(sorted(p.name for p in root.iterdir()), root.exists(), (root / "nope").exists())
for top, folders, files in sorted(os.walk(root)):
    print(top, sorted(folders), sorted(files))
print(sorted(glob.glob("tree/*/e1/*.txt")), fnmatch.filter(["a.py", "b.txt"], "*.py"))
path = root / "d2" / "e1" / "21.txt"
print(
    path.parts, path.stem, path.suffix, path.with_suffix(".md"), path.parent.parent, path.parents[1]
)
print(path.read_text().splitlines(), path.relative_to(root), path.is_relative_to("tree"))
moved = path.rename(path.with_name("moved.txt"))
print(moved.read_text(), path.exists(), moved.resolve().name, Path.cwd() == Path(os.getcwd()))
with moved.open("a") as file:
    file.write("more")
print(
    moved.read_text().count("\n"), moved == Path(str(moved)), hash(moved) == hash(Path(str(moved)))
)
link = root / "link"
link.symlink_to("d0/e0/00.txt")
print(link.is_symlink(), link.read_text(), os.readlink(link), link.lstat().st_size)
link.unlink()
try:
    (root / "nope").read_text()
except FileNotFoundError as error:
    print(error.errno, error.filename)
try:
    root.rmdir()
except OSError as error:
    print(type(error).__name__, error.strerror)
print(
    PurePosixPath("/a/../b").parts, Path("a", "b", "..", "c"), Path("~").expanduser() != Path("~")
)
print(
    [
        entry.name
        for entry in sorted(os.scandir(root), key=lambda entry: entry.name)
        if entry.is_dir()
    ]
)
