"""Sources that are meant to break the compiler, the policy or the library's own compilers.

None of them is an escape; each would end the process if something recursed or folded without
bounds.
"""

from __future__ import annotations

import pytest

from tests.policy.harness import run

SOURCES = {
    "parentheses": "(" * 100_000,
    "parentheses that close": "x = " + "(" * 190 + "1" + ")" * 190,
    "brackets": "[" * 100_000,
    "mixed brackets": "([{" * 30_000,
    "unary operators": "x = " + "-" * 200_000 + "1",
    "not": "x = " + "not " * 50_000 + "1",
    "lambdas": "x = " + "lambda: " * 20_000 + "1",
    "conditional expressions": "x = " + "1 if 1 else " * 20_000 + "1",
    "attributes": "x" + ".a" * 100_000,
    "calls": "x" + "()" * 100_000,
    "subscripts": "x" + "[0]" * 100_000,
    "sums": "x = " + "1+" * 100_000 + "1",
    "powers": "x = " + "1**" * 20_000 + "1",
    "comparisons": "x = " + "1<" * 30_000 + "1",
    "await": "async def f(): " + "await " * 20_000 + "x",
    "stars": "f(" + "*" * 50_000 + "x)",
    "else-ifs": "if 0: pass\n" + "elif 0: pass\n" * 5_000,
    "blocks": "".join(" " * i + "if 1:\n" for i in range(95)) + " " * 95 + "pass",
    "loops in loops": "".join(" " * i + "for x in ():\n" for i in range(25)) + " " * 25 + "pass",
    "functions in functions": (
        "".join(" " * i + "def f():\n" for i in range(90)) + " " * 90 + "pass"
    ),
    "classes in classes": "".join(" " * i + "class C:\n" for i in range(90)) + " " * 90 + "pass",
    "patterns": "match 1:\n case " + "[" * 5_000 + "]" * 5_000 + ": pass",
    "or-patterns": "match 1:\n case " + "1|" * 20_000 + "1: pass",
    "f-strings in f-strings": "x = " + 'f"{' * 200 + "1" + '}"' * 200,
    "a format specification of specifications": "x = f'{1:" + "{1:" * 2_000 + "}" * 2_000 + "}'",
    "decorators": "@f\n" * 20_000 + "def g(): pass",
    "a power that would be folded": "x = lambda: 10 ** 10 ** 10",
    "a shift that would be folded": "x = lambda: 1 << 10 ** 10",
    "a product of text that would be folded": "x = lambda: 'x' * 10 ** 10",
    "a product of tuples that would be folded": "x = lambda: (1,) * 10 ** 10",
    "a format that would be folded": "x = lambda: '%1000000000d' % 1",
    "a number of a million digits": "x = " + "9" * 1_000_000,
    "a hexadecimal number of a million digits": "x = 0x" + "f" * 1_000_000,
    "names": "x = " + "a" * 1_000_000,
    "constants": "x = [" + "1.5," * 50_000 + "]",
    "arguments": "f(" + ",".join(f"a{i}=1" for i in range(5_000)) + ")",
    "parameters": "def f(" + ",".join(f"a{i}" for i in range(5_000)) + "): pass",
    "line continuations": "x = 1" + " \\\n" * 50_000,
    "tabs and blanks": "if 1:\n\tpass\n        pass",
    "private names": "x" + "._a" * 20_000,
    "stores of attributes": "x = y" + " = z.a" * 20_000,
    "a reference in annotations": "import typing\ntyping.List['" + "(" * 50_000 + "']",
    "a reference of operators": "import typing\ntyping.List['" + "-" * 100_000 + "1']",
    "a pattern of groups": "import re\nre.compile('(' * 5000 + ')' * 5000)",
    "json in json": "import json\njson.loads('[' * 100000)",
    "documents in documents": "import xml.etree.ElementTree as E\nE.XML('<a>' * 20000)",
    "a copy of a deep list": (
        "import copy\nx = []\nfor _ in range(100000): x = [x]\ncopy.deepcopy(x)"
    ),
    "the text of a deep list": "x = []\nfor _ in range(100000): x = [x]\nrepr(x)",
    "a deep tuple compared": "x = y = ()\nfor _ in range(90000): x, y = (x,), (y,)\nx == y",
}


@pytest.mark.uncontrolled("which of them end plain Python differs from version to version")
@pytest.mark.parametrize("name", SOURCES)
def test_the_process_lives(name: str) -> None:
    ran = run(SOURCES[name])
    assert ran.error not in {"Died", "HarnessError"}, (ran.signal, ran.message)
