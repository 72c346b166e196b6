"""The verifier objects wherever the transformer forgets something, and nowhere else."""

from __future__ import annotations

import ast
import dis
import gzip
import json
import sys
import sysconfig
from collections.abc import Callable, Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import pytest

from tests.machine import corpus
from tests.policy import harness, stack_machine, verifier
from tests.policy.front import ROOT, exports, front

HOOK_CALLS = frozenset(verifier.HOOKS)


def _bytecode(source: str | ast.Module) -> CodeType:
    return compile(source, "main.py", "exec", dont_inherit=True)


# --- the stack ----------------------------------------------------------------------------------


def test_effects_on_the_stack_are_those_of_cpython() -> None:
    # 3.11 counts a call's arguments with PRECALL; a generator is sent its first None after
    # RETURN_GENERATOR, which the compiler does not count.
    apart = {"PRECALL", "CALL", "RETURN_GENERATOR"}
    if sys.version_info >= (3, 14):  # counts what the caller gets
        apart.add("RETURN_VALUE")
    for name in (stack_machine.known_opcodes() & dis.opmap.keys()) - apart - {"COPY", "SWAP"}:
        opcode = dis.opmap[name]
        has_argument = getattr(dis, "hasarg", ())  # since 3.12
        takes_argument = opcode in has_argument if has_argument else opcode >= dis.HAVE_ARGUMENT
        for argument in (2, 3) if name == "BUILD_SLICE" else range(12) if takes_argument else (0,):
            for jump in (False, True):
                takes, puts = stack_machine.effect(name, argument, jump=jump)
                expected = dis.stack_effect(opcode, argument if takes_argument else None, jump=jump)
                assert puts - takes == expected, (name, argument, jump)
    for count in range(5):
        takes, puts = stack_machine.effect("CALL", count)
        calls = dis.opmap.keys() & {"PRECALL", "CALL"}
        expected = sum(dis.stack_effect(dis.opmap[name], count) for name in calls)
        assert puts - takes == expected


def test_every_opcode_is_known_but_those_of_refused_statements() -> None:
    unknown = set(dis.opmap) - stack_machine.known_opcodes() - {"CACHE", "EXTENDED_ARG"}
    if sys.version_info >= (3, 12):
        # What only the interpreter writes, and what the compiler replaces by others at its end.
        made = {"INTERPRETER_EXIT", "RESERVED", "EXIT_INIT_CHECK", "ENTER_EXECUTOR"}
        unknown = {
            name
            for name in unknown - made
            if dis.opmap[name] < 256 and not name.startswith("INSTRUMENTED_")
        }
        assert unknown == set()
        # Those two statements are arguments of another opcode.
        for source, mode in (("from math import *", "exec"), ("1", "single")):
            code = compile(source, "main.py", mode, dont_inherit=True)
            assert "is not known here" in verifier.verify(code)[0].reason
    else:
        assert unknown == {"IMPORT_STAR", "PRINT_EXPR"}


def test_another_version_of_python_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 10, 0, "final", 0))
    with pytest.raises(stack_machine.UnknownVersion, match=r"3\.10.*3\.11"):
        verifier.verify(_bytecode("1"))


# --- code that no policy has seen ---------------------------------------------------------------

_LOADS_METHODS = "LOAD_METHOD" if sys.version_info < (3, 12) else "LOAD_ATTR"
UNGUARDED = {
    "store": ("o.x = 1", "STORE_ATTR of 'x' through no hook, not @write"),
    "delete": ("del o.x", "DELETE_ATTR of 'x' through no hook, not @write"),
    "augmented": ("o.x += 1", "STORE_ATTR of 'x' through no hook"),
    "private load": ("o._x", "LOAD_ATTR of '_x' through no hook, not @private"),
    "private method": ("o._x()", f"{_LOADS_METHODS} of '_x' through no hook"),
    "mangled": ("class A:\n def f(self): return self.__x", "LOAD_ATTR of '_A__x'"),
    "dict": ("o.__dict__", "LOAD_ATTR of '__dict__' through no hook, not @dunder"),
    "order of bases": ("o.mro = 1", "STORE_ATTR of 'mro' through no hook, not @dunder"),
    "with": ("with o as o.x: pass", "STORE_ATTR of 'x'"),
    "async with": ("async def f():\n async with o as o.x: pass", "STORE_ATTR of 'x'"),
    "for": ("for o.x in o: pass", "STORE_ATTR of 'x'"),
    "comprehension": ("[1 for o.x in o]", "STORE_ATTR of 'x'"),
    "starred": ("a, *o.x = o", "STORE_ATTR of 'x'"),
    "chained": ("o.a = b = o.c.x = 1", "STORE_ATTR of 'x'"),
    "walrus": ("[(y := o)._x for z in o]", "LOAD_ATTR of '_x'"),
    "f-string": ("f'{o._x:{o._y}}'", "LOAD_ATTR of '_y'"),
    "default": ("def f(a=o._x): pass", "LOAD_ATTR of '_x'"),
    "decorator": ("@o._x\nclass A: pass", "LOAD_ATTR of '_x'"),
    "handler": ("try: f()\nexcept E:\n o.x = 1", "STORE_ATTR of 'x'"),
    "finally, when something was raised": ("try: f()\nfinally:\n del o.y", "DELETE_ATTR of 'y'"),
    "frame": ("g.gi_frame", "LOAD_ATTR of 'gi_frame', which leads to the interpreter"),
    "globals": ("f.__globals__", "LOAD_ATTR of '__globals__', which leads"),
    "class of an object": ("o.__class__ = A", "STORE_ATTR of '__class__', which leads"),
    "builtins": ("__builtins__", "the name '__builtins__' is the interpreter's"),
    "import function": ("def f(): return __import__('os')", "the name '__import__'"),
    "relative import": ("from . import x", "a relative import"),
    "star import": ("from math import *", "opcode IMPORT_STAR is not known"),
    "except*": ("try: f()\nexcept* E: pass", "except* matches what @plain_group has not seen"),
    "module": ("import glob", "the profile has no module 'glob'"),
    "name of a module": ("from math import inject", "the module 'math' gives no 'inject'"),
    "module's loader": ("from math import __loader__ as l", "gives no '__loader__'"),
    "pattern": ("match o:\n case A(_x=1): pass", "a class pattern loads '_x'"),
    "frame in a pattern": ("match o:\n case A(gi_frame=f): pass", "a class pattern loads 'gi_f"),
    "keyword": ("f(__x__=1)", "'__x__' is the name of an argument"),
    "module's name": ("__builtins__ = {}", "STORE_NAME of '__builtins__' in the module's scope"),
    "global": ("def f():\n global __name__\n __name__ = 1", "STORE_GLOBAL of '__name__'"),
    "parameter": ("def f(__builtins__): pass", "the variable '__builtins__'"),
    "class cell": ("def f(__class__): pass", "__class__ is bound"),
    "class cell, nonlocal": (
        "class A:\n def f(self):\n  nonlocal __class__\n  __class__ = 1",
        "__class__ is bound",
    ),
    "special method": (
        "class A:\n def __getattribute__(self, n): pass",
        "a class defines '__getattribute__'",
    ),
    "qualified name": ("class A:\n __qualname__ = 'B'", "a class defines '__qualname__'"),
    "a cell of its own": ("class A:\n __classcell__ = 1", "a class defines '__classcell__'"),
}


@pytest.mark.parametrize("name", UNGUARDED)
def test_plain_code_is_objected_to(name: str) -> None:
    source, reason = UNGUARDED[name]
    code = _bytecode(source)
    found = [violation.reason for violation in verifier.verify(code, exports())]
    assert any(reason in one for one in found), found


def test_a_violation_shows_where_it_is() -> None:
    code = _bytecode("def f(o):\n    y = 1\n    o.x = y\n")
    (violation,) = verifier.verify(code)
    assert str(violation).startswith("f, byte ")
    assert [line for line in str(violation).splitlines() if "-->" in line and "STORE_ATTR" in line]


# What no source can say, so built as a tree: the hooks in other hands.
MISUSED = {
    "passed on": ("f(HOOK)", "goes to CALL"),
    "kept": ("x = HOOK", "goes to STORE_NAME"),
    "its result kept": ("x = HOOK(o)", "goes to STORE_NAME"),
    "its result passed on": ("f(HOOK(o))", "goes to CALL"),
    "its result called": ("HOOK(o)(1)", "goes to CALL"),
    "no argument": ("HOOK()._x", "is called with more or less than an object"),
    "two arguments": ("HOOK(o, 1)._x", "is called with more or less than an object"),
    "keyword": ("HOOK(o=o)._x", "is called with more or less than an object"),
    "unpacked": ("HOOK(*o)._x", "goes to CALL_FUNCTION_EX"),
    "or": ("(HOOK or f)(o)._x", "goes to "),
    "one of two": ("(HOOK if a else f)(o)._x", "meet"),
    "its attribute": ("HOOK.x", "an attribute of @private itself is used"),
    "stored": ("HOOK = f", "STORE_NAME of '@private', which source cannot spell"),
    "deleted": ("del HOOK", "DELETE_NAME of '@private'"),
    "parameter": ("def f(HOOK): pass", "the variable '@private' is none"),
    "captured": ("def f():\n HOOK = 1\n return lambda: HOOK", "the variable '@private'"),
    "caught": ("try: f()\nexcept E as HOOK: pass", "'@private'"),
    "in a class": ("class A: HOOK = 1", "STORE_NAME of '@private'"),
    "looked up in a class": ("class A: x = HOOK(o)._x", "looked up in a namespace"),
    "global": ("def f():\n global HOOK\n HOOK = 1", "STORE_GLOBAL of '@private'"),
    "another hook's attribute": ("HOOK(o).x = 1", "of 'x' through @private, not @write"),
    "public load": ("HOOK(o).x", "LOAD_ATTR of 'x' through @private"),
    "keyword name": ("f(HOOK=1)", "'@private' is the name of an argument"),
    "attribute": ("o.HOOK", "the attribute '@private' is none that source can spell"),
    "pattern": ("match o:\n case A(HOOK=x): pass", "a class pattern loads '@private'"),
    "import": ("import HOOK", "has a name that source cannot spell"),
}


class _Renamed(ast.NodeTransformer):
    """Puts `@private` wherever HOOK stands."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        for field, value in ast.iter_fields(node):
            if value == "HOOK":
                setattr(node, field, verifier.PRIVATE)
            elif isinstance(value, list) and "HOOK" in value:
                setattr(node, field, [verifier.PRIVATE])
        return super().generic_visit(node)


@pytest.mark.parametrize("name", MISUSED)
def test_hooks_are_only_called(name: str) -> None:
    source, reason = MISUSED[name]
    code = _bytecode(_Renamed().visit(ast.parse(source)))
    found = [violation.reason for violation in verifier.verify(code)]
    assert any(reason in one for one in found), found


UNSEEN_GROUPS = {
    "no hook": "try: f()\nexcept* E: pass",
    "only in the second clause": "try: f()\nexcept* E: pass\nexcept* (GROUP() or F): pass",
    "after something else": "try: f()\nexcept* (g() and (GROUP() or E)): pass",
    "not tested": "try: f()\nexcept* (GROUP(), E)[1]: pass",
    "and": "try: f()\nexcept* (GROUP() and E): pass",
    "not called": "try: f()\nexcept* (GROUP or E): pass",
    "called with something": "try: f()\nexcept* (GROUP(1) or E): pass",
    "kept": "g = GROUP\ntry: f()\nexcept* (g() or E): pass",
    "of another statement": ("try: f()\nexcept* (GROUP() or E):\n  try: g()\n  except* E: pass"),
    "looked up in a class": "class A:\n  try: f()\n  except* (GROUP() or E): pass",
}


@pytest.mark.parametrize("name", UNSEEN_GROUPS)
def test_except_star_begins_with_its_hook(name: str) -> None:
    right = "def f():\n  try: f()\n  except* (GROUP() or E): pass\n  except* F: pass"
    assert not verifier.verify(_with_groups(right))
    assert verifier.verify(_with_groups(UNSEEN_GROUPS[name]))


def _with_groups(source: str) -> CodeType:
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "GROUP":
            node.id = verifier.PLAIN_GROUP
    return _bytecode(tree)


# --- mutants: a transformer that forgets one thing ----------------------------------------------

SITES = """
import contextlib
class C:
    count = 0
    def __init__(self, *items):
        self.items = list(items)
        self._n = 0
        self.__hidden = items
    def grow(self, by=1):
        self._n += by
        self.__hidden += (by,)
        return self._n or self.__dict__
    def __enter__(self): return self._grow()
    def __exit__(self, kind, value, _): del self.items
    def _grow(self):
        try:
            self.a, *self.b = self.c = [1, 2, 3]
        except (ValueError, self._error) as error:
            error.note = f'{self._n!r:{self._n}}'
        finally:
            with contextlib.suppress(KeyError) as self.d, self as self._e: pass
        for self.f, self._g in [(1, 2)]:
            while (found := self)._n > 3: del self._g, self.f
        if self:
            return [x._n for x in self.items if (y := x)._n for self.h in '']
        return lambda y=self._n: y._n if y._n else self.__class__.__bases__
    plain = [C for C in (1,) if C.__slots__]
c = C()
c.count = c.other = 1
del c.count, c._n
@c._register
class D(C, extra=c._n):
    _p: c._q = c._r
async def coroutine(o):
    async with o as o.x: pass
    async for o._y in o: await o._z
    return {o._k: v._v async for v in o}
def generator(o, *, default=c._n):
    got = yield o._x
    o._x = yield from got._y
    match o._subject:
        case [C(count=1) as z, *_] if z._guard: z.hit = True
"""


def _compiled(source: str) -> CodeType:
    compiled = front().compile(source)
    assert not compiled.findings, compiled.findings
    assert compiled.code is not None
    return compiled.code


def _transformed(source: str) -> ast.Module:
    """The tree as it comes from the transformer."""
    from belljar_policy.transformer import Transformer, keep_result

    tree = ast.parse(source)
    transformer = Transformer(front().modules, None)
    transformer.check(tree)
    assert not transformer.findings, transformer.findings
    keep_result(tree, "@result")
    return tree


def _hooked(tree: ast.AST) -> Iterator[ast.Attribute]:
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Call)
            and isinstance(node.value.func, ast.Name)
            and node.value.func.id in HOOK_CALLS
        ):
            yield node


def test_each_forgotten_hook_is_missed() -> None:
    mutants = 0
    for source in (SITES, *(path.read_text() for path in ROOT.glob("examples/*.py"))):
        tree = _transformed(source)
        assert not verifier.verify(_bytecode(tree), exports())
        for node in list(_hooked(tree)):
            hook = node.value
            node.value = hook.args[0]
            found = verifier.verify(_bytecode(tree), exports())
            assert any(node.attr in one.reason for one in found), (
                ast.unparse(node),
                node.lineno,
            )
            node.value = hook
            mutants += 1
    assert mutants >= 60


def _forget(method: str, then: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """A change to the transformer: its method for a kind of node does `then` instead."""

    def change(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
        monkeypatch.setitem(transformer._HANDLERS, getattr(ast, method), then)

    return change


def _without(table: str, *names: str) -> Callable[[Any, Any], None]:
    def change(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
        old = getattr(transformer.tables, table)
        kept = (
            {key: old[key] for key in old if key not in names}
            if isinstance(old, dict)
            else old - set(names)
        )
        monkeypatch.setattr(transformer.tables, table, kept)

    return change


def _with(table: str, *names: str) -> Callable[[Any, Any], None]:
    def change(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
        monkeypatch.setattr(
            transformer.tables, table, getattr(transformer.tables, table) | set(names)
        )

    return change


def _method(name: str, then: Callable[..., Any]) -> Callable[[Any, Any], None]:
    def change(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
        monkeypatch.setattr(transformer.Transformer, name, then)

    return change


def _swapped(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
    monkeypatch.setattr(transformer.tables, "HOOK_DUNDER", transformer.tables.HOOK_PRIVATE)


def _spellable(monkeypatch: pytest.MonkeyPatch, transformer: Any) -> None:
    monkeypatch.setattr(transformer.tables, "HOOK_WRITE", "_write_")


def _forgets_decorators(self: Any, node: ast.FunctionDef) -> None:
    decorators, node.decorator_list = node.decorator_list, []
    self._visit_function(node)
    node.decorator_list = decorators


MUTANTS: dict[str, tuple[Callable[[Any, Any], None], str]] = {
    "attributes": (_forget("Attribute", lambda self, node: None), "o.x = 1"),
    "what keywords hold": (_forget("keyword", lambda self, node: None), "f(a=o._x)"),
    "names of keywords": (
        _forget("keyword", lambda self, node: self._push(node.value)),
        "f(__x__=1)",
    ),
    "handlers": (
        _forget("ExceptHandler", lambda self, node: self._push(node.type)),
        "try: f()\nexcept E: o.x = 1",
    ),
    "else and finally of a try": (
        _forget("Try", lambda self, node: self._push(node.body + node.handlers)),
        "try: pass\nfinally: o.x = 1",
    ),
    "decorators": (_forget("FunctionDef", _forgets_decorators), "@o._x\ndef f(): pass"),
    "bodies of lambdas": (_forget("Lambda", lambda self, node: None), "lambda: o._x"),
    "bodies of coroutines": (
        _forget("AsyncFunctionDef", lambda self, node: None),
        "async def f():\n async with o as o.x: pass",
    ),
    "patterns of classes": (
        _forget("MatchClass", lambda self, node: None),
        "match o:\n case C(__self__=m): pass",
    ),
    "patterns of classes, frames": (
        _forget("MatchClass", lambda self, node: None),
        "match o:\n case C(gi_frame=m): pass",
    ),
    "module names": (_forget("Import", lambda self, node: None), "import glob"),
    "names from modules": (_forget("ImportFrom", lambda self, node: None), "from math import q"),
    "star imports": (_forget("ImportFrom", lambda self, node: None), "from math import *"),
    "to spell a star out": (
        _method("_spell_out_star", lambda self, node, module: None),
        "from math import *",
    ),
    "except*": (
        _forget("TryStar", lambda self, node: self._push(node.body)),
        "try: f()\nexcept* E: pass",
    ),
    "plain names": (_forget("Name", lambda self, node: None), "__builtins__"),
    "global statements": (
        _forget("Global", lambda self, node: None),
        "class A:\n global __add__\n def __add__(self): pass",
    ),
    "all bindings": (
        _method("check_binding", lambda self, node, name: None),
        "def f(__import__): pass",
    ),
    "bindings in classes": (
        _method("check_binding", lambda self, node, name: None),
        "class A:\n def __getattribute__(self, name): pass",
    ),
    "that classes have namespaces": (
        _method("_declare_hooks", lambda self, node: None),
        "class A: x = o._x",
    ),
    "that __dict__ depends on the object": (_with("NATIVE_DUNDERS", "__dict__"), "o.__dict__"),
    "that __set_name__ does": (_with("NATIVE_DUNDERS", "__set_name__"), "o.__set_name__"),
    "frames": (_without("REFUSED_ATTRIBUTES", "tb_frame"), "o.tb_frame"),
    "code objects": (_without("REFUSED_ATTRIBUTES", "co_consts"), "o.co_consts"),
    "cells": (_without("REFUSED_ATTRIBUTES", "cell_contents"), "o.cell_contents"),
    "globals": (_without("REFUSED_DUNDERS", "__globals__"), "o.__globals__"),
    "that classes stay": (_without("REFUSED_STORES", "__class__"), "o.__class__ = A"),
    "which hook is which": (_swapped, "o.__dict__"),
    "that hooks have secret names": (_spellable, "o.x = 1"),
}
if sys.version_info < (3, 12):  # later, a comprehension of text looks there, too (see the verifier)
    MUTANTS["that text has namespaces"] = (
        _method("_declare_hooks", lambda self, body: None),
        "o._x",
    )


@pytest.mark.parametrize("name", MUTANTS)
def test_a_transformer_that_forgets(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from belljar_policy import transformer

    change, source = MUTANTS[name]
    before = front().compile(source)
    assert before.findings or not verifier.verify(before.code, exports())
    change(monkeypatch, transformer)
    after = front().compile(source)
    assert not after.findings, "the mutant still refuses it"
    assert verifier.verify(after.code, exports())


def test_the_harness_fails_on_a_violation() -> None:
    with pytest.raises(AssertionError, match="through no hook, not @write(.|\n)*STORE_ATTR"):
        harness.run("class A: pass\nA.x = 1\n", kind="forgetful")


# --- nothing to be found ------------------------------------------------------------------------


@pytest.mark.parametrize("path", sorted(ROOT.glob("examples/*.py")), ids=lambda path: path.name)
def test_examples(path: Path) -> None:
    assert not verifier.verify(_compiled(path.read_text()), exports())


def test_humaneval() -> None:
    with gzip.open(corpus("HumanEval.jsonl.gz"), "rt") as file:
        problems = [json.loads(line) for line in file]
    verified = 0
    for problem in problems:
        code = front().compile(problem["prompt"] + problem["canonical_solution"]).code
        if code is not None:
            assert not verifier.verify(code, exports()), problem["task_id"]
            verified += 1
    assert verified > 160


def test_the_standard_library() -> None:
    """Code of many hands. What it imports is not judged: hardly a file would be left."""
    verified = 0
    library = Path(sysconfig.get_path("stdlib"))
    for path in sorted(library.rglob("*.py")):
        # Its tests are not everywhere, and ask generators for what the verifier calls theirs.
        if path.relative_to(library).parts[0] in ("test", "site-packages", "dist-packages"):
            continue
        try:
            tree = ast.parse(path.read_bytes())
        except (SyntaxError, ValueError):  # made to be wrong, for its own tests
            continue
        code = _despite_imports(tree)
        if code is not None:
            found = verifier.verify(code)
            assert not found, f"{path}: {found[0]}"
            verified += 1
    assert verified > 150, verified


def _despite_imports(tree: ast.Module) -> CodeType | None:
    from belljar_policy.transformer import Transformer

    transformer = Transformer(front().modules, None)
    transformer.check(tree)
    if any(finding.rule not in ("BJ201", "BJ202") for finding in transformer.findings):
        return None
    if any(isinstance(node, ast.alias) and node.name == "*" for node in ast.walk(tree)):
        return None  # of a module that is not here: nothing spells it out
    try:
        return _bytecode(tree)
    except SyntaxError:  # made to be wrong where only the compiler sees it
        return None
