"""One look through many programs: what is generated, and what has to hold for it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import hypothesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st

from tests.policy.fuzz import properties
from tests.policy.fuzz.grammar import any_program
from tests.policy.fuzz.mutations import known_programs, mutated_program
from tests.policy.fuzz.programs import meaningful_program

CAMPAIGNS: dict[str, tuple[Callable[[], st.SearchStrategy[str]], Callable[[str], object]]] = {
    "grammar": (any_program, properties.judged),
    "mutations": (lambda: mutated_program(known_programs()), properties.judged),
    "programs": (meaningful_program, properties.same_as_plain_python),
}


def run(name: str, *, programs: int, seed: int, until: float | None = None) -> Counter[str]:
    """Tries `programs` programs, fewer when time.monotonic() passes `until`.

    Raises AssertionError at the first that breaks a property, made as small as it gets. Counts the
    programs, and those that the policy let through ("accepted").
    """
    make, check = CAMPAIGNS[name]
    seen: Counter[str] = Counter(programs=0, accepted=0)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=programs,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        print_blob=False,
        report_multiple_bugs=False,
    )
    @hypothesis.given(make())
    def look(source: str) -> None:
        if until is not None and time.monotonic() > until:
            return
        seen["programs"] += 1
        seen["accepted"] += not check(source)

    look()
    return seen
