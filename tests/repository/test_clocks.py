"""No test sleeps, or asserts how long something took, without a reason.

A sleep has a comment beginning with `sleeps:` on its line or in the three before it, a reading of
the clock one with `clock:`. Better: wait for the event, by until() of tests/clocks.py or
Eventually() of tests/support, and assert time, where nothing else can tell, by their within() or
Within().
"""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.machine import ROOT

# Programs that test sleeping, timers and threads themselves, or imitate what others have written.
PROGRAMS = tuple(
    f"tests/{name}/"
    for name in (
        "data_science/tasks",
        "escapes",
        "language",
        "library",
        "policy",
        "programs",
        "search",
    )
)
HERE = ("tests/clocks.py", "tests/support/support.cc", "tests/repository/test_clocks.py")

SLEEP = re.compile(r"\b(?:sleep|sleep_for|sleep_until|usleep|nanosleep)\((?!\)|0[,)])")
# In C++ readings are arguments everywhere: here, those that are an upper bound.
CLOCK = {
    ".py": re.compile(r"\b(?:monotonic|perf_counter)(?:_ns)?\(\)"),
    ".cc": re.compile(r"_L[TE]\(.*\bnow\(\)|\bnow\(\) - \w+ [<>]"),
}


def lines_without_reason(text: str, suffix: str) -> Iterator[str]:
    lines = text.splitlines()
    for number, line in enumerate(lines):
        sleeps = "sleep" in line and SLEEP.search(line)
        reads = CLOCK[".py" if suffix == ".py" else ".cc"].search(line)
        if not sleeps and not reads:
            continue
        # The formatter may have broken a comparison.
        near = "\n".join(lines[max(0, number - 3) : number + 2])
        if sleeps and "sleeps: " not in near:
            yield f"{number + 1}: a sleep without a reason: {line.strip()}"
        if reads and not re.search(r"clock: |\b[Ww]ithin\(", near):
            yield f"{number + 1}: a reading of the clock without a reason: {line.strip()}"


def sources() -> Iterator[Path]:
    for path in sorted((ROOT / "tests").rglob("*")):
        name = path.relative_to(ROOT).as_posix()
        if path.suffix in (".py", ".cc", ".h", ".c") and name not in HERE:
            if not name.startswith(PROGRAMS):
                yield path


def test_time_is_waited_for_and_asserted_with_a_reason() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sources()
        for line in lines_without_reason(path.read_text(encoding="utf-8"), path.suffix)
    ]
    assert not found, f"{__doc__}\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("text", "suffix", "count"),
    [
        ("time.sleep(1)", ".py", 1),
        ("await asyncio.sleep(0)", ".py", 0),
        ("# sleeps: it would come\ntime.sleep(1)", ".py", 0),
        ("usleep(1000);", ".cc", 1),
        ("std::this_thread::sleep_for(d);  // sleeps: at many moments", ".cc", 0),
        ("assert time.monotonic() - start < 5", ".py", 1),
        ("assert time.monotonic() - start < within(5)", ".py", 0),
        ("EXPECT_LT(Clock::now() - start, seconds(5));", ".cc", 1),
        ("EXPECT_LT(Clock::now() - start,\n          tests::Within(seconds(5)));", ".cc", 0),
        ("pool->Take(Clock::now() + seconds(5));", ".cc", 0),
    ],
)
def test_what_is_found(text: str, suffix: str, count: int) -> None:
    assert len(list(lines_without_reason(text, suffix))) == count
