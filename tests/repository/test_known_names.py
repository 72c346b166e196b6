"""The names of exceptions that the server's log may have (engine/host/known_names.cc) are CPython's
and ours, and nothing else."""

import builtins
import re
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "engine/host/known_names.cc"
OURS = {"PolicyError", "Timeout", "CpuLimit", "MemoryLimit", "Killed", "Cancelled"}
LATER = {"PythonFinalizationError"}  # since 3.13


def test_they_are_those_of_cpython_and_ours():
    listed = SOURCE.read_text().split("kErrorTypes[]", 1)[1].split("};", 1)[0]
    names = re.findall(r'"(\w+)"', listed)
    public = {
        each.__name__
        for name, each in vars(builtins).items()
        if isinstance(each, type) and issubclass(each, BaseException) and not name.startswith("_")
    }
    assert names == sorted(set(names))
    assert set(names) == public | OURS | LATER
