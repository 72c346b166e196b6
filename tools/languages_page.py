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
/v1/executions` then have `language`. A token that is restricted to profiles must list the
language among them.

"""
HELD = """\
## What holds a program

There is no language policy here: **the kernel layers are the only wall**, and the result says so
(`isolation.policy` is `off`). They are those of Python's workers: namespaces with a private
read-only root, no privileges, resource limits, Landlock, and an allow-list of system calls. What
differs:

- Programs may start others, up to 128 processes and threads, in a PID namespace that ends with
  the run. Whatever is left when the program ends is killed.
- The root shows the language's own trees and the shared libraries, read-only. `/workspace` and
  `/tmp` are private and bounded. Nothing in them can be executed, unless the language compiles.
- `/proc` shows the run's own processes and nothing of the machine.
- Memory that is written and then executed is refused, except to languages with a compiler that
  works at run time (see the list below). It is a hurdle for who has taken over an interpreter,
  not for native code.
- A system call that is not allowed fails with EPERM. It is not recorded, because a handler would
  not survive `execve`. A hostile one ends the process; if that was the program, the result is
  `killed` with a security event.
- The memory limit bounds the data of each process (RLIMIT_DATA), and the host ends a run whose
  processes have more together. CPU time counts for all of them.

With `--profile network`, or `allowed_domains` in a call, a program gets the egress proxy of that
profile, of which it learns by `HTTP_PROXY` and its kin. Sessions, `inputs`, `functions` and
validation are for Python only.

## In a container

```bash
belljar image build --language bash --load docker    # once; or podman, runsc
belljar run --container script.sh
```

`use_container` in calls and `Sandbox(language="bash", container=True)` do the same
([containers.md](containers.md)). The image is built from what this machine has of the language: its
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
  libraries; one for a compiled language has the compiler and the linker. Of `/usr/include` it has
  the headers of the C and C++ libraries.
- There is no network, and `--profile network` is refused. Nothing is started ahead of its program.

All languages of the list below were tried in containers, under runc and under gVisor. Images
have 12 MB (Lua) to 650 MB (Rust), Bash's 205 MB. A container for Bash is ready in 0.08 s under
runc and in 0.23 s under gVisor; one for Python takes 0.15 s and 0.70 s.

## What comes back

As for Python: output while it runs, exit code, usage, limits, and the files that are left in the
workspace. `error` has the type, message and line that the interpreter or compiler wrote, where
its format is known; `CompileError` if it did not compile, and `SIGSEGV` and the like for a
signal.

"""
OWN = """\
## A language of your own

A language is a file. Give its path as `--language ./own.toml`, in `execution.languages`, or as
`Sandbox(language="./own.toml")`:

```toml
schema = 1
name = "awk"
extends = "base"
summary = "AWK, as this machine has it."

[program]
why = "reports"
title = "AWK"
extensions = [".awk"]
package = "mawk"
version = ["mawk", "-W", "version"]
file = "main.awk"
command = ["mawk", "-f", "{file}"]
example = 'BEGIN { print "hello" }'

[[paths]]
path = "{program}"
why = "the interpreter"
```

Unknown keys and missing reasons are refused with file and line. `languages/base.toml` has what
all have in common.

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
    if "jit" in groups:
        notes.append("executable memory")
    return (
        f"`{language['name']}`",
        program["title"],
        names(program.get("aliases", [])),
        names(program.get("extensions", [])),
        f"`{program['package']}`",
        ", ".join(notes),
    )


def page() -> str:
    head = ("name", "language", "other names", "files", "Debian's package", "remarks")
    return HEAD + HELD + OWN + table(head, [entry(each) for each in languages()]) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_compare(PAGE, page()))
