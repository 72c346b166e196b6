"""import: forms that run, that ask, and that are refused."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import sys

from tests.language.cases import raises, refused, runs
from tests.policy.harness import assert_identical, check_attack, run

CONSTRUCTS = (
    "import", "optional-import", "type-checking-import", "star-import", "relative-import",
    "lazy-import",
)  # fmt: skip

test_runs = runs({
    "forms": """
        import math, collections.abc as abc, json as _json
        import collections.abc
        from json import dumps as d, loads
        from collections import (OrderedDict, deque as dq,)
        from xml.etree import ElementTree as ET
        import xml.etree.ElementTree
        print(math.pi, abc.Sized.__name__, _json.dumps([1]), collections.abc.Mapping.__name__, d({}))
        print(loads('2'), OrderedDict(a=1), dq([1]), ET is xml.etree.ElementTree)
        """,
    "wherever a statement may stand": """
        def f():
            import math
            from math import floor as g
            class K: from math import ceil
            return math.floor(2.5), g(1.5), K.ceil(0.5)
        class A:
            import math as _m
            def h(self): return self._m.sqrt(4)
        if True: import string
        for _ in [1]: import textwrap
        def k():
            global random
            import random
        k()
        print(f(), A().h(), string.digits, textwrap.__name__, random.__name__)
        """,
    "the same module twice": "import math\nimport math as m\nfrom math import pi\nprint(m is math, m.pi is pi)",
    "a name of one's own": "import math\nmath = 5\nprint(math)\nfrom math import pi as len\nprint(len)",
    "a star": """
        from math import *
        from collections import *
        from string import *
        if True:
            from heapq import *
        try: from json import *
        except ImportError: print('never')
        print(floor(pi), sqrt(2), pow(2, 3), Counter('aab'), digits, heappop([1]), dumps([1]))
        print(hypot(3, 4), len([name for name in dir() if name == 'abc']))
        """,
    "a star binds what stands in __all__": """
        from textwrap import *
        from bisect import *
        print(dedent('  a'), bisect_left([1, 2], 2))
        from functools import *
        from itertools import *
        print(reduce(lambda a, b: a * b, range(1, 5)), list(chain('a', 'b')))
        from datetime import *
        print(date(2024, 1, 2).isoformat())
        """,
    "a star hides what was bound before, and is hidden after": """
        pi = 'mine'
        from math import *
        print(round(pi, 3))
        from operator import *
        print(pow(2, 5), sub(3, 1))
        e = 'mine'
        print(e)
        """,
    "asking": """
        try: import no_such_module as fast
        except ImportError: fast = None
        try:
            from no_such_package.part import thing
        except ModuleNotFoundError as e: print(type(e).__name__)
        try: from math import no_such_name
        except (ImportError, ValueError) as e: print(type(e).__name__)
        else: print('never')
        try: import no_such_module
        except: print('bare')
        print(fast)
        """,
    "for the type checker": """
        import typing
        from typing import TYPE_CHECKING
        if TYPE_CHECKING:
            import no_such_module
            from no_such_module import T
        else: T = int
        if typing.TYPE_CHECKING: from pandas import DataFrame
        def f(x: 'DataFrame') -> 'no_such_module.X': return T(x)
        print(f('3'), TYPE_CHECKING)
        """,
})  # fmt: skip

test_raises = raises([
    ("SyntaxError", "import math.pi as"),
    ("SyntaxError", "from math import"),
    ("SyntaxError", "import a b"),
    ("SyntaxError", "from math import (pi, )e"),
])  # fmt: skip

test_refused = refused([
    ("BJ201", 1, 1, "import glob"),
    ("BJ201", 2, 3, "if x:\n  import glob.path as p"),
    ("BJ201", 1, 1, "import math, glob"),
    ("BJ201", 1, 1, "from glob import path"),
    ("BJ202", 1, 1, "from math import pi, no_such_name"),
    ("BJ203", 2, 5, "def f():\n    from math import *"),
    ("BJ203", 2, 5, "class A:\n    from math import *"),
    # 3.14 finds it when it parses.
    *([("BJ203", 1, 1, "from __future__ import *")] if sys.version_info < (3, 14) else []),
    ("BJ201", 1, 1, "from glob import *"),
    ("BJ204", 1, 1, "from . import *"),
    ("BJ204", 1, 1, "from . import x"),
    ("BJ204", 2, 3, "def f():\n  from ..a import x"),
    ("BJ101", 1, 8, "import math as __builtins__"),
    ("BJ101", 1, 22, "from math import pi, e as __import__"),
    ("BJ201", 2, 3, "try:\n  import glob\nexcept ValueError: pass"),
    ("BJ201", 3, 3, "if TYPE_CHECKING: pass\nelse:\n  import glob"),
    ("BJ201", 3, 9, "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n  if 1: import glob"),
])  # fmt: skip


def test_what_may_be_missing_is_a_warning() -> None:
    for source in (
        "try: import numpy\nexcept ImportError: numpy = None",
        "try: import numpy\nexcept* ImportError: numpy = None",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING: from numpy import array",
    ):
        ran = run(source)
        assert not ran.findings and ran.error is None, (source, ran)
        assert [warning for warning in ran.warnings if "BJ201" in warning], source


def test_a_program_that_sets_type_checking_gains_nothing() -> None:
    ran = check_attack("TYPE_CHECKING = True\nif TYPE_CHECKING: import glob\nloot = glob")
    assert ran.error == "ModuleNotFoundError"


def test_lazy_imports() -> None:
    if sys.version_info < (3, 15):
        assert assert_identical("lazy import math").error == "SyntaxError"
    else:
        assert run("lazy import math").rules == ["BJ206"]
