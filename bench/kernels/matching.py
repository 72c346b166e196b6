"""Structural pattern matching over a small expression tree."""

from dataclasses import dataclass


@dataclass
class Op:
    sign: str
    left: object
    right: object


def value(tree):
    match tree:
        case int():
            return tree
        case Op("+", left, right):
            return value(left) + value(right)
        case Op("*", left, right):
            return value(left) * value(right) % 1_000_003
        case [*items]:
            return sum(map(value, items))


def tree(depth):
    if depth == 0:
        return depth + 3
    return Op("+" if depth % 2 else "*", tree(depth - 1), [tree(depth - 1), 1])


def kernel():
    return value(tree(12))
