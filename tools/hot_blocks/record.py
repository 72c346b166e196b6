"""Records to which blocks of memory runs write, for a build (engine/inside/hot_blocks.h).

    record.py --recorder FILE --program FILE --share FOLDER --stamp FILE

Writes hot_blocks/PROFILE.json of that folder, for basic and for the profiles in PACKAGED whose
packages are there. The recorder (record.cc) runs in place of the program that becomes zygotes.
Where that fails, as without /proc, there is no record: workers are then slower, and nothing else.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

# <sys/personality.h>: CPython's caches go by addresses; so a record is the same each time.
ADDR_NO_RANDOMIZE = 0x0040000
# With their memory, an arena and the frames one region of 2 MiB is full.
MAX_BLOCKS = 3000
# Everyday programs under the language policy.
PROGRAMS = [
    "1 + 1",
    "print('hello')",
    r"""
import math

def area(radius):
    return math.pi * radius ** 2

for radius in range(3):
    print(f"{radius}: {area(radius):.2f}")
""",
    r"""
import json
from collections import Counter, defaultdict

words = "the quick brown fox jumps over the lazy dog the end".split()
lengths = defaultdict(list)
for word in sorted(set(words)):
    lengths[len(word)].append(word)
json.dumps({"most": Counter(words).most_common(1), "lengths": lengths})
""",
    r"""
from dataclasses import dataclass

@dataclass
class Item:
    name: str
    price: float = 1.0

    def total(self, count):
        return self.price * count

class Basket(list):
    def __str__(self):
        return ", ".join(each.name for each in self)

basket = Basket([Item("pear"), Item("fig", 0.5)])
try:
    basket[5]
except IndexError as error:
    print(error, str(basket), sum(each.total(3) for each in basket))
{"names": [each.name for each in basket], "price": max(basket, key=lambda each: each.price).price}
""",
    r"""
import random
import re
from datetime import date, timedelta

def primes(limit):
    sieve = [True] * limit
    for number in range(2, limit):
        if sieve[number]:
            yield number
            sieve[number * number :: number] = [False] * len(sieve[number * number :: number])

print(list(primes(50)), re.sub(r"(\d+)-(\d+)", r"\2-\1", "10-20"))
print(date(2024, 2, 28) + timedelta(days=2), random.randint(1, 6) in range(1, 7))
while True:
    if input_left := [1, 2, 3]:
        a, *rest = input_left
        break
(a, rest, 10**30 // 7, "%s" % 1.5, {1, 2} & {2}, b"x".hex())
""",
    r"""
import contextlib
from itertools import chain as chained

total: int = 0
limit = None

def add(amount, *more, factor=1, **options):
    global total
    assert amount >= 0, "negative"
    total += amount * factor if not more else sum(more)
    return lambda: total

def counter():
    count = 0
    def step():
        nonlocal count
        count += 1
        return count
    return step

@contextlib.contextmanager
def opened(name):
    try:
        yield name
    finally:
        pass

step = counter()
while step() < 3:
    if limit is None or not limit:
        continue
    elif limit > 5 and limit <= 7:
        break
else:
    limit = -3 & 0xFF
with opened("x") as name:
    for index, (key, value) in enumerate({"a": 1, "b": [2, 3]}.items()):
        match value:
            case int():
                add(value)
            case [first, *others]:
                add(0, first, *others, **{})
try:
    raise ValueError(f"{total!r:>4}")
except (ValueError, KeyError) as error:
    message = error.args[0]
pairs = {number: number ** 2 for number in range(4)}
odd = {number for number in pairs if number % 2}
values = list(number // 2 for number in chained(odd, pairs.values()))
del pairs[0]
values[1:3] = values[::-1][:1]
(message, total, odd, values, 1 < 2 != 3, "a" in "abc", ~5 ^ 3 | 1 << 2, 3 @ limit if 0 else 2.5)
""",
]


# Profiles with packages, a set of the same name: their first programs.
PACKAGED = {
    "data-science": [
        "import numpy as np\nfloat(np.arange(10).mean())",
        "import numpy as np, pandas as pd\nfloat(pd.Series(np.arange(10)).mean())",
        r"""
import numpy as np
import pandas as pd

table = pd.DataFrame({"name": ["a", "b", "a"], "value": np.linspace(0, 1, 3)})
table["double"] = table.value * 2
means = table.groupby("name").value.mean()
print(table.describe(), means.to_dict(), np.dot(table.value, table.double), np.random.rand() < 1)
""",
    ],
}


def run(recorder: Path, program: Path, share: Path, profile: str, *records: Path) -> Any:
    """As record.cc documents it."""
    # By descriptor: LD_PRELOAD has no form for a path with a space, and a record is the same
    # wherever it is made.
    files = [os.open(each, os.O_RDONLY | os.O_CLOEXEC) for each in (recorder, share)]
    preload, seen = (f"/proc/self/fd/{each}" for each in files)
    try:
        done = subprocess.run(
            [program.resolve(), seen, profile, *records],
            env={"LC_ALL": "C.UTF-8", "TZ": "UTC", "LD_PRELOAD": preload},  # as a zygote has it
            input=json.dumps(PACKAGED.get(profile, []) + PROGRAMS).encode(),
            stdout=subprocess.PIPE,
            pass_fds=files,
            check=True,
            timeout=300,
        )
    finally:
        for each in files:
            os.close(each)
    return json.loads(done.stdout)


def record(recorder: Path, program: Path, share: Path, profile: str) -> None:
    target = share / "hot_blocks" / f"{profile}.json"
    try:
        found = run(recorder, program, share, profile)
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        print(
            f"record.py: no record, so workers of {profile} will be slower: {error}",
            file=sys.stderr,
        )
        return
    # Blocks that every run writes to lie together, then those of many, then those of others.
    blocks = (found["of_first"] + found["of_runs"] + found["of_others"])[:MAX_BLOCKS]
    lines = ",\n".join(json.dumps(block, separators=(",", ":")) for block in blocks)
    scratch = target.with_suffix(".new")
    scratch.write_text(f"[{lines}]\n", encoding="utf-8")
    scratch.replace(target)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("recorder", "program", "share", "stamp"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    ctypes.CDLL(None).personality(ADDR_NO_RANDOMIZE)
    folder = options.share / "hot_blocks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for profile in ["basic", *PACKAGED]:
        if profile == "basic" or (options.share / "packages" / profile).is_dir():
            record(options.recorder, options.program, options.share, profile)
    options.stamp.write_text("")


if __name__ == "__main__":
    main()
