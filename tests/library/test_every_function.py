"""Every function and class of every module is called: whatever it answers, it is the answer of the
library and not of a guard that the library ran into."""

from __future__ import annotations

import pytest

from tests.policy.harness import EXPORTING, assert_runs

# Runs as the program's code.
MODULES = [each for each in EXPORTING if each[1] != "unittest.mock"]

CALLS = """
import importlib
module = importlib.import_module(MODULE)
a, b = PLACE + "a", PLACE + "b"
ARGUMENTS = [(), (None,), (a,), (a.encode(),), (2,), ([1, 2],), ({"a": 1},), (int,), (len,),
             (a, b), (len, [[1]]), (2, 3), (a, 1, 2)]
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


@pytest.mark.parametrize(("kind", "module"), MODULES)
def test_no_guard_stands_in_the_librarys_way(kind: str, module: str) -> None:
    place = "" if kind == "restricted" else "/nonexistent/"  # no file is made
    source = CALLS.replace("MODULE", repr(module)).replace("PLACE", repr(place))
    ran = assert_runs(source, stdin="", kind=kind)
    assert ran.stdout.splitlines()[-1:] == ["done"], ran
    assert [line for line in ran.stdout.splitlines() if line.startswith("found ")] == []
