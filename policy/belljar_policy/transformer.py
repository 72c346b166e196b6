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
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING

from . import constructs, tables
from .alternatives import PUT_INTO_SYS_MODULES, instead_of
from .findings import Finding
from .library.streams import devnull, number_of
from .restricted_python import RestrictingNodeTransformer
from .rules import RULES

if TYPE_CHECKING:
    from .library.own_modules import OwnModules
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

    def __init__(
        self,
        modules: ModuleTable,
        allowed_imports: frozenset[str] | None,
        *,
        own: OwnModules | None = None,
        package: str | None = None,
        text: str = "",
    ) -> None:
        """`own`: the program's files; `package`: the package that the text is a module of, if any;
        `text`: what the tree was parsed from."""
        super().__init__()
        self.findings: list[Finding] = []
        self.own_imports: list[tuple[ast.AST, str]] = []
        """What may be modules of the program's own: the statement, and the name."""
        self._own = own
        self._package = package
        self._text = text
        self._stars: dict[int, ast.Expr] = {}  # what takes the place of such an import
        self._missing_packages: dict[str, Finding] = {}
        self._binds_any = False  # by a star import from such a module
        self._modules = modules
        self._allowed_imports = allowed_imports
        self._scope = _Scope("module")
        self._stack: list[ast.AST] = []
        self._waiting: list[tuple[_Scope, list[ast.AST]]] = []
        self._optional_imports: set[int] = set()
        self._annotations_are_text = False
        self._has_mocks = False
        # Uses of missing builtins are findings only if the program never binds the name.
        self._missing: list[tuple[ast.Name, str]] = []
        self._bound: set[str] = set()
        self._imports_by_name: list[ast.Name] = []
        # The modules that names stand for throughout, and names of modules that are withheld.
        self._aliases: dict[str, str] = {}
        self._rebound: set[str] = set()
        self._withheld: list[tuple[ast.Attribute, str, str]] = []

    # --- the walk -------------------------------------------------------------------------------

    def check(self, tree: ast.Module) -> None:
        """Fills `findings` and `warnings`; the tree may be compiled if there are no findings."""
        self._waiting.append((self._scope, [tree]))
        self._annotations_are_text = _has_future_annotations(tree)
        self._aliases, self._has_mocks = _read_imports(tree)
        if self._has_mocks:
            self._modules.admit_for_tests()
        elif "subprocess" in self._aliases.values() and _runs_python(tree):
            self._modules.admit_subprocess()
        if self._own is not None and self._own.tops:
            self._aliases = {
                name: module for name, module in self._aliases.items() if not self._is_own(module)
            }
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
            if self._scope.uses_hooks:
                if self._scope.class_node is not None:
                    self._declare_hooks(self._scope.class_node.body)
                elif self._scope.kind == "module":
                    self._declare_hooks(tree.body)
        streams = _opened_streams(tree) if any(n == "open" for _, n in self._missing) else ()
        for node, name in self._missing:
            if (
                not self._binds_any
                and name not in self._bound
                and name not in self._modules.builtins
                and id(node) not in streams
                and not _patches(tree, name)
            ):
                self._refuse_builtin(node, name)
        if self._stars:
            self._put_stars(tree)
        if self._withheld:
            self._refuse_withheld(tree)
        if self._imports_by_name:
            self._check_imports_by_name(tree)
        if self._missing_packages:
            self._explain_put_modules(tree)
        self.findings += self._missing_packages.values()
        self.findings = sorted(
            found._replace(hint=instead_of(found.hint, tree)) for found in self.findings
        )

    @property
    def missing_packages(self) -> list[str]:
        """Outermost names of what is imported, must be there, and is nowhere; sorted."""
        return sorted(self._missing_packages)

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

    def _refuse_withheld(self, tree: ast.Module) -> None:
        """Findings about `module.name`, except where the program allows for its absence."""
        expected = _expected_to_be_missing(tree)
        for node, module, name in self._withheld:
            alias = _first_name(node)
            if self._has_mocks and _patches(tree, name, module):
                continue
            if id(node) not in expected and alias not in self._rebound:
                near = self._modules.near_names(module, name)
                profile = self._modules.profile_with_name(module, name)
                here = self._modules.profile_name
                self.refuse(node, "BJ202", module, name, here, near, profile=profile)

    def _explain_put_modules(self, tree: ast.Module) -> None:
        """Of modules that the program itself puts into sys.modules."""
        for package in _put_into_sys_modules(tree) & self._missing_packages.keys():
            hint = PUT_INTO_SYS_MODULES.format(package)
            self._missing_packages[package] = self._missing_packages[package]._replace(hint=hint)

    def _check_imports_by_name(self, tree: ast.Module) -> None:
        """`__import__("math")` calls a function of ours: the builtin, which import statements use,
        trusts its caller. Other uses of the name are refused."""
        names = {id(node): node for node in self._imports_by_name}
        for call in ast.walk(tree):
            if call.__class__ is ast.Call and id(call.func) in names:  # type: ignore[attr-defined]
                names.pop(id(call.func)).id = tables.IMPORT_BY_NAME  # type: ignore[attr-defined]
                name = call.args[0] if call.args else None  # type: ignore[attr-defined]
                if isinstance(name, ast.Constant) and type(name.value) is str:
                    self._check_module(call, name.value)
        for node in names.values():
            self.refuse(node, "BJ102", "__import__")

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

    def finding_at(self, node: ast.AST, found: Finding, reason: str) -> Finding:
        """A finding of another file, at the statement that imports it."""
        line = getattr(node, "lineno", 0)
        column = getattr(node, "col_offset", -1) + 1
        return found._replace(
            line=line,
            column=column,
            end_line=getattr(node, "end_lineno", None) or line,
            end_column=(getattr(node, "end_col_offset", None) or column - 1) + 1,
            reason=reason,
        )

    def is_optional(self, node: ast.AST) -> bool:
        """Whether an import is in `try: … except ImportError:`."""
        return id(node) in self._optional_imports

    def _push(self, node: ast.AST | list | None) -> None:
        if node.__class__ is list:
            self._stack.extend(node)
        elif node is not None:
            self._stack.append(node)

    @staticmethod
    def _declare_hooks(body: list[ast.stmt]) -> None:
        """Declares the hooks global in the body of a class, whose namespace a metaclass may
        provide, and of text, which may have a namespace of its own."""
        count = 0
        for statement in body[:-1]:  # docstrings and `from __future__` come first
            if statement.__class__ is ast.ImportFrom:
                if statement.module != "__future__":  # type: ignore[attr-defined]
                    break
            elif count or not _is_text(statement):
                break
            count += 1
        statement = ast.Global(names=list(tables.HOOKS))
        body.insert(count, ast.copy_location(statement, body[count]))

    # --- binding sites --------------------------------------------------------------------------

    def check_binding(self, node: ast.AST, name: str | None) -> None:
        """Checks a name that the program binds; every construct uses this."""
        if name in self._aliases:
            self._rebound.add(name)
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
            if name[0] == "_" or name in tables.MISSING_BUILTINS or name in self._aliases:
                self.check_binding(node, name)
        elif name[0] == "_":
            if name == "__import__":
                self._imports_by_name.append(node)
                self._scope.uses_hooks = True
            elif _is_dunder(name) and name not in tables.LOADABLE_DUNDER_NAMES:
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
        for keyword in node.keywords:
            if keyword.arg in tables.KEYWORD_DUNDERS:  # of calls only
                self.refuse(keyword, "BJ101", keyword.arg)
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
        if name is not None and _is_dunder(name) and name not in tables.KEYWORD_DUNDERS:
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
            self.refuse(node, "BJ303", attr, tables.attribute_hint(attr))
            return
        elif loads:
            if self._aliases:
                module = self._module_of(value)
                if module is not None and attr in self._modules.withheld(module):
                    self._withheld.append((node, module, attr))
            return
        else:
            # Whether `mro` may be set depends on the object.
            hook = tables.HOOK_DUNDER if attr == "mro" else tables.HOOK_WRITE
        self._scope.uses_hooks = True
        place = _place(value)
        node.value = ast.Call(ast.Name(hook, _LOAD, **place), [value], [], **place)

    def _module_of(self, node: ast.expr) -> str | None:
        """The module that an expression stands for: `os`, `os.path`; None if it is none."""
        if node.__class__ is ast.Name:
            return self._aliases.get(node.id)  # type: ignore[attr-defined]
        if node.__class__ is not ast.Attribute:
            return None
        outer = self._module_of(node.value)  # type: ignore[attr-defined]
        if outer is None:
            return None
        name = f"{outer}.{node.attr}"  # type: ignore[attr-defined]
        return name if name in self._modules else None

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

    def _refuse_package(self, node: ast.AST, package: str, hint: str) -> None:
        """One that is nowhere: its first import says so for all."""
        parts = (package, self._modules.profile_name, hint)
        finding = self._finding(node, "BJ201", parts, None)
        if id(node) in self._optional_imports:
            self.warnings.append(finding)
        else:
            known = self._missing_packages.setdefault(package, finding)
            self._missing_packages[package] = min(known, finding)

    def visit_Import(self, node: ast.Import) -> None:
        if getattr(node, "is_lazy", 0):
            self.refuse(node, "BJ206")
            return
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            if self._aliases.get(name) != _bound_module(alias):
                self.check_binding(alias, name)
            if self._is_own(alias.name):
                self.own_imports.append((node, alias.name))
            else:
                self._check_module(node, alias.name)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        if getattr(node, "is_lazy", 0):
            self.refuse(node, "BJ206")
            return
        module = node.module or ""
        if node.level or self._is_own(module):
            self._import_from_own(node, module)
            return
        if node.names[0].name == "*":
            self._spell_out_star(node, module)
            return
        for alias in node.names:
            self.check_binding(alias, alias.asname or alias.name)
        if module == "__future__" or not self._check_module(node, module):
            return
        if module in tables.OWN_MODULES:  # what is in them changes: an ImportError tells
            return
        exports = self._modules.exports(module)
        for alias in node.names:
            if alias.name not in exports:
                near = self._modules.near_names(module, alias.name)
                profile = self._modules.profile_with_name(module, alias.name)
                here = self._modules.profile_name
                self._refuse_import(node, "BJ202", module, alias.name, here, near, profile=profile)

    def _is_own(self, name: str) -> bool:
        own = self._own
        return own is not None and (own.is_own(name) or own.is_written(name, self._text))

    def _absolute(self, module: str, level: int) -> str | None:
        """What a relative import means here; None: there is no package to import from."""
        if self._own is None:
            return None
        try:
            return self._own.absolute(module, self._package, level)
        except ImportError:
            return None

    def _import_from_own(self, node: ast.ImportFrom, module: str) -> None:
        """From a module of the program's files. Which names it has, only the run knows: one that is
        missing is an ImportError there."""
        name = self._absolute(module, node.level) if node.level else module
        if name is None:
            self._refuse_import(node, "BJ204")
            return
        self.own_imports.append((node, name))
        if node.names[0].name != "*":
            for alias in node.names:
                self.check_binding(alias, alias.asname or alias.name)
                self.own_imports.append((node, f"{name}.{alias.name}"))
        elif self._scope.kind != "module":
            self.refuse(node, "BJ203", module)
        else:
            self._bind_star(node, name)

    def _bind_star(self, node: ast.ImportFrom, name: str) -> None:
        """Which names `from helper import *` binds, only the run knows: a function of ours binds
        them, and checks each (library/importlib.py)."""
        self._binds_any = self._scope.uses_hooks = True
        place = _place(node)
        values = (name, None, None, tables.STAR)
        arguments: list[ast.expr] = [ast.Constant(value, **place) for value in values]
        hook = ast.Name(tables.IMPORT_BY_NAME, _LOAD, **place)
        self._stars[id(node)] = ast.Expr(ast.Call(hook, arguments, [], **place), **place)

    def _put_stars(self, tree: ast.Module) -> None:
        for owner in ast.walk(tree):
            for field in ("body", "orelse", "finalbody"):
                statements = getattr(owner, field, None)
                if type(statements) is list:
                    statements[:] = [self._stars.get(id(each), each) for each in statements]

    def _spell_out_star(self, node: ast.ImportFrom, module: str) -> None:
        """`from math import *` becomes `from math import acos, …`: each bound name is checked,
        and no star import reaches the bytecode."""
        starred: tuple[str, ...] = ()
        if module == "__future__" or self._scope.kind != "module":
            pass  # as in CPython
        elif self._check_module(node, module):
            starred = self._modules.starred(module)
        elif id(node) in self._optional_imports:
            starred = ("names",)  # of a module that is not there: the statement raises
        else:
            return
        if not starred:
            self.refuse(node, "BJ203", module)
            return
        node.names = [ast.alias(name, None, **_place(node)) for name in starred]
        for alias in node.names:
            self.check_binding(alias, alias.name)

    def _check_module(self, node: ast.AST, name: str) -> bool:
        if name == "__future__" or name in tables.OWN_MODULES or self._is_own(name):
            return True
        if name not in self._modules:
            profile = self._modules.profile_with(name)
            hint = self._modules.near_modules(name, profile)
            package = name.partition(".")[0]
            if profile or package in sys.stdlib_module_names or package in self._modules:
                parts = (name, self._modules.profile_name, hint)
                self._refuse_import(node, "BJ201", *parts, profile=profile)
            else:
                self._refuse_package(node, package, hint)
            return False
        if self._allowed_imports is not None and name not in self._allowed_imports:
            self._refuse_import(node, "BJ205", name)
            return False
        self._modules.load(name)
        return True


def _place(node: ast.expr | ast.stmt) -> dict[str, int | None]:
    """The position of `node`, for a generated node."""
    return {
        "lineno": node.lineno,
        "col_offset": node.col_offset,
        "end_lineno": node.end_lineno,
        "end_col_offset": node.end_col_offset,
    }


def _patches(tree: ast.Module, name: str, module: str = "builtins") -> bool:
    """Whether a test in the program may define the name: patch("builtins.open"). Where it does
    not, the use is a NameError or an AttributeError."""
    wanted = {f"{module}.{name}", f"__main__.{module}.{name}", f".{module}.{name}"}
    if module == "builtins":
        wanted |= {f"__main__.{name}", f".{name}"}  # f"{__name__}.open"
    for node in ast.walk(tree):
        if node.__class__ is ast.Constant:
            if type(node.value) is str and node.value in wanted:
                return True
        elif node.__class__ is ast.Call and len(node.args) > 1:  # patch.object(builtins, "open")
            first, second = node.args[:2]
            if isinstance(first, (ast.Name, ast.Attribute)) and ast.unparse(first) == module:
                if isinstance(second, ast.Constant) and second.value == name:
                    return True
    return False


def _has_future_annotations(tree: ast.Module) -> bool:
    """CPython ensures that only a docstring and similar statements come before such an import."""
    for statement in tree.body:
        if statement.__class__ is ast.ImportFrom and statement.module == "__future__":
            if any(alias.name == "annotations" for alias in statement.names):
                return True
        elif statement.__class__ is not ast.Expr:
            return False
    return False


def _put_into_sys_modules(tree: ast.Module) -> set[str]:
    """Outermost names that are assigned: sys.modules["dyn"] = module."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript) and node.ctx.__class__ is ast.Store:
            owner, name = node.value, node.slice
            called = owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")
            if called == "modules" and isinstance(name, ast.Constant) and type(name.value) is str:
                found.add(name.value.partition(".")[0])
    return found


def _opened_streams(tree: ast.Module) -> set[int]:
    """The ids of the names in open(0), open(sys.stdin.fileno()), open("/dev/stdin") and
    open(os.devnull), which open no file. The builtin makes the same distinction, by the value."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        file = node.args[0] if node.args else None
        for keyword in node.keywords:
            file = keyword.value if keyword.arg == "file" else file
        if isinstance(file, ast.Constant):
            is_stream = number_of(file.value) is not None or file.value == devnull
        elif isinstance(file, ast.Attribute) and file.attr == "devnull":
            is_stream = True
        else:
            is_stream = (
                isinstance(file, ast.Call)
                and isinstance(file.func, ast.Attribute)
                and file.func.attr == "fileno"
            )
        if is_stream and node.func.id == "open":
            found.add(id(node.func))
    return found


def _bound_module(alias: ast.alias) -> str:
    """What `import a.b` binds to `a`, and `import a.b as c` to `c`."""
    return alias.name if alias.asname else alias.name.partition(".")[0]


def _read_imports(tree: ast.Module) -> tuple[dict[str, str], bool]:
    """The names that import statements at the top level bind to modules, also in try and if; and
    whether one of them names unittest.mock."""
    found: dict[str, str] = {}
    has_mocks = False
    pending: list[ast.stmt] = list(tree.body)
    while pending:
        statement = pending.pop()
        kind = statement.__class__
        if kind is ast.Import:
            for alias in statement.names:  # type: ignore[attr-defined]
                has_mocks = has_mocks or alias.name == "unittest.mock"
                name = alias.asname or alias.name.partition(".")[0]
                if name[0] != "_":
                    found.setdefault(name, _bound_module(alias))
        elif kind is ast.ImportFrom:
            module, names = statement.module, statement.names  # type: ignore[attr-defined]
            if module == "unittest":
                has_mocks = has_mocks or any(alias.name == "mock" for alias in names)
            has_mocks = has_mocks or module == "unittest.mock"
        elif kind is ast.Try or kind is ast.If:
            pending += statement.body + statement.orelse  # type: ignore[attr-defined]
    return found, has_mocks


def _runs_python(tree: ast.Module) -> bool:
    """Whether a program with subprocess names sys.executable, and not to install packages."""
    has_executable = False
    for node in ast.walk(tree):
        kind = node.__class__
        if kind is ast.Constant and node.value in ("pip", "pip3"):  # type: ignore[attr-defined]
            return False
        if kind is ast.Attribute:
            has_executable = has_executable or node.attr == "executable"  # type: ignore[attr-defined]
        elif kind is ast.alias:
            has_executable = has_executable or node.name == "executable"  # type: ignore[attr-defined]
    return has_executable


def _first_name(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _expected_to_be_missing(tree: ast.Module) -> set[int]:
    """The nodes in `try: … except AttributeError:`, and below a test of hasattr() or of the system
    that the program runs on."""
    found: set[int] = set()
    for node in ast.walk(tree):
        parts: list[ast.AST] = []
        if isinstance(node, ast.Try) and any(map(_catches_attribute_error, node.handlers)):
            parts = list(node.body)
        elif isinstance(node, (ast.If, ast.IfExp)) and _asks_what_there_is(node.test):
            parts = [node]
        elif isinstance(node, ast.BoolOp) and _asks_what_there_is(node):
            parts = [node]
        found.update(id(each) for part in parts for each in ast.walk(part))
    return found


def _asks_what_there_is(test: ast.expr) -> bool:
    return any(
        (isinstance(node, ast.Name) and node.id == "hasattr")
        or (isinstance(node, ast.Attribute) and node.attr in _FACTS)
        for node in ast.walk(test)
    )


_FACTS = frozenset({"platform", "system", "version_info"})
"""sys.platform, platform.system() and sys.version_info; os.name is another word for the first."""


def _is_type_checking(test: ast.expr) -> bool:
    """`if TYPE_CHECKING:`: its body is only for annotations and never runs."""
    name = test.id if isinstance(test, ast.Name) else getattr(test, "attr", None)
    return name == "TYPE_CHECKING"


def _catches(handler: ast.ExceptHandler, classes: frozenset[str]) -> bool:
    kind = handler.type
    names = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return kind is None or any(isinstance(name, ast.Name) and name.id in classes for name in names)


_IMPORT_ERRORS = frozenset({"ImportError", "ModuleNotFoundError", "Exception", "BaseException"})
_ATTRIBUTE_ERRORS = frozenset({"AttributeError", "Exception", "BaseException"})


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    return _catches(handler, _IMPORT_ERRORS)


def _catches_attribute_error(handler: ast.ExceptHandler) -> bool:
    return _catches(handler, _ATTRIBUTE_ERRORS)


def _is_text(statement: ast.stmt) -> bool:
    value = statement.value if statement.__class__ is ast.Expr else None  # type: ignore[attr-defined]
    return value.__class__ is ast.Constant and type(value.value) is str  # type: ignore[union-attr]


def keep_result(tree: ast.Module, as_name: str) -> None:
    """Stores the value of the last statement, if it is an expression, under `as_name`."""
    if not tree.body:
        return
    last = tree.body[-1]
    if last.__class__ is ast.Expr:
        place = _place(last)
        name = ast.Name(as_name, _STORE, **place)
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
    for name in sorted(constructs.NODES):
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
    for name in sorted(constructs.PARTS):
        if issubclass(getattr(ast, name), (ast.operator, ast.unaryop, ast.boolop, ast.cmpop)):
            plain[getattr(ast, name)] = ()
    return plain, handlers


_PLAIN, _HANDLERS = _dispatch()
