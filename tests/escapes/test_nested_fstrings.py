"""f-strings inside f-strings, and code inside them."""

# ruff: noqa: E501 (attacks are kept as an attacker writes them)
from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack

ATTACKS = {
    "an f-string inside an f-string": """
        import textwrap
        text = f"{f'{textwrap.dedent.__globals__}'}"
        if "'re'" in text: loot = 'escaped'
        """,
    "an attribute in the format specification": """
        import textwrap
        text = f"{1:{len(textwrap.dedent.__globals__)}}"
        if len(text) > 3: loot = 'escaped'
        """,
    "three deep, in a specification of a specification": """
        import textwrap
        kept = []
        f"{1:{f'{kept.append(textwrap.dedent.__globals__) or 3}'}}"
        loot = kept[0]
        """,
    "a lambda inside an f-string": """
        import textwrap
        text = f"{(lambda f: f.__globals__)(textwrap.dedent)}"
        if "'re'" in text: loot = 'escaped'
        """,
    "a comprehension inside an f-string": """
        import textwrap
        text = f"{[f.__globals__ for f in (textwrap.dedent,)]}"
        if "'re'" in text: loot = 'escaped'
        """,
    "a generator's frame inside an f-string": """
        text = f"{(x for x in ()).gi_frame.f_globals}"
        if '__name__' in text: loot = 'escaped'
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str) -> None:
    check_attack(ATTACKS[name])
