"""The decision about every construct of the language: the table that the transformer reads.

docs/language.md is generated from it (tools/language_page.py). A syntax node that no construct
lists is refused with BJ401, so new syntax is refused until it has been reviewed and added here.

allowed     runs as in CPython; only the expressions and statements in it are checked
guarded     runs as in CPython, but some names or objects in it are checked: see `refused`
refused     never runs
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Decision = Literal["allowed", "guarded", "refused"]


class Construct(NamedTuple):
    """One construct and the decision about it."""

    id: str
    title: str
    decision: Decision
    reason: str
    """One sentence: why it is safe, or what is checked in it."""
    example: str
    """Runs as in plain CPython; for a refused construct, a program that is refused."""
    nodes: tuple[str, ...] = ()
    """Syntax nodes that the transformer visits."""
    parts: tuple[str, ...] = ()
    """Nodes that are only handled by their parent node."""
    refused: tuple[tuple[str, str], ...] = ()
    """What is refused in a guarded construct: pairs of rule and program."""
    since: tuple[int, int] = (3, 0)
    """The Python version that introduced it, if not all versions have it."""


def _allowed(id_: str, title: str, reason: str, example: str, *nodes: str) -> Construct:
    return Construct(id_, title, "allowed", reason, example, nodes)


GROUPS: dict[str, tuple[Construct, ...]] = {
    "The program": (
        _allowed(
            "expression-statement",
            "Expression statements",
            "They evaluate the expression; the value of the last one is the run's result.",
            "[1].append(2)\n6 * 7",
            "Module", "Expr",
        ),
        _allowed(
            "docstring",
            "Docstrings",
            "A docstring is text in `__doc__`.",
            "def f():\n    'What it does.'\nprint(f.__doc__)",
            "Expr", "Constant",
        ),
        Construct(
            "comment",
            "Comments and type comments",
            "allowed",
            "Comments, type comments and `type: ignore` are ignored.",
            "x = []  # type: list[no_such_name]",
            parts=("TypeIgnore",),
        ),
        _allowed("pass", "`pass`", "It does nothing.", "for _ in range(3):\n    pass", "Pass"),
        _allowed(
            "main-guard",
            '`if __name__ == "__main__"`',
            "The program runs as the module `__main__`.",
            'if __name__ == "__main__":\n    print("main")',
            "If", "Compare",
        ),
    ),
    "Names and scopes": (
        Construct(
            "name",
            "Names",
            "guarded",
            "Names with two underscores on either side are reserved for the interpreter: a few "
            "may be loaded, fewer bound. Builtins that lead out of the sandbox are not available.",
            "_count = 1\nprint(_count, __name__)\ndel _count",
            ("Name",),
            ("Load", "Store", "Del"),
            (
                ("BJ101", "__builtins__ = {}"),
                ("BJ102", "print(__builtins__)"),
                ("BJ501", "breakpoint()"),
            ),
        ),
        Construct(
            "global",
            "`global`",
            "guarded",
            "It moves a binding to the module, where only special names that describe a module "
            "may be bound.",
            "count = 0\ndef tick():\n    global count\n    count += 1\ntick()\nprint(count)",
            ("Global",),
            refused=(("BJ101", "class A:\n    global __init__\n    def __init__(self): pass"),),
        ),
        Construct(
            "nonlocal",
            "`nonlocal`",
            "guarded",
            "It moves a binding to an enclosing function; the name is checked like any bound name.",
            "def f():\n    n = 0\n    def g():\n        nonlocal n\n        n += 1\n    g()\n"
            "    return n\nprint(f())",
            ("Nonlocal",),
            refused=(("BJ101", "class A:\n    def f(self):\n        nonlocal __class__"),),
        ),
        Construct(
            "private-name",
            "`__x` in a class body",
            "allowed",
            "CPython's compiler mangles the name, using the class name as written.",
            "class A:\n    def __init__(self): self.__x = 1\nprint(A()._A__x)",
        ),
    ),
    "Values": (
        _allowed(
            "constant",
            "Numbers, text, bytes, `None`, `True`, `False`, `...`",
            "A constant gives access to nothing else.",
            "print(1_000, 2.5e3, 3j, 'a' \"b\", b'c', None, True, ...)",
            "Constant",
        ),
        _allowed(
            "display",
            "Lists, tuples, sets and dicts, with `*` and `**`",
            "They are made from values that the program already has.",
            "print([1, *(2, 3)], (4,), {5, *[6]}, {**{'a': 7}, 'b': 8})",
            "List", "Tuple", "Set", "Dict", "Starred",
        ),
        _allowed(
            "f-string",
            "f-strings",
            "The expressions inside are checked as everywhere, including nested format specs. "
            "Formatting calls `__format__`, which looks up no attributes by name.",
            "x, width = 3.14159, 8\nprint(f'{x:>{width}.2f}|{x=}|{x!r}')",
            "JoinedStr", "FormattedValue",
        ),
        Construct(
            "t-string",
            "t-strings",
            "allowed",
            "The expressions inside are checked as everywhere; the template only holds their "
            "values.",
            "print(t'{1 + 1}'.values)",
            ("TemplateStr", "Interpolation"),
            since=(3, 14),
        ),
    ),
    "Operators and expressions": (
        Construct(
            "arithmetic",
            "Arithmetic and bitwise operators",
            "allowed",
            "An operator calls a special method of its operands, which is reachable anyway.",
            "print(7 // 2, 7 % 4, 2 ** 8, 1 << 4, 6 & 3, 6 | 1, 6 ^ 2, -5, ~5, +5)",
            ("BinOp", "UnaryOp"),
            ("Add", "Sub", "Mult", "MatMult", "Div", "Mod", "Pow", "LShift", "RShift", "BitOr",
             "BitXor", "BitAnd", "FloorDiv", "UAdd", "USub", "Invert"),
        ),
        Construct(
            "boolean-operator",
            "`and`, `or`, `not`",
            "allowed",
            "They test the truth of an operand and return an operand.",
            "print(0 or 'a', 1 and 'b', not [])",
            ("BoolOp", "UnaryOp"),
            ("And", "Or", "Not"),
        ),
        Construct(
            "comparison",
            "Comparisons, including chained ones",
            "allowed",
            "A comparison calls a special method of its operands, which is reachable anyway.",
            "print(1 < 2 <= 2 != 3, 1 in [1], None is not None)",
            ("Compare",),
            ("Eq", "NotEq", "Lt", "LtE", "Gt", "GtE", "Is", "IsNot", "In", "NotIn"),
        ),
        _allowed(
            "conditional-expression",
            "`a if c else b`",
            "It returns one of two values.",
            "print('even' if 4 % 2 == 0 else 'odd')",
            "IfExp",
        ),
        _allowed(
            "named-expression",
            "`(x := v)`",
            "The name is checked like any bound name.",
            "if (n := len('abc')) > 2:\n    print(n)",
            "NamedExpr",
        ),
        _allowed(
            "call",
            "Calls, with `*` and `**`",
            "A call runs the called object, and the sandbox provides only reviewed objects.",
            "def f(*args, **named): return args, named\nprint(f(1, *[2], a=3, **{'b': 4}))",
            "Call", "Starred",
        ),
        Construct(
            "keyword-argument",
            "Keyword arguments",
            "guarded",
            "Their names may not be special names, because the called function may bind them.",
            "print(dict(a=1, _b=2), sorted('ba', reverse=True))",
            ("keyword",),
            refused=(("BJ101", "dict(__globals__=1)"),),
        ),
        Construct(
            "attribute",
            "Attributes",
            "guarded",
            "Public names are loaded natively. A private name needs a class that the program "
            "defined, a store needs an object that the program created, and names that give "
            "access to the interpreter are refused.",
            "class A: pass\na = A()\na.x = 1\na._y = a.x + 1\nprint(a.x, a._y)\ndel a.x",
            ("Attribute",),
            refused=(
                ("BJ301", "print.__globals__"),
                ("BJ302", "import random\nrandom.Random()._randbelow(3)"),
                ("BJ303", "(x for x in []).gi_frame"),
                ("BJ304", "int.__bases__ = ()"),
                ("BJ305", "import math\nint.x = 1"),
            ),
        ),
        _allowed(
            "subscript",
            "Items and slices",
            "Loading, storing or deleting an item is a method call on an object that the program "
            "already has.",
            "a = [1, 2, 3, 4]\na[0], a[1:3] = 9, [8]\ndel a[-1]\nprint(a, a[::-1])",
            "Subscript", "Slice",
        ),
        Construct(
            "starred-subscript",
            "`a[*b]`",
            "allowed",
            "It makes a tuple of values that the program already has.",
            "class A:\n    def __getitem__(self, key): return key\nprint(A()[0, *[1, 2]])",
            ("Subscript", "Starred", "Tuple"),
            since=(3, 11),
        ),
    ),
    "Assignment": (
        _allowed(
            "assignment",
            "Assignments, including chained ones and unpacking",
            "Each target is checked.",
            "a = b = [0]\n(c, *d), e = (1, 2, 3), 4\nprint(a, b, c, d, e)",
            "Assign", "Starred",
        ),
        _allowed(
            "augmented-assignment",
            "`x += v`",
            "The target is checked as in a plain assignment, and is evaluated once.",
            "x, d = 1, {'a': [0]}\nx += 1\nd['a'][0] -= 5\nprint(x, d)",
            "AugAssign",
        ),
        _allowed(
            "annotated-assignment",
            "`x: T = v`",
            "Target and value are checked as in a plain assignment, and the annotation if CPython "
            "evaluates it.",
            "x: int = 1\ny: 'not evaluated'\nprint(x)",
            "AnnAssign",
        ),
        _allowed(
            "delete",
            "`del`",
            "Each target is checked.",
            "a, b = 1, [1, 2]\ndel a, b[0]\nprint(b)",
            "Delete",
        ),
    ),
    "Comprehensions": (
        _allowed(
            "comprehension",
            "List, set and dict comprehensions",
            "The names they bind are checked like any bound name.",
            "print([x * y for x in range(3) for y in range(x) if x], {1 for _ in 'ab'})",
            "ListComp", "SetComp", "DictComp", "comprehension",
        ),
        _allowed(
            "generator-expression",
            "Generator expressions",
            "The names they bind are checked like any bound name; the generator's frame is not "
            "accessible.",
            "print(sum(x * x for x in range(4)))",
            "GeneratorExp", "comprehension",
        ),
        _allowed(
            "async-comprehension",
            "Asynchronous comprehensions",
            "The rules of plain comprehensions apply.",
            "async def f(items): return [x async for x in items]\nf([]).close()",
            "ListComp", "GeneratorExp", "comprehension",
        ),
    ),
    "Control flow": (
        _allowed("if", "`if`, `elif`, `else`", "It acts on nothing by itself.",
                 "if []:\n    print(1)\nelif 1:\n    print(2)\nelse:\n    print(3)", "If"),
        _allowed("while", "`while … else`", "It acts on nothing by itself.",
                 "n = 3\nwhile n:\n    n -= 1\nelse:\n    print('done')", "While"),
        _allowed("for", "`for … else`", "It calls the iterator's methods; its target is checked.",
                 "for i, (a, *b) in enumerate(['xyz']):\n    print(i, a, b)\nelse:\n"
                 "    print('done')", "For"),
        _allowed("break-continue", "`break` and `continue`", "They act on nothing by themselves.",
                 "for i in range(9):\n    if i < 2: continue\n    break\nprint(i)",
                 "Break", "Continue"),
        _allowed("assert", "`assert`", "It raises AssertionError; assertions are never removed.",
                 "try:\n    assert 1 > 2, 'no'\nexcept AssertionError as e:\n    print(e)",
                 "Assert"),
        _allowed(
            "with",
            "`with`",
            "It calls `__enter__` and `__exit__`, whose arguments expose no frame to the program.",
            "import contextlib\nwith (contextlib.nullcontext(1) as a, contextlib.nullcontext(2)):\n"
            "    print(a)",
            "With", "withitem",
        ),
    ),
    "Exceptions": (
        _allowed("raise", "`raise` and `raise … from`",
                 "It raises an object that the program has; a traceback exposes no frame to it.",
                 "try:\n    raise ValueError(1) from KeyError(2)\nexcept ValueError as e:\n"
                 "    print(repr(e), repr(e.__cause__))", "Raise"),
        Construct(
            "try",
            "`try … except … else … finally`",
            "guarded",
            "The name that a handler binds is checked like any bound name.",
            "try:\n    {}['a']\nexcept (KeyError, IndexError) as e:\n    print(repr(e))\nelse:\n"
            "    print('no')\nfinally:\n    print('end')",
            ("Try", "ExceptHandler"),
            refused=(("BJ101", "try:\n    pass\nexcept Exception as __builtins__:\n    pass"),),
        ),
        Construct(
            "bare-except-types",
            "`except A, B`",
            "allowed",
            "It is `except (A, B)` without the parentheses.",
            "try:\n    {}['a']\nexcept KeyError, IndexError:\n    print('caught')",
            ("Try", "ExceptHandler", "Tuple"),
            since=(3, 14),
        ),
        Construct(
            "except-star",
            "`try … except*`",
            "guarded",
            "CPython before 3.13.2 trusts the `split()` of the group it catches (CVE-2025-22153), "
            "so the group must be an ExceptionGroup or BaseExceptionGroup, not a subclass.",
            "try:\n    raise ExceptionGroup('g', [ValueError(1), TypeError(2)])\n"
            "except* ValueError as e:\n    print(e.exceptions)\nexcept* TypeError as e:\n"
            "    print(e.exceptions)",
            ("TryStar", "ExceptHandler"),
            refused=(
                ("BJ402", "class G(ExceptionGroup): pass\ntry:\n    raise G('g', [ValueError(1)])\n"
                          "except* ValueError:\n    pass"),
            ),
            since=(3, 11),
        ),
    ),
    "Functions": (
        Construct(
            "function",
            "`def`",
            "guarded",
            "Its name and its parameters are checked like any bound name.",
            "def add(a, b):\n    'Adds.'\n    return a + b\nprint(add(1, 2), add.__name__)",
            ("FunctionDef",),
            refused=(("BJ101", "def __import__(name): pass"),),
        ),
        Construct(
            "parameter",
            "Parameters: defaults, positional-only, keyword-only, `*args`, `**named`",
            "guarded",
            "A parameter is checked like any bound name.",
            "def f(a, /, b, c=3, *args, d, e=5, **named): return a, b, c, args, d, e, named\n"
            "print(f(1, 2, d=4, z=6))",
            ("FunctionDef", "Lambda"),
            ("arguments", "arg"),
            (("BJ101", "def f(m, __class__=int, /): pass"),),
        ),
        _allowed(
            "decorator",
            "Decorators",
            "A decorator is a call, evaluated in CPython's order.",
            "def twice(f): return lambda *a: f(*a) * 2\n@twice\ndef one(): return 1\nprint(one())",
        ),
        Construct(
            "lambda",
            "`lambda`",
            "guarded",
            "Its parameters are checked like any bound name.",
            "print((lambda x, *, y=2: x + y)(1))",
            ("Lambda",),
            refused=(("BJ101", "lambda __builtins__: 1"),),
        ),
        _allowed("return", "`return`", "It returns a value.",
                 "def f(x): return *x, 0\nprint(f([1]))", "Return"),
        _allowed(
            "generator",
            "`yield` and `yield from`",
            "They pass values; the generator's frame and code are not accessible.",
            "def g():\n    got = yield 1\n    yield from [got]\n"
            "i = g()\nprint(next(i), i.send(2))",
            "Yield", "YieldFrom",
        ),
        _allowed(
            "annotation",
            "Annotations of parameters and results",
            "They are checked wherever CPython evaluates them: where they stand, or since Python "
            "3.14 when somebody reads them. Annotations kept as text are never evaluated.",
            "def f(x: int, *y: 'text') -> str: ...\nprint(f.__annotations__)",
        ),
    ),
    "Asynchronous code": (
        Construct(
            "async-function",
            "`async def`",
            "guarded",
            "The rules of `def` apply; a coroutine's frame and code are not accessible.",
            "async def f(): return 1\ntry:\n    f().send(None)\nexcept StopIteration as e:\n"
            "    print(e.value)",
            ("AsyncFunctionDef",),
            refused=(("BJ101", "async def __import__(): pass"),),
        ),
        _allowed(
            "await",
            "`await`",
            "It is `yield from` for awaitable objects.",
            "async def one(): return 1\nasync def f(): return await one() + 1\ntry:\n"
            "    f().send(None)\nexcept StopIteration as e:\n    print(e.value)",
            "Await",
        ),
        _allowed(
            "async-for",
            "`async for`",
            "The rules of `for` apply.",
            "async def f(items):\n    async for x in items: print(x)\nf([]).close()",
            "AsyncFor",
        ),
        _allowed(
            "async-with",
            "`async with`",
            "The rules of `with` apply.",
            "async def f(c):\n    async with c as x: print(x)\nf(0).close()",
            "AsyncWith", "withitem",
        ),
        _allowed(
            "async-generator",
            "Asynchronous generators",
            "The rules of generators apply.",
            "async def g(): yield 1\ntry:\n    g().__anext__().send(None)\n"
            "except StopIteration as e:\n    print(e.value)",
            "AsyncFunctionDef", "Yield",
        ),
    ),
    "Classes": (
        Construct(
            "class",
            "`class`, with bases, keywords and metaclasses",
            "guarded",
            "Its name is checked at compile time, its bases and namespace when it is created: "
            "a base class that the program did not define must have been reviewed.",
            "class A:\n    n = 1\n    def f(self): return self.n\nclass B(A, metaclass=type):\n"
            "    pass\nprint(B().f(), B.__mro__)",
            ("ClassDef",),
            refused=(
                ("BJ101", "class __builtins__: pass"),
                ("BJ404", "import contextlib\nclass A(contextlib.redirect_stdout): pass"),
            ),
        ),
        Construct(
            "special-method",
            "Special methods and special names in a class",
            "guarded",
            "Most special methods may be defined. Those that let an object misreport its type or "
            "attributes, or that run at an unpredictable time, are refused: see below.",
            "class A:\n    def __len__(self): return 3\n    def __getitem__(self, i): return i\n"
            "print(len(A()), A()[2])",
            ("ClassDef",),
            refused=(
                ("BJ403", "class A:\n    def __getattribute__(self, name): pass"),
                ("BJ403", "type('A', (), {'__getattribute__': len})"),
            ),
        ),
    ),
    "Pattern matching": tuple(
        each._replace(since=(3, 10))
        for each in (
            _allowed("match", "`match`, guards", "It tries patterns in turn.",
                     "match 3:\n    case x if x > 2: print(x)", "Match", "match_case"),
            _allowed("value-pattern", "Literals and dotted names",
                     "Dotted names are checked as attributes; the rest is a comparison.",
                     "import math\nmatch math.pi:\n    case -1 | 'a' | None: pass\n"
                     "    case math.pi: print('pi')",
                     "MatchValue", "MatchSingleton"),
            _allowed("or-pattern", "`a | b`", "It tries patterns in turn.",
                     "match 2:\n    case 1 | 2: print('small')", "MatchOr"),
            Construct(
                "capture-pattern", "Names, `_` and `as`", "guarded",
                "The name is checked like any bound name.",
                "match [1, 2]:\n    case [x, _] as all: print(x, all)",
                ("MatchAs",),
                refused=(("BJ101", "match 1:\n    case __builtins__: pass"),),
            ),
            _allowed("sequence-pattern", "Sequences", "It reads the length and the items.",
                     "match (1, [2, 3]):\n    case a, [b, 3]: print(a, b)", "MatchSequence"),
            Construct(
                "star-pattern", "`*rest` in a sequence", "guarded",
                "The name after `*` is checked like any bound name.",
                "match 'a b c'.split():\n    case [first, *rest]: print(first, rest)",
                ("MatchStar",),
                refused=(("BJ101", "match []:\n    case [*__builtins__]: pass"),),
            ),
            Construct(
                "mapping-pattern", "Mappings", "guarded",
                "The name after `**` is checked like any bound name.",
                "match {'a': 1, 'b': 2}:\n    case {'a': x, **rest}: print(x, rest)",
                ("MatchMapping",),
                refused=(("BJ101", "match {}:\n    case {**__builtins__}: pass"),),
            ),
            Construct(
                "class-pattern", "Classes", "guarded",
                "A class pattern loads attributes where no guard can be inserted, so only "
                "public ones may be named, also in `__match_args__`.",
                "class P:\n    __match_args__ = ('x',)\n    x = 1\nmatch P():\n"
                "    case P(x) | P(x=x): print(x)",
                ("MatchClass",),
                refused=(
                    ("BJ307", "match 1:\n    case int(__globals__=g): pass"),
                    ("BJ307", "class P:\n    __match_args__ = ('__globals__',)"),
                ),
            ),
        )
    ),
    "Imports": (
        Construct(
            "import",
            "`import` and `from … import`",
            "guarded",
            "`import` returns a proxy of the module that has only the reviewed names of the "
            "profile.",
            "import math, collections.abc as abc\nfrom json import dumps as to_json\n"
            "print(math.floor(2.5), abc.Sized.__name__, to_json([1]))",
            ("Import", "ImportFrom"),
            ("alias",),
            (
                ("BJ201", "import glob"),
                ("BJ202", "from math import no_such_name"),
                ("BJ101", "import math as __builtins__"),
            ),
        ),
        Construct(
            "optional-import",
            "`try: import … except ImportError`",
            "allowed",
            "A program tests for a module in this way. The import raises ImportError at run "
            "time.",
            "try:\n    import no_such_module\nexcept ImportError:\n    no_such_module = None\n"
            "print(no_such_module)",
            ("Try",),
        ),
        _allowed(
            "type-checking-import",
            "`if TYPE_CHECKING: import …`",
            "The block is only for annotations and never runs; a missing module is a warning.",
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import no_such_module\n"
            "def f(x: 'no_such_module.X'): return x\nprint(f(1))",
            "If",
        ),
        Construct(
            "future-import",
            "`from __future__ import …`",
            "allowed",
            "It is a switch of CPython; with `annotations`, annotations are text and not checked.",
            "from __future__ import annotations\ndef f(x: no_such_name): ...\n"
            "print(f.__annotations__)",
        ),
        Construct(
            "star-import",
            "`from … import *`",
            "guarded",
            "At the top level it is expanded before the run to the module's reviewed names. "
            "Elsewhere it cannot be determined which names it binds.",
            "from math import *\nprint(floor(pi))",
            ("ImportFrom",),
            refused=(
                ("BJ203", "def f():\n    from math import *"),
                ("BJ201", "from glob import *"),
            ),
        ),
        Construct(
            "relative-import",
            "`from . import …`",
            "refused",
            "A program alone has no package to import from; files of a package that are given with "
            "it do (policy.md, \"Modules of the program's own\").",
            "from . import helpers",
            ("ImportFrom",),
            refused=(("BJ204", "from . import helpers"),),
        ),
        Construct(
            "lazy-import",
            "`lazy import …`",
            "refused",
            "The import would happen at a place that cannot be checked.",
            "lazy import math",
            ("Import", "ImportFrom"),
            refused=(("BJ206", "lazy import math"),),
            since=(3, 15),
        ),
    ),
    "Type parameters": tuple(
        each._replace(since=(3, 12))
        for each in (
            Construct(
                "type-parameter", "`def f[T]`, `class A[T]`", "guarded",
                "The name is checked like any bound name; bound and default are expressions.",
                "def first[T: int, *Ts, **P](x: T) -> T: return x\nprint(first(1))",
                ("TypeVar", "ParamSpec", "TypeVarTuple"),
                refused=(("BJ101", "def f[__builtins__](): pass"),),
            ),
            Construct(
                "type-alias", "`type A = …`", "guarded",
                "The name and the parameters are checked like any bound name.",
                "type Pair[T] = tuple[T, T]\nprint(Pair.__name__)",
                ("TypeAlias",),
                refused=(("BJ101", "type __builtins__ = int"),),
            ),
        )
    ),
}  # fmt: skip

CONSTRUCTS: dict[str, Construct] = {
    construct.id: construct for group in GROUPS.values() for construct in group
}

NODES: frozenset[str] = frozenset(name for each in CONSTRUCTS.values() for name in each.nodes)
"""Nodes that some construct covers. All others are refused (BJ401)."""

CHECKED_NODES: frozenset[str] = frozenset(
    name for each in CONSTRUCTS.values() if each.decision != "allowed" for name in each.nodes
)
"""Nodes that need a check: transformer.py has a method for each."""

PARTS: frozenset[str] = frozenset(name for each in CONSTRUCTS.values() for name in each.parts)
"""Nodes that are never visited, because their parent handles them."""

FIELDS_NOT_WALKED = frozenset({
    "ctx", "op", "ops", "type_comment", "kind", "conversion", "simple", "is_async", "level", "id",
    "attr", "name", "arg", "names", "type_ignores", "str", "lineno", "rest", "kwd_attrs",
})  # fmt: skip
"""Fields of plain nodes that contain no expression or statement."""
