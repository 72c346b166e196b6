"""The modules of a profile: from its tables to the proxies that `import` returns.

A profile's entry:

    [modules.json]
    why = "data interchange"
    exports = ["dumps", "loads", …]
    replace = ["loads"]             # comes from library/json.py
    synthetic = true                # the module is not imported: every export is replaced
    since = "3.14"                  # only later Pythons have the module: others ignore the entry

    [for_tests.smtplib]             # refuses; only for programs that import unittest.mock, and not
    why = "mail"                    # if the profile has the module itself
    exports = ["SMTP", …]           # of library/refusing_smtplib.py
"""

from __future__ import annotations

import difflib
import functools
import importlib
import os
import sys
import types
from collections.abc import Collection, Mapping
from typing import Any

import _belljar_guards as guards

from . import library, reviewed
from .alternatives import FILE_NAMES, NAMES_BY_MODULE, alternative, alternative_to_name
from .library.objects import STAND_IN
from .tables import OWN_MODULES
from .unshared import unshared

_KEYWORDS = {"False", "None", "True"}  # names of builtins that no statement binds
_MAX_LISTED = 20  # names in a hint
_NO_NAME = "No name in this module is similar; `belljar info --names` lists them."
_KNOWN_KEYS = frozenset({"why", "exports", "replace", "synthetic", "since"})
_LIBRARY = library.__name__
_LIBRARY_FILES = frozenset(
    entry.partition(".")[0] for folder in library.__path__ for entry in os.listdir(folder)
)


class ProfileError(ValueError):
    """The profile's tables are inconsistent or do not match this Python."""


def _ours(module: str, file: str, name: str) -> Any:
    """The replacement for `name` of the standard library's `module`: from that file of library/."""
    try:
        return getattr(importlib.import_module(f"{_LIBRARY}.{file}"), name)
    except (ImportError, AttributeError) as error:
        raise ProfileError(f"[modules.{module}]: {name!r} has no replacement: {error}") from error


def _ours_of(file: str) -> Any:
    """The module of library/ in that file, or None if there is none."""
    if file not in _LIBRARY_FILES:  # cheaper than a search by the import system
        return None
    return importlib.import_module(f"{_LIBRARY}.{file}")


def _signature_of(original: Any, inspect: Any) -> Any:
    """The public signature: without the library's private parameters."""
    try:
        found = inspect.signature(original)
    except (TypeError, ValueError):  # C code without a signature
        return None
    shown = [each for each in found.parameters.values() if each.name[0] != "_"]
    return found.replace(parameters=shown)


def _dress(ours: Any, module: str, name: str, original: Any) -> bool:
    """Copies names and documentation from `original` to its replacement, because programs see them
    in reprs and messages. Returns whether it is to have the signature, too.
    """
    if not isinstance(ours, (types.FunctionType, type)) or not _is_of_library(ours):
        return False
    before = ours.__qualname__
    ours.__module__, ours.__name__, ours.__qualname__ = module, name, name
    if original is not None:
        ours.__doc__ = original.__doc__
    if isinstance(ours, type):
        for method in vars(ours).values():
            if isinstance(method, types.FunctionType):
                method.__module__, method.__annotations__ = module, {}
                method.__qualname__ = method.__qualname__.replace(before, name, 1)
        return False
    ours.__annotations__ = (
        {} if original is ours else dict(getattr(original, "__annotations__", {}))
    )
    return True


def _classes_in(owner: Any) -> list[type]:
    return [each for each in list(vars(owner).values()) if issubclass(type(each), type)]


def _late_groups(names: Collection[str]) -> dict[str, str]:
    """Of `names` those that are loaded on import, each with its outermost such package: a proxy
    cannot be changed after it is made, so a package is loaded as a whole."""
    groups = {}
    for name in sorted(names):
        parts = name.split(".")
        prefixes = (".".join(parts[: i + 1]) for i in range(len(parts)))
        late = next(
            (
                each
                for each in prefixes
                if each in reviewed.LATE_ANYWAY
                or each in reviewed.LATE_PACKAGES
                or (each in reviewed.LATE and each not in sys.modules)
            ),
            None,
        )
        if late is not None:
            groups[name] = late
    return groups


def _is_of_library(value: Any) -> bool:
    return str(getattr(value, "__module__", "")).startswith(f"{_LIBRARY}.")


def _dress_the_rest(module: str, file: str) -> None:
    """Sets the module name of the classes and functions that the replacements use."""
    ours = _ours_of(file)
    if ours is None:
        return
    for value in list(vars(ours).values()):
        if isinstance(value, (types.FunctionType, type)) and value.__module__ == ours.__name__:
            value.__module__ = module


def _in_order(exports: dict[str, dict[str, Any]]) -> list[str]:
    """The modules, each after its submodules and after those that it exports as attributes."""
    order: list[str] = []
    begun: set[str] = set()
    children: dict[str, list[str]] = {}
    for name in sorted(exports):
        children.setdefault(name.rpartition(".")[0], []).append(name)

    def visit(name: str) -> None:
        if name in begun or name not in exports:
            return
        begun.add(name)
        for child in children.get(name, ()):
            visit(child)
        for value in exports[name].values():
            if isinstance(value, types.ModuleType):
                visit(value.__name__)
        order.append(name)

    for name in sorted(exports):
        visit(name)
    return order


def _for_tests(profile: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The entries of modules that only refuse, but for those that the profile itself has or would
    have, if its packages were installed."""
    sets = profile.get("packages", {}).values()
    packages = {name for each in sets for name in each["modules"]}
    return {
        name: {**entry, "synthetic": True}
        for name, entry in profile.get("for_tests", {}).items()
        if name not in profile.get("modules", {}) and name.partition(".")[0] not in packages
    }


def is_of_this_python(entry: Mapping[str, Any]) -> bool:
    """Whether this Python has the module of a profile's entry."""
    since = entry.get("since", "3.0").split(".")
    return sys.version_info[:2] >= tuple(map(int, since))


class ModuleTable:
    """A profile's `[modules]` and `[imports]`, resolved for this Python."""

    def __init__(
        self,
        profile: dict[str, Any],
        other_profiles: dict[str, list[str]],
        missing_modules: Mapping[str, str] = types.MappingProxyType({}),
        left_out: frozenset[str] = frozenset(),
    ) -> None:
        """`left_out`: modules that are not loaded (preload.py)."""
        self._left_out = left_out
        self._missing_modules = missing_modules
        self.profile_name = str(profile.get("name", ""))
        self.proxies: dict[str, Any] = {}
        self.subclassable: set[type] = set()
        self.writable: set[type] = set()
        # In addition to those of every profile.
        self.builtins = frozenset(profile.get("builtins", {}).get("exports", ()))
        self.missing: list[str] = []  # exports that this Python does not have
        self._exports: dict[str, frozenset[str]] = {}
        self._starred: dict[str, tuple[str, ...]] = {}
        self._withheld: dict[str, frozenset[str]] = {}
        self._copies: dict[int, Any] = {}
        self._without_signature: list[tuple[Any, Any]] = []  # replacements, and their originals
        self._other_profiles = other_profiles
        self._late: dict[str, str] = {}  # not loaded yet: module -> its group
        self.absent: frozenset[str] = frozenset()  # not loaded, and not loaded later
        self._entries: dict[str, dict[str, Any]] = {}
        self._failed: set[str] = set()  # modules whose loading has begun and not ended
        self._for_tests = _for_tests(profile)
        self._admitted: set[str] = set()  # of them
        self.has_files = "open" in profile.get("modules", {}).get("io", {}).get("exports", ())
        modules = profile.get("modules", {})
        modules = {
            name: entry
            for name, entry in modules.items()
            if is_of_this_python(entry) and self._install_command(name) is None
        }
        tops = {name.partition(".")[0] for name in modules}
        self.open_packages = reviewed.OPEN_PACKAGES & tops.union(
            profile.get("imports", {}).get("open", ())
        )
        if self.open_packages:  # one of them may import the others
            self.open_packages = reviewed.OPEN_PACKAGES
        imports = profile.get("imports", {})
        self.internal = frozenset(imports.get("internal", ()))
        # Sorted, like all that loads or allocates here: tests/policy/test_loading_order.py.
        for name in sorted(self.internal - left_out):
            try:
                importlib.import_module(name)
            except ImportError:
                self.missing.append(name)
        self._build(modules)

    def _install_command(self, module: str) -> str | None:
        """The command that installs the package of `module`, if it is missing."""
        return self._missing_modules.get(module.partition(".")[0])

    def _build(self, entries: dict[str, dict[str, Any]]) -> None:
        names = set(entries)
        for name in entries:
            parts = name.split(".")
            names.update(".".join(parts[:i]) for i in range(1, len(parts)))
        self._entries = entries
        self.absent = frozenset(self._not_loaded(names))
        self._late = _late_groups(names - self.absent)
        below: dict[str, set[str]] = {}
        for name in sorted(names):
            package, _, last = name.rpartition(".")
            below.setdefault(package, set()).add(last)
        for name in (*self._late, *self.absent):  # what it may have; load() knows what it has
            exports = entries.get(name, {}).get("exports", ())
            self._exports[name] = frozenset(below.get(name, set()).union(exports))
        self._make(names - self._late.keys() - self.absent)
        # What the others have imported meanwhile. Which modules these are differs by version.
        loaded = self._late.keys() - _late_groups(self._late).keys()
        for name in loaded:
            del self._late[name]
        self._make(loaded)
        # Not those that are loaded on import anyway, with their package.
        left_out = self.absent - _late_groups(self.absent).keys()
        while meanwhile := left_out - self._not_loaded(left_out):
            left_out -= meanwhile
            self.absent -= meanwhile
            self._make(set(meanwhile))
        if self._late:
            ours = {self._file_of(name) for name in (*self._late, *self._for_tests)}
            library.kept.keep(sorted(ours.union(library.LATE_PARTS)))
            library.kept.keep_texts(ours.intersection(library.TEXTS_AS_GUEST))
        self._add_future()
        self._add_own()

    def _file_of(self, name: str) -> str:
        """The file of library/ with the replacements for a module, if there is one."""
        return (STAND_IN if name in self._for_tests else "") + name.replace(".", "_")

    def admit_for_tests(self) -> None:
        """From now on the program may import the modules that only refuse: it imports
        unittest.mock, and its tests patch them."""
        self._admit(self._for_tests)

    def admit_subprocess(self) -> None:
        """Likewise: it runs Python code."""
        name = "subprocess"
        self._admit({name: self._for_tests[name]} if name in self._for_tests else {})

    def _admit(self, modules: Mapping[str, dict[str, Any]]) -> None:
        modules = {name: modules[name] for name in modules if name not in self._admitted}
        self._admitted.update(modules)
        self._entries = {**self._entries, **modules}
        for name, entry in modules.items():
            package, _, last = name.rpartition(".")
            self._exports[name] = self._exports.get(name, frozenset()).union(entry["exports"])
            self._late[name] = package or name
            if package:  # its proxy is made anew, with its new part
                self._exports[package] = self._exports.get(package, frozenset()) | {last}
                self._late[package] = package

    def _not_loaded(self, names: Collection[str]) -> set[str]:
        """Of `names` those that are left out and that no other module has imported."""
        return {
            name
            for name in sorted(names)
            if name.partition(".")[0] in self._left_out and name not in sys.modules
        }

    def cannot_be_loaded(self) -> frozenset[str]:
        """What has been left out and no import may load now: all but the modules of the standard
        library that are loaded on import anyway, as its own functions do."""
        left_out = {each for each in self.absent | self._left_out if each not in sys.modules}
        groups = _late_groups(left_out - self.internal)
        return frozenset(
            name for name in left_out if groups.get(name) in {None, *reviewed.LATE_PACKAGES}
        )

    def load(self, name: str) -> None:
        """Imports a module that is loaded on its first import, with its package, and makes its
        proxies.

        Usually before the program starts, at the import statement's check. A load that has failed
        is not repeated: what it has left behind has not been reviewed. Then ImportError.
        """
        library.program.running.need(name)
        group = self._late.get(name)
        if group is None or guards.is_loading():
            return
        if group in self._failed:
            raise ImportError(f"module {name!r} could not be loaded", name=name)
        self._failed.add(group)
        members = {each for each in self._late if self._late[each] == group}
        guards.load(functools.partial(self._load_now, members))
        for each in members:
            del self._late[each]
        self._failed.discard(group)

    def _load_now(self, names: set[str]) -> tuple[list[type], list[type]]:
        """For guards.load(): the classes from which a program may derive, and all that the modules
        which were imported have."""
        subclassable, before = set(self.subclassable), set(sys.modules)
        self._make(names)
        modules = [sys.modules[each] for each in sys.modules.keys() - before]
        modules = [each for each in modules if issubclass(type(each), types.ModuleType)]
        modules += library.alone.taken_out
        library.alone.taken_out.clear()
        found = [each for module in modules for each in _classes_in(module)]
        found += [inner for each in found for inner in (*_classes_in(each), *each.__mro__)]
        return list(self.subclassable - subclassable), found

    def load_all(self) -> None:
        """For tools that walk everything that a program can reach."""
        self.admit_for_tests()
        for name in list(self._late):
            self.load(name)

    def _load_member(self, name: str) -> Any:
        self.load(name)
        return self.proxies[name]

    def _make(self, names: set[str]) -> None:
        """Makes the proxies of these modules."""
        entries = self._entries
        contents: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {}
        for name in sorted(names):
            contents[name] = self._contents(name, entries.get(name, {}))
            _dress_the_rest(name, self._file_of(name))
        # A proxy cannot be changed after it is created.
        for name in _in_order({name: found[1] for name, found in contents.items()}):
            real, exports, live = contents[name]
            exports = {
                key: self._as_proxy(name, key, value)
                for key, value in exports.items()
                if not self._comes_later(value, contents)
            }
            for child, proxy in self.proxies.items():
                if child.rpartition(".")[0] == name:
                    # sympy.series is a module, and what `sympy` calls so is a function.
                    exports.setdefault(child.rpartition(".")[2], proxy)
            for child in self._late:
                if child.rpartition(".")[0] == name and child not in names:
                    live[child.rpartition(".")[2]] = functools.partial(self._load_member, child)
            # A program that asks for one of these hears that it was withheld.
            has = {key for key in getattr(real, "__dict__", ()) if key[0] != "_"}
            # Of a synthetic module the original may not be there to ask.
            has |= NAMES_BY_MODULE.get(name, set())
            withheld = frozenset(has - exports.keys() - live.keys())
            self._withheld[name] = withheld
            doc = getattr(real, "__doc__", None)
            assignable = reviewed.ASSIGNABLE.get(name, "").split()
            file = self._file_of(name)
            stores = {key: _ours(name, file, f"set_{key}") for key in assignable if key in live}
            self.proxies[name] = guards.Proxy(name, doc, exports, live, withheld, stores)
            self._exports[name] = frozenset(exports) | frozenset(live)
            self._starred[name] = self._starred_of(name, real, entries.get(name, {}))
        self._add_signatures()

    def _add_signatures(self) -> None:
        """Gives replacements the signatures of their originals, if a program can ask for them."""
        inspect = sys.modules.get("inspect")
        if inspect is None:
            return
        for ours, original in self._without_signature:
            signature = _signature_of(original, inspect)
            if signature is not None:
                ours.__signature__ = signature
        self._without_signature.clear()

    def _starred_of(self, name: str, real: Any, entry: dict[str, Any]) -> tuple[str, ...]:
        """Of the exports those that the library's own `import *` binds, sorted."""
        exports = self._exports[name]
        # Whether a synthetic module's original is loaded is chance: its `__all__` decides nothing.
        listed = None if entry.get("synthetic", False) else getattr(real, "__all__", None)
        if listed is None:
            return tuple(sorted(each for each in exports if each[0] != "_"))
        return tuple(sorted(exports.intersection(listed)))

    def _add_future(self) -> None:
        future = importlib.import_module("__future__")
        features = {name: getattr(future, name) for name in future.all_feature_names}
        self.proxies["__future__"] = guards.Proxy("__future__", future.__doc__, features)

    def _add_own(self) -> None:
        """The program itself and its builtins, as modules: they show what the program can name
        anyway (guards.show_scope)."""
        for name in sorted(OWN_MODULES):
            self.proxies[name] = guards.Proxy(name, sys.modules[name].__doc__, {})

    def _contents(
        self, name: str, entry: dict[str, Any]
    ) -> tuple[Any, dict[str, Any], dict[str, Any]]:
        """The real module, the constant exports, and those computed at each load."""
        unknown = set(entry) - _KNOWN_KEYS
        if unknown:
            raise ProfileError(f"[modules.{name}]: unknown keys {sorted(unknown)}")
        replace = entry.get("replace", ())
        synthetic = entry.get("synthetic", False)
        file = self._file_of(name)
        if synthetic and name in self._late:
            _ours_of(file)  # it may import the original, whose names are then known
        # The original of a synthetic module may be unsafe to import (asyncio: sockets).
        real = sys.modules.get(name) if synthetic else self._import(name)
        if name in reviewed.LATE or name in reviewed.LATE_ANYWAY:
            reduce = getattr(_ours_of(file), "reduce", None)
            if reduce is not None:
                reduce(self.has_files)
        asked = reviewed.LIVE.get(name, "").split()
        exports: dict[str, Any] = {}
        live: dict[str, Any] = {}
        for export in entry.get("exports", ()):
            original = getattr(real, export, None)
            if sys.version_info < reviewed.SINCE.get(f"{name}.{export}", ()):
                self.missing.append(f"{name}.{export}")
            elif export in replace or synthetic:
                found = _ours(name, file, export)
                if export in asked:
                    live[export] = found
                else:
                    if _dress(found, name, export, original):
                        self._without_signature.append((found, original))
                    exports[export] = found
            elif hasattr(real, export):
                exports[export] = unshared(original, self._copies)
            else:
                self.missing.append(f"{name}.{export}")
        for table, classes in (
            (reviewed.SUBCLASSABLE, self.subclassable),
            (reviewed.WRITABLE, self.writable),
        ):
            for cls in table.get(file if name in self._for_tests else name, "").split():
                found = exports.get(cls)
                if isinstance(found, type):
                    classes.add(found)
        return (real, exports, live)

    def _import(self, name: str) -> types.ModuleType:
        try:
            return importlib.import_module(name)
        except ImportError as error:
            raise ProfileError(f"[modules.{name}]: cannot be imported: {error}") from error

    def _as_proxy(self, module: str, name: str, value: Any) -> Any:
        if not isinstance(value, types.ModuleType):
            return value
        # Under this name, or as an alias of another module: statsmodels.api.tsa.
        for full in (f"{module}.{name}", value.__name__):
            if full in self.proxies:
                return self.proxies[full]
        raise ProfileError(
            f"[modules.{module}] exports {name!r}, a module: give it an entry of its own"
        )

    def _comes_later(self, value: Any, contents: Collection[str]) -> bool:
        """Of two modules that refer to each other, the first one created cannot have the second."""
        return (
            isinstance(value, types.ModuleType)
            and value.__name__ in contents
            and value.__name__ not in self.proxies
        )

    def __contains__(self, name: str) -> bool:
        return name in self._exports

    def exports(self, name: str) -> frozenset[str]:
        """The names that `from name import …` may use."""
        return self._exports[name]

    def withheld(self, name: str) -> frozenset[str]:
        """The public names that the real module has and the profile withholds."""
        self.load(name)
        return self._withheld.get(name, frozenset())

    def starred(self, name: str) -> tuple[str, ...]:
        """The names that `from name import *` binds."""
        if name in OWN_MODULES:
            names = guards.export_names(self.proxies[name])
            return tuple(each for each in names if each[0] != "_" and each not in _KEYWORDS)
        return self._starred[name]

    def narrowed(self, allowed: frozenset[str] | None) -> frozenset[str] | None:
        """The modules in the caller's list, with their submodules and parents."""
        if allowed is None:
            return None
        return frozenset(
            name
            for name in {*self.proxies, *self._exports, *self._for_tests}
            if name == "__future__"
            or name in OWN_MODULES
            or name in allowed
            or any(name.startswith(f"{a}.") or a.startswith(f"{name}.") for a in allowed)
        )

    def profile_with(self, name: str) -> str | None:
        """The first other profile that has the module."""
        for profile, modules in self._other_profiles.items():
            if profile != self.profile_name and name in modules:
                return profile
        return None

    def profile_with_files(self) -> str | None:
        """The first other profile that has files."""
        return self.profile_with("tempfile")

    def profile_with_name(self, module: str, name: str) -> str | None:
        """The first other profile that has the name of this module, if it is one for files."""
        return self.profile_with_files() if f"{module}.{name}" in FILE_NAMES else None

    def near_modules(self, name: str, profile: str | None) -> str:
        """A hint: the profile that has the module, a replacement, a module with a similar name, or
        general advice."""
        command = self._install_command(name)
        if command is not None:
            return (
                "It is not installed on this machine. To install it, the operator runs "
                f"`{command}`."
            )
        if profile is not None:
            return f"The {profile!r} profile has it."
        package = name.partition(".")[0]
        is_installed = package in self._exports or package in sys.stdlib_module_names
        absent = "" if is_installed else f"{package!r} is not installed here. "
        instead = alternative(name, self._exports)
        if instead:
            return f"{absent}{instead}."
        near = difflib.get_close_matches(name, self._exports, n=1, cutoff=0.8)
        if near:
            return f"Did you mean {near[0]!r}?"
        parts = sorted(each for each in self._exports if each.startswith(f"{package}."))
        if parts:
            return f"Available in {package!r}: {', '.join(parts)}."
        if is_installed:
            return "No module here has a similar name."
        return f"{absent}A module of your own: its file must come with the program."

    def near_names(self, module: str, name: str) -> str:
        """A hint: a replacement, the module that has the name, a similar name, or all exports."""
        instead = alternative_to_name(module, name)
        if instead:
            files = self.profile_with_name(module, name)
            return f"{instead}." if files is None else f"The {files!r} profile has it. {instead}."
        elsewhere = [other for other in sorted(self._exports) if name in self._exports[other]]
        if elsewhere:
            return f"Use from {elsewhere[0]} import {name}."
        exports = sorted(self._exports[module])
        near = difflib.get_close_matches(name, exports, n=1, cutoff=0.75)
        if near:
            return f"Did you mean {near[0]!r}?"
        if len(exports) > _MAX_LISTED:
            nearest = difflib.get_close_matches(name, exports, n=3, cutoff=0.4)
            return f"The nearest available names: {', '.join(nearest)}." if nearest else _NO_NAME
        return f"Available names: {', '.join(exports)}."
