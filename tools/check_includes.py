"""Check the rooms of the C++ tree: their includes, their namespaces and the names of their types.

ROOMS lists for each folder which other folders it may include, besides its own files. Lower rooms
never include higher ones. The two sides of the trust boundary, engine/inside and OUTSIDE, never
include each other, and Python's headers stay on the untrusted side (and in the binding of the
Python package): the host parses no Python. engine/core contains what both sides use; engine/host
what only the host uses.

The namespace of a file follows its folder: engine/core is belljar::core, container/wire is
belljar::container::wire. The parts of the server meet in belljar::server, which is server/core
and server/calls.
docs/design-rooms.md maps rooms to processes.

No two files define a type of one name in one namespace: a program that linked both would break the
one-definition rule, and no compiler reports that (`./dev odr` has the linker compare the types).
"""

import re
import sys
from dataclasses import dataclass
from pathlib import Path

HOST = {"engine/core", "engine/host"}
# The host's side of a run.
OUTSIDE = {
    "engine/waiting",
    "engine/workspace",
    "engine/mounts",
    "engine/workers",
    "engine/run",
    "engine/pool",
    "engine/commands",
    "engine/projects",
    "engine/sessions",
    "engine/outside",
}
# For what opens sandboxes: how a pool keeps workers ready is not its business.
SANDBOXES = {
    "engine/outside",
    "engine/run",
    "engine/commands",
    "engine/projects",
    "engine/sessions",
    "engine/workspace",
}
ENGINE = HOST | {"engine/installation", "engine/profiles"} | SANDBOXES
# In the container (inside) and on the host (engines, image, runsc, backend, packages); both use
# wire. Code that starts containers does not depend on what runs in them; runsc stores images
# itself.
CONTAINER_PARTS: dict[str, set[str]] = {
    "container/wire": HOST
    | {"engine/run", "engine/sessions", "engine/waiting", "engine/workspace"},
    "container/inside": ENGINE | {"container/wire"},
    "container/engines": HOST,
    "container/image": HOST | {"engine/installation"},
    "container/runsc": HOST | {"container/engines", "container/image"},
    "container/backend": ENGINE
    | {
        "engine/egress",
        "engine/waiting",
        "container/wire",
        "container/engines",
        "container/image",
        "container/runsc",
    },
    "container/packages": ENGINE
    | {"engine/egress", "container/wire", "container/engines"}
    | {"container/image", "container/backend"},
}
CONTAINERS_ON_THE_HOST = CONTAINER_PARTS.keys() - {"container/inside"}
# Transports, JSON-RPC, MCP, the APIs and tools do not depend on each other, only on server/core and
# server/calls, the one way to run a tool for a caller.
CALLS = {"server/core", "server/calls"}
# The APIs of other services use what they share, the folder that they are in, and not each other.
COMPATIBLE_PARTS: dict[str, set[str]] = {
    "server/compatible": HOST | CALLS,
    "server/compatible/judge0": HOST | CALLS | {"server/compatible"},
    "server/compatible/piston": HOST | CALLS | {"server/compatible"},
    "server/compatible/sandbox_fusion": HOST | CALLS | {"server/compatible"},
}
SERVER_PARTS: dict[str, set[str]] = {
    "server/core": HOST,
    "server/calls": HOST | {"server/core"},
    "server/json_rpc": HOST,
    "server/mcp": HOST | CALLS | {"server/json_rpc"},
    "server/tools": ENGINE
    | CALLS
    | {"engine/egress", "engine/waiting"}
    | {"container/backend", "container/image", "container/packages"},
    **COMPATIBLE_PARTS,
    "server/rest": HOST | CALLS | {"server/audit", "server/jobs"},
    "server/pages": HOST | {"server/core"},
    "server/stdio": HOST | {"server/core"},
    "server/http": HOST | {"engine/http1", "server/core"},
    "server/audit": HOST | CALLS,
    "server/operations": HOST | CALLS | {"engine/waiting"},
    "server/jobs": HOST | CALLS,
    "server/events": HOST | CALLS | {"engine/egress"},
    # What an operator may write about events is checked by what uses it.
    "server/config": HOST | {"engine/egress", "engine/profiles", "server/core", "server/events"},
}
ROOMS: dict[str, set[str]] = {
    "engine/core": set(),
    "engine/seal": {"engine/core"},
    "engine/inside": {"engine/core", "engine/seal"},
    "engine/host": {"engine/core"},
    "engine/installation": {"engine/core"},
    "engine/profiles": HOST | {"engine/installation"},
    "engine/http1": {"engine/core"},
    "engine/egress": HOST | {"engine/http1"},
    "engine/waiting": {"engine/core"},
    "engine/workspace": HOST | {"engine/seal"},
    "engine/mounts": {"engine/core", "engine/seal"},
    "engine/projects": HOST | {"engine/mounts", "engine/seal", "engine/workspace"},
    "engine/workers": HOST | {"engine/seal", "engine/installation"},
    "engine/run": HOST | {"engine/egress", "engine/waiting", "engine/workers", "engine/workspace"},
    "engine/pool": HOST | {"engine/seal", "engine/waiting", "engine/workers", "engine/run"},
    "engine/commands": HOST | {"engine/seal", "engine/waiting", "engine/workers"},
    "engine/sessions": HOST
    | {
        "engine/commands",
        "engine/egress",
        "engine/mounts",
        "engine/projects",
        "engine/waiting",
        "engine/workers",
        "engine/workspace",
        "engine/run",
    },
    "engine/outside": (ENGINE | OUTSIDE | {"engine/seal", "engine/egress"}) - {"engine/outside"},
    **CONTAINER_PARTS,
    **SERVER_PARTS,
    "server": ENGINE | {"container/backend", *SERVER_PARTS},
    "cli": ENGINE
    | {
        "engine/egress",
        "engine/seal",
        "engine/waiting",
        "server",
        "server/core",
        "server/audit",
        "server/config",
    }
    | CONTAINERS_ON_THE_HOST,
    "python": ENGINE
    | {"engine/egress", "engine/waiting", "container/backend", "container/packages"},
}

# Tests, benchmarks and the recorder may include any room, but not both sides in one program.
FREE_ROOMS = ("tests", "bench", "tools/hot_blocks")

# Each links libstdc++'s locales into every program that uses it: 150 kB, compressed. The command
# has them anyway, through its libraries.
STREAM_HEADER = re.compile(r"^(fstream|iomanip|iostream|istream|locale|ostream|regex|sstream)$")
WITHOUT_STREAMS = ("engine", "container", "python")

MAY_INCLUDE_PYTHON = ("engine/inside", "python", "tests/inside", "bench", "tools/hot_blocks")
PYTHON_HEADER = re.compile(r"^(Python\.h|pybind11/|structmember\.h|frameobject\.h|cpython/)")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
NAMESPACE = re.compile(r"^\s*(?:inline\s+)?namespace\s+(belljar[\w:]*)\s*\{", re.MULTILINE)
# Forward declarations of names of another room.
DECLARES = re.compile(r"\{\s*(?:(?:class|struct|enum class)\s+\w+(?:\s*:\s*\w+)?;\s*)+\}")
USING = re.compile(r"^\s*using namespace (belljar[\w:]*);", re.MULTILINE)
# Not indented, so not within another type; no specialization of a template.
TYPE = re.compile(
    r"^(?:struct|class|union|enum(?: class)?) (?:alignas\(\w+\) )?(\w+)(?: final)?(?: ?:[^:].*)? \{"
)
# The fuzz targets' pool without processes: it defines names that engine/outside declares.
STANDS_IN = {"tests/fuzz/stand_in.cc": "belljar::outside"}
SUFFIXES = {".h", ".cc", ".c", ".cpp", ".hpp"}


@dataclass(frozen=True)
class Finding:
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def room_of(path: str) -> str | None:
    """The innermost room that contains the path."""
    rooms = [room for room in ROOMS if path.startswith(room + "/")]
    return max(rooms, key=len, default=None)


def is_under(path: str, folders: tuple[str, ...]) -> bool:
    return any(path.startswith(folder + "/") for folder in folders)


def resolve(root: Path, path: str, target: str) -> str | None:
    """The included file as a path from the root, or None if it is not ours."""
    for candidate in (root / target, (root / path).parent / target):
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    return None


def check_include(root: Path, path: str, kind: str, target: str) -> str | None:
    if PYTHON_HEADER.match(target) and not is_under(path, MAY_INCLUDE_PYTHON):
        return f"{target} belongs to engine/inside: nothing else may contain an interpreter"
    if STREAM_HEADER.match(target) and is_under(path, WITHOUT_STREAMS):
        return f"{target} makes each program larger: engine/core has SplitAt, Words and ReadFile"
    included = resolve(root, path, target)
    if included is None:
        return f'"{target}" not found relative to the root' if kind == '"' else None
    room, other = room_of(path), room_of(included)
    if is_under(included, FREE_ROOMS) and not is_under(path, FREE_ROOMS):
        return f"{included} is test code"
    if room is None or other is None or room == other or other in ROOMS[room]:
        return None
    if "engine/inside" in (room, other) and not OUTSIDE.isdisjoint((room, other)):
        return f"{room} and {other} are on different sides of the trust boundary"
    return f"{room} may not include {other}"


def namespace_of(path: str) -> str:
    """The namespace of a file, by its folder. Tests use that of the room they test."""
    if path in STANDS_IN:
        return STANDS_IN[path]
    parts = path.split("/")[:-1]
    if parts[0] == "tests":
        if not path.endswith("_test.cc"):
            return "belljar::tests"
        parts = parts[1:]
    if parts[:1] == ["engine"]:
        parts = parts[1:]
    if parts[:2] in (["server", "core"], ["server", "calls"]):
        parts = ["server", *parts[2:]]
    return "::".join(["belljar", *parts])


def check_namespaces(path: str, text: str) -> list[Finding]:
    own = namespace_of(path)
    findings = []
    for match in [*NAMESPACE.finditer(text), *USING.finditer(text)]:
        name = match[1]
        if name == own or name.startswith(own + "::") or DECLARES.match(text, match.end() - 1):
            continue
        line = text.count("\n", 0, match.start(1)) + 1
        findings.append(Finding(path, line, f"{name} in place of {own}, the room's namespace"))
    return findings


def types_of(text: str) -> list[tuple[str, str, int]]:
    """The namespace, name and line of each type that other files could define as well."""
    types = []
    namespaces: list[str] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := re.match(r"(?:inline )?namespace ?([\w:]*) \{$", line):
            namespaces.append(match[1])
        elif line.startswith("}  // namespace") and namespaces:
            namespaces.pop()
        elif "" not in namespaces and (match := TYPE.match(line)):
            types.append(("::".join(namespaces), match[1], number))
    return types


def check_types(texts: dict[str, str]) -> list[Finding]:
    findings = []
    first: dict[tuple[str, str], str] = {}
    for path, text in texts.items():
        if is_under(path, FREE_ROOMS):
            continue  # of programs of their own
        for namespace, name, line in types_of(text):
            other = first.setdefault((namespace, name), path)
            if other != path:
                findings.append(Finding(path, line, f"{namespace}::{name} is also in {other}"))
    return findings


def check_core(root: Path) -> list[Finding]:
    """Files of engine/core that neither engine/inside nor engine/seal uses."""
    reached: set[str] = set()
    waiting = [
        file.relative_to(root).as_posix()
        for room in ("engine/inside", "engine/seal")
        for file in (root / room).rglob("*")
        if file.suffix in SUFFIXES
    ]
    while waiting:
        path = waiting.pop()
        if path in reached or not (root / path).is_file():
            continue
        reached.add(path)
        if path.startswith("engine/core/"):
            waiting += [str(Path(path).with_suffix(suffix)) for suffix in (".h", ".cc")]
        for line in (root / path).read_text(encoding="utf-8", errors="replace").splitlines():
            if match := INCLUDE.match(line):
                waiting += filter(None, [resolve(root, path, match[2])])
    return [
        Finding(path, 1, "used only by the host: it belongs in engine/host")
        for file in sorted((root / "engine/core").rglob("*.h"))
        if (path := file.relative_to(root).as_posix()) not in reached
    ]


def check_file(root: Path, path: str, text: str) -> list[Finding]:
    findings = []
    for number, line in enumerate(text.splitlines(), start=1):
        if match := INCLUDE.match(line):
            message = check_include(root, path, match[1], match[2])
            if message:
                findings.append(Finding(path, number, message))
    return findings + check_namespaces(path, text)


def check(root: Path) -> list[Finding]:
    findings = check_core(root) if (root / "engine/inside").is_dir() else []
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8", errors="replace")
        for folder in sorted({room.split("/")[0] for room in ROOMS} | set(FREE_ROOMS))
        for file in sorted((root / folder).rglob("*"))
        if file.suffix in SUFFIXES and file.is_file()
    }
    for path, text in texts.items():
        findings += check_file(root, path, text)
    return findings + check_types(texts)


def main() -> int:
    findings = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
