"""docs/rules.md, made from policy/belljar_policy/rules.py.

python3 tools/rules_page.py            # exit 1 where the page is behind
python3 tools/rules_page.py --write
"""

import runpy
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from made_page import write_or_compare  # noqa: E402

PAGE = ROOT / "docs/rules.md"
GROUPS = {
    "BJ0": "Source",
    "BJ1": "Names",
    "BJ2": "Imports",
    "BJ3": "Attributes",
    "BJ4": "Statements and classes",
    "BJ5": "Builtins and callables",
}
WHEN = {
    "compile": "Found before the program runs.",
    "run": "Raised while the program runs: only the object decides. The exception's message begins "
    "with the id.",
    "compile and run": "Found before the program runs where the source shows it, raised while it "
    "runs where only the object or the computed name does.",
}
HEAD = """\
# Rules

Made from `policy/belljar_policy/rules.py` by `tools/rules_page.py`; do not edit by hand.

What the language policy refuses, it refuses by a rule. `belljar validate` lists findings by rule
id, `belljar run` ends with exit code 3 where one is found before the run, and an exception raised
by a guard begins with the id: `[BJ302] …`. Ids do not change their meaning.
"""


def shown(source: str) -> str:
    return source if len(source) < 300 else source[:20] + " … " + source[-10:]


def section(rule_id: str, rule: Any) -> str:
    hint = rule.hint if "{" not in rule.hint else "The finding names the alternative."
    parts = [f"### {rule_id} {rule.name}", f"**{rule.title}.** {WHEN[rule.when]}", rule.why]
    if rule.bad:
        parts.append(f"```python\n{shown(rule.bad)}\n```")
    parts.append(f"Instead: {hint}")
    if rule.good:
        parts.append(f"```python\n{shown(rule.good)}\n```")
    return "\n\n".join(parts)


def page() -> str:
    table = runpy.run_path(str(ROOT / "policy/belljar_policy/rules.py"))["RULES"]
    parts = [HEAD.rstrip()]
    group = ""
    for rule_id, rule in table.items():
        if rule_id[:3] != group:
            group = rule_id[:3]
            parts.append(f"## {GROUPS[group]}")
        parts.append(section(rule_id, rule))
    return "\n\n".join(parts) + "\n"


def main() -> int:
    return write_or_compare(PAGE, page())


if __name__ == "__main__":
    sys.exit(main())
