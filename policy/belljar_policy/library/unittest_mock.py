"""unittest.mock, for guests: the library's own code, run as if the program contained it.

Mocks look up, set and import whatever a test names. As library code that would undo the policy; as
code of the program it can do what the program can. So the text of the library's mock.py goes
through the policy's transformer like a program's source, and its classes and functions are the
program's own: a program may derive from them, write to them and call them with anything.

What no program may do is left out or replaced by as_guest/unittest_mock.py, which uses the
functions below. A program that gets hold of those gains nothing: each checks its arguments, and
does what patch() and Mock(spec=…) do for any program.

All this happens when a program first uses a name of the module, because most never do.
"""

from __future__ import annotations

import ast
import builtins
import functools
import io
import os
import sys
from abc import ABCMeta
from types import FunctionType
from typing import Any

import _belljar_guards as guards

from .. import tables
from . import inspect, kept
from .objects import dict_of, mro_of
from .own_modules import own
from .program import running
from .streams import TextStream
from .sys import set_argv
from .unittest_case import _library as _unittest_case

EXPORTS = frozenset({
    "ANY", "AsyncMock", "DEFAULT", "FILTER_DIR", "InvalidSpecError", "MagicMock", "Mock",
    "NonCallableMagicMock", "NonCallableMock", "PropertyMock", "call", "create_autospec",
    "mock_open", "patch", "seal", "sentinel",
})  # fmt: skip

_OURS = kept.path_as_guest("unittest_mock")
_LIBRARYS = os.path.join(os.path.dirname(_unittest_case.__file__), "mock.py")

# Methods that no program may define, and what becomes of them.
_LEFT_OUT = frozenset({
    ("NonCallableMock", "__class__"),  # guards.report_class
    ("_Call", "__getattribute__"),  # see _load
    ("_SentinelObject", "__reduce__"),  # there is no pickle
    ("_Sentinel", "__reduce__"),
})  # fmt: skip


def __getattr__(name: str) -> Any:
    """For each export, the function that a load of it calls (reviewed.LIVE)."""
    if name not in EXPORTS:
        raise AttributeError(name)
    return functools.partial(_export, name)


def _export(name: str) -> Any:
    return (_loaded or _load())[name]


_loaded: dict[str, Any] = {}


def _load() -> dict[str, Any]:
    ours = ast.parse(kept.text_as_guest("unittest_mock"), _OURS)
    with open(_LIBRARYS, encoding="utf-8") as file:
        librarys = _Changes(ours).visit(ast.parse(file.read(), _LIBRARYS))
    if running.run_as_guest is None:
        raise RuntimeError("there is no policy to check the text")
    scope = running.run_as_guest(
        [(ours, _OURS), (librarys, _LIBRARYS)],
        {
            "__name__": "unittest.mock",
            "__doc__": ast.get_docstring(librarys),
            "host_builtin_names": _BUILTIN_NAMES,
            "host_file_names": sorted({*dir(io.TextIOWrapper), *dir(io.BytesIO)}),
            "host_find_module": find_module,
            "host_is_data_descriptor": is_data_descriptor,
            "host_is_withheld": is_withheld,
            "host_is_coroutine": _coroutine_mark(),
            "host_kind_of": kind_of,
            "host_open_names": dir(io.open),
            "host_patch_class": patch_class,
            "host_patch_module": patch_module,
        },
    )
    guards.report_class(scope["NonCallableMock"])
    scope["_patch"].get_original = scope["_get_original"]
    scope["_patch_dict"].decorate_class = scope["_decorate_class"]
    for cls in (scope["_SentinelObject"], scope["_Sentinel"]):
        cls.__copy__ = cls.__deepcopy__ = scope["_itself"]
    # `call.count` and `call.index` are calls like any other, not the methods of tuple.
    for name in ("count", "index"):
        setattr(scope["_Call"], name, scope["_child_call"](name))
    inspect.coroutine_classes.append(scope["AsyncMockMixin"])
    _loaded.update(scope)
    return _loaded


def _coroutine_mark() -> Any:
    """What asyncio.iscoroutinefunction() looks for in an object; None without asyncio."""
    return getattr(sys.modules.get("asyncio.coroutines"), "_is_coroutine", None)


_BUILTIN_NAMES = frozenset(
    name for name in (*dir(builtins), *tables.MISSING_BUILTINS) if name[0] != "_"
)


class _Changes(ast.NodeTransformer):
    """Leaves out the library's imports, what is ours, and what no program may do."""

    def __init__(self, ours: ast.Module) -> None:
        self._ours = {name for statement in ours.body for name in _bound(statement)}

    def visit_Module(self, node: ast.Module) -> ast.AST:
        node.body = [each for each in node.body if not self._ours.intersection(_bound(each))]
        return self.generic_visit(node)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> ast.AST:
        return ast.copy_location(ast.Pass(), node)

    visit_ImportFrom = visit_Import

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.AST:
        node.body = [
            each for each in node.body if (node.name, getattr(each, "name", None)) not in _LEFT_OUT
        ]
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """`mock.__signature__ = …` and `code_mock.co_flags = …`: nothing here reads them."""
        target = node.targets[0]
        if isinstance(target, ast.Attribute) and target.attr in tables.REFUSED_NAMES:
            return ast.copy_location(ast.Pass(), node)
        return self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        """A local variable of that name is the instance's dict."""
        if node.id == "__dict__":
            node.id = "own_dict"
        return node


def _bound(statement: ast.stmt) -> list[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        return [alias.asname or alias.name for alias in statement.names]
    if isinstance(statement, ast.Assign):
        return [target.id for target in statement.targets if isinstance(target, ast.Name)]
    return [statement.name] if hasattr(statement, "name") else []


# --- what a program cannot do itself --------------------------------------------------------------

_STREAMS = frozenset({"stdin", "stdout", "stderr"})
_streams_before: dict[str, Any] = {}
"""The interpreter's streams, as they were before a program first patched them."""


def find_module(name: Any) -> Any:
    """The module as `import` gives it to the program, also `__main__` and `builtins`."""
    if type(name) is not str:
        raise TypeError("[BJ306] a module's name must be a plain str")
    if own.is_own(name):
        return own.load(name)
    guards.import_module(name)
    return running.modules[name]


def is_data_descriptor(value: Any) -> bool:
    """Whether its class defines what a store or a deletion does."""
    classes = mro_of(type(value))
    return any("__set__" in dict_of(cls) or "__delete__" in dict_of(cls) for cls in classes)


def is_withheld(module: Any, name: Any) -> bool:
    """Whether the library's module has the name, and the profile withholds it."""
    full_name = next((each for each, proxy in running.modules.items() if proxy is module), None)
    return full_name is not None and type(name) is str and running.is_withheld(full_name, name)


def kind_of(cls: Any, name: Any) -> Any:
    """The type of what the class itself has under `name`: that of functions, of None, or object; or
    None.

    Of a library class no program sees the namespace, nor a type of ours that is in it.
    """
    if type(name) is not str or name not in dict_of(cls):
        return None
    kind = type(dict_of(cls)[name])
    return kind if kind in (FunctionType, type(None)) else object


def patch_module(module: Any, name: Any, *value: Any) -> None:
    """What the program sees as `module.name` from now on; without a value, no more of it.

    The streams of `sys` are those that print() uses, as with contextlib.redirect_stdout.
    """
    is_of_sys = module is running.modules.get("sys") and type(name) is str
    if is_of_sys and name == "argv" and value:
        set_argv(value[0])
        return
    if not is_of_sys or name not in _STREAMS:
        guards.patch_module(module, name, *value)
        return
    if not value:
        raise AttributeError(f"[BJ305] sys.{name} may not be removed")
    before = _streams_before.setdefault(name, sys.__dict__.get(name))
    stream = value[0]
    # The program knows the interpreter's stream by a wrapper of ours, which it now puts back.
    is_wrapped = type(stream) is TextStream and stream._stream is before
    setattr(sys, name, before if is_wrapped else stream)


# Packages for the network: nothing of ours runs their code after the program, and the language
# policy does not contain them (reviewed.OPEN_PACKAGES).
_PATCHABLE = frozenset({"aiohttp", "httpx", "requests", "urllib3"})
# Methods that only programs call, with what they pass; or, in sklearn, that a program's own
# estimator may have as well, and which get the same there. Nothing else of these packages: sympy
# evaluates what methods of its printers return, and the runner draws figures and writes tables.
_PATCHABLE_METHODS = {
    "pandas": frozenset({
        "to_clipboard", "to_csv", "to_excel", "to_feather", "to_hdf", "to_parquet", "to_pickle",
        "to_sql", "to_xml",
    }),
    "sklearn": frozenset({
        "fit", "fit_predict", "fit_transform", "predict", "predict_proba", "score", "transform",
    }),
}  # fmt: skip


def patch_class(cls: Any, name: Any, *value: Any) -> bool:
    """Sets or deletes a method of pathlib.Path, or a public attribute of a class of those packages:
    patch("requests.Session.get"). False for any other class."""
    if type(cls) not in (type, ABCMeta):
        return False
    if type(name) is not str or not name.isidentifier() or name[0] == "_":
        return False
    if "pathlib" in sys.modules and cls is sys.modules["pathlib"].Path:
        files = sys.modules.get(f"{__package__}.files")
        return files is not None and files.patch_path(name, *value)
    module = dict_of(cls).get("__module__")
    if type(module) is not str or guards.is_guest_class(cls):  # which may say any module
        return False
    package = module.partition(".")[0]
    is_whole = package in _PATCHABLE and name not in tables.REFUSED_NAMES
    if not is_whole and name not in _PATCHABLE_METHODS.get(package, ()):
        return False
    if value:
        type.__setattr__(cls, name, value[0])
    elif name in dict_of(cls):
        type.__delattr__(cls, name)
    return True
