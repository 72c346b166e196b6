"""Text that a package evaluates for a program: a formula, an expression.

It is checked and compiled like the program's source, and runs with the program's builtins and only
the names that it uses. So it can do no more than the program itself.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Callable, Mapping
from types import FrameType
from typing import Any

import _belljar_guards as guards

from ..library.program import compile_text, running
from ..library.scopes import namespace

_VALUE = "value_of_text"
_BUILTIN = (types.BuiltinFunctionType, types.FunctionType)

MISSING = object()


def program_frame() -> FrameType | None:
    """The program's nearest frame; None while the zygote starts."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_builtins is not running.builtins:
        frame = frame.f_back
    return frame


def program_names(names: Mapping[str, Any]) -> dict[str, Any]:
    """The variables of a frame that a text may use."""
    return {
        name: value
        for name, value in names.items()
        if type(name) is str and name.isidentifier() and not name.startswith("__")
    }


def is_withheld(value: Any) -> bool:
    """Whether it is a real module or a builtin; a program has its own versions of those."""
    if isinstance(value, types.ModuleType):
        return True
    return type(value) in _BUILTIN and getattr(value, "__module__", None) in (
        "builtins",
        "io",
        "os",
    )


def evaluate(text: Any, look_up: Callable[[str], Any]) -> Any:
    """The value of an expression. `look_up` returns a name's value, or MISSING.

    Raises SyntaxError, PermissionError for what the policy refuses, and what the text raises.
    """
    if type(text) is not str:
        raise TypeError("[BJ502] an expression must be a plain str")
    tree = ast.parse(text.strip(), mode="eval")
    found = {}
    for name in {node.id for node in ast.walk(tree) if type(node) is ast.Name}:
        value = look_up(name)
        if value is not MISSING and not is_withheld(value):
            found[name] = value
    scope = namespace(found)
    code = compile_text(f"{_VALUE} = (\n{text.strip()}\n)", "<expression>")
    guards.run_text(code, scope, scope)
    return scope[_VALUE]


def define(text: str, filename: str, names: Mapping[str, Any]) -> dict[str, Any]:
    """The namespace after executing the definitions in `text`, which may use `names`."""
    if running.compile_text is None:  # the zygote starts: the text is the package's own
        scope = dict(names)
        exec(text, scope)
        return scope
    scope = namespace({name: value for name, value in names.items() if not is_withheld(value)})
    guards.run_text(compile_text(text, filename), scope, scope)
    return scope
