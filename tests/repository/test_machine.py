"""tests/machine.py, and that nothing else asks the machine what tests need of it."""

import re
from pathlib import Path

import pytest

from tests import machine
from tests.container.daemon import open_daemon

TESTS = Path(machine.__file__).parent

# What decides by itself whether a test runs.
QUESTION = re.compile(
    r"MUST_WORK|importorskip|skipif\([^)]*(geteuid|which|environ|exists)"
    r"|(geteuid|which|exists)\([^\n]*\n[^\n]*pytest\.skip"
)
ELSEWHERE = {
    "machine.py",
    "repository/test_machine.py",
    "inside/test_questions.py",  # packages of the interpreter that runs the tests
}


def test_nothing_else_asks_the_machine() -> None:
    found = {
        f"{path.relative_to(TESTS)}: {match[0]}"
        for path in TESTS.rglob("*.py")
        if str(path.relative_to(TESTS)) not in ELSEWHERE
        for match in QUESTION.finditer(path.read_text(encoding="utf-8"))
    }
    assert not found, "use tests/machine.py"


@pytest.mark.parametrize(
    "source",
    [
        '@pytest.mark.skipif(os.geteuid() != 0, reason="takes root")',
        'if not shutil.which("git"):\n    pytest.skip("there is no git here")',
        'if os.environ.get("BELLJAR_MUST_WORK") == "1":',
    ],
)
def test_a_question_is_found(source: str) -> None:
    assert QUESTION.search(source)


@pytest.mark.parametrize(
    ("must_work", "later", "kind"),
    [
        ("", "", pytest.skip.Exception),
        ("1", "", pytest.fail.Exception),
        ("1", "a file", machine.EngineLater),
    ],
    ids=["skips", "must work", "later"],
)
def test_without_an_engine(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    must_work: str,
    later: str,
    kind: type[BaseException],
) -> None:
    monkeypatch.setenv("BELLJAR_DOCKER_SOCKET", str(tmp_path / "none.sock"))
    monkeypatch.setenv("BELLJAR_MUST_WORK", must_work)
    monkeypatch.setenv("BELLJAR_TEST_ENGINES_LATER", later)
    with pytest.raises(kind) as raised:
        open_daemon()
    assert type(raised.value) is kind
    reasons = ("no engine at", "engines are hidden", "for root only")
    assert any(reason in str(raised.value) for reason in reasons)
