"""What programs come to, whichever way they go in: as data.

A case is a program, what it is asked for with, and parts of its outcome as `belljar run --json` has
them. Asked: `timeout` (seconds), `memory` (text), `stdin` (text), `args` (list), `env` (dict),
`allowed_imports`. Wanted: keys of the outcome; "error.type" and its like look into one; a set holds
what it may be.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tests.clocks import UNTIL_KILLED


@dataclass(frozen=True)
class Case:
    code: str
    wanted: dict[str, Any]
    asked: dict[str, Any] = field(default_factory=dict)


def found(outcome: dict[str, Any], key: str) -> Any:
    """What `key` of a case's stands for."""
    value: Any = outcome
    for part in key.split("."):
        value = value[int(part) if isinstance(value, list) else part]
    return value


def differences(case: Case, outcome: dict[str, Any]) -> dict[str, Any]:
    """What is not as it should be: empty for a good outcome."""
    return {
        key: got
        for key, wanted in case.wanted.items()
        if (got := found(outcome, key)) != wanted
        and not (isinstance(wanted, set) and got in wanted)
    }


CASES = {
    "value": Case("6 * 7", {"status": "ok", "success": True, "result": 42, "result_repr": "42"}),
    "variable": Case(
        "result = {'a': [1, None, 'ü']}",
        {"status": "ok", "result": {"a": [1, None, "ü"]}},
    ),
    "not plain data": Case("object", {"result": None, "result_repr": "<class 'object'>"}),
    "output": Case(
        "import sys\nprint('out', 1)\nprint('err', file=sys.stderr)",
        {"stdout": "out 1\n", "stderr": "err\n", "result": None},
    ),
    "variables": Case("a = 1\ndef f(): pass", {"variables": ["a", "f"]}),
    "variables with finalizers": Case(
        "class A:\n    def __del__(self): print('gone')\na = A()\nb = 1",
        {"variables": ["A", "a", "b"], "stdout": "gone\n"},
    ),
    "a result with a finalizer": Case(
        "class A:\n    def __repr__(self): return 'A()'\n    def __del__(self): print('gone')\n"
        "result = A()",
        {"result_repr": "A()", "stdout": ""},
    ),
    "a thread that outlives the program": Case(
        "import threading, time\n"
        # sleeps: longer than the program takes
        "def late():\n    global done\n    time.sleep(0.01)\n    done = True\n    print('late')\n"
        "threading.Thread(target=late).start()",
        {"stdout": "late\n"},
    ),
    "exit": Case("import sys\nsys.exit(3)", {"status": "exception", "exit_code": 3}),
    "a long result": Case("'x' * 200_000", {"status": "ok", "result": "x" * 200_000}),
    "undecodable": Case("'ä'.encode('latin-1').hex()", {"status": "ok", "result": "e4"}),
    "asynchronous": Case(
        "import asyncio\nasync def f():\n  await asyncio.sleep(0)\n  return 5\nasyncio.run(f())",
        {"result": 5},
    ),
    "exception": Case(
        "def f(x):\n    return 1 / x\nprint('before')\nf(0)",
        {
            "status": "exception",
            "success": False,
            "stdout": "before\n",
            "error.type": "ZeroDivisionError",
            "error.message": "division by zero",
            "error.line": 2,
        },
    ),
    "syntax error": Case(
        "print(1)\nif True\n    pass",
        {"status": "exception", "error.type": "SyntaxError", "error.line": 2},
    ),
    "refused": Case(
        "import glob\nprint('never')",
        {"status": "refused", "stdout": "", "findings.0.rule": "BJ201", "findings.0.line": 1},
    ),
    "fewer modules": Case(
        "import math\nmath.floor(2.5)", {"result": 2}, {"allowed_imports": ["math"]}
    ),
    "none of these modules": Case(
        "import json", {"status": "refused"}, {"allowed_imports": ["math"]}
    ),
    "standard input": Case(
        "[input() for _ in range(2)]", {"result": ["Ada", "über"]}, {"stdin": "Ada\nüber\n"}
    ),
    "no standard input": Case("input()", {"error.type": "EOFError"}),
    "the clock": Case(
        "print('here', flush=True)\n" + UNTIL_KILLED,
        {"status": "timeout", "stdout": "here\n", "limits.timeout": 1},
        {"timeout": 1},
    ),
    "a loop": Case("while True: pass", {"status": {"timeout", "cpu_limit"}}, {"timeout": 0.5}),
    "memory": Case(
        "x = []\nwhile True: x.append('y' * 100_000)",
        {"status": "memory_limit", "limits.memory_bytes": 64 << 20},
        {"memory": "64m"},
    ),
    "memory enough": Case("len(bytearray(40 << 20))", {"result": 40 << 20}, {"memory": "64m"}),
    "output over the limit": Case(
        "for _ in range(300): print('z' * 9_999)",
        {"status": "ok", "truncated.stdout": 3_000_000 - (1 << 20)},
    ),
    "arguments": Case(
        "import sys\nsys.argv[1:]",
        {"result": ["x y", "--n", "ü", ""]},
        {"args": ["x y", "--n", "ü", ""]},
    ),
    "no arguments": Case("import sys\nlen(sys.argv)", {"result": 1}),
    "environment": Case(
        "import os\n[os.environ['MODE'], os.getenv('EMPTY'), os.getenv('PATH'), len(os.environ)]",
        {"result": ["a=b ü", "", None, 2]},
        {"env": {"MODE": "a=b ü", "EMPTY": ""}},
    ),
    "no environment": Case("import os\ndict(os.environ)", {"result": {}}),
    "its own name": Case("__file__", {"status": "ok"}),
    "await at the top level": Case(
        "import asyncio\nasync def f(x):\n  await asyncio.sleep(0)\n  return x\n"
        "a = await f(1)\n[a, *[await f(i) for i in range(2)]]",
        {"status": "ok", "result": [1, 0, 1]},
    ),
    "streams of its own": Case(
        "import io, sys\nsys.stdin, sys.stdout = io.StringIO('4\\n'), io.StringIO()\n"
        "print(input())\ntext, sys.stdout = sys.stdout.getvalue(), sys.__stdout__\n"
        "print('x')\ntext",
        {"result": "4\n", "stdout": "x\n"},
    ),
    "streams by number": Case(
        "import os\nos.write(1, b'out')\n[open(0).readline(), os.read(0, 9).decode()]",
        {"result": ["a\n", ""], "stdout": "out"},
        {"stdin": "a\nb"},
    ),
    "deep recursion": Case(
        "import sys\nsys.setrecursionlimit(10**6)\ndef f(n): return n and 1 + f(n - 1)\n"
        "[sys.getrecursionlimit(), f(300_000)]",
        {"status": "ok", "result": [10**6, 300_000]},
    ),
    "recursion too deep": Case(
        "import sys\nsys.setrecursionlimit(150_000)\ndef f(): f()\nf()",
        {"error.type": "RecursionError"},
    ),
    "recursion through C": Case(
        "import sys\nsys.setrecursionlimit(10**6)\n"
        "class A:\n  def __add__(self, n): return n and 1 + (self + (n - 1))\nA() + 90_000",
        {"status": "ok", "result": 90_000},
    ),
    "recursion": Case("def f(): f()\nf()", {"error.type": "RecursionError"}),
}
