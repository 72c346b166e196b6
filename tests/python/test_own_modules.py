"""Modules among the files of a run or a cell."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from belljar import Sandbox, Session


@pytest.fixture(scope="module", params=["basic", "filesystem"])
def box(request: pytest.FixtureRequest) -> Iterator[Sandbox]:
    with Sandbox(profile=request.param) as box:
        yield box


@pytest.fixture
def session(box: Sandbox) -> Iterator[Session]:
    with box.session() as session:
        yield session


def test_of_a_run(box: Sandbox) -> None:
    files = {"helper.py": "x = 5\n", "pkg/__init__.py": "", "pkg/a.py": "from . import b\n"}
    files["pkg/b.py"] = "y = 6\n"
    ran = box.run("import helper, pkg.a\n(helper.x, pkg.a.b.y)", files=files)
    assert ran.value == (5, 6), ran.error
    # They are of that run only.
    assert box.run("import helper").status == "refused"


def test_of_a_cell(session: Session) -> None:
    assert session.run("import helper\nhelper.x", files={"helper.py": "x = 1\n"}).value == 1
    assert (
        session.run("import other, helper\nother.y + helper.x", files={"other.py": "y = 2"}).value
        == 3
    )
    # What has changed is imported again by reload(), as in Python.
    assert session.run("helper.x", files={"helper.py": "x = 9\n"}).value == 1
    assert session.run("import importlib\nimportlib.reload(helper).x").value == 9
    assert session.run("import nowhere").status == "refused"


def test_a_cell_imports_what_another_wrote() -> None:
    with Sandbox(profile="filesystem") as box, box.session() as session:
        session.run("open('written.py', 'w').write('z = 4')")
        assert session.run("import written\nwritten.z").value == 4
