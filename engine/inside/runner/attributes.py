"""Looks at objects without running their code: as inspect.getattr_static does, and more strictly.

An object's attributes are in the dict of its instance and in those of its class's bases. All are
read through the slots of CPython's own types, as a guest's class may have a property in front of
each. Dicts are searched and not asked, as a key of the guest's may compare as it likes.
"""

import sys
from collections.abc import Iterable, Iterator
from itertools import islice
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, NamedTuple

MAX_NAMES = 100_000  # that are looked at of one object
_MAX_BASES = 1000
_MAX_COLUMNS = 10_000

_mro_of = type.__dict__["__mro__"].__get__
_class_dict_of = type.__dict__["__dict__"].__get__
_class_name_of = type.__dict__["__name__"].__get__
_flags_of = type.__dict__["__flags__"].__get__
_module_dict_of = ModuleType.__dict__["__dict__"].__get__
_wrapped_by_static = staticmethod.__dict__["__func__"].__get__
_wrapped_by_class = classmethod.__dict__["__func__"].__get__
_getter_of = property.__dict__["fget"].__get__
_getters_of = [property.__dict__[name].__get__ for name in ("fget", "fset", "fdel")]
_HEAP_TYPE = 1 << 9

# Types by identity: `in` a tuple of types would ask a guest's metaclass whether it is equal.
_FUNCTIONS = frozenset(
    id(each)
    for each in (
        FunctionType,
        BuiltinFunctionType,
        MethodType,
        MethodDescriptorType,
        MethodWrapperType,
        WrapperDescriptorType,
        ClassMethodDescriptorType,
    )
)
_DECORATED = frozenset({id(staticmethod), id(classmethod)})
_COMPUTED = frozenset({id(property), id(GetSetDescriptorType)})


class _Nothing:
    pass


NOTHING: Any = _Nothing()
"""No such attribute, or one that only code could tell."""


class Attribute(NamedTuple):
    value: Any  # NOTHING where only code could tell
    kind: str  # kind_of() its value, "property" of a computed one
    is_bound: bool = False  # a function that gets its object as first argument
    getter: Any = None  # of a property


MISSING = Attribute(NOTHING, "")


def class_name(value: object) -> str:
    """The name of its real type, as text."""
    return str.__str__(_class_name_of(type(value)))


def is_function(value: object) -> bool:
    return id(type(value)) in _FUNCTIONS


def function_name(value: Any) -> str:
    """Of what is_function()."""
    while type(value) is MethodType:  # it would ask what it is a method of
        value = value.__func__
    name = value.__name__ if is_function(value) else "?"
    return str.__str__(name) if issubclass(type(name), str) else "?"


def is_class(value: object) -> bool:
    return issubclass(type(value), type)


def is_module(value: object) -> bool:
    return issubclass(type(value), ModuleType)


_proxies: set[int] = set()


def know_proxies(types: Iterable[type]) -> None:
    """Zygote: the types of what the policy gives for modules."""
    _proxies.update(id(each) for each in types)


def module_name(value: Any) -> str | None:
    """Of a module, or of what the policy gives for one; None of anything else."""
    if id(type(value)) in _proxies:
        name = value.__name__  # C code of the policy's
    elif is_module(value):
        name = find(_module_dict_of(value), "__name__")
    else:
        return None
    return name if type(name) is str else "?"


def bases_of(cls: type) -> tuple[type, ...]:
    return _mro_of(cls)[:_MAX_BASES]


def is_made_by_guest(cls: type) -> bool:
    """Whether a class statement of the program's made it, as far as it says so."""
    module = find(_class_dict_of(cls), "__module__")
    return bool(_flags_of(cls) & _HEAP_TYPE) and type(module) is str and module == "__main__"


def class_dict_of(cls: type) -> Any:
    return _class_dict_of(cls)


def items_of(mapping: Any) -> Iterator[tuple[str, Any]]:
    """The entries of a dict, or of a class's, that are attributes: their keys are exact text."""
    entries = dict.items(mapping) if issubclass(type(mapping), dict) else mapping.items()
    try:
        first = list(islice(entries, MAX_NAMES))
    except RuntimeError:  # a thread of the guest changed it meanwhile
        return
    for name, value in first:
        if type(name) is str:
            yield name, value


def find(mapping: Any, name: str) -> Any:
    """The value of an exact key, or NOTHING. No key of the guest's is compared."""
    return next((value for key, value in items_of(mapping) if key == name), NOTHING)


def instance_dict_of(value: object) -> Any:
    """The dict of an object's own attributes, or None."""
    if is_module(value):
        return _module_dict_of(value)
    if is_class(value):
        return None
    for base in bases_of(type(value)):
        descriptor = find(_class_dict_of(base), "__dict__")
        if descriptor is NOTHING:
            continue
        if type(descriptor) is not GetSetDescriptorType:
            return None
        try:
            found = GetSetDescriptorType.__get__(descriptor, value, type(value))
        except Exception:  # another class's
            return None
        return found if issubclass(type(found), dict) else None
    return None


def names_of(value: object) -> Iterator[tuple[str, Any]]:
    """The names that `value.` may be followed by, each with what lies there; some come twice."""
    return islice(_names_of(value), MAX_NAMES)


def _names_of(value: object) -> Iterator[tuple[str, Any]]:
    own = instance_dict_of(value)
    if own is not None:
        yield from items_of(own)
    if not is_module(value):
        for base in bases_of(value if is_class(value) else type(value)):  # type: ignore[arg-type]
            yield from items_of(_class_dict_of(base))


def attribute_of(value: object, name: str) -> Attribute:
    """What `value.name` is, as far as that can be told."""
    if is_module(value):
        found = find(_module_dict_of(value), name)
        return MISSING if found is NOTHING else Attribute(found, kind_of(found))
    if is_class(value):
        return _of_class(value, name)
    cls = type(value)
    on_class = _in_bases(cls, name)
    if type(on_class) is MemberDescriptorType:
        try:
            found = MemberDescriptorType.__get__(on_class, value, cls)
        except Exception:  # not set
            return MISSING
        return Attribute(found, kind_of(found))
    if on_class is not NOTHING and _is_data_descriptor(on_class):
        return _computed(on_class)
    own = instance_dict_of(value)
    if own is not None and (found := find(own, name)) is not NOTHING:
        return Attribute(found, kind_of(found))
    return MISSING if on_class is NOTHING else _bound(on_class)


def _of_class(cls: Any, name: str) -> Attribute:
    found = _in_bases(cls, name)
    if found is NOTHING:
        return MISSING
    attribute = _bound(found)
    return attribute._replace(is_bound=attribute.is_bound and type(found) is classmethod)


def _bound(found: Any) -> Attribute:
    """What lies in a class's dict, as an attribute of an instance."""
    if type(found) is staticmethod:
        return Attribute(_wrapped_by_static(found), "function")
    if type(found) is classmethod:
        return Attribute(_wrapped_by_class(found), "function", is_bound=True)
    if is_function(found):
        return Attribute(found, "function", is_bound=type(found) is not BuiltinFunctionType)
    if id(type(found)) in _COMPUTED or _has(found, "__get__"):
        return _computed(found)
    return Attribute(found, kind_of(found))


def _computed(descriptor: Any) -> Attribute:
    if type(descriptor) is property:
        return Attribute(NOTHING, "property", getter=_getter_of(descriptor))
    return Attribute(NOTHING, "property", getter=descriptor)


def _in_bases(cls: type, name: str) -> Any:
    for base in bases_of(cls):
        if (found := find(_class_dict_of(base), name)) is not NOTHING:
            return found
    return NOTHING


def _has(value: object, method: str) -> bool:
    return _in_bases(type(value), method) is not NOTHING


def _is_data_descriptor(value: object) -> bool:
    return id(type(value)) in _COMPUTED or _has(value, "__set__") or _has(value, "__delete__")


def kind_of(value: object) -> str:
    """In the words of Jupyter's completions."""
    if is_function(value) or id(type(value)) in _DECORATED:
        return "function"
    if id(type(value)) in _COMPUTED or type(value) is MemberDescriptorType:
        return "property"
    if is_module(value):
        return "module"
    return "class" if is_class(value) else "instance"


def slots_of(value: object) -> Iterator[tuple[str, Any]]:
    """What lies in the slots that classes of the program's have, in the order of the bases."""
    for base in bases_of(type(value)):
        if not is_made_by_guest(base):
            continue
        for name, descriptor in items_of(_class_dict_of(base)):
            if type(descriptor) is MemberDescriptorType:
                try:
                    yield name, MemberDescriptorType.__get__(descriptor, value, type(value))
                except Exception:  # not set
                    continue


_labels_of: dict[int, Any] = {}


def know_packages() -> None:
    """Zygote, with the packages loaded."""
    if pandas := sys.modules.get("pandas"):
        labels, to_list = pandas.DataFrame.columns.__get__, pandas.Index.tolist
        known = {id(pandas.Index), id(pandas.RangeIndex), id(pandas.MultiIndex)}

        def columns(frame: Any) -> Any:
            found = labels(frame, pandas.DataFrame)
            if id(type(found)) not in known or len(found) > _MAX_COLUMNS:
                return ()
            return to_list(found)

        _labels_of[id(pandas.DataFrame)] = columns


def columns_of(value: object) -> Iterator[Any]:
    """The names of a table's columns."""
    columns = _labels_of.get(id(type(value)))
    return iter(columns(value) if columns else ())


def getter_or(attribute: Attribute) -> Any:
    """What has the docstring of a computed attribute."""
    return attribute.getter


def wrapped_by(value: Any) -> tuple[Any, ...] | None:
    """The functions in a property, a staticmethod or a classmethod; None of anything else."""
    if type(value) is property:
        return tuple(getter(value) for getter in _getters_of)
    if type(value) is staticmethod:
        return (_wrapped_by_static(value),)
    return (_wrapped_by_class(value),) if type(value) is classmethod else None
