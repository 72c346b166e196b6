"""Check which room includes which: lower rooms never include higher ones.

ROOMS says for each folder what else of ours it may include; its own files always. The two sides of
the trust line, engine/inside and engine/outside, never include each other, and Python's headers
stay on the untrusted side (and in the binding of the Python package): the host parses no Python.
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

ENGINE = {"engine/core", "profiles", "engine/outside"}
# In the container (guest) and on the host (engines, image, runsc, backend); both speak wire. What
# starts containers knows nothing of what runs in them; runsc keeps images itself.
CONTAINER_PARTS: dict[str, set[str]] = {
    "container/wire": {"engine/core", "engine/door", "engine/outside"},
    "container/guest": ENGINE | {"container/wire"},
    "container/engines": {"engine/core"},
    "container/image": ENGINE,
    "container/runsc": {"engine/core", "container/engines", "container/image"},
    "container/backend": ENGINE
    | {
        "engine/door",
        "container/wire",
        "container/engines",
        "container/image",
        "container/runsc",
    },
    "container/packages": ENGINE
    | {"engine/door", "container/wire", "container/engines"}
    | {"container/image", "container/backend"},
}
# Transports, JSON-RPC, MCP and tools know nothing of each other: they meet in server/core.
SERVER_PARTS: dict[str, set[str]] = {
    "server/core": {"engine/core"},
    "server/json_rpc": {"engine/core"},
    "server/mcp": {"engine/core", "engine/outside", "server/core", "server/json_rpc"},
    "server/tools": ENGINE
    | {"engine/door", "container/backend", "container/packages", "server/core"},
    "server/stdio": {"engine/core", "server/core"},
    "server/http": {"engine/core", "engine/http", "server/core"},
    "server/operations": {"engine/core", "engine/outside", "server/core"},
    "server/config": ENGINE | {"engine/door", "server/core"},
}
ROOMS: dict[str, set[str]] = {
    "engine/core": set(),
    "engine/seal": {"engine/core"},
    "engine/inside": {"engine/core", "engine/seal"},
    "profiles": {"engine/core"},
    "engine/http": {"engine/core"},
    "engine/door": {"engine/core", "engine/http"},
    "engine/outside": {"engine/core", "engine/seal", "engine/door", "profiles"},
    **CONTAINER_PARTS,
    **SERVER_PARTS,
    "server": ENGINE | {"container/backend", *SERVER_PARTS},
    "cli": ENGINE
    | {"engine/door", "engine/seal", "server", "server/core", "server/config", *CONTAINER_PARTS},
    "python": ENGINE | {"engine/door", "container/backend", "container/packages"},
}

# Tests and benchmarks look at any room, but one program does not hold both sides.
FREE_ROOMS = ("tests", "bench")

MAY_INCLUDE_PYTHON = ("engine/inside", "python", "tests/inside", "bench")
PYTHON_HEADER = re.compile(r"^(Python\.h|pybind11/|structmember\.h|frameobject\.h|cpython/)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
SUFFIXES = {".h", ".cc", ".c", ".cpp", ".hpp"}


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def room_of(path: str) -> str | None:
    """The longest room that the path lies in."""
    rooms = [room for room in ROOMS if path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def is_under(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def resolve(root: Path, path: str, target: str) -> str | None:
    """The included file as a path from the root, or None when it is none of ours."""
    for candidate in (root / target, (root / path).parent / target):
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    return None


def check_include(root: Path, path: str, kind: str, target: str) -> str | None:
    if PYTHON_HEADER.match(target) and not is_under(path, MAY_INCLUDE_PYTHON):
        return f"{target} belongs to engine/inside: nothing else may hold an interpreter"
    included = resolve(root, path, target)
    if included is None:
        return f'"{target}" is not found from the root' if kind == '"' else None
    room, other = room_of(path), room_of(included)
    if is_under(included, FREE_ROOMS) and not is_under(path, FREE_ROOMS):
        return f"{included} is test code"
    if room is None or other is None or room == other or other in ROOMS[room]:
        return None
    if {room, other} == {"engine/inside", "engine/outside"}:
        return f"{room} and {other} are on two sides of the trust line"
    return f"{room} may not include {other}"


def check_file(root: Path, path: str) -> list[Finding]:
    findings = []
    text = (root / path).read_text(encoding="utf-8", errors="replace")
    for number, line in enumerate(text.splitlines(), start=1):
        if match := INCLUDE.match(line):
            message = check_include(root, path, match[1], match[2])
            if message:
                findings.append(Finding(path, number, message))
    return findings


def check(root: Path) -> list[Finding]:
    findings = []
    for folder in sorted({room.split("/")[0] for room in ROOMS} | set(FREE_ROOMS)):
        for file in sorted((root / folder).rglob("*")):
            if file.suffix in SUFFIXES and file.is_file():
                findings += check_file(root, file.relative_to(root).as_posix())
    return findings


def main() -> int:
    findings = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
