"""Every function and class of every module is called: whatever it answers, it is the answer of the
library and not of a guard that the library ran into."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

import pytest

from tests.policy.harness import assert_runs

ROOT = Path(__file__).resolve().parents[2]
BASIC = tomllib.loads((ROOT / "profiles" / "basic.toml").read_text(encoding="utf-8"))["modules"]
MODULES = sorted(
    name
    for name, entry in BASIC.items()
    if name not in ("subprocess", "unittest.mock")  # for mocks only; run as the program's code
    and tuple(map(int, entry.get("since", "3.0").split("."))) <= sys.version_info
)

CALLS = """
import importlib
module = importlib.import_module(MODULE)
ARGUMENTS = [(), (None,), ("a",), (b"a",), (2,), ([1, 2],), ({"a": 1},), (int,), (len,),
             ("a", "b"), (len, [[1]]), (2, 3), ("a", 1, 2)]
# Says BJ201 for its own part; would end or block the program, or change what it goes on with.
LEFT_OUT = {"import_module", "_exit", "abort", "pause", "sigwait", "setrecursionlimit", "main"}
for name in dir(module):
    thing = getattr(module, name, None)
    if name[0] == "_" or name in LEFT_OUT or not callable(thing):
        continue
    for arguments in ARGUMENTS:
        try:
            made = thing(*arguments)
            if hasattr(made, "close") and not hasattr(made, "send"):
                made.close()
        except BaseException as error:
            text = f"{type(error).__name__}: {error}"
            if any(word in text for word in ("BJ004", "BJ201", "BJ403", "BJ404", "SystemError",
                                             "after freeze", "please report")):
                print(f"\\nfound {name}{arguments!r}: {text}")
print("\\ndone")
"""


@pytest.mark.parametrize("module", MODULES)
def test_no_guard_stands_in_the_librarys_way(module: str) -> None:
    ran = assert_runs(CALLS.replace("MODULE", repr(module)), stdin="", real_stdout=False)
    assert ran.stdout.splitlines()[-1:] == ["done"], ran
    assert [line for line in ran.stdout.splitlines() if line.startswith("found ")] == []
