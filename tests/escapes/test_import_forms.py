"""Every way to write an import, and C code that imports for its caller."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a plain import": "import os\nloot = os",
    "a renamed import": "import os as math\nloot = math",
    "a dotted import binds the top": "import os.path\nloot = os",
    "a name from a module": "from os import system as loot",
    "a module by way of another": "from xml.etree.ElementTree import sys as loot",
    "a star": "from os import *\nloot = system",
    "a relative import": """
        __package__ = 'xml.etree'
        from . import ElementTree as loot
        """,
    "a submodule that was loaded by others": "from json import decoder\nfrom json import scanner as loot",
    "a submodule through its parent's attribute": "import xml.etree.ElementTree\nloot = xml.etree",
    "a private name from a module": "from random import _os as loot",
    "__import__ by its name": "loot = __import__('os')",
    "__import__ from the builtins module": "from builtins import __import__ as find\nloot = find('os')",
    "the builtins module": "import builtins\nloot = builtins",
    "the program's own module": "import __main__ as loot",
    "sys.modules": "import sys\nloot = sys.modules['os']",
    "sys.modules by getattr": "import sys\nloot = getattr(sys, 'mod' + 'ules')['os']",
    "sys's frame": "import sys\nloot = sys._getframe()",
    "the importer's import_module": "from importlib import import_module\nloot = import_module('os')",
    "a list of names, as C code gives it": """
        loot = __import__('posix', None, None, ['system'], 0)
        """,
    "codecs import modules by name": """
        import codecs
        loot = codecs.builtins
        """,
    "an import inside a try that expects to fail": """
        try: import os
        except ImportError: os = None
        loot = os
        """,
    "an import inside a class": """
        class C: import posix as module
        loot = C.module
        """,
    "an import bound by global": """
        def f():
            global loot
            import os as loot
        f()
        """,
    "an import in a function named as a builtin": """
        def f():
            import os as len
            return len
        loot = f()
        """,
    "a module that C code imports under one's frame": """
        import datetime
        datetime.datetime.strptime('2020', '%Y')
        import _strptime as loot
        """,
    "a full-width name of a module": "import ｏｓ\nloot = os",
    "a lookup in the library's loader": """
        import importlib.util
        loot = importlib.util.find_spec('os').loader.load_module.__func__.__globals__
        """,
    "a decoder named by its module": """
        import zipimport as loot
        """,
    "statistics.sys": "import statistics\nloot = statistics.sys",
    "re.enum.bltns": "import re\nloot = re.enum.bltns",
    "uuid.os": "import uuid\nloot = uuid.os",
    "json.codecs.builtins": "import json\nloot = json.codecs.builtins",
    "from xml import a loaded submodule": """
        import xml.etree.ElementTree
        from xml.etree import ElementPath as loot
        """,
    "importlib": "import importlib\nloot = importlib.import_module('os')",
    "ImportError by a C caller's list": """
        loot = __import__('os', globals(), locals(), ['x'], 0)
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
