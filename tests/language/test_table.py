"""The table of constructs is complete, true, tested and printed."""

# ruff: noqa: E501 (programs are kept as people write them)
from __future__ import annotations

import ast
import gc
import subprocess
import sys
from pathlib import Path

import pytest
from RestrictedPython import RestrictingNodeTransformer

from tests.policy.harness import assert_identical, run

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from language_page import load  # noqa: E402

CONSTRUCTS = load("constructs").CONSTRUCTS
HERE = [each for each in CONSTRUCTS.values() if each.since <= sys.version_info]
RUN_TIME = {"BJ302", "BJ305", "BJ402", "BJ404"}
# What compile(…, "exec") never makes: other modes, and what ast keeps for old programs.
NEVER_PARSED = {
    "Interactive", "Expression", "FunctionType", "Num", "Str", "Bytes", "NameConstant", "Ellipsis",
    "Index", "ExtSlice", "Suite", "AugLoad", "AugStore", "Param", "slice",
}  # fmt: skip


def claims() -> dict[str, str]:
    """Construct -> the test file that covers it."""
    claimed = {}
    for path in sorted(Path(__file__).parent.glob("test_*.py")):
        for statement in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(statement, ast.Assign) and path.name != Path(__file__).name:
                if [target.id for target in statement.targets] == ["CONSTRUCTS"]:
                    claimed.update(dict.fromkeys(ast.literal_eval(statement.value), path.name))
    return claimed


def concrete_kinds() -> set[str]:
    kinds = {
        kind
        for kind in vars(ast).values()
        if isinstance(kind, type) and issubclass(kind, ast.AST) and not kind.__subclasses__()
    }
    return {kind.__name__ for kind in kinds} - NEVER_PARSED


def test_every_construct_has_a_test_file() -> None:
    assert set(claims()) == set(CONSTRUCTS)


def test_every_kind_of_node_is_covered() -> None:
    """A kind that a new Python or RestrictedPython brings is decided before it may run."""
    from belljar_policy import constructs  # noqa: PLC0415

    covered = constructs.NODES | constructs.PARTS
    assert concrete_kinds() - covered == set()
    for method in dir(RestrictingNodeTransformer):
        kind = method.removeprefix("visit_")
        if method.startswith("visit_") and isinstance(getattr(ast, kind, None), type):
            assert kind in covered | NEVER_PARSED, kind
    assert not constructs.NODES & constructs.PARTS


def test_every_kind_is_dispatched_by_the_table() -> None:
    from belljar_policy import constructs, transformer  # noqa: PLC0415

    kinds = {kind.__name__ for kind in transformer._PLAIN} - {"NoneType"}
    handled = {kind.__name__ for kind in transformer._HANDLERS}
    assert (kinds | handled) <= constructs.NODES | constructs.PARTS
    assert not kinds & handled
    assert not kinds & constructs.CHECKED_NODES
    assert {name for name in constructs.NODES if hasattr(ast, name)} <= kinds | handled


def test_an_unknown_kind_is_refused() -> None:
    from belljar_policy.transformer import Transformer  # noqa: PLC0415

    class Mystery(ast.stmt):
        _fields = ()

    tree = ast.parse("1 + 1")
    mystery = Mystery(lineno=3, col_offset=4, end_lineno=3, end_col_offset=9)
    tree.body.append(mystery)
    transformer = Transformer(None, None)
    transformer.check(tree)
    assert [(f.rule, f.line, f.column) for f in transformer.findings] == [("BJ401", 3, 5)]
    assert "Mystery" in transformer.findings[0].reason


def test_an_unknown_operator_is_walked_into_and_refused() -> None:
    from belljar_policy import transformer  # noqa: PLC0415

    assert "op" not in transformer._dispatch()[0][ast.BinOp]
    power = type("Power", (ast.operator,), {})
    plain, handlers = transformer._dispatch()
    assert "op" in plain[ast.BinOp] and plain[ast.Add] == ()
    assert power not in plain and power not in handlers
    del power
    gc.collect()


@pytest.mark.parametrize("construct", HERE, ids=lambda each: each.id)
def test_examples(construct) -> None:
    if construct.decision != "refused":
        assert assert_identical(construct.example).error is None
    for rule, source in construct.refused:
        ran = run(source)
        if rule in RUN_TIME or not ran.findings:
            assert f"[{rule}]" in ran.message, (rule, source, ran)
        else:
            assert ran.rules == [rule], (source, ran.findings)


def test_decisions_fit_what_is_said() -> None:
    for each in CONSTRUCTS.values():
        assert each.decision in {"allowed", "guarded", "refused"}, each.id
        assert bool(each.refused) == (each.decision != "allowed"), each.id
        assert each.title and each.reason.endswith("."), each.id


def test_the_page_is_current() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools/language_page.py")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
