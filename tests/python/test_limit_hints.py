"""Each limit that ends a run has a line that says which it was and what to do."""

import pytest
from belljar import Sandbox

LARGE = "with open('f', 'wb') as f:\n    while True: f.write(bytes(1 << 20))"
FULL = "for i in range(10_000): open(str(i), 'wb').write(bytes(1 << 22))"
OPEN = "files = []\nwhile True: files.append(open('f', 'w'))"
DEEP = "def f(): f()\nf()"


@pytest.fixture(scope="module")
def box():
    with Sandbox("filesystem") as box:
        yield box


@pytest.mark.parametrize(
    ("program", "limits", "status", "hint"),
    [
        ("while True: pass", {"timeout": 0.3, "cpu": 60}, "timeout", "raise the timeout"),
        ("while True: pass", {"timeout": 60, "cpu": 0.3}, "cpu_limit", "raise the CPU limit"),
        ("x = bytearray(1 << 40)", {}, None, "memory limit"),
        (LARGE, {}, "exception", "larger than the profile allows"),
        (FULL, {}, "exception", "the workspace is full"),
        (OPEN, {}, "exception", "too many files are open"),
        (DEEP, {}, "exception", "sys.setrecursionlimit"),
        ('raise RuntimeError("can\'t start new thread")', {}, "exception", "number of threads"),
        ("input()", {}, "exception", "as stdin"),
        ("open('none')", {}, "exception", "passed with it"),
    ],
)
def test_what_ended_it_and_what_to_do(box, program, limits, status, hint):
    result = box.run(program, **limits)
    assert result.status == status or status is None and not result.ok
    assert hint in result.error.hint
    assert hint in result.for_model()


def test_an_error_of_its_own_has_no_such_hint(box):
    for program in ("raise RuntimeError('no')", "raise OSError('no')", "raise OSError(5, 'no')"):
        assert box.run(program).error.hint is None


def test_no_hint_names_what_only_one_way_in_has(box):
    for program in ("input()", "open('none')", "!pip install flask", "while True: pass"):
        hint = box.run(program, timeout=0.5).error.hint
        assert hint and not {"--stdin", "--file", "--package", "argument"} & set(hint.split())


def test_after_ctrl_d_nobody_is_told_to_pass_input(box):
    result = box.run("input()", stdin=lambda prompt: None)
    assert result.error.type == "EOFError"
    assert "pass" not in result.error.message + (result.error.hint or "")
