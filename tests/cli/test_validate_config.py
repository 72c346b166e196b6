"""belljar validate: belljar.toml and pyproject.toml."""

from __future__ import annotations

import os

import pytest

from tests.machine import need_root

CODE = "import glob\nopen('x')\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.py").write_text(CODE)
    return tmp_path


def in_force(belljar, cwd, *arguments: str) -> dict[str, tuple[str, str]]:
    """Key -> value and origin, as --show-config has them."""
    done = belljar("validate", "--show-config", *arguments, cwd=cwd)
    assert done.code == 0, done.stderr
    shown = {}
    for line in done.stdout.splitlines()[2:]:
        setting, origin = line.rsplit("  # ", 1)
        key, _, value = setting.partition(" = ")
        shown[key] = (value, origin)
    return shown


def test_nothing_is_said_anywhere(belljar, folder):
    shown = in_force(belljar, folder)
    assert {origin for _, origin in shown.values()} == {"default"}
    assert shown["profile"][0] == '"basic"'
    assert shown["include"][0] == '["*.py"]'
    assert shown["allow-ignore-comments"][0] == "false"


EVERYTHING = """\
profile = "basic"
allowed-imports = ["math"]
include = ["*.py", "run"]
exclude = ["data/"]
select = ["BJ2", "BJ5"]
ignore = ["BJ205"]
format = "json"
baseline = "known.json"
allow-ignore-comments = true
ignore-files = false
jobs = 2
per-file-ignores = { "tests/*" = ["BJ501"] }
"""


@pytest.mark.parametrize(
    ("name", "section"),
    [("belljar.toml", "[validate]"), ("pyproject.toml", "[tool.belljar.validate]")],
)
def test_every_key(belljar, folder, name, section):
    (folder / name).write_text(f"{section}\n{EVERYTHING}")
    shown = in_force(belljar, folder)
    assert shown["allowed-imports"] == ('["math"]', f"{name}:3")
    assert shown["jobs"] == ("2", f"{name}:12")
    assert shown["baseline"] == (f'"{folder}/known.json"', f"{name}:9")
    assert {origin.partition(":")[0] for _, origin in shown.values()} == {name}
    beaten = in_force(belljar, folder, "--jobs", "3", "--select", "BJ3", "--format", "text")
    assert beaten["jobs"] == ("3", "--jobs")
    assert beaten["select"] == ('["BJ3"]', "--select")
    assert beaten["format"] == ('"text"', "--format")
    shown = belljar("validate", "--show-config", cwd=folder).stdout
    (folder / "again.toml").write_text(shown)
    again = belljar("validate", "--show-config", "--config", "again.toml", cwd=folder)
    assert again.code == 0, again.stderr


def test_it_is_found_upwards_as_far_as_the_repository(belljar, tmp_path):
    (tmp_path / "belljar.toml").write_text("[validate]\njobs = 5\n")
    inner = tmp_path / "repository/src"
    inner.mkdir(parents=True)
    assert in_force(belljar, inner)["jobs"] == ("5", "belljar.toml:2")
    # One without a section for us is none of ours; of two beside each other ours counts.
    (inner / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert in_force(belljar, inner)["jobs"] == ("5", "belljar.toml:2")
    (tmp_path / "repository/.git").mkdir()
    assert in_force(belljar, inner)["jobs"] == ("0", "default")
    (inner / "pyproject.toml").write_text("[tool.belljar.validate]\njobs = 6\n")
    assert in_force(belljar, inner)["jobs"] == ("6", "pyproject.toml:2")
    (inner / "belljar.toml").write_text("[validate]\njobs = 7\n")
    assert in_force(belljar, inner)["jobs"] == ("7", "belljar.toml:2")
    assert in_force(belljar, inner, "--isolated")["jobs"] == ("0", "default")
    named = in_force(belljar, inner, "--config", str(tmp_path / "belljar.toml"))
    assert named["jobs"] == ("5", "belljar.toml:2")


def test_patterns_are_relative_to_the_file(belljar, tmp_path):
    (tmp_path / "sub/tests").mkdir(parents=True)
    for path in ("a.py", "sub/a.py", "sub/tests/a.py"):
        (tmp_path / path).write_text(CODE)
    (tmp_path / "belljar.toml").write_text(
        '[validate]\nexclude = ["/a.py"]\n'
        '[validate.per-file-ignores]\n"sub/tests/" = ["BJ9"]\n"sub/*/*.py" = ["BJ2"]\n'
    )
    done = belljar("validate", ".", cwd=tmp_path)
    assert done.code == 2
    assert 'belljar.toml:3: per-file-ignores "sub/tests/": there is no rule "BJ9"' in done.stderr
    text = (tmp_path / "belljar.toml").read_text().replace("BJ9", "BJ5")
    (tmp_path / "belljar.toml").write_text(text)
    for folder in (tmp_path, tmp_path / "sub"):
        done = belljar("validate", ".", "--format", "github", cwd=folder)
        assert done.stdout.count("BJ201") == 1
        assert done.stdout.count("BJ501") == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[validate]\nselekt = []\n", '2:1: unknown key "selekt"; did you mean "select"?'),
        ("[validat]\n", 'belljar.toml:1:2: unknown key "validat"; did you mean "validate"?'),
        ("jobs = 3\n", 'unknown key "jobs"; write [validate] above it'),
        ("validate = 3\n", "validate is a section"),
        ("[validate]\njobs = 'two'\n", "2:8: jobs: write a whole number"),
        ("[validate]\njobs = 1000\n", "2:8: jobs: write a whole number"),
        ("[validate]\nselect = 'BJ2'\n", "2:10: select: write a list of strings"),
        ("[validate]\nselect = ['BJ2', 3]\n", "2:18: select: write a list of strings"),
        ("[validate]\nselect = ['BJ51']\n", 'belljar.toml:2: select: there is no rule "BJ51"'),
        ("[validate]\nallow-ignore-comments = 1\n", "write true or false"),
        ("[validate]\nformat = 'jsno'\n", "is none of text, json, sarif, github"),
        ("[validate]\nper-file-ignores = []\n", "write a table of patterns"),
        ("[validate]\nallowed-imports = ['maths']\n", 'has no module "maths"'),
        ("[validate]\nprofile = 'basci'\n", "belljar.toml:2: "),
        ("[validate]\nprofile = './own.toml'\n", "may only name a profile of this installation"),
        ("[validate\n", "belljar.toml:1:10: "),
        ("a" * (2 << 20), "File too large"),
        ("x = " + "[" * 100_000, "nested"),
        ("[" + "a." * 200_000 + "b]\n", "belljar.toml:1: a key of more than 32 names"),
        ("a." * 200_000 + "b = 1\n", "belljar.toml:1: a key of more than 32 names"),
        ("x = { " + "a." * 200_000 + "b = 1 }\n", "belljar.toml:1: a key of more than 32 names"),
        ('x = """\n\'\n"""\n' + "a." * 99 + "b = 1\n", "belljar.toml:4: a key of more than"),
        ("\xff\xfe\0", "belljar.toml:1:"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(belljar, folder, text, words):
    (folder / "belljar.toml").write_text(text)
    done = belljar("validate", ".", cwd=folder)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr
    assert belljar("validate", ".", "--isolated", cwd=folder).code == 1


def test_a_section_of_a_project_file_with_another_name_is_said(belljar, folder):
    (folder / "pyproject.toml").write_text("[tool.belljar.validat]\nselect = ['BJ5']\n")
    done = belljar("validate", ".", cwd=folder)
    assert (done.code, done.stdout) == (2, "")
    assert 'pyproject.toml:1:15: unknown key "validat"; did you mean "validate"?' in done.stderr


def test_of_two_configurations_one_is_read_and_a_note_says_so(belljar, folder):
    (folder / "belljar.toml").write_text("[validate]\nignore = ['BJ']\n")
    (folder / "pyproject.toml").write_text("[tool.other]\nx = 1\n")
    assert "is not read" not in belljar("validate", ".", cwd=folder).stderr
    (folder / "pyproject.toml").write_text("[tool.belljar.validate]\nselect = ['BJ5']\n")
    done = belljar("validate", ".", cwd=folder)
    assert (done.code, done.stdout) == (0, "")
    assert 'pyproject.toml" is not read: belljar.toml is in the same folder' in done.stderr


def test_many_dots_in_a_text_are_no_key(belljar, folder):
    text = f'description = "{"." * 500}" # {"." * 500}\nlong = """{"." * 99}\n{"." * 99}"""\n'
    (folder / "pyproject.toml").write_text(text + "[tool.belljar.validate]\njobs = 2\n")
    assert in_force(belljar, folder)["jobs"] == ("2", "pyproject.toml:5")


def test_what_is_no_plain_file(belljar, folder):
    os.mkfifo(folder / "belljar.toml")
    done = belljar("validate", ".", cwd=folder)
    assert done.code == 2
    assert "not a regular file" in done.stderr


def test_a_named_configuration_may_bring_a_profile(belljar, folder, program):
    basic = program.parent / "share/belljar/profiles/basic.toml"
    (folder / "profiles").mkdir()
    own = basic.read_text().replace('name = "basic"', 'name = "own"', 1)
    (folder / "profiles/own.toml").write_text(own)
    (folder / "settings.toml").write_text("[validate]\nprofile = 'profiles/own.toml'\n")
    done = belljar("validate", "a.py", "--config", "settings.toml", cwd=folder)
    assert done.code == 1
    assert "is not available in profile 'own'" in done.stdout


def test_a_third_users_configuration_is_passed_over(belljar, folder):
    need_root("can give a file away")
    (folder / "belljar.toml").write_text('[validate]\nignore = ["BJ"]\n')
    os.chown(folder / "belljar.toml", 12345, 12345)
    done = belljar("validate", ".", cwd=folder)
    assert done.code == 1
    assert "belongs to another user and is not read" in done.stderr
    # Whoever has the folder has what is in it: a checkout that is mounted into a container.
    os.chown(folder, 12345, 12345)
    assert belljar("validate", ".", cwd=folder).code == 0
