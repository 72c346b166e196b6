"""Expression statements, docstrings, comments, pass, `if __name__ == "__main__"`."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

from tests.language.cases import runs
from tests.policy.harness import assert_identical

CONSTRUCTS = ("expression-statement", "docstring", "comment", "pass", "main-guard")

test_runs = runs({
    "nothing": "",
    "only a comment": "# nothing",
    "only a docstring": "'only text'",
    "the module's docstring": "'''What it is.'''\nprint(__doc__)",
    "a docstring that is none": "f'{1}'\nprint(__doc__)",
    "bytes are no docstring": "b'x'\nprint(__doc__)",
    "docstrings": """
        def f():
            'of f'
        async def g():
            'of g'
        class A:
            'of A'
            def m(self): 'of m'
        class B:
            'with private names'
            _x = 1
            y = [i._z for i in []]
        print(f.__doc__, g.__doc__, A.__doc__, A.m.__doc__, B.__doc__)
        """,
    "an expression's value is dropped": "[].append(1)\n1\n'x'\n[][:]\nprint('end')",
    "type comments": """
        x = []  # type: list[no_such_name]
        def f(a, b):  # type: (int, no_such_name) -> eval
            # type: (...) -> None
            return a
        for i in [1]:  # type: open
            pass
        with f(__import_ := __name__, 1) and open_() if 0 else memoryview(b''):  # type: nope
            pass
        f(1, 2)  # type: ignore[whatever]
        """,
    "main": "if __name__ == '__main__':\n    print('main', __name__)",
    "pass": "class A: pass\ndef f(): pass\nfor _ in [1]: pass\nif 1: pass\nprint(A, f())",
    "semicolons and continued lines": "x = 1; y = \\\n  2; print(x,\n y); print((x\n+ y))",
    "other line ends and a form feed": "x = 1\r\ny = 2\r\n\x0cprint(x, y)",
    "names in other scripts": "ñ = 1\n数 = 2\nprint(ñ, 数, ﬁn := 3, fin)",
})  # fmt: skip


def test_the_value_of_the_last_expression_is_the_result() -> None:
    assert assert_identical("x = 6\nx * 7").result == "42"
    assert assert_identical("6 * 7\nx = 1").result == "None"
    assert assert_identical("if True:\n    6 * 7").result == "None"
    assert assert_identical("(yes := 'y'), 2;  # comment").result == "('y', 2)"
    assert assert_identical("'text'").result == "'text'"
