"""eval, exec, compile, globals, locals and vars, next to plain CPython."""

from __future__ import annotations

from pathlib import Path

from tests.policy.harness import assert_runs, assert_same, run

PROGRAM = (Path(__file__).parent / "programs/scopes.py").read_text(encoding="utf-8")


def test_text_and_namespaces() -> None:
    assert_same(PROGRAM)


def test_a_refusal_is_a_syntax_error_with_its_rule_and_place() -> None:
    ran = assert_runs("""
    for text in ("(lambda: 0).__globals__", "1 +", "import glob"):
        try: exec("x = 1\\n" + text)
        except SyntaxError as error: print(error.msg[:7], error.lineno, error.offset)
    try: eval("yield_()")
    except NameError as error: print(error)
    """)
    assert ran.stdout == ("[BJ301] 2 1\ninvalid 2 4\n[BJ201] 2 1\nname 'yield_' is not defined\n")


def test_the_calls_modules_are_those_that_text_imports() -> None:
    ran = run("exec('import json')", allowed_imports=["math"])
    assert ran.error == "SyntaxError" and "BJ205" in ran.message


def test_arguments_that_do_less_here() -> None:
    for source, said in (
        ("class D(dict): pass\nexec('1', D())", "plain dict"),
        ("compile('1', 'f', 'exec', 1024)", "takes no flags"),
        ("eval(3)", "must be a string, bytes or code object"),
        ("globals()['__name__'] = 'x'", "may not be bound"),
    ):
        ran = run(source)
        assert said in ran.message, ran
