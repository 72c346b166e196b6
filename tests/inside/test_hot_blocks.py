"""The record of hot blocks that a build makes: what it is worth, and that it is reproducible."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.hot_blocks import record

BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release"))
SHARE = BUILD / "share/belljar"
RECORDS = SHARE / "hot_blocks"
RECORDER = BUILD / "bin/belljar-record-hot-blocks.so"
PROGRAM = BUILD / "belljar-zygote"


def make(scratch: Path, without: str = "") -> tuple[list[bytes], str]:
    """The records that are made in a copy, and what is said."""
    share = scratch / "share/belljar"
    share.mkdir(parents=True)
    for part in SHARE.iterdir():
        if part.name not in ("hot_blocks", "packages", without):
            (share / part.name).symlink_to(part.resolve())
    done = subprocess.run(
        [sys.executable, "-I", record.__file__, "--recorder", RECORDER, "--program", PROGRAM]
        + ["--share", share, "--stamp", scratch / "stamp"],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    )
    return [path.read_bytes() for path in (share / "hot_blocks").iterdir()], done.stderr


def test_a_run_writes_to_fewer_pages_with_the_record(tmp_path):
    found = record.run(RECORDER, PROGRAM, SHARE, "basic", RECORDS)
    assert found["placed"] >= 0.9 * found["recorded"] > 0

    # The control: an empty record, all else the same.
    (tmp_path / "basic.json").write_text("[]", encoding="utf-8")
    without = record.run(RECORDER, PROGRAM, SHARE, "basic", tmp_path)
    assert (without["recorded"], without["placed"]) == (0, 0)
    assert without["pages"] > 1.5 * found["pages"]
    assert without["regions"] > found["regions"]


@pytest.mark.parametrize("path", sorted(RECORDS.glob("*.json")), ids=lambda path: path.stem)
def test_recorded_blocks_are_small_and_distinct(path):
    blocks = json.loads(path.read_text(encoding="utf-8"))
    assert 500 < len(blocks) <= record.MAX_BLOCKS
    assert len({(context, occurrence) for context, occurrence, _ in blocks}) == len(blocks)
    assert all(0 < size <= 32 << 10 for *_, size in blocks)


def test_a_record_is_the_same_each_time(tmp_path):
    (one,), said = make(tmp_path / "one")
    (other,), _ = make(tmp_path / "other")
    assert said == "" and one == other


@pytest.mark.parametrize("missing", ["profiles", "policy"])
def test_where_nothing_can_be_recorded_there_is_no_record(tmp_path, missing):
    found, said = make(tmp_path, without=missing)
    assert found == []
    assert "no record, so workers of basic will be slower" in said
