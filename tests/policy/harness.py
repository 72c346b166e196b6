"""Runs programs under the policy, or in plain Python, each in a fresh process."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_PROFILES = Path(__file__).resolve().parents[2] / "profiles"
ENTRIES: dict[str, dict[str, Any]] = {
    kind: tomllib.loads((_PROFILES / file).read_text(encoding="utf-8"))["modules"]
    for kind, file in (("restricted", "basic.toml"), ("restricted:filesystem", "filesystem.toml"))
}
"""By kind of zygote: the modules of its profile, as the file has them."""
EXPORTING = sorted(
    (kind, name)
    for kind, entries in ENTRIES.items()
    for name, entry in entries.items()
    if tuple(map(int, entry.get("since", "3.0").split("."))) <= sys.version_info
)
"""(kind, module) of those that this Python has."""

# What attacks write to, as they do in plain Python: another user's file of that name may be there.
OWN_FILE = f"/tmp/belljar-test-{os.getuid()}"


@dataclass
class Ran:
    """What became of a program."""

    stdout: str = ""
    result: str = "None"
    error: str | None = None
    message: str = ""
    loot: bool = False
    findings: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    traceback: str = ""
    lines: list[int] = field(default_factory=list)
    """The lines of the program's own frames, where an exception ended it."""
    signal: int = 0

    @property
    def rules(self) -> list[str]:
        return [finding["rule"] for finding in self.findings]


class Zygote:
    def __init__(self, kind: str) -> None:
        self.is_gone = False
        script = str(Path(__file__).with_name("zygote.py"))
        self._process = subprocess.Popen(
            [sys.executable, script, kind],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )

    def run(self, **request: Any) -> Ran:
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
            assert line, "the test zygote is gone"
        except BaseException:
            # A test that is given up must not leave its answer to the next one.
            self.is_gone = True
            self._process.kill()
            self._process.wait()
            raise
        answer = json.loads(line)
        violations = answer.pop("violations", [])
        # Whatever the test is about: code that the policy lets through keeps the policy's promise.
        assert not violations, "\n".join(("the verifier objects to the bytecode:", *violations))
        return Ran(**answer)

    def close(self) -> None:
        if not self.is_gone:
            self._process.stdin.close()
            self._process.wait(timeout=10)


_zygotes: dict[str, Zygote] = {}


def _zygote(kind: str) -> Zygote:
    if kind not in _zygotes or _zygotes[kind].is_gone:
        _zygotes[kind] = Zygote(kind)
    return _zygotes[kind]


def close_all() -> None:
    while _zygotes:
        _zygotes.popitem()[1].close()


@dataclass
class Runs:
    """How many programs this process has run: for tests of tests."""

    refused: int = 0
    plain: int = 0


runs = Runs()


def run(source: str, **more: Any) -> Ran:
    kind = more.pop("kind", "restricted")
    ran = _zygote(kind).run(source=textwrap.dedent(source), plain=False, **more)
    runs.refused += bool(ran.findings or ran.error)
    return ran


def run_plain(source: str, **more: Any) -> Ran:
    kind = more.pop("kind", "plain")
    runs.plain += 1
    return _zygote(kind).run(source=textwrap.dedent(source), plain=True, **more)


def assert_runs(source: str, **more: Any) -> Ran:
    ran = run(source, **more)
    assert not ran.findings, ran.findings
    assert ran.error is None, ran.traceback
    return ran


def assert_same(source: str, **more: Any) -> Ran:
    """Runs to the end under the policy and prints what plain CPython prints."""
    ran, plain = assert_runs(source, **more), run_plain(source, **more)
    assert plain.error is None, plain.traceback
    assert ran.stdout == plain.stdout
    return ran


def assert_identical(source: str, **more: Any) -> Ran:
    """Accepted, and in nothing that it shows different from plain CPython.

    Compared: stdout, the last expression's value, the exception's type, message and lines.
    """
    ran, plain = run(source, **more), run_plain(source, **more)
    assert not ran.findings, ran.findings
    assert plain.error not in {"Died", "HarnessError"}, plain
    for ours, theirs in zip(_shown(ran), _shown(plain), strict=True):
        assert ours == theirs, ran.traceback or plain.traceback
    return ran


def _shown(ran: Ran) -> tuple[Any, ...]:
    return (ran.error, ran.message, ran.stdout, ran.result, ran.lines)


def assert_refused(source: str, rule: str, line: int = 1, **more: Any) -> dict[str, Any]:
    """Refused when compiled, by `rule` at `line`, with a reason and a hint."""
    ran = run(source, **more)
    found = [finding for finding in ran.findings if finding["rule"] == rule]
    assert found, (ran.findings, ran.error, ran.message)
    assert line in [finding["line"] for finding in found], found
    assert all(f["reason"] and f["hint"] and f["column"] > 0 for f in found), found
    return found[0]


def assert_stopped(source: str, text: str) -> Ran:
    """Compiles, and is stopped while running with `text` in the exception's message."""
    ran = run(source)
    assert not ran.findings, ran.findings
    assert ran.error is not None and not ran.loot, ran
    assert text in ran.message, (ran.error, ran.message)
    return ran


def assert_contained(source: str, **more: Any) -> Ran:
    """Whatever happens, `loot` is nothing that leads outside, and the interpreter lives."""
    ran = run(source, **more)
    assert ran.error not in {"Died", "HarnessError"}, (ran.signal, ran.message)
    assert not ran.loot, "escaped"
    return ran


def assert_escapes_in_plain_python(source: str, **more: Any) -> None:
    """The positive control: the same attack works where nothing stops it."""
    ran = run_plain(source, **more)
    assert ran.loot, (ran.error, ran.traceback)


_BEFORE = re.compile(r"^\s*# before 3\.(\d+): ", re.MULTILINE)


def check_attack(source: str, **more: Any) -> Ran:
    """For an attack that ends with `loot`, what it gets: in plain Python something that no guest
    may hold (`is_loot` in zygote.py), under the policy never that.

    One that a Python has closed by itself says so in a line `# before 3.13: why`, and gets nothing
    in plain Python from that version on.
    """
    closed = _BEFORE.search(source)
    if closed is None or sys.version_info < (3, int(closed[1])):
        assert_escapes_in_plain_python(source, **more)
    else:
        assert not run_plain(source, **more).loot, "not closed: take the line out"
    return assert_contained(source, **more)


def check_refused(source: str, *said: str, **more: Any) -> Ran:
    """For an attack that ends with an error where it fails: it runs to its end in plain Python, and
    the policy refuses it, saying all of `said`: a rule's id, words of the reason or the message.
    """
    plain = run_plain(source, **more)
    assert plain.error is None, plain.traceback
    ran = run(source, **more)
    refusals = [f"[{found['rule']}] {found['reason']}" for found in ran.findings] or [ran.message]
    assert any(all(words in text for words in said) for text in refusals), (ran.error, refusals)
    assert not ran.loot, "escaped"
    return ran
