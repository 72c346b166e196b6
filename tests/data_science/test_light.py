"""Programs that name no other package than numpy and pandas run in a zygote that has loaded no
other, and nobody can tell. In the full language a program can see what is loaded."""

from __future__ import annotations

import time

import pytest

from tests.data_science.session import Session

IS_WHOLE = "import sys\nresult = 'sci' + 'py' in sys.modules\n"


@pytest.fixture(scope="module")
def light(jail: Session) -> Session:
    """Its light zygote is ready: after the whole one, before which a run gets one of its own, and
    which runs the first program."""
    deadline = time.monotonic() + 120
    for is_whole in (True, False):
        while jail.run(IS_WHOLE)["result"] is not is_whole:
            assert time.monotonic() < deadline, "the light zygote does not start"
            time.sleep(0.02)
    return jail


@pytest.mark.parametrize(
    ("source", "is_whole"),
    [
        ("1", False),
        ("import numpy as np, pandas as pd", False),
        ("import numpy.linalg", False),
        ("import scipy.stats", True),
        ("import pandas as pd  # matplotlib", True),
    ],
)
def test_what_a_program_names_decides(light: Session, source: str, is_whole: bool) -> None:
    assert light.run(f"{source}\n{IS_WHOLE}")["result"] is is_whole


def test_what_needs_more_is_started_over(light: Session) -> None:
    source = "import numpy\nprint('once')\nm = __import__('sci' + 'py')\n"
    found = light.run(source + IS_WHOLE)
    assert found["status"] == "ok", found
    assert found["result"] is True
    assert found["stdout"] == "once\n"


def test_a_figure_that_pandas_draws(light: Session) -> None:
    found = light.run("import pandas as pd\npd.DataFrame({'a': [1, 2]}).plot()\nNone")
    assert found["status"] == "ok", found
    assert [each["name"] for each in found["artifacts"]] == ["figure-1.png"]


def test_the_same_layers_hold(light: Session) -> None:
    here = light.run(IS_WHOLE)
    whole = light.run("# scipy\n" + IS_WHOLE)
    assert (here["result"], whole["result"]) == (False, True)
    assert here["isolation"] == whole["isolation"]
    assert here["limits"] == whole["limits"]


@pytest.mark.parametrize(
    "draw", ["import numpy as n\nn.random.random()", "import random\nrandom.random()",
             "import os\nos.urandom(8).hex()", "import ssl\nssl.RAND_bytes(8).hex()"],
)  # fmt: skip
def test_no_two_programs_share_a_random_number(light: Session, draw: str) -> None:
    drawn = [light.run(draw)["result"] for _ in range(12)]
    assert len(set(map(str, drawn))) == len(drawn)


def test_a_program_that_asks_for_more_in_vain_ends(light: Session) -> None:
    """It is started over once, whatever it does then."""
    found = light.run("import pandas\n__import__('sci' + 'pie')")
    assert found["status"] == "exception"
    assert found["error"]["type"] == "ModuleNotFoundError"
