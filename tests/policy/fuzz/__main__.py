"""The long run, `./dev fuzz language`: exits 1 and prints the program that breaks a property."""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
from collections import Counter

sys.path.append(os.environ["BELLJAR_GUARDS_DIR"])

from tests.policy import harness  # noqa: E402 (its children need the same variable)
from tests.policy.fuzz import campaign  # noqa: E402

# Programs in a row from one seed; grammar and mutations are judged only, and quickly.
_BATCHES = {"grammar": 200, "mutations": 600, "programs": 60}


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz language")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    options = parser.parse_args()
    seed = options.seed or random.SystemRandom().randrange(1, 2**32)
    until = time.monotonic() + options.seconds
    seen: dict[str, Counter[str]] = {name: Counter() for name in _BATCHES}
    failures = 0
    while not failures and time.monotonic() < until:
        for name, batch in _BATCHES.items():
            try:
                seen[name] += campaign.run(name, programs=batch, seed=seed, until=until)
            except Exception as error:  # a crash of the transformer is a finding as well
                failures += 1
                print(f"{name}, seed {seed}: {type(error).__name__}: {error}")
                print(*getattr(error, "__notes__", ()), sep="\n")
        seed += 1
    harness.close_all()
    counts = ", ".join(
        f"{name} {found['programs']} ({found['accepted']} accepted)" for name, found in seen.items()
    )
    print(f"DONE {counts}, last seed {seed - 1}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
