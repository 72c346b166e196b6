"""The examples of docstrings, docs/python.md and docs/python-sessions.md do what they show."""

from __future__ import annotations

import doctest
import importlib
import re
from pathlib import Path
from types import ModuleType

import belljar
import pytest

ROOT = Path(__file__).parents[2]
NAMES = sorted(path.stem for path in (ROOT / "python/belljar").glob("*.py"))
PAGE = "".join((ROOT / f"docs/{name}.md").read_text() for name in ("python", "python-sessions"))
# Imported on first use, so they are not in vars(belljar).
PUBLIC = {name: getattr(belljar, name) for name in belljar.__all__}
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.M | re.S)


def module(name: str) -> ModuleType:
    return importlib.import_module("belljar" if name == "__init__" else f"belljar.{name}")


@pytest.mark.parametrize("name", NAMES)
def test_docstrings(name: str) -> None:
    try:
        found = module(name)
    except ImportError as error:
        pytest.skip(f"an integration, whose library is not here: {error}")
    names = {**PUBLIC, **vars(found)}
    assert doctest.testmod(found, extraglobs=names).failed == 0


def test_every_public_method_has_an_example() -> None:
    for kind in (belljar.Sandbox, belljar.AsyncSandbox, belljar.GuestFailed):
        assert ">>>" in (kind.__doc__ or ""), kind
    for method in ("run", "run_many", "validate", "info"):
        assert ">>>" in (getattr(belljar.Sandbox, method).__doc__ or ""), method


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_the_page(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = dict(PUBLIC)
    block = BLOCKS[number]
    if ">>>" not in block:
        exec(compile(block, f"docs/python.md, example {number}", "exec"), names)
        return
    test = doctest.DocTestParser().get_doctest(block, names, f"example {number}", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 6
