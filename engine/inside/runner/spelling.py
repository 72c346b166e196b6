"""Which names a program of the session could write: what is offered, and what is shown.

With the policy on, its tables decide. A name that they do not know is left out.
"""

import sys
from collections.abc import Iterator
from keyword import iskeyword
from typing import Any

from . import attributes

MAX_NAME = 256


class Spelling:
    """The rules of one request."""

    def __init__(
        self, request: dict[str, Any], policy: Any, profile: frozenset[str], proxies: Any
    ) -> None:
        self.is_restricted = request["policy"] != "off"
        self._tables = sys.modules.get("belljar_policy.tables")
        self._modules = getattr(policy, "modules", None) if self.is_restricted else None
        self._profile = profile
        self._proxies = frozenset(id(each) for each in proxies)
        allowed = request.get("allowed_imports")
        self._allowed = None if allowed is None else frozenset(allowed)

    def is_proxy(self, value: object) -> bool:
        """Whether it is what `import` gives a program under the policy."""
        return id(type(value)) in self._proxies

    # --- names ----------------------------------------------------------------------------------

    def may_name(self, name: str) -> bool:
        """A variable or builtin."""
        if not _is_name(name):
            return False
        if not self.is_restricted or not _is_dunder(name):
            return True
        return name in getattr(self._tables, "LOADABLE_DUNDER_NAMES", ())

    def may_use(self, builtin: str, is_given: bool) -> bool:
        """A builtin; `is_given`: it is among those of the session's namespace."""
        if not self.may_name(builtin):
            return False
        if not self.is_restricted:
            return True
        if builtin in getattr(self._tables, "MISSING_BUILTINS", ()):
            return builtin in getattr(self._modules, "builtins", ())
        return is_given or builtin in getattr(self._tables, "BUILTINS_SHOWN", ())

    def may_read(self, value: object, name: str) -> bool:
        """An attribute of `value`."""
        if not _is_name(name):
            return False
        if not self.is_restricted:
            return True
        if name in getattr(self._tables, "REFUSED_NAMES", ()):
            return False
        if name[0] != "_":
            return True
        if _is_dunder(name):
            return name in getattr(self._tables, "NATIVE_DUNDERS", ())
        if issubclass(type(value), tuple) and name in getattr(self._tables, "TUPLE_NAMES", ()):
            return True
        cls = value if attributes.is_class(value) else type(value)
        return attributes.is_made_by_guest(cls)  # type: ignore[arg-type]

    # --- modules --------------------------------------------------------------------------------

    def modules(self) -> Iterator[str]:
        """Those that an import statement may name."""
        if self._modules is not None:
            # The table has no list of all; `narrowed` has those of a call.
            names = {*self._modules.proxies, *self._modules._exports}
            allowed = self._modules.narrowed(self._allowed)
            yield from names if allowed is None else names & allowed
            return
        if self.is_restricted:
            return
        seen = set(self._profile)
        yield from seen
        for name in sys.stdlib_module_names:
            if name[0] != "_" and name not in seen:
                seen.add(name)
                yield name
        for name, _ in attributes.items_of(_loaded()):
            if name[:1] != "_" and "._" not in name and name not in seen and name != "builtins":
                yield name

    def module(self, name: str) -> Any:
        """A module that is loaded, or NOTHING. None is loaded for the question."""
        if self._modules is not None:
            allowed = self._modules.narrowed(self._allowed)
            if name not in self._modules.proxies or (allowed is not None and name not in allowed):
                return attributes.NOTHING
            return self._modules.proxies[name]
        if self.is_restricted:
            return attributes.NOTHING
        return attributes.find(_loaded(), name)

    def exports(self, name: str) -> Iterator[str]:
        """What `from name import` may be followed by."""
        if self._modules is not None:
            allowed = self._modules.narrowed(self._allowed)
            if name in self._modules and (allowed is None or name in allowed):
                yield from self._modules.exports(name)
                yield from _below(name, self._modules.proxies)
            return
        value = self.module(name)
        if value is not attributes.NOTHING:
            yield from (each for each, _ in self.names(value))
        yield from _below(name, self.modules())

    # --- attributes -----------------------------------------------------------------------------

    def names(self, value: object) -> Iterator[tuple[str, str]]:
        """The attributes of `value`: name and kind."""
        if self.is_proxy(value):
            # Their own method, in C, which lists what the policy gives.
            for name in type(value).__dir__(value):  # type: ignore[call-arg]
                if self.may_read(value, name):
                    yield name, self.attribute(value, name).kind
            return
        seen: set[str] = set()
        for name, found in attributes.names_of(value):
            if name not in seen and self.may_read(value, name):
                seen.add(name)
                yield name, attributes.kind_of(found)

    def attribute(self, value: object, name: str) -> attributes.Attribute:
        if not self.may_read(value, name):
            return attributes.MISSING
        if not self.is_proxy(value):
            if self.is_restricted and attributes.is_module(value):
                return attributes.MISSING
            return attributes.attribute_of(value, name)
        try:
            part = f"{value.__name__}.{name}"  # type: ignore[attr-defined]
            if self._modules is not None and part in self._modules:
                if part not in self._modules.proxies:  # it would be loaded now
                    return attributes.Attribute(attributes.NOTHING, "module")
            found = getattr(value, name)  # of the policy's: no code of the program's runs
        except Exception:
            return attributes.MISSING
        kind = "module" if self.is_proxy(found) else attributes.kind_of(found)
        return attributes.Attribute(found, kind)


def _loaded() -> Any:
    modules: Any = sys.modules
    return modules if issubclass(type(modules), dict) else {}


def _below(package: str, modules: Any) -> Iterator[str]:
    for name in modules:
        above, _, last = name.rpartition(".")
        if above == package:
            yield last


def _is_name(name: object) -> bool:
    return (
        type(name) is str and len(name) <= MAX_NAME and name.isidentifier() and not iskeyword(name)
    )


def _is_dunder(name: str) -> bool:
    return len(name) > 4 and name[:2] == name[-2:] == "__"
