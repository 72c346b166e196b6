"""What Python 3.12, 3.13 and 3.14 brought that leads further, or writes where it should not.

Names bound by type parameters are in test_type_parameters.py.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import sys

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_identical, check_refused, run, run_plain

ATTACKS = {
    "sys.monitoring, a module": "import sys\nloot = sys.monitoring",
    "the name of a caller's module": """
        import sys
        loot = sys.modules[sys._getframemodulename()]
        """,
    "a frame's locals, which write through to it": """
        def counting():
            secret = 1
            yield secret
        counted = counting()
        next(counted)
        loot = getattr(getattr(counted, 'gi_' + 'frame'), 'f_' + 'locals')
        """,
    "a dataclass's __replace__ reads what any object says are its fields": """
        import dataclasses
        @dataclasses.dataclass
        class P: x: int = 0
        class Field:
            init, default, _field_type, reads = True, None, None, 0
            @property
            def name(self):
                Field.reads += 1
                return '__globals__'
        def target(): pass
        target.__dict__['__dataclass_fields__'] = {'x': Field()}
        try: P.__replace__(target)
        except TypeError: pass
        loot = 'escaped' if Field.reads > 2 else None  # it has read the second's value
        """,
    "an object's own word for its class, in copy.replace": """
        import copy
        class Other:
            def __replace__(self, **changes): return 'escaped'
        class Liar:
            __class__ = Other
        loot = copy.replace(Liar())
        """,
    "the iterator of as_completed made anew in another object": """
        import asyncio
        loot = None
        async def main():
            global loot
            class Target: pass
            target = Target()
            try: type(asyncio.as_completed([])).__init__(target, [], None)
            except TypeError: pass
            loot = 'escaped' if hasattr(target, '_todo_left') else None
        asyncio.run(main())
        """,
    "the globals of the method that a class is given": """
        import dataclasses
        @dataclasses.dataclass
        class P: x: int = 0
        loot = P.__replace__.__globals__
        """,
}
# Of those, what 3.12 has; 3.13 brought the others.
OF_3_12 = frozenset(
    {
        "sys.monitoring, a module",
        "the name of a caller's module",
    }
)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    if sys.version_info < ((3, 12) if name in OF_3_12 else (3, 13)):
        pytest.skip("of a later Python")
    check_attack(ATTACKS[name])


# Of 3.14: annotations that are evaluated later, by functions and from text (PEP 649, PEP 749).
FORWARD = "import typing\nref = typing.List[{text!r}].__args__[0]\n"
PROBE = """
import annotationlib
seen = []
def probe(x):
    seen.append(x)
    return int
class A:
    x: probe(Missing)
annotationlib.get_annotations(A, format=annotationlib.Format.FORWARDREF)
"""
OF_3_14 = {
    "text of a reference, with the library's builtins": FORWARD.format(text="__import__('os')")
    + "loot = ref.evaluate(globals={})",
    "the same, in the globals of a function": FORWARD.format(text="codecs")
    + "import json\nloot = ref.evaluate(owner=json.loads)",
    "the same, in a module": FORWARD.format(text="sys")
    + "ref.__init__('sys', module='os')\nloot = ref.evaluate()",
    "a reference of another text": FORWARD.format(text="int")
    + "loot = type(ref)('__builtins__').evaluate(owner=lambda: 0)",
    "evaluate() of a function that claims to be a reference": FORWARD.format(text="int")
    + """
def f(): pass
vars(f).update(__cell__=None, __forward_module__=None, __owner__=None, __extra_names__=None,
               __forward_arg__='__builtins__')
loot = type(ref).evaluate(f)
""",
    "the code of a reference": FORWARD.format(text="a + b")
    + "loot = getattr(ref, '__forward_' + 'code__')",
    "typing's own function for it": FORWARD.format(text="__import__('os')")
    + "loot = typing.evaluate_forward_ref(ref, globals={})",
    "the globals of a placeholder": PROBE + "loot = seen and getattr(seen[-1], '__glo' + 'bals__')",
    "the space that a placeholder is from": PROBE.replace(
        "append(x)", "append(getattr(x, '__stringifier_' + 'dict__', None))"
    )
    + "loot = 'escaped' if seen[-1] is not None else None",
    "the function of a function's annotations": """
def f(x: int): pass
loot = getattr(getattr(f, '__anno' + 'tate__'), '__glo' + 'bals__')
""",
    "the cell of a class in it": """
class A:
    x: B
loot = getattr(getattr(A, '__anno' + 'tate__'), '__clo' + 'sure__')
""",
    "what evaluates a bound": """
def f[T: int](x): pass
loot = getattr(f.__type_params__[0].evaluate_bound, '__glo' + 'bals__', None)
type A = int
loot = loot or getattr(A.evaluate_value, '__glo' + 'bals__')
""",
    "a function that runs another's code": """
import annotationlib
def run(format): raise NotImplementedError
loot = getattr(annotationlib.call_annotate_function, '__glo' + 'bals__')
""",
    "code of a function run with the library's builtins": """
import annotationlib
loot = []
def annotate(format, given=loot):
    if format != 2: raise NotImplementedError
    try: given.append(getattr(annotate, '__buil' + 'tins__'))
    except Exception as e: given.append(e)
    return {}
A = type('A', (), {'__annotate__': annotate})
annotationlib.get_annotations(A, format=annotationlib.Format.FORWARDREF)
""",
    "an annotate function that is none": """
import annotationlib
def code(format): return {'x': globals()}
class Annotate:
    def __call__(self, format): raise NotImplementedError
a = Annotate()
vars(a).update(__code__=getattr(code, '__co' + 'de__'), __builtins__={}, __globals__={},
               __closure__=None, __defaults__=None, __kwdefaults__=None)
A = type('A', (), {'__annotate__': a})
annotationlib.get_annotations(A, format=annotationlib.Format.FORWARDREF)
loot = 'escaped'
""",
    "what a template's expression leads to": """
def f(): pass
t = t"{getattr(f, '__glo' + 'bals__')}"
loot = t.values
""",
    "a generator by its frame": """
def g():
    yield getattr(getattr(running, 'gi_' + 'frame'), 'f_' + 'generator').gi_frame
running = g()
loot = next(running)
""",
    "the frames of tasks": """
import asyncio
async def main(): return asyncio.capture_call_graph()
loot = asyncio.run(main()).call_stack[0].frame
""",
    "another process that is told to run a script": """
import sys
loot = 'escaped' if callable(sys.remote_exec) else None
""",
    "another interpreter": """
from concurrent import interpreters
loot = interpreters
""",
    "a pool of other interpreters": """
import concurrent.futures
loot = 'escaped' if concurrent.futures.InterpreterPoolExecutor else None
""",
    "the module behind compression": "import compression.zstd\nloot = compression.zstd._zstd",
}


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
@pytest.mark.parametrize("name", OF_3_14)
def test_attack_by_what_is_evaluated_later(name: str) -> None:
    check_attack(OF_3_14[name])


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
@pytest.mark.parametrize(
    "later",
    ["setattr(C, '@private', lambda o: o)", "C.__dict__['@private'] = lambda o: o", "pass"],
)
@pytest.mark.parametrize(
    "annotated",
    [
        "x: random.Random()._randbelow",
        "x: (lambda: random.Random()._randbelow)()",
        "x: [random.Random()._randbelow for _ in 'a']",
        "def x(self, a: random.Random()._randbelow): pass",
        "def x(self, a: (lambda: random.Random()._randbelow)()): pass",
    ],
)
def test_the_hooks_of_annotations_are_not_the_class_s(annotated: str, later: str) -> None:
    """They are evaluated after the class is made, and look their names up in its namespace."""
    source = f"""
import random
class C:
    {annotated}
try: {later}
except TypeError: pass
(C.x if hasattr(C, 'x') else C).__annotations__
"""
    check_refused(source, "[BJ302]")


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
def test_annotations_that_name_what_comes_later() -> None:
    source = """
        import annotationlib, dataclasses, functools, inspect, typing
        from annotationlib import Format, get_annotations
        @dataclasses.dataclass
        class Node:
            value: int
            next: Node | None = None
            others: dict[str, list[Missing.Inner]] = dataclasses.field(default_factory=dict)
        print(Node(1, Node(2)), [f.name for f in dataclasses.fields(Node)])
        print(get_annotations(Node, format=Format.STRING))
        print(get_annotations(Node, format=Format.FORWARDREF)['value'])
        class Point(typing.NamedTuple):
            x: int
            of: Late
        class Movie(typing.TypedDict):
            name: str
            sequel: Movie
        class Late: pass
        print(Point(1, Late()).x, Point.__annotations__['of'] is Late, Movie(name='a'), Movie.__annotations__)
        def outer():
            local = int
            def f(a: local, b: unknown[local], *c: t'{local}') -> 'text': pass
            return f
        f = outer()
        print(get_annotations(f, format=Format.STRING))
        print(get_annotations(f, format=Format.FORWARDREF)['a'])
        @functools.wraps(f)
        def g(*args): pass
        print(get_annotations(g, format=Format.STRING), g.__wrapped__ is f)
        try: f.__annotations__
        except NameError as e: print(e)
        unknown = list
        print(f.__annotations__['b'], g.__annotations__['a'], inspect.signature(f).parameters['a'].annotation)
        class C:
            if unknown: x: int
            else: y: str
        print(C.__annotations__, annotationlib.annotations_to_string(C.__annotations__))
        """
    assert assert_identical(source).error is None


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
def test_only_functions_of_the_compiler_are_run_again() -> None:
    source = """
        import annotationlib, dataclasses
        from annotationlib import Format
        def annotate(format):
            if format != 1: raise NotImplementedError
            return {'x': int}
        A = type('A', (), {'__annotate__': annotate})
        print(annotationlib.get_annotations(A, format=Format.STRING), A.__annotations__)
        @dataclasses.dataclass(frozen=True)
        class P: real: int = 1
        # Its check of `self` is in a cell, of which another function could be made without.
        B = type('B', (), {'__annotate__': P.__hash__})
        for form in Format.FORWARDREF, Format.STRING:
            try: print(annotationlib.get_annotations(B, format=form))
            except (TypeError, ValueError, AttributeError) as e: print(type(e).__name__)
        """
    ran = run(source)
    assert ran.error is None, ran.traceback
    assert ran.stdout.startswith("{'x': 'int'} {'x': <class 'int'>}\n"), ran.stdout
    assert ran.stdout.count("TypeError") == 2, ran.stdout


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
def test_a_reference_is_evaluated_as_the_program_s_text() -> None:
    source = """
        import typing
        class A: pass
        ref = typing.List['dict[str, A]'].__args__[0]
        print(ref.evaluate(globals=globals()), ref.evaluate(locals={'A': int}))
        print(typing.List['A'].__args__[0].evaluate(globals=globals(), locals={'A': 5}))
        try: typing.List['Missing'].__args__[0].evaluate()
        except NameError as e: print(e)
        """
    assert assert_identical(source).error is None


# Each runs to its end in plain Python from that version on.
REFUSED = {
    "a buffer of a class's own (PEP 688)": (
        12,
        "class A:\n  def __buffer__(self, flags): return memoryview(b'x')\nbytes(memoryview(A()))",
        "[BJ403]",
    ),
    "a buffer's end, announced by a class": (
        12,
        "class A:\n  def __release_buffer__(self, view): pass",
        "[BJ403]",
    ),
    "a buffer asked for by its method": (12, "b'x'.__buffer__(0)", "[BJ301]"),
    "a buffer released under whoever holds it": (
        12,
        "data = bytearray(8)\nview = memoryview(data)\ndata.__release_buffer__(view)",
        "[BJ301]",
    ),
    "a type parameter's own substitution": (
        12,
        "def f[T](x): pass\nf.__type_params__[0].__typing_subst__(int)",
        "[BJ301]",
    ),
    "type parameters of a function set": (
        12,
        "def f[T](x): pass\nf.__type_params__ = ()",
        "[BJ304]",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name: str) -> None:
    since, source, rule = REFUSED[name]
    if sys.version_info < (3, since):
        pytest.skip("of a later Python")
    check_refused(source, rule)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="of Python 3.12")
def test_sqlite_takes_no_addresses() -> None:
    source = "import sqlite3\nsqlite3.connect(':memory:').setconfig(1004, True)"  # FTS3_TOKENIZER
    assert run_plain(source).error is None
    ran = run(source, kind="restricted:filesystem")
    assert ran.error == "PermissionError" and "[BJ502]" in ran.message, ran


MODULE_OF_PATHS = {
    "the module that 3.14 imports into a class": "import pathlib\nloot = pathlib.PureWindowsPath.ntpath",
    "the module behind a path": "import pathlib\nloot = pathlib.Path.parser",
    "the same, by an object": "import pathlib\nloot = pathlib.PurePosixPath('a').parser.os",
    "the module behind the other system's paths": "import pathlib\nloot = pathlib.PureWindowsPath('a').parser",
    "what is behind a function of it": "import pathlib\nloot = pathlib.Path.parser.splitroot.__self__",
    "the module of a function of os.path": "import os.path\nloot = getattr(os.path.normpath, '__sel' + 'f__')",
}


@pytest.mark.skipif(sys.version_info < (3, 13), reason="of Python 3.13")
@pytest.mark.parametrize("name", MODULE_OF_PATHS)
def test_paths_lead_to_no_module(name: str) -> None:
    source = MODULE_OF_PATHS[name]
    if "3.14" in name and sys.version_info < (3, 14):
        pytest.skip("of a later Python")
    assert run_plain(source).loot
    ran = run(source, kind="restricted:filesystem")
    assert not ran.loot and ran.error != "Died", ran


def test_paths_work_without_their_module() -> None:
    source = """
        import pathlib
        p = pathlib.PurePosixPath('/a/b/../c.txt')
        w = pathlib.PureWindowsPath('C:/x', 'y')
        print(p.parts, p / 'd', p.with_suffix('.py'), p == pathlib.PurePosixPath('/a/b/../c.txt'))
        print(w.parts, w.drive, w == p, hash(w) == hash(pathlib.PureWindowsPath('c:\\\\X\\\\Y')))
        print(pathlib.PurePosixPath(w), pathlib.PurePath('a').is_absolute(), p.match('*.txt'))
        if hasattr(p, 'parser'):
            print(p.parser.sep, w.parser.join('a', 'b'), p.parser.splitroot('/x'))
        """
    assert run(source, kind="restricted:filesystem").stdout == run_plain(source).stdout != ""


# `self` of methods in modules that have become packages.
STRANGERS = {
    "pathlib": (13, "import pathlib\npathlib.Path.absolute(Target())"),
    "pathlib's abstract paths": (13, "import pathlib\npathlib.Path.full_match(Target(), 'x')"),
}


@pytest.mark.parametrize("name", STRANGERS)
def test_methods_of_packages_take_their_own_kind(name: str) -> None:
    since, source = STRANGERS[name]
    if sys.version_info < (3, since):
        pytest.skip("no package before")
    target = """
asked = []
class Target:
    def __getattr__(self, name):
        asked.append(name)
        return lambda *_, **__: None
"""
    source = (
        f"{target}try:\n  {source.replace(chr(10), '; ')}\nexcept TypeError: pass\nresult = asked"
    )
    assert run_plain(source).result != "[]"
    ran = run(source, kind="restricted:filesystem")
    assert (ran.error, ran.result) == (None, "[]"), ran
