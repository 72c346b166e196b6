"""Programs of other languages: a caller's mistake is a ValueError, and what a program does an
outcome."""

from collections.abc import Iterator
from typing import Any

import belljar
import pytest


@pytest.fixture(scope="module")
def bash() -> Iterator[belljar.Sandbox]:
    with belljar.Sandbox(language="bash") as box:
        yield box


def test_a_program(bash: belljar.Sandbox) -> None:
    result = bash.run("echo $1; exit 3", args=["one"])
    assert (result.status, result.stdout, result.exit_code) == ("exception", "one\n", 3)
    assert result.language == "bash"


@pytest.mark.parametrize(
    ("source", "options", "why"),
    [
        ("#" * 2_000_000, {}, "the source is larger than the limit of 1m; give data as files"),
        ("echo", {"functions": {"f": print}}, "functions are not for this language; use files"),
        ("echo", {"files": {"main.sh": b"other"}}, '"main.sh" is the name of the program itself'),
        ("echo", {"allowed_imports": ["math"]}, "only imports of Python can be restricted"),
    ],
)
def test_a_callers_mistake(
    source: str, options: dict[str, Any], why: str, bash: belljar.Sandbox
) -> None:
    with pytest.raises(ValueError, match="(?s)" + why):
        bash.run(source, **options)


def test_only_python_is_validated(bash: belljar.Sandbox) -> None:
    with pytest.raises(ValueError, match="run Bash: only Python is validated"):
        bash.validate("echo")
