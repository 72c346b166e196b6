"""A limit is a kill, in every language: none is caught, ignored or outlived."""
# ruff: noqa: E501 programs of other languages

import uuid
from pathlib import Path

import pytest

from tests.clocks import until
from tests.languages.conftest import Run, end, processes_with

FLOOD = {
    "bash": "yes flood",
    "javascript": "for (;;) require('fs').writeSync(1, 'flood\\n'.repeat(1000))",
    "c": '#include <stdio.h>\nint main() { for (;;) puts("flood"); }',
}


@pytest.mark.parametrize("name", FLOOD)
def test_output(name: str, run: Run) -> None:
    ran = run(name, FLOOD[name], options=("--timeout", "1", "--max-output", "10k"))
    assert ran.status in ("timeout", "cpu_limit"), ran.outcome
    assert len(ran.stdout) == 10 * 1024
    assert ran.truncated["stdout_bytes"] > 0 if "stdout_bytes" in ran.truncated else ran.truncated


MEMORY = {
    "bash": 'x=xxxxxxxx; while :; do x="$x$x"; done',
    "javascript": "const a = []; for (;;) a.push(Buffer.alloc(1 << 20, 1))",
    "c": "#include <stdlib.h>\n#include <string.h>\n"
    "int main() { for (;;) { char *p = malloc(1 << 20); if (!p) abort(); memset(p, 1, 1 << 20); } }",
    "r": "x <- list(); for (i in 1:100000) x[[i]] <- numeric(1e6) + 1",
    "java": "import java.util.*; class Main { public static void main(String[] a) {"
    " var l = new ArrayList<byte[]>(); for (;;) l.add(new byte[1 << 20]); } }",
}


@pytest.mark.parametrize("name", MEMORY)
def test_memory_of_one_process(name: str, run: Run) -> None:
    ran = run(name, MEMORY[name], options=("--memory", "400m"))
    assert ran.status in ("memory_limit", "exception"), ran.outcome
    assert ran.code != 0
    assert ran.usage["max_rss_bytes"] <= 500 << 20, ran.outcome


SHARED = r"""
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main() {
  for (int i = 0; i < 8; ++i) {
    if (fork()) continue;
    char *p = mmap(0, 64 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(p, 1, 64 << 20);
    pause();
  }
  pause();
}
"""


@pytest.mark.parametrize("kind", ["MAP_SHARED", "MAP_PRIVATE"])
def test_memory_of_several_processes_together(kind: str, run: Run) -> None:
    ran = run("c", SHARED.replace("MAP_SHARED", kind), options=("--memory", "200m"))
    assert (ran.status, ran.error["type"]) == ("memory_limit", "MemoryLimit"), ran.outcome


@pytest.mark.parametrize("start", ["fork", "vfork"])
def test_memory_that_processes_share_counts_once(start: str, run: Run) -> None:
    """An interpreter with much in memory that starts another program, as R does at its end."""
    source = r"""
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {
  memset(malloc(150 << 20), 1, 150 << 20);
  // sleeps: the host looks every 20 ms
  if (START() == 0) { usleep(200000); _exit(0); }
  wait(0);
}
"""
    ran = run("c", source.replace("START", start), options=("--memory", "200m"))
    assert ran.status == "ok", ran.outcome
    assert 150 << 20 <= ran.usage["max_rss_bytes"] < 200 << 20


def test_memory_while_processes_end(run: Run) -> None:
    """One that ends while they are looked at leaves its pages to another, which counts them too."""
    source = r"""
#include <string.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
int main() {
  for (int i = 0; i < 40; ++i) {
    if (fork() == 0) {
      memset(malloc(150 << 20), 1, 150 << 20);
      if (fork() == 0) { usleep(10000); _exit(0); }  // sleeps: the host sees some of them
      wait(0);
      _exit(0);
    }
    wait(0);
  }
}
"""
    ran = run("c", source, options=("--memory", "200m"))
    assert ran.status == "ok", ran.outcome


BOMBS = {
    "bash": "bomb() { bomb | bomb & }; bomb; sleep 1000 # {mark}",
    "c": '#include <unistd.h>\nconst char *mark = "{mark}";\nint main() {{ for (;;) fork(); }}',
}


@pytest.mark.parametrize("name", BOMBS)
def test_fork_bombs(name: str, run: Run) -> None:
    mark = uuid.uuid4().hex
    ran = run(
        name,
        BOMBS[name].replace("{mark}", mark).replace("{{", "{").replace("}}", "}"),
        options=("--timeout", "1", "--env", f"MARK={mark}"),
    )
    assert ran.code != 0, ran.outcome
    assert_nothing_is_left(mark)


def assert_nothing_is_left(mark: str) -> None:
    try:
        until(lambda: not processes_with(mark), lambda: f"left: {processes_with(mark)}")
    finally:
        end(processes_with(mark))


@pytest.mark.parametrize(
    ("what", "source"),
    [
        ("space", "head -c 200m /dev/zero > full"),
        (
            "files",
            "for i in {1..5000}; do : > $i || exit 1; done 2>&1 | tail -1; exit ${PIPESTATUS[0]}",
        ),
        ("other space", "head -c 200m /dev/zero > /tmp/full"),
    ],
)
def test_files(what: str, source: str, run: Run) -> None:
    ran = run("bash", source)
    assert ran.status == "exception", ran.outcome
    assert ran.exit_code, ran.outcome


STUBBORN = {
    "bash": "trap '' TERM INT HUP XCPU; while :; do sleep 1; done",
    "javascript": "for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); for (;;);",
    "c": "#include <signal.h>\nint main() { for (int i = 1; i < 65; ++i) signal(i, SIG_IGN); for (;;); }",
}


@pytest.mark.parametrize("name", STUBBORN)
def test_time_with_signals_ignored(name: str, run: Run) -> None:
    ran = run(name, STUBBORN[name], options=("--timeout", "1", "--cpu", "20"))
    assert (ran.status, ran.error["type"], ran.code) == ("timeout", "Timeout", 4), ran.outcome


@pytest.mark.parametrize(
    ("name", "source"),
    [
        ("bash", "for i in 1 2 3; do (while :; do :; done) & done; wait"),
        ("c", "#include <unistd.h>\nint main() { fork(); fork(); for (;;); }"),
        # Each ends soon: the sum counts those that are gone, too.
        ("bash", "while :; do (for ((i = 0; i < 20000; i++)); do :; done); done"),
    ],
)
def test_cpu_of_several_processes(name: str, source: str, run: Run) -> None:
    ran = run(name, source, options=("--cpu", "1", "--timeout", "60"))
    assert (ran.status, ran.error["type"], ran.code) == ("cpu_limit", "CpuLimit", 4), ran.outcome


@pytest.mark.parametrize(
    "source",
    [
        "sleep 1000 & disown",
        "setsid sleep 1000 & ",
        "nohup sleep 1000 > /dev/null 2>&1 &",
        "(trap '' TERM HUP; (sleep 1000; sleep 1000) &) &",
        "coproc sleep 1000; exit 0",
    ],
)
def test_nothing_outlives_its_run(source: str, run: Run) -> None:
    mark = uuid.uuid4().hex
    ran = run("bash", source + "\necho done", options=("--env", f"MARK={mark}"))
    assert ran.code == 0, ran.outcome
    assert_nothing_is_left(mark)


def test_zombies_are_counted_and_end_with_their_run(run: Run) -> None:
    mark = uuid.uuid4().hex
    source = r"""
#include <stdio.h>
#include <unistd.h>
int main() {
  int made = 0;
  for (int i = 0; i < 1000; ++i) {
    int pid = fork();
    if (pid == 0) _exit(0);
    if (pid > 0) ++made;
  }
  printf("%d\n", made);
}
"""
    ran = run("c", source, options=("--env", f"MARK={mark}"))
    assert ran.status == "ok", ran.outcome
    assert 0 < int(ran.stdout) <= ran.limits["processes"]
    assert_nothing_is_left(mark)


SLOW_COMPILER = """
schema = 1
name = "slow"
extends = "base"
summary = "A compiler that does not end."

[program]
why = "a test"
title = "Slow"
extensions = [".sh"]
package = "coreutils"
version = ["sleep", "--version"]
file = "main.sh"
compile = ["sleep", "600"]
compile_time = "700ms"
compile_memory = "64m"
command = ["bash", "{file}"]
example = 'echo hello'

[[paths]]
path = "/usr/bin"
why = "bash and sleep"
"""


def test_a_compiler_has_a_limit_of_its_own(run: Run, tmp_path: Path) -> None:
    own = tmp_path / "slow.toml"
    own.write_text(SLOW_COMPILER)
    options: tuple[str | Path, ...] = ("--language", own, "--timeout", "0.2")
    ran = run("bash", "echo 1", options=options)
    assert ran.status == "timeout", ran.outcome
    assert ran.error["message"] == "stopped after 700ms of wall time, while it was compiled"
    # The control: one that ends, after more than the program may take.
    own.write_text(SLOW_COMPILER.replace('"600"', '"3"').replace("700ms", "60s"))
    ran = run("bash", "echo 1", options=options[:2] + ("--timeout", "2"))
    assert (ran.status, ran.stdout) == ("ok", "1\n"), ran.outcome
