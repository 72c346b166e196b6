"""What no program may change: a fingerprint of the library's code, and what is permitted.

Compared before and after each step. Numbers, text and containers are left out: a library's caches
and counters are its own business, unless a table says otherwise.
"""

from __future__ import annotations

import builtins
import gc
import sys
import types
from collections.abc import Iterator
from typing import Any

from tests.search.judge import dict_of, mro_of, name_of, names_of

_CODE = (types.FunctionType, types.BuiltinFunctionType, type, property, staticmethod, classmethod)
_MODULES_OF_OURS = "belljar_policy"


class State:
    """One fingerprint; differences() compares it with what is there now."""

    def __init__(self, policy: Any, guards: Any) -> None:
        self._policy = policy
        self._open = policy.modules.open_packages
        self._guards = guards
        self._classes = {id(each): each for each in all_classes()}
        self._functions = {
            id(each): each
            for each in gc.get_objects()
            if _is_librarys(each) and not self._is_open(each.__globals__.get("__name__"))
        }
        self._of_classes = {key: self._of_class(cls) for key, cls in self._classes.items()}
        self._of_functions = {key: _of_function(each) for key, each in self._functions.items()}
        self._modules = {
            name: (module, _of_namespace(names_of(module)))
            for name, module in list(sys.modules.items())
            if issubclass(type(module), types.ModuleType)
            and name != "__main__"
            and not self._is_open(name)
        }
        self._permitted = self._what_is_permitted()

    def _is_open(self, module: Any) -> bool:
        """Whether it is of an open package, which keeps what it likes in its own classes and
        functions (belljar_policy/reviewed.py)."""
        return type(module) is str and module.partition(".")[0] in self._open

    def _of_class(self, cls: type) -> dict[Any, Any]:
        if self._guards.is_guest_class(cls) or self._is_open(dict_of(cls).get("__module__")):
            return {}
        return {
            name: value for name, value in list(dict_of(cls).items()) if name not in _OF_INTERPRETER
        }

    def _what_is_permitted(self) -> dict[str, Any]:
        running = sys.modules["belljar_policy.library.program"].running
        modules = self._policy.modules
        permitted = {
            "collector": gc.isenabled(),
            "allowed imports": self._policy._allowed,
            "proxies": {name: id(proxy) for name, proxy in modules.proxies.items()},
            "builtins": {name: id(value) for name, value in self._policy._builtins.items()},
            "subclassable": len(modules.subclassable),
            "writable": len(modules.writable),
            "scope": id(running.scope),
            "profiler": sys.getprofile(),
        }
        for name in dir(running):
            if name[:1] != "_" and name not in ("scope", "source", "filename", "has_end"):
                value = getattr(running, name)
                if callable(value) and type(value) is not types.MethodType:
                    permitted[f"running.{name}"] = id(value)
        is_loading = getattr(self._guards, "is_loading", None)
        if is_loading is not None:
            permitted["loading"] = is_loading()
        return permitted

    def permit(self, allowed: frozenset[str] | None) -> None:
        """The program that runs now may import these."""
        self._permitted["allowed imports"] = self._policy.modules.narrowed(allowed)

    def differences(self, loads: bool = False, but: frozenset[str] = frozenset()) -> list[str]:
        """What has changed, `but` for that. `loads`: modules may have been loaded meanwhile, which
        adds proxies and classes."""
        found = []
        for name, (module, before) in self._modules.items():
            after = _of_namespace(names_of(module))
            for key in before:
                if after.get(key) is not before[key] and f"{name}.{key}" not in _SET_BY_PROGRAMS:
                    found.append(f"{name}.{key} is another object")
        for key, cls in self._classes.items():
            before, after = self._of_classes[key], self._of_class(cls)
            for name in before.keys() | after.keys():
                if before.get(name) is not after.get(name) and name not in _MAY_CHANGE:
                    found.append(f"{name_of(cls)}.{name} was set")
        for key, function in self._functions.items():
            if loads and str(function.__globals__.get("__name__")).startswith(_MODULES_OF_OURS):
                continue  # a replacement gets the original's signature when it is loaded
            if self._of_functions[key] != _of_function(function):
                found.append(
                    f"the function {function.__module__}.{function.__qualname__} has changed"
                )
        found += [f"class {name_of(cls)} counts as the library's" for cls in self._strangers(loads)]
        now = self._what_is_permitted()
        for name, before in self._permitted.items():
            if now[name] != before and name not in but and not (loads and name in _LOADED):
                found.append(f"{name}: {_told(before)} became {_told(now[name])}")
        return found

    def _strangers(self, loads: bool) -> Iterator[type]:
        """New classes that are not marked as the program's."""
        for cls in all_classes():
            if id(cls) in self._classes or self._guards.is_guest_class(cls):
                continue
            # An open package makes classes by calling `type` as well (mpmath's contexts).
            is_open = self._is_open(dict_of(cls).get("__module__"))
            is_stated = loads or is_open or _is_stated(cls)
            if _is_of_c(cls) or (is_stated and self._is_of_the_library(cls)):
                continue
            yield cls

    def _is_of_the_library(self, cls: type) -> bool:
        """By what it is made of: nothing in it is the program's."""
        if dict_of(cls).get("__module__") in (None, "__main__", "__exec__"):
            return False
        return not any(
            self._guards.is_guest_function(each) or self._guards.is_guest_class(type(each))
            for each in (*dict_of(cls).values(), *mro_of(cls))
        )


def _is_stated(cls: type) -> bool:
    """Whether a module has it under its own name, or has the function that states it."""
    module = sys.modules.get(str(dict_of(cls).get("__module__")))
    if module is None or not issubclass(type(module), types.ModuleType):
        return False
    outer, _, inner = cls.__qualname__.partition(".<locals>")
    first, *others = outer.split(".")
    found: object = names_of(module).get(first)
    for name in others:
        found = getattr(found, name, None)
    return found is cls or (bool(inner) and found is not None)


def _is_of_c(cls: type) -> bool:
    """Whether it is from the specification in an extension module, and not from `type`."""
    if cls.__flags__ & _CANNOT_BE_CALLED:
        return True
    module = sys.modules.get(type.__dict__["__module__"].__get__(cls))
    is_written = "__module__" in dict_of(cls) or "__dict__" in dict_of(cls)
    return module is not None and not is_written


_CANNOT_BE_CALLED = 1 << 7  # Py_TPFLAGS_DISALLOW_INSTANTIATION
_OF_INTERPRETER = frozenset({"__dict__", "__weakref__", "__doc__"})
_MAY_CHANGE = frozenset({
    "_abc_impl", "__annotations__", "__abstractmethods__", "__parameters__",
    "__protocol_attrs__", "__signature__", "__type_params__", "__static_attributes__",
    "_abc_registry", "__annotations_cache__",
})  # fmt: skip
# catch_warnings(record=True) sets it, and a program may enter that and not leave it.
_SET_BY_PROGRAMS = frozenset({"warnings._showwarnmsg_impl"})
_LOADED = frozenset({"proxies", "subclassable", "writable"})


def all_classes() -> list[type]:
    """Every class of the interpreter, also those that only their base knows."""
    seen: dict[int, type] = {}
    queue: list[type] = [object]
    while queue:
        cls = queue.pop()
        for each in type.__subclasses__(cls):
            if id(each) not in seen:
                seen[id(each)] = each
                queue.append(each)
    return list(seen.values())


def _is_librarys(value: Any) -> bool:
    return (
        type(value) is types.FunctionType
        and "__builtins__" in value.__globals__
        and (
            type(value.__globals__["__builtins__"]) is not dict
            or value.__globals__["__builtins__"] is vars(builtins)
        )
    )


def _of_function(function: Any) -> tuple[Any, ...]:
    own = {key: id(value) for key, value in function.__dict__.items() if key != "__wrapped__"}
    return id(function.__code__), id(function.__defaults__), id(function.__kwdefaults__), own


def _of_namespace(names: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in list(names.items()) if type(value) in _CODE}


def _told(value: Any) -> str:
    return f"{len(value)} entries" if type(value) is dict else repr(value)[:60]
