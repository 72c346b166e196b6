"""Constants and displays."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, runs

CONSTRUCTS = ("constant", "display")

test_runs = runs({
    "numbers": "print(0x_ff, 0b11, 0o17, 1_000, 1e3, .5, 5., 3j, 10**30, -0.0, 1.5e-7)",
    "text": r"""print('a' "b" '''c''', r'\n', 'a\tb', '\u00e9\N{BULLET}\x41', b'\x00a', rb'\x', u'x')""",
    "singletons": "print(None, True, False, ..., Ellipsis is ..., NotImplemented)",
    "unpacking": """
        print([*'ab', *range(2)], {*'a', *'a'}, (*[], 1), [*(), *()], {**{}, 'a': 1, **{'a': 2}})
        print({'a': 1, 'a': 2}, {1: 'i', 1.0: 'f', True: 'b'}, {(1, 2): [3]})
        """,
    "order of evaluation": """
        log = []
        def t(x): log.append(x); return x
        {t(1): t(2), **{t(3): t(4)}, t(5): t(6)}
        [t(7), *[t(8)], t(9)], {t(10), *(t(11),)}, (t(12), t(13))
        print(log)
        """,
    "large": f"print(len({list(range(3000))}), sum({list(range(3000))}))",
})  # fmt: skip

test_raises = raises([
    ("TypeError", "[*5]"),
    ("TypeError", "{**5}"),
    ("TypeError", "{[]: 1}"),
    ("TypeError", "{{}}"),
    ("SyntaxError", "*a"),
    ("SyntaxError", "x = 0777"),
    ("SyntaxError", "'\\N{no such character}'"),
    ("SyntaxError", "print('unterminated)"),
])  # fmt: skip
