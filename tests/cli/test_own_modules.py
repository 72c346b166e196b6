"""Modules of the program's own: `--file`, a folder, `-m`, and how a project is validated."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Done

Belljar = Callable[..., Done]

PROJECT = {
    "app/__init__.py": "print('app', __name__)\nVERSION = '1'\n",
    "app/__main__.py": "import sys\nfrom . import VERSION\nfrom .parts.one import x\n"
    "print(VERSION, x, __name__, __package__, sys.argv[1:])\n",
    "app/parts/__init__.py": "",
    "app/parts/one.py": "from ..other import y as x\n",
    "app/other.py": "y = 7\n",
    "app/tool.py": "from .other import y\nprint('tool', y, __name__, __package__)\n",
    "app/data.txt": "data",
    "app/.hidden.py": "1 / 0",
    "__main__.py": "import app.other\nprint(app.other.y, __name__)\n",
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    for path, text in PROJECT.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def as_python(folder: Path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-B", *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return done.stdout


PROFILES: dict[str, tuple[str, ...]] = {
    "basic": (),
    "filesystem": ("--profile", "filesystem"),
    "no language policy": ("--policy", "off"),
    "all of Python": ("--profile", "full"),
    "both": ("--profile", "filesystem", "--policy", "off"),
}


@pytest.mark.parametrize("name", PROFILES)
def test_a_project_runs_as_in_python(belljar: Belljar, project: Path, name: str) -> None:
    options = PROFILES[name]
    for arguments in (["-m", "app", "x", "y"], ["-m", "app.tool"]):
        done = belljar("run", *options, *arguments, cwd=project)
        assert done.stdout == as_python(project, *arguments), done.stderr
    done = belljar("run", *options, ".", cwd=project)
    assert done.stdout == as_python(project, "."), done.stderr


@pytest.mark.parametrize("name", PROFILES)
def test_files_given_with_a_program_are_imported(
    belljar: Belljar, tmp_path: Path, name: str
) -> None:
    (tmp_path / "lib" / "inner").mkdir(parents=True)
    (tmp_path / "helper.py").write_text("import json\ndef f(): return json.dumps([1])\n")
    (tmp_path / "lib" / "part.py").write_text("x = 'part'\n")
    (tmp_path / "lib" / "inner" / "deep.py").write_text("y = 'deep'\n")
    source = (
        "import helper, lib.part\nfrom lib.inner import deep\nprint(helper.f(), lib.part.x, deep.y)"
    )
    given = ("--file", "helper.py", "--file", "lib", *PROFILES[name])
    done = belljar("run", *given, "-c", source, cwd=tmp_path)
    assert done.stdout == "[1] part deep\n", done.stderr
    source = "import part, other\nprint(part.x, other.f())"
    given = ("--file", "lib/", "--file", "helper.py:other.py", *PROFILES[name])
    assert belljar("run", *given, "-c", source, cwd=tmp_path).stdout == "part [1]\n"


def test_only_modules_are_taken_without_a_workspace(belljar: Belljar, project: Path) -> None:
    done = belljar("run", "--file", "app/data.txt", "-c", "1", "--profile", "basic", cwd=project)
    assert done.code == 2 and "needs a profile with a workspace" in done.stderr
    source = "import app.data\nprint(app.data)"
    done = belljar("run", "--file", "app", "-c", source, "--profile", "basic", cwd=project)
    assert done.code == 1 and "No module named 'app.data'" in done.stderr
    source = "print(open('app/data.txt').read())"
    done = belljar("run", "--file", "app", "-c", source, "--profile", "filesystem", cwd=project)
    assert done.stdout == "data\n", done.stderr


def test_errors_name_the_file_and_the_line(belljar: Belljar, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def half(x):\n    return x / 0\n")
    (tmp_path / "main.py").write_text("import helper\nhelper.half(2)\n")
    done = belljar("run", "main.py", "--file", "helper.py", "--json", cwd=tmp_path)
    error = json.loads(done.stdout)["error"]
    assert (error["type"], error["line"]) == ("ZeroDivisionError", 2)
    assert (
        'File "helper.py", line 2, in half\n    return x / 0\n           ~~^~~\n'
        in error["traceback"]
    )
    (tmp_path / "helper.py").write_text("x = 1\nimport socket\n")
    done = belljar("run", "main.py", "--file", "helper.py", cwd=tmp_path)
    assert done.code == 3 and "main.py:1:1: BJ201 helper.py, line 2: module 'socket'" in done.stderr


MISTAKES: dict[str, tuple[list[str], str]] = {
    "a folder without a program": (["app"], "has no __main__.py"),
    "no such module": (["-m", "nowhere"], "nowhere.py"),
    "no name": (["-m", "app/tool"], "no name of a module"),
    "dots": (["-m", ".app"], "no name of a module"),
    "two programs": (["-m", "app", "-c", "1"], "-m or -c"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(belljar: Belljar, project: Path, name: str) -> None:
    (project / "app" / "__main__.py").unlink()
    arguments, said = MISTAKES[name]
    done = belljar("run", *arguments, cwd=project)
    assert done.code == 2 and said in done.stderr, done


def test_links_of_a_folder_are_left_out(belljar: Belljar, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "outside.py").write_text("x = 'outside'\n")
    (tmp_path / "lib" / "link.py").symlink_to(tmp_path / "outside.py")
    (tmp_path / "lib" / "up").symlink_to(tmp_path)
    done = belljar("run", "--file", "lib", "-c", "import lib.link", cwd=tmp_path)
    assert "No module named 'lib" in done.stderr or "BJ201" in done.stderr
    assert "outside" not in done.stdout


def checked(belljar: Belljar, folder: Path, *arguments: str) -> dict[str, list[Any]]:
    done = belljar("validate", *arguments, "--format", "json", cwd=folder)
    files = json.loads(done.stdout)["files"]
    return {
        file["path"]: [(each["rule"], each["line"]) for each in file["findings"]] for file in files
    }


def test_a_project_is_validated_as_one(belljar: Belljar, project: Path) -> None:
    assert not any(checked(belljar, project, ".").values())
    # A file alone is not: what it imports is nowhere.
    assert checked(belljar, project, "__main__.py") == {"__main__.py": [("BJ201", 1)]}
    assert belljar("validate", "-", stdin=b"from . import x").code == 1


def test_a_file_elsewhere_hides_no_finding(belljar: Belljar, tmp_path: Path) -> None:
    for folder, name in (("src", "main"), ("tests", "socket"), ("tests", "mine")):
        (tmp_path / folder).mkdir(exist_ok=True)
        (tmp_path / folder / f"{name}.py").write_text("import socket\nimport mine\n")
    assert checked(belljar, tmp_path, ".") == {
        "src/main.py": [("BJ201", 1)],
        "tests/mine.py": [],
        "tests/socket.py": [],
    }


def test_a_missing_package_is_one_finding_of_a_file(belljar: Belljar, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("import nowhere\nfrom nowhere.x import y\n")
    assert checked(belljar, tmp_path, ".") == {"a.py": [("BJ201", 1)], "b.py": [("BJ201", 1)]}
    done = belljar("validate", "a.py", cwd=tmp_path)
    assert "a.py:1:1: BJ201 module 'nowhere' is not available" in done.stdout


def test_what_a_project_needs(belljar: Belljar, tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("from .views import x\n")
    (tmp_path / "app" / "views.py").write_text(
        "import click\nfrom werkzeug.http import y\nimport werkzeug\nimport tempfile\n"
        "try:\n    import optional\nexcept ImportError:\n    pass\nx = y.__globals__\n"
    )
    done = belljar("validate", "--needs", ".", cwd=tmp_path)
    assert done.code == 0, done.stderr
    assert done.stdout == (
        "profile: filesystem\npackages: click, werkzeug\nfindings that remain: 1\n"
    )
    done = belljar("validate", "--needs", ".", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout) == {
        "profile": "filesystem", "packages": ["click", "werkzeug"], "remaining": 1,
    }  # fmt: skip
    (tmp_path / "app" / "views.py").write_text("x = 1\n")
    done = belljar("validate", "--needs", ".", cwd=tmp_path)
    assert done.stdout == "profile: basic\npackages: none\nfindings that remain: 0\n"
