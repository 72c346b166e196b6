"""What is refused is refused with its place, rule, reason and hint; nothing else is refused."""

from __future__ import annotations

import pytest

from tests.policy.harness import assert_refused, assert_runs, run

REFUSED = [
    ("import glob", "BJ201"),
    ("import glob as p", "BJ201"),
    ("from glob import glob", "BJ201"),
    ("import numpy", "BJ201"),
    ("import xml.sax", "BJ201"),
    ("from math import no_such", "BJ202"),
    ("from xml import sax", "BJ202"),
    ("from json import codecs", "BJ202"),
    ("def f():\n  from math import *", "BJ203"),
    ("from . import x", "BJ204"),
    ("from .x import y", "BJ204"),
    ("f.__globals__", "BJ301"),
    ("f.__code__", "BJ301"),
    ("f.__getnewargs__()", "BJ301"),
    ("x.__reduce_ex__(2)", "BJ301"),
    ("x.__getattribute__('a')", "BJ301"),
    ("e.__globals__", "BJ301"),
    ("x.__loader__ = 1", "BJ301"),
    ("g.gi_frame", "BJ303"),
    ("g.cr_frame.f_back", "BJ303"),
    ("t.tb_frame", "BJ303"),
    ("c.cell_contents = 1", "BJ303"),
    ("x.__class__ = int", "BJ304"),
    ("del x.__bases__", "BJ304"),
    ("x.__class__ += int", "BJ304"),
    ("match x:\n  case A(__dict__=d): pass", "BJ307"),
    ("match x:\n  case A(_y=d): pass", "BJ307"),
    ("match x:\n  case A(gi_frame=d): pass", "BJ307"),
    ("match x:\n  case A._B(): pass", "BJ307"),
    ("class A:\n  def __getattribute__(self, name): pass", "BJ403"),
    ("class A:\n  __getattribute__ = 1", "BJ403"),
    ("class A:\n  __mystery__ = 1", "BJ403"),
    ("open('x')", "BJ501"),
    ("x = open", "BJ501"),
    ("print(reload())", "BJ501"),
    ("breakpoint()", "BJ501"),
    ("f'{open}'", "BJ501"),
    ("f'{x.__globals__}'", "BJ301"),
    ("f'{1:{x.gi_frame}}'", "BJ303"),
    ("x: a.__globals__ = 1", "BJ301"),
    ("x = __builtins__", "BJ102"),
    ("lambda: __import__", "BJ102"),
]

# Every construct that binds a name, with a name that may not be bound.
BINDING_SITES = [
    "{0} = 1",
    "{0}: int = 1",
    "{0}: int",
    "{0} += 1",
    "a, ({0}, *b) = x",
    "[{0}] = x",
    "a = *{0}, b = x",
    "for {0} in x: pass",
    "[1 for {0} in x]",
    "{{1 for a, {0} in x}}",
    "({0} := 1)",
    "with x as {0}: pass",
    "with x as (a, {0}): pass",
    "try: pass\nexcept E as {0}: pass",
    "import math as {0}",
    "from math import sqrt as {0}",
    "def {0}(): pass",
    "async def {0}(): pass",
    "class {0}: pass",
    "def f({0}): pass",
    "def f({0}, /): pass",
    "def f(*, {0}): pass",
    "def f(*{0}): pass",
    "def f(**{0}): pass",
    "def f(m, {0}=lambda o: o, /): pass",
    "lambda {0}: 1",
    "lambda *{0}: 1",
    "def f():\n  global {0}",
    "def f():\n  {0} = 1\n  def g():\n    nonlocal {0}",
    "del {0}",
    "f({0}=1)",
    "class A(x, {0}=1): pass",
    "match x:\n  case {0}: pass",
    "match x:\n  case [a, *{0}]: pass",
    "match x:\n  case {{'a': 1, **{0}}}: pass",
    "match x:\n  case int() as {0}: pass",
    "match x:\n  case A(b={0}): pass",
    "async def f():\n  async for {0} in x: pass",
    "async def f():\n  async with x as {0}: pass",
]


@pytest.mark.parametrize(("source", "rule"), REFUSED)
def test_refused(source: str, rule: str) -> None:
    assert any(f["rule"] == rule for f in run(source).findings), run(source)
    for finding in run(source).findings:
        assert finding["line"] > 0 and finding["column"] > 0
        assert finding["end_line"] >= finding["line"]
        assert finding["reason"] and finding["hint"] and finding["name"]


@pytest.mark.parametrize("site", BINDING_SITES)
@pytest.mark.parametrize("name", ["__builtins__", "__import__", "__name__", "__mystery__"])
def test_every_binding_site_is_checked(site: str, name: str) -> None:
    source = site.format(name)
    compile(source, "main.py", "exec")  # nothing of Python's own refuses it
    last = [
        found["rule"] for found in run(source).findings if found["line"] == site.count("\n") + 1
    ]
    # Mock(__name__="f"): a function that binds it has it in a dict, which ** fills with any name.
    is_argument = name == "__name__" and site == "f({0}=1)"
    assert bool({"BJ101", "BJ102", "BJ307"} & set(last)) != is_argument, site


@pytest.mark.parametrize("site", BINDING_SITES)
def test_every_binding_site_takes_an_ordinary_name(site: str) -> None:
    for name in ("name", "_name", "__name"):
        assert not run(site.format(name)).findings, (site, name)


def test_all_findings_at_once_in_order() -> None:
    ran = run("import glob\nx = 1\ndef f():\n  return x.gi_frame\nopen('x')\nimport sys\n")
    assert [(f["rule"], f["line"]) for f in ran.findings] == [
        ("BJ201", 1),
        ("BJ303", 4),
        ("BJ501", 5),
    ]


def test_import_hints() -> None:
    finding = assert_refused("import tempfile", "BJ201")
    assert finding["profile"] == "filesystem" and "filesystem" in finding["hint"]
    finding = assert_refused("from pathlib import Path", "BJ202")
    assert finding["profile"] == "filesystem" and "filesystem" in finding["hint"]
    assert "math" in assert_refused("import maths", "BJ201")["hint"]
    mapping = assert_refused("from collections import Mapping", "BJ202")
    assert "from collections.abc import Mapping" in mapping["hint"]
    assert "sqrt" in assert_refused("from math import sqr", "BJ202")["hint"]
    assert "no_such" in assert_refused("from math import no_such", "BJ202")["reason"]


def test_allowed_imports_narrow() -> None:
    assert "BJ205" in run("import json", allowed_imports=["math"]).rules
    assert "BJ201" in run("import glob", allowed_imports=["glob"]).rules
    assert_runs("import math", allowed_imports=["math"])
    assert_runs(
        "from __future__ import annotations\nimport collections.abc",
        allowed_imports=["collections"],
    )
    deep = ["xml.etree.ElementTree"]
    assert_runs(
        "import xml.etree.ElementTree\nfrom xml.etree import ElementTree", allowed_imports=deep
    )
    assert run("import html\nhtml.parser", allowed_imports=["html"]).error is None
    assert "BJ205" in run("import json.decoder", allowed_imports=["math"]).rules
    # C code still reaches what it needs.
    source = "import datetime\ndatetime.datetime.strptime('2020', '%Y').strftime('%Y')"
    assert assert_runs(source, allowed_imports=["datetime"]).result == "'2020'"
    ran = run("import re\nre.sub('(a)', r'\\1', 'a')", allowed_imports=["re"])
    assert ran.error is None, ran.traceback


def test_an_optional_import_is_a_warning() -> None:
    ran = run("try:\n  import numpy\nexcept ImportError:\n  numpy = None\nnumpy is None")
    assert ran.result == "True" and any("BJ201" in warning for warning in ran.warnings)
    assert "BJ201" in run("try:\n  import numpy\nexcept ValueError:\n  pass").rules


def test_builtin_names_may_be_used_for_ones_own() -> None:
    assert run("def open(x): return x\nopen(1)").result == "1"
    assert run("def f(breakpoint): return breakpoint\nf(1)").result == "1"
    assert run("class A:\n  def open(self): return 2\nA().open()").result == "2"


def test_names_are_normalised_before_they_are_judged() -> None:
    wide = "__globals__".replace("g", "\uff47")  # NFKC turns it into g
    assert "BJ301" in run(f"x.{wide}").rules
    assert "BJ101" in run(f"f({'__builtins__'.replace('b', chr(0xFF42))}=1)").rules
    assert "BJ201" in run(f"import {'glob'.replace('o', chr(0xFF4F))}").rules
    assert "BJ306" in run(f"getattr(1, '{wide}')").message
    assert "BJ306" in run(f"import operator\noperator.attrgetter('{wide}')(1)").message


def test_syntax_errors() -> None:
    for source in ("x = (", "return 1", "x = 1 +", "\tif", "def f(x, x): pass", "nonlocal x"):
        ran = run(source)
        assert ran.error in {"SyntaxError", "IndentationError", "TabError"}, (source, ran)


@pytest.mark.parametrize(
    ("source", "line", "columns"),
    [
        ("open('x')", 1, (1, 5)),
        ("é = 'ö€'; open('x')", 1, (11, 15)),
        ("'😀'; open('x')", 1, (6, 10)),
        ("# é\r\né = 1; open('x')", 2, (8, 12)),
        ("# é\f\v\x1c\u2028\né = 1; open('x')", 2, (8, 12)),  # none of these ends a line
    ],
)
def test_columns_count_characters(source, line, columns):
    """As SyntaxError and editors do; a syntax tree has them in bytes."""
    (finding,) = run(source).findings
    assert (finding["line"], finding["end_line"]) == (line, line)
    assert (finding["column"], finding["end_column"]) == columns


def test_warnings_count_characters_too() -> None:
    source = "x = 'é'\ntry:\n    y = 'é'; import socket\nexcept ImportError:\n    pass\n"
    assert run(source).warnings[0].startswith("3:14: BJ201")
    assert run(source + "import glob\n").warnings[0].startswith("3:14: BJ201")
