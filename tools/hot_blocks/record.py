"""Records which blocks of memory each run of a profile writes to, for engine/inside/hot_blocks.h.

    record.py BUILD [--check] [PROFILE …]     (./dev record)

BUILD is a build tree; its Python is the one that is recorded. PROFILE is basic, which counts for
all profiles without packages, or data-science, whose packages must be installed; by default both.
With --check nothing is written: it prints how many of the recorded blocks a zygote still allocates,
and how many pages a run writes to.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

SHARE = "share/belljar"
PROFILES = ("basic", "data-science")
# CPython finds a method in its cache or, as addresses have it, in the tuple of base classes, to
# whose reference count it then writes. So one recording does not see all. Of each kind of zygote:
RECORDINGS = {"basic": 4, "data-science": 1}
# With their memory, an arena and the frames one region of 2 MiB is full.
MOST_BLOCKS = 3000
# Below that, it is time to record them again.
STILL_PLACED = 0.8


def recorder(build: Path, share: Path, profile: str, *arguments: str) -> str:
    done = subprocess.run(
        [build / "bin/belljar-record-hot-blocks", share, profile, *arguments],
        env={"LC_ALL": "C.UTF-8", "TZ": "UTC"},  # as a zygote has it
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        sys.exit(f"record.py: belljar-record-hot-blocks has ended with {done.returncode}")
    return done.stdout


def check(build: Path, profile: str, share: Path | None = None) -> dict[str, int]:
    """How effective the record in `share` is; by default that of the build."""
    return json.loads(recorder(build, share or build / SHARE, profile, "--check"))


def print_check(build: Path, profile: str) -> None:
    found = check(build, profile)
    print(
        f"{profile}: {found['placed']} of {found['recorded']} blocks are placed;"
        f" a run writes to {found['pages']} pages in {found['regions']} regions"
    )
    if found["placed"] < STILL_PLACED * found["recorded"]:
        sys.exit("record.py: record them again: ./dev record")


def record(build: Path, profile: str) -> None:
    # The command's zygote, and that of the Python package, which this interpreter loads.
    kinds = [(), (os.path.realpath(sys.executable),)] * RECORDINGS[profile]
    found = [json.loads(recorder(build, build / SHARE, profile, *kind)) for kind in kinds]
    # Blocks that every run writes to lie together, then those of many, then those of others.
    blocks = [
        json.dumps(block, separators=(",", ":"))
        for kind in ("of_first", "of_runs", "of_others")
        for each in found
        for block in each[kind]
    ]
    blocks = list(dict.fromkeys(blocks))[:MOST_BLOCKS]
    target = ROOT / "engine/inside/hot_blocks" / found[0]["file"]
    target.write_text("[\n" + ",\n".join(blocks) + "\n]\n", encoding="utf-8")
    print(f"{target.relative_to(ROOT)}: {len(blocks)} blocks")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("profile", nargs="*", default=PROFILES)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_intermixed_args()
    for profile in options.profile:
        (print_check if options.check else record)(options.build, profile)


if __name__ == "__main__":
    main()
