"""The problems of HumanEval under basic: all 164."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tests.policy.harness import run

CORPUS = Path(__file__).resolve().parents[2] / ".." / "shared" / "corpora" / "HumanEval.jsonl.gz"


def test_every_problem() -> None:
    if not CORPUS.exists():
        pytest.skip("the HumanEval corpus is not beside the repository")
    failures = {}
    with gzip.open(CORPUS, "rt") as file:
        problems = [json.loads(line) for line in file]
    for problem in problems:
        source = "\n".join(
            [
                problem["prompt"] + problem["canonical_solution"],
                problem["test"],
                f"check({problem['entry_point']})",
            ]
        )
        ran = run(source)
        if ran.findings or ran.error is not None:
            failures[problem["task_id"]] = ran.findings or (ran.error, ran.message)
    assert len(problems) == 164
    assert not failures
