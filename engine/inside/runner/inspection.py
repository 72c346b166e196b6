"""What there is to say about a value while its name is being typed: signature, type, docstring.

Written from what CPython keeps of a function, without asking the program's objects: a default is
shown by quiet_repr, and what its class may have put in place of a docstring is not looked at.
"""

import inspect
from types import CodeType, FunctionType, MethodType
from typing import Any

from . import attributes
from .attributes import NOTHING, Attribute
from .quiet_repr import quiet_repr
from .tracebacks import CELLS, exact_text, type_name

MAX_TEXT = 16 * 1024
_MAX_PART = 60  # characters of a default or an annotation
_MAX_VALUE = 400
_MAX_WRAPPED = 10
_VAR_POSITIONAL, _VAR_KEYWORD = 0x04, 0x08  # in a code object's flags
_text_signature_of = type.__dict__["__text_signature__"].__get__
_function_dict_of = FunctionType.__dict__["__dict__"].__get__


def describe_name(name: str, found: Attribute, is_proxy: bool) -> str:
    """The text, of at most MAX_TEXT characters."""
    value = found.value
    lines = []
    if value is NOTHING:
        doc = _doc_of(attributes.getter_or(found))
        lines.append(f"Type: {found.kind or 'unknown'}")
    else:
        signature = _signature_of(value, found.is_bound)
        if signature is not None:
            lines.append(f"Signature: {name.rpartition('.')[2]}{signature}")
        kind = "module" if is_proxy else attributes.class_name(value)
        lines.append(f"Type: {kind}")
        doc = value.__doc__ if is_proxy else _doc_of(value)
        if not (is_proxy or attributes.is_function(value) or attributes.is_class(value)):
            lines.append(f"Value: {quiet_repr(value, _MAX_VALUE)[0]}")
    if type(doc) is str and doc:
        lines.append(f"Docstring:\n{inspect.cleandoc(doc[:MAX_TEXT])}")
    return "\n".join(lines)[:MAX_TEXT]


def _doc_of(value: Any) -> Any:
    if value is NOTHING or value is None:
        return None
    if type(value) is MethodType:
        value = value.__func__
    if attributes.is_function(value):
        return value.__doc__
    if attributes.is_module(value) or attributes.is_class(value):
        own = (
            attributes.instance_dict_of(value)
            if attributes.is_module(value)
            else attributes.class_dict_of(value)
        )
        return attributes.find(own, "__doc__")
    return attributes.find(attributes.class_dict_of(type(value)), "__doc__")


def _signature_of(value: Any, drops_first: bool) -> str | None:
    """As text, or None where there is none."""
    if type(value) is MethodType:
        value, drops_first = value.__func__, True
    if attributes.is_class(value):
        made = _maker_of(value)
        if made is not None:
            return _signature_of(made, True)
        return _shown(_text_signature_of(value))
    for _ in range(_MAX_WRAPPED):
        if type(value) is not FunctionType:
            break
        inner = attributes.find(_function_dict_of(value), "__wrapped__")
        if type(inner) is not FunctionType:
            return _of_function(value, drops_first)
        value = inner
    if attributes.is_function(value) and type(value) is not FunctionType:
        return _shown(value.__text_signature__)
    return None


def _maker_of(cls: type) -> Any:
    """The function that has the arguments of a call of the class, if it is written in Python."""
    for method in ("__init__", "__new__"):
        found = attributes.attribute_of(cls, method).value
        if type(found) is FunctionType:
            return found
    return None


def _shown(text: object) -> str | None:
    if type(text) is not str:
        return None
    for first in ("$self", "$module", "$type", "$cls"):
        for end, shown in ((", /)", ")"), (", /, ", ""), (", ", ""), (")", ")")):
            text = text.replace(f"({first}{end}", f"({shown}")
    return text[:_MAX_VALUE]


def _of_function(function: FunctionType, drops_first: bool) -> str:
    given = attributes.find(_function_dict_of(function), "__signature__")
    if type(given) is inspect.Signature and not _is_of_program(function.__code__):
        return _of_signature(given, drops_first)
    code = function.__code__
    names = [exact_text(name) for name in code.co_varnames]
    defaults = function.__defaults__ or ()
    keyword_defaults = function.__kwdefaults__ or {}
    notes = function.__annotations__
    count, only = code.co_argcount, code.co_kwonlyargcount
    shown = []
    for index, name in enumerate(names[:count]):
        if index == 0 and drops_first:
            continue
        text = name + _note(notes, name)
        if (at := index - (count - len(defaults))) >= 0:
            text += f"={quiet_repr(defaults[at], _MAX_PART)[0]}"
        shown.append(text)
        if index == code.co_posonlyargcount - 1:
            shown.append("/")
    after = count + only
    if code.co_flags & _VAR_POSITIONAL:
        shown.append(f"*{names[after]}{_note(notes, names[after])}")
        after += 1
    elif only:
        shown.append("*")
    for name in names[count : count + only]:
        default = attributes.find(keyword_defaults, name)
        text = "" if default is NOTHING else f"={quiet_repr(default, _MAX_PART)[0]}"
        shown.append(name + _note(notes, name) + text)
    if code.co_flags & _VAR_KEYWORD:
        shown.append(f"**{names[after]}{_note(notes, names[after])}")
    returned = attributes.find(notes, "return")
    result = "" if returned is NOTHING else f" -> {_annotation(returned)}"
    return f"({', '.join(shown)}){result}"


def _is_of_program(code: CodeType) -> bool:
    return code.co_filename.startswith(("<string>", *CELLS))


def _of_signature(signature: inspect.Signature, drops_first: bool) -> str:
    shown = []
    for parameter in list(signature.parameters.values())[drops_first:]:
        star = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}.get(parameter.kind, "")
        text = star + parameter.name
        if parameter.default is not parameter.empty:
            text += f"={quiet_repr(parameter.default, _MAX_PART)[0]}"
        shown.append(text)
    return f"({', '.join(shown)})"


def _note(notes: dict[str, Any], name: str) -> str:
    found = attributes.find(notes, name)
    return "" if found is NOTHING else f": {_annotation(found)}"


def _annotation(value: object) -> str:
    if value is None:
        return "None"
    if attributes.is_class(value):
        return type_name(value)  # type: ignore[arg-type]
    if type(value) is str:
        return value[:_MAX_PART]
    return quiet_repr(value, _MAX_PART)[0]
