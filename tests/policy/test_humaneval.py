"""The problems of HumanEval under basic: all 164."""

from __future__ import annotations

import gzip
import json

from tests.machine import corpus
from tests.policy.harness import run


def test_every_problem() -> None:
    failures = {}
    with gzip.open(corpus("HumanEval.jsonl.gz"), "rt") as file:
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
