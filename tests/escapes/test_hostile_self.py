"""No method of the library looks up or stores by the guest's names; hostile_self.py tries them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("hostile_self.py")

# The calls take a minute, or minutes beside other work. The limit is for a hang.
pytestmark = pytest.mark.timeout(900)
CONTROL = "__main__.Careless"

# Stores by names of the library's own, on whatever is given for `self`: none of these names means
# anything to the interpreter or to a guard but on an object of the class itself.
HARMLESS_DUNDERS = {
    "__doc__", "__isabstractmethod__", "__module__", "__name__", "__origin__", "__qualname__",
    "__slots__", "__supertype__", "__final__", "__bound__", "__constraints__", "__orig_class__",
    "__dataclass_transform__", "__wrapped__", "__covariant__", "__contravariant__",
}  # fmt: skip


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", str(SCRIPT)],
        cwd=tmp_path_factory.mktemp("files"),  # what it writes
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_it_called_them(record: dict[str, Any]) -> None:
    assert record["methods"] > 800 and record["calls"] > 50_000


def test_the_control_is_caught(record: dict[str, Any]) -> None:
    caught = {(method, what) for method, what, _ in record["names"] if method.startswith(CONTROL)}
    assert caught == {
        (f"{CONTROL}.looks_up", "looked up"),
        (f"{CONTROL}.stores", "stored"),
        (f"{CONTROL}.puts", "put"),
    }
    assert [what for method, what in record["loot"] if method.startswith(CONTROL)]


def test_no_name_of_the_guests_is_looked_up_or_stored(record: dict[str, Any]) -> None:
    assert [found for found in record["names"] if not found[0].startswith(CONTROL)] == []


def test_nothing_is_handed_out(record: dict[str, Any]) -> None:
    assert [found for found in record["loot"] if not found[0].startswith(CONTROL)] == []


def test_names_of_the_librarys_own_are_harmless(record: dict[str, Any]) -> None:
    stored = {name for _, name in record["stores"] if name[:2] == "__" and name[-2:] == "__"}
    assert stored <= HARMLESS_DUNDERS


def test_no_call_ends_the_process(record: dict[str, Any]) -> None:
    assert record["died"] == []
