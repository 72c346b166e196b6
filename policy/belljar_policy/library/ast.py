"""ast, for guests: trees are data. What reads or writes attributes by the names in a node's
`_fields` takes nodes only, and the fields of the node's class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .objects import is_a, mro_of


def _need_node(value: Any) -> None:
    if not is_a(value, ast.AST):
        raise TypeError(f"expected AST, got {type(value).__name__!r}")


def _fields_of(node: Any) -> tuple[str, ...]:
    # Not node._fields: an instance may have another one.
    _need_node(node)
    for cls in mro_of(type(node)):
        if cls.__module__ in ("ast", "_ast"):
            return cls._fields
    return ()


def iter_fields(node: Any) -> Iterator[tuple[str, Any]]:
    """Yields (name, value) of each field of the node that it has."""
    for field in _fields_of(node):
        try:
            yield field, getattr(node, field)
        except AttributeError:
            continue


_copy_location = ast.copy_location
_fix_missing_locations = ast.fix_missing_locations
_increment_lineno = ast.increment_lineno


def copy_location(new_node: Any, old_node: Any) -> Any:
    """ast.copy_location."""
    _need_node(new_node)
    _need_node(old_node)
    return _copy_location(new_node, old_node)


def fix_missing_locations(node: Any) -> Any:
    """ast.fix_missing_locations."""
    _need_node(node)
    return _fix_missing_locations(node)


def increment_lineno(node: Any, n: int = 1) -> Any:
    """ast.increment_lineno."""
    _need_node(node)
    return _increment_lineno(node, n)


def reduce(has_files: bool) -> None:
    """Before the first use: NodeVisitor, walk() and the others go by this iter_fields()."""
    ast.iter_fields = iter_fields
