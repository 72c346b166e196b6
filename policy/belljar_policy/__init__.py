"""Guest-side code, the language policy: which Python programs run, and what they can reach.

It runs in the zygote and in its workers, in one process with the guest, and the host trusts nothing
that it says: whoever breaks out of the language speaks for it from then on.

    policy = Policy(profile)                 # zygote, once: proxies, builtins, guards; then frozen
    compiled = policy.compile(source)        # worker: check, transform, compile
    if not compiled.findings:
        exec(compiled.code, policy.guest_globals())

docs/policy.md explains how it works and what it does not guarantee.
"""

from __future__ import annotations

import _string
import ast
import gc
import sys
import types
import unicodedata
from collections.abc import Callable, Collection, Mapping
from importlib import _bootstrap  # type: ignore[attr-defined]
from types import MappingProxyType
from typing import Any, NamedTuple

import _belljar_guards as guards

from . import library, lookout, namespace, preload, reviewed, tables
from .findings import Finding, in_characters
from .library.builtins import display
from .library.own_modules import ROOT, own
from .library.types import ModuleType
from .modules import ModuleTable, ProfileError
from .rules import RULES
from .transformer import Transformer, keep_result

__all__ = ["MODULE_TYPES", "RESULT_NAME", "Compiled", "Finding", "Policy", "ProfileError"]

RESULT_NAME = tables.RESULT_NAME
MODULE_TYPES = (ModuleType,)
"""The types of the modules that `import` returns to a guest."""

# `await` at the top level of a program makes code that returns a coroutine.
_AWAITS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_TOO_DEEP = RULES["BJ002"].reason
# The messages of CPython's tokenizer and compiler for it.
_TOO_DEEP_TEXTS = frozenset({
    _TOO_DEEP, "too many nested parentheses", "too many statically nested blocks",
    "too many levels of indentation",
})  # fmt: skip


class Compiled(NamedTuple):
    """The result of compile(): code if there are no findings."""

    code: types.CodeType | None
    findings: list[Finding]
    warnings: list[str]


class Policy:
    """One profile's rules: checks source and builds the namespace that a guest runs in.

    Creating one changes this interpreter permanently (guards.freeze). Create one per process,
    before any guest code runs, with every module that guests will use already imported.
    """

    RESULT_NAME = RESULT_NAME
    missing_packages: list[str] = []
    """What the last program that was checked imports and nothing has: outermost names."""
    _package: str | None = None
    _allowed: frozenset[str] | None = None  # modules of the last program; None: all

    def __init__(
        self,
        profile: dict[str, Any],
        *,
        other_profiles: dict[str, list[str]] | None = None,
        missing_modules: Mapping[str, str] = MappingProxyType({}),
        named: Collection[str] | None = None,
        tracebacks: Any = None,
        decode: Callable[[bytes, str], str] | None = None,
    ) -> None:
        """`named`: of the profile's modules, the outermost names that occur in the only program
        that will run; None: all are loaded.
        `missing_modules`: missing packages of the profile, and the command to install each.
        `tracebacks`: the runner's module of that name; without it, tracebacks have no frames.
        `decode`: the runner's too, from the bytes of a source file to text."""
        # A profile that exports io.open has files, including the builtin open().
        has_files = "open" in profile.get("modules", {}).get("io", {}).get("exports", ())
        if "door" in profile:  # before packages import the library without it
            library.open_network(profile["door"]["port"])
        left_out = preload.left_out(profile, named)
        # Packages are loaded before the library that they use is changed.
        if _has_packages(profile):
            lookout.add_hook()
            from . import packages  # imports modules that no other profile needs

            profile = packages.load(profile, left_out)
        library.reduce(has_files, left_out)
        self.modules = ModuleTable(profile, other_profiles or {}, missing_modules, left_out)
        self._builtins = namespace.make_builtins(has_files)
        guards.show_scope(self.modules.proxies["builtins"], self._builtins, True)
        running = library.program.running
        running.modules = self.modules.proxies
        running.load_module = self._load_module
        running.load_late = self.modules.load
        running.may_import = self._may_import
        running.is_withheld = self._is_withheld
        running.absent_modules = self.modules.absent
        running.builtins = self._builtins
        running.tracebacks = tracebacks
        running.own = own
        own.begin(None, ROOT if has_files else None, looks=False)
        running.has_module = self.modules.__contains__
        running.is_of_others = self._is_of_others
        running.decode = decode or running.decode
        running.compile_module = self._compile_module
        running.check_module = self._check_module
        running.compile_text = self._compile_text
        running.compile_mode = self._compile_mode
        running.run_as_guest = self._run_as_guest
        if self.modules.open_packages:
            lookout.install(
                has_files=has_files,
                has_network=bool(profile.get("door")),
                readable=[folder for folder in (*sys.path, *_zone_folders()) if folder],
            )
        guards.configure(self._guard_settings())
        self._warm()
        library.forget()
        if self.modules.open_packages:
            from . import real_modules

            real_modules.guard()
        if left_out:
            library.reduce_loaded(has_files, left_out)
            preload.watch(left_out, self.modules)
        guards.freeze()

    def _guard_settings(self) -> dict[str, Any]:
        subclassable = self.modules.subclassable | {
            value for value in self._builtins.values() if isinstance(value, type)
        }
        # super() controls attribute lookup; bool and similar types refuse subclasses themselves.
        subclassable.discard(super)
        return {
            "guest_builtins": self._builtins,
            "refused_names": frozenset(tables.REFUSED_NAMES),
            "native_dunders": frozenset(tables.NATIVE_DUNDERS),
            "class_dunders": frozenset(tables.CLASS_DUNDERS),
            "made_dunders": frozenset(tables.MADE_DUNDERS),
            "function_dunders": tables.FUNCTION_DUNDERS,
            "exception_dunders": tables.EXCEPTION_DUNDERS,
            "module_dunders": tables.MODULE_DUNDERS,
            "tuple_names": tables.TUPLE_NAMES,
            "writable_types": self.modules.writable,  # load() adds to these two
            "open_packages": self.modules.open_packages,
            "namespace_type": types.SimpleNamespace,
            "own_names": library.scopes.vars,
            "traceback_of": library.traceback.traceback_of,
            "is_normalized": unicodedata.is_normalized,
            "modules": self.modules.proxies,
            "internal_modules": self.modules.internal,
            "absent_modules": self.modules.cannot_be_loaded(),
            "own_tops": own.tops,
            "import_own": own.import_by_statement,
            "start_over": lambda: library.program.running.start_over(),
            "library_scopes": library.program.running.library_scopes,
            "hooks": tables.HOOKS,
            "name_of_text": library.program.NAME_OF_TEXT,
            "view_of": library.scopes.view_of,
            "bootstrap_globals": vars(_bootstrap),
            "formatter_parser": _string.formatter_parser,
            "field_name_split": _string.formatter_field_name_split,
            "lenient_classes": bool(self.modules.open_packages),
            "subclassable": list(subclassable),
        }

    def _warm(self) -> None:
        """Runs every code path once, so that no worker is the first to do so."""
        self.compile("class A:\n    def f(self):\n        self.x = self._y\nA\n")

    def compile(
        self,
        source: str,
        filename: str = "main.py",
        allowed_imports: frozenset[str] | None = None,
        see_tree: Callable[[ast.Module], None] | None = None,
    ) -> Compiled:
        """Checks, transforms and compiles one program.

        `allowed_imports` restricts the profile's modules for this program, also at run time;
        `see_tree` gets the syntax tree before it is transformed.
        Raises SyntaxError for source that is not valid Python.
        """
        library.program.running.filename = filename
        self.missing_packages = []
        collects = gc.isenabled()
        gc.disable()  # a tree has many new objects and no garbage: collecting would cost 7 %
        try:
            tree = compile(source, filename, "exec", ast.PyCF_ONLY_AST | _AWAITS, True, 0)
            if see_tree is not None:
                see_tree(tree)
            allowed = self.modules.narrowed(allowed_imports)
            transformer = Transformer(
                self.modules, allowed, own=own, package=self._package, text=source
            )
            transformer.check(tree)
            if transformer.own_imports and not transformer.findings:
                self._check_own(transformer, allowed)
            self.missing_packages = transformer.missing_packages
            warnings = [str(finding) for finding in in_characters(transformer.warnings, source)]
            if transformer.findings:
                return Compiled(None, in_characters(transformer.findings, source), warnings)
            self._allowed = allowed
            running = library.program.running
            running.source = source
            running.has_end = running.has_end or "__del__" in source
            keep_result(tree, RESULT_NAME)
            code = _compile_tree(tree, filename, flags=_AWAITS)
        except (RecursionError, MemoryError):
            raise SyntaxError(_TOO_DEEP, (filename, 1, 1, None, 1, 1)) from None
        except SyntaxError:
            raise
        except ValueError as error:  # NUL bytes, lone surrogates
            raise SyntaxError(str(error), (filename, 1, 1, None, 1, 1)) from None
        finally:
            if collects:
                gc.enable()
        guards.allow_modules(allowed)
        return Compiled(code, [], warnings)

    def check(
        self,
        source: str,
        filename: str = "main.py",
        allowed_imports: frozenset[str] | None = None,
        see_tree: Callable[[ast.Module], None] | None = None,
    ) -> list[Finding]:
        """All findings of compile(), including syntax errors."""
        try:
            return self.compile(source, filename, allowed_imports, see_tree).findings
        except SyntaxError as error:
            return [_syntax_finding(error)]

    def begin_files(
        self,
        given: dict[str, bytes] | None = None,
        *,
        looks: bool = False,
        package: str | None = None,
        root: str = ROOT,
    ) -> None:
        """Before compile(): modules of the program's own. `given`: files, by their path; `looks`:
        there may be some in the workspace; `package`: the one whose `__main__` the program is.
        Without this call only what the program writes itself is found."""
        self._package = package
        own.begin(given, root if self.modules.has_files else None, looks)

    def run_package(self, package: str) -> None:
        """Before the program that is its `__main__`."""
        own.load(package)

    def _check_own(self, transformer: Transformer, allowed: frozenset[str] | None) -> None:
        """Adds what is refused in the files that the program imports, each at the statement by
        which it gets there."""
        before, self._allowed = self._allowed, allowed
        seen: set[str] = set()
        for node, name in transformer.own_imports:
            for file, finding in own.check_ahead(name, seen):
                reason = f"{file}, line {finding.line}: {finding.reason}"
                found = transformer.finding_at(node, finding, reason)
                if transformer.is_optional(node):
                    transformer.warnings.append(found)
                else:
                    transformer.findings.append(found)
        self._allowed = before

    def _compile_module(self, text: str, filename: str, package: str) -> types.CodeType:
        """For library.own_modules: the code of a file that a running program imports. What the
        policy refuses is a SyntaxError that names the rule."""
        code, findings, _ = self._check_module(text, filename, package)
        if code is None:
            raise _refusal(findings[0], text, filename)
        return code

    def _check_module(
        self, text: str, filename: str, package: str
    ) -> tuple[types.CodeType | None, list[Finding], list[str]]:
        """Likewise, or what is refused in it; and the names of the files that it may import."""
        library.program.running.has_end |= "__del__" in text
        try:
            tree = compile(text, filename, "exec", ast.PyCF_ONLY_AST, True, 0)
            transformer = Transformer(
                self.modules, self._allowed, own=own, package=package, text=text
            )
            transformer.check(tree)
            imported = [name for _, name in transformer.own_imports]
            if transformer.findings:
                return None, in_characters(transformer.findings, text), imported
            return _compile_tree(tree, filename), [], imported
        except (RecursionError, MemoryError):
            raise SyntaxError(_TOO_DEEP, (filename, 1, 1, None, 1, 1)) from None
        except ValueError as error:  # NUL bytes, lone surrogates
            raise SyntaxError(str(error), (filename, 1, 1, None, 1, 1)) from None

    def _compile_text(self, text: str, filename: str, shows_values: bool) -> types.CodeType:
        """For library.program.compile_text: text from the running program."""
        library.program.running.has_end |= "__del__" in text
        try:
            tree = compile(text, filename, "exec", ast.PyCF_ONLY_AST, True, 0)
            transformer = Transformer(self.modules, self._allowed, own=own, text=text)
            transformer.check(tree)
            if transformer.findings:
                finding = transformer.findings[0]
                raise PermissionError(f"[{finding.rule}] {finding.reason}. {finding.hint}")
            if shows_values:
                return compile(ast.Interactive(tree.body), filename, "single", 0, True, 0)
            return compile(tree, filename, "exec", 0, True, 0)
        except (RecursionError, MemoryError):
            raise SyntaxError(_TOO_DEEP, (filename, 1, 1, None, 1, 1)) from None
        except ValueError as error:  # NUL bytes, lone surrogates
            raise SyntaxError(str(error), (filename, 1, 1, None, 1, 1)) from None

    def _compile_mode(
        self, text: str, filename: str, mode: str
    ) -> tuple[types.CodeType, frozenset[str]]:
        """For library.scopes: text that a running program compiles, and the names that it loads.
        What the policy refuses is a SyntaxError that names the rule."""
        library.program.running.has_end |= "__del__" in text
        try:
            parsed: Any = compile(
                text, filename, "eval" if mode == "eval" else "exec", ast.PyCF_ONLY_AST, True, 0
            )
        except MemoryError:
            raise SyntaxError(_TOO_DEEP, (filename, 1, 1, None, 1, 1)) from None
        except ValueError as error:  # NUL bytes, lone surrogates
            raise SyntaxError(str(error), (filename, 1, 1, None, 1, 1)) from None
        body = parsed.body
        if mode == "eval":
            body = [ast.copy_location(ast.Expr(parsed.body), parsed.body)]
        if mode == "single" and len(body) != 1:
            said = "multiple statements found while compiling a single statement"
            said = said if body else "invalid syntax"
            raise SyntaxError(said, (filename, 1, 1, text, 1, 1))
        tree = ast.Module(body, [])
        loads = library.scopes.loaded_names(tree)
        transformer = Transformer(self.modules, self._allowed, own=own, text=text)
        transformer.check(tree)
        if transformer.findings:
            raise _refusal(transformer.findings[0], text, filename)
        if mode != "exec":
            keep_result(tree, tables.VALUE_NAME)
        return _compile_tree(tree, filename), loads

    def _run_as_guest(
        self, parts: list[tuple[ast.Module, str]], names: dict[str, Any]
    ) -> dict[str, Any]:
        """For library code that runs as the program's: one namespace, with `names`, in which the
        trees run one after the other. Each is checked and transformed like a program; what its own
        code imports does not depend on the call's `allowed_imports` (guards/proxy.cc)."""
        scope = {**names, "__builtins__": self._builtins}
        library.program.running.library_scopes.append(scope)
        for tree, filename in parts:
            transformer = Transformer(self.modules, None)
            transformer.check(tree)
            if transformer.findings:
                raise RuntimeError(f"{filename}: {transformer.findings[0]}")
            guards.run_text(_compile_tree(tree, filename), scope, scope)
        return scope

    def _may_import(self, name: str) -> bool:
        """Whether the call's `allowed_imports` have the module, of those of the profile."""
        return self._allowed is None or name in self._allowed

    def _load_module(self, name: str) -> Any:
        """For library.importlib: what `import` gives the program that runs, or None."""
        if own.is_own(name):
            return own.load(name)
        if name not in self.modules or not self._may_import(name):
            return None
        self.modules.load(name)
        return self.modules.proxies[name]

    def _is_of_others(self, name: str) -> bool:
        """For library.own_modules."""
        return name in sys.stdlib_module_names or self.modules.profile_with(name) is not None

    def _is_withheld(self, module: str, name: str) -> bool:
        """For library.unittest_mock."""
        return module in self.modules and name in self.modules.withheld(module)

    DISPLAY = staticmethod(display)
    """What notebooks have without an import."""

    def guest_globals(self, name: str = "__main__") -> dict[str, Any]:
        """Fresh globals for exec(), registered as the module `name`.

        From now on everything in this interpreter counts as the guest's, even after the program
        has ended, because later code meets its objects.
        """
        scope = namespace.make_main(self._builtins, name)
        library.program.running.scope = scope
        guards.show_scope(self.modules.proxies["__main__"], scope, True)
        guards.begin_guest()
        if self.modules.open_packages:
            lookout.begin(self._builtins)
        return scope

    def show_by(self, shown: Any) -> None:
        """Takes what the program shows by IPython.display (the runner's Shown)."""
        library.program.running.shown = shown

    def start_python_by(self, start: Callable[..., Any] | None) -> None:
        """What makes the host run Python code for subprocess, if it does."""
        library.program.running.start_python = start

    def start_over_by(self, end: Callable[[], None]) -> None:
        """`end` ends this process, so that the program starts anew where all modules are loaded."""
        library.program.running.start_over = end  # type: ignore[method-assign]

    def await_host_by(self, calls: Any) -> None:
        """`calls` of the host's functions, for which event loops wait."""
        library.program.running.host_calls = calls

    def arrange_surroundings(self, arguments: list[str], environment: dict[str, str]) -> None:
        """What the program finds in sys.argv and os.environ."""
        library.sys.arguments[:] = arguments
        if environment:
            library.os.environ.update(environment)
        if "TZ" in environment:
            library.time.tzset()

    def run_coroutine(self, coroutine: Any) -> None:
        """Runs a program with `await` at its top level, on a guest's event loop."""
        self.modules.load("asyncio")
        library.asyncio_package().run(coroutine)

    def finish_threads(self) -> None:
        """Waits for the threads of a program that has ended, except daemons, as CPython does.

        Raises RuntimeError if they wait for each other.
        """
        if not library.program.running.has_end:
            return
        if library.scheduler.has_begun():
            from .library import threading

            threading.finish()
        library.end_program()

    def forget_program(self) -> None:
        """Ends a rehearsal, whose program is the host's own: the interpreter is clean again."""
        lookout.end()
        library.program.running.scope = library.program.NO_SCOPE
        library.program.running.has_end = False
        guards.show_scope(self.modules.proxies["__main__"], None, False)
        guards.forget_guest()


def _zone_folders() -> tuple[str, ...]:
    zoneinfo: Any = sys.modules.get("zoneinfo")
    return zoneinfo.TZPATH if zoneinfo else ()


def _has_packages(profile: Mapping[str, Any]) -> bool:
    names = {name.partition(".")[0] for name in profile.get("modules", {})}
    opened = profile.get("imports", {}).get("open")
    return bool(opened) or not names.isdisjoint(reviewed.OPEN_PACKAGES)


def _compile_tree(
    tree: ast.mod, filename: str, mode: str = "exec", flags: int = 0
) -> types.CodeType:
    """compile() limits the depth of a tree to the recursion limit, but that of text to three times
    the limit. The tree was parsed from text, so it gets the limit of text."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(3 * limit)
    try:
        return compile(tree, filename, mode, flags, True, 0)
    finally:
        sys.setrecursionlimit(limit)


def _refusal(found: Finding, text: str, filename: str) -> SyntaxError:
    line = text.split("\n")[found.line - 1] if found.line else None
    place = (filename, found.line, found.column, line, found.end_line, found.end_column)
    return SyntaxError(f"[{found.rule}] {found.reason}. {found.hint}", place)


def _syntax_finding(error: SyntaxError) -> Finding:
    rule = "BJ002" if error.msg in _TOO_DEEP_TEXTS else "BJ001"
    stated = RULES[rule]
    line, column = error.lineno or 0, error.offset or 0
    return Finding(
        line,
        column,
        getattr(error, "end_lineno", None) or line,
        getattr(error, "end_offset", None) or column,
        rule,
        stated.name,
        stated.reason.format(error.msg),
        stated.hint,
    )
