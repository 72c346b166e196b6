"""dataclasses, for guests.

The library writes methods as text from field names and runs exec() on it. Names come from the
annotations dict and from Field objects: both are checked where the library takes them, in
_get_field, since a descriptor of the guest may run in between.
"""

from __future__ import annotations

import dataclasses
import keyword
import sys
import typing
import unicodedata
from collections.abc import Callable
from typing import Any

import _belljar_guards as guards

from .. import tables
from .copy import deepcopy
from .objects import dict_of, mro_of, need_guest_class
from .own_modules import own, sys_for_dataclasses
from .program import NAME_OF_TEXT
from .types import ModuleType, new_class

_Field = dataclasses.Field
_library_get_field = dataclasses._get_field  # type: ignore[attr-defined]
_library_is_type = dataclasses._is_type  # type: ignore[attr-defined]
_FIELDS = "__dataclass_fields__"
_field_name = _Field.__dict__["name"].__get__
_KNOWN_METACLASSES = frozenset({"type", "ABCMeta", "_ProtocolMeta"})


def _check_field_name(cls: type, name: Any) -> None:
    bad = (
        type(name) is not str
        or not name.isidentifier()
        or not unicodedata.is_normalized("NFKC", name)  # as the compiler will write it
        or keyword.iskeyword(name)
        or (name[:2] == "__" and name[-2:] == "__")
        or name in tables.REFUSED_NAMES
    )
    if bad:
        raise TypeError(f"[BJ502] {name!r} may not be a dataclass field")
    if name[0] == "_":
        for base in mro_of(cls):
            if not guards.is_guest_class(base) and name in dict_of(base):
                raise TypeError(f"[BJ502] the field {name!r} hides a private name of {base!r}")


def _checked_get_field(cls: type, a_name: Any, *rest: Any, **more: Any) -> Any:
    if guards.is_guest_class(cls):
        _check_field_name(cls, a_name)
    field = _library_get_field(cls, a_name, *rest, **more)
    # A default that claims __class__ Field would be treated as one, with a name of its choice.
    if type(field) is not _Field or _field_name(field) is not a_name:
        raise TypeError(f"[BJ502] the default of {a_name!r} is not usable in a dataclass")
    return field


def _is_type(
    annotation: str, cls: type, module: Any, kind: Any, is_kind: Callable[[Any, Any], bool]
) -> bool:
    """dataclasses._is_type: whether a string annotation names ClassVar, InitVar or KW_ONLY.

    The library compares the module in front of the name by identity; a program has a proxy of it.
    """
    if _library_is_type(annotation, cls, module, kind, is_kind):
        return True
    match = dataclasses._MODULE_IDENTIFIER_RE.match(annotation)  # type: ignore[attr-defined]
    if match is None or match.group(1) is None:
        return False
    named = dataclasses.sys.modules[cls.__module__].__dict__.get(match.group(1))
    return type(named) is ModuleType and is_kind(
        guards.getattr(named, match.group(2), None), module
    )


def _checks_fields(original: Callable, index: int) -> Callable:
    """Wraps what converts fields to text: by then a base's Field may have another name."""

    def write(*args: Any, **more: Any) -> Any:
        for field in args[index]:
            _check_field_text(_field_name(field))
        return original(*args, **more)

    return write


# Generated methods are not transformed: A.__init__(other, value) would set an attribute of the
# guest's choice on any object, A.__repr__(other) would read one, and a frozen A.__setattr__ passes
# on any name. Each method therefore begins with these lines, which accept only instances of the
# program's classes.
def _first_lines(name: str, own: str) -> tuple[list[str], dict[str, Any]]:
    lines, names = [f"__dataclass_own__({own})"], {"__dataclass_own__": guards.need_own}
    if name in ("__setattr__", "__delattr__"):
        names["__dataclass_judge__"] = _judge_store
        lines.append("__dataclass_judge__(name)")
    return lines, names


def _guarded(original: Callable) -> Callable:
    """Wraps what executes the text, method by method, before Python 3.13."""

    def create(name: str, args: Any, body: Any, *, locals: Any = None, **more: Any) -> Any:
        lines, names = _first_lines(name, args[0])
        names.update(locals or {})
        return original(name, args, [*lines, *body], locals=names, **more)

    return create


def _guarded_builder(original: Any) -> Any:
    """Collects the text of all methods of a class and executes it at once, since Python 3.13."""

    class Builder(original):  # type: ignore[misc]
        def add_fn(
            self, name: str, args: Any, body: Any, *, locals: Any = None, **more: Any
        ) -> None:
            lines, names = _first_lines(name, args[0])
            names.update(locals or {})
            # The lines are already indented.
            body = [*(f"  {line}" for line in lines), *body]
            super().add_fn(name, args, body, locals=names, **more)

        def add_fns_to_class(self, cls: type) -> None:
            # The text of __repr__ and __eq__ is written where _WRITERS do not see the fields.
            for field in dict_of(cls)[_FIELDS].values():
                _check_field_text(_field_name(field))
            super().add_fns_to_class(cls)

    return Builder


def _judge_store(name: Any) -> None:
    if type(name) is not str or (name[:2] == "__" and name[-2:] == "__"):
        raise AttributeError(f"[BJ304] attribute {name!r} of a dataclass may not be set")


_WRITERS = (("_init_fn", 0), ("_repr_fn", 0), ("_frozen_get_del_attr", 1), ("_tuple_str", 1))


def _check_field_text(name: Any) -> None:
    if (
        type(name) is not str
        or not name.isidentifier()
        or not unicodedata.is_normalized("NFKC", name)
        or keyword.iskeyword(name)
    ):
        raise TypeError("[BJ502] a dataclass field has changed its name")


def _check_dataclass(cls: Any) -> None:
    need_guest_class(cls, "dataclass")
    if type(cls).__name__ not in _KNOWN_METACLASSES or guards.is_guest_class(type(cls)):
        raise TypeError("[BJ502] dataclass() does not take classes with a metaclass")
    for base in mro_of(cls):
        names = dict_of(base)
        fields = names.get(_FIELDS)
        if fields is not None and (
            type(fields) is not dict or any(type(field) is not _Field for field in fields.values())
        ):
            raise TypeError(f"[BJ502] {base!r} is not a proper dataclass")
    if type in mro_of(cls):  # it would set __eq__ and __match_args__ of a metaclass
        raise TypeError("[BJ502] a metaclass may not become a dataclass")
    names = dict_of(cls)
    module = names.get("__module__")
    if type(module) is str and module == NAME_OF_TEXT:  # of a text with globals of its own
        module = cls.__module__ = "__main__"
    if (
        type(names.get("__annotations__", {})) is not dict
        or type(module) is not str  # the library looks a module up by it
        or (module != "__main__" and module not in own.scopes)
    ):
        raise TypeError("[BJ502] this class may not become a dataclass")


def dataclass(cls: Any = None, /, **options: Any) -> Any:
    """dataclasses.dataclass for the program's own classes."""
    # Evaluated now: a __bool__ could change what was checked.
    options = {name: bool(value) for name, value in options.items()}

    def process(cls: Any) -> Any:
        _check_dataclass(cls)
        if not options.get("init", True) and not cls.__doc__:
            # The library would request the signature of `object`, which creates classes.
            cls.__doc__ = f"{cls.__name__}()"
        made = dataclasses.dataclass(cls, **options)
        match_args = dict_of(made).get("__match_args__")
        if match_args is not None:
            allowed = guards.check_match_args(match_args)
            if allowed != match_args:
                type.__setattr__(made, "__match_args__", allowed)
        return made

    return process if cls is None else process(cls)


def fields(class_or_instance: Any) -> tuple[Any, ...]:
    """dataclasses.fields, from the class only: an instance may claim other fields."""
    cls = class_or_instance if isinstance(class_or_instance, type) else type(class_or_instance)
    for base in mro_of(cls):
        fields = dict_of(base).get(_FIELDS)
        if fields is not None:
            kind = dataclasses._FIELD  # type: ignore[attr-defined]
            return tuple(field for field in fields.values() if field._field_type is kind)
    raise TypeError("must be called with a dataclass type or instance")


def is_dataclass(obj: Any) -> bool:
    """dataclasses.is_dataclass."""
    try:
        fields(obj)
    except TypeError:
        return False
    return True


def _inner(obj: Any, convert: Callable, dict_factory: Any) -> Any:
    kind = type(obj)
    if not isinstance(obj, type) and is_dataclass(obj):
        return convert(obj)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return kind(*[_inner(value, convert, dict_factory) for value in obj])
    if issubclass(kind, (list, tuple)):
        return kind(_inner(value, convert, dict_factory) for value in obj)
    if issubclass(kind, dict):
        items = [
            (_inner(key, convert, dict_factory), _inner(value, convert, dict_factory))
            for key, value in obj.items()
        ]
        if hasattr(kind, "default_factory"):
            made = kind(obj.default_factory)
            for key, value in items:
                made[key] = value
            return made
        return kind(items)
    return deepcopy(obj)


def asdict(obj: Any, *, dict_factory: Any = dict) -> Any:
    """dataclasses.asdict."""

    def convert(obj: Any) -> Any:
        return dict_factory(
            [
                (f.name, _inner(guards.getattr(obj, f.name), convert, dict_factory))
                for f in fields(obj)
            ]
        )

    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("asdict() should be called on dataclass instances")
    return convert(obj)


def astuple(obj: Any, *, tuple_factory: Any = tuple) -> Any:
    """dataclasses.astuple."""

    def convert(obj: Any) -> Any:
        return tuple_factory(
            [_inner(guards.getattr(obj, f.name), convert, tuple_factory) for f in fields(obj)]
        )

    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("astuple() should be called on dataclass instances")
    return convert(obj)


def replace(obj: Any, /, **changes: Any) -> Any:
    """dataclasses.replace."""
    if isinstance(obj, type) or not is_dataclass(obj):
        raise TypeError("replace() should be called on dataclass instances")
    return _replaced(obj, changes)


def _method_replace(self: Any, /, **changes: Any) -> Any:
    # The library's version, A.__replace__ since Python 3.13, trusts any object's claimed fields
    # and reads the attributes that they name.
    guards.need_own(self)
    return _replaced(self, changes)


_method_replace.__name__ = _method_replace.__qualname__ = "_replace"
_method_replace.__module__ = "dataclasses"
_NOT_REPLACED = TypeError if sys.version_info >= (3, 13) else ValueError


def _replaced(obj: Any, changes: dict[str, Any]) -> Any:
    for base in mro_of(type(obj)):
        all_fields = dict_of(base).get(_FIELDS)
        if all_fields is not None:
            break
    else:
        raise TypeError("replace() should be called on dataclass instances")
    for field in all_fields.values():
        kind = field._field_type
        if kind is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if not field.init:
            if field.name in changes:
                raise _NOT_REPLACED(
                    f"field {field.name} is declared with init=False, "
                    "it cannot be specified with replace()"
                )
            continue
        if field.name not in changes:
            if kind is dataclasses._FIELD_INITVAR and field.default is dataclasses.MISSING:
                raise _NOT_REPLACED(f"InitVar {field.name!r} must be specified with replace()")
            changes[field.name] = guards.getattr(obj, field.name)
    return type(obj)(**changes)


def make_dataclass(cls_name: str, fields: Any, **options: Any) -> Any:
    """dataclasses.make_dataclass, using type() and the dataclass above."""
    bases = options.pop("bases", ())
    namespace = dict(options.pop("namespace", None) or {})
    options.pop("module", None)
    annotations: dict[str, Any] = {}
    for item in fields:
        if isinstance(item, str):
            annotations[item] = typing.Any
        else:
            name, kind, *default = item
            annotations[name] = kind
            if default:
                namespace[name] = default[0]
    namespace["__annotations__"] = annotations
    namespace["__module__"] = "__main__"
    return dataclass(
        new_class(cls_name, bases, {}, lambda names: names.update(namespace)), **options
    )


def reduce(_: bool) -> None:
    """Zygote, before the freeze: adds checks where the library reads fields and writes text."""
    library: Any = dataclasses
    library.sys = sys_for_dataclasses()
    library._get_field = _checked_get_field
    library._is_type = _is_type
    if hasattr(library, "_FuncBuilder"):
        library._FuncBuilder = _guarded_builder(library._FuncBuilder)
    else:
        library._create_fn = _guarded(library._create_fn)
    if hasattr(library, "_replace"):
        library._replace = _method_replace
    for name, index in _WRITERS:
        original = getattr(dataclasses, name, None)
        if original is not None:
            setattr(dataclasses, name, _checks_fields(original, index))
