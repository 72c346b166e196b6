"""Programs that name no other package than numpy and pandas run in a zygote that has loaded no
other, and nobody can tell. With the policy off a program can see what is loaded."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.clocks import until
from tests.data_science.session import Session

IS_COMPLETE = "import sys\nresult = 'sci' + 'py' in sys.modules\n"


@pytest.fixture(scope="module")
def light(build: Path, packages: Path) -> Iterator[Session]:
    """Its light zygote is ready. Before the complete one is, a run gets a zygote of its own, and
    the complete one runs the first program; so no other test may have run one."""
    session = Session(build / "belljar", "--profile", "data-science", "--policy", "off")
    for is_complete in (True, False):
        until(lambda: session.run(IS_COMPLETE)["result"] is is_complete, "the light zygote")  # noqa: B023
    yield session
    session.close()


@pytest.mark.parametrize(
    ("source", "is_complete"),
    [
        ("1", False),
        ("import numpy as np, pandas as pd", False),
        ("import numpy.linalg", False),
        ("import scipy.stats", True),
        ("import pandas as pd  # matplotlib", True),
    ],
)
def test_what_a_program_names_decides(light: Session, source: str, is_complete: bool) -> None:
    assert light.run(f"{source}\n{IS_COMPLETE}")["result"] is is_complete


def test_what_needs_more_is_started_over(light: Session) -> None:
    source = "import numpy\nprint('once')\nm = __import__('sci' + 'py')\n"
    found = light.run(source + IS_COMPLETE)
    assert found["status"] == "ok", found
    assert found["result"] is True
    assert found["stdout"] == "once\n"


def test_a_figure_that_pandas_draws(light: Session) -> None:
    found = light.run("import pandas as pd\npd.DataFrame({'a': [1, 2]}).plot()\nNone")
    assert found["status"] == "ok", found
    assert [each["name"] for each in found["artifacts"]] == ["figure-1.png"]


def test_the_same_layers_hold(light: Session) -> None:
    here = light.run(IS_COMPLETE)
    complete = light.run("# scipy\n" + IS_COMPLETE)
    assert (here["result"], complete["result"]) == (False, True)
    assert here["isolation"] == complete["isolation"]
    assert here["limits"] == complete["limits"]


@pytest.mark.parametrize(
    ("draw", "is_there"),
    [
        ("numpy.random.random()", True),
        ("random.random()", True),
        ("os.urandom(8).hex()", True),
        ("ssl.RAND_bytes(8).hex()", False),  # its native code is only in the complete one
    ],
)
def test_no_two_programs_share_a_random_number(light: Session, draw: str, is_there: bool) -> None:
    source = f"import {draw.partition('.')[0]}\ndrawn = {draw}\n{IS_COMPLETE}drawn, result"
    drawn, is_complete = zip(*(light.run(source)["result"] for _ in range(12)), strict=True)
    assert set(is_complete) == {not is_there}
    assert len(set(drawn)) == len(drawn)


def test_a_program_that_asks_for_more_in_vain_ends(light: Session) -> None:
    """It is started over once, whatever it does then."""
    found = light.run("import pandas\n__import__('sci' + 'pie')")
    assert found["status"] == "exception"
    assert found["error"]["type"] == "ModuleNotFoundError"
