"""Sessions of the shell, beside the same work on this machine: commands, terminals, output, git,
the tests of a package.

    workshop.py BUILD [--rounds N] [--only WORD] [--json]

BUILD is a build tree: its package is imported. Each figure is a function below, marked by @figure,
which adds rows to `bench`; both sides alternate in the same run, so that drift of the machine
affects both. To add one, add a function.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import belljar

PYTHON = "/usr/bin/python3"
GIGABYTE = 1_000_000_000
Act = Callable[[], object]


class Bench:
    def __init__(self, box: belljar.Sandbox, rounds: int, folder: Path) -> None:
        self.box = box
        self.rounds = rounds
        self.folder = folder  # in memory, as a session's workspace
        self.samples: dict[str, list[float]] = {}

    def alternate(self, acts: dict[str, Act], *, rounds: int | None = None) -> None:
        """Takes samples of each in turn, in milliseconds; the first of all is not counted."""
        for sample in range(-1, self.rounds if rounds is None else rounds):
            for name, act in acts.items():
                start = time.perf_counter()
                act()
                took = 1000 * (time.perf_counter() - start)
                if sample >= 0:
                    self.samples.setdefault(name, []).append(took)


Figure = Callable[[Bench], None]
FIGURES: list[Figure] = []


def figure(measure: Figure) -> Figure:
    FIGURES.append(measure)
    return measure


def here(*command: str, folder: Path | None = None, **options: object) -> bytes:
    """Runs a command on this machine."""
    done = subprocess.run(command, cwd=folder, check=True, stdout=subprocess.PIPE, **options)  # type: ignore[call-overload]
    return done.stdout


def spawn_and_wait() -> None:
    pid = os.posix_spawn("/usr/bin/true", ["true"], {})
    os.waitpid(pid, 0)


@figure
def a_command(bench: Bench) -> None:
    with bench.box.session() as session:
        bench.alternate(
            {
                "true: fork, exec, wait": spawn_and_wait,
                "true: in an open session": lambda: session.command(["true"]),
            },
            rounds=10 * bench.rounds,
        )


@figure
def opening(bench: Bench) -> None:
    def opened() -> None:
        with bench.box.session() as session:
            session.command(["true"])

    def again() -> None:
        bench.box.session().close()
        # sleeps: until another worker waits, as between the sessions of an agent
        time.sleep(0.05)

    bench.alternate({"a session: opened, `true`, closed": opened})
    for _ in range(bench.rounds):
        again()
        start = time.perf_counter()
        session = bench.box.session()
        bench.samples.setdefault("a session: opened", []).append(
            1000 * (time.perf_counter() - start)
        )
        session.close()


@figure
def a_key(bench: Bench) -> None:
    """Until its echo is read. A terminal echoes by itself."""
    master, other = pty.openpty()
    with subprocess.Popen(["cat"], stdin=other, stdout=other) as cat:
        os.close(other)

        def key_here() -> None:
            os.write(master, b"x")
            os.read(master, 1)

        with bench.box.session() as session:
            shell = session.spawn(["cat"], terminal=True)
            at = 0

            def key_inside() -> None:
                nonlocal at
                shell.write("x")
                at = shell.read(at).end

            bench.alternate(
                {
                    "a key and its echo: a terminal of this machine": key_here,
                    "a key and its echo: a terminal of a session": key_inside,
                },
                rounds=10 * bench.rounds,
            )
        cat.kill()
        os.close(master)


@figure
def much_output(bench: Bench) -> None:
    line = f"head -c {GIGABYTE} /dev/zero"

    def read_here() -> None:
        with subprocess.Popen(["bash", "-c", line], stdout=subprocess.PIPE) as process:
            assert process.stdout
            while process.stdout.read1(1 << 20):
                pass

    with bench.box.session() as session:
        bench.alternate(
            {
                "1 GB of output: read from a pipe": read_here,
                "1 GB of output: the end of it kept": lambda: session.command(line, check=True),
                "1 GB of output: through a callback": lambda: session.command(
                    line, check=True, stream=lambda text, stream: None
                ),
            },
            rounds=3,
        )


REPOSITORY = """
set -e
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
git init -q repository && cd repository
for folder in {1..100}; do
  mkdir $folder
  for file in {1..100}; do echo "$folder $file" > $folder/$file; done
done
git add . && git commit -qm all && git status --short
"""


@figure
def git_status(bench: Bench) -> None:
    environment = {"HOME": str(bench.folder), "PATH": os.environ["PATH"]}
    subprocess.run(["bash", "-c", REPOSITORY], cwd=bench.folder, env=environment, check=True)
    with bench.box.session() as session:
        session.command(REPOSITORY, check=True)
        bench.alternate(
            {
                "git status, 10,000 files: on this machine": lambda: here(
                    "git", "status", "--short", folder=bench.folder / "repository", env=environment
                ),
                "git status, 10,000 files: in a session": lambda: session.command(
                    ["git", "status", "--short"], directory="repository", check=True
                ),
            }
        )
    with bench.box.session(project=bench.folder / "repository") as session:
        first = time.perf_counter()
        session.command(["git", "status", "--short"], check=True)
        bench.samples["git status, 10,000 files: in a project, first"] = [
            1000 * (time.perf_counter() - first)
        ]
        bench.alternate(
            {
                "git status, 10,000 files: in a project": lambda: session.command(
                    ["git", "status", "--short"], check=True
                )
            }
        )


@figure
def a_project(bench: Bench) -> None:
    """Over 100,000 files, with 100 of them changed."""
    folder = bench.folder / "large"
    folder.mkdir()
    for number in range(100):
        (folder / str(number)).mkdir()
        for file in range(1000):
            (folder / str(number) / str(file)).touch()
    with bench.box.session(project=folder) as session:
        session.command("for i in {0..99}; do echo x > $i/new; done", check=True)
        bench.alternate(
            {
                "a session over 100,000 files: opened, closed": lambda: bench.box.session(
                    project=folder
                ).close(),
                "a branch of it with 100 changes: made, closed": lambda: session.branch(1)[
                    0
                ].close(),
                "its changes, listed": session.changes,
            }
        )


@figure
def a_test_suite(bench: Bench) -> None:
    """h11's own: 78 tests, one of them with a server and a client."""
    import pytest

    from tests.python import project_suites as suites

    project = next(each for each in suites.PYTHON_PROJECTS if each.name == "h11")
    download = bench.folder / "download"
    download.mkdir()
    try:
        root = suites.sdist(project, download)
    except pytest.skip.Exception as skipped:
        print(f"workshop.py: not measured: pytest of {project.name}: {skipped}", file=sys.stderr)
        return
    work = bench.folder / "work"
    shutil.copytree(root, work / "project")
    suites.runners(work / "site")
    line, variables = suites.python_line(project)
    with bench.box.session() as session:
        suites.put(session, work)
        outside, inside = suites.here(work), suites.inside(session)

        def passes(run: suites.Run) -> None:
            code, said = run(line, variables)
            if code != 0:
                sys.exit(f"workshop.py: {project.name} does not pass its tests:\n{said}")

        bench.alternate(
            {
                "pytest -q of h11: on this machine": lambda: passes(outside),
                "pytest -q of h11: in a session": lambda: passes(inside),
            },
            rounds=max(3, bench.rounds // 10),
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--only", default="", help="figures with this word in their name")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build.resolve() / "python"))
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import belljar

    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with (
        tempfile.TemporaryDirectory(dir=memory) as folder,
        belljar.Sandbox(language="shell") as box,
    ):
        Path(folder).chmod(0o755)
        bench = Bench(box, options.rounds, Path(folder))
        for measure in FIGURES:
            if options.only in measure.__name__:
                measure(bench)
    rows = {
        name: {
            "least": min(taken),
            "median": statistics.median(taken),
            "p99": sorted(taken)[int(0.99 * (len(taken) - 1))],
            "n": len(taken),
        }
        for name, taken in bench.samples.items()
    }
    if options.json:
        print(json.dumps({"ms": rows, "load": os.getloadavg()[0]}))
        return
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}; milliseconds\n")
    print(f"  {'':48} {'least':>10} {'median':>10} {'p99':>10}")
    for name, row in rows.items():
        print(
            f"  {name:48} {row['least']:10.3f} {row['median']:10.3f} {row['p99']:10.3f}"
            f"   n {row['n']}"
        )


if __name__ == "__main__":
    main()
