"""pandas: query() and eval() see only the program's names, and no private attributes."""

from __future__ import annotations

import importlib
import types
from typing import Any

import _belljar_guards as guards

from .. import tables
from ..library import joblib, program
from . import by_name, judged, late, load_native


def _judge_attribute(name: str) -> None:
    if name.startswith("_") or name in tables.REFUSED_ATTRIBUTES:
        raise AttributeError(f"[BJ302] attribute {name!r} may not be read in an expression")


def _getattr(owner: Any, name: str, *default: Any) -> Any:
    """Attribute lookup by the library's code, with names that may come from a program."""
    if name in tables.REFUSED_NAMES:
        raise AttributeError(f"[BJ301] attribute {name!r} belongs to the interpreter")
    return getattr(owner, name, *default)


def _getattr_of_value(owner: Any, name: str, *default: Any) -> Any:
    """Refuses modules: the library's code may access them, and this lookup is done by it."""
    if issubclass(type(owner), types.ModuleType):
        raise AttributeError(f"[BJ301] attribute {name!r} of a module may not be read here")
    return _getattr(owner, name, *default)


def adapt() -> None:
    scope = importlib.import_module("pandas.core.computation.scope")
    expr = importlib.import_module("pandas.core.computation.expr")

    class ProgramScope(scope.Scope):
        """Names come from the nearest frame of the program, whatever `level` says: the library's
        own frames hold its modules.
        """

        __slots__ = ()

        def __init__(
            self,
            level: int,
            global_dict: Any = None,
            local_dict: Any = None,
            resolvers: Any = (),
            target: Any = None,
        ) -> None:
            frame = judged.program_frame()
            if frame is not None:
                if isinstance(local_dict, scope.Scope):
                    resolvers = (*resolvers, *local_dict.resolvers.maps)
                    target = local_dict.target if target is None else target
                    local_dict = dict(local_dict.scope)
                global_dict = (
                    judged.program_names(frame.f_globals) if global_dict is None else global_dict
                )
                local_dict = (
                    judged.program_names(frame.f_locals) if local_dict is None else local_dict
                )
            super().__init__(level + 1, global_dict, local_dict, resolvers, target)

        def _update(self, level: int) -> None:
            return

    def ensure_scope(
        level: int, global_dict: Any = None, local_dict: Any = None, resolvers: Any = (),
        target: Any = None, **_: Any,
    ) -> Any:  # fmt: skip
        return ProgramScope(level + 1, global_dict, local_dict, resolvers, target)

    scope.ensure_scope = ensure_scope
    importlib.import_module("pandas.core.computation.eval").ensure_scope = ensure_scope
    expr.Scope = ProgramScope
    visit_attribute = expr.BaseExprVisitor.visit_Attribute

    def visit_judged(self: Any, node: Any, **kwargs: Any) -> Any:
        _judge_attribute(node.attr)
        return visit_attribute(self, node, **kwargs)

    expr.BaseExprVisitor.visit_Attribute = visit_judged
    expr.getattr = _getattr_of_value  # type: ignore[attr-defined]
    _judge_names()
    _only_own_backends()
    _add_accessors_only()
    _load_what_it_imports()
    _pickle_as_here()
    load_native("pandas")
    _use()


def _judge_names() -> None:
    """frame.agg("mean") calls the method of that name."""
    apply = importlib.import_module("pandas.core.apply").Apply
    apply_str = apply._apply_str

    def apply_judged(self: Any, obj: Any, func: Any, *args: Any, **kwargs: Any) -> Any:
        if type(func) is not str:
            raise TypeError("[BJ306] the name of a function must be a plain str")
        _judge_attribute(func)
        return apply_str(self, obj, func, *args, **kwargs)

    apply._apply_str = apply_judged
    for name in ("apply", "groupby.generic", "groupby.groupby", "resample"):
        importlib.import_module(f"pandas.core.{name}").getattr = _getattr  # type: ignore[attr-defined]


def _only_own_backends() -> None:
    """plot(backend="m") and the option plotting.backend: any module that has a `plot`."""
    module = importlib.import_module("pandas.plotting._core")
    load_backend = module._load_backend

    def load_known(backend: Any) -> Any:
        if type(backend) is not str or backend not in ("matplotlib", "plotly"):
            by_name.refuse("plots are drawn by matplotlib or plotly; no other backend is available")
        return load_backend(backend)

    module._load_backend = load_known


def _add_accessors_only() -> None:
    """register_dataframe_accessor() and others set an attribute of a class that everybody uses, and
    that the runner shows after the program: under a name that it does not have."""
    module: Any = importlib.import_module("pandas.core.accessor")
    register = module._register_accessor

    def register_new(name: Any, cls: Any) -> Any:
        if type(name) is not str or not name.isidentifier() or name[0] == "_":
            raise AttributeError("[BJ305] the name of an accessor must be a public name")
        there = getattr(cls, name, None)
        if hasattr(cls, name) and not guards.is_guest_class(there):  # which may register it again
            raise AttributeError(
                f"[BJ305] {cls.__name__}.{name} may not be replaced: choose another name"
            )
        return register(name, cls)

    module._register_accessor = register_new


def _load_what_it_imports() -> None:
    """read_excel, read_html, to_markdown: packages that a program may not have imported itself."""
    optional: Any = importlib.import_module("pandas.compat._optional")
    import_module = optional.importlib.import_module

    def import_late(name: str, package: str | None = None) -> Any:
        late.load(name)
        return import_module(name, package)

    optional.importlib = by_name.stand_in(importlib, import_module=import_late)


def _pickle_as_here() -> None:
    """DataFrame.to_pickle() and read_pickle(): what the program saved, it gets back."""
    pandas: Any = importlib.import_module("pandas")
    module: Any = importlib.import_module("pandas.io.pickle")

    write, read = module.to_pickle, module.read_pickle

    def to_pickle(obj: Any, filepath_or_buffer: Any, *args: Any, **options: Any) -> None:
        if program.running.scope is program.NO_SCOPE:  # with the policy off
            write(obj, filepath_or_buffer, *args, **options)
        else:
            joblib.dump(obj, filepath_or_buffer)

    def read_pickle(filepath_or_buffer: Any, *args: Any, **options: Any) -> Any:
        if program.running.scope is program.NO_SCOPE:
            return read(filepath_or_buffer, *args, **options)
        return joblib.load(filepath_or_buffer)

    for ours in (to_pickle, read_pickle):
        original = getattr(module, ours.__name__)
        for name in ("__module__", "__qualname__", "__doc__"):
            setattr(ours, name, getattr(original, name))
        setattr(module, ours.__name__, ours)
    pandas.read_pickle = read_pickle


def _use() -> None:
    """Runs what nearly every program does once."""
    pandas = importlib.import_module("pandas")
    frame = pandas.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "x"], "c": [1.0, None, 2.5]})
    frame.groupby("b").agg({"a": "sum"}).reset_index().merge(frame, on="b")
    frame.query("a > 1").describe()
    repr(frame)
    frame.to_html()
    frame.to_csv()
    float(pandas.Series([1, 2]).mean())
    pandas.to_datetime(pandas.Series(["2024-01-01"])).dt.year.sum()
