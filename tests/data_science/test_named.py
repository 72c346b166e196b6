"""`belljar run` loads the packages that a program names: each alone is as it is among all others,
and one that a program does not name is there too."""

from __future__ import annotations

import functools
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.machine import need_root

EVERYTHING = (
    "# PIL bs4 cycler dateutil faker joblib lxml matplotlib mpl_toolkits numpy openpyxl pandas "
    "plotly pytz regex scipy seaborn sklearn sortedcontainers statsmodels sympy tabulate tqdm\n"
)


@pytest.fixture(scope="module")
def run(build: Path, packages: Path):
    def run_program(source: str, *options: str, profile="data-science") -> dict[str, Any]:
        done = subprocess.run(
            [build / "belljar", "run", "--json", "--profile", profile, *options, "-"],
            input=source,
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.stdout, done.stderr
        return json.loads(done.stdout)

    return run_program


PACKAGES = [
    "numpy", "pandas", "scipy.stats", "matplotlib.pyplot", "seaborn", "sklearn.linear_model",
    "statsmodels.api", "plotly.express", "sympy", "PIL.Image", "dateutil.parser", "pytz",
    "lxml.etree", "openpyxl", "sortedcontainers", "tabulate",
]  # fmt: skip


@pytest.fixture(scope="module")
def alone(run) -> Callable[[str], dict[str, Any]]:
    """What a package is, in a run of its own: one for all tests of it."""

    @functools.cache
    def alone(package: str) -> dict[str, Any]:
        source = f"import {package} as m\nsorted(dir(m)), str(m.__doc__)"
        return run(source, profile="data-science+filesystem")

    return alone


@pytest.mark.parametrize("package", PACKAGES)
def test_a_zygote_creates_nothing_before_it_is_sealed(alone, package: str) -> None:
    """The zygote imports packages while it still sees the machine's files: matplotlib would make
    folders for its settings and its list of fonts, here in the HOME of the profile filesystem."""
    need_root("could create the folder")
    home = Path("/workspace")
    assert not home.exists()
    assert alone(package)["status"] == "ok"
    assert not home.exists()


@pytest.fixture(scope="module")
def among_all_others(run) -> dict[str, Any]:
    """What each package is, all in one run."""
    lines = [
        f"import {each} as m\nfound[{each!r}] = sorted(dir(m)), str(m.__doc__)" for each in PACKAGES
    ]
    source = EVERYTHING + "found = {}\n" + "\n".join(lines) + "\nfound"
    done = run(source, profile="data-science+filesystem")
    assert done["status"] == "ok", done
    return done["result"]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_package_alone_is_as_among_all_others(alone, among_all_others, package: str) -> None:
    found = alone(package)
    assert found["status"] == "ok", found
    assert found["result"] == among_all_others[package]


@pytest.mark.parametrize(
    ("source", "result"),
    [
        ("__import__('num' + 'py').arange(3).sum()", 3),
        ("import numpy\n__import__('pan' + 'das').Series(numpy.arange(3)).mean()", 1.0),
        ("try:\n    m = __import__('sym' + 'py')\nexcept BaseException:\n    m = None\n"
         "str(m.Integer(6) * 7)", "42"),
        ("import sympy\nx = sympy.Symbol('x')\nsympy.lambdify(x, x + 1)(1)", 2),
        ("import pandas\npandas.Series([1, 2, 4]).corr(pandas.Series([1, 2, 4]), method='kendall')",
         1.0),
    ],
)  # fmt: skip
def test_a_package_that_is_not_named(run, source: str, result: object) -> None:
    found = run(source)
    assert found["status"] == "ok", found
    if isinstance(result, float):
        assert abs(found["result"] - result) < 1e-9
    else:
        assert found["result"] == result


def test_a_library_that_another_one_imports(run) -> None:
    found = run("import pandas as pd\npd.DataFrame({'a': [1, 2]}).plot()\nNone")
    assert found["status"] == "ok", found
    assert [each["name"] for each in found["artifacts"]] == ["figure-1.png"]


def test_without_the_policy_too(run) -> None:
    source = "import sys\n__import__('num' + 'py').arange(3).sum().item()"
    assert run(source, "--policy", "off")["result"] == 3


def test_what_is_refused_names_what_is_there(run) -> None:
    sources = ("import pandsa", "from numpy import aranje", "import socket")
    # All three in one run: it loads every package, which takes seconds.
    among_all = run(EVERYTHING + "\n".join(sources))
    assert among_all["status"] == "refused"
    found = []
    for source in sources:
        outcome = run(source)
        assert outcome["status"] == "refused"
        assert outcome["findings"]
        found += outcome["findings"]
    for finding, expected in zip(found, among_all["findings"], strict=True):
        assert (finding["reason"], finding["hint"]) == (expected["reason"], expected["hint"])
