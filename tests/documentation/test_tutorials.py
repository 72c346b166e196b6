"""README.md and the tutorials: every command runs as printed, and prints what is below it."""

import re
import shlex
import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.documentation.conftest import BUILD, PAGES, ROOT, page, serving, shell, shows

TUTORIALS = sorted((ROOT / "docs").glob("tutorial-*.md"))
BLOCK = re.compile(r"^```sh\n(.*?)^```\n(?:```text\n(.*?)^```\n)?", re.M | re.S)
# What installs or builds, by other tests than these.
ELSEWHERE = {
    "./dev test": "tests/repository/test_dev.py",
    "./dev wheels 3.11": "tests/packaging/test_wheel.py",
    "pip install dist/belljar_sandbox-*-cp311-*.whl": "tests/packaging/test_wheel.py",
}
SERVE = re.compile(r"^belljar serve (?!.*--check)(.*)$", re.M)
READERS = ("agent", "developer", "grader", "operator", "pipeline", "platform", "teacher")
MOST_WORDS = 2500
# Made from what they describe.
MADE = {"docs/http-reference.md", "docs/language.md", "docs/profiles.md", "docs/rules.md"}


def as_built(block: str) -> str:
    """Without what is tried elsewhere; `./dev run` is the command that was built."""
    lines = (re.sub(r"\s+# .*", "", line) for line in block.splitlines(keepends=True))
    kept = "\n".join(line for line in map(str.rstrip, lines) if line not in ELSEWHERE)
    return kept.replace("./dev run ", "belljar run ")


@pytest.mark.parametrize("path", [ROOT / "README.md", *TUTORIALS], ids=lambda path: path.stem)
def test_every_command_runs_as_printed(path: Path, tmp_path: Path) -> None:
    blocks = BLOCK.findall(path.read_text(encoding="utf-8"))
    assert len(blocks) >= 3 and any(expected for _, expected in blocks)
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples")
    address = "127.0.0.1:9015"
    with ExitStack() as servers:
        for block, expected in blocks:
            if started := SERVE.fullmatch(block.strip()):
                options = shlex.split(started[1].replace(f"--http {address}", ""))
                address = servers.enter_context(
                    serving(tmp_path / "log.txt", *options, folder=folder)
                )
                continue
            assert not SERVE.search(block), "a server has a block of its own"
            command = block if "<<" in block else as_built(block)
            done = shell(
                command.replace("127.0.0.1:9015", address),
                folder,
                PYTHONPATH=str(BUILD / "python"),
                PYTEST_ADDOPTS="-p no:cacheprovider --color=no",
            )
            assert done.returncode == 0, (block, done.stdout)
            if expected:
                printed = done.stdout.replace(address, "127.0.0.1:9015")
                assert shows(expected, printed), f"{block}\nprinted:\n{printed}"


def test_what_is_tried_elsewhere_is_in_the_readme() -> None:
    text = page("README.md")
    for command, test in ELSEWHERE.items():
        assert command in text and (ROOT / test).is_file()


def test_a_page_that_is_behind_is_noticed() -> None:
    assert shows("exit code …", "exit code 4\n")
    assert not shows("8\nlist…", "9\nlist index out of range\n")


def test_each_reader_has_a_tutorial() -> None:
    assert [path.stem.removeprefix("tutorial-") for path in TUTORIALS] == list(READERS)


def test_the_readme_is_short() -> None:
    assert len(page("README.md").splitlines()) <= 150


def test_the_index_links_every_page() -> None:
    linked = set(re.findall(r"\]\(([a-z-]+\.md)", page("docs/index.md")))
    assert {path.name for path in (ROOT / "docs").glob("*.md")} - {"index.md"} == linked


@pytest.mark.parametrize(
    "path",
    [path for path in PAGES if path.parent.name == "docs" or path.name == "README.md"],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_no_page_is_too_long(path: Path) -> None:
    if str(path.relative_to(ROOT)) in MADE:
        return
    text = re.sub(
        r"<!-- table: .*?<!-- end of table -->", "", path.read_text(encoding="utf-8"), flags=re.S
    )
    assert len(text.split()) <= MOST_WORDS, "split it by what readers look for"
