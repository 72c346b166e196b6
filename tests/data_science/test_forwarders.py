"""A search for library objects that pass attributes of a real module on.

A program calls every exported callable of the profile's modules with a module, in each of the
shapes below, and asks the results for a name of that module. In plain Python it finds those that
forward; in the sandbox it must find none.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.policy import harness
from tools.profile_document import read_profile

pytestmark = pytest.mark.usefixtures("policy")

ROOT = Path(__file__).resolve().parents[2]
MODULES = list(read_profile(ROOT / "profiles" / "data-science.toml")["modules"])

SEARCH = r"""
import contextlib
import importlib
import io
import typing
import warnings
import plotly.graph_objects as go

warnings.simplefilter("ignore")
held = go.Layout.re
NAME = "purge"  # a function of the module, and of nothing else
WORDS = ("wraps", "obj", "name", "spec", "target", "object", "module", "namespace", "origin")
LEFT_OUT = {  # they wait, or write files by C++
    "breakpoint", "exit", "ginput", "input", "mmwrite", "pause", "quit", "sleep",
    "waitforbuttonpress",
}
found = set()
sink = io.StringIO()

def is_of_module(value):
    if type(value).__name__ == "module":
        return value is not held and repr(value).startswith("<module 're.")
    return type(value).__name__ == "function" and repr(value).startswith("<function purge ")

def shapes(make):
    for given in (
        (held,), (held, NAME), (NAME, held), (held, held), (held, held, held), (held, (int,)),
        (held, (int,), (int,)), ([held],), ({NAME: held},), (len, held), (held, 2), (2, held),
        (held, len, len), (held, [], {}),
    ):
        yield lambda: make(*given)
    yield lambda: make(held, (int,), name="List")
    for word in WORDS:
        yield lambda: make(**{word: held})
        yield lambda: make(held, **{word: NAME})

def uses(made):
    yield lambda: made
    yield lambda: getattr(made, NAME)
    yield lambda: made.purge
    yield lambda: made.enum
    yield lambda: made[NAME]
    yield lambda: made(NAME)
    yield lambda: made.get(NAME)
    if not holds(made):
        return
    for name in dir(made):
        if name.startswith("_"):
            continue
        yield lambda: getattr(made, name)
        for given in ((), (NAME,), (held,), (held, NAME), (NAME, held)):
            yield lambda: getattr(made, name)(*given)

def holds(made):
    try:
        return any(value is held for value in vars(made).values())
    except Exception:
        return False

def result_of(call):
    try:
        with contextlib.redirect_stdout(sink), contextlib.redirect_stderr(sink):
            return call()
    except BaseException:
        return None

def search(label, make):
    for shape in shapes(make):
        made = result_of(shape)
        if made is None or made is held or isinstance(made, (str, bytes, int, float)):
            continue
        if any(is_of_module(result_of(use)) for use in uses(made)):
            found.add(label)

def callables():
    for name in NAMES:
        module = result_of(lambda: importlib.import_module(name))
        for attribute in () if module is None else dir(module):
            value = getattr(module, attribute, None)
            if attribute[0] != "_" and attribute not in LEFT_OUT and callable(value):
                yield f"{name}.{attribute}", value
    for text in ("List[int]", "Union[int, str]", "Literal[1]", "Annotated[int, 1]", "Callable"):
        yield text, type(eval(f"typing.{text}"))
    yield "list[int]", type(list[int])

calls = 0
for label, make in callables():
    calls += 1
    search(label, make)
print(calls, *sorted(found), sep="\n")
"""


def _source(names: list[str]) -> str:
    return f"NAMES = {names!r}\n{SEARCH}"


def test_the_search_finds_what_forwards() -> None:
    source = _source(["functools", "sklearn.calibration", "weakref"])
    ran = harness.run_plain(source, kind="plain:data-science")
    assert ran.error is None, ran.traceback
    found = set(ran.stdout.splitlines())
    assert found >= {
        "List[int]", "list[int]", "sklearn.calibration.FrozenEstimator", "weakref.proxy",
    }, found  # fmt: skip


PART = 24


@pytest.mark.parametrize("first", range(0, len(MODULES), PART))
def test_no_library_object_forwards(first: int) -> None:
    ran = harness.run(_source(MODULES[first : first + PART]), kind="restricted:data-science")
    assert not ran.findings, ran.findings
    assert ran.error is None, (ran.error, ran.signal, ran.traceback)
    calls, *found = ran.stdout.splitlines()
    assert int(calls) > 5
    assert found == []
