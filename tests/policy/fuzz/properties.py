"""What has to hold for a program, whoever wrote it. Each raises AssertionError with the program."""

from __future__ import annotations

import warnings
from typing import Any

from tests.policy import harness, verifier
from tests.policy.front import exports, front


def judged(source: str) -> list[Any]:
    """Ends in code that the verifier does not object to, or in findings that say where and why.

    The findings.
    """
    from belljar_policy.rules import RULES

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the compiler's, about `1 is 1` and "\d"
        try:
            compiled = front().compile(source)
        except SyntaxError:
            compiled = None
        findings = front().check(source)
        assert front().check(source) == findings, f"judged in two ways:\n{source}"
    if compiled is None:
        assert [finding.rule for finding in findings] in (["BJ001"], ["BJ002"]), source
    elif compiled.findings:
        assert compiled.code is None and compiled.findings == findings, source
    else:
        assert compiled.code is not None and not findings, source
        violations = verifier.verify(compiled.code, exports())
        assert not violations, f"{violations[0]}\nin:\n{source}"
    for finding in findings:
        _check_finding(finding, source, RULES)
    return findings


def _check_finding(finding: Any, source: str, rules: Any) -> None:
    shown = f"{finding}\nin:\n{source}"
    # As the compiler counts them, and one more for what is missing at the end.
    lines = source.count("\n") + source.count("\r") + source.count("\f") + 2
    assert finding.rule in rules and finding.name == rules[finding.rule].name, shown
    assert finding.reason and finding.hint and "{" not in finding.rule, shown
    assert 0 <= finding.line <= lines and finding.end_line >= finding.line, shown
    if finding.rule not in ("BJ001", "BJ002"):
        assert finding.line > 0 and finding.column > 0 and finding.end_column > 0, shown
        if finding.end_line == finding.line:
            assert finding.end_column > finding.column, shown


def same_as_plain_python(source: str) -> None:
    """Accepted, and does under the policy what it does without."""
    ran, plain = harness.run(source), harness.run_plain(source)
    assert not ran.findings, f"{ran.findings}\nin:\n{source}"
    for what in ("stdout", "error", "message", "result"):
        ours, theirs = getattr(ran, what), getattr(plain, what)
        assert ours == theirs, f"{what}: {ours!r}, in plain Python {theirs!r}\n{source}"
