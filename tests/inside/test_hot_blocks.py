"""The record of hot blocks for this Python is still true."""

from __future__ import annotations

import json
import os
import platform
from pathlib import Path

import pytest

from tools.hot_blocks.record import STILL_PLACED, check

BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release"))
RECORDED = Path(__file__).resolve().parents[2] / "engine/inside/hot_blocks"


# It follows the allocations of whole zygotes: minutes beside other tests. The limit is for a hang.
@pytest.mark.timeout(900)
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the recorder is for x86-64")
def test_the_record_is_of_this_code(tmp_path):
    found = check(BUILD, "basic")
    assert found["placed"] >= STILL_PLACED * found["recorded"], "record them again: ./dev record"
    assert found["pages"] < 120
    # The hot one, both ends of the heap, and some.
    assert found["regions"] <= 8

    # The control: an empty record, all else the same.
    for part in (BUILD / "share/belljar").iterdir():
        if part.name != "hot_blocks":
            (tmp_path / part.name).symlink_to(part.resolve())
    (tmp_path / "hot_blocks").mkdir()
    for record in RECORDED.glob("*.json"):
        (tmp_path / "hot_blocks" / record.name).write_text("[]", encoding="utf-8")
    without = check(BUILD, "basic", tmp_path)
    assert (without["recorded"], without["placed"]) == (0, 0)
    assert without["pages"] > 1.5 * found["pages"]
    assert without["regions"] > found["regions"]


@pytest.mark.parametrize("path", sorted(RECORDED.glob("*.json")), ids=lambda path: path.stem)
def test_recorded_blocks_are_small_and_distinct(path):
    blocks = json.loads(path.read_text(encoding="utf-8"))
    assert 100 < len(blocks) <= 4096
    assert len({(context, occurrence) for context, occurrence, _ in blocks}) == len(blocks)
    assert all(0 < size <= 32 << 10 for *_, size in blocks)
