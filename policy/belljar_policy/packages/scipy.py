"""scipy: its submodules load on first use, when a sealed worker cannot map native code any more.
Distributions generate methods from the names of their shapes, which a subclass supplies.
"""

from __future__ import annotations

import ast
import importlib
from typing import Any

from . import load_native

_PARTS = (
    "cluster", "fft", "fftpack", "integrate", "interpolate", "linalg", "ndimage", "optimize",
    "signal", "sparse", "spatial", "special", "stats",
)  # fmt: skip

_METHODS = frozenset({"_parse_args", "_parse_args_rvs", "_parse_args_stats"})
_NODES = (
    ast.FunctionDef, ast.arguments, ast.arg, ast.Return, ast.Tuple, ast.Name, ast.Load,
    ast.Constant, ast.Call, ast.keyword, ast.Attribute,
)  # fmt: skip


def _is_plain_method(node: ast.stmt) -> bool:
    """Whether the function only returns its arguments, like the template of scipy.stats."""
    if type(node) is not ast.FunctionDef or node.name not in _METHODS or node.decorator_list:
        return False
    names = {each.arg for each in ast.walk(node) if type(each) is ast.arg}
    for each in ast.walk(node):
        if type(each) not in _NODES:
            return False
        if type(each) is ast.Name and each.id not in names:
            return False
        if type(each) is ast.Attribute and each.attr != "_argcheck_rvs":
            return False
        if type(each) is ast.Call and type(each.func) is not ast.Attribute:
            return False
    return all(type(each) is ast.Constant for each in node.args.defaults)


def _run(text: Any, names: dict[str, Any]) -> None:
    if type(text) is not str or not all(map(_is_plain_method, ast.parse(text).body)):
        raise PermissionError("[BJ502] the shapes of a distribution must be names")
    exec(text, names)


def adapt() -> None:
    for part in _PARTS:
        importlib.import_module(f"scipy.{part}")
        load_native(f"scipy.{part}")
    importlib.import_module("scipy.stats._distn_infrastructure").exec = _run  # type: ignore[attr-defined]
