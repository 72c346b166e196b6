"""docs/cli*.md have every option of every command."""

import re
from pathlib import Path

import pytest

from tests.cli.commands import BELOW, COMMANDS, GROUPS

PAGES = sorted((Path(__file__).parents[2] / "docs").glob("cli*.md"))
PAGE = "\n## \n".join(path.read_text(encoding="utf-8") for path in PAGES)


def section(command: str) -> str:
    return PAGE.split(f"\n## belljar {command}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize(
    "command",
    [*COMMANDS, *GROUPS, *BELOW],
)
def test_every_option_is_described(belljar, command):
    text = belljar(*command.split(), "--help").stdout
    rows = re.findall(r"^  (-\S+)", text, re.MULTILINE)
    assert rows
    for row in rows:
        for name in row.split(","):
            assert f"`{name}" in section(command.split()[0]), name


def test_every_choice_is_described(belljar):
    for command in ("run", "serve"):
        for choice in re.findall(r"\S+\|\S+", belljar(command, "--help").stdout):
            for word in choice.split("|"):
                assert f"`{word}`" in PAGE or word in PAGE, word


def test_every_key_of_a_result_is_described(belljar):
    import json

    for key in json.loads(belljar("run", "--json", "-c", "1").stdout):
        assert f"`{key}`" in PAGE.split("\n## The JSON object\n")[1].split("\n## ")[0], key
