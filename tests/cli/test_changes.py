"""`belljar run --project` and `belljar changes`."""

import json
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Done
from tests.cli.test_shell import Terminal
from tests.languages.conftest import need_language
from tests.machine import must_work

Belljar = Callable[..., Done]


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    need_language("shell")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state"


@pytest.fixture
def project(tmp_path: Path, belljar: Belljar) -> Path:
    folder = tmp_path / "widget"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    (folder / "b.txt").write_text("one\n")
    tried = belljar("run", "--project", folder, "--", "true")
    if tried.code != 0:
        if must_work():
            pytest.fail(tried.stderr)
        pytest.skip(tried.stderr)
    return folder


def change(belljar: Belljar, project: Path, script: str) -> Done:
    return belljar("run", "--project", project, "--", "sh", "-c", script)


def test_a_run_changes_nothing_until_it_is_applied(belljar: Belljar, project: Path) -> None:
    done = change(belljar, project, "echo two >> a.txt; rm b.txt; echo new > new; echo out; exit 3")
    assert (done.code, done.stdout) == (3, "out\n")
    assert done.stderr == (
        f"belljar: 1 added, 1 changed, 1 removed in {project}, not applied; "
        '"belljar changes" shows them there, and applies them\n'
    )
    assert sorted(path.name for path in project.iterdir()) == ["a.txt", "b.txt"]
    listed = belljar("changes", cwd=project)
    head, *lines = listed.stdout.splitlines()
    assert head.endswith(f"  {project}: 1 added, 1 changed, 1 removed")
    assert lines == ["  M  a.txt", "  D  b.txt", "  A  new"]
    diff = belljar("changes", "--diff", project)
    assert " one\n+two\n" in diff.stdout
    done = belljar("changes", "--apply", project)
    assert (done.code, done.stdout) == (0, "applied: 1 added, 1 changed, 1 removed\n")
    assert (project / "a.txt").read_text() == "one\ntwo\n" and not (project / "b.txt").exists()
    done = belljar("changes", project)
    assert done.code == 2 and "no pending changes" in done.stderr


def test_the_diff_is_one_for_git_apply(belljar: Belljar, project: Path) -> None:
    change(belljar, project, "echo two > a.txt; rm b.txt; mkdir d; echo x > d/x")
    diff = belljar("changes", "--diff", project).out
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    subprocess.run(["git", "apply", "-"], cwd=project, input=diff, check=True)
    assert (project / "d/x").read_text() == "x\n" and not (project / "b.txt").exists()


def test_some_are_applied_and_the_rest_stays_or_is_discarded(
    belljar: Belljar, project: Path
) -> None:
    change(belljar, project, "echo 2 > a.txt; echo 2 > b.txt; mkdir d; echo x > d/x")
    done = belljar("changes", "--apply", "--only", "d/", project)
    assert (done.code, done.stdout) == (1, "applied: 2 added; 2 changes still pending\n")
    assert (project / "d/x").exists() and (project / "a.txt").read_text() == "one\n"
    done = belljar("changes", "--apply", "--only", "d", project)
    assert done.code == 2 and "nothing changed there" in done.stderr
    assert belljar("changes", "--discard", project).stdout == "discarded: 2 changed\n"
    assert belljar("changes", "--all").stdout == "no pending changes\n"


def test_a_conflict_stops_all_of_it(belljar: Belljar, project: Path) -> None:
    change(belljar, project, "echo 2 > a.txt; echo 2 > b.txt")
    (project / "b.txt").write_text("somebody else\n")
    done = belljar("changes", "--apply", project)
    assert done.code == 1 and '"b.txt": it has changed in the project since' in done.stderr
    assert (project / "a.txt").read_text() == "one\n"
    assert belljar("changes", "--apply", "--only", "a.txt", project).code == 1
    assert (project / "a.txt").read_text() == "2\n"


def test_what_git_executes_and_what_leads_out_is_left_out(belljar: Belljar, project: Path) -> None:
    subprocess.run(["git", "init", "-q"], cwd=project, check=True)
    change(
        belljar,
        project,
        "echo 2 > a.txt; echo '#!/bin/sh' > .git/hooks/pre-commit; ln -s /etc/passwd link",
    )
    listed = belljar("changes", project).stdout
    assert "(left out: it is in .git, whose hooks and settings git executes (--with-git))" in listed
    assert "(left out: the link leads out of the project)" in listed
    done = belljar("changes", "--apply", project)
    assert done.code == 1 and "left out: link: the link leads out" in done.stderr
    assert (project / "a.txt").read_text() == "2\n"
    assert not (project / "link").is_symlink()
    assert not (project / ".git/hooks/pre-commit").exists()
    belljar("changes", "--apply", "--with-git", project)
    assert (project / ".git/hooks/pre-commit").exists()


def test_json_and_earlier_sessions(belljar: Belljar, project: Path) -> None:
    change(belljar, project, "echo 2 > a.txt")
    first = json.loads(belljar("changes", "--json", project).stdout)
    assert first["changes"] == [{"path": "a.txt", "change": "changed"}]
    change(belljar, project, "echo 3 > b.txt")
    both = json.loads(belljar("changes", "--all", "--json").stdout)
    assert {each["id"] for each in both} > {first["id"]} and len(both) == 2
    assert belljar("changes", "--id", first["id"], "--apply").code == 0
    assert (project / "a.txt").read_text() == "2\n"


@pytest.fixture
def review(program: Path, project: Path) -> Iterator[Callable[[], Terminal]]:
    opened: list[Terminal] = []

    def start() -> Terminal:
        opened.append(Terminal(program, "--review", str(project), command="changes"))
        return opened[-1]

    yield start
    for each in opened:
        each.close()


def test_a_review_asks_for_each_file(
    belljar: Belljar, project: Path, review: Callable[[], Terminal]
) -> None:
    change(belljar, project, "printf 'esc\\033[2Jape\\n' > a.txt; echo 2 > b.txt; echo 3 > c.txt")
    opened = review()
    opened.shows("+esc\\x1b[2Jape")  # what moves the cursor does not come through
    opened.shows("apply this? [y,n,a,q,?] ")
    opened.type("n\n")
    opened.shows("+2")
    opened.shows("apply this? [y,n,a,q,?] ")
    opened.type("?\n")
    opened.shows("y: apply it")
    opened.shows("apply this? [y,n,a,q,?] ")
    opened.type("y\n")
    opened.shows("+3")
    opened.shows("apply this? [y,n,a,q,?] ")
    opened.type("q\n")
    opened.shows("applied: 1 changed; 2 changes still pending")
    assert opened.end() == 1
    assert (project / "b.txt").read_text() == "2\n"
    assert (project / "a.txt").read_text() == "one\n" and not (project / "c.txt").exists()


def test_bad_input(belljar: Belljar, project: Path, tmp_path: Path) -> None:
    for arguments, message in (
        (("run", "--project", tmp_path / "none", "--", "true"), "No such file or directory"),
        (("run", "--project", project / "a.txt", "--", "true"), "Not a directory"),
        (("run", "--project", "", "--", "true"), "--project needs a folder"),
        (("run", "--project", project), "--project needs a command"),
        (("run", "--project", project, "-c", "1"), "-c is for programs"),
        (("changes", "--apply", "--discard", project), "use one of"),
        (("changes", "--id", "x"), "there are no changes"),
        (("changes", tmp_path / "none"), "No such file or directory"),
    ):
        done = belljar(*arguments)
        assert done.code == 2 and message in done.stderr, (arguments, done)
    change(belljar, project, "echo 2 > a.txt")
    done = belljar("changes", "--review", project)
    assert done.code == 2 and "asks at a terminal" in done.stderr
