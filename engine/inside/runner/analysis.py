"""What a source looks like: the modules it imports and how much there is to follow in it."""

import ast
from collections.abc import Sequence
from typing import Any

MAX_IMPORTS = 200
_MAX_NAME = 200

# Each is a place where the program takes one way or another.
_BRANCHES = frozenset(
    (
        ast.If,
        ast.IfExp,
        ast.For,
        ast.AsyncFor,
        ast.While,
        ast.ExceptHandler,
        ast.match_case,
        ast.comprehension,
    )
)
# Each is something to keep in mind while reading what is inside.
_BLOCKS = frozenset(
    (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Lambda,
        ast.If,
        ast.For,
        ast.AsyncFor,
        ast.While,
        ast.Try,
        ast.TryStar,
        ast.With,
        ast.AsyncWith,
        ast.Match,
    )
)
# In a tree that the parser has made, nothing of interest is below these.
_LEAVES = frozenset(
    (
        ast.Name,
        ast.Constant,
        *ast.expr_context.__subclasses__(),
        *ast.operator.__subclasses__(),
        *ast.cmpop.__subclasses__(),
        *ast.unaryop.__subclasses__(),
        *ast.boolop.__subclasses__(),
        int,
        bool,
        str,
        type(None),
    )
)


class Analyst:
    """Analyses a source whose tree is parsed for another purpose anyway."""

    fields: dict[str, Any] | None = None  # None: what is not Python
    was_cut = False  # the imports

    def see(self, tree: ast.Module) -> None:
        """Before anything changes the tree."""
        self.fields, self.was_cut = _analyse(tree)

    def take_missing(self, packages: Sequence[str]) -> None:
        """What the policy has found to be nowhere."""
        if self.fields is not None:
            self.fields["missing"] = [name[:_MAX_NAME] for name in packages[:MAX_IMPORTS]]

    def parse(self, text: str, filename: str) -> None:
        """For a source of which nobody else needs the tree."""
        try:
            self.see(ast.parse(text, filename))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass


def _analyse(tree: ast.Module) -> tuple[dict[str, Any], bool]:
    names: set[str] = set()
    branches = nesting = 0
    # A work list: a source may be nested deeper than calls may be.
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        kind = type(node)
        chained = None
        if kind is ast.Import:
            names.update(alias.name[:_MAX_NAME] for alias in node.names)
        elif kind is ast.ImportFrom:
            names.add(("." * node.level + (node.module or ""))[:_MAX_NAME])
        elif kind is ast.BoolOp:
            branches += len(node.values) - 1
        elif kind is ast.If and len(node.orelse) == 1 and type(node.orelse[0]) is ast.If:
            # An elif is an If in the else of another, and to a reader no deeper than that.
            chained = node.orelse[0]
        if kind in _BRANCHES:
            branches += 1
        if kind in _BLOCKS:
            depth += 1
            nesting = max(nesting, depth)
        for field in kind._fields:
            value = getattr(node, field, None)
            if type(value) is list:
                for child in value:
                    if type(child) not in _LEAVES:
                        pending.append((child, depth - 1 if child is chained else depth))
            elif type(value) not in _LEAVES:
                pending.append((value, depth))
    imports = sorted(names)
    bounded = imports[:MAX_IMPORTS]
    fields = {"imports": bounded, "branches": branches, "nesting": nesting, "missing": []}
    return fields, len(bounded) < len(imports)
