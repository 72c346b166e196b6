"""docs/language.md, generated from the tables of policy/belljar_policy.

python3 tools/language_page.py            # exit 1 if the page is out of date
python3 tools/language_page.py --write

Needs RestrictedPython, whose list of names the tables extend.
"""

import importlib
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from made_page import table, write_or_compare  # noqa: E402

PAGE = ROOT / "docs/language.md"
HEAD = """\
# The language

Generated from `policy/belljar_policy/constructs.py` and `tables.py` by `tools/language_page.py`; do
not edit by hand.

Restricted Python is CPython (3.11 to 3.14, depending on the build) without some names,
attributes and modules. It is not a different language: an accepted program runs as in plain CPython
of that version, with the same output, exceptions and order of evaluation. This page lists the
decision about every construct. [policy.md](policy.md) explains how it is enforced,
[rules.md](rules.md) what each rule refuses and what to write instead.

| decision | |
|---|---|
| allowed | runs as in CPython; the expressions and statements in it are checked separately |
| guarded | runs as in CPython, but some names or objects in it are checked by the rules named |
| refused | never runs |

Syntax that is not listed is refused (BJ401), so constructs of later Python versions are refused
until they have been reviewed. The column "Python" names the version that introduced a construct.
"""


def load(name: str) -> types.ModuleType:
    """Loads a module of the policy without its package, whose import needs the native guards."""
    package = types.ModuleType("belljar_tables")
    package.__path__ = [str(ROOT / "policy/belljar_policy")]
    sys.modules.setdefault("belljar_tables", package)
    return importlib.import_module(f"belljar_tables.{name}")


RULES = load("rules").RULES


def names(found: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(found))


def rule_link(rule: str) -> str:
    return f"[{rule}](rules.md#{rule.lower()}-{RULES[rule].name})"


def construct_row(construct: Any) -> tuple[str, ...]:
    rules = dict.fromkeys(rule_link(rule) for rule, _ in construct.refused)
    decision = construct.decision + (": " + ", ".join(rules) if rules else "")
    since = ".".join(map(str, construct.since)) if construct.since > (3, 0) else ""
    return (f"`{construct.id}`", construct.title, decision, since, construct.reason)


def labelled(comment: str, source: str) -> str:
    return f"# {comment}\n{source}"


def group_section(title: str, group: tuple[Any, ...]) -> str:
    parts = [f"## {title}"]
    head = ("construct", "what", "decision", "Python", "why")
    parts.append(table(head, map(construct_row, group)))
    runs = [labelled(each.id, each.example) for each in group if each.decision != "refused"]
    if runs:
        parts.append("```python\n" + "\n\n".join(runs) + "\n```")
    refused = [labelled(f"{each.id}: {rule}", source) for each in group
               for rule, source in each.refused]  # fmt: skip
    if refused:
        parts.append("Refused:\n\n```python\n" + "\n\n".join(refused) + "\n```")
    return "\n\n".join(parts)


def hint_table(head: str, hints: dict[str, str]) -> str:
    rows = ((f"`{name}`", hint) for name, hint in sorted(hints.items()))
    return table((head, "instead"), rows)


def special_names(tables: types.ModuleType) -> str:
    uses = ((use, names(words)) for use, words in tables.CLASS_DUNDERS_BY_USE.items())
    return "\n\n".join((
        "## Names with two underscores on either side",
        "A class may define:",
        table(("for", "names"), uses),
        "It may not define these, nor any other that is not listed on this page (BJ403):",
        hint_table("name", tables.CLASS_DUNDERS_REFUSED),
        "A module may bind " + names(tables.MODULE_DUNDERS) + "; other such names outside of "
        "classes and functions are refused (BJ101).",
        "These may be loaded as plain names, in addition to those that the program bound: "
        + names(tables.LOADABLE_DUNDER_NAMES - tables.MODULE_DUNDERS) + ".",
        "These are refused as attributes of any object (BJ301):",
        hint_table("attribute", tables.REFUSED_DUNDERS),
        "These may be loaded, but not set or deleted (BJ304):",
        hint_table("attribute", tables.REFUSED_STORES),
        "Names that a class may define, and descriptive names (`__name__`, `__class__`, "
        "`__annotations__`, …), are loaded natively. For all others it depends on the object: the "
        "program's own classes, instances and functions have them.",
    ))  # fmt: skip


def other_names(tables: types.ModuleType) -> str:
    return "\n\n".join((
        "## Attributes of frames and code",
        "These are always refused (BJ303): " + names(tables.REFUSED_ATTRIBUTES)
        + ".",
        "## Builtins",
        "Available: " + names(tables.BUILTINS_SHOWN) + ", and all exceptions.",
        "Not available, unless the program defines the name (BJ501):",
        hint_table("builtin", tables.MISSING_BUILTINS),
        "`getattr`, `setattr`, `hasattr`, `delattr` and `vars` check a name like an attribute in "
        "the source. `vars()` without an object is not available. `open` is available in profiles "
        "with files.",
    ))  # fmt: skip


def page() -> str:
    constructs, tables = load("constructs"), load("tables")
    sections = [group_section(title, group) for title, group in constructs.GROUPS.items()]
    return "\n\n".join((
        HEAD.rstrip(), *sections, special_names(tables), other_names(tables)
    )) + "\n"  # fmt: skip


def main() -> int:
    return write_or_compare(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
