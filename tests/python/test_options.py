"""The options of sandboxes, runs and sessions, which the package has in one table each."""

import asyncio
import inspect
import pydoc
from collections.abc import Callable
from typing import Any, get_args

import pytest
from belljar import AsyncSandbox, AsyncSession, Sandbox, Session
from belljar._functions import Ask
from belljar._requests import CellOptions, RunOptions, SandboxOptions, SessionOptions

from tests.machine import ROOT

RUN = {
    "timeout": None, "memory": None, "cpu": None, "output": None, "stdin": None, "args": (),
    "env": None, "filename": "main.py", "inputs": None, "functions": None, "files": None,
    "allowed_imports": None, "allowed_domains": None, "stream": None, "raise_on_error": False,
}  # fmt: skip
CELL = {name: default for name, default in RUN.items() if name != "memory"} | {
    "language": None,
    "filename": None,
}
SANDBOX = {
    "timeout": None, "memory": None, "cpu": None, "output": None, "isolation": "strict",
    "policy": "on", "language": "python", "allowed_imports": None, "allow_domains": (),
    "allow_private": (), "spares": None, "container": False, "packages": (),
    "package_index": None, "npm_registry": None, "package_hosts": (), "package_allow_private": (),
}  # fmt: skip
SESSION = {
    "timeout": None, "memory": None, "cpu": None, "output": None, "checkpoints": 16,
    "total_memory": None, "project": None, "wait": 60,
}  # fmt: skip

METHODS = [
    (Sandbox, SandboxOptions, SANDBOX),
    (AsyncSandbox, SandboxOptions, SANDBOX),
    (Sandbox.run, RunOptions, RUN),
    (Sandbox.run_many, RunOptions, RUN),
    (AsyncSandbox.run, RunOptions, RUN),
    (AsyncSandbox.run_many, RunOptions, RUN),
    (Session.run, CellOptions, CELL),
    (AsyncSession.run, CellOptions, CELL),
    (Sandbox.session, SessionOptions, SESSION),
    (AsyncSandbox.session, SessionOptions, SESSION),
]


@pytest.mark.parametrize(("method", "options", "defaults"), METHODS)
def test_each_is_shown_with_its_type_and_default(method, options, defaults):
    parameters = inspect.signature(method).parameters
    named = {
        name: each
        for name, each in parameters.items()
        if each.kind is inspect.Parameter.KEYWORD_ONLY and name != "concurrency"
    }
    assert {name: each.default for name, each in named.items()} == defaults
    assert {name: each.annotation for name, each in named.items()} == options.__annotations__
    assert all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    shown = pydoc.render_doc(method, renderer=pydoc.plaintext)
    for name, default in defaults.items():
        assert f"{name}: " in shown and f" = {default!r}" in shown


@pytest.mark.parametrize(
    ("method", "options"),
    [(Sandbox, SandboxOptions), (Sandbox.run, RunOptions), (Sandbox.session, SessionOptions)],
)
def test_each_is_explained(method, options):
    explained = inspect.getdoc(method).partition("Args:")[2].partition("Raises:")[0]
    names = {
        name.strip()
        for line in explained.splitlines()
        if line[:4].isspace() and not line[4:5].isspace()
        for name in line.partition(":")[0].split(",")
    }
    assert names - {"profile", "code"} == options.__annotations__.keys()
    page = (ROOT / "docs/python.md").read_text(encoding="utf-8")
    page += (ROOT / "docs/python-sessions.md").read_text(encoding="utf-8")
    assert all(f"`{name}`" in page for name in options.__annotations__)


def test_coroutine_functions_are_told_as_such():
    assert all(map(inspect.iscoroutinefunction, (AsyncSandbox.run, AsyncSession.run)))


@pytest.fixture
def box() -> Any:
    with Sandbox("basic", spares=1) as opened:
        yield opened


WRONG: list[tuple[str, Callable[[Sandbox], Any]]] = [
    ("Sandbox.__init__", lambda box: Sandbox("basic", timeot=5)),
    ("Sandbox.run", lambda box: box.run("1", timeot=5)),
    ("Sandbox.run_many", lambda box: box.run_many(["1"], timeot=5)),
    ("Sandbox.session", lambda box: box.session(timeot=5)),
    ("Session.run", lambda box: box.session().run("1", timeot=5)),
    ("AsyncSandbox.__init__", lambda box: AsyncSandbox("basic", timeot=5)),
    ("AsyncSandbox.run", lambda box: asyncio.run(AsyncSandbox("basic").run("1", timeot=5))),
    ("AsyncSandbox.run_many", lambda box: AsyncSandbox("basic").run_many(["1"], timeot=5)),
    ("AsyncSandbox.session", lambda box: AsyncSandbox("basic").session(timeot=5)),
    (
        "AsyncSession.run",
        lambda box: asyncio.run(AsyncSandbox("basic").session().run("1", timeot=5)),
    ),
]


@pytest.mark.parametrize(("name", "call"), WRONG, ids=[name for name, _ in WRONG])
def test_others_are_refused_as_python_refuses_them(box, name, call):
    with pytest.raises(TypeError) as raised:
        call(box)
    assert str(raised.value) == (
        f"{name}() got an unexpected keyword argument 'timeot'. Did you mean 'timeout'?"
    )


def test_options_of_others_are_refused(box):
    with pytest.raises(TypeError, match=r"^Sandbox.run\(\) got an unexpected keyword argument 'w"):
        box.run("1", wait=5)
    with pytest.raises(TypeError, match=r"argument 'memory'$"):
        box.session().run("1", memory=5)
    with pytest.raises(TypeError, match="unexpected keyword argument 'take'"):
        box.run("1", take=print)


def test_what_is_no_default_is_checked(box):
    for name in RUN.keys() - {"raise_on_error", "stdin"}:
        with pytest.raises((TypeError, ValueError), match=rf"^{name}\b"):
            box.run("1", **{name: 1.5 if name in ("memory", "output") else object()})
    for name, default in SANDBOX.items():
        if default is not None:
            with pytest.raises((TypeError, ValueError), match=rf"^{name}\b"):
                Sandbox("basic", **{name: None})


def test_types_are_evaluated():
    kinds = set(get_args(RunOptions.__annotations__["stdin"]))
    assert kinds == {str, bytes, Ask, type(None)}
