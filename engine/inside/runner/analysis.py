"""What a source looks like: the modules it imports and how much there is to follow in it."""

import ast
from typing import Any

MAX_IMPORTS = 200
_MAX_NAME = 200

# Each is a place where the program takes one way or another.
_BRANCHES = (
    ast.If,
    ast.IfExp,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.comprehension,
)
# Each is something to keep in mind while reading what is inside.
_BLOCKS = (
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


def analyse(text: str, filename: str) -> tuple[dict[str, Any] | None, bool]:
    """The analysis and whether its imports were cut; None for what is not Python."""
    try:
        tree = ast.parse(text, filename)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None, False
    names: set[str] = set()
    branches = nesting = 0
    # A work list: a source may be nested deeper than calls may be.
    pending: list[tuple[ast.AST, int]] = [(tree, 0)]
    while pending:
        node, depth = pending.pop()
        if isinstance(node, ast.Import):
            names.update(alias.name[:_MAX_NAME] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            names.add(("." * node.level + (node.module or ""))[:_MAX_NAME])
        elif isinstance(node, ast.BoolOp):
            branches += len(node.values) - 1
        if isinstance(node, _BRANCHES):
            branches += 1
        if isinstance(node, _BLOCKS):
            depth += 1
            nesting = max(nesting, depth)
        # An elif is an If in the else of another, and to a reader no deeper than that.
        orelse = node.orelse if isinstance(node, ast.If) else []
        chained = orelse[0] if len(orelse) == 1 and isinstance(orelse[0], ast.If) else None
        for child in ast.iter_child_nodes(node):
            pending.append((child, depth - 1 if child is chained else depth))
    imports = sorted(names)
    bounded = imports[:MAX_IMPORTS]
    fields = {"imports": bounded, "branches": branches, "nesting": nesting}
    return fields, len(bounded) < len(imports)
