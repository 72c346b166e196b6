"""Every page: links lead somewhere, blocks parse, commands have the options that are shown."""

import json
import re
import shlex
import subprocess
import tomllib
from configparser import ConfigParser

import pytest

from tests.cli.commands import BELOW, COMMANDS, GROUPS
from tests.documentation.conftest import BELLJAR, PAGES, ROOT, environment

IDS = [str(path.relative_to(ROOT)) for path in PAGES]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.M | re.S)
LINK = re.compile(r"\]\(([^)\s]+)\)")


def anchors(text: str) -> set[str]:
    """As a forge makes them from headings."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    headings = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def blocks(path, *languages: str) -> list[str]:
    text = path.read_text(encoding="utf-8")
    return [body for language, body in BLOCK.findall(text) if language in languages]


def commands(text: str) -> list[list[str]]:
    """Each use of the command where a shell would begin one, as its words."""
    text = re.sub(r"(^|\s)# .*", "", text.replace("\\\n", " "), flags=re.M)
    lexer = shlex.shlex(text, posix=True, punctuation_chars=";&|()<>\n")
    lexer.whitespace, lexer.commenters, lexer.whitespace_split = " \t", "", True
    found: list[list[str]] = []
    begins, ours = True, False
    for token in lexer:
        ends = not token.strip(";&|()<>\n")
        if begins and (token == "belljar" or token.endswith("/belljar")):
            found.append([])
            ours = True
        elif ends:
            ours = False
        elif ours:
            found[-1].append(token)
        begins = ends and token[-1] not in "<>"  # a file's name stands behind those
    return found


@pytest.fixture(scope="session")
def options() -> dict[str, set[str]]:
    """The options of each command, as its help has them."""

    def listed(command: str) -> set[str]:
        done = subprocess.run(
            [BELLJAR, *command.split(), "--help"],
            capture_output=True,
            text=True,
            check=True,
            env=environment(),
            timeout=60,
        )
        rows = re.findall(r"^  (-.*?)(?:  |$)", done.stdout, re.M)
        return set(re.findall(r"--?[a-z][\w-]*", " ".join(rows)))

    return {command: listed(command) for command in (*COMMANDS, *BELOW)}


def test_there_are_pages():
    assert {"README.md", "docs/mcp.md", "docs/configuration.md", "server/README.md"} <= set(IDS)


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_links_lead_somewhere(path):
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for link in LINK.findall(text):
        target, _, anchor = link.partition("#")
        if "://" in target:
            continue
        file = (path.parent / target).resolve() if target else path
        assert file.exists(), link
        if anchor:
            assert anchor in anchors(file.read_text(encoding="utf-8")), link


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_blocks_parse(path):
    for text in blocks(path, "json"):
        json.loads(text)
    for text in blocks(path, "toml"):
        tomllib.loads(text)
    for text in blocks(path, "ini"):
        ConfigParser(strict=False, interpolation=None).read_string(text)
    for text in blocks(path, "sh"):
        subprocess.run(["bash", "-n"], input=text, text=True, check=True, timeout=60)


@pytest.mark.parametrize("path", PAGES, ids=IDS)
def test_commands_have_the_options_that_are_shown(path, options):
    for text in blocks(path, "sh", "ini"):
        for command, *words in commands(text):
            if command == "--version":
                continue
            if command in GROUPS:
                command += " " + words[0]
            assert command in options, command
            for word in words:
                if re.match(r"--?[a-z]", word):
                    assert word.split("=")[0] in options[command], (command, word)


def test_an_option_that_is_not_there_is_noticed(options):
    shown = "true | belljar run -c 'f(1)' # belljar\nx=$(belljar serve --htp 1)\nnpx belljar x"
    assert commands(shown) == [["run", "-c", "f(1)"], ["serve", "--htp", "1"]]
    assert "--htp" not in options["serve"] and "--http" in options["serve"]
