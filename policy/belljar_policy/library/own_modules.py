"""The program's own modules: files that were given with it, or that it wrote.

A file is data until the program imports it. Then its text is checked and compiled as the program's
is, and runs in globals of its own with the program's builtins: what it makes is the program's, and
the module that the program gets is one that it could have made itself (types.ModuleType). Nothing
of it enters the interpreter's sys.modules, so no import of the library's ever finds it.

Only the text of `.py` files is read: no bytecode, no native code, no archive.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.machinery import PathFinder
from types import CodeType, SimpleNamespace
from typing import Any, NamedTuple

import _belljar_guards as guards

from .program import running
from .scopes import may_be_global

ROOT = "/workspace"
"""Where the files of a profile that has some are (core::kWorkspacePath)."""
_SUFFIX = ".py"
_INIT = "__init__.py"
_MAX_SOURCE = 1 << 20  # of a file: what BJ003 says of programs
# Names by which code of ours, and of the import system, tells who runs.
_OUR_NAMES = ("belljar", "_belljar", "importlib", "_frozen_importlib")


class _File(NamedTuple):
    """Where a module's text is; "" as the path: a folder without `__init__.py`."""

    path: str
    is_package: bool


class _Loaded(NamedTuple):
    module: Any
    file: _File


class _Scope:
    """A module as dataclasses finds it in sys.modules: by its `__dict__`."""


class OwnModules:
    """One to a process, as a policy is."""

    def __init__(self) -> None:
        self.tops: set[str] = set()
        """Outermost names that come before modules of the profile; the guards have this set. Only
        files that were there when the program (or the cell) began."""
        self.scopes: dict[str, dict[str, Any]] = {}
        """The globals of the modules, by their `__name__`."""
        self.texts: dict[str, str] = {}
        """The text of each, by its file's name in tracebacks."""
        self._files: dict[str, bytes] = {}
        self._folders: set[str] = set()
        self._root: str | None = None
        self._loaded: dict[str, _Loaded] = {}
        self._codes: dict[str, tuple[CodeType, str]] = {}  # compiled ahead, with the file's name

    def begin(self, files: dict[str, bytes] | None, root: str | None, looks: bool) -> None:
        """Before a program or a cell is compiled. `files`: those given in memory, by path; `root`:
        the folder where files can be, if the profile has one; `looks`: there may be some now."""
        self._root = root
        self._codes.clear()
        self.tops.clear()
        if files:
            self._files.update(files)
            for path in files:
                while path := path.rpartition("/")[0]:
                    self._folders.add(path)
        entries = [path.partition("/")[0] for path in self._files]
        if looks and root is not None:
            with suppress(OSError):
                entries += os.listdir(root)
        names = {each.removesuffix(_SUFFIX) for each in entries if each[:1] != "."}
        for name in sorted(names):
            # As in Python, what the interpreter itself contains comes first, and a folder without
            # `__init__.py` last. Names that no module has are found when they are imported.
            if running.has_module(name) and name not in (*sys.builtin_module_names, *_NEVER):
                found = self.find(name)
                if found is not None and found.path:
                    self.tops.add(name)

    # --- finding ----------------------------------------------------------------------------------

    def find(self, name: str) -> _File | None:
        """The file of a module; None if there is none."""
        if not self._files and self._root is None:
            return None
        parts = name.split(".")
        if not all(map(_is_module_name, parts)):
            return None
        path = "/".join(parts)
        if self._is_file(f"{path}/{_INIT}"):
            return _File(f"{path}/{_INIT}", True)
        if self._is_file(f"{path}{_SUFFIX}"):
            return _File(f"{path}{_SUFFIX}", False)
        return _File("", True) if self._is_folder(path) else None

    def _is_file(self, path: str) -> bool:
        if path in self._files:
            return True
        full = self._inside(path)
        return full is not None and os.path.isfile(full)

    def _is_folder(self, path: str) -> bool:
        if path in self._folders:
            return True
        full = self._inside(path)
        return full is not None and os.path.isdir(full)

    def _inside(self, path: str) -> str | None:
        """Its full path, unless a link leads out of the folder."""
        if self._root is None:
            return None
        root = os.path.realpath(self._root)
        full = os.path.realpath(os.path.join(root, path))
        return full if full.startswith(f"{root}/") else None

    def is_own(self, name: str) -> bool:
        """Whether an import of this name means a module of the program's."""
        top = name.partition(".")[0]
        if top in self.tops or top in self._loaded:
            return True
        if _is_known(top):
            return False
        found = self.find(top)
        return found is not None and (bool(found.path) or not running.is_of_others(top))

    def is_written(self, name: str, text: str) -> bool:
        """Whether the program of this text seems to write the module's file, and import it then."""
        top = name.partition(".")[0]
        return self._root is not None and f"{top}{_SUFFIX}" in text and not _is_known(top)

    # --- importing --------------------------------------------------------------------------------

    def absolute(self, name: str, package: Any, level: int) -> str:
        """What a relative import in a module of that package means; ImportError if nothing."""
        if type(package) is not str or not package:
            raise ImportError("attempted relative import with no known parent package")
        parts = package.rsplit(".", level - 1)
        if len(parts) < level:
            raise ImportError("attempted relative import beyond top-level package")
        return f"{parts[0]}.{name}" if name else parts[0]

    def import_by_statement(self, name: str, scope: Any, names: Any, level: Any) -> Any:
        """For guards.import_module: what an import statement in code with these globals gets; None
        if no file of the program's is meant."""
        if level:
            package = scope.get("__package__") if type(scope) is dict else None
            name = self.absolute(name, package, level)
        if not self.is_own(name):
            if level:
                raise _not_found(name)
            return None
        module = self.load(name)
        if type(names) is not tuple or not names:
            return module if level else self._loaded[name.partition(".")[0]].module
        if self._loaded[name].file.is_package:
            scope = guards.scope_of(module)
            for each in names:
                if type(each) is str and each not in scope and self.find(f"{name}.{each}"):
                    self.load(f"{name}.{each}")
        return module

    def load(self, name: str) -> Any:
        """The module, which runs when it is first imported, after the packages that it is in."""
        parent: _Loaded | None = None
        parts = name.split(".")
        for count in range(1, len(parts) + 1):
            full = ".".join(parts[:count])
            loaded = self._loaded.get(full)
            if loaded is None:
                if parent is not None and not parent.file.is_package:
                    outer = ".".join(parts[: count - 1])
                    raise _not_found(full, f"; {outer!r} is not a package")
                found = self.find(full)
                if found is None:
                    raise _not_found(full)
                loaded = self._run(full, found)
                if parent is not None and may_be_global(parts[count - 1]):
                    guards.scope_of(parent.module)[parts[count - 1]] = loaded.module
            parent = loaded
        assert parent is not None
        return parent.module

    def _run(self, name: str, file: _File) -> _Loaded:
        package = name if file.is_package else name.rpartition(".")[0]
        code, shown = self._code_of(name, file, package)
        called = _called(name)
        module = guards.own_module(name, called, shown, package)
        scope = guards.scope_of(module)
        loaded = _Loaded(module, file)
        self._loaded[name] = loaded
        self.scopes[called] = scope
        try:
            if code is not None:
                guards.run_text(code, scope, scope)
        except BaseException:
            if self._loaded.get(name) is loaded:
                del self._loaded[name]
            raise
        return loaded

    def star_of(self, name: str) -> dict[str, Any]:
        """What `from name import *` binds."""
        module = self.load(name)
        scope = guards.scope_of(module)
        listed = scope.get("__all__")
        if type(listed) not in (list, tuple):
            return {
                each: value
                for each, value in list(scope.items())
                if may_be_global(each) and each[0] != "_"
            }
        found = {}
        for each in list(listed):
            if not may_be_global(each):
                raise TypeError(f"[BJ101] the name {each!r} of __all__ may not be bound here")
            if each not in scope and self.find(f"{name}.{each}"):
                self.load(f"{name}.{each}")
            if each not in scope:
                raise AttributeError(f"module {name!r} has no attribute {each!r}")
            found[each] = scope[each]
        return found

    def has(self, module: Any) -> bool:
        """Whether it is the module of one of the files."""
        return any(loaded.module is module for loaded in self._loaded.values())

    def reload(self, module: Any) -> Any:
        """importlib.reload(): runs the file again, in the same globals. It is one of the files."""
        name = next(each for each in self._loaded if self._loaded[each].module is module)
        found = self.find(name)
        if found is None:
            raise _not_found(name)
        self._codes.pop(name, None)
        scope = guards.scope_of(module)
        code, _ = self._code_of(name, found, scope["__package__"])
        if code is not None:
            guards.run_text(code, scope, scope)
        return module

    def modules(self) -> Iterable[tuple[str, Any]]:
        """Those that have been imported, for sys.modules."""
        return [(name, loaded.module) for name, loaded in self._loaded.items()]

    # --- text -------------------------------------------------------------------------------------

    def _code_of(self, name: str, file: _File, package: str) -> tuple[CodeType | None, str]:
        """Its code, and the file's name as tracebacks have it."""
        if not file.path:
            return None, ""
        if name in self._codes:
            return self._codes.pop(name)
        text, shown = self._read(file)
        return running.compile_module(text, shown, package), shown

    def _read(self, file: _File) -> tuple[str, str]:
        shown = file.path if file.path != running.filename else f"./{file.path}"
        source = self._files.get(file.path)
        if source is None:
            source = self._bytes_of(file.path)
        if len(source) > _MAX_SOURCE:
            said = f"[BJ003] source is more than {_MAX_SOURCE} bytes"
            raise SyntaxError(said, (shown, 1, 1, None, 1, 1))
        text = running.decode(source, shown)
        self.texts[shown] = text
        if running.tracebacks is not None:
            running.tracebacks.know_own(shown, text)
        return text, shown

    def _bytes_of(self, path: str) -> bytes:
        full = self._inside(path)
        if full is None or not stat.S_ISREG(os.stat(full).st_mode):
            raise ImportError(f"{path!r} is not a file of the program")
        with open(full, "rb") as file:
            return file.read(_MAX_SOURCE + 1)

    def check_ahead(self, name: str, seen: set[str]) -> Iterable[tuple[str, Any]]:
        """Compiles a module that the program's text imports, and those that it imports, except
        `seen`: a file's name and a finding for each refusal. What is no Python says so when it is
        imported."""
        pending = [name]
        for name in pending:
            parts = name.split(".")
            prefixes = [".".join(parts[:count]) for count in range(1, len(parts) + 1)]
            for full in prefixes:
                if full in seen or full in self._loaded or not self.is_own(full):
                    continue
                seen.add(full)
                found = self.find(full)
                if found is None or not found.path:
                    continue
                package = full if found.is_package else full.rpartition(".")[0]
                try:
                    text, shown = self._read(found)
                    code, findings, imported = running.check_module(text, shown, package)
                except (SyntaxError, OSError, ImportError):
                    continue
                if code is not None:
                    self._codes[full] = code, shown
                for each in findings:
                    yield shown, each
                pending += imported


_NEVER = frozenset({"__main__", "__future__", "builtins", "sys", "__init__"})


def _is_known(top: str) -> bool:
    return top in _NEVER or running.has_module(top)


def _is_module_name(part: str) -> bool:
    is_special = part[:2] == "__" and part[-2:] == "__"
    return part.isidentifier() and (not is_special or part == "__main__")


def _called(name: str) -> str:
    """The `__name__` of a module as its code sees it. Libraries look the module of a class up by
    it, and tell by it who runs: it is none that could be theirs."""
    top = name.partition(".")[0]
    is_free = (
        top not in sys.stdlib_module_names
        and top not in sys.modules
        and not running.has_module(top)
        and not top.startswith(_OUR_NAMES)
        and PathFinder.find_spec(top) is None
    )
    return name if is_free else f"own {name}"


def _not_found(name: str, more: str = "") -> ModuleNotFoundError:
    return ModuleNotFoundError(f"No module named {name!r}{more}", name=name)


own = OwnModules()


class _Modules:
    """sys.modules for dataclasses, which look up the globals of a class's module."""

    def get(self, name: Any, default: Any = None) -> Any:
        scope = own.scopes.get(name)
        if scope is None:
            return sys.modules.get(name, default)
        found = _Scope()
        found.__dict__ = scope
        return found

    def __getitem__(self, name: Any) -> Any:
        return sys.modules[name] if name not in own.scopes else self.get(name)

    def __contains__(self, name: Any) -> bool:
        return name in own.scopes or name in sys.modules


def sys_for_dataclasses() -> Any:
    """`sys` for the module dataclasses."""
    return SimpleNamespace(**{**vars(sys), "modules": _Modules()})
