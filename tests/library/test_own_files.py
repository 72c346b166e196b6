"""Modules of the program's own files, compared with plain Python."""

# ruff: noqa: E501 (programs are kept as one would write them)
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.policy.harness import run, run_plain

IN_MEMORY, ON_DISK = "restricted", "restricted:filesystem"


def files(kind: str, folder: Path, given: dict[str, str]) -> dict[str, Any]:
    """What gives a program these files: in memory where the profile has no files."""
    where = "modules" if kind == IN_MEMORY else "files"
    return {"folder": str(folder), where: given}


PROGRAMS: dict[str, tuple[str, dict[str, str]]] = {
    "a module": (
        "import helper\nprint(helper.double(4), helper.__name__, helper.__doc__)",
        {"helper.py": '"""Doubles."""\ndef double(x):\n    return 2 * x\n'},
    ),
    "its names": ("from helper import double as d, _half\nprint(d(4), _half(8))",
                  {"helper.py": "def double(x): return 2 * x\ndef _half(x): return x // 2\n"}),
    "a module that uses the library": (
        "import helper\nprint(helper.mean([1, 2, 6]))",
        {"helper.py": "import statistics as s\nfrom math import floor\n"
                      "def mean(values): return floor(s.mean(values))\n"},
    ),
    "a package": (
        "import shop.cart\nfrom shop import prices as p, VERSION\n"
        "print(shop.cart.total([1, 2]), p.TAX, VERSION, shop.__name__, shop.cart.__name__)",
        {"shop/__init__.py": "VERSION = '1.0'\n",
         "shop/cart.py": "from . import prices\nfrom .prices import TAX as tax\n"
                         "def total(items): return sum(items) * prices.TAX * tax\n",
         "shop/prices.py": "TAX = 2\n"},
    ),
    "packages in packages": (
        "import a.b.c as c\nfrom a.b import d\nprint(c.where(), d.up())",
        {"a/__init__.py": "top = 'top'\n", "a/b/__init__.py": "", "a/x.py": "y = 'x.y'\n",
         "a/b/c.py": "from ..x import y\nfrom .. import top\ndef where(): return y, top\n",
         "a/b/d.py": "from ... a import x\ndef up(): return x.y\n".replace("... a", "..")},
    ),
    "a folder without __init__": (
        "import space.one\nfrom space import two\nprint(space.one.x, two.y)",
        {"space/one.py": "x = 1\n", "space/two.py": "y = 2\n"},
    ),
    "a name of the module's own": (
        "import helper\nhelper.count += 1\nhelper.other = 5\n"
        "print(helper.get(), helper.other, vars(helper)['count'], 'count' in dir(helper))\n"
        "del helper.other\nprint(hasattr(helper, 'other'))",
        {"helper.py": "count = 1\ndef get(): return count\n"},
    ),
    "it runs once": (
        "import helper\nimport other\nimport helper as again\nprint(helper is again is other.h)",
        {"helper.py": "print('runs')\n", "other.py": "import helper as h\n"},
    ),
    "import in a function": (
        "def f():\n    from helper import x\n    return x\nprint(f(), f())",
        {"helper.py": "x = 3\n"},
    ),
    "names in globals": (
        "import helper\nx = 1\nprint(helper.read(), x)",
        {"helper.py": "x = 2\ndef read():\n    global x\n    x += 1\n    return x, __name__\n"},
    ),
    "a star": (
        "from helper import *\nprint(a, b, '_c' in globals(), 'math' in globals())",
        {"helper.py": "import math\na = 1\nb = 2\n_c = 3\n"},
    ),
    "a star with __all__": (
        "from helper import *\nprint(a, _c, 'b' in globals())",
        {"helper.py": "__all__ = ['a', '_c']\na = 1\nb = 2\n_c = 3\n"},
    ),
    "a star from a package, in a package": (
        "from shop import *\nprint(total, parts.x)",
        {"shop/__init__.py": "from .cart import *\n__all__ = ['total', 'parts']\n",
         "shop/cart.py": "total = 3\n", "shop/parts.py": "x = 4\n"},
    ),
    "a star that brings a builtin's name": (
        "from helper import *\nprint(open('x'))",
        {"helper.py": "def open(name): return 'opened ' + name\n"},
    ),
    "a cycle": (
        "import one\nprint(one.f(), one.two.g())",
        {"one.py": "import two\ndef f(): return 'f'\n",
         "two.py": "import one\ndef g(): return one.f()\n"},
    ),
    "a cycle that needs what is not there yet": (
        "try:\n    import one\nexcept ImportError as e:\n    print(e.name, 'two' in str(e) or 'one' in str(e))\n"
        "try:\n    import one\nexcept ImportError:\n    print('again')",
        {"one.py": "from two import g\ndef f(): return 1\n",
         "two.py": "from one import f\ndef g(): return f\n"},
    ),
    "a module that fails": (
        "for _ in range(2):\n    try:\n        import helper\n    except ValueError as e:\n        print(e)",
        {"helper.py": "print('begins')\nraise ValueError('broken')\n"},
    ),
    "what is missing": (
        "for name in ('helper.no', 'helper.no.more'):\n    try:\n        __import__(name)\n"
        "    except ImportError as e:\n        print(type(e).__name__, e, e.name)\n"
        "try:\n    import shop.no\nexcept ImportError as e:\n    print(e, e.name)",
        {"helper.py": "", "shop/__init__.py": ""},
    ),
    "importlib": (
        "import importlib, importlib.util\nm = importlib.import_module('shop.cart')\n"
        "print(m.x, importlib.import_module('.cart', 'shop') is m)\n"
        "print(importlib.util.find_spec('shop.cart').name, importlib.util.find_spec('shop.no'))",
        {"shop/__init__.py": "", "shop/cart.py": "x = 1\n"},
    ),
    "__import__": (
        "print(__import__('shop.cart').cart.x, __import__('shop.cart', fromlist=['x']).x)",
        {"shop/__init__.py": "", "shop/cart.py": "x = 1\n"},
    ),
    "sys.modules": (
        "import sys, helper\nprint(sys.modules['helper'] is helper, 'other' in sys.modules)",
        {"helper.py": "", "other.py": ""},
    ),
    "a file named as a module of the library": (
        "import colorsys, queue\nprint(colorsys.hue, queue.mine, colorsys.__name__)\n"
        "import string\nprint(string.digits)",
        {"colorsys.py": "hue = 'mine'\n", "queue/__init__.py": "from .inner import mine\n",
         "queue/inner.py": "mine = 1\n", "string/data.py": "digits = 'mine'\n"},
    ),
    "a file named as a builtin module": (
        "import sys, builtins, time\nprint(hasattr(sys, 'mine'), hasattr(builtins, 'mine'))",
        {"sys.py": "mine = 1\n", "builtins.py": "mine = 1\n", "time.py": "mine = 1\n"},
    ),
    "a module beside its folder": (
        "import helper\nprint(helper.x)\ntry:\n    import helper.inner\nexcept ImportError as e:\n    print(e)",
        {"helper.py": "x = 'file'\n", "helper/inner.py": ""},
    ),
    "the program's own module": (
        "value = 5\nimport helper\nprint(helper.read())",
        {"helper.py": "def read():\n    import __main__ as main\n    return main.value\n"},
    ),
    "classes": (
        "from helper import Point, Error, Color\nimport copy, pickle\np = Point(1, 2)\n"
        "print(p, p == copy.deepcopy(p), pickle.loads(pickle.dumps(p)) == p)\n"
        "print(Point.__module__, Color.RED, Error.__module__, repr(Point))\n"
        "class Sub(Point):\n    pass\nprint(Sub(3, 4))\n"
        "match p:\n    case Point(x, y):\n        print(x, y)",
        {"helper.py": "from dataclasses import dataclass\nfrom enum import Enum\n"
                      "@dataclass\nclass Point:\n    x: int\n    y: int\n"
                      "class Error(ValueError): pass\n"
                      "class Color(Enum):\n    RED = 1\n"},
    ),
    "dataclasses with annotations as text": (
        "from helper import A\nimport typing\nprint(A(1), A.n, typing.get_type_hints(A)['b'])",
        {"helper.py": "from __future__ import annotations\nimport dataclasses\n"
                      "from dataclasses import dataclass, KW_ONLY, InitVar\nfrom typing import ClassVar\n"
                      "class Mine: pass\n"
                      "@dataclass\nclass A:\n    a: int\n    n: ClassVar[int] = 3\n"
                      "    i: InitVar[int] = 4\n    b: Mine = None\n    _: KW_ONLY\n"
                      "    f: dataclasses.InitVar[int] = 0\n"},
    ),
    "hints of functions": (
        "from helper import f\nimport typing\nprint(sorted(typing.get_type_hints(f)))",
        {"helper.py": "class Mine: pass\ndef f(a: 'Mine', b: 'list[Mine]') -> 'Mine': pass\n"},
    ),
    "named tuples and protocols": (
        "from helper import P, N, use\nprint(use(N(1)), P(2).y, isinstance(N(1), tuple))",
        {"helper.py": "from typing import NamedTuple, Protocol\nfrom collections import namedtuple\n"
                      "class N(NamedTuple):\n    x: int\nP = namedtuple('P', 'y')\n"
                      "class HasX(Protocol):\n    x: int\ndef use(h: HasX): return h.x\n"},
    ),
    "generators, coroutines, closures": (
        "import asyncio, helper\nprint(list(helper.gen(3)), asyncio.run(helper.co()), helper.make()())",
        {"helper.py": "import asyncio\ndef gen(n):\n    yield from range(n)\n"
                      "async def co():\n    await asyncio.sleep(0)\n    return 'co'\n"
                      "def make():\n    n = 0\n    def f():\n        nonlocal n\n        n += 1\n        return n\n    return f\n"},
    ),
    "the source of its functions": (
        "import inspect, helper\nprint(inspect.getsource(helper.f), inspect.getsource(helper.C))",
        {"helper.py": "x = 1\ndef f():\n    return x\n\nclass C:\n    def g(self):\n        return 2\n"},
    ),
    "eval in it": (
        "import helper\nprint(helper.ask('x + 1'))",
        {"helper.py": "x = 1\ndef ask(text): return eval(text)\n"},
    ),
    "a byte order mark and an encoding": (
        "import one, two\nprint(one.x, two.x)",
        {"one.py": "\xef\xbb\xbfx = '\xc3\xa9'\n", "two.py": "# -*- coding: utf-8 -*-\nx = 1\n"},
    ),
    "Windows line ends": ("import helper\nprint(helper.x)", {"helper.py": "x = (1 +\r\n  2)\r\n"}),
    "logging": (
        "import logging, helper\nlogging.basicConfig(format='%(name)s %(message)s')\nprint(helper.log.name)",
        {"helper.py": "import logging\nlog = logging.getLogger(__name__)\n"},
    ),
    "mocks": (
        "import helper\nfrom unittest.mock import patch\nwith patch('helper.ask', lambda: 'mock'):\n"
        "    print(helper.use())\nprint(helper.use())",
        {"helper.py": "def ask(): return 'real'\ndef use(): return ask()\n"},
    ),
    "if __name__": (
        "import helper\nprint('done')",
        {"helper.py": "if __name__ == '__main__':\n    print('never')\n"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
@pytest.mark.parametrize("kind", [IN_MEMORY, ON_DISK])
def test_as_in_python(kind: str, name: str, tmp_path: Path) -> None:
    source, given = PROGRAMS[name]
    with_plain = {"folder": str(tmp_path / "plain"), "files": given}
    for each in ("plain", "ours"):
        (tmp_path / each).mkdir()
    ran = run(source, kind=kind, **files(kind, tmp_path / "ours", given))
    plain = run_plain(source, **with_plain)
    assert plain.error is None, plain.traceback
    assert not ran.findings, ran.findings
    assert ran.error is None, ran.traceback
    assert ran.stdout == plain.stdout


def test_a_program_imports_what_it_wrote(tmp_path: Path) -> None:
    ran = run("""
        import importlib
        open('late.py', 'w').write('x = 1')
        import late
        print(late.x)
        open('late.py', 'w').write('x = 2; y = 33')
        print(importlib.reload(late) is late, late.x, late.y)
        open('other.py', 'w').write('x = 4')
        print(importlib.import_module('other').x)
        """, kind=ON_DISK, folder=str(tmp_path), written=["late.py", "other.py"])  # fmt: skip
    assert ran.error is None and not ran.findings, (ran.findings, ran.traceback)
    assert ran.stdout == "1\nTrue 2 33\n4\n"


def test_what_it_writes_does_not_come_before_the_library(tmp_path: Path) -> None:
    ran = run("""
        open('json.py', 'w').write('dumps = 1')
        import json
        print(json.dumps([1]))
        """, kind=ON_DISK, folder=str(tmp_path), written=["json.py"])  # fmt: skip
    assert (ran.stdout, ran.error) == ("[1]\n", None)


def test_a_refusal_in_a_file_is_one_of_the_program(tmp_path: Path) -> None:
    given = {"helper.py": "x = 1\nimport other\n", "other.py": "\n\nimport socket\n"}
    ran = run("print('runs')\nimport helper", **files(IN_MEMORY, tmp_path, given))
    (found,) = ran.findings
    assert (found["rule"], found["line"]) == ("BJ201", 2)
    assert found["reason"].startswith("other.py, line 3: module 'socket' is not available")
    assert ran.stdout == ""


def test_a_refusal_in_a_file_that_the_text_does_not_name(tmp_path: Path) -> None:
    given = {"helper.py": "x = 1\nx.__globals__\n"}
    ran = run("__import__('hel' + 'per')", **files(IN_MEMORY, tmp_path, given))
    assert ran.error == "SyntaxError"
    assert "[BJ301]" in ran.message and "helper.py, line 2" in ran.message
    assert 'File "helper.py", line 2' in ran.traceback and "x.__globals__" in ran.traceback


def test_an_optional_import_may_be_of_a_refused_file(tmp_path: Path) -> None:
    ran = run(
        "try:\n    import helper\nexcept (ImportError, SyntaxError):\n    print('without')",
        **files(IN_MEMORY, tmp_path, {"helper.py": "import socket\n"}),
    )
    assert (ran.stdout, ran.findings) == ("without\n", [])


def test_a_module_may_import_what_the_call_allows(tmp_path: Path) -> None:
    given = files(IN_MEMORY, tmp_path, {"helper.py": "import json\nx = json.dumps([1])\n"})
    assert (
        run("import helper\nprint(helper.x)", allowed_imports=["json"], **given).stdout == "[1]\n"
    )
    (found,) = run("import helper", allowed_imports=["math"], **given).findings
    assert found["rule"] == "BJ205"


def test_mocks_use_the_librarys_modules(tmp_path: Path) -> None:
    given = files(IN_MEMORY, tmp_path, {"inspect.py": "mine = 1\n", "contextlib.py": "1 / 0\n"})
    ran = run(
        "import inspect\nfrom unittest.mock import Mock, patch\nwith patch('inspect.mine', Mock(return_value=3)):\n"
        "    print(inspect.mine())\nprint(inspect.mine)",
        **given,
    )
    assert ran.stdout == "3\n1\n", ran


def test_relative_imports_need_a_package(tmp_path: Path) -> None:
    given = files(IN_MEMORY, tmp_path, {"helper.py": "from . import x\n", "x.py": ""})
    assert run("from . import x", **given).rules == ["BJ204"]
    (found,) = run("import helper", **given).findings
    assert found["rule"] == "BJ204" and found["reason"].startswith("helper.py, line 1")


def test_a_relative_import_may_be_optional(tmp_path: Path) -> None:
    source = "try:\n    from . import x\nexcept ImportError as error:\n    import x\n    print(x.y, error)"
    given = {"x.py": "y = 1\n"}
    ran = run(source, **files(IN_MEMORY, tmp_path, given))
    plain = run_plain(source, folder=str(tmp_path), files=given)
    assert ran.stdout == plain.stdout and plain.stdout.startswith("1 attempted relative import")


def test_the_main_module_of_a_package(tmp_path: Path) -> None:
    given = {"shop/__init__.py": "", "shop/cart.py": "x = 3\n"}
    ran = run(
        "from . import cart\nfrom .cart import x\nprint(cart.x, x, __name__)",
        package="shop",
        **files(IN_MEMORY, tmp_path, given),
    )
    assert ran.stdout == "3 3 __main__\n", ran


def test_a_test_module(tmp_path: Path) -> None:
    given = {"test_it.py": "import unittest\nclass T(unittest.TestCase):\n    def test_a(self):\n"
                           "        self.assertEqual(1, 1)\n    def test_b(self):\n        pass\n"}  # fmt: skip
    ran = run("""
        import unittest, test_it
        loader = unittest.defaultTestLoader
        for suite in (loader.loadTestsFromModule(test_it), loader.loadTestsFromName('test_it'),
                      loader.loadTestsFromName('test_it.T.test_a')):
            print(suite.countTestCases())
        """, **files(IN_MEMORY, tmp_path, given))  # fmt: skip
    assert ran.stdout == "2\n2\n1\n", ran


def test_examples_in_a_module(tmp_path: Path) -> None:
    given = {"helper.py": 'def f(x):\n    """Adds.\n\n    >>> f(1)\n    2\n    >>> f(2)\n    4\n'
                          '    """\n    return x + 1\n'}  # fmt: skip
    ran = run("""
        import doctest, helper
        print(doctest.testmod(helper))
        """, **files(IN_MEMORY, tmp_path, given))  # fmt: skip
    assert "TestResults(failed=1, attempted=2)" in ran.stdout, ran
    assert "line 6, in helper.f" in ran.stdout


def test_tracebacks_have_its_lines(tmp_path: Path) -> None:
    given = {"pkg/__init__.py": "", "pkg/inner.py": "\ndef f(x):\n    return 1 / x\n"}
    ran = run("""
        import traceback
        from pkg.inner import f
        try:
            f(0)
        except ZeroDivisionError as error:
            print(traceback.format_exc())
            print([(each.filename, each.lineno) for each in traceback.extract_tb(error.__traceback__)])
        """, **files(IN_MEMORY, tmp_path, given))  # fmt: skip
    assert 'File "pkg/inner.py", line 3, in f\n    return 1 / x' in ran.stdout, ran
    assert "[('main.py', 5), ('pkg/inner.py', 3)]" in ran.stdout
