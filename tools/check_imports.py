"""Check the imports of the Python rooms: no circles, and nothing across the trust boundary.

The package `belljar` runs in the caller's process; `belljar_policy` and `belljar_runner` are
guest-side: they run in zygotes and workers, in one process with the guest. Neither side imports the
other, nor an extension module of the other. The runner imports the policy, never the reverse.

A Python file of the product is in one of these packages or is a program of its own (ALONE), so that
it is known on which side it runs.

A circle of imports is two modules that cannot be understood, tested or loaded without each other.
Imports in functions count: they may save time, but must not hide a circle. Imports under `if
TYPE_CHECKING` do not count, since nothing is imported there when the program runs.
"""

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

# The folders of each package. python/elsewhere has the modules that other systems have in addition.
PACKAGES = {
    "belljar": ("python/belljar", "python/elsewhere"),
    "belljar_policy": ("policy/belljar_policy",),
    "belljar_runner": ("engine/inside/runner",),
}
# The guards are a module of the zygote's; the host's extension module is belljar._host.
SIDES = {
    "belljar": "host",
    "belljar_policy": "guest",
    "belljar_runner": "guest",
    "_belljar_guards": "guest",
}
# Packages of the same side that import no higher one.
LOWER = {"belljar_policy": ("belljar_runner",)}
ROOMS = ("cli", "container", "engine", "policy", "python", "server")
# Programs that import nothing of ours. install.py runs in the container of an installation.
ALONE = ("container/packages/install.py",)
# Folders of scripts, which import each other by their names alone.
SCRIPTS = ("tools", "tests/search")


@dataclass(frozen=True)
class Import:
    target: str
    line: int


@dataclass(frozen=True)
class Module:
    path: str
    imports: tuple[Import, ...]


def _is_type_checking(test: ast.expr) -> bool:
    return ast.unparse(test) in ("TYPE_CHECKING", "typing.TYPE_CHECKING")


def _imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All below the node that a running program may execute."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and _is_type_checking(child.test):
            for each in child.orelse:
                yield from _imports(ast.Module([each], []))
        else:
            yield from _imports(child)


def _targets(statement: ast.Import | ast.ImportFrom, package: str) -> Iterator[str]:
    """Dotted names that may be modules, the longest first; `package`: of the importing module."""
    if isinstance(statement, ast.Import):
        for alias in statement.names:
            yield alias.name
        return
    base = statement.module or ""
    if statement.level:
        parts = package.split(".")
        parts = parts[: len(parts) - statement.level + 1]
        base = ".".join([*parts, base] if base else parts)
    for alias in statement.names:
        yield f"{base}.{alias.name}"


def _named(path: Path, folder: Path, package: str) -> str:
    parts = [*([package] if package else []), *path.relative_to(folder).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _read(root: Path, folders: tuple[str, ...], package: str) -> dict[str, Module]:
    files = {
        _named(path, root / folder, package): path
        for folder in folders
        for path in sorted((root / folder).rglob("*.py"))
    }
    modules = {}
    for name, path in files.items():
        own = name if path.name == "__init__.py" else name.rpartition(".")[0]
        imports = [
            Import(target, statement.lineno)
            for statement in _imports(ast.parse(path.read_bytes()))
            for target in _targets(statement, own)
        ]
        modules[name] = Module(path.relative_to(root).as_posix(), tuple(imports))
    return modules


def _resolved(target: str, modules: dict[str, Module]) -> str | None:
    """The module that an import of this name loads last: a.b.c may be a name in a.b."""
    while target and target not in modules:
        target = target.rpartition(".")[0]
    return target or None


def _reached(name: str, edges: dict[str, set[str | None]]) -> set[str]:
    """All that a module imports, also by others."""
    found: set[str] = set()
    left = [name]
    while left:
        new = set(filter(None, edges[left.pop()])) - found
        found |= new
        left += new
    return found


def circles(modules: dict[str, Module]) -> list[list[str]]:
    """The largest sets of more than one module in which each imports all others, if indirectly."""
    edges = {
        name: {
            found
            for each in module.imports
            if (found := _resolved(each.target, modules)) not in (None, name)
        }
        for name, module in modules.items()
    }
    reached = {name: _reached(name, edges) for name in edges}
    sets = {tuple(other for other in sorted(reached[name]) if name in reached[other])
            for name in edges}  # fmt: skip
    return sorted(list(each) for each in sets if len(each) > 1)


def _circle_findings(modules: dict[str, Module]) -> Iterator[str]:
    for circle in circles(modules):
        for name in circle:
            for each in modules[name].imports:
                target = _resolved(each.target, modules)
                if target in circle and target != name:
                    yield (
                        f"{modules[name].path}:{each.line}: {name} and {target} import each other"
                        f" (circle: {', '.join(circle)})"
                    )


def _side_findings(package: str, module: Module) -> Iterator[str]:
    for each in module.imports:
        target = each.target.partition(".")[0]
        if SIDES.get(target, SIDES[package]) != SIDES[package]:
            yield (
                f"{module.path}:{each.line}: {each.target} is on the other side of the "
                "trust boundary"
            )
        elif target in LOWER.get(package, ()):
            yield f"{module.path}:{each.line}: {package} may not import {target}"


def _alone_findings(root: Path, known: set[str]) -> Iterator[str]:
    """The Python files of rooms that are in no package."""
    for folder in ROOMS:
        for file in sorted((root / folder).rglob("*.py")):
            path = file.relative_to(root).as_posix()
            if path in known:
                continue
            if path not in ALONE:
                yield f"{path}:1: in no package: nobody knows on which side it runs"
                continue
            for each in _imports(ast.parse(file.read_bytes())):
                for target in _targets(each, ""):
                    if target.partition(".")[0] in SIDES:
                        yield f"{path}:{each.lineno}: {target} is not there where this program runs"


def check(root: Path) -> list[str]:
    findings: list[str] = []
    known: set[str] = set()
    for package, folders in PACKAGES.items():
        modules = _read(root, folders, package)
        findings += _circle_findings(modules)
        for module in modules.values():
            known.add(module.path)
            findings += _side_findings(package, module)
    findings += _alone_findings(root, known)
    for folder in SCRIPTS:
        findings += _circle_findings(_read(root, (folder,), ""))
    return list(dict.fromkeys(findings))


def main() -> int:
    findings = check(Path(sys.argv[1] if len(sys.argv) > 1 else "."))
    print(*findings, sep="\n", end="\n" if findings else "")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
