"""`belljar languages --prepare`: what makes a language start faster, and whom it is taken from."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import HANG
from tests.languages.conftest import need_language
from tests.machine import BELLJAR, need_root

# A program of it sees the path of the file as $PREPARED.
OWN = r"""
schema = 1
name = "own"
extends = "base"
summary = "A shell with something prepared."
[program]
why = "a test"
title = "Own"
package = "bash"
extensions = [".own"]
version = ["bash", "--version"]
file = "main.own"
command = ["bash", "-c", 'PREPARED=$1; . "$0"', "{file}", "{prepared}"]
example = "echo hello"
[program.prepare]
why = "a test"
command = ["bash", "{file}"]
source = "cat <from> > data; echo made >> data"
file = "data"
from = ["<from>"]
[[paths]]
path = "/usr/bin"
why = "the shell"
[[paths]]
path = "<from>"
why = "a test"
"""


class Own:
    """A language of the operator's own, in a folder with a cache."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.version = folder / "version"
        self.version.write_text("one\n")
        self.file = folder / "own.toml"
        self.write(OWN)

    def write(self, text: str) -> None:
        self.file.write_text(text.replace("<from>", str(self.version)))

    def belljar(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [BELLJAR, *map(str, arguments)],
            capture_output=True,
            text=True,
            check=False,
            timeout=HANG,
            env=os.environ | {"XDG_CACHE_HOME": str(self.cache)},
        )

    def prepare(self) -> subprocess.CompletedProcess[str]:
        return self.belljar("languages", "--prepare", "--json", self.file)

    def made(self) -> Path:
        done = self.prepare()
        assert done.returncode == 0, done
        (file,) = (self.cache / "belljar/languages").iterdir()
        return file

    @property
    def is_prepared(self) -> Any:
        done = self.belljar("languages", "--json", self.file)
        _, language = json.loads(done.stdout)["languages"]
        assert language["problem"] is None, done
        return language["prepared"]

    def run(self, source: str) -> dict[str, Any]:
        done = self.belljar("run", "--json", "--language", self.file, "-c", source)
        outcome: dict[str, Any] = json.loads(done.stdout)
        return outcome


@pytest.fixture
def own(tmp_path: Path) -> Own:
    # pytest's folders are this user's only; the jail's user reads the version.
    return Own(tmp_path)


def test_is_made_once_and_shown_to_programs(own: Own) -> None:
    assert own.is_prepared is False
    assert own.run('echo "<$PREPARED>"')["stdout"] == "<>\n"
    done = own.prepare()
    assert "preparing own\n" in done.stderr and "made " in done.stderr, done
    assert own.is_prepared is True
    assert own.run('cat "$PREPARED"')["stdout"] == "one\nmade\n"
    assert own.prepare().stderr == ""
    assert [each.name for each in own.made().parent.iterdir()] == [own.made().name]


def test_its_place_is_the_same_for_everybody_and_cannot_be_listed(own: Own) -> None:
    own.made()
    outcome = own.run('echo "$PREPARED"; ls /var/lib/belljar/prepared; ls /var; :')
    assert outcome["stdout"] == "/var/lib/belljar/prepared/data\n", outcome


WRITES = (
    'echo WON > "$PREPARED"',
    'echo WON >> "$PREPARED"',
    'truncate -s 0 "$PREPARED"',
    'rm -f "$PREPARED" && echo WON > "$PREPARED"',
    'echo WON > t; mv t "$PREPARED"',
    'ln "$PREPARED" l && echo WON > l',
    'chmod 777 "$PREPARED" && echo WON > "$PREPARED"',
    'touch "${PREPARED%/*}/other"',
    'exec 3< "$PREPARED"; echo WON > /proc/self/fd/3',
)


@pytest.mark.parametrize("layer", [None, "landlock", "seccomp", "privileges"])
def test_no_program_writes_to_it(layer: str | None, own: Own) -> None:
    """Also with a layer less: it is mounted read-only."""
    made = own.made()
    before = made.stat().st_mtime_ns, made.stat().st_mode, made.stat().st_nlink
    less = ("--without", layer) if layer else ()
    source = "\n".join(f"{{ {each}; }} 2> /dev/null" for each in WRITES) + '\ncat "$PREPARED"'
    done = own.belljar("run", *less, "--language", own.file, "-c", source)
    assert done.stdout == "one\nmade\n", done
    assert made.read_text() == "one\nmade\n"
    assert before == (made.stat().st_mtime_ns, made.stat().st_mode, made.stat().st_nlink)
    assert [each.name for each in made.parent.iterdir()] == [made.name]


def test_the_control_of_the_writes(own: Own) -> None:
    made = own.made()
    made.chmod(0o644)
    script = f'PREPARED={made}\necho WON > "$PREPARED"; cat "$PREPARED"'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True)
    assert done.stdout == "WON\n", done


def test_that_of_another_version_is_not_used_and_goes(own: Own) -> None:
    first = own.made()
    own.version.write_text("two, longer\n")
    assert own.is_prepared is False
    assert own.run('echo "<$PREPARED>"')["stdout"] == "<>\n"
    second = own.made()
    assert first != second and not first.exists()
    assert own.run('cat "$PREPARED"')["stdout"] == "two, longer\nmade\n"


def test_that_of_another_command_is_not_used(own: Own) -> None:
    own.made()
    own.write(OWN.replace("echo made", "echo otherwise"))
    assert own.is_prepared is False


@pytest.mark.parametrize("what", ["file", "folder", "folder above", "link", "half a file"])
def test_what_others_can_write_to_is_not_used(what: str, own: Own) -> None:
    """Whatever is there is mapped by the interpreter unchecked."""
    made = own.made()
    match what:
        case "file":
            made.chmod(0o666)
        case "folder":
            made.parent.chmod(0o777)
        case "folder above":
            made.parent.parent.chmod(0o775)
        case "link":
            made.rename(own.cache / "others")
            (own.cache / "others").chmod(0o666)
            made.symlink_to(own.cache / "others")
        case "half a file":
            made.rename(made.with_name(f".{made.name}.1"))
    assert own.is_prepared is False
    assert own.run('echo "<$PREPARED>"')["stdout"] == "<>\n"


@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_belongs_to_another_user_is_not_used(what: str, own: Own) -> None:
    need_root("may give files away")
    made = own.made()
    os.chown(made if what == "file" else made.parent, 1234, 1234)
    assert own.is_prepared is False


def test_nothing_is_written_where_others_can(own: Own) -> None:
    folder = own.cache / "belljar"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    done = own.prepare()
    assert (done.returncode, done.stdout) == (5, ""), done
    assert f"{folder} is writable by others: chmod go-w it" in done.stderr
    assert not any(each.is_file() for each in folder.rglob("*"))


def test_a_cache_that_cannot_be_made_says_why(own: Own) -> None:
    own.cache.write_text("no folder")
    done = own.prepare()
    assert done.returncode == 5 and f"keep it in {own.cache}/belljar" in done.stderr, done
    assert "Not a directory (ENOTDIR)" in done.stderr


@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("exit 3", "it failed"),
        ("echo no idea >&2; exit 3", "it failed: no idea"),
        ("true", "it left no data"),
        ("mkdir data", "it left no data"),
        ("ln -s /etc/passwd data", "it left no data"),
        ("kill -KILL $$", "it failed"),
    ],
)
def test_a_failure_says_why_and_leaves_nothing(source: str, says: str, own: Own) -> None:
    own.write(OWN.replace("cat <from> > data; echo made >> data", source))
    done = own.prepare()
    assert done.returncode == 5, done
    assert "prepare own: " in done.stderr and says in done.stderr
    assert own.is_prepared is False
    assert not list((own.cache / "belljar/languages").iterdir())


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('file = "data"', 'file = "../data"', '"file" must be a plain name'),
        ('name = "own"', 'name = "../own"', '"name" must be a plain name'),
        ('file = "data"', 'file = ".data"', '"file" must be a plain name'),
        ('from = ["<from>"]', "from = []", '"from" is empty'),
        ('from = ["<from>"]', 'from = ["version"]', "absolute paths"),
        ('from = ["<from>"]', "", "must be a list of strings"),
        ('command = ["bash", "{file}"]', "command = []", '"command" is empty'),
        ('command = ["bash", "{file}"]', 'command = ["bash", "{prepared}"]', "its own result"),
        (', "{prepared}"]', "]", "no command has {prepared}"),
        ('why = "a test"\ncommand = ["bash", "{f', 'command = ["bash", "{f', 'missing "why"'),
        ('file = "data"', 'file = "data"\nfiles = 1', 'did you mean "file"?'),
        ("[program.prepare]", "[program.prepared]", 'did you mean "prepare"?'),
    ],
)
def test_the_entry_is_strict(old: str, new: str, says: str, own: Own) -> None:
    assert old in OWN
    own.write(OWN.replace(old, new))
    done = own.belljar("languages", own.file)
    assert done.returncode == 2 and says in done.stderr, done


def test_what_has_nothing_to_prepare_is_only_listed(own: Own) -> None:
    done = own.belljar("languages", "--prepare", "--json", "bash")
    assert (done.returncode, done.stderr) == (0, ""), done
    assert json.loads(done.stdout)["languages"][1]["prepared"] is None
    assert not own.cache.exists()


def test_java_compiles_with_the_classes_of_its_archive(own: Own) -> None:
    need_language("java")
    hint = "Faster after: belljar languages --prepare java\n"
    assert hint in own.belljar("languages", "java").stdout
    done = own.belljar("languages", "--prepare", "java")
    assert done.returncode == 0 and "javac.jsa" in done.stderr and hint not in done.stdout, done
    # The compiler says which archive it has mapped.
    source = "public class Main { int x = true; }"
    log = "-Xlog:class+load:file=/workspace/loaded"
    run = ("run", "--json", "--language", "java", "--env", f"JDK_JAVA_OPTIONS={log}", "-c", source)
    outcome = json.loads(own.belljar(*run).stdout)
    assert outcome["error"]["type"] == "CompileError", outcome
    (loaded,) = (each["content"] for each in outcome["artifacts"] if each["name"] == "loaded")
    lines = [each for each in loaded.splitlines() if "com.sun.tools.javac" in each]
    assert len([each for each in lines if "shared objects file (top)" in each]) > 100, lines[:3]
