"""Packages in sessions of commands, and for programs of this machine's Python and Node.js."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import belljar
import pytest
from belljar import InstalledPackage

from tests.clocks import HANG
from tests.container.served_index import Index, served_index
from tests.languages.conftest import need_language
from tests.machine import BELLJAR, lacks
from tests.python.projects import need_projects

GUESTS = "import guests; print(guests.LIST, guests.__file__)"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    need_language("shell")
    with served_index(tmp_path_factory.mktemp("index") / "asked") as index:
        yield index


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        patch.setenv("XDG_CACHE_HOME", str(folder))
        yield folder


@pytest.fixture(scope="module")
def box(index: Index) -> Iterator[belljar.Sandbox]:
    with sandbox("shell", index) as box:
        yield box


def sandbox(language: str, index: Index, *packages: str) -> belljar.Sandbox:
    return belljar.Sandbox(
        language=language,
        packages=packages,
        package_index=index.address,
        npm_registry=index.registry,
        package_allow_private=["127.0.0.1"],
    )


def python(session: belljar.Session, code: str) -> str:
    return session.command(["python3", "-c", code], check=True).stdout


def names(packages: tuple[InstalledPackage, ...]) -> list[str]:
    return [f"{each.name}=={each.version}" for each in packages]


def test_commands_import_what_is_installed(box: belljar.Sandbox) -> None:
    with box.session() as session:
        assert session.packages == ()
        missing = session.command(["python3", "-c", "import guests"])
        assert "No module named 'guests'" in missing.stderr
        installed = session.install("host-of-guests")
        assert names(installed) == ["greeting==1.0", "host-of-guests==1.0"]
        assert session.packages == installed
        assert python(session, GUESTS) == "['good day, you'] /packages/python/guests/__init__.py\n"


def test_a_running_command_sees_it(box: belljar.Sandbox) -> None:
    with box.session() as session:
        running = session.spawn("read line; python3 -c 'import greeting; print(greeting.greet(1))'")
        session.install("greeting")
        running.write("go\n")
        assert list(running.lines()) == ["good day, 1"]


def test_what_is_added_is_resolved_with_what_is_there(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.install("greeting")
        assert names(session.packages) == ["greeting==2.0"]
        session.install("host-of-guests")  # it needs greeting<2
        assert names(session.packages) == ["greeting==1.0", "host-of-guests==1.0"]
        with pytest.raises(belljar.BelljarError, match="conflict"):
            session.install("greeting==2.0")
        assert names(session.packages) == ["greeting==1.0", "host-of-guests==1.0"]
        assert python(session, GUESTS).startswith("['good day, you']")


def test_scripts_are_commands(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.install("scripted")
        result = session.command(["scripted"])
        assert (result.exit_code, result.stderr) == (0, "")
        assert session.command("command -v scripted").stdout == "/packages/python/bin/scripted\n"


def test_nothing_of_it_can_be_changed(box: belljar.Sandbox, cache: Path) -> None:
    with box.session() as session:
        session.install("greeting")
        for attempt in (
            "echo x > /packages/python/greeting/__init__.py",
            "touch /packages/python/new",
            "rm -rf /packages/python/greeting",
            "mv /packages/python/greeting /packages/python/other",
            "chmod u+w /packages/python/greeting/__init__.py",
            "ln /packages/python/greeting/__init__.py /workspace/own && echo x > /workspace/own",
            "umount /packages/python",
            "mount -o remount,rw /packages/python",
            "unshare --user --mount true",
        ):
            result = session.command(attempt)
            assert result.exit_code != 0, attempt
        assert python(session, "import greeting; print(greeting.greet('me'))") == "good day, me\n"
        # A control: the same works where it may.
        session.command("mkdir own; echo x > own/a; mv own other; rm -rf other", check=True)
    site = next(cache.glob("belljar/packages/*/site/greeting/__init__.py"))
    assert "HELLO" in site.read_text()


def test_no_way_out_afterwards(box: belljar.Sandbox, index: Index) -> None:
    """The index was reached by the installer alone."""
    port = re.search(r":(\d+)/", index.address)
    assert port is not None
    attempt = f"import socket; socket.create_connection(('127.0.0.1', {port[1]}), 5)"
    subprocess.run(["python3", "-c", attempt], check=True, timeout=HANG)  # the control
    with box.session() as session:
        session.install("greeting")
        result = session.command(["python3", "-c", attempt])
        assert "Connection refused" in result.stderr


def test_branches_have_it_and_go_their_own_ways(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.install("greeting==1.0")
        one, other = session.branch(2)
        one.install("scripted")
        assert names(one.packages) == ["greeting==1.0", "scripted==1.0"]
        assert names(other.packages) == names(session.packages) == ["greeting==1.0"]
        assert python(other, "import greeting; print(greeting.greet(1))") == "good day, 1\n"
        assert one.command(["scripted"]).exit_code == 0
        assert other.command("command -v scripted").exit_code != 0


def test_another_session_takes_it_from_the_cache(box: belljar.Sandbox, index: Index) -> None:
    with box.session() as session:
        session.install("shadows")
    before = index.asked()
    with box.session() as session:
        session.install("shadows")
        assert session.command("ls -d /packages/python/shadows").exit_code == 0
    assert index.asked() == before


def test_of_a_sandbox(index: Index) -> None:
    with sandbox("shell", index, "host-of-guests") as box, box.session() as session:
        assert python(session, GUESTS).startswith("['good day, you']")
        session.install("scripted")  # beside them
        assert names(session.packages) == ["greeting==1.0", "host-of-guests==1.0", "scripted==1.0"]
        assert python(session, GUESTS).startswith("['good day, you']")
    with sandbox("cpython", index, "host-of-guests") as box:
        result = box.run(GUESTS)
        assert result.stdout == "['good day, you'] /packages/python/guests/__init__.py\n", result


def test_a_lock_file(box: belljar.Sandbox, tmp_path: Path) -> None:
    lock = tmp_path / "requirements.txt"
    with box.session() as session:
        installed = session.install("host-of-guests")
    lines = [each.requirement.replace(" --hash", " \\\n    --hash") for each in installed]
    lock.write_text("# made by a test\n" + "\n".join(lines) + "  # via nobody\n")
    with box.session() as session:
        assert session.install(lock=lock) == installed
        assert python(session, GUESTS).startswith("['good day, you']")
    lock.write_text("\n".join(lines).replace(installed[0].sha256, "0" * 64))
    with (
        box.session() as session,
        pytest.raises(belljar.BelljarError, match="(?i)hash"),
    ):
        session.install(lock=lock)
    lock.write_text(installed[1].requirement)  # without what it needs
    with (
        box.session() as session,
        pytest.raises(belljar.BelljarError, match="(?i)hash"),
    ):
        session.install(lock=lock)


def test_in_a_project(index: Index, box: belljar.Sandbox, tmp_path: Path) -> None:
    need_projects()
    (tmp_path / "main.py").write_text(GUESTS)
    with box.session(project=tmp_path) as session:
        session.install("host-of-guests")
        session.command(["python3", "main.py"], check=True)
        assert [each.path for each in session.changes()] == []


@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("no-such-thing-at-all", "has no package"),
        ("source-only", "has no wheel"),
        ("climbs", "."),
        ("wrong-digest", "(?i)hash"),
        ("needs-a-build", "nothing is built here|not permitted"),
    ],
)
def test_packages_that_cannot_be_had(box: belljar.Sandbox, requirement: str, said: str) -> None:
    with box.session() as session:
        with pytest.raises(belljar.BelljarError, match=said):
            session.install(requirement)
        assert session.packages == ()
        assert session.command("ls -A /packages/python").stdout == ""


@pytest.mark.parametrize(
    "requirement",
    ["./here", "--index-url=http://127.0.0.1", "a @ http://127.0.0.1/a", "", "a; b", "a\nb"],
)
def test_requirements_that_are_none(box: belljar.Sandbox, requirement: str) -> None:
    with box.session() as session, pytest.raises(ValueError, match="package"):
        session.install(requirement)


def test_arguments(box: belljar.Sandbox, tmp_path: Path) -> None:
    (tmp_path / "options").write_text("--index-url http://127.0.0.1\n")
    (tmp_path / "empty").write_text("# nothing\n")
    (tmp_path / "loose").write_text("six==1.16.0\n")
    with box.session() as session:
        with pytest.raises(ValueError, match="name packages, or give a lock file"):
            session.install()
        with pytest.raises(ValueError, match="name packages, or give a lock file"):
            session.install("a", lock="b")
        with pytest.raises(FileNotFoundError):
            session.install(lock=tmp_path / "none")
        for name, said in (("options", "an option"), ("empty", "no packages"), ("loose", "--hash")):
            with pytest.raises(ValueError, match=said):
                session.install(lock=tmp_path / name)
        with pytest.raises(TypeError, match="requirements"):
            session.install(1)  # type: ignore[arg-type]
    with pytest.raises(belljar.SessionClosed):
        session.install("greeting")


def test_without_an_index(monkeypatch: pytest.MonkeyPatch) -> None:
    need_language("shell")
    monkeypatch.delenv("PIP_INDEX_URL", raising=False)
    with (
        belljar.Sandbox(language="shell") as box,
        box.session() as session,
        pytest.raises(ValueError, match="package_index: there is none"),
    ):
        session.install("six")


# --- npm's ----------------------------------------------------------------------------------------


def node(session: belljar.Session, code: str) -> str:
    return session.command(["node", "-e", code], check=True).stdout


@pytest.fixture
def npm() -> None:
    need_language("javascript")
    places = (
        "/usr/lib/node_modules/npm",
        "/usr/local/lib/node_modules/npm",
        "/usr/share/nodejs/npm",
    )
    lacks(any(map(os.path.exists, places)), "npm")  # Debian's has 400 dependencies


@pytest.mark.usefixtures("npm")
def test_npms_packages(box: belljar.Sandbox) -> None:
    with box.session() as session:
        installed = session.install("npm:shout", "npm:@own/scoped@^1")
        assert [each.requirement for each in installed] == [
            "npm:@own/scoped@1.0.0",
            "npm:left@1.0.0",
            "npm:shout@1.0.0",
        ]
        assert installed[1].file == "left-1.0.0.tgz" and len(installed[1].sha256) == 64
        assert node(session, "console.log(require('shout')('hi'))") == "      HI\n"
        session.files["main.mjs"] = "import word from '@own/scoped'; console.log(word);\n"
        assert session.command(["node", "main.mjs"]).stdout == "scoped\n"
        assert session.command(["shout", "you"]).stdout == "     YOU\n"
        session.install("greeting")  # Python's, beside them
        assert python(session, "import greeting; print(greeting.greet(1))") == "good day, 1\n"
        assert session.command(["shout", "you"]).exit_code == 0
        for attempt in ("touch /packages/node_modules/new", "rm -rf /packages/node_modules/left"):
            assert session.command(attempt).exit_code != 0
        assert len(session.packages) == 4
        (branch,) = session.branch(1)
        assert branch.command(["shout", "you"]).stdout == "     YOU\n"


@pytest.mark.usefixtures("npm")
def test_of_one_npm_package_there_may_be_two_versions(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.install("npm:shout", "npm:left@2")
        assert [each.requirement for each in session.packages] == [
            "npm:left@1.0.0",
            "npm:left@2.0.0",
            "npm:shout@1.0.0",
        ]
        code = "console.log(require('left').pad(), require('shout')('hi'))"
        assert node(session, code) == "two       HI\n"


@pytest.mark.usefixtures("npm")
def test_nothing_of_an_npm_package_is_run(box: belljar.Sandbox) -> None:
    with box.session() as session:
        session.install("npm:with-scripts", "npm:bad-bin")
        assert node(session, "console.log(require('with-scripts'))") == "not run\n"
        assert session.command(
            "ls -A /workspace /packages/node_modules/.bin; ls /up /out"
        ).stdout.split() in (
            ["/workspace:"],
            ["/packages/node_modules/.bin:", "/workspace:"],
        )


@pytest.mark.usefixtures("npm")
@pytest.mark.parametrize(
    ("requirement", "said"),
    [
        ("npm:no-such-thing", "has no package"),
        ("npm:left@^7", "has no version"),
        ("npm:wrong-integrity", "(?i)integrity"),
        ("npm:needs-git", "npm says"),
    ],
)
def test_npm_packages_that_cannot_be_had(box: belljar.Sandbox, requirement: str, said: str) -> None:
    with box.session() as session:
        with pytest.raises(belljar.BelljarError, match=said):
            session.install(requirement)
        assert session.packages == ()
        assert session.command("ls -A /packages/node_modules").stdout == ""


@pytest.mark.parametrize(
    "requirement",
    [
        "npm:", "npm:./x", "npm:../x", "npm:/tmp/x", "npm:Upper", "npm:a@git+https://127.0.0.1/a",
        "npm:a@file:../a", "npm:a@npm:b", "npm:a@b/c", "npm:@a", "npm:@a/b/c", "npm:--force",
        "npm:a@-x", "npm:a@../b", "npm:a b",
    ],
)  # fmt: skip
def test_requirements_that_are_none_of_npms(box: belljar.Sandbox, requirement: str) -> None:
    with box.session() as session, pytest.raises(ValueError, match="a package of npm is a name"):
        session.install(requirement)


@pytest.mark.usefixtures("npm")
def test_npms_packages_of_programs(index: Index) -> None:
    code = "console.log(require('shout')('hi'))"
    with sandbox("javascript", index, "npm:shout") as box:
        assert box.run(code).stdout == "      HI\n"
    with sandbox("typescript", index, "npm:shout") as box:
        assert (
            box.run("import shout from 'shout';\nconsole.log(shout('hi'));").stdout == "      HI\n"
        )


def test_where_npms_packages_cannot_be(index: Index) -> None:
    for language, name in (("cpython", "npm:left"), ("javascript", "six"), ("python", "npm:left")):
        with pytest.raises(ValueError, match="is for|packages"):
            sandbox(language, index, name)


def test_sessions_that_run_cells_have_none(index: Index) -> None:
    with (
        belljar.Sandbox(package_index=index.address) as box,
        box.session() as session,
        pytest.raises(ValueError, match="open one in the language"),
    ):
        session.install("six")


def test_async(index: Index) -> None:
    async def main() -> list[str]:
        async with (
            belljar.AsyncSandbox(
                language="shell",
                package_index=index.address,
                package_allow_private=["127.0.0.1"],
            ) as box,
            box.session() as session,
        ):
            assert session.packages == ()
            await session.install("greeting==1.0")
            await session.command(["python3", "-c", "import greeting"], check=True)
            return names(session.packages)

    assert asyncio.run(main()) == ["greeting==1.0"]


def belljar_command(index: Index, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    source = ["--package-index", index.address, "--package-allow-private", "127.0.0.1"]
    command, *rest = arguments
    return subprocess.run(
        [BELLJAR, command, *source, *rest],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=os.environ,
        stdin=subprocess.DEVNULL,
    )


def test_the_command_line(index: Index, tmp_path: Path) -> None:
    package = ["--package", "host-of-guests"]
    done = belljar_command(index, "shell", *package, "--", "python3", "-c", GUESTS)
    assert (done.returncode, done.stdout) == (
        0,
        "['good day, you'] /packages/python/guests/__init__.py\n",
    ), done
    done = belljar_command(index, "run", *package, "--language", "cpython", "-c", GUESTS)
    assert done.stdout.startswith("['good day, you']"), done
    need_projects()
    (tmp_path / "main.py").write_text(GUESTS)
    project = ["--project", str(tmp_path)]
    done = belljar_command(index, "run", *package, *project, "--", "python3", "main.py")
    assert done.stdout.startswith("['good day, you']"), done


def test_the_command_line_says_where_packages_can_be(index: Index) -> None:
    done = belljar_command(index, "run", "--package", "six", "-c", "1")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--package: they require a container, or the language cpython or shell" in done.stderr
    done = belljar_command(index, "run", "--package", "six", "--language", "bash", "-c", "true")
    assert "--package: six is for Python, cpython and shell, not for Bash" in done.stderr
    done = belljar_command(index, "shell", "--package", "no-such-thing", "--", "true")
    assert "has no package" in done.stderr
    assert done.returncode not in {0, 2}
