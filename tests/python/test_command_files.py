"""Files of a session of commands, as its commands have them; what scripts find where."""

import asyncio
import io
import os
import re
import tarfile
from collections.abc import Iterator
from pathlib import Path

import belljar
import pytest
from belljar import _transfers

from tests.languages.conftest import need_language
from tests.machine import ROOT

MIB = 1 << 20


@pytest.fixture(scope="module")
def box() -> Iterator[belljar.Sandbox]:
    need_language("shell")
    with belljar.Sandbox(language="shell") as box:
        yield box


@pytest.fixture
def session(box: belljar.Sandbox) -> Iterator[belljar.Session]:
    with box.session() as session:
        yield session


# --- one file -------------------------------------------------------------------------------------


def test_a_file_at_any_path(session: belljar.Session, tmp_path: Path) -> None:
    content = bytes(range(256)) * 1000
    local = tmp_path / "local"
    local.write_bytes(b"local")
    for path in ("a b/$x.bin", "/tmp/new/-n", "/var/tmp/c", "-r"):
        session.write_file(path, content)
        assert session.read_file(path) == content
    assert session.read_file("/workspace/a b/$x.bin") == content
    assert session.command(["cat", "/tmp/c"]).stdout_bytes == content  # /var/tmp is /tmp
    session.write_file("/tmp/new/-n", "é")
    assert session.read_file("/tmp/new/-n") == "é".encode()
    session.write_file("/tmp/new/-n", local)
    assert session.read_file("/tmp/new/-n") == b"local"


def test_a_large_file(session: belljar.Session) -> None:
    content = os.urandom(MIB) * 70  # more than one call reads of a command's output
    session.write_file("large", content)
    assert session.read_file("large") == content
    with pytest.raises(OSError, match=r"more than 1048576 bytes.*large"):
        session.read_file("large", most="1m")
    assert session.read_file("large", most=len(content)) == content


def test_what_cannot_be_read_or_written(session: belljar.Session) -> None:
    session.command("echo x > closed && chmod 000 closed && mkdir folder", check=True)
    with pytest.raises(FileNotFoundError, match="/etc/passwd"):
        session.read_file("/etc/passwd")
    for path in ("/etc", "folder"):
        with pytest.raises(IsADirectoryError):
            session.read_file(path)
    with pytest.raises(PermissionError):
        session.read_file("closed")
    for path in ("closed", "/usr/new", "/usr/bin/env", "/new", "/new/file"):
        with pytest.raises(PermissionError):
            session.write_file(path, "x")
    with pytest.raises(IsADirectoryError):
        session.write_file("folder", "x")
    with pytest.raises(ValueError, match="NUL"):
        session.read_file("a\0b")
    with pytest.raises(OSError, match="a device, or another special file"):
        session.read_file("/dev/zero")


def test_a_full_workspace_is_an_error(session: belljar.Session) -> None:
    session.command("head -c 1020M /dev/zero > full; true")
    with pytest.raises(OSError, match="No space left on device"):
        session.write_file("more", bytes(8 * MIB))


# --- folders --------------------------------------------------------------------------------------


def test_a_folder_there_and_back(session: belljar.Session, tmp_path: Path) -> None:
    source = tmp_path / "source"
    (source / "sub/empty").mkdir(parents=True)
    (source / "sub/tool").write_text("#!/bin/sh\necho tool\n")
    (source / "sub/tool").chmod(0o755)
    (source / "link").symlink_to("sub/tool")
    session.upload(source, "/tmp/there")
    assert session.command("/tmp/there/link").stdout == "tool\n"
    session.command("cd /tmp/there && mkfifo pipe && ln sub/tool second && echo new > new")
    target = tmp_path / "target"
    target.mkdir()
    (target / "new").write_text("old")
    assert sorted(session.download("/tmp/there", target)) == ["link", "pipe"]
    found = {str(path.relative_to(target)) for path in target.rglob("*")}
    assert found == {"new", "second", "sub", "sub/empty", "sub/tool"}
    assert (target / "new").read_text() == "new\n"
    assert (target / "second").read_text() == (source / "sub/tool").read_text()
    assert session.download("/tmp/there/new", tmp_path / "one/file") == ()
    assert (tmp_path / "one/file").read_text() == "new\n"
    with pytest.raises(OSError, match="more than 1024 bytes"):
        session.download("/tmp/there", target, most="1k")


def packed(*members: tarfile.TarInfo) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        for each in members:
            archive.addfile(each, io.BytesIO(b"x" * each.size))
    return file.getvalue()


def member(name: str, **fields: object) -> tarfile.TarInfo:
    made = tarfile.TarInfo(name)
    made.size = 1
    for field, value in fields.items():
        setattr(made, field, value)
    return made


@pytest.mark.parametrize("name", ["../out", "a/../../out", "/out", "a//../../out"])
def test_a_hostile_archive_leads_nowhere(tmp_path: Path, name: str) -> None:
    """A session's tar may be any program."""
    folder = tmp_path / "folder"
    with pytest.raises(OSError, match="damaged"):
        _transfers.unpack(packed(member(name)), folder)
    with pytest.raises(OSError, match="damaged"):
        _transfers.unpack(packed(member(name, type=tarfile.DIRTYPE, size=0)), folder)
    assert [path.name for path in tmp_path.rglob("*")] == ["folder"]


def test_a_hostile_archive_has_only_files(tmp_path: Path) -> None:
    folder, outside = tmp_path / "folder", tmp_path / "outside"
    outside.mkdir()
    folder.mkdir()
    (folder / "old").symlink_to(outside)
    links = [
        member("link", type=tarfile.SYMTYPE, linkname=str(outside), size=0),
        member("hard", type=tarfile.LNKTYPE, linkname="/etc/passwd", size=0),
        member("device", type=tarfile.CHRTYPE, size=0),
    ]
    assert _transfers.unpack(packed(*links), folder) == ("link", "hard", "device")
    with pytest.raises(OSError):  # a link that was there before is not followed
        _transfers.unpack(packed(member("old/file")), folder)
    assert list(outside.iterdir()) == []
    assert _transfers.unpack(packed(member("link/file", mode=0o6777)), folder) == ()
    assert (folder / "link/file").stat().st_mode & 0o6111 == 0


@pytest.mark.parametrize("content", [b"x" * 512, packed(member("a"))[:600], b"\0" * 3])
def test_a_damaged_archive_is_an_error(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(OSError, match="damaged"):
        _transfers.unpack(content, tmp_path)


def test_asyncio(tmp_path: Path) -> None:
    need_language("shell")

    async def main() -> None:
        async with belljar.AsyncSandbox(language="shell") as box, box.session() as session:
            await session.write_file("/tmp/a", "a")
            assert await session.read_file("/tmp/a") == b"a"
            await session.upload(tmp_path, "/tmp/folder")
            assert await session.download("/tmp/folder", tmp_path / "back") == ()
            result = await session.command(["printf", r"\377"])
            assert (result.stdout, result.stdout_bytes) == ("\ufffd", b"\xff")

    asyncio.run(main())


# --- output ---------------------------------------------------------------------------------------


def test_output_as_bytes_and_more_than_one_read(session: belljar.Session) -> None:
    result = session.command("printf '\\377\\000'; printf '\\376' >&2")
    assert (result.stdout_bytes, result.stderr_bytes) == (b"\xff\0", b"\xfe")
    shown = session.command("printf '\\377'", stream=lambda *_: None)
    assert (shown.stdout_bytes, shown.stderr_bytes) == (b"\xff", b"")
    large = session.command("head -c 80000000 /dev/zero; printf end", output="100m")
    assert len(large.stdout) == 80_000_003 and large.stdout.endswith("end")
    assert large.stdout_dropped == 0


# --- what scripts expect --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "first", ["#!/bin/bash", "#!/bin/sh", "#!/usr/bin/env bash", "#!/usr/bin/env -S sh -e"]
)
def test_interpreters_are_where_scripts_name_them(session: belljar.Session, first: str) -> None:
    session.write_file("script", f"{first}\necho $1\n")
    assert session.command("chmod +x script && ./script hello").stdout == "hello\n"


def test_usual_paths(session: belljar.Session) -> None:
    for words in (["/bin/bash", "-c"], ["/bin/sh", "-c"], ["/usr/bin/env", "bash", "-c"]):
        assert session.command([*words, "echo $0 there"]).stdout.endswith(" there\n")
    name = session.command(["python3", "-c", "import getpass; print(getpass.getuser())"]).stdout
    assert name == "sandbox\n"
    assert session.command("mktemp -p /var/tmp").stdout.startswith("/var/tmp/")


def test_links_of_an_own_language(tmp_path: Path) -> None:
    need_language("shell")
    file = tmp_path / "own.toml"
    text = """
schema = 1
name = "own"
extends = "shell"
summary = "Commands, with folders at the root."

[[paths]]
path = "/logs"
link = "/workspace/logs"
why = "a test writes there"
"""
    file.write_text(text)
    with belljar.Sandbox(language=str(file)) as box, box.session() as session:
        session.command("mkdir logs && echo x > /logs/file && mkdir -p /logs/a/b", check=True)
        assert session.files["logs/file"] == b"x\n"
        assert session.command("rm -r /logs").exit_code != 0
    for bad in ("/etc", "/tmp/../etc", "workspace", "/workspace/", "/tmpx"):
        file.write_text(text.replace("/workspace/logs", bad))
        with pytest.raises(ValueError, match='"link" is for an absolute path'):
            belljar.Sandbox(language=str(file))


# --- the page -------------------------------------------------------------------------------------


def test_examples_of_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    need_language("shell")
    need_language("c")
    monkeypatch.chdir(tmp_path)
    page = (ROOT / "docs/workshop.md").read_text()
    first, files = re.findall(r"^```python\n(.*?)^```$", page, re.M | re.S)
    exec(first, {})
    assert capfd.readouterr().out == "HELLO\n\nb'got typed\\n'\n"
    exec(files, {})
    assert capfd.readouterr().out == "b'Alan\\nAda\\n' ()\n"
    assert (tmp_path / "project/sorted.txt").read_text() == "Alan\nAda\n"
