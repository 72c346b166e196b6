"""The list of unstable tests: short, and for a short time."""

import datetime
import re
import tomllib

import pytest

from tests.conftest import ATTACKS
from tests.machine import ROOT

ENTRIES = tomllib.loads((ROOT / "tests/quarantine.toml").read_text(encoding="utf-8")).get(
    "test", []
)
LONGEST = datetime.timedelta(weeks=2)


def problem(entry: dict[str, object], today: datetime.date) -> str:
    """What is wrong with an entry, if anything."""
    if set(entry) != {"name", "cause", "since", "until"}:
        return "an entry has a name, cause, since and until"
    since, until, name = entry["since"], entry["until"], str(entry["name"])
    if type(since) is not datetime.date or type(until) is not datetime.date:
        return "since and until are dates"
    if not timedelta_is_short(since, until):
        return "it is there for at most two weeks"
    if until < today:
        return "its time is over: repair the test, or delete it"
    if name.startswith(ATTACKS) or name in attacks():
        return "a failure of an attack is never called random"
    return ""


def timedelta_is_short(since: datetime.date, until: datetime.date) -> bool:
    return datetime.timedelta(0) <= until - since <= LONGEST


def attacks() -> set[str]:
    """Of the C++ programs that tests/CMakeLists.txt labels so."""
    lists = (ROOT / "tests/CMakeLists.txt").read_text(encoding="utf-8")
    (programs,) = re.findall(r"^set\(tests_of_attacks ([^)]*)\)", lists, re.M)
    names = set()
    for program in programs.split():
        (source,) = ROOT.glob(f"tests/**/{program}.cc")
        text = source.read_text(encoding="utf-8")
        names |= {
            f"{suite}.{name}" for suite, name in re.findall(r"^TEST\w*\((\w+), (\w+)\)", text, re.M)
        }
    return names


def test_each_entry_is_for_a_short_time() -> None:
    today = datetime.date.today()
    found = {str(each.get("name")): why for each in ENTRIES if (why := problem(each, today))}
    assert found == {}


SINCE = datetime.date(2026, 11, 1)
GOOD = {"name": "Suite.Name", "cause": "?", "since": SINCE, "until": SINCE + LONGEST}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({}, ""),
        ({"until": SINCE + LONGEST + datetime.timedelta(1)}, "at most two weeks"),
        ({"until": SINCE}, "its time is over"),
        ({"until": "soon"}, "are dates"),
        ({"more": 1}, "an entry has"),
        ({"name": "tests/jail/test_attacks.py::test_attack"}, "an attack"),
        ({"name": "SessionAttack.NothingSurvivesClose"}, "an attack"),
    ],
)
def test_what_an_entry_may_not_be(change: dict[str, object], why: str) -> None:
    found = problem({**GOOD, **change}, SINCE + datetime.timedelta(days=7))
    assert (why in found) if why else found == ""
