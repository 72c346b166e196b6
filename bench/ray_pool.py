"""What Ray adds: `SandboxPool` on one node beside `Sandbox.run_many`, on the same processors.

    ray_pool.py BUILD [--rounds N] [--programs N] [--json]

BUILD is a build tree: its package is imported, in an environment with Ray
(build/venv-integrations). Rounds alternate, so that drift of the machine affects both. The cluster
is this machine alone, on loopback, without its dashboard.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

GOAL = 0.85  # of the library's executions a second
PROGRAMS = {
    "1+1": "1+1",
    "5 ms of CPU": "import time\nend = time.process_time() + 0.005\n"
    "while time.process_time() < end: pass",
}


def a_second(count: int, code: str, run: Callable[[Iterable[str]], int]) -> float:
    started = time.perf_counter()
    done = run([code] * count)
    seconds = time.perf_counter() - started
    if done != count:
        sys.exit(f"ray_pool.py: {done} of {count} programs succeeded")
    return count / seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--programs", type=int, default=1000, help="in a round")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    package = str(options.build.resolve() / "python")
    sys.path.insert(0, package)
    os.environ["PYTHONPATH"] = package  # for the processes of the cluster
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"

    import ray
    from belljar import Sandbox
    from belljar.ray import SandboxPool

    cores = len(os.sched_getaffinity(0))
    ray.init(
        num_cpus=cores,
        include_dashboard=False,
        _node_ip_address="127.0.0.2",  # Ray replaces the first one by the network's
        object_store_memory=80 << 20,
        log_to_driver=False,
        logging_level="ERROR",
    )
    load = os.getloadavg()[0]
    figures: dict[str, dict[str, list[float]]] = {}
    driver = 0.0
    with Sandbox() as box, SandboxPool() as pool:
        box.wait_until_ready(120)
        pool.wait_until_ready(120)
        ways: dict[str, Callable[[Iterable[str]], int]] = {
            "library": lambda codes: sum(each.ok for each in box.run_many(codes)),
            "ray": lambda codes: sum(each.result.ok for each in pool.map(codes)),
        }
        for name, code in PROGRAMS.items():
            count = options.programs if name == "1+1" else max(1, options.programs // 4)
            rows = figures[name] = {way: [] for way in ways}
            for run in ways.values():
                a_second(min(count, 200), code, run)  # the size of calls is found
            for _ in range(options.rounds):
                for way, run in ways.items():
                    before = time.process_time()
                    rows[way].append(a_second(count, code, run))
                    if way == "ray" and name == "1+1":
                        driver += time.process_time() - before
        latencies = {
            "library": [latency(lambda: box.run("1+1")) for _ in range(100)],
            "ray": [latency(lambda: pool.run("1+1")) for _ in range(100)],
        }
    found = {
        "cores": cores,
        "load": [load, os.getloadavg()[0]],
        "executions_a_second": {
            name: {way: statistics.median(values) for way, values in rows.items()}
            for name, rows in figures.items()
        },
        # Of each round, since the machine drifts between them.
        "ratio": {
            name: statistics.median(
                ray / library for ray, library in zip(rows["ray"], rows["library"], strict=True)
            )
            for name, rows in figures.items()
        },
        "milliseconds_of_one": {way: statistics.median(each) for way, each in latencies.items()},
        "driver_cpu_ms": 1000 * driver / (options.rounds * options.programs),
    }
    ray.shutdown()
    if options.json:
        print(json.dumps(found))
        return
    print(f"{cores} cores, load average {load:.1f} before, {found['load'][1]:.1f} after\n")
    print("| executions a second, medians | library | Ray, one node | ratio, median of rounds |")
    print("|---|---:|---:|---:|")
    for name, row in found["executions_a_second"].items():
        print(f"| {name} | {row['library']:.0f} | {row['ray']:.0f} | {found['ratio'][name]:.2f} |")
    one = found["milliseconds_of_one"]
    print(f"| one at a time, ms | {one['library']:.2f} | {one['ray']:.2f} | |")
    print(f"\nCPU of the driver a program: {found['driver_cpu_ms']:.3f} ms")
    ratio = found["ratio"]["1+1"]
    print(f"goal: 1+1 on Ray >= {GOAL} x the library: {'reached' if ratio >= GOAL else 'missed'}")


def latency(call: Callable[[], object]) -> float:
    time.sleep(0.01)  # all spares are ready again
    started = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - started)


if __name__ == "__main__":
    main()
