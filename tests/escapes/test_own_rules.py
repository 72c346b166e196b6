"""Attacks on this wall's own parts: the rules that have no counterpart in plain Python.

Each says which rule stops it and with what, and runs in plain Python, where nothing stops it.
"""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import sys
import textwrap
import unicodedata

import pytest

from tests.policy.harness import (
    assert_contained,
    assert_runs,
    assert_same,
    check_attack,
    check_refused,
    run,
    run_plain,
)


def test_hooks_cannot_be_spelled() -> None:
    from belljar_policy import tables

    hooks = [value for name, value in vars(tables).items() if name.startswith("HOOK_")]
    assert len(hooks) >= 4
    for name in (*hooks, tables.RESULT_NAME):
        assert not unicodedata.normalize("NFKC", name).isidentifier(), name


def test_private_of_a_library_class_is_closed() -> None:
    check_refused(
        "import random\nclass R(random.Random):\n  def f(self): return self._randbelow(3)\nR().f()",
        "[BJ302]",
    )


@pytest.mark.parametrize("name", ["__getattribute__", "__class__", "__reduce_ex__", "__prepare__"])
def test_a_class_made_by_type_obeys_the_table(name: str) -> None:
    check_refused(f"type('X', (), {{'{name}': lambda *a: None}})", "[BJ403]")
    check_refused(f"x = [].__class__.__class__\nx('X', (), {{'{name}': 1}})", "[BJ403]")


def test_a_class_made_by_a_metaclass_obeys_the_table() -> None:
    source = """
        import abc
        class M(abc.ABCMeta):
            def __new__(m, name, bases, ns):
                ns['__getattribute__'] = lambda s, n: 1
                return super().__new__(m, name, bases, ns)
        class X(metaclass=M): pass
        assert X().anything == 1
        """
    check_refused(source, "[BJ403]")


def test_namedtuples_metaclass_from_a_class_statement_obeys_the_table() -> None:
    source = """
        import typing
        got = []
        class X(typing.NamedTuple, metaclass=lambda n, b, ns: got.append(b)): pass
        names = {'__module__': '__main__', '__annotations__': {'a': int}, '__getattribute__': print}
        type(got[0][0])('Y', got[0], names)
        """
    check_refused(source, "[BJ403]")


@pytest.mark.parametrize("name", ["__eq__", "__ne__", "__hash__", "__getattr__", "mro"])
def test_classes_compare_and_look_up_by_types_own_rules(name: str) -> None:
    """A metaclass's __eq__ would be shown every class that library code compares with its own."""
    check_refused(f"class M(type):\n  {name} = None", "[BJ403]")
    for store in (f"M.{name} = f", f"setattr(M, '{name}', f)", f"type.__setattr__(M, '{name}', f)"):
        check_refused(f"class M(type): pass\ndef f(cls, *a): return 0\n{store}", "metaclass")
    check_refused(f"class Mixin: {name} = 1\nclass M(Mixin, type): pass", "[BJ404]")


def test_a_metaclass_of_metaclasses_is_ordinary() -> None:
    source = """
        import abc
        class M(abc.ABCMeta):
            def __lt__(cls, other): return cls.__name__ < other.__name__
        class N(M): pass
        class A(metaclass=N): pass
        class B(metaclass=N): pass
        print(sorted([B, A])[0] is A, A == A, A in {A, B})
        """
    assert assert_same(source).stdout == "True True True\n"


@pytest.mark.parametrize(
    "leak",
    [
        "proxy == E()",
        "proxy | E()",
        "proxy != E()",
        "types.MappingProxyType.__eq__(proxy, E()) is NotImplemented or 1",
        "types.MappingProxyType.__or__(proxy, E())",
        "operator.or_(proxy, E())",
    ],
)
def test_a_mappingproxy_keeps_its_dict_to_itself(leak: str) -> None:
    source = f"""
        import operator, re, types
        seen = []
        class E:
            def __eq__(self, other): seen.append(type(other).__name__)
            __ne__ = __ror__ = __eq__
        proxy = re.RegexFlag.__members__
        {leak}
        print('dict' in seen)
        """
    assert run_plain(source).stdout == "True\n"
    assert run(source).stdout == "False\n"


def test_dataclasses_without_init_need_no_docstring() -> None:
    """The library asks for the signature of `object`, and to read that makes a class of its own."""
    source = """
        import dataclasses
        @dataclasses.dataclass(init=False, eq=False)
        class A: x: int = 3
        print(A())
        """
    assert assert_same(source).stdout == "A(x=3)\n"


def test_no_module_is_left_in_a_partial_by_partialmethod() -> None:
    """partialmethod copies the `__self__` of what a descriptor of the guest's gave it."""
    source = """
        import functools
        class D:
            def __get__(self, o, t=None): return print
            def __call__(self): pass
        class A: m = functools.partialmethod(D())
        print(A().m.__reduce__()[2][3])
        """
    assert "module 'builtins'" in run_plain(source).stdout
    # Nothing else shows a partial's own attributes: the guard on `__self__` is asked by itself.
    source = source.replace("print(A().m.__reduce__()[2][3])", "print(hasattr(A().m, '__self__'))")
    assert run(source).stdout == "False\n"


def test_the_memo_of_deepcopy_is_a_plain_dict() -> None:
    check_refused("import copy\nclass D(dict): pass\ncopy.deepcopy([], D())", "[BJ502]")


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("types.new_class('X', (), {}, lambda ns: ns.update({'__getattribute__': 1}))", "[BJ403]"),
        (
            "types.new_class('X', (typing.NamedTuple,), {}, lambda ns: ns.update({'__module__': '', '__getattribute__': 1}))",
            "[BJ403]",
        ),
        (
            "dataclasses.make_dataclass('X', [], bases=(typing.NamedTuple,), namespace={'__module__': '', '__prepare__': 1})",
            "[BJ403]",
        ),
        ("types.resolve_bases((typing.NamedTuple,))", "[BJ202]"),
        ("typing.NamedTuple.__mro_entries__((typing.NamedTuple,))", "[BJ301]"),
    ],
)
def test_a_class_made_by_the_library_obeys_the_table(source: str, said: str) -> None:
    check_refused(f"import types, typing, dataclasses\n{source}", said)


def test_a_class_may_be_made_by_the_library() -> None:
    source = "import types\ntypes.new_class('X', (), {}, lambda ns: ns.update(x=1)).x"
    assert assert_runs(source).result == "1"


def test_a_class_may_have_an_mro() -> None:
    assert assert_runs("class A: pass\nA.mro = 1\nA.mro").result == "1"


@pytest.mark.parametrize(
    "lies",
    [
        # CPython copies the dict as it is, whatever its methods say.
        """
        def __getitem__(self, key): raise KeyError(key)
        def keys(self): return []
        items = values = copy = keys
        def __len__(self): return 0
        def __contains__(self, key): return False
        def get(self, key, default=None): return default
        """,
        # With an __iter__ of its own CPython asks keys() and __getitem__().
        """
        def __iter__(self): return iter(())
        def keys(self): return ['__getattribute__']
        def __getitem__(self, key): return evil
        """,
        """
        def __iter__(self): return iter(())
        def keys(self):
            self['__getattribute__'] = evil  # while it is being copied
            return ['harmless', '__getattribute__']
        """,
    ],
)
@pytest.mark.parametrize(
    "made",
    [
        "X = type('X', (), names)",
        """
        class M(type):
            def __new__(meta, name, bases, _): return super().__new__(meta, name, bases, names)
        class X(metaclass=M): pass
        """,
    ],
)
def test_a_namespace_that_lies(lies: str, made: str) -> None:
    lies = textwrap.indent(textwrap.dedent(lies), "    ")
    check_refused(
        "evil = lambda self, name: 'evil'\n"
        f"class Names(dict):\n{lies}\n"
        "names = Names({'harmless': 1, '__getattribute__': evil})\n"
        f"{textwrap.dedent(made)}\nassert X().anything == 'evil'",
        "[BJ403]",
    )


@pytest.mark.parametrize(
    "slots",
    ["('__class__',)", "['__class__']", "'__class__'", "iter(['__class__'])", "{'__class__': 1}"],
)
def test_slots_obey_the_table(slots: str) -> None:
    check_refused(f"class X: __slots__ = {slots}", "[BJ403]")


@pytest.mark.parametrize(
    ("base", "said"),
    [
        ("type(dataclasses.field())", "[BJ404]"),
        ("contextlib.redirect_stdout", "[BJ404]"),
        ("functools.cached_property", "[BJ404]"),
        ("type(copy)", "'module' is not an acceptable base type"),
    ],
)
def test_final_classes_cannot_be_derived_from(base: str, said: str) -> None:
    check_refused(f"import contextlib, copy, dataclasses, functools\nclass X({base}): pass", said)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("del math.sqrt", "[BJ305] 'sqrt' of module 'math' may not be deleted"),
        ("delattr(math, 'sqrt')", "[BJ305] 'sqrt' of module 'math' may not be deleted"),
        ("vars(math)", "[BJ301]"),
        ("getattr(math, '__dict__')", "[BJ301]"),
    ],
)
def test_modules_keep_their_names(use: str, said: str) -> None:
    check_refused(f"import math\n{use}", said)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("json.JSONEncoder.default = None", "[BJ305]"),
        ("setattr(json.JSONEncoder, 'default', None)", "[BJ305]"),
        ("type.__setattr__(json.JSONEncoder, 'default', None)", "[BJ305]"),
        ("json.JSONEncoder.__lt__ = None", "[BJ304]"),
        ("functools.total_ordering(fractions.Fraction)", "[BJ502]"),
        ("dataclasses.dataclass(json.JSONEncoder)", "[BJ502]"),
        ("class A(json.JSONEncoder): pass\njson.JSONEncoder().__class__ = A", "[BJ304]"),
        ("class A(json.JSONEncoder): pass\nA().__class__ = json.JSONEncoder", "[BJ304]"),
    ],
)
def test_library_classes_are_immutable(use: str, said: str) -> None:
    check_refused(f"import dataclasses, fractions, functools, json\n{use}", said)


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("object.__setattr__(dataclasses.field(), 'name', 'x')", "[BJ305]"),
        ("dataclasses.field().__setattr__('name', 'x')", "[BJ305]"),
        ("object.__setattr__(json.dumps, 'x', 'x')", "[BJ305]"),
        ("object.__setattr__(A(), '__class__', B)", "[BJ304]"),
        ("object.__setattr__(A(), '__class__', json.JSONEncoder)", "[BJ304]"),
        ("A().__setattr__('__class__', B)", "[BJ304]"),
        ("class C:\n  def f(self): super().__setattr__('__class__', B)\nC().f()", "[BJ304]"),
    ],
)
def test_object_setattr_is_judged(store: str, said: str) -> None:
    check_refused(f"import dataclasses, json\nclass A: pass\nclass B: pass\n{store}", said)


@pytest.mark.parametrize(
    ("store", "said"),
    [
        ("json.dumps.x = 1", "[BJ305]"),
        ("json.dumps.__defaults__ = ()", "[BJ304]"),
        ("dataclasses.field().name = 'x'", "[BJ305]"),
        ("random.Random().x = 1", "[BJ305]"),
        ("functools.cached_property(print).attrname = 'x'", "[BJ305]"),
    ],
)
def test_stores_to_library_objects(store: str, said: str) -> None:
    check_refused(f"import dataclasses, functools, json, random\n{store}", said)


@pytest.mark.parametrize(
    "name", ["__builtins__", "__import__", "__build_class__", "__loader__", "__spec__"]
)
def test_builtins_are_not_spellable(name: str) -> None:
    check_refused(f"x = {name}", "[BJ102]")
    check_refused(f"{name} = 1", "[BJ101]")
    check_refused(f"def f({name}): pass", "[BJ101]")


def test_name_of_the_module_cannot_change() -> None:
    for source in ("__name__ = 'os'", "def f():\n  global __name__\n  __name__ = 'os'\nf()"):
        check_refused(f"{source}\nassert __name__ == 'os'", "[BJ101]")


@pytest.mark.parametrize(
    ("attack", "said"),
    [
        ("class R(contextlib.redirect_stdout): _stream = 'path'\nmove = R(['mine'])", "[BJ404]"),
        ("move = contextlib.redirect_stdout(['mine'])\nmove._stream = 'path'", "[BJ302]"),
        (
            """
class Fake: _stream, _old_targets, _new_target = 'path', [], ['mine']
class Move:
    def __enter__(self): type(contextlib.redirect_stdout(None)).__enter__(Fake())
    def __exit__(self, *error): pass
move = Move()
""",
            "not a redirection",
        ),
    ],
)
def test_redirections_move_no_other_stream(attack: str, said: str) -> None:
    """The library's sets `sys.<a name that its object has>`."""
    check_refused(f"import contextlib, sys\n{attack}\nwith move: assert sys.path == ['mine']", said)


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("SectionProxy(Fake(), 'x')", "[BJ502] converters only work on parsers"),
        ("ConverterMapping(Fake())", "[BJ502] converters only work on parsers"),
        ("SectionProxy.__init__(Fake(), ConfigParser(), 'x')", "[BJ502] only a parser"),
        ("ConverterMapping.__init__(Fake(), ConfigParser())", "[BJ502] only a parser creates its"),
    ],
)
def test_converters_are_for_parsers(use: str, said: str) -> None:
    """They get and set attributes by names that their object gives."""
    fake = "class Fake:\n  converters, get, GETTERCRE = (), print, re.compile('get(?P<name>.)')"
    check_refused(f"import re\nfrom configparser import *\n{fake}\n{use}", said)


@pytest.mark.parametrize(
    "stream",
    [
        "pprint.PrettyPrinter.__init__(fake)\nstream = fake._stream",
        "class P(pprint.PrettyPrinter):\n  def f(self): return self._stream\nstream = P().f()",
        "stream = sys.stdout",
    ],
)
def test_no_stream_leads_to_a_file(stream: str) -> None:
    """A method of a library class takes any object for self, and may leave something in it."""
    source = f"""
import pprint, sys
class Fake: pass
fake = Fake()
{stream}
loot = type(getattr(stream.buffer, 'raw', stream.buffer))
loot.__name__
"""
    assert check_attack(source, real_stdout=True).result == "'ByteStream'"


def test_the_bytes_of_a_stream_lead_to_no_descriptor() -> None:
    source = """
        import sys
        class Fake: pass
        below, fake = sys.stdout.buffer, Fake()
        fake._stream = fake
        kind = type(below)
        out = [kind.__name__, [n for n in ('raw', 'fileno', 'detach', 'mode') if hasattr(below, n)]]
        for call in (lambda: below._stream, lambda: kind.__init__(fake, fake, 'name'),
                     lambda: kind.write(fake, b'x'), lambda: type('X', (kind,), {}),
                     lambda: setattr(below, '_stream', fake), lambda: setattr(below, 'name', 1)):
            try: out.append(call())
            except (AttributeError, TypeError) as e: out.append(type(e).__name__)
        out
        """
    ran = run(source, real_stdout=True)
    # fileno() is a name of the stream, 0 to 2, that no call hands to the operating system.
    names = ["fileno", "mode"]
    assert ran.result == repr(["ByteStream", names, "AttributeError", "TypeError", "TypeError",
                               "TypeError", "AttributeError", "AttributeError"]), ran  # fmt: skip


def test_an_error_hides_what_is_not_the_programs() -> None:
    """AttributeError.obj, of an object of the library's (CVE-2024-47532)."""
    source = """
        import sys, textwrap, urllib.parse
        class A: pass
        seen = []
        for trip in (lambda: textwrap.dedent.nope, lambda: sys.stdout.nope, lambda: A.mro.nope,
                     lambda: urllib.parse.urlparse([1]), lambda: A().nope, lambda: A.nope):
            try: trip()
            except AttributeError as e: seen.append(e.obj is not None)
        print(seen)
        """
    assert run_plain(source).stdout == "[True, True, True, True, True, True]\n"
    assert run(source).stdout == "[False, False, False, False, True, True]\n"


def test_deep_nesting_is_a_syntax_error() -> None:
    """CPython gives up with MemoryError or RecursionError, which look like the machine's fault."""
    for source in (
        "x = " + "-" * 100_000 + "1",
        "x" + ".a" * 100_000,
        "f" + "()" * 100_000,
        "a" + "+a" * 100_000,
    ):
        ran = run(source)
        assert ran.error == "SyntaxError" and "too deeply nested" in ran.message, ran
        assert run_plain(source).error in {"MemoryError", "RecursionError"}


def test_nul_bytes_and_surrogates_are_syntax_errors() -> None:
    of_nul = "SyntaxError" if sys.version_info >= (3, 12) else "ValueError"
    for source, in_plain in (("x = 1\x00", of_nul), ("x = '\udc80'", "UnicodeEncodeError")):
        assert (run(source).error, run_plain(source).error) == ("SyntaxError", in_plain)


@pytest.mark.parametrize("name", ["__prepare__", "__reduce_ex__", "__getattribute__", "__class__"])
def test_what_python_itself_makes_cannot_be_defined(name: str) -> None:
    check_refused(f"class A:\n  def {name}(self, *a): pass", "[BJ403]")
    check_refused(f"class A:\n  {name} = 1", "[BJ403]")


REDUCERS = {
    "a reducer calls a builtin": """
        import copy
        class A:
            def __reduce__(self): return eval, ('open',)
        loot = copy.copy(A())
        """,
    "a reducer sets attributes of the library's": """
        import copy, string
        class A:
            def __reduce__(self): return (lambda: string.Template), (), (None, {'delimiter': '%'})
        try: copy.copy(A())
        finally: loot = 'escaped' if string.Template.delimiter == '%' else None
        """,
    "a state for a function of the library": """
        import copy, textwrap
        class A:
            def __reduce__(self): return (lambda: textwrap.dedent), (), {'x': 1}
        try: copy.deepcopy(A())
        finally: loot = 'escaped' if hasattr(textwrap.dedent, 'x') else None
        """,
    "a reducer looks up what nobody may": """
        import copy, textwrap
        class A:
            def __reduce__(self): return getattr, (textwrap.dedent, '__globals__')
        loot = copy.deepcopy(A())
        """,
    "a finalizer sees the frames below": """
        got = []
        class A:
            def __del__(self):
                try: raise ValueError
                except ValueError as e: got.append(e.__traceback__.tb_frame)
        A()
        loot = got[0]
        """,
    "a traceback by parts": """
        try: 1 / 0
        except ZeroDivisionError as e: loot = getattr(e.__traceback__, 'tb_' + 'frame')
        """,
}


@pytest.mark.parametrize("name", REDUCERS)
def test_reducers_and_finalizers(name: str) -> None:
    check_attack(REDUCERS[name])


def test_cve_2025_22153_except_star() -> None:
    source = """
        class Liar(ExceptionGroup):
            def split(self, kind): return 'not a tuple', 1, 2
            def derive(self, excs): return self
        try:
            raise Liar('x', [ValueError()])
        except* ValueError:
            pass
        """
    ran = assert_contained(source)
    assert ran.message.startswith("[BJ402] "), ran
    # The control dies by a signal or by an internal error, depending on the version.
    assert run_plain(source).error not in (None, ran.error)


def test_format_of_a_function_prints_no_namespace() -> None:
    source = "import textwrap\nprint('{0.__globals__}'.format(textwrap.dedent))"
    assert check_refused(source, "[BJ308]").stdout == ""


def test_list_unpacking_is_plain() -> None:
    """RestrictedPython's [a, b] = y passed by its own hook; here no hook is needed."""
    assert run("[a, b] = [1, 2]\na + b").result == "3"
