"""assert."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import raises, refused, runs

CONSTRUCTS = ("assert",)

test_runs = runs({
    "true": "assert 1\nassert [0], print('not evaluated')\nprint('end', __debug__)",
    "caught": """
        for message in ('text', 5, ('a', 1), None):
            try: assert 0, message
            except AssertionError as e: print(repr(e), e.args)
        """,
    "a name of one's own does not count": """
        AssertionError_ = AssertionError
        AssertionError = ValueError
        try: assert 0
        except AssertionError_ as e: print(type(e).__name__)
        """,
})  # fmt: skip

test_raises = raises([
    ("AssertionError", "assert False"),
    ("AssertionError", "assert 1 == 2, f'{1} is not {2}'"),
    ("ZeroDivisionError", "assert 0, 1 / 0"),
    ("NameError", "assert undefined"),
])  # fmt: skip

test_refused = refused([("BJ301", 1, 11, "assert 1, f.__globals__")])
