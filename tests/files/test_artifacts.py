"""Files into a run and out of it, by the command."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest


@pytest.fixture
def run(program: Path, tmp_path: Path):
    def run(*arguments: str | Path) -> subprocess.CompletedProcess:
        return subprocess.run(
            [program, "run", *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )

    return run


FILES = ("--profile", "filesystem")


def test_file_in_and_artifact_out(run, tmp_path: Path) -> None:
    (tmp_path / "data.txt").write_text("one\n")
    source = "import os; os.mkdir('d'); open('d/out.txt', 'w').write(open('data.txt').read() * 2)"
    done = run("-c", source, *FILES, "--file", "data.txt", "--save-artifacts", "to/here")
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "to/here/d/out.txt").read_text() == "one\none\n"
    assert sorted(os.listdir(tmp_path / "to/here")) == ["d"]
    assert "1 artifact in to/here" in done.stderr
    assert "  d/out.txt  8 bytes  text/plain" in done.stderr


def test_the_object_has_all_of_a_file(run) -> None:
    done = run("-c", "open('a.csv', 'w').write('1,2')\nopen('b', 'wb').write(b'\\xff')", *FILES,
               "--json")  # fmt: skip
    artifacts = json.loads(done.stdout)["artifacts"]
    assert artifacts == [
        {"name": "a.csv", "origin": "file", "media_type": "text/csv", "size": 3,
         "sha256": hashlib.sha256(b"1,2").hexdigest(), "encoding": "utf-8", "content": "1,2",
         "note": None},
        {"name": "b", "origin": "file", "media_type": "application/octet-stream", "size": 1,
         "sha256": hashlib.sha256(b"\xff").hexdigest(), "encoding": "base64", "content": "/w==",
         "note": None},
    ]  # fmt: skip
    assert done.stderr == ""


def test_files_have_names_of_their_own_inside(run, tmp_path: Path) -> None:
    for name in ("a", "b", "with:colon"):
        (tmp_path / name).write_text(name)
    done = run("-c", "import os; print([(t, sorted(f)) for t, d, f in os.walk('.') if f])", *FILES,
               "--file", "a:x/y", "--file", "b:x/", "--file", "with:colon")  # fmt: skip
    assert done.stdout == "[('.', ['with:colon']), ('./x', ['b', 'y'])]\n", done.stderr
    assert done.stderr == "", "what did not change is no artifact"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--file", "a"), "--profile filesystem"),
        ((*FILES, "--file", "missing"), "missing"),
        ((*FILES, "--file", "."), '"./large" exceeds the 64m'),
        ((*FILES, "--file", "-"), "--stdin"),
        ((*FILES, "--file", "a:../b"), 'file "../b"'),
        ((*FILES, "--file", "a:/etc/b"), "without a leading '/'"),
        ((*FILES, "--file", "a", "--file", "a"), "twice"),
        ((*FILES, "--file", "a:x", "--file", "a:x/y"), '"x" is a file'),
        ((*FILES, "--file", "large"), "64m"),
        ((*FILES, "--force"), "--save-artifacts"),
        ((*FILES, "--save-artifacts", "a"), '--save-artifacts "a": Not a directory'),
        ((*FILES, "--save-artifacts", "a/b"), '--save-artifacts "a/b": create it: Not a directory'),
        ((*FILES, "--save-artifacts", ""), '--save-artifacts "": create it: '),
        (
            (*FILES, "--save-artifacts", "/proc/no"),
            '--save-artifacts "/proc/no": create it: No such file',
        ),
        ((*FILES, "--save-artifacts", "made", "--file", "missing"), "missing"),
    ],
)
def test_what_cannot_be_is_a_usage_error(run, tmp_path: Path, arguments, words: str) -> None:
    (tmp_path / "a").write_text("a")
    with open(tmp_path / "large", "wb") as file:
        file.truncate((64 << 20) + 1)
    done = run("-c", "print('ran')", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stdout == ""
    assert not (tmp_path / "made").exists()


def test_saving_leaves_what_is_there(run, tmp_path: Path) -> None:
    target = tmp_path / "out"
    target.mkdir()
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "f").write_text("mine")
    (target / "there").write_text("mine")
    (target / "link").symlink_to(outside / "f")
    (target / "folder").symlink_to(outside)
    source = (
        "import os\nos.mkdir('folder')\n"
        "for n in ('there', 'link', 'folder/f', 'new'): open(n, 'w').write('guest')"
    )
    done = run("-c", source, *FILES, "--save-artifacts", "out")
    assert done.returncode == 5
    assert "belljar: error: " in done.stderr
    lines = done.stderr.splitlines()
    assert {line.split()[0] for line in lines if line.endswith("(not saved)")} == {
        "there",
        "link",
        "folder/f",
    }
    assert (target / "there").read_text() == (outside / "f").read_text() == "mine"
    assert (target / "new").read_text() == "guest"
    done = run("-c", source, *FILES, "--save-artifacts", "out", "--force")
    assert done.returncode == 5, "a folder that is a link is nobody's to write through"
    assert (target / "there").read_text() == (target / "link").read_text() == "guest"
    assert not (target / "link").is_symlink()
    assert (outside / "f").read_text() == "mine"
    assert sorted(os.listdir(outside)) == ["f"]
    assert sorted(os.listdir(target)) == ["folder", "link", "new", "there"]


def test_odd_names_and_many_are_shown_safely(run, tmp_path: Path) -> None:
    source = (
        "import os\nfor i in range(30): open(f'f{i:02}', 'w').close()\n"
        "open(b'0\\x1b[31m\\n', 'w').close()\nos.symlink('/etc/passwd', 'link')\n"
    )
    done = run("-c", source, *FILES, "--save-artifacts", "out")
    assert "\x1b" not in done.stderr
    assert "0\\x1b[31m\\x0a" in done.stderr
    assert "  and 11 more\n" in done.stderr
    assert "left out: 1 symbolic link\n" in done.stderr
    assert len(os.listdir(tmp_path / "out")) == 31
    assert "link" not in os.listdir(tmp_path / "out")


# What a terminal obeys, and what changes how the rest of a line reads (Unicode's Bidi_Control).
MISLEADING = "\x7f\x85\x9b\u061c\u200e\u200f\u2028\u2029"
MISLEADING += "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def test_no_name_changes_how_a_line_reads(run, session, tmp_path: Path) -> None:
    source = f"open({f'a{MISLEADING}fdp.exe'!a}, 'w').close()"
    shown = "a" + "".join(f"\\x{byte:02x}" for byte in MISLEADING.encode()) + "fdp.exe"
    done = run("-c", source, *FILES, "--save-artifacts", "out")
    assert shown in done.stderr
    assert os.listdir(tmp_path / "out") == [shown]
    done = run("-c", source, *FILES, "--json")
    (artifact,) = json.loads(done.stdout)["artifacts"]
    assert artifact["name"] == shown
    assert artifact["note"] == "bytes of its name are written as \\xNN"
    (artifact,) = session.run(source)["artifacts"]
    assert artifact["name"] == shown


def test_the_json_of_a_run_cannot_change_how_it_reads(run) -> None:
    done = run("-c", f"print({MISLEADING!a})", *FILES, "--json")
    assert not set(done.stdout) & set(MISLEADING), ascii(done.stdout)
    assert json.loads(done.stdout)["stdout"] == MISLEADING + "\n"


def test_a_file_with_such_a_name_can_be_put_in(run, tmp_path: Path) -> None:
    """The caller's own: marks of direction are ordinary in Arabic and Hebrew names."""
    (tmp_path / "a\u200e.txt").write_text("mine")
    done = run("-c", "print(open('a\\u200e.txt').read())", *FILES, "--file", "a\u200e.txt")
    assert done.stdout == "mine\n"


def test_a_killed_program_leaves_its_files(run) -> None:
    done = run("-c", "open('half', 'w').write('x')\nwhile True: pass", *FILES, "--timeout", "0.5",
               "--json")  # fmt: skip
    outcome = json.loads(done.stdout)
    assert outcome["status"] == "timeout"
    assert [each["name"] for each in outcome["artifacts"]] == ["half"]


def test_large_content_is_saved_and_not_shown(run, tmp_path: Path) -> None:
    source = "open('large.bin', 'wb').write(b'x' * (3 << 20))"
    done = run("-c", source, *FILES, "--json", "--save-artifacts", "out")
    (artifact,) = json.loads(done.stdout)["artifacts"]
    assert artifact["content"] is None
    assert artifact["size"] == 3 << 20
    assert artifact["sha256"] == hashlib.sha256(b"x" * (3 << 20)).hexdigest()
    assert (tmp_path / "out/large.bin").stat().st_size == 3 << 20
