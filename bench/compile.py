"""The cost of the language policy before a program runs: milliseconds per thousand lines to parse,
check, transform and compile it, alternating with CPython's own compile() of the same text.

Both run in one warm interpreter, as in a worker: the policy is built, the heap frozen, and every
path has been executed before. CPU time, median of the rounds.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import sys
import sysconfig
import time
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

GOAL = 6.0  # ms per thousand lines
# Modules of the standard library that resemble guest code, with comments and docstrings.
CORPUS = (
    "colorsys", "difflib", "email/_parseaddr", "graphlib", "json/encoder", "numbers", "textwrap",
    "xml/etree/ElementPath",
)  # fmt: skip
SMALL = "result = 2 + 2"
SMALL_RUNS = 500

EXAMPLES = """\
examples:
  ./dev bench compile                        eight modules of the standard library, as a table
  ./dev bench compile --rounds 51 --json     more samples; one object, to keep
  ./dev bench compile a.py b.py              your own files; the policy must accept them
"""


def read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="dev bench compile",
        description=__doc__,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--build", type=Path, required=True, help="a build tree of Belljar")
    parser.add_argument("--rounds", type=positive, default=15, help="samples of each (15)")
    parser.add_argument("--json", action="store_true", help="one JSON object instead of a table")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE")
    return parser.parse_args()


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def build_policy(tree: Path) -> Any:
    """Loads the policy like the zygote of that build; changes this interpreter permanently."""
    share = tree / "share/belljar"
    guards = next(tree.rglob("_belljar_guards*.so"), None)
    if guards is None:
        sys.exit(f"{tree} contains no _belljar_guards: run ./dev build")
    sys.path[:0] = [str(share / "policy"), str(share / "site-packages"), str(guards.parent)]
    import belljar_policy

    profile = tomllib.loads((share / "profiles/basic.toml").read_text())
    return belljar_policy.Policy(profile)


def read_corpus(policy: Any, files: list[Path]) -> list[str]:
    texts = []
    library = Path(sysconfig.get_path("stdlib"))
    for path in files or [library / f"{name}.py" for name in CORPUS]:
        try:
            text = path.read_text()
            findings = policy.check(text)
        except (OSError, UnicodeError) as error:
            sys.exit(f"{path}: {error}")
        if findings:  # it would not be compiled and would seem cheap
            first = findings[0]
            sys.exit(f"{path}:{first.line}: [{first.rule}] {first.reason}")
        texts.append(text)
    if not any(map(count_lines, texts)):
        sys.exit("these files are empty")
    return texts


def count_lines(text: str) -> int:
    return len(text.splitlines())


def cpu_milliseconds(work: Callable[[str], object], texts: list[str]) -> float:
    start = time.process_time()  # CPU time: unaffected by other load
    for text in texts:
        work(text)
    return (time.process_time() - start) * 1e3


def plain(text: str) -> object:
    return compile(text, "main.py", "exec", 0, True)


def measure(policy: Any, texts: list[str], rounds: int) -> dict[str, float]:
    """Medians: ms per thousand lines, and µs for a minimal program."""
    ours, theirs, small, small_plain = [], [], [], []
    kilolines = sum(map(count_lines, texts)) / 1000
    for _ in range(rounds + 1):
        ours.append(cpu_milliseconds(policy.compile, texts) / kilolines)
        theirs.append(cpu_milliseconds(plain, texts) / kilolines)
        small.append(cpu_milliseconds(policy.compile, [SMALL] * SMALL_RUNS) / SMALL_RUNS * 1e3)
        small_plain.append(cpu_milliseconds(plain, [SMALL] * SMALL_RUNS) / SMALL_RUNS * 1e3)
    # Dropped: the first round specialises the byte code.
    return {
        "policy_ms_per_kloc": statistics.median(ours[1:]),
        "plain_ms_per_kloc": statistics.median(theirs[1:]),
        "ratio": statistics.median(a / b for a, b in zip(ours[1:], theirs[1:], strict=True)),
        "small_policy_us": statistics.median(small[1:]),
        "small_plain_us": statistics.median(small_plain[1:]),
    }


def main() -> None:
    options = read_options()
    policy = build_policy(options.build)
    texts = read_corpus(policy, options.files)
    gc.collect()
    gc.freeze()
    figures = measure(policy, texts, options.rounds)
    lines = sum(map(count_lines, texts))
    if options.json:
        print(json.dumps({"lines": lines, "rounds": options.rounds, "goal": GOAL, **figures}))
        return
    print(f"{lines:,} lines, {options.rounds} rounds, CPU time, medians\n")
    print(f"{'':34}{'policy':>10}{'compile()':>12}")
    ours, theirs = figures["policy_ms_per_kloc"], figures["plain_ms_per_kloc"]
    print(f"{'per thousand lines, ms':34}{ours:10.2f}{theirs:12.2f}")
    print(f"{SMALL + ', µs':34}{figures['small_policy_us']:10.1f}{figures['small_plain_us']:12.1f}")
    reached = "reached" if ours <= GOAL else "NOT REACHED"
    print(f"\n{figures['ratio']:.2f} times compile(); goal <= {GOAL} ms/kLOC: {reached}")


if __name__ == "__main__":
    main()
