"""The long run, `./dev nightly`: exits 1 if something was reached that no program may have."""

from __future__ import annotations

import argparse
import random
import sys
import time
from pathlib import Path

from tests.search import campaign
from tests.search.machine import Machine, profiles
from tests.search.planted import plant


def is_wanted(part: campaign.Part, words: str) -> bool:
    return not words or any(word in part.name for word in words.split(","))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.search", description=__doc__)
    parser.add_argument("--profile", default="basic", choices=profiles())
    parser.add_argument("--seconds", type=float, help="default: each part once")
    parser.add_argument("--seed", type=int, default=0, help="0: another one each time")
    parser.add_argument("--operations", type=int, default=1_500, help="of the walk from a module")
    parser.add_argument("--interruptions", type=int, default=1, help="of each act, by each cause")
    parser.add_argument("--only", default="", help="parts whose name contains one of these words")
    parser.add_argument("--planted", action="store_true", help="with leaks that it must find")
    parser.add_argument("--program", type=Path, help="write the first finding's program there")
    options = parser.parse_args()
    seed = options.seed or random.SystemRandom().randrange(1, 2**32)
    machine = Machine(options.profile, plant if options.planted else None)
    if options.planted:
        parts = campaign.control(machine, seed)
    elif options.seconds is None:
        parts = campaign.short(machine, seed, options.operations, options.interruptions)
    else:
        parts = campaign.endless(machine, seed)
    until = None if options.seconds is None else time.monotonic() + options.seconds
    parts = (each for each in parts if is_wanted(each, options.only))
    report = campaign.run(machine, parts, until)
    for what, how in report.found.items():
        print(f"FOUND {what}\n      by {how}")
    for each in report.broken:
        print("BROKEN", each)
    if report.found and options.program is not None:
        options.program.write_text(campaign.program(next(iter(report.found.values()))))
    print(
        f"DONE {options.profile}: {report.parts} parts, {report.operations} operations, "
        f"{len(report.found)} findings, {report.crashes} crashes in native code, seed {seed}"
    )
    return 1 if report.found or report.broken else 0


if __name__ == "__main__":
    sys.exit(main())
