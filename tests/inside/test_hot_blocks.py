"""The record of hot blocks that a build makes: what it is worth, and that it is reproducible."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tools.hot_blocks import record

BUILD = Path(os.environ.get("BELLJAR_BUILD", "build/release"))
SHARE = BUILD / "share/belljar"
RECORD = SHARE / "hot_blocks.json"
RECORDER = BUILD / "bin/belljar-record-hot-blocks.so"
PROGRAM = BUILD / "belljar-zygote"
SCRIPT = Path(record.__file__)


def make(share: Path, output: Path) -> str:
    """What it says."""
    return subprocess.run(
        [sys.executable, "-I", SCRIPT, "--recorder", RECORDER, "--program", PROGRAM]
        + ["--share", share, "--output", output],
        stderr=subprocess.PIPE,
        text=True,
        check=True,
    ).stderr


def test_a_run_writes_to_fewer_pages_with_the_record(tmp_path):
    found = record.run(RECORDER, PROGRAM, SHARE, RECORD)
    assert found["placed"] >= 0.9 * found["recorded"] > 0

    # The control: an empty record, all else the same.
    empty = tmp_path / "empty.json"
    empty.write_text("[]", encoding="utf-8")
    without = record.run(RECORDER, PROGRAM, SHARE, empty)
    assert (without["recorded"], without["placed"]) == (0, 0)
    assert without["pages"] > 1.5 * found["pages"]
    assert without["regions"] > found["regions"]


def test_its_blocks_are_small_and_distinct():
    blocks = json.loads(RECORD.read_text(encoding="utf-8"))
    assert 500 < len(blocks) <= record.MAX_BLOCKS
    assert len({(context, occurrence) for context, occurrence, _ in blocks}) == len(blocks)
    assert all(0 < size <= 32 << 10 for *_, size in blocks)


def test_it_is_the_same_each_time(tmp_path):
    for name in ("one.json", "other.json"):
        assert make(SHARE, tmp_path / name) == ""
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "other.json").read_bytes()


@pytest.mark.parametrize("missing", ["profiles", "policy"])
def test_what_cannot_be_recorded_is_an_empty_record(tmp_path, missing):
    shutil.copytree(SHARE, tmp_path / "share", symlinks=True)
    shutil.rmtree(tmp_path / "share" / missing)
    assert "no record, so workers will be slower" in make(tmp_path / "share", tmp_path / "record")
    assert json.loads((tmp_path / "record").read_text(encoding="utf-8")) == []
