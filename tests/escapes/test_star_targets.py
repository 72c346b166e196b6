"""Targets of assignments: stars, loops, with, comprehensions."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "a star target named as the builtins": """
        *__builtins__, b = {'len': 1}, 2
        loot = 'escaped' if type(__builtins__) is list else None
        """,
    "a list target that writes to a module": """
        import textwrap
        class W:
            def __init__(self, **options): pass
            def fill(self, text): return 'escaped'
        [textwrap.TextWrapper, *textwrap.rest] = W, 1
        loot = textwrap.fill('x')
        """,
    "a star target that writes to a library function": """
        import textwrap
        a, *textwrap.dedent.kept = 1, 'escaped'
        loot = textwrap.dedent.kept[0]
        """,
    "a for loop's target on a library function": """
        import textwrap
        for textwrap.dedent.kept in ('escaped',): pass
        loot = textwrap.dedent.kept
        """,
    "a with statement's target on a library function": """
        import contextlib, textwrap
        with contextlib.nullcontext('escaped') as textwrap.dedent.kept: pass
        loot = textwrap.dedent.kept
        """,
    "a comprehension's target on a module": """
        import pprint
        class P:
            def __init__(self, **options): pass
            def pformat(self, value): return 'escaped'
        [0 for pprint.PrettyPrinter in (P,)]
        loot = pprint.pformat(1)
        """,
    "a star in a subscript's target": """
        import textwrap
        d = {}
        d[textwrap.dedent.__globals__['__name__']], *rest = 'escaped', 1
        loot = d['textwrap']
        """,
    "nested targets with a private name of another's": """
        import random
        (a, [random.Random.seed, *b]) = 1, ['escaped']
        loot = random.Random.seed
        """,
    "unpacking asks an object for its items": """
        import textwrap
        class I:
            def __iter__(self): return iter([getattr(textwrap.dedent, '__globals__')])
        (loot,) = I()
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
