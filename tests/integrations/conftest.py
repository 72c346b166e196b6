"""Tests of the integrations run in the environment that has the libraries,
build/venv-integrations, by a pytest of its own: here each of them stands for what came of it there.
"""

import ast
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.machine import need_files

ROOT = Path(__file__).parents[2]
BUILD = Path(os.environ.get("BELLJAR_BUILD", ROOT / "build/release")).resolve()
PACKAGE = BUILD / "python"
# Files whose libraries do not agree with others on versions.
OWN = {
    "test_adapters_page.py": "adapters",
    "test_harbor.py": "harbor",
    "test_inspect_ai.py": "adapters",
    "test_swerex.py": "adapters",
}
IMPORTED = "test_that_are_imported"
IS_THERE = os.environ.get("BELLJAR_BRIDGES") == "1"


def pytest_pycollect_makemodule(module_path, parent):
    return None if IS_THERE else Elsewhere.from_parent(parent, path=module_path)


class Elsewhere(pytest.File):
    """A file of tests. Those that are chosen here run there, once, when the first is asked for."""

    _cases: dict[str, list[ElementTree.Element]] | None = None
    output = ""

    def collect(self) -> Iterator[pytest.Item]:
        body = ast.parse(self.path.read_bytes()).body
        kinds = ast.FunctionDef | ast.AsyncFunctionDef
        names = [node.name for node in body if isinstance(node, kinds)]
        self.own = [name for name in names if name.startswith("test_")]
        for name in self.own:
            yield Test.from_parent(self, name=name)
        imports = [node for node in body if isinstance(node, ast.ImportFrom)]
        if any(name.name == "*" for node in imports for name in node.names):
            yield Test.from_parent(self, name=IMPORTED)

    @property
    def python(self) -> Path:
        return BUILD.parent / f"venv-{OWN.get(self.path.name, 'integrations')}/bin/python"

    def cases(self, name: str) -> list[ElementTree.Element]:
        if self._cases is None:
            self._cases = {}
            with tempfile.TemporaryDirectory() as folder:
                self._run(Path(folder) / "report.xml")
        if name == IMPORTED:
            others = self._cases.keys() - set(self.own)
            return [case for each in others for case in self._cases[each]]
        return self._cases.get(name, [])

    def _chosen(self) -> list[str | Path]:
        names = [item.name for item in self.session.items if item.parent is self]
        if IMPORTED in names or len(names) == len(self.own):
            return [self.path]
        return [f"{self.path}::{name}" for name in names]

    def _run(self, report: Path) -> None:
        # No plugins but these: some libraries bring one that takes long to load.
        plugins = ["-p", "pytest_timeout", "-p", "pytester", "-p", "no:cacheprovider"]
        if OWN.get(self.path.name) == "adapters":
            plugins += ["-p", "anyio"]
        environment = {
            "BELLJAR_BRIDGES": "1",
            "PYTHONPATH": str(PACKAGE),
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
        }
        done = subprocess.run(
            [self.python, "-m", "pytest", *plugins, "--junitxml", report, *self._chosen()],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=560,
        )
        self.output = done.stdout
        if report.exists():
            for case in ElementTree.parse(report).iter("testcase"):
                self._cases.setdefault(case.get("name", "").partition("[")[0], []).append(case)


class FailedThere(Exception):
    pass


class Test(pytest.Item):
    def __init__(self, **options) -> None:
        super().__init__(**options)
        self.add_marker(pytest.mark.timeout(600))

    def runtest(self) -> None:
        if self.parent.path.name == "test_harbor.py" and sys.version_info < (3, 12):
            pytest.skip("Harbor needs Python 3.12: ./dev test other tries it with one")
        need_files(self.parent.python, PACKAGE / "belljar")
        cases = self.parent.cases(self.name)
        if not cases:
            raise FailedThere(f"it did not run there\n{self.parent.output}")
        for case in cases:
            for what in case:
                if what.tag in ("failure", "error"):
                    raise FailedThere(what.text)
                if what.tag == "skipped" and what.get("type") != "pytest.xfail":
                    pytest.skip(what.get("message", ""))

    def repr_failure(self, excinfo, style=None):
        if isinstance(excinfo.value, FailedThere):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self):
        return self.path, None, self.name


@pytest.fixture(scope="session")
def secret(tmp_path_factory) -> Path:
    """A file of the host's that no program may read."""
    path = tmp_path_factory.mktemp("host") / "secret.txt"
    path.write_text("the host's own")
    return path


@pytest.fixture(scope="session")
def box():
    from belljar import Sandbox

    with Sandbox() as sandbox:
        sandbox.wait_until_ready(60)
        yield sandbox


@pytest.fixture(scope="session")
def full():
    """Without the language policy: only the kernel's layers hold."""
    from belljar import Sandbox

    with Sandbox(policy="off") as sandbox:
        yield sandbox
