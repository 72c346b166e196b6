"""The cost of the Python package, compared with the C++ library and other ways to run a snippet.

    python_package.py BUILD [--rounds N] [--seconds S] [--json]

BUILD is a build tree with the benchmarks: its package is imported and alternates with its
belljar-bench-library and with fork + exit + wait of a bare CPython (B). pydantic-monty is measured
if it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SPARES = 4  # the default of Sandbox
# Python cannot tell when all spares are ready again: about ten times as long as that takes.
SETTLE = 0.015
FLOOR = "fork + exit + wait of a bare CPython (B), ms"

SNIPPETS = {
    "1+1": "1+1",
    "words": """\
text = "the quick brown fox jumps over the lazy dog " * 20
counts = {}
for word in text.split():
    counts[word] = counts.get(word, 0) + 1
sorted(counts.items())[0]
""",
    "sieve": """\
sieve = [True] * 5000
for i in range(2, 71):
    if sieve[i]:
        for j in range(i * i, 5000, i):
            sieve[j] = False
sum(sieve) - 2
""",
}

# How each one isolates the snippet, according to its authors; printed with the figures.
ISOLATION = {
    "belljar": "a fresh process; namespaces, Landlock, seccomp, rlimits; language policy; CPython",
    "subprocess": "a fresh process with the rights of the caller; CPython",
    "monty": "a reused process with the rights of the caller; its own interpreter, which "
    "implements a subset of Python and asks the host for everything external",
}


class Program:
    """One that answers each request on its standard input with a sample."""

    def __init__(self, path: Path) -> None:
        self._name = path.name
        self._process = subprocess.Popen(
            [path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
        )
        assert self._process.stdin and self._process.stdout
        self._stdin, self._stdout = self._process.stdin, self._process.stdout

    def checked(self, answer: bytes) -> bytes:
        if not answer:
            sys.exit(f"python_package.py: {self._name} has ended")
        return answer

    def close(self) -> None:
        self._process.communicate()


class Library(Program):
    """The C++ library, in a separate process."""

    def __init__(self, build: Path) -> None:
        super().__init__(build / "bin/belljar-bench-library")

    def sample(self, what: str) -> float:
        self._stdin.write(f"{what}\n".encode())
        return float(self.checked(self._stdout.readline()))


class Floor(Program):
    """A bare CPython, which forks, exits and waits (bench/floor_python.cc)."""

    def __init__(self, build: Path) -> None:
        super().__init__(build / "bin/belljar-bench-floor-python")

    def sample(self) -> float:
        self._stdin.write(b"f")
        (nanoseconds,) = struct.unpack("=Q", self.checked(self._stdout.read(8)))
        return nanoseconds / 1e6


def milliseconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - start)


def import_time(build: Path, rounds: int) -> list[float]:
    """Milliseconds to import Sandbox in a new interpreter."""
    program = (
        "import time; start = time.perf_counter(); from belljar import Sandbox;"
        "print(1000 * (time.perf_counter() - start))"
    )
    # With byte code, as in an installation.
    environment = {**os.environ, "PYTHONPATH": str(build / "python")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    return [
        float(
            subprocess.run(
                [sys.executable, "-c", program],
                env=environment,
                stdout=subprocess.PIPE,
                check=True,
                text=True,
            ).stdout
        )
        for _ in range(rounds)
    ]


def monty_runner() -> Callable[[str], object] | None:
    try:
        import pydantic_monty
    except ImportError:
        return None
    pool = pydantic_monty.Monty()
    pool.__enter__()  # closed when this program ends

    def run(source: str) -> object:
        with pool.checkout() as session:
            return session.feed_run(source)

    return run


def measure(build: Path, rounds: int, seconds: float) -> dict[str, list[float]]:
    sys.path.insert(0, str(build / "python"))
    import belljar

    samples: dict[str, list[float]] = {
        "from belljar import Sandbox, ms": import_time(build, max(5, rounds // 20))
    }

    def add(name: str, sample: float) -> None:
        samples.setdefault(name, []).append(sample)

    library = Library(build)
    floor = Floor(build)
    monty = monty_runner()
    with belljar.Sandbox(spares=SPARES) as box:
        for source in SNIPPETS.values():  # also waits for the first worker
            assert box.run(source).ok
        for turn in range(rounds):
            time.sleep(SETTLE)
            add(FLOOR, floor.sample())
            time.sleep(SETTLE)
            add("library, 1+1, ms", library.sample("run"))
            for name, source in SNIPPETS.items():
                time.sleep(SETTLE)
                add(f"box.run, {name}, ms", milliseconds(lambda source=source: box.run(source)))
                if monty is not None:
                    time.sleep(SETTLE)
                    add(f"monty, {name}, ms", milliseconds(lambda source=source: monty(source)))
                if turn % 8 == 0:
                    cold = [sys.executable, "-I", "-c", source]
                    add(
                        f"subprocess, {name}, ms",
                        milliseconds(lambda cold=cold: subprocess.run(cold, check=True)),
                    )
        for clients in (1, 2, 8) * 3:
            time.sleep(10 * SETTLE)
            add(
                f"library, {clients} clients, runs/s",
                library.sample(f"load {clients} {round(1000 * seconds)}"),
            )
            time.sleep(10 * SETTLE)
            add(f"run_many, concurrency {clients}, runs/s", many(box, clients, seconds))
    library.close()
    floor.close()
    return samples


def many(box: object, concurrency: int, seconds: float) -> float:
    """Results of run_many per second."""
    end = time.perf_counter() + seconds

    def programs():
        while time.perf_counter() < end:
            yield "1+1"

    start = time.perf_counter()
    count = sum(1 for _ in box.run_many(programs(), concurrency=concurrency))
    return count / (time.perf_counter() - start)


def goals(medians: dict[str, float]) -> list[tuple[str, float, str, float]]:
    """Name, value, comparison with the goal, goal."""

    def best(beginning: str) -> float:
        return max(
            value
            for name, value in medians.items()
            if name.startswith(beginning) and name.endswith("runs/s")
        )

    beside_monty = [
        (
            f"p50 of box.run({name}), as a multiple of monty's checkout and feed_run",
            medians[f"box.run, {name}, ms"] / medians[f"monty, {name}, ms"],
            "<=",
            1.0,
        )
        for name in SNIPPETS
        if f"monty, {name}, ms" in medians
    ]
    return [
        *beside_monty,
        (
            "p50 of box.run('1+1'), as a multiple of the library's",
            medians["box.run, 1+1, ms"] / medians["library, 1+1, ms"],
            "<=",
            1.1,
        ),
        (
            "p50 of box.run('1+1'), x B",
            medians["box.run, 1+1, ms"] / medians[FLOOR],
            "<=",
            1.0,
        ),
        (
            "run_many, as a fraction of the library's executions per second",
            best("run_many") / best("library"),
            ">=",
            0.9,
        ),
        ("from belljar import Sandbox, ms", medians["from belljar import Sandbox, ms"], "<=", 30),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    samples = measure(options.build, options.rounds, options.seconds)
    medians = {name: statistics.median(values) for name, values in samples.items()}
    reached = goals(medians)
    if options.json:
        rows = [
            {"name": name, "value": value, "goal": f"{sign} {goal}"}
            for name, value, sign, goal in reached
        ]
        print(json.dumps({"medians": medians, "goals": rows, "load": os.getloadavg()[0]}))
        return
    print(f"{options.rounds} rounds, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    for name, value in medians.items():
        print(f"  {name:44} {value:10.3f}   n {len(samples[name])}")
    print()
    for name, what in ISOLATION.items():
        print(f"  {name}: {what}")
    print()
    for name, value, sign, goal in reached:
        met = value <= goal if sign == "<=" else value >= goal
        print(f"  {'reached' if met else 'NOT reached'}: {name}: {value:.3f} (goal {sign} {goal})")


if __name__ == "__main__":
    main()
