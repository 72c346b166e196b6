"""help(), for guests: a plain description on stdout. pydoc would import its topic."""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from typing import Any

import _belljar_guards as guards

from . import inspect
from .objects import dict_of, mro_of
from .program import running

_NO_TOPIC = (
    "help(x) describes x: a function, class, method, module or value, such as help(len) or\n"
    "help(math) after `import math`.\n"
)
_MAX_MEMBERS = 200


def describe(request: tuple[Any, ...]) -> None:
    """help() with these arguments."""
    if not request:
        sys.stdout.write(_NO_TOPIC)
        return
    if len(request) > 1:
        raise TypeError(f"help() takes at most 1 argument ({len(request)} given)")
    topic = request[0]
    if type(topic) is str:
        running.need(topic)
        found = running.modules.get(topic, running.builtins.get(topic))
        if found is None or topic[:1] in "@_":
            sys.stdout.write(f"No Python documentation found for {topic!r}.\n{_NO_TOPIC}")
            return
        topic = found
    sys.stdout.write("\n".join(_describe(topic)) + "\n")


def _describe(topic: Any) -> Iterator[str]:
    if inspect.ismodule(topic):
        yield from _module(topic)
    elif inspect.isclass(topic):
        yield f"Help on class {_name(topic)}{_home(topic)}:\n"
        yield from _class(topic)
    elif inspect.isroutine(topic):
        kind = "method" if inspect.ismethod(topic) else "function"
        if type(topic) in inspect._BUILTINS:
            kind = "built-in function"
        yield f"Help on {kind} {_name(topic)}{_home(topic)}:\n"
        yield from _routine(topic)
    else:
        cls = type(topic)
        yield f"Help on {_name(cls)} object:\n"
        yield from _class(cls)


def _text(value: Any) -> str:
    return str.__str__(value) if issubclass(type(value), str) else ""


def _name(topic: Any) -> str:
    return _text(guards.getattr(topic, "__name__", "")) or "?"


def _home(topic: Any) -> str:
    module = _text(guards.getattr(topic, "__module__", ""))
    return f" in module {module}" if module and not module.startswith("belljar") else ""


def _signature(topic: Any) -> str:
    try:
        return str(inspect.signature(topic))
    except Exception:  # what it is made of may be the program's
        return "(...)"


def _doc(topic: Any) -> list[str]:
    doc = inspect.getdoc(topic)
    return doc.split("\n") if doc else []


def _routine(topic: Any) -> Iterator[str]:
    yield f"{_name(topic)}{_signature(topic)}"
    for line in _doc(topic):
        yield f"    {line}".rstrip()
    yield ""


def _class(cls: Any) -> Iterator[str]:
    bases = [_name(base) for base in type.__dict__["__bases__"].__get__(cls)]
    shown = f"({', '.join(bases)})" if bases and bases != ["object"] else ""
    yield f"class {_name(cls)}{shown}"
    yield f" |  {_name(cls)}{_signature(cls)}"
    yield " |"
    doc = _doc(cls)
    yield from (f" |  {line}".rstrip() for line in doc)
    if doc:
        yield " |"
    names = _member_names(cls)
    methods = [(name, member) for name, member in names if _callable_of(member) is not None]
    if methods:
        yield " |  Methods:"
        yield " |"
    for name, member in methods:
        function = _callable_of(member)
        yield f" |  {name}{_signature(function)}"
        yield from (f" |      {line}".rstrip() for line in _doc(function))
        yield " |"
    values = [name for name, member in names if _callable_of(member) is None]
    if values:
        yield " |  Data:"
        yield from (f" |      {name}" for name in values)
    yield ""


def _member_names(cls: Any) -> list[tuple[str, Any]]:
    """Public names, and the special methods that the program defined, with their values."""
    found: dict[str, Any] = {}
    for base in mro_of(cls):
        if base is object:
            continue
        own = guards.is_guest_class(base)
        for name, member in list(dict_of(base).items()):
            if type(name) is not str or name in found:
                continue
            special = name[:2] == "__" and name[-2:] == "__"
            if name[:1] != "_" or (own and special and type(member) is types.FunctionType):
                found[name] = member
    return list(found.items())[:_MAX_MEMBERS]


def _callable_of(member: Any) -> Any:
    if type(member) in (staticmethod, classmethod):
        member = member.__func__
    return member if inspect.isroutine(member) else None


def _module(proxy: Any) -> Iterator[str]:
    yield f"Help on module {_name(proxy)}:\n"
    yield "NAME"
    yield f"    {_name(proxy)}"
    yield ""
    doc = _doc(proxy)
    if doc:
        yield "DESCRIPTION"
        yield from (f"    {line}".rstrip() for line in doc)
        yield ""
    classes, functions, data = [], [], []
    for name in sorted(guards.export_names(proxy)):
        value = guards.getattr(proxy, name, None)
        if inspect.isclass(value):
            classes.append(f"    {name}")
        elif inspect.isroutine(value):
            functions.append(f"    {name}{_signature(value)}")
            functions.extend(f"        {line}".rstrip() for line in _doc(value))
            functions.append("    ")
        elif not inspect.ismodule(value):
            data.append(f"    {name} = {_short(value)}")
    for title, lines in (("CLASSES", classes), ("FUNCTIONS", functions), ("DATA", data)):
        if lines:
            yield title
            yield from (line.rstrip() for line in lines)
            yield ""


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
