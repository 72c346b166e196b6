"""Text that two readers read differently."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a cookie that names UTF-7": "# coding: utf-7\nimport os\nloot = os\n",
    "a cookie and a line that ends early for one reader": "# coding: latin-1\n#\rimport os\nloot = os\n",
    "a form feed before an import": "\x0cimport os\nloot = os\n",
    "a carriage return ends a comment": "# harmless \rimport os\nloot = os\n",
    "a line separator inside a string": "x = 'a\u2028'; import os\nloot = os\n",
    "a backslash joins an attribute": "import textwrap\nloot = textwrap.dedent.\\\n__globals__\n",
    "a vertical tab in a string, then a name": "x = '\x0b'; loot = (lambda: 0).__globals__\n",
    "parentheses over lines": "import textwrap\nloot = (textwrap\n .dedent\n # comment\n .__globals__)\n",
    "semicolons": "import textwrap;f=textwrap.dedent;loot=f.__globals__\n",
    "an escape of letters in a string": "import textwrap\nloot = getattr(textwrap.dedent, '\\x5f\\u005fglobals\\N{LOW LINE}_')\n",
    "text after a nul that one reader ignores": "x = '\\0'; import os\nloot = os\n",
    "right-to-left marks in a comment": "loot = None # \u202e\rimport os\nloot = os\n",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
