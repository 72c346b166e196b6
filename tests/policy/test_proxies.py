"""What `import` gives looks like a module, and is altered for nobody else; what stands in for the
library's functions goes by their names and gives nothing away.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import RestrictedPython

from tests.policy.harness import (
    assert_refused,
    assert_runs,
    assert_same,
    assert_stopped,
    check_attack,
    check_refused,
    run,
    run_plain,
)

# --- looks --------------------------------------------------------------------------------------


def test_a_module_looks_like_one() -> None:
    assert_same("""
        import math, json, collections.abc, types, xml.etree.ElementTree as ElementTree
        print(type(math), type(math).__name__, type(math).__module__, str(type(json)))
        print(math.__name__, collections.abc.__name__, ElementTree.__name__)
        print(math.__doc__)
        print(json.__doc__)
        print(isinstance(math, types.ModuleType), type(json) is types.ModuleType,
              isinstance(types, types.ModuleType), isinstance(1, types.ModuleType))
        print([n for n in dir(math) if n[0] != '_'] == sorted(n for n in dir(math) if n[0] != '_'))
        print('sqrt' in dir(math), '__name__' in dir(math), '__doc__' in dir(math))
        print(hasattr(math, 'sqrt'), hasattr(math, 'missing'), getattr(math, 'missing', 1))
        print(getattr(math, 'pi'), callable(math), bool(math))
        """)


def test_a_repr_names_the_module() -> None:
    source = "import math, xml.etree.ElementTree as E\nprint(math, repr(E), f'{math}', [math])"
    assert assert_runs(source).stdout == (
        "<module 'math'> <module 'xml.etree.ElementTree'> <module 'math'> [<module 'math'>]\n"
    )


def test_modules_compare_and_hash_by_identity() -> None:
    assert_same("""
        import math, cmath, math as again, sys
        print(math == again, math is again, math == cmath, math != cmath, hash(math) == hash(again))
        print({math: 1, cmath: 2}[again], len({math, cmath, again}))
        try:
            math < cmath
        except TypeError as error:
            print(error)
        try:
            math()
        except TypeError as error:
            print(error)
        """)


def test_a_missing_attribute_reads_as_in_plain_python() -> None:
    assert_same("""
        import math, collections.abc, xml.etree.ElementTree as ElementTree
        for module, name in ((math, 'foo'), (collections.abc, 'foo'), (ElementTree, 'foo')):
            try:
                getattr(module, name)
            except AttributeError as error:
                print(error, error.name, error.obj is module)
        try:
            math.sqr
        except AttributeError as error:
            print(error, error.name, error.obj is math)
        """)


def test_every_name_is_found_however_it_was_made() -> None:
    """A name in code is looked up by its address, one made at run time by its letters."""
    assert_same("""
        import collections, itertools, math, string, sys, time
        for module in (collections, itertools, math, string):
            for name in dir(module):
                if name[0] != '_':
                    same = getattr(module, ''.join(list(name))) is getattr(module, name)
                    assert same, name
        made = {name: getattr(math, ''.join(list(name))) for name in ('sqrt', 'pi', 'inf')}
        print(made['sqrt'] is math.sqrt, made['pi'] is math.pi, made['inf'] is math.inf)
        def look(module):
            for _ in range(100):
                module.sqrt(4.0), module.pi
            return module.floor
        print(look(math) is math.floor, sys.stdout is getattr(sys, 'std' + 'out'))
        class Likeness:
            sqrt = pi = floor = abs
            def __getattr__(self, name): return name
        print(look(Likeness()), Likeness().missing)  # where a module was looked into before
        for absent in ('sqr', 'sqrt ', '', 'Sqrt'):
            try:
                getattr(math, absent)
            except AttributeError as error:
                print(error)
        """)


def test_a_withheld_attribute_says_so() -> None:
    ran = assert_stopped("import gc\ngetattr(gc, 'garbage')", "the profile withholds it")
    assert ran.message.startswith("[BJ202] module 'gc' has no attribute 'garbage'")
    assert_stopped("import sys\ngetattr(sys, 'settrace')", "the profile withholds it")
    assert run("import sys\nhasattr(sys, 'settrace')").result == "False"


def test_a_missing_name_in_an_import_has_a_suggestion() -> None:
    found = assert_refused("from math import sqr", "BJ202")
    assert "sqrt" in found["hint"] and "'math'" in found["reason"] and "'sqr'" in found["reason"]


def test_import_errors_carry_the_name() -> None:
    source = """
        try:
            import tempfile
        except ImportError as error:
            print(type(error).__name__, error.name)
        try:
            from math import missing
        except ImportError as error:
            print(type(error).__name__, error.name)
        """
    assert assert_runs(source).stdout == "ModuleNotFoundError tempfile\nImportError math\n"


def test_every_form_of_import() -> None:
    assert_same("""
        import collections.abc
        print(collections.abc.Mapping.__name__, collections.OrderedDict.__name__)
        import collections.abc as abc_
        print(abc_ is collections.abc)
        from collections import abc
        print(abc is abc_)
        from collections.abc import Mapping as M, Sequence
        print(M is abc.Mapping, Sequence.__name__)
        import xml.etree.ElementTree
        import xml.etree.ElementTree as ET
        from xml.etree import ElementTree
        from xml.etree.ElementTree import fromstring
        print(ET is ElementTree is xml.etree.ElementTree, fromstring is ET.fromstring)
        import math as m, cmath as c
        print(m.pi == c.pi)
        def inside():
            import json.decoder
            return json.decoder.JSONDecodeError is json.JSONDecodeError
        print(inside())
        class Holder:
            import heapq
            from bisect import bisect
        print(Holder.heapq.nlargest(1, [1, 2]), Holder.bisect([1, 2], 1))
        """)


def test_narrowed_imports_keep_their_parents_only() -> None:
    source = "import xml.etree.ElementTree as E\nimport xml\nE.fromstring('<a/>').tag"
    assert run(source, allowed_imports=["xml.etree.ElementTree"]).result == "'a'"
    assert "BJ205" in run("import json", allowed_imports=["xml"]).rules


def test_copies_of_a_module_are_the_module() -> None:
    source = """
        import copy, math
        class Holder:
            def __init__(self):
                self.module = math
        print(copy.copy(math) is math, copy.deepcopy(math) is math)
        print(copy.deepcopy({'m': [math]})['m'][0] is math, copy.deepcopy(Holder()).module is math)
        """
    assert assert_runs(source).stdout == "True True\nTrue True\n"


# --- is altered for nobody else -----------------------------------------------------------------

_KEEPS = "[BJ305] 'sqrt' of module 'math' may not be deleted"
_WITHHELD = "[BJ305] 'settrace' of module 'sys' may not be set: the profile withholds it"
_NOT_THE_PROGRAMS = "[BJ305] attribute 'sqrt' of 'module' object may not be set"
_ALTERATIONS = {
    "sys.settrace = len": _WITHHELD,
    "setattr(sys, 'settrace', len)": _WITHHELD,
    "del math.sqrt": _KEEPS,
    "delattr(math, 'sqrt')": _KEEPS,
    "math._private = 1": "[BJ302]",
    "setattr(math, '_private', 1)": "[BJ302]",
    "math.__doc__ = 'mine'": "[BJ304]",
    "object.__setattr__(math, 'sqrt', len)": _NOT_THE_PROGRAMS,
    "object.__delattr__(math, 'sqrt')": _NOT_THE_PROGRAMS,
    "super(Plain, Plain).__setattr__(math, 'sqrt', len)": "__setattr__ expected 2 arguments",
    "abstractmethod(math)": "[BJ305] '__isabstractmethod__' of module 'math' may not be set",
    "operator.methodcaller('__setattr__', 'sqrt', len)(math)": "no attribute '__setattr__'",
    # These swallow the error.
    "update_wrapper(math, len)": "nothing has changed",
    "wraps(len)(math)": "nothing has changed",
}
_ALTERED = """
import math, operator, sys
from abc import abstractmethod
from contextlib import suppress
from functools import update_wrapper, wraps
from typing import final, no_type_check
class Plain: pass
def look():
    names = (*dir(math), 'sqrt', '__doc__', '_private')
    return [(n, getattr(math, n, None)) for n in names], getattr(sys, 'settrace', None)
before = look()
{}
assert look() != before, 'nothing has changed'
"""


@pytest.mark.parametrize("alteration", _ALTERATIONS)
def test_a_module_cannot_be_altered(alteration: str) -> None:
    check_refused(_ALTERED.format(alteration), _ALTERATIONS[alteration])


def test_a_module_keeps_its_class() -> None:
    check_refused("import math\nclass M(type(math)): pass\nmath.__class__ = M", "[BJ304]")


def test_no_class_of_modules_can_be_made() -> None:
    for source, said in (
        ("import types\nclass M(types.ModuleType): pass", "not an acceptable base type"),
        ("import types\ntype('M', (types.ModuleType,), {})", "not an acceptable base type"),
        ("import types\ntypes.new_class('M', (types.ModuleType,))", "not an acceptable base type"),
    ):
        check_refused(source, said)


def test_a_module_has_no_namespace() -> None:
    for use in ("math.__dict__", "getattr(math, '__dict__')", "vars(math)"):
        check_refused(f"import math\n{use}", "[BJ301]")
    assert run("import math\nhasattr(math, '__dict__')").result == "False"
    for name in ("__loader__", "__spec__", "__file__", "__path__", "__builtins__"):
        source = f"import json\nhasattr(json, {name!r})"
        assert run(source).result == "False" and run_plain(source).result == "True", name


@pytest.mark.parametrize(
    "attack",
    [
        "import statistics\nloot = statistics.sys",
        "import json\nloot = json.__dict__['__builtins__']",
        "import json\nloot = vars(json)['__builtins__']",
        "import json\nloot = json.__spec__.loader.get_code('json')",
        "import json\nloot = type(json)('os')",
        "from random import _os as loot",
        "import random\nloot = object.__getattribute__(random, '_os')",
        "import statistics\nmatch statistics:\n    case object(sys=loot): pass",
        "import operator, statistics\nloot = operator.attrgetter('sys')(statistics)",
        "import statistics\nimport functools as f\nloot = f.reduce(getattr, ['sys'], statistics)",
        "import copy, json\nloot = copy.copy(vars(json))['__builtins__']",
        "import xml.etree.ElementTree as E\nloot = E.sys",
        "from xml.etree.ElementTree import sys as loot",
        "import xml.etree.ElementTree as E\nloot = E.ElementPath.re.enum",
        "import collections\nloot = collections._sys",
        "import dataclasses\nloot = dataclasses.dataclass.__globals__['sys']",
        "import functools\nloot = functools.wraps.__globals__['__builtins__']",
        "import urllib.parse as p\nimport urllib\nloot = urllib.parse.re",
    ],
)
def test_no_module_leads_to_a_real_one(attack: str) -> None:
    check_attack(attack)


# --- what stands in for the library's -----------------------------------------------------------

_REPLACED = """
import configparser, contextlib, copy, dataclasses, functools, operator, sys, types, typing
import xml.etree.ElementTree as ElementTree
replaced = [
    contextlib.redirect_stdout, contextlib.redirect_stderr, copy.copy, copy.deepcopy, copy.Error,
    dataclasses.asdict, dataclasses.astuple, dataclasses.dataclass, dataclasses.fields,
    dataclasses.is_dataclass, dataclasses.make_dataclass, dataclasses.replace,
    functools.singledispatch, functools.singledispatchmethod, functools.total_ordering,
    functools.update_wrapper, functools.wraps, operator.attrgetter, operator.methodcaller,
    types.new_class, typing.no_type_check, ElementTree.canonicalize, ElementTree.parse,
]
"""


def test_replacements_go_by_the_librarys_names() -> None:
    assert_same(
        _REPLACED
        + """
for each in replaced:
    print(each.__module__, each.__name__, each.__qualname__, isinstance(each, type))
    print(repr(each).partition(' at ')[0])
print(sys.exit.__name__, sys.setrecursionlimit.__name__, input.__name__, input.__module__)
print(getattr.__name__, getattr.__module__, vars.__module__, dir.__qualname__)
"""
    )


def test_replacements_are_documented_as_the_librarys() -> None:
    assert_same(
        _REPLACED
        + """
for each in replaced:
    if each not in (operator.attrgetter, operator.methodcaller):  # in C, with a line of their own
        print(each.__doc__)
"""
    )


_SIGNATURES = """
import importlib, inspect, sys
from pathlib import Path
sys.path[:0] = [root + "/tools", root + "/policy", packages]
import walk_surface
sys.modules["_belljar_guards"] = walk_surface.StandIn()
from belljar_policy.modules import ModuleTable
from profile_document import read_profile
profile = read_profile(Path(root) / "profiles/basic.toml")
table = ModuleTable(profile, {})
for module, entry in profile["modules"].items():
    for name in entry.get("replace", ()):
        if f"{module}.{name}" in table.missing:  # of a later Python
            continue
        original = getattr(importlib.import_module(module), name)
        table.load(module)
        ours = getattr(table.proxies[module], name)
        if original is ours or isinstance(ours, type):  # a class says itself what it takes
            continue
        try:
            inspect.signature(original)
        except ValueError:  # warnings.warn of Python 3.13.0 has a text that is no signature
            continue
        for which in (original, ours):
            shown = [p for p in inspect.signature(which).parameters.values() if p.name[0] != "_"]
            print(module, name, inspect.Signature(shown))
"""


def test_replacements_have_the_librarys_signatures() -> None:
    packages = str(Path(RestrictedPython.__file__).parents[1])
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(
        [sys.executable, "-I", "-c", f"{root=}; {packages=}" + _SIGNATURES],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) >= 24
    for original, ours in zip(lines[::2], lines[1::2], strict=True):
        assert ours == original


def test_errors_of_replacements_name_them() -> None:
    assert_same("""
        import contextlib, copy
        for wrong in (lambda: contextlib.redirect_stdout(), lambda: copy.copy()):
            try:
                wrong()
            except TypeError as error:
                print(str(error).replace('_RedirectStream', 'redirect_stdout'))
        """)


@pytest.mark.parametrize(
    "name",
    ["__globals__", "__wrapped__", "__defaults__", "__kwdefaults__", "__dict__", "__code__",
     "__closure__", "__builtins__", "__signature__", "__self__", "__func__"],
)  # fmt: skip
def test_replacements_give_nothing_away(name: str) -> None:
    source = (
        _REPLACED
        + f"""
replaced += [
    sys.exit, sys.setrecursionlimit, input, exit, getattr, setattr, vars, dir, sys.stdout.write,
    functools.wraps(len), dataclasses.dataclass(order=True), functools.singledispatch(len),
    contextlib.redirect_stdout.__init__, contextlib.redirect_stdout.__enter__,
    ElementTree.ElementTree.parse, ElementTree.ElementTree.write,
    functools.singledispatch(len).register, configparser.ConfigParser.read,
    configparser.ConverterMapping.__init__,
]
print([each for each in replaced if hasattr(each, {name!r})])
"""
    )
    assert assert_runs(source).stdout == "[]\n"


def test_replacements_cannot_be_written_to() -> None:
    source = (
        _REPLACED
        + """
for each in replaced:
    for name in ('__doc__', '__name__', '__module__', '__defaults__', '__kwdefaults__', '__dict__',
                 '__wrapped__', 'new', '__annotations__'):
        try:
            setattr(each, name, {})
        except (AttributeError, TypeError):
            continue
        print('written', each, name)
"""
    )
    assert assert_runs(source).stdout == ""
