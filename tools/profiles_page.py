"""Generates docs/profiles.md from profiles/*.toml.

python3 tools/profiles_page.py            # exits with 1 if the page is out of date
python3 tools/profiles_page.py --write
"""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from made_page import write_or_compare  # noqa: E402
from profile_document import read_profile, read_toml  # noqa: E402

PROFILES = ROOT / "profiles"
PAGE = ROOT / "docs/profiles.md"
# In the order of increasing attack surface.
ORDER = ("basic", "filesystem", "data-science", "network", "full")
LIMITS = ("timeout", "cpu", "memory", "output", "result", "source", "file_size", "open_files",
          "processes")  # fmt: skip
HEAD = """\
# Profiles

Made from `profiles/*.toml` by `tools/profiles_page.py`; do not edit by hand.

A profile says what a program may use: modules and their names, system calls, places, limits.
The others are tiers on top of `basic`, and several may be joined with `+`, in any order:
`data-science+filesystem` has what each of them has, the larger of two limits, and the attack
surface of all.

```sh
belljar run plot.py                         # what is enabled and the program needs
belljar run --profile data-science+filesystem clean.py
belljar info                                # what is installed here, and what is missing
```

| profile | for | an operator of the server enables it with |
|---|---|---|
"""
HOW_TO_ENABLE = """
On the command line, whoever starts Belljar chooses the profile. Over MCP a call may name what the
operator has enabled, and a token what it was given ([configuration.md](configuration.md)): the
variable above is as good as `enable_…` below `[execution]` of the configuration file, or as the
name in `execution.profiles`. A call cannot enable what is off. What a profile adds for an attacker
is described below, and in `belljar info` and `get_sandbox_info`.

## Without a name

A program for which no profile is named gets `basic` (on a server `execution.profile`), and of what
is enabled and its token may use

- the profiles whose modules, or whose names in modules, its text uses, or that of the modules which
  are given with it (`.py`);
- `filesystem`, if its text opens files, if files are given with it, or if it imports a package of
  `data-science`, whose functions take paths: `to_csv`, `savefig`, `np.savetxt`;
- `network`, if its caller names hosts (`allowed_domains`, `--allow-domain`), never because of its
  text;
- `full` never.

The rule is the same for `belljar run`, `Sandbox.run`, `%%belljar`, MCP, the HTTP API with its jobs
and batches, and the [compatible APIs](compatible.md) whose setting is `auto`. The text is
searched, not parsed. A wrong guess weakens nothing: it chooses among what the caller may name
anyway. If an import is computed at run time, the refusal says which profile to name.

**Sessions** cannot know what later cells need. If no profile is named, they get everything that is
enabled and permitted except `network` and `full`, whatever their first cell is: `belljar repl`, the
Jupyter kernel, `box.session()`, `session: "new"`, `open_session` and `POST /v1/sessions`.

**Enabled** means on a server what its operator enabled. For the command and the Python package the
user is the operator: the variables in the table above enable a profile, and `data-science` is
enabled where its packages are installed (`SANDBOX_ENABLE_DATA_SCIENCE=false` prevents it), since it
adds neither files nor a network. The server's configuration file is not read by them.

**What it costs.** A program that needs only `basic` never waits for another profile. The zygote of
a combination starts with the first program that needs it, and then stays (the
[figures](performance-interfaces.md#programs-that-name-no-profile)). Where the operator
allows no combinations (`execution.combinations = 0`), a program gets the first of them. In
containers nothing is chosen: a combination may have no image.
"""


def names_of_profiles() -> list[str]:
    """All profiles, known ones first in their order; seccomp.toml is not a profile."""
    found = {path.stem for path in PROFILES.glob("*.toml") if "name" in read_toml(path)}
    return [name for name in ORDER if name in found] + sorted(found - set(ORDER))


def variable(name: str) -> str:
    return f"SANDBOX_ENABLE_{name.upper().replace('-', '_')}"


def cell(text: object) -> str:
    return str(text).replace("|", "\\|")


def paragraph(text: str) -> str:
    return textwrap.fill(text, width=105, break_long_words=False, break_on_hyphens=False)


def table(head: tuple[str, ...], rows: list[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join("| " + " | ".join(cell(each) for each in line) + " |" for line in lines)


def overview() -> str:
    rows = []
    for name in names_of_profiles():
        document = read_toml(PROFILES / f"{name}.toml")
        how = f"`{variable(name)}=true`" if document.get("extends") else "always there"
        rows.append(f"| [`{name}`](#{name}) | {cell(document['summary'])} | {how} |\n")
    return "".join(rows)


def limits(document: dict[str, Any]) -> str:
    own = document.get("limits", {})
    rows = [
        (name.replace("_", " "), own[name]["default"], own[name].get("max", own[name]["default"]),
         own[name]["why"])
        for name in LIMITS
        if name in own
    ]  # fmt: skip
    if not rows:
        return ""
    lead = "Limits that are its own; the others are those of what it extends.\n\n"
    return (lead if document.get("extends") else "") + table(
        ("limit", "default", "most", "why"), rows
    )


def places(document: dict[str, Any]) -> str:
    parts = []
    if workspace := document.get("workspace"):
        parts.append(
            f"**Workspace.** `/workspace`, the working directory, and `/tmp`: {workspace['size']} "
            f"and {workspace['inodes']:,} files and folders each, of each run alone, gone with it. "
            f"{sentence(workspace['why'])}"
        )
    if proxy := document.get("door"):
        parts.append(
            f"**Egress proxy.** A proxy on port {proxy['port']} of the worker's own loopback, and "
            f"nothing else. {sentence(proxy['why'])}"
        )
    for name, entry in document.get("packages", {}).items():
        parts.append(
            f"**Packages.** `{', '.join(entry['modules'])}`, which do not come with Belljar: "
            f"`./dev setup {name}` installs them, pinned in `requirements/{name}.txt`. A profile "
            "without its packages starts none the less; an import of one says what is missing."
        )
    return "\n\n".join(paragraph(part) for part in parts)


def sentence(text: str) -> str:
    return text[:1].upper() + text[1:] + ("" if text.endswith(".") else ".")


def modules(name: str) -> str:
    """The profile's own modules, including those of other profiles that it extends with names."""
    document = read_toml(PROFILES / f"{name}.toml")
    rows = [
        (f"`{module}`", entry.get("why", "") or f"the parts of {module}")
        for module, entry in sorted(document.get("modules", {}).items())
    ]
    if builtins := document.get("builtins", {}).get("exports"):
        if document.get("extends"):
            rows.insert(0, (f"built-in {', '.join(f'`{each}`' for each in builtins)}",
                            document["builtins"].get("why", "")))  # fmt: skip
    return table(("module", "why"), rows) if rows else ""


def for_tests(name: str) -> str:
    entries = read_toml(PROFILES / f"{name}.toml").get("for_tests", {})
    if not entries:
        return ""
    lead = paragraph(
        "For programs that import `unittest.mock`, whose tests patch what would reach outside: "
        "modules of our own, whose calls refuse. A profile that has one of these itself gives that."
    )
    rows = [(f"`{module}`", entry["why"]) for module, entry in sorted(entries.items())]
    return f"{lead}\n\n{table(('module', 'why'), rows)}"


def section(name: str) -> str:
    document = read_toml(PROFILES / f"{name}.toml")
    parts = [f"## {name}", paragraph(document["summary"])]
    if extends := document.get("extends"):
        parts.append(f"On top of `{extends}`.")
    if surface := document.get("attack_surface"):
        parts.append(
            "What it adds for an attacker:\n\n" + "\n".join(f"- {each}" for each in surface)
        )
    parts += [places(document), limits(document)]
    whole = read_profile(PROFILES / f"{name}.toml", None)
    count = len(whole.get("modules", {}))
    lead = f"{count} modules may be imported" + (", those of `basic` and:" if extends else ":")
    if rows := modules(name):
        parts += [lead, rows, for_tests(name)]
    return "\n\n".join(part for part in parts if part)


def page() -> str:
    parts = [HEAD + overview() + HOW_TO_ENABLE.rstrip()]
    return "\n\n".join([*parts, *map(section, names_of_profiles())]) + "\n"


def main() -> int:
    return write_or_compare(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
