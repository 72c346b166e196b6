"""Checks a syntax tree and makes it safe to run: RestrictedPython's transformer with our tables.

Loads stay native bytecode. An attribute's target is wrapped in a call, so that the access itself,
its order and its evaluation stay CPython's:

    o._x          @private(o)._x        load, store, delete, augmented
    o.__dict__    @dunder(o).__dict__   names whose safety depends on the object
    o.x = v       @write(o).x = v       stores and deletes of public names

In the first `except* T` of a statement, T becomes `@plain_group() or T` (guards/groups.cc).

The walk uses a work list instead of recursion: a chain of a thousand `+` is not unusual, and a
visitor method per node would cost more than everything else together. Scopes have a separate queue.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import constructs, tables
from .findings import Finding
from .library.streams import number_of
from .restricted_python import RestrictingNodeTransformer
from .rules import RULES

if TYPE_CHECKING:
    from .modules import ModuleTable

_LOAD = ast.Load()
_STORE = ast.Store()
_OR = ast.Or()
_HINT_DUNDER = "Names with two underscores on either side belong to Python; choose another name."


class _Scope:
    """A block of code: its kind, and the class node of a class body."""

    __slots__ = ("allowed", "class_node", "kind", "uses_hooks")

    def __init__(self, kind: str, class_node: ast.ClassDef | None = None) -> None:
        self.kind = kind
        self.class_node = class_node
        self.uses_hooks = False
        self.allowed = _BINDABLE[kind]


# Names with two underscores on either side that a binding may use, by kind of scope. A function may
# define them because class decorators do.
_BINDABLE = {
    "module": tables.MODULE_DUNDERS,
    "function": tables.CLASS_DUNDERS,
    "class": tables.CLASS_DUNDERS,
}


def _is_dunder(name: str) -> bool:
    return len(name) > 4 and name[:2] == "__" and name[-2:] == "__"


class Transformer(RestrictingNodeTransformer):
    """Checks one module's tree and changes it in place. Used once."""

    def __init__(self, modules: ModuleTable, allowed_imports: frozenset[str] | None) -> None:
        super().__init__()
        self.findings: list[Finding] = []
        self._modules = modules
        self._allowed_imports = allowed_imports
        self._scope = _Scope("module")
        self._stack: list[ast.AST] = []
        self._waiting: list[tuple[_Scope, list[ast.AST]]] = []
        self._optional_imports: set[int] = set()
        self._annotations_are_text = False
        # Uses of missing builtins are findings only if the program never binds the name.
        self._missing: list[tuple[ast.Name, str]] = []
        self._bound: set[str] = set()
        self._imports_os = False

    # --- the walk -------------------------------------------------------------------------------

    def check(self, tree: ast.Module) -> None:
        """Fills `findings` and `warnings`; the tree may be compiled if there are no findings."""
        self._waiting.append((self._scope, [tree]))
        self._annotations_are_text = _has_future_annotations(tree)
        plain = _PLAIN
        handlers = _HANDLERS
        while self._waiting:
            self._scope, self._stack = self._waiting.pop()
            stack = self._stack
            while stack:
                node = stack.pop()
                kind = node.__class__
                fields = plain.get(kind)
                if fields is None:
                    handler = handlers.get(kind)
                    if handler is None:
                        self.not_allowed(node)
                    else:
                        handler(self, node)
                    continue
                for field in fields:
                    child = getattr(node, field)
                    if child.__class__ is list:
                        stack.extend(child)
                    else:
                        stack.append(child)
            if self._scope.uses_hooks and self._scope.class_node is not None:
                self._declare_hooks(self._scope.class_node)
        streams = _opened_streams(tree) if any(n == "open" for _, n in self._missing) else ()
        for node, name in self._missing:
            if (
                name not in self._bound
                and name not in self._modules.builtins
                and id(node) not in streams
            ):
                self._refuse_builtin(node, name)
        if self._imports_os:
            self._check_uses_of_os(tree)
        self.findings.sort()
        self._list_modules_once()

    def visit(self, node: ast.AST) -> ast.AST:
        """RestrictedPython's entry point."""
        assert isinstance(node, ast.Module)
        self.check(node)
        return node

    def _refuse_builtin(self, node: ast.AST, name: str) -> None:
        hint = tables.MISSING_BUILTINS[name]
        profile = self._modules.profile_with_files() if name == "open" else None
        if profile is not None:
            hint = f"{hint} The {profile!r} profile has open()."
        self.refuse(node, "BJ501", name, hint, profile=profile)

    def _list_modules_once(self) -> None:
        """Adds the list of available modules to the first finding about a missing module."""
        for i, finding in enumerate(self.findings):
            if finding.rule == "BJ201":
                hint = f"{finding.hint} {self._modules.available()}"
                self.findings[i] = finding._replace(hint=hint)
                return

    def not_allowed(self, node: ast.AST) -> None:
        """Refuses a kind of node that is in no table and has not been reviewed."""
        self.refuse(node, "BJ401", node.__class__.__name__)

    def refuse(self, node: ast.AST, rule: str, *parts: str, profile: str | None = None) -> None:
        """Records a finding of `rule` at `node`."""
        self.findings.append(self._finding(node, rule, parts, profile))

    @staticmethod
    def _finding(node: ast.AST, rule: str, parts: tuple[str, ...], profile: str | None) -> Finding:
        stated = RULES[rule]
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", -1) + 1
        return Finding(
            line,
            column,
            getattr(node, "end_lineno", None) or line,
            (getattr(node, "end_col_offset", None) or column - 1) + 1,
            rule,
            stated.name,
            stated.reason.format(*parts),
            stated.hint.format(*parts),
            profile,
        )

    def _push(self, node: ast.AST | list | None) -> None:
        if node.__class__ is list:
            self._stack.extend(node)
        elif node is not None:
            self._stack.append(node)

    def _declare_hooks(self, node: ast.ClassDef) -> None:
        """Declares the hooks global in a class body, whose namespace a metaclass may provide."""
        body = node.body
        first = body[0]
        is_doc = (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        )
        statement = ast.Global(names=list(tables.HOOKS))
        body.insert(1 if is_doc else 0, ast.copy_location(statement, first))

    # --- binding sites --------------------------------------------------------------------------

    def check_binding(self, node: ast.AST, name: str | None) -> None:
        """Checks a name that the program binds; every construct uses this."""
        if name is None or name[0] != "_":
            if name in tables.MISSING_BUILTINS:
                self._bound.add(name)
            return
        if not _is_dunder(name) or name in self._scope.allowed:
            return
        if self._scope.kind == "class":
            hint = tables.CLASS_DUNDERS_REFUSED.get(name, _HINT_DUNDER)
            self.refuse(node, "BJ403", name, hint)
        else:
            self.refuse(node, "BJ101", name)

    check_name = check_binding  # RestrictedPython's name for it, with fewer exceptions

    def visit_Name(self, node: ast.Name) -> None:
        name = node.id
        if node.ctx.__class__ is not ast.Load:
            if name[0] == "_" or name in tables.MISSING_BUILTINS:
                self.check_binding(node, name)
        elif name[0] == "_":
            if _is_dunder(name) and name not in tables.LOADABLE_DUNDER_NAMES:
                if name in tables.REFUSED_LOADS or name not in self._scope.allowed:
                    self.refuse(node, "BJ102", name)
        elif name in tables.MISSING_BUILTINS:
            self._missing.append((node, name))

    def _push_annotation(self, node: ast.expr | None) -> None:
        """Skipped under `from __future__ import annotations`: the annotation is never evaluated,
        and its text must stay unchanged."""
        if node is not None and not self._annotations_are_text:
            self._stack.append(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if self._scope.kind != "function":  # not evaluated in functions
            self._push_annotation(node.annotation)
        self._push(node.value)
        target = node.target
        if node.value is None and target.__class__ is ast.Attribute:
            # `o.x: T` evaluates `o` and neither loads nor stores `x`.
            self._push(target.value)
        else:
            self._push(target)

    def _check_arguments(self, arguments: ast.arguments) -> None:
        for arg in (
            *arguments.posonlyargs,
            *arguments.args,
            arguments.vararg,
            *arguments.kwonlyargs,
            arguments.kwarg,
        ):
            if arg is not None:
                self.check_binding(arg, arg.arg)
                self._push_annotation(arg.annotation)
        self._stack.extend(arguments.defaults)
        self._stack.extend(arguments.kw_defaults)

    def _visit_function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self.check_binding(node, node.name)
        inner = _Scope("function")
        # Arguments are bound in the function; defaults and annotations are evaluated outside.
        outer, self._scope = self._scope, inner
        self._check_arguments(node.args)
        self._scope = outer
        self._push(node.decorator_list)
        self._push_annotation(node.returns)
        self._push(getattr(node, "type_params", None))
        self._waiting.append((inner, list(node.body)))

    visit_FunctionDef = _visit_function
    visit_AsyncFunctionDef = _visit_function

    def visit_Lambda(self, node: ast.Lambda) -> None:
        inner = _Scope("function")
        outer, self._scope = self._scope, inner
        self._check_arguments(node.args)
        self._scope = outer
        self._waiting.append((inner, [node.body]))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.check_binding(node, node.name)
        self._push(node.bases)
        self._push(node.keywords)
        self._push(node.decorator_list)
        self._push(getattr(node, "type_params", None))
        self._waiting.append((_Scope("class", node), list(node.body)))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        self.check_binding(node, node.name)
        self._push(node.type)
        self._push(node.body)

    def visit_Global(self, node: ast.Global | ast.Nonlocal) -> None:
        for name in node.names:
            # Otherwise a dunder that a class may define would be bound in an outer scope.
            if _is_dunder(name) and name not in tables.MODULE_DUNDERS:
                self.refuse(node, "BJ101", name)
            else:
                self.check_binding(node, name)

    visit_Nonlocal = visit_Global

    def visit_keyword(self, node: ast.keyword) -> None:
        name = node.arg
        if name is not None and _is_dunder(name):
            self.refuse(node, "BJ101", name)
        self._push(node.value)

    def visit_TypeVar(self, node: ast.AST) -> None:
        self.check_binding(node, node.name)  # type: ignore[attr-defined]
        self._push(getattr(node, "bound", None))
        self._push(getattr(node, "default_value", None))

    visit_ParamSpec = visit_TypeVar
    visit_TypeVarTuple = visit_TypeVar

    def visit_TypeAlias(self, node: ast.AST) -> None:
        self._push(node.name)  # type: ignore[attr-defined]
        self._push(node.type_params)  # type: ignore[attr-defined]
        self._push(node.value)  # type: ignore[attr-defined]

    # --- patterns -------------------------------------------------------------------------------

    def visit_MatchAs(self, node: ast.MatchAs) -> None:
        self.check_binding(node, node.name)
        self._push(node.pattern)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.check_binding(node, node.name)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        self.check_binding(node, node.rest)
        self._push(node.keys)
        self._push(node.patterns)

    def visit_MatchClass(self, node: ast.MatchClass) -> None:
        """Checks names here: attributes are loaded natively, and the class cannot be wrapped."""
        for name in node.kwd_attrs:
            if name in tables.REFUSED_ATTRIBUTES or (
                name[0] == "_" and name not in tables.NATIVE_DUNDERS
            ):
                self.refuse(node, "BJ307", name)
        target = node.cls
        while isinstance(target, ast.Attribute):
            if target.attr[0] == "_" or target.attr in tables.REFUSED_ATTRIBUTES:
                self.refuse(target, "BJ307", target.attr)
            target = target.value
        self._push(target)
        self._push(node.patterns)
        self._push(node.kwd_patterns)

    # --- attributes -----------------------------------------------------------------------------

    def visit_Attribute(self, node: ast.Attribute) -> None:
        value = node.value
        self._stack.append(value)
        attr = node.attr
        loads = node.ctx.__class__ is ast.Load
        if attr[0] == "_":
            if not _is_dunder(attr):
                hook = tables.HOOK_PRIVATE
            elif not self._check_dunder(node, attr, loads):
                return
            elif loads and attr in tables.NATIVE_DUNDERS:
                return
            else:
                hook = tables.HOOK_DUNDER
        elif attr in tables.REFUSED_ATTRIBUTES:
            self.refuse(node, "BJ303", attr)
            return
        elif loads:
            return
        else:
            # Whether `mro` may be set depends on the object.
            hook = tables.HOOK_DUNDER if attr == "mro" else tables.HOOK_WRITE
        self._scope.uses_hooks = True
        place = _place(value)
        node.value = ast.Call(ast.Name(hook, _LOAD, **place), [value], [], **place)

    def _check_dunder(self, node: ast.Attribute, attr: str, loads: bool) -> bool:
        if attr in tables.REFUSED_DUNDERS:
            self.refuse(node, "BJ301", attr, tables.REFUSED_DUNDERS[attr])
            return False
        if not loads and attr in tables.REFUSED_STORES:
            self.refuse(node, "BJ304", attr, tables.REFUSED_STORES[attr])
            return False
        return True

    # --- imports --------------------------------------------------------------------------------

    def visit_Try(self, node: ast.Try) -> None:
        """Imports in `try: … except ImportError:` are optional and raise at run time."""
        if any(_catches_import_error(handler) for handler in node.handlers):
            self._may_be_missing(node.body)
        self._push(node.body)
        self._push(node.handlers)
        self._push(node.orelse)
        self._push(node.finalbody)

    def visit_If(self, node: ast.If) -> None:
        if _is_type_checking(node.test):
            self._may_be_missing(node.body)
        self._push(node.test)
        self._push(node.body)
        self._push(node.orelse)

    def _may_be_missing(self, body: list[ast.stmt]) -> None:
        """Marks imports that may fail: ImportError at run time is sufficient."""
        self._optional_imports.update(
            id(child) for child in body if isinstance(child, (ast.Import, ast.ImportFrom))
        )

    def visit_TryStar(self, node: ast.Try) -> None:
        self.visit_Try(node)
        self._scope.uses_hooks = True
        first = node.handlers[0]
        place = _place(first.type)
        hook = ast.Call(ast.Name(tables.HOOK_GROUP, _LOAD, **place), [], [], **place)
        first.type = ast.BoolOp(_OR, [hook, first.type], **place)

    def _refuse_import(
        self, node: ast.AST, rule: str, *parts: str, profile: str | None = None
    ) -> None:
        finding = self._finding(node, rule, parts, profile)
        if id(node) in self._optional_imports:
            self.warnings.append(finding)
        else:
            self.findings.append(finding)

    def visit_Import(self, node: ast.Import) -> None:
        if getattr(node, "is_lazy", 0):
            self.refuse(node, "BJ206")
            return
        for alias in node.names:
            self.check_binding(alias, alias.asname or alias.name.partition(".")[0])
            self._check_module(node, alias.name)
            self._imports_os = self._imports_os or alias.name == "os"

    def _check_uses_of_os(self, tree: ast.Module) -> None:
        """Finds `os.system` before the run: of all modules, this is the one of which each profile
        withholds what most programs want. Only where the name means nothing but the module."""
        names: set[str] = set()
        others: set[str] = set()
        uses: list[ast.Attribute] = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    is_os = alias.name.partition(".")[0] == "os" and not (
                        alias.asname and alias.name != "os"
                    )
                    bound = alias.asname or alias.name.partition(".")[0]
                    (names if is_os else others).add(bound)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if isinstance(node.ctx, ast.Load):
                    uses.append(node)
            else:
                others.update(_names_bound_by(node))
        exports = self._modules.exports("os") if "os" in self._modules else frozenset()
        for use in uses:
            name, attr = use.value.id, use.attr  # type: ignore[attr-defined]
            if name not in names or name in others or attr in exports or attr[0] == "_":
                continue
            if attr == "path" and "os.path" in self._modules:
                continue
            near = self._modules.near_names("os", attr)
            files = self._modules.profile_with_files() if "profile has it" in near else None
            self.refuse(use, "BJ202", "os", attr, self._modules.profile_name, near, profile=files)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if getattr(node, "is_lazy", 0):
            self.refuse(node, "BJ206")
            return
        if node.level:
            self.refuse(node, "BJ204")
            return
        module = node.module or ""
        if node.names[0].name == "*":
            self._spell_out_star(node, module)
            return
        for alias in node.names:
            self.check_binding(alias, alias.asname or alias.name)
        if module == "__future__" or not self._check_module(node, module):
            return
        exports = self._modules.exports(module)
        for alias in node.names:
            if alias.name not in exports:
                near = self._modules.near_names(module, alias.name)
                self._refuse_import(
                    node, "BJ202", module, alias.name, self._modules.profile_name, near
                )

    def _spell_out_star(self, node: ast.ImportFrom, module: str) -> None:
        """`from math import *` becomes `from math import acos, …`: each bound name is checked,
        and no star import reaches the bytecode."""
        starred: tuple[str, ...] = ()
        if module in self._modules and self._scope.kind == "module":
            starred = self._modules.starred(module)
        if starred:
            node.names = [ast.alias(name, None, **_place(node)) for name in starred]
            for alias in node.names:
                self.check_binding(alias, alias.name)
        available = module == "__future__" or self._check_module(node, module)
        # For an optional import, the missing module was only a warning.
        if not starred and (available or id(node) in self._optional_imports):
            self.refuse(node, "BJ203", module)

    def _check_module(self, node: ast.AST, name: str) -> bool:
        if name == "__future__":
            return True
        if name not in self._modules:
            profile = self._modules.profile_with(name)
            self._refuse_import(
                node,
                "BJ201",
                name,
                self._modules.profile_name,
                self._modules.near_modules(name, profile),
                profile=profile,
            )
            return False
        if self._allowed_imports is not None and name not in self._allowed_imports:
            self._refuse_import(node, "BJ205", name)
            return False
        return True


def _place(node: ast.expr | ast.stmt) -> dict[str, int | None]:
    """The position of `node`, for a generated node."""
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _has_future_annotations(tree: ast.Module) -> bool:
    """CPython ensures that only a docstring and similar statements come before such an import."""
    for statement in tree.body:
        if statement.__class__ is ast.ImportFrom and statement.module == "__future__":
            if any(alias.name == "annotations" for alias in statement.names):
                return True
        elif statement.__class__ is not ast.Expr:
            return False
    return False


def _opened_streams(tree: ast.Module) -> set[int]:
    """The ids of the names in open(0), open(sys.stdin.fileno()) and open("/dev/stdin"), which open
    no file. The builtin itself makes the same distinction, by the value."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        file = node.args[0] if node.args else None
        for keyword in node.keywords:
            file = keyword.value if keyword.arg == "file" else file
        if isinstance(file, ast.Constant):
            is_stream = number_of(file.value) is not None
        else:
            is_stream = (
                isinstance(file, ast.Call)
                and isinstance(file.func, ast.Attribute)
                and file.func.attr == "fileno"
            )
        if is_stream and node.func.id == "open":
            found.add(id(node.func))
    return found


def _names_bound_by(node: ast.AST) -> tuple[str, ...]:
    """The names that this node, and none below it, binds, except by an import of a module."""
    if isinstance(node, ast.Name):
        return (node.id,) if not isinstance(node.ctx, ast.Load) else ()
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return (node.name,)
    if isinstance(node, ast.arg):
        return (node.arg,)
    if isinstance(node, ast.ImportFrom):
        return tuple(alias.asname or alias.name for alias in node.names)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return (node.name,) if node.name else ()
    if isinstance(node, ast.MatchMapping):
        return (node.rest,) if node.rest else ()
    return ()


def _is_type_checking(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`: its body is only for annotations and never runs."""
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", None)
    return name == "TYPE_CHECKING"


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    kind = handler.type
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return kind is None or any(
        isinstance(name, ast.Name)
        and name.id in {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
        for name in names
    )


def keep_result(tree: ast.Module) -> None:
    """Stores the value of the last statement, if it is an expression, under RESULT_NAME."""
    if not tree.body:
        return
    last = tree.body[-1]
    if last.__class__ is ast.Expr:
        place = _place(last)
        name = ast.Name(tables.RESULT_NAME, _STORE, **place)
        tree.body[-1] = ast.Assign([name], last.value, **place)  # type: ignore[attr-defined]


def _operators_are_known() -> bool:
    """True unless this Python has an operator that no construct covers."""
    return all(
        operator.__name__ in constructs.PARTS
        for family in (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)
        for operator in family.__subclasses__()
    )


def _dispatch() -> tuple[dict[type, tuple[str, ...]], dict[type, Callable[..., None]]]:
    """For each kind of node: the fields to walk, or the method that checks it."""
    skipped = constructs.FIELDS_NOT_WALKED
    if not _operators_are_known():
        skipped -= {"op", "ops"}  # so that the walk reaches and refuses the unknown operator
    plain: dict[type, tuple[str, ...]] = {type(None): ()}
    handlers: dict[type, Callable[..., None]] = {}
    for name in constructs.NODES:
        kind = getattr(ast, name, None)
        method = vars(Transformer).get(f"visit_{name}")
        if kind is None:  # of a later Python
            continue
        if method is not None:
            handlers[kind] = method
        elif name in constructs.CHECKED_NODES:
            raise TypeError(f"no method checks {name}")
        else:
            plain[kind] = tuple(field for field in kind._fields if field not in skipped)
    # Their `value` is not a node.
    plain[ast.Constant] = plain[ast.MatchSingleton] = ()
    for name in constructs.PARTS:
        if issubclass(getattr(ast, name), (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
            plain[getattr(ast, name)] = ()
    return plain, handlers


_PLAIN, _HANDLERS = _dispatch()
