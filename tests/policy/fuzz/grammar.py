"""Any program at all: this Python's grammar as templates, filled in with names worth trying.

What comes out is mostly Python, hardly ever makes sense, and is never run. The first alternative of
each kind is the simplest one: Hypothesis shrinks towards it.
"""

# ruff: noqa: E501 (templates are kept as they are read)
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from typing import Any

from hypothesis import strategies as st

ORDINARY_NAMES = ("a", "b", "c", "f", "g", "C", "D", "self", "x", "items", "print", "super", "_")
# Private, mangled, special, the interpreter's, what stock RestrictedPython calls its hooks, and what
# NFKC turns into one of those.
HOSTILE_NAMES = (
    "_x", "__x", "__x_", "_C__x", "__", "____", "mro", "open", "eval", "_asdict", "__class__",
    "__name__", "__doc__", "__dict__", "__init__", "__add__", "__slots__", "__del__", "__getattr__",
    "__setattr__", "__getattribute__", "__globals__", "__builtins__", "__import__", "__all__",
    "__match_args__", "__module__", "__qualname__", "__classcell__", "__annotations__", "__bases__",
    "__self__", "__set_name__", "__prepare__", "__debug__", "gi_frame", "f_back", "tb_frame",
    "co_consts", "cr_await", "ag_code", "cell_contents", "_write_", "_getattr_", "__metaclass__",
    "\uff47i_frame", "__\u1d48ict__", "_\u017f",
)  # fmt: skip

MODULES = (
    "math", "math", "math", "json", "re", "collections", "xml.etree.ElementTree", "os", "sys", "os.path",
    "__future__", "builtins", "_belljar_guards", "nothing.here", "math.sqrt",
)  # fmt: skip

# `{expr}` is filled in; `{block}` is an indented block; `{function}` and `{loop}` are blocks in which
# more may stand. Brackets around every part make precedence no concern of the templates.
TEMPLATES: dict[str, tuple[str, ...]] = {
    "atom": (
        "{name}", "(0)", "'s'", "None", "...", "b'b'", "1.5j", "__debug__", "'{0.__class__}'",
    ),
    "expr": (
        "{atom}", "{expr}.{name}", "{expr}.{name}({expr})", "({expr})[{expr}]",
        "({expr})[{expr}:{expr}:{expr}]", "{name}({arguments})", "({expr})({arguments})",
        "({expr} + {expr})", "({expr} @ {expr})", "(not {expr})", "(-({expr}))",
        "({expr} and {expr} or {expr})", "({expr} < {expr} in {expr} is not {expr})",
        "({expr} if {expr} else {expr})", "(lambda {parameters}: {expr})", "({name} := {expr})",
        "[{expr}, *({expr})]", "({expr}, {expr})", "{{{expr}}}", "{{{expr}: {expr}, **({expr})}}",
        "[{expr} {clauses}]", "{{{expr} {clauses}}}", "{{{expr}: {expr} {clauses}}}",
        "({expr} {clauses})", "f'x{{{name}.{name}!r:>{{{name}}}}}'", "f'{{{name}.{name}()}}'",
        "'%s'.format({arguments})", "super().{name}", "{expr}.{name}.{name}",
    ),
    "clauses": (
        "for {target} in {expr}", "for {target} in ({expr}) if ({expr})",
        "for {target} in {expr} {clauses}",
    ),
    "arguments": (
        "", "{expr}", "{expr}, {name}={expr}", "*({expr})", "**({expr})",
        "{expr}, *({expr}), {name}={expr}, **({expr})",
    ),
    "parameters": (
        "", "{name}", "{name}, {name}={expr}", "*{name}, {name}", "**{name}",
        "{name}, /, {name}={expr}, *{name}, {name}={expr}, **{name}",
    ),
    "typed": (
        "", "{name}: {expr}", "{name}: {expr} = {expr}", "*{name}: {expr}, {name}: {expr}",
        "{name}, /, {name}, *, {name}, **{name}: {expr}",
    ),
    "target": (
        "{name}", "{expr}.{name}", "({expr})[{expr}]", "({target}, {target})",
        "[{target}, *{target}]", "({expr}).{name}.{name}",
    ),
    "place": ("{name}", "{expr}.{name}", "({expr})[{expr}]", "({expr})[{expr}:]"),
    "operator": ("+", "-", "*", "/", "//", "%", "@", "&", "|", "^", "<<", ">>", "**"),
    "dotted": ("{name}", "{name}.{name}"),
    "pattern": (
        "_", "{name}", "(0)", "'s'", "None", "-1.5", "{name}.{name}", "({pattern} | {pattern})",
        "({pattern} as {name})", "[{pattern}, *{name}]", "({pattern}, {pattern})",
        "{{'k': {pattern}, **{name}}}", "{{{name}.{name}: {pattern}}}", "{dotted}()",
        "{dotted}({pattern}, {name}={pattern})", "{dotted}({name}={pattern}, {name}={pattern})",
    ),
    "imported": ("{name}", "{name} as {name}", "sqrt", "dumps", "*", "__loader__", "_x as f"),
    "simple": (
        "pass", "{expr}", "{target} = {expr}", "{target} = {target} = {expr}",
        "{place} {operator}= {expr}", "{place}: {expr}", "{place}: {expr} = {expr}",
        "del {place}", "del ({place}, {place})", "assert {expr}, {expr}", "raise {expr}",
        "raise {expr} from {expr}", "import {module}", "import {module} as {name}",
        "from {module} import {imported}", "from . import {name}", "global {name}",
    ),
    "compound": (
        "if {expr}:{block}\nelif {expr}:{block}\nelse:{block}",
        "while {expr}:{loop}\nelse:{block}", "for {target} in {expr}:{loop}\nelse:{block}",
        "with {expr}, ({expr}) as {target}:{block}", "with ({expr}) as {target}:{block}",
        "try:{block}\nexcept {expr} as {name}:{block}\nexcept:{block}\nelse:{block}\n"
        "finally:{block}",
        "try:{block}\nexcept (ImportError, {expr}):{block}", "try:{block}\nfinally:{block}",
        "try:{block}\nexcept* {expr} as {name}:{block}",
        "match {expr}:\n    case {pattern}:{deep}\n    case {pattern} if {expr}:{deep}",
        "match {expr}:\n    case {dotted}({name}={name}):{deep}",
        "def {name}({typed}) -> {expr}:{function}", "def {name}({parameters}):{function}",
        "@{expr}\ndef {name}({parameters}):{function}", "async def {name}():{coroutine}",
        "class {name}:{block}", "class {name}({arguments}):{block}",
        "@{expr}\nclass {name}:{block}", "class {name}:\n    'text'\n    {name} = {expr}.{name}",
    ),
    "in a loop": ("break", "continue"),
    "in a function": (
        "return {expr}", "{expr} = yield {expr}", "yield", "{target} = yield from {expr}",
        "nonlocal {name}",
    ),
    "in a coroutine": (
        "await {expr}", "async with {expr} as {target}:{block}",
        "async for {target} in {expr}:{loop}\nelse:{block}", "return await {expr}",
        "{target} = [await ({expr}) async for {target} in {expr}]", "yield {expr}",
    ),
}  # fmt: skip

if sys.version_info >= (3, 12):
    TEMPLATES["compound"] += (
        "def {name}[{name}]({typed}) -> {expr}:{function}",
        "class {name}[{name}: {expr}, *{name}]({arguments}):{block}",
        "async def {name}[**{name}]():{coroutine}",
    )
    TEMPLATES["simple"] += ("type {name} = {expr}", "type {name}[{name}: {expr}] = {expr}")

if sys.version_info >= (3, 14):
    TEMPLATES["expr"] += ("t'x{{{name}.{name}!r:>{{{name}}}}}'", "t'{{{name}.{name}()}}'")
    TEMPLATES["compound"] += ("try:{block}\nexcept {name}.{name}, {name}:{block}",)

_PART = re.compile(r"\{\{|\}\}|\{([a-z]+)\}")
_BLOCKS = {
    "block": (), "deep": (), "loop": ("in a loop",), "function": ("in a function",),
    "coroutine": ("in a coroutine",),
}  # fmt: skip
# What ends the nesting: a simpler kind, or the kind's own first alternative. Ever likelier, the deeper
# it gets.
_LEAVES = {
    "expr": "atom", "target": "name", "place": "name", "pattern": "name", "clauses": None,
    "arguments": None, "parameters": None, "typed": None,
}  # fmt: skip


Pick = Callable[[Sequence[Any]], Any]


class Writer:
    """One program in the making: `pick` decides, `size` bounds its statements."""

    def __init__(self, pick: Pick, names: Sequence[str], size: int) -> None:
        self._pick = pick
        self._names = names
        self._left = size

    def block(self, also: tuple[str, ...], indent: str) -> str:
        lines = []
        for _ in range(self._pick((1, 1, 2, 3))):
            kind = self._pick(("simple", "compound", *also))
            lines.append(self._statement(TEMPLATES[kind], also, indent))
        return "\n".join(lines)

    def _statement(self, kinds: tuple[str, ...], also: tuple[str, ...], indent: str) -> str:
        template = self._pick(kinds) if self._left > 0 else "pass"
        self._left -= 1
        return indent + self.fill(template.replace("\n", "\n" + indent), also, indent, 0)

    def fill(
        self, template: str, also: tuple[str, ...] = (), indent: str = "", depth: int = 0
    ) -> str:

        def part(match: re.Match[str]) -> str:
            kind = match[1]
            if kind is None:
                return match[0][0]
            if kind == "name":
                return self._pick(self._names)
            if kind == "module":
                return self._pick(MODULES)
            if kind in _BLOCKS:
                # A loop is no loop any more in a function that it contains, and so on.
                inside = (
                    _BLOCKS[kind] if kind in ("function", "coroutine") else also + _BLOCKS[kind]
                )
                deeper = indent + ("        " if kind == "deep" else "    ")
                return "\n" + self.block(inside, deeper)
            if kind in _LEAVES and self._pick(range(4)) < depth:
                leaf = _LEAVES[kind]
                options = self._names if leaf == "name" else TEMPLATES[leaf or kind]
                return self.fill(self._pick(options if leaf else options[:1]), also, indent, depth)
            return self.fill(self._pick(TEMPLATES[kind]), also, indent, depth + 1)

        return _PART.sub(part, template)


@st.composite
def any_program(draw: Callable[[Any], Any]) -> str:
    # A few hostile names for each program: with all of them in each, none would be let through.
    hostile = draw(st.lists(st.sampled_from(HOSTILE_NAMES), max_size=3))
    writer = Writer(
        lambda options: draw(st.sampled_from(options)),
        (*ORDINARY_NAMES, *hostile),
        draw(st.integers(1, 12)),
    )
    return writer.block((), "") + "\n"
