"""sympy: sympify("x**2") and parse_expr evaluate text; lambdify generates and runs functions."""

from __future__ import annotations

import ast
import importlib
import re
import sys
import types
from typing import Any

import _belljar_guards as guards

from .. import lookout
from ..library.program import running
from ..library.types import ModuleType
from . import by_name, judged

_EVERYTHING = "from sympy import *"
_FROM = re.compile(r"from ([\w.]+) import ([\w, *]+)$")
_FUNCTIONS_OF = frozenset({"cmath", "functools", "math", "numpy", "scipy", "sympy"})
_DRAWING = frozenset({"plot", "cplot", "splot"})
_LIBRARIES = frozenset({
    "matplotlib", "matplotlib.collections", "mpl_toolkits", "mpl_toolkits.mplot3d", "numpy",
    "scipy",
})  # fmt: skip
_BUILTINS = "abs bool complex float int len list max min range round set sorted sum tuple zip"


class _Kept:
    """Replaces a code object: the text that it would be compiled from."""

    def __init__(self, text: str) -> None:
        self.text = text


def _compile(source: Any, *_: Any, **__: Any) -> _Kept:
    return _Kept(ast.unparse(source) if isinstance(source, ast.AST) else source)


def _mpmath() -> dict[str, Any]:
    """The functions of mpmath's contexts, which no profile exports."""
    module = importlib.import_module("mpmath")
    own = vars(module.mp)
    return {
        name: value
        for name, value in vars(module).items()
        if name[0] != "_"
        and name not in _DRAWING
        and (
            getattr(value, "__self__", None) in (module.mp, module.iv)
            or own.get(name, module) is value
        )
    }


def _functions_of(module: str) -> dict[str, Any]:
    """What text may import from `module`: exported functions of numbers."""
    if module == "mpmath":
        return _mpmath()
    if module.partition(".")[0] in _FUNCTIONS_OF:
        found = by_name.exports_of(module)
        if found is not None:
            return found
    raise PermissionError(f"[BJ502] functions of {module!r} are not available")


def _import(text: str, names: dict[str, Any]) -> None:
    """`from numpy import *; from numpy.linalg import *`, for functions of numbers alone."""
    for clause in text.split(";"):
        found = _FROM.match(clause.strip())
        if found is None:
            continue
        functions = _functions_of(found[1])
        wanted = list(functions) if found[2] == "*" else re.findall(r"\w+", found[2])
        for name in wanted:
            if name not in functions:
                raise ImportError(f"cannot import name {name!r} from {found[1]!r}")
            if name[0] != "_" and not judged.is_withheld(functions[name]):
                names[name] = functions[name]


def _adapt_parser() -> None:
    parser = importlib.import_module("sympy.parsing.sympy_parser")

    def evaluate(code: Any, local_dict: Any, global_dict: Any) -> Any:
        def look_up(name: str) -> Any:
            for names in (local_dict, global_dict):
                if names is not None and name in names:
                    return names[name]
            return judged.MISSING

        return judged.evaluate(code.text if type(code) is _Kept else code, look_up)

    def run(text: Any, names: dict[str, Any]) -> None:
        if type(text) is not str or text != _EVERYTHING:
            raise PermissionError("[BJ502] the parser does not run statements")
        _import(text, names)

    parser.eval_expr = evaluate
    parser.compile = _compile
    parser.exec = run


def _adapt_lambdify() -> None:
    module = importlib.import_module("sympy.utilities.lambdify")

    def run(code: Any, names: dict[str, Any], result: dict[str, Any]) -> None:
        if type(code) is not _Kept:
            _import(code, result)
            return
        given = {name: running.builtins[name] for name in _BUILTINS.split()}
        scope = judged.define(
            code.text,
            "<lambdifygenerated>",
            {**names, "range": given["range"], "builtins": types.SimpleNamespace(**given)},
        )
        result.update((name, scope[name]) for name in scope.keys() - names.keys())

    namespace_of = module._get_namespace

    def get_namespace(given: Any) -> Any:
        if issubclass(type(given), types.ModuleType):
            raise TypeError("[BJ301] give the name of a module as text, or a dict of functions")
        if type(given) is ModuleType:
            return {name: getattr(given, name) for name in guards.export_names(given)}
        return namespace_of(given)

    module._get_namespace = get_namespace
    module.compile = _compile
    module.exec = run
    # It would have the sources forgotten with the function, by way of a class that is closed.
    module.weakref = types.SimpleNamespace(finalize=lambda *_: None)


def _bind_in_program(name: Any, value: Any) -> None:
    """As `name = value` at the top level of the program would. Any other name there would come
    before what the interpreter looks up by it: the program's builtins, the policy's hooks.
    """
    if type(name) is not str or not name.isidentifier() or name.startswith("__"):
        raise PermissionError(f"[BJ101] the name {name!r} may not be bound here")
    frame = judged.program_frame()
    if frame is not None:
        frame.f_globals[name] = value


def _bind_symbols(found: Any) -> None:
    basic = importlib.import_module("sympy.core.basic").Basic
    functions = importlib.import_module("sympy.core.function").FunctionClass
    if issubclass(type(found), basic):
        _bind_in_program(found.name, found)
    elif issubclass(type(found), functions):
        _bind_in_program(found.__name__, found)
    elif found is not None:
        for each in found:
            _bind_symbols(each)


def _adapt_names() -> None:
    """var("x y") and similar functions bind names in the calling frame."""
    module = importlib.import_module("sympy.core.symbol")

    def var(names: Any, **args: Any) -> Any:
        found = module.symbols(names, **args)
        _bind_symbols(found)
        return found

    def pollute(names: Any, objects: Any) -> None:
        for name, value in zip(names, objects, strict=False):
            _bind_in_program(name, value)

    var.__doc__, var.__module__, var.__qualname__ = module.var.__doc__, module.__name__, "var"
    original = module.var
    for each in list(sys.modules.values()):
        if each is not None and getattr(each, "__name__", "").partition(".")[0] == "sympy":
            if vars(each).get("var") is original:
                each.var = var  # type: ignore[attr-defined]
            if "pollute" in vars(each):
                each.pollute = pollute  # type: ignore[attr-defined]


def _adapt_polynomials() -> None:
    """Both generate code from values that an instance supplies."""
    monomials = importlib.import_module("sympy.polys.monomials")
    series = importlib.import_module("sympy.polys.ring_series")

    def run(text: Any, names: dict[str, Any]) -> None:
        names.update(judged.define(text, "<monomials>", {}))

    def function_called(name: Any) -> Any:
        if name not in series._convert_func.values():
            raise ValueError(f"{name!r} is no series")
        return vars(series)[name]

    monomials.exec = run
    series.eval = function_called


def _adapt_imports() -> None:
    """sample(X, library="scipy") would import any module to check whether it exists."""
    module = importlib.import_module("sympy.external.importtools")

    def import_known(name: Any, *args: Any, **kwargs: Any) -> Any:
        if lookout.watches() and (type(name) is not str or name not in _LIBRARIES):
            raise ImportError("no such library is here")  # as of those that are not installed
        return __import__(name, *args, **kwargs)

    module.__import__ = import_known  # type: ignore[attr-defined]


def _adapt_handlers() -> None:
    """register_handler("key", "module.name"): imported and called when the key is used."""
    module = importlib.import_module("sympy.assumptions.assume")

    def get_class(handler: Any) -> Any:
        if issubclass(type(handler), str):
            by_name.refuse("a handler must be a class, not its name")
        return original(handler)

    original = module.get_class
    module.get_class = get_class


def adapt() -> None:
    _adapt_imports()
    _adapt_handlers()
    _adapt_parser()
    _adapt_lambdify()
    _adapt_names()
    _adapt_polynomials()
    sympy = importlib.import_module("sympy")
    x = sympy.Symbol("x")
    # Loads what nearly every program uses.
    sympy.latex(sympy.integrate(sympy.sin(x) ** 2, x))
    sympy.solve(x**2 - 2, x)
    str(sympy.Matrix([[1, 2], [3, 4]]).inv())
    sympy.series(sympy.exp(x), x, 0, 3)
