"""belljar validate: which files are judged, and what becomes of those that cannot be."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.machine import need_open, need_program

BAD = "import ctypes\n"


def tree(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def shown(belljar, cwd: Path, *arguments: str) -> list[str]:
    done = belljar("validate", "--show-files", *arguments, cwd=cwd)
    assert done.code == 0, done.stderr
    return done.stdout.splitlines()


def test_a_directory_is_searched_in_order(belljar, tmp_path):
    tree(tmp_path, {"b.py": BAD, "a/z.py": BAD, "a/deep/er/x.py": "", "a.txt": BAD, "a/y.pyi": BAD})
    assert shown(belljar, tmp_path, ".") == ["a/deep/er/x.py", "a/z.py", "b.py"]
    assert shown(belljar, tmp_path, str(tmp_path)) == ["a/deep/er/x.py", "a/z.py", "b.py"]
    assert shown(belljar, tmp_path / "a", "..") == ["../b.py", "deep/er/x.py", "z.py"]
    done = belljar("validate", ".", cwd=tmp_path)
    assert done.code == 1
    assert [line for line in done.stdout.splitlines() if line[0] != " "] == [
        "a/z.py:1:1: BJ201 module 'ctypes' is not available in profile 'basic'",
        "b.py:1:1: BJ201 module 'ctypes' is not available in profile 'basic'",
    ]
    assert done.stderr.startswith("2 findings in 2 of 3 files")


def test_a_file_is_judged_once(belljar, tmp_path):
    tree(tmp_path, {"a.py": "", "b.py": ""})
    assert shown(belljar, tmp_path, "b.py", ".", "./a.py", str(tmp_path)) == ["b.py", "a.py"]


def test_what_holds_no_source_of_the_project_is_left_out(belljar, tmp_path):
    names = [".hidden/a.py", "__pycache__/a.py", "node_modules/a.py", "env/lib/a.py", "src/a.py"]
    tree(tmp_path, dict.fromkeys([*names, ".dot.py"], ""))
    (tmp_path / "env/pyvenv.cfg").touch()
    assert shown(belljar, tmp_path, ".") == [".dot.py", "src/a.py"]
    assert shown(belljar, tmp_path, "env") == ["env/lib/a.py"]
    assert shown(belljar, tmp_path, ".", "--no-ignore") == sorted([*names, ".dot.py"])
    assert shown(belljar, tmp_path, ".", "--isolated") == sorted([*names, ".dot.py"])


def test_ignore_files_of_all_levels_count(belljar, tmp_path):
    tree(
        tmp_path,
        {
            ".gitignore": "*_gen.py\n/build/\n",
            "a_gen.py": "",
            "build/x.py": "",
            "src/build/x.py": "",
            "src/.gitignore": "!keep_gen.py\n",
            "src/keep_gen.py": "",
            "src/b_gen.py": "",
            "src/.belljarignore": "secret.py\n!b_gen.py\n",
            "src/secret.py": "",
        },
    )
    assert shown(belljar, tmp_path, ".") == ["src/b_gen.py", "src/build/x.py", "src/keep_gen.py"]
    # Above what is named they count from the repository's root down, and what is named is judged.
    (tmp_path / ".git").mkdir()
    inside = tmp_path / "src"
    assert shown(belljar, inside, ".") == ["b_gen.py", "build/x.py", "keep_gen.py"]
    assert shown(belljar, tmp_path, "a_gen.py", "build") == ["a_gen.py", "build/x.py"]


def test_include_and_exclude(belljar, tmp_path):
    tree(tmp_path, dict.fromkeys(["a.py", "a.pyi", "tests/a.py", "tests/data/b.py", "run"], ""))
    assert shown(belljar, tmp_path, ".", "--exclude", "tests/data/") == ["a.py", "tests/a.py"]
    assert shown(belljar, tmp_path, ".", "--exclude", "/a.py,data") == ["tests/a.py"]
    assert shown(belljar, tmp_path, ".", "--include", "*.pyi", "--include", "/run") == [
        "a.pyi",
        "run",
    ]
    assert shown(belljar, tmp_path, "a.py", "--exclude", "*") == ["a.py"]
    # Relative to where the command runs, whatever it is pointed at.
    assert shown(belljar, tmp_path / "tests", "..", "--exclude", "/a.py") == [
        "../a.py",
        "data/b.py",
    ]


NAMES = ["a", "b", "ab", "a.py", "b.py", "a b", "[x]", "a!", "#a", "é.py", ".a", "a-b", "A", "0"]
PIECES = [
    *(
        "a",
        "b",
        "ab",
        "*",
        "**",
        "?",
        "/",
        "/",
        "!",
        ".py",
        "[ab]",
        "[!a]",
        "[^b]",
        "[a-c]",
        "[]x]",
    ),
    *(
        "[[:alpha:]]",
        "[[:digit:]x]",
        "[[:nonsense:]]",
        "[a",
        "\\",
        "\\*",
        "\\a",
        " ",
        "\\ ",
        "#",
        ".",
    ),
    *("***", "**/", "/**", "/**/", "[a/b]", "[\\]]", "[a-]", "[-a]", "[[]", "\t", "é"),
]


def random_patterns(rng: random.Random) -> str:
    lines = []
    for _ in range(rng.randint(1, 4)):
        start = rng.choice(["", "", "", "!", "/"])
        lines.append(start + "".join(rng.choices(PIECES, k=rng.randint(1, 5))))
    return rng.choice(["", "\ufeff"]) + rng.choice(["\n", "\n", "\r\n"]).join(["*.pyc", *lines, ""])


def test_patterns_mean_what_they_mean_to_git(belljar, tmp_path):
    """Random patterns over random names: git's own answer is the right one."""
    need_program("git", "git")
    rng = random.Random(4)
    for number in range(250):
        folder = tmp_path / str(number)
        folder.mkdir()
        for _ in range(12):
            path = folder.joinpath(*rng.choices(NAMES, k=rng.randint(1, 4)))
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
            except (FileExistsError, NotADirectoryError, IsADirectoryError):
                continue
        (folder / ".gitignore").write_text(random_patterns(rng), newline="")
    # Hidden directories are left out before any pattern is asked.
    for hidden in sorted(tmp_path.rglob(".a")):
        if hidden.is_dir() and hidden.exists():
            shutil.rmtree(hidden)
    environment = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}
    run = {"cwd": tmp_path, "capture_output": True, "check": True, "env": os.environ | environment}
    subprocess.run(["git", "init", "-q"], **run)
    listed = ["git", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"]
    kept_by_git = subprocess.run(listed, **run).stdout.decode().split("\0")[:-1]
    assert 300 < len(kept_by_git) < 2500  # patterns that leave out something, and not everything
    ours = shown(belljar, tmp_path, ".", "--include", "*")
    # Git does not tell of directories in which it ignores everything; both list files alone.
    assert ours == sorted(kept_by_git)


def test_a_hostile_pattern_costs_little(belljar, tmp_path):
    pattern = "**/a*/" * 12 + "**/b\n" + "*a" * 40 + "b\n"
    deep = "/".join(["a"] * 60)
    tree(tmp_path, {".gitignore": pattern * 3, deep + "/c.py": "", "a" * 200 + ".py": ""})
    start = time.process_time()
    assert (
        len(shown(belljar, tmp_path, ".")) == 2
    )  # would take hours with a matcher that backtracks
    assert time.process_time() - start < 30


def test_an_ignore_file_that_is_none(belljar, tmp_path):
    tree(tmp_path, {"a/x.py": "", "b/x.py": "", "c/x.py": "", "rules": "x.py\n"})
    os.mkfifo(tmp_path / "a/.gitignore")
    (tmp_path / "b/.gitignore").symlink_to("../rules")
    (tmp_path / "c/.gitignore").write_text("x.py\n" + "#" * 70_000)
    done = belljar("validate", "--show-files", ".", cwd=tmp_path)
    assert done.stdout.splitlines() == ["a/x.py", "b/x.py", "c/x.py"]
    assert done.stderr.count("is not a regular file or is larger than 64k") == 3


def test_links(belljar, tmp_path):
    outside = tree(tmp_path / "outside", {"secret.py": BAD, "dir/x.py": BAD})
    root = tree(tmp_path / "root", {"src/a.py": "", "src/data.txt": BAD, ".store/b.py": ""})
    (root / "src/loop").symlink_to("..")
    (root / "src/self").symlink_to("self")
    (root / "again").symlink_to("src")
    (root / "shown").symlink_to(".store")
    (root / "program.py").symlink_to("src/data.txt")
    (root / "same.py").symlink_to("src/a.py")
    (root / "missing.py").symlink_to("nowhere")
    (root / "out").symlink_to(outside / "dir")
    assert shown(belljar, root, ".") == ["program.py", "shown/b.py", "src/a.py"]
    assert shown(belljar, tmp_path, "root/out") == ["root/out/x.py"]
    (root / "evil.py").symlink_to(outside / "secret.py")
    done = belljar("validate", ".", cwd=root)
    assert done.code == 2
    assert done.stderr.startswith(
        'belljar validate: open "./evil.py": a link that leaves the checked directory'
    )
    assert "program.py:1:1: BJ201" in done.stdout


def test_a_directory_that_cannot_be_read(belljar, tmp_path, program):
    tree(tmp_path, {"a.py": "", "closed/x.py": BAD, "file.py": BAD})
    tmp_path.chmod(0o755)
    (tmp_path / "closed").chmod(0)
    (tmp_path / "file.py").chmod(0)
    command = [program, "validate", "."]
    user = {}
    if os.geteuid() == 0:  # permissions do not hold root back
        for parent in tmp_path.parents[:3]:  # pytest's own
            parent.chmod(parent.stat().st_mode | 0o755)
        need_open(program, tmp_path.parent)
        user = {"user": 65534, "group": 65534, "extra_groups": []}
    try:
        done = subprocess.run(
            [*command, "--show-files"], cwd=tmp_path, capture_output=True, text=True, **user
        )
    finally:
        (tmp_path / "closed").chmod(0o755)
    assert done.returncode == 2
    assert done.stdout.splitlines() == ["a.py", "file.py"]
    assert 'read directory "./closed": Permission denied (EACCES)' in done.stderr


@pytest.mark.parametrize("separator", ["\0", "\n", "\r\n"], ids=["nul", "newline", "crlf"])
def test_a_list_of_files(belljar, tmp_path, separator):
    tree(tmp_path, {"a.py": BAD, "-": BAD, "dir/b.py": "", "c.py": ""})
    names = separator.join(["a.py", "", "-", "dir"]) + separator
    (tmp_path / "list").write_text(names, newline="")
    expected = ["c.py", "a.py", "-", "dir/b.py"]
    assert shown(belljar, tmp_path, "c.py", "--files-from", "list") == expected
    done = belljar(
        "validate", "--files-from", "-", "--show-files", stdin=names.encode(), cwd=tmp_path
    )
    assert done.stdout.splitlines() == expected[1:]


def test_a_list_that_cannot_be(belljar, tmp_path):
    done = belljar("validate", "--files-from", "nowhere", cwd=tmp_path)
    assert (done.code, 'open "nowhere"' in done.stderr) == (2, True)
    done = belljar("validate", "-", "--files-from", "-", cwd=tmp_path)
    assert (done.code, "cannot be both a program and the list" in done.stderr) == (2, True)
    done = belljar("validate", "--files-from", "-", stdin=b"", cwd=tmp_path)
    assert (done.code, done.stdout) == (0, "")
    assert "no files to check" in done.stderr


def test_the_name_of_standard_input(belljar, tmp_path):
    (tmp_path / "belljar.toml").write_text('[validate]\nper-file-ignores = {"old/" = ["BJ201"]}\n')
    done = belljar(
        "validate", "-", "--stdin-filename", "new/a.py", stdin=b"import ctypes", cwd=tmp_path
    )
    assert done.stdout.startswith("new/a.py:1:1: BJ201 ")
    done = belljar("validate", "--stdin-filename", "a.py", "-", stdin=b"x = (", cwd=tmp_path)
    assert done.stdout.startswith("a.py:1:5: BJ001 ")


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\xff\xfe" * 50, "BJ001"),
        (b"x = 1\0\n", "BJ001"),
        (b"x = '\xff'\n", "BJ001"),
        (b"# coding: utf-16\n", "BJ001"),
        (b"x = 1\n" * 3_500_000, "BJ003"),
        (b"(" * 5000, "BJ00"),
        (b"x = " + b"-" * 100_000 + b"1\n", "BJ00"),
        (b"\xed\xa0\x80", "BJ001"),
    ],
    ids=["binary", "NUL", "not UTF-8", "encoding", "20 MB", "brackets", "signs", "surrogate"],
)
def test_what_is_no_python(belljar, tmp_path, content, rule):
    (tmp_path / "a.py").write_bytes(content)
    (tmp_path / "b.py").write_text(BAD)
    # That nobody could look is said whatever was selected.
    done = belljar("validate", ".", "--select", "BJ3", cwd=tmp_path)
    assert done.code == 1
    assert [line[:5] for line in done.stdout.splitlines() if line[0] != " "] == ["a.py:"]
    assert f" {rule}" in done.stdout


def test_names_that_are_no_text(belljar, tmp_path):
    folder = os.fsencode(tmp_path)
    for name in (b"new\nline.py", b"bad\xff.py", b"esc\x1b[31m.py", b"-x.py"):
        Path(os.fsdecode(folder + b"/" + name)).write_text(BAD)
    done = belljar("validate", ".", cwd=tmp_path)
    assert done.code == 1
    places = [line.split(":")[0] for line in done.stdout.splitlines() if line[0] != " "]
    assert places == ["-x.py", "bad\\xff.py", "esc\\x1b[31m.py", "new\\x0aline.py"]
    report = json.loads(belljar("validate", ".", "--format", "json", cwd=tmp_path).stdout)
    assert len(report["files"]) == 4


def test_a_fifo_and_a_device(belljar, tmp_path, program):
    os.mkfifo(tmp_path / "pipe.py")
    # Found, it is no program; named, it is read, however long that takes.
    assert shown(belljar, tmp_path, ".") == []
    with subprocess.Popen(
        [program, "validate", "pipe.py"], cwd=tmp_path, stdout=subprocess.PIPE
    ) as process:
        (tmp_path / "pipe.py").write_text(BAD)
        out, _ = process.communicate(timeout=30)
    assert (process.returncode, out[:17]) == (1, b"pipe.py:1:1: BJ20")
    done = belljar("validate", "/dev/null", "/dev/zero", cwd=tmp_path)
    assert done.code == 1
    assert done.stdout.startswith("/dev/zero: BJ003 source is more than ")


def test_ctrl_c_ends_a_wait(tmp_path, program):
    os.mkfifo(tmp_path / "pipe.py")
    with subprocess.Popen([program, "validate", "pipe.py"], cwd=tmp_path) as process:
        time.sleep(0.3)  # sleeps: it waits by then, or has not begun
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130


def test_a_file_that_vanishes(belljar, tmp_path):
    (tmp_path / "b.py").write_text(BAD)
    done = belljar("validate", "--files-from", "-", stdin=b"a.py\nb.py\n", cwd=tmp_path)
    assert done.code == 2
    assert 'open "a.py": No such file or directory (ENOENT)' in done.stderr
    assert "b.py:1:1: BJ201" in done.stdout


def test_ten_thousand_files_are_found(belljar, tmp_path):
    for folder in range(100):
        (tmp_path / f"{folder:02}").mkdir()
        for number in range(100):
            (tmp_path / f"{folder:02}/{number:02}.py").touch()
    names = shown(belljar, tmp_path, ".")
    assert names == [f"{n // 100:02}/{n % 100:02}.py" for n in range(10_000)]


def test_a_path_that_is_too_long(belljar, tmp_path):
    fd = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=fd)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
    os.close(fd)
    done = belljar("validate", ".", cwd=tmp_path)
    assert done.code == 2
    assert "File name too long (ENAMETOOLONG)" in done.stderr
