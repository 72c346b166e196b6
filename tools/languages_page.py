"""docs/languages.md, generated from languages/*.toml.

python3 tools/languages_page.py            # exit 1 if the page is out of date
python3 tools/languages_page.py --write
"""

import sys
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from made_page import table, write_or_compare  # noqa: E402

PAGE = ROOT / "docs/languages.md"
HEAD = """\
# Languages

Generated from `languages/*.toml` by `tools/languages_page.py`; do not edit by hand.

Belljar embeds Python. Programs of other languages run by the interpreters and compilers of this
machine, in the same kernel jail. `belljar languages` lists them, with the version that is
installed and the time of a run.

```bash
belljar run script.sh
belljar run --language javascript -c 'console.log(6 * 7)'
belljar run main.c --stdin numbers.txt
```

The language is that of the file's extension or of its first line (`#!`), or the one that
`--language` names. In Python it is an option of the sandbox, and a program is run as any other:

```python
import belljar

with belljar.Sandbox(language="bash") as box:
    print(box.run("echo $((6 * 7))").stdout)
```

A server offers none until its operator enables some: `--languages bash,javascript`,
`execution.languages` or `SANDBOX_ENABLE_LANGUAGES`. Calls of `execute_code` and `POST
/v1/executions` then have `language`, and so have the APIs of
[Judge0, Piston and SandboxFusion](compatible.md#languages). A token that is restricted to
profiles must list the language among them.

## Sessions

SESSION_TITLES have sessions: an interpreter stays from cell to cell, with its
variables, functions, working directory and environment. The value of a cell's last expression is
its result, where it is plain data (JavaScript, R), and a cell of R's shows figures and tables as a
program does ([below](#what-comes-back)); JavaScript may `await` at the top level and
declare a name again.

```python
import belljar

with belljar.Sandbox(language="bash") as box, box.session() as session:
    session.run("cd /tmp; greet() { echo hello $1; }")
    print(session.run("greet you; pwd").stdout)
```

Cells of a session may also be [in several languages](sessions.md#several-languages), Python among
them, over the same files: `session.run(code, language="r")`.

`belljar repl --language bash` is a [prompt](cli-repl.md) over one. A server opens one by
`open_session` or `POST /v1/sessions` with `language`. Between cells all its
processes are stopped. An interrupted cell leaves everything as it is; in JavaScript an interrupt in
the first moment of a cell can end the interpreter instead. A cell that is stopped by a
limit ends its interpreter: the session goes on with a new one (`session.restarted`), without the
variables, and with the files as they were before the cell. There are no checkpoints, and no
sessions in containers.

"""
HELD = """\
## What holds a program

There is no language policy here: **the kernel layers are the only wall**, and the result says so
(`isolation.policy` is `off`). They are those of Python's workers: namespaces with a private
read-only root, no privileges, resource limits, Landlock, and an allow-list of system calls. What
differs:

- Programs may start others, up to 128 processes and threads, in a PID namespace that ends with
  the run. Whatever is left when the program ends is killed.
- The root shows the language's own trees, the shared libraries and, except to SQLite, `/usr/bin`
  with the shell and its commands, read-only. `/workspace` and `/tmp` are private and bounded.
  Nothing in them can be executed, unless the language compiles. `/dev/shm` is `/tmp`.
- A command of `/usr/bin` that needs more than that fails, gcc among them. In Bash, Perl works, and
  `python3` with its standard library; Node.js only with `--jitless`.
- `/proc` shows the run's own processes and nothing of the machine: there is no `/proc/cpuinfo` and
  no `/proc/meminfo`, so `os.cpus()` in Node.js is empty, `detectCores()` in R is `NA`, and `free`
  and `uptime` fail. `nproc` and `os.availableParallelism()` tell the number of processors.
- The user, 65534, has no entry in a user database: `whoami`, `os.userInfo()` in Node.js and
  `getpwuid()` find no name. `USER` is `sandbox` and `HOME` is `/workspace`.
- `localhost` and the host's name, `belljar`, have addresses, but a socket is refused, also for
  loopback, and so is what needs one, such as `os.networkInterfaces()` in Node.js and
  `makeCluster()` in R.
- There is no System V IPC, no message queue, no pseudo-terminal and no `taskset`.
- `flock` grants shared locks only, because an exclusive one would work on files of the machine.
  `fcntl` and `lockf` lock files of the workspace, as SQLite does.
- Programs have three descriptors, which are pipes, and no terminal, also where `belljar run` has
  one. R and the interpreters of sessions have two more pipes, by which Belljar talks to them.
- A system call that is not allowed fails with EPERM, and **is not recorded**: the handler that
  records it for Python would not survive `execve`. A hostile one (ptrace, mount, bpf, …) kills the
  process. If that was the program, or its compiler, the result is `killed` with a security event;
  if it was another process of the run, its parent sees SIGSYS (in Bash exit code 159), and the
  result has no event.
- A compiler has limits of its own: `compile_time` of wall-clock and of CPU time, 10 seconds
  unless the language's file says otherwise, and `compile_memory`, 512 MiB; or those of the call,
  where they are higher. The limits of the call hold for the program from when it is compiled.
- The memory limit bounds the data of each process (RLIMIT_DATA), and the host ends a run whose
  processes have more together. CPU time counts for all of them. An interpreter that was started
  ahead has the highest limit of its data, so that only the host ends it; R itself refuses what
  does not fit.

With `--profile network`, or `allowed_domains` in a call, a program or session gets the egress proxy
of that profile, of which it learns by `HTTP_PROXY` and its kin. `inputs`, `functions` and
validation are for Python only.

## In a container

```bash
belljar image build --language bash --load docker    # once; or podman, runsc
belljar run --container script.sh
```

`use_container` in calls and `Sandbox(language="bash", container=True)` do the same
([containers.md](containers.md)). The image is built from what is installed here: the language's
programs, its own trees, and the shared libraries that they are linked with. Request, limits,
output and files are as without a container. What differs:

- The container's namespaces and root stand in the place of ours. `/proc` is the container's. The
  memory of Belljar's own processes in it cannot be read, nor can they be traced.
- Under gVisor there is no Landlock, so a program may read all that is in the image, the environment
  and the memory maps of those processes, and may end the container by killing them. Data in
  `/workspace` and `/tmp` can be executed there.
- The container bounds processes and threads: 192, under gVisor 384 with its own. Under gVisor
  a fork bomb may end the container, and the run is `killed`.
- Of `/usr/bin`, an image for Bash or R has the commands that are smaller than 8 MB with their
  libraries, one for another interpreter those of them that are smaller than 300 kB themselves; one
  for a compiled language has the compiler and the linker. Of `/usr/include` it has the headers of
  the C and C++ libraries.
- There is no network, and `--profile network` is refused. Nothing is started ahead of its program.
  `/dev/shm` cannot be written, so Python's `multiprocessing` fails, and names of hosts are the
  container's.

All languages of the list below were tried in containers, under runc and under gVisor. Images
have 14 MB (SQLite) to 650 MB (Rust), Bash's 270 MB. A container for Bash is ready in 0.08 s under
runc and in 0.23 s under gVisor; one for Python takes 0.15 s and 0.70 s.

### Executable memory

Memory that is written and then executed is refused, except to languages with a compiler that works
at run time: their group `jit` allows PROT_EXEC in `mmap` and `mprotect`. That removes a hurdle: a
program that exploits a memory error in V8 or HotSpot can run its own machine code at once, instead
of chaining code that is there already (return-oriented programming). It then makes the same
system calls under the same filter, with the same files, limits and network. Native programs have
machine code anyway. Where a language can do without a run-time compiler it does: PHP and R run
their regular expressions uncompiled. A shared library or a program that was written into
the workspace cannot be loaded in any of these languages, since the mount forbids it (noexec).

### Language by language

All have the system calls of `runtime`, `files` and `programs` in `profiles/seccomp.toml`, and see
the paths of `languages/base.toml`. `{program}` is the interpreter's own file, and `{home}` the
folder that it is installed in. A language's file has more paths, which may be missing.

HELD_TABLE
## What comes back

As for Python: output while it runs, exit code, usage, limits, and the files that are left in the
workspace. `error` has the type, message and line that the interpreter or compiler wrote, where
its format is known; `CompileError` if it did not compile, and `SIGSEGV` and the like for a
signal.

The value of a JavaScript program that ends with exit code 0 is what its main file exports:
`module.exports = {total: 42}` is its `result`, as JSON, with `repr` as Node.js prints it. An ES
module has none. A last expression counts in sessions only; here it would need another program text.

From R also what an analysis is run for:

| a program in R | in the result |
|---|---|
| its last expression, if visible | the value, where it is plain data, and its printed text |
| what it draws on the default device | `figure-1.png`, …, one a page, even if it fails later |
| a data frame as last expression | `result.csv`; its note has the shape and the columns' types |

```python
import belljar

with belljar.Sandbox(language="r") as box:
    result = box.run("plot(cars); aggregate(dist ~ speed, cars, mean)")
    print([each.name for each in result.artifacts], result.value["speed"][:3])
```

There are at most 20 figures and tables. Vectors are lists or single values, lists with names are
objects, a matrix is a list of its rows, a data frame an object of its columns; factors, dates and
times are strings. A table has up to 100,000 cells, 1,000 columns and 4 MiB, an artifact up to
4 MiB, all of a run 16 MiB; what is left out is counted in `truncated.artifacts`. A figure is 700 x
700 pixels unless `dev.new(width=, height=)` says otherwise, in inches of 100 pixels, up to 20.
Files that a program writes by itself (`png()`, `svg()`, `ggsave()`) are files of the workspace.

"""
COST = """\
## What it costs

A run costs about half a millisecond more than a start of the interpreter outside. Where a language
is *started ahead* (see the list below), an interpreter waits in each spare worker, used once. A
launcher takes 0.6 MiB of memory and a waiting worker 0.3 MiB; a worker with a waiting Node.js takes
14 MiB, of which 6 MiB are its own, and one with a waiting R 57 MiB. What the kernel does to take
these down when they have nothing left to do is neither waited for nor counted.
[performance.md](performance.md#other-languages) has the figures.

`belljar languages --prepare java` makes an archive of its compiler's classes, which saves a third
of a small program's CPU time. Make it again after an update of the JDK; root makes it for all
users. Containers do not use it.

Go 1.20 and later come without a compiled standard library, so each program compiles what it imports
of it: a small program takes 13 seconds of CPU time. Go 1.19, Debian 12's, does so for packages that
depend on `net`. With a cache of the go command it is done once, again with each new Go, and a small
program takes 0.3 seconds:

```bash
mkdir -p /var/cache/belljar/go
CGO_ENABLED=0 GO111MODULE=off GOFLAGS=-buildvcs=false GOCACHE=/var/cache/belljar/go go build std
```

A Java program is one file with any classes, or several files. Of several classes with a `main`, the
one that the file is named for runs, or else the public one, or else the first. The heap may take
half of the memory limit, and half of 512 MiB where that is lower.

"""
OWN = """\
## A language of your own

A language is a file, and [you can add some](own-languages.md): `--language ./own.toml`.

## The languages

"""


def languages() -> list[dict[str, Any]]:
    files = sorted((ROOT / "languages").glob("*.toml"))
    read = [tomllib.loads(file.read_text(encoding="utf-8")) for file in files]
    return [each for each in read if "extends" in each]


def names(values: list[str]) -> str:
    return ", ".join(f"`{value}`" for value in values)


def entry(language: dict[str, Any]) -> tuple[str, ...]:
    program = language["program"]
    groups = language.get("seccomp", {}).get("groups", [])
    notes = []
    if program.get("compile"):
        notes.append("compiled")
    if program.get("warm"):
        notes.append("started ahead")
    if program.get("value"):
        notes.append("value")
    if program.get("shows"):
        notes.append("figures and tables")
    if program.get("commands"):
        notes.append("[commands](workshop.md)")
    if "jit" in groups:
        notes.append("executable memory")
    return (
        f"`{language['name']}`",
        program["title"],
        names(program.get("aliases", [])),
        names(program.get("extensions", [])),
        names(program["package"].split()),
        ", ".join(notes),
    )


def held(language: dict[str, Any]) -> tuple[str, ...]:
    program = language["program"]
    groups = language.get("seccomp", {}).get("groups", [])
    runs_own = program["command"][0] == "{binary}" or program.get("commands")
    return (
        f"`{language['name']}`",
        "yes" if "jit" in groups else "no",
        "yes" if runs_own else "no",
        names(
            [
                path["path"]
                for path in language["paths"]
                if not path.get("optional") and "link" not in path
            ]
        ),
    )


def page() -> str:
    held_head = ("name", "executable memory", "executes files of its own", "must see")
    held_table = table(held_head, [held(each) for each in languages()]) + "\n\n"
    head = ("name", "language", "other names", "files", "Debian's package", "remarks")
    rows = table(head, [entry(each) for each in languages()])
    titles = [each["program"]["title"] for each in languages() if each["program"].get("session")]
    with_sessions = ", ".join(titles[:-1]) + " and " + titles[-1]
    text = HEAD.replace("SESSION_TITLES", with_sessions)
    return text + HELD.replace("HELD_TABLE\n", held_table) + COST + OWN + rows + "\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(PAGE, page()))
