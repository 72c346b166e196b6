"""What no program may ever hold: the observer's side, outside the policy.

Everything here compares by identity and asks `type` and `object` directly, since a value may be of
a class of the program's.
"""

from __future__ import annotations

import gc
import sys
import types
from collections.abc import Iterator
from typing import Any

from tools import walk_surface

_RAW = (types.FrameType, types.CodeType, types.TracebackType, types.CellType)
_LOADERS = ("_frozen_importlib", "_frozen_importlib_external", "zipimport")
# In profiles with packages vars() reads a real module for the library's own code only.
names_of = types.ModuleType.__dict__["__dict__"].__get__
_OF_TYPE = {name: type.__dict__[name] for name in ("__mro__", "__dict__", "__module__")}


def mro_of(cls: type) -> tuple[type, ...]:
    return _OF_TYPE["__mro__"].__get__(cls)


def dict_of(cls: type) -> Any:
    return _OF_TYPE["__dict__"].__get__(cls)


def is_class(value: Any) -> bool:
    """Not isinstance(): a weak proxy of a class says that it is one."""
    return issubclass(type(value), type)


def name_of(cls: type) -> str:
    """Module and name, of what the class statement said."""
    module = dict_of(cls).get("__module__")
    return f"{module if type(module) is str else '?'}.{type.__dict__['__qualname__'].__get__(cls)}"


def functions_in(value: Any) -> Iterator[Any]:
    """The functions that an entry of a class is made of: methods, properties, wrappers."""
    if type(value) is property:
        for each in (value.fget, value.fset, value.fdel):
            if each is not None:
                yield from functions_in(each)
    elif type(value) in (staticmethod, classmethod, types.MethodType):
        yield from functions_in(value.__func__)
    elif type(value) in (types.FunctionType, types.BuiltinFunctionType):
        yield value


def is_of_ours(cls: type) -> bool:
    """Whether its class statement is in the policy, whatever module it says."""
    functions = [each for entry in list(dict_of(cls).values()) for each in functions_in(entry)]
    places = [
        str(each.__globals__.get("__name__")) for each in functions if hasattr(each, "__globals__")
    ]
    return any("belljar" in place for place in (*places, name_of(cls)))


# Reached by names that the record has under another class, and reviewed here.
REVIEWED = {
    "traceback.Traceback": "what a program sees as e.__traceback__",
    "builtins.Names": "what globals() returns",
    "builtins.Code": "what compile() returns",
    "multiprocessing._Context": "what get_context() returns",
    "multiprocessing.parts.Connection": "what Pipe() returns",
    "multiprocessing.parts._Manager": "what Manager() returns: no state, methods for itself only",
    "belljar_policy.library.unittest_case._same": "a decorator that returns its argument",
    "belljar_policy.library.asyncio.connections.ConnectionLoop": "the loop of the profile network",
    "posix.urandom": "random bytes, of websocket's frames",
}


def listed_classes() -> frozenset[str]:
    """Those of the record that tools/surface.py compares, for all profiles and Pythons."""
    folder = walk_surface.ROOT / "profiles" / "surface"
    return frozenset(
        line if "." in line else f"builtins.{line}"
        for path in folder.glob("*.txt")
        for line in path.read_text().splitlines()
    )


def inner_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for each in code.co_consts:
        if type(each) is types.CodeType:
            yield each
            yield from inner_codes(each)


class Judge:
    """Knows what the profile gives, and says of each object why no program may have it."""

    def __init__(self, policy: Any, guards: Any) -> None:
        """After all modules have been loaded and before the program begins."""
        self._policy = policy
        self.guards = guards
        self._proxy = type(policy.modules.proxies["__future__"])
        self._open = policy.modules.open_packages
        self._given: dict[int, Any] = {}
        self._depths: dict[int, int] = {}
        self._inner: set[int] = set()  # code of functions that given functions make
        self._namespaces: dict[int, str] = {}
        self.allowed: frozenset[str] | None = None
        for name, proxy in list(policy.modules.proxies.items()):
            for key in guards.export_names(proxy):
                try:
                    self._give(getattr(proxy, key))
                except Exception:
                    continue
            self._namespaces.setdefault(id(proxy), name)
        for value in list(policy._builtins.values()):
            self._give(value)
        self._own_classes = {id(each) for each in self._classes_of_ours()}
        listed = listed_classes()
        for each in self._classes_of_ours():
            if name_of(each) in listed or name_of(each) in REVIEWED:
                self._give(each)
        self.note_modules()

    def _classes_of_ours(self) -> Iterator[type]:
        for name, module in list(sys.modules.items()):
            if name.partition(".")[0] in ("belljar_policy", "_belljar_guards"):
                for value in list(names_of(module).values()):
                    if is_class(value) and is_of_ours(value):
                        yield value

    def _give(self, value: Any, depth: int = 4) -> None:
        """What an export leads to by the structure of classes counts as reviewed: tools/surface.py
        compares that with its record."""
        if depth == 0 or self._depths.get(id(value), 0) >= depth:
            return
        self._depths[id(value)] = depth
        self._given[id(value)] = value
        self._give_functions(value)
        following: list[Any] = [type(value)]
        if is_class(value):
            for base in mro_of(value):
                self._given[id(base)] = base
                for entry in list(dict_of(base).values()):
                    self._give_functions(entry)
                    following.append(entry)
        elif type(value) in (dict, types.MappingProxyType):
            following += list(value.values())[:200]
        elif type(value) in (list, tuple):
            following += value[:200]
        elif type(value) is types.FunctionType and "__wrapped__" in value.__dict__:
            following.append(value.__dict__["__wrapped__"])
        for each in following:
            self._give(each, depth - 1)

    def _give_functions(self, value: Any) -> None:
        for each in functions_in(value):
            self._given[id(each)] = each
            if type(each) is types.FunctionType:
                self._inner.update(id(code) for code in inner_codes(each.__code__))

    def note_modules(self) -> None:
        """The namespaces of what is loaded; more may have been, late."""
        for name, module in list(sys.modules.items()):
            if issubclass(type(module), types.ModuleType):
                self._namespaces[id(names_of(module))] = name

    def is_guests(self, value: Any) -> bool:
        if is_class(value):
            return self.guards.is_guest_class(value)
        return self.guards.is_guest_class(type(value)) or self.guards.is_guest_function(value)

    def why(self, value: Any) -> str | None:
        """What it is, if no program may hold it."""
        cls = type(value)
        if cls in (str, bytes, int, float, bool, type(None), complex):
            return None
        if cls is self._proxy:
            return self._of_proxy(value)
        if issubclass(cls, types.ModuleType):
            return None if self._open else "a real module"
        if cls is types.TracebackType and self._open:
            # A with statement of theirs passes one to a program's object. Its frame is what counts.
            return None
        if cls in _RAW:
            return f"a {cls.__name__}"
        if cls is dict:
            return self._of_dict(value)
        if cls is types.MappingProxyType:
            return self._of_view(value)
        if is_class(value):
            return self._of_class(value)
        if cls is types.FunctionType:
            return self._of_function(value)
        if cls is types.BuiltinFunctionType:
            return self._of_builtin(value)
        if id(cls) in self._own_classes and id(cls) not in self._given:
            return f"an object of the policy: {name_of(cls)}"
        return None

    def _of_proxy(self, proxy: Any) -> str | None:
        name = self._namespaces.get(id(proxy), "?")
        if self.allowed is not None and name not in self.allowed:
            return f"the module {name}, which this call may not import"
        return None

    def _of_dict(self, value: dict[Any, Any]) -> str | None:
        if id(value) in self._namespaces:
            return f"the namespace of {self._namespaces[id(value)]}"
        if value is self._policy._builtins:
            return "the builtins with the hooks"
        for key, entry in list(value.items()):
            if type(key) is not str:
                continue
            if key == "__builtins__" and entry is self._policy._builtins:
                return "the real globals of the program"
            if isinstance(entry, types.ModuleType) and not self._open:
                return "a dict with a real module"
        # The audit hook of profiles with packages refuses the search for the owner.
        if value and not self._open and all(type(key) is str for key in list(value)):
            return self._of_instance_dict(value)
        return None

    def _of_instance_dict(self, value: dict[Any, Any]) -> str | None:
        for owner in gc.get_referrers(value):
            cls = type(owner)
            if cls in (dict, list, tuple, types.FrameType) or cls.__flags__ & (1 << 15):
                continue
            if id(cls) not in self._given and "belljar" not in name_of(cls):
                continue
            if cls.__dictoffset__ and not self.is_guests(owner) and cls not in _WITH_DICTS:
                try:
                    if object.__getattribute__(owner, "__dict__") is value:
                        return f"the instance dict of a {name_of(cls)}"
                except Exception:
                    continue
        return None

    def _of_view(self, value: Any) -> str | None:
        for key in ("__dict__", "__weakref__"):
            entry = value[key] if type(value) is types.MappingProxyType and key in value else None
            if type(entry) is types.GetSetDescriptorType and not self.is_guests(entry.__objclass__):
                return "the namespace of a class"
        return None

    def _of_class(self, cls: type) -> str | None:
        if self.guards.is_guest_class(cls) or id(cls) in self._given:
            return None
        if id(cls) in self._own_classes:
            return f"a class of the policy: {name_of(cls)}"
        if cls.__name__ in walk_surface.OUTSIDE_CLASSES and not self._policy.modules.has_files:
            return f"the class {name_of(cls)}"
        self._give(cls)
        return None

    def _of_function(self, value: Any) -> str | None:
        if self.guards.is_guest_function(value) or id(value) in self._given:
            return None
        if id(value.__code__) in self._inner:
            return None
        module = value.__globals__.get("__name__")
        if type(module) is not str:
            return None
        top = module.partition(".")[0]
        if top == "belljar_policy":
            if f"{module}.{value.__qualname__}" in REVIEWED:
                return None
            return f"a function of the policy: {module}.{value.__qualname__}"
        if module in walk_surface.OUTSIDE_FUNCTIONS or top in _LOADERS:
            return f"a function of {module}: {value.__qualname__}"
        return None

    def _of_builtin(self, value: Any) -> str | None:
        if id(value) in self._given or any(value is each for each in walk_surface.given_functions):
            return None
        if id(value) in walk_surface.OUTSIDE:
            return f"the builtin {walk_surface.OUTSIDE[id(value)]}"
        if f"{value.__module__}.{value.__qualname__}" in REVIEWED:
            return None
        if value.__module__ in walk_surface.OUTSIDE_FUNCTIONS or value.__module__ == "sys":
            return f"a function of {value.__module__}: {value.__qualname__}"
        if value.__module__ == "_belljar_guards":
            return f"a guard: {value.__qualname__}"
        return None


_WITH_DICTS = (types.SimpleNamespace, types.FunctionType)
