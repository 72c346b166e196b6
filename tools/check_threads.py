"""Check that the C++ tree starts threads in one way only: by engine/core/thread.h, which returns an
error where the machine has no more threads and keeps signals from the new one. Everything else that
starts one throws, and std::terminate is the end of the process.

Tests and benchmarks are exempt: there an exception is a failure like any other.
"""

import re
import sys
from pathlib import Path

STARTS = re.compile(
    r"\bstd::(?:jthread\b|async\b|thread\b(?!::hardware_concurrency\b))"
    r"|\bpthread_create\b|\bthrd_create\b|\bthread_pool\b"
)
COMMENT = re.compile(r"//.*")
# Files that may, and why.
ALLOWED = {
    "engine/core/thread.h": "the one place",
    "server/operations/log.cc": "spdlog's pool starts its thread; the error is translated there",
}
SKIPPED = ("build", "tests", "bench")


def violations(root: Path) -> list[str]:
    found = []
    for path in sorted([*root.rglob("*.cc"), *root.rglob("*.h")]):
        name = path.relative_to(root).as_posix()
        if name.split("/")[0] in SKIPPED or name in ALLOWED:
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := STARTS.search(COMMENT.sub("", line)):
                found.append(f"{name}:{number}: {match[0]}; start threads by core::Thread::Start")
    return found


def main() -> int:
    found = violations(Path(sys.argv[1]))
    print("\n".join(found), end="\n" if found else "")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
