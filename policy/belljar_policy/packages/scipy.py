"""scipy: its submodules load on first use, when a sealed worker cannot map native code any more.
Distributions generate methods from the names of their shapes, which a subclass supplies. Three of
them integrate in C and pass their parameters as the address of an array.
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


class _Parameters:
    """Stands for ctypes in the module of the distributions, so that data_as() knows its caller: no
    program can name this class, and scipy passes the pointers on to its own C code only.
    """

    c_void_p = object()


def _pass_parameters() -> None:
    """studentized_range (Tukey's test), geninvgauss and genhyperbolic: data_as() of numpy refuses a
    program (numpy.py), and would refuse these too.
    """
    ctypes: Any = importlib.import_module("ctypes")
    numpy: Any = importlib.import_module("numpy")
    pointers: Any = importlib.import_module("numpy._core._internal")._ctypes
    refuse = pointers.data_as

    def data_as(self: Any, kind: Any) -> Any:
        if kind is not _Parameters.c_void_p:
            return refuse(self, kind)
        array = self._arr
        # The C code reads as many numbers as scipy lists. The items are the program's: of empty
        # sequences the array would have two dimensions and no memory.
        if type(array) is not numpy.ndarray or array.ndim != 1 or array.dtype != numpy.float64:
            raise TypeError("the parameters of a distribution must be numbers")
        pointer = ctypes.c_void_p(self.data)
        pointer._arr = array  # as in numpy: the pointer keeps the memory
        return pointer

    pointers.data_as = data_as
    importlib.import_module("scipy.stats._continuous_distns").ctypes = _Parameters  # type: ignore[attr-defined]


def adapt() -> None:
    for part in _PARTS:
        importlib.import_module(f"scipy.{part}")
        load_native(f"scipy.{part}")
    importlib.import_module("scipy.stats._distn_infrastructure").exec = _run  # type: ignore[attr-defined]
    _pass_parameters()
