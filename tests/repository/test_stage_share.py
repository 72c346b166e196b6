import json
import marshal
import os
from pathlib import Path

import pytest
import stage_share

SETS = "/nowhere/venv-{set}/site-packages"
RULES = """\
from typing import NamedTuple
class Rule(NamedTuple):
    name: str
RULES = {"BJ001": Rule("error")}
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    root = tmp_path / "source"
    for name, text in {
        "policy/belljar_policy/__init__.py": "A = 1\n",
        "policy/belljar_policy/library/copy.py": "B = 1\n",
        "policy/belljar_policy/rules.py": RULES,
        "policy/belljar_policy/notes.md": "not for run time\n",
        "engine/inside/runner.py": "C = 1\n",
        "profiles/basic.toml": "name = 'basic'\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def staged(share: Path) -> set[str]:
    return {
        path.relative_to(share).as_posix()
        for path in share.rglob("*")
        if path.is_file() and path.suffix != ".pyc"
    }


def test_layout(tmp_path, source):
    share = tmp_path / "share"
    packages = tmp_path / "packages"
    packages.mkdir()
    stage_share.stage(source, share, packages, SETS)
    assert staged(share) == {
        "policy/belljar_policy/__init__.py",
        "policy/belljar_policy/library/copy.py",
        "policy/belljar_policy/rules.py",
        "runner/belljar_runner.py",
        "profiles/basic.toml",
        "rules.json",
    }
    assert json.loads((share / "rules.json").read_text()) == [{"id": "BJ001", "name": "error"}]
    assert os.readlink(share / "site-packages") == str(packages)


def test_byte_code_is_unchecked(tmp_path, source):
    share = tmp_path / "share"
    stage_share.stage(source, share, tmp_path, SETS)
    code = stage_share.byte_code_of(share / "runner/belljar_runner.py").read_bytes()
    assert int.from_bytes(code[4:8], "little") == 0b01
    lines = [each[2:] for each in marshal.loads(code[16:]).co_positions()]
    assert lines and set(lines) == {(None, None)}


def test_only_what_changed_is_copied_and_what_is_gone_goes(tmp_path, source):
    share = tmp_path / "share"
    assert stage_share.stage(source, share, tmp_path, SETS) == 5
    assert stage_share.stage(source, share, tmp_path, SETS) == 0
    (source / "policy/belljar_policy/library/copy.py").unlink()
    (source / "engine/inside/runner.py").write_text("C = 2\n")
    assert stage_share.stage(source, share, tmp_path, SETS) == 1
    assert not (share / "policy/belljar_policy/library").exists()


def test_a_runner_that_is_a_package(tmp_path, source):
    (source / "engine/inside/runner.py").unlink()
    (source / "engine/inside/runner").mkdir()
    (source / "engine/inside/runner/__init__.py").write_text("")
    share = tmp_path / "share"
    stage_share.stage(source, share, tmp_path, SETS)
    assert "runner/belljar_runner/__init__.py" in staged(share)


def test_a_set_of_packages_is_linked_whether_it_is_installed_or_not(tmp_path, source):
    profile = source / "profiles" / "frames.toml"
    profile.write_text("name = 'frames'\n[packages.frames]\nmodules = ['numpy']\n")
    (source / "requirements").mkdir()
    (source / "requirements" / "frames.txt").write_text("numpy==2.4.6\n")
    (source / "requirements" / "other.txt").write_text("six==1.0\n")
    share, packages = tmp_path / "share", tmp_path / "venv-frames"

    stage_share.stage(source, share, tmp_path, f"{tmp_path}/venv-{{set}}")
    assert os.readlink(share / "packages" / "frames") == str(packages)
    assert not (share / "packages" / "frames").exists()
    assert {path.name for path in (share / "requirements").iterdir()} == {
        "frames.txt",
        "frames.pins",
    }
    packages.mkdir()
    assert (share / "packages" / "frames").is_dir()

    profile.unlink()
    stage_share.stage(source, share, tmp_path, f"{tmp_path}/venv-{{set}}")
    assert not list((share / "packages").iterdir()) and packages.is_dir()
    assert not (share / "requirements" / "frames.txt").exists()


def test_pins_are_names_and_versions():
    text = "# by pip-compile\nnumpy==2.4.6 \\\n    --hash=sha256:00\n    # via x\nsix==1.17.0\n"
    assert stage_share.pins_of(text, "x.txt") == "numpy 2.4.6\nsix 1.17.0\n"


def test_a_pin_that_is_needed_only_sometimes_is_refused():
    with pytest.raises(SystemExit, match="cannot evaluate the marker of six"):
        stage_share.pins_of("six==1.17.0 ; python_version < '3.12'\n", "x.txt")
