"""The batch of belljar-bench-service with plain subprocesses, which hold nothing in: a pool of the
standard library whose workers start a Python for each test.

    subprocess_pool.py < TESTS

TESTS: a JSON array of [PROGRAM, STDIN, EXPECTED]. Prints the seconds from the first to the last of
them. Exits with 1 if an output is not the expected one.
"""

import json
import multiprocessing
import os
import subprocess
import sys
import time


def passes(test: tuple[str, str, str]) -> bool:
    program, stdin, expected = test
    done = subprocess.run(
        [sys.executable, "-I", "-S", "-c", program],
        input=stdin,
        capture_output=True,
        text=True,
        timeout=30,
    )
    return done.stdout == expected


def main() -> int:
    tests = [tuple(each) for each in json.load(sys.stdin)]
    with multiprocessing.Pool(os.cpu_count()) as pool:
        began = time.perf_counter()
        passed = sum(pool.imap_unordered(passes, tests, chunksize=16))
        print(time.perf_counter() - began)
    return 0 if passed == len(tests) else 1


if __name__ == "__main__":
    sys.exit(main())
