"""docs/projects.md: its walks, on a folder such as it is about."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.conftest import BUILD, environment, page, shell
from tests.languages.conftest import need_language
from tests.machine import need

TEXT = page("docs/projects.md")


@pytest.fixture
def widget(tmp_path: Path) -> Path:
    need_language("shell")
    folder = tmp_path / "widget"
    folder.mkdir()
    tried = shell("belljar run --project . -- true", folder)
    need(tried.returncode == 0, tried.stdout)  # Linux 6.6, and as root id-mapped mounts
    (folder / "widget.py").write_text("colour = 'red'\n")
    (folder / "Makefile").write_text("test:\n\tpython3 widget.py && touch tested\n")
    return folder


def test_the_python_blocks(widget: Path) -> None:
    first, walk = re.findall(r"```python\n(.*?)```", TEXT, re.S)
    done = subprocess.run(
        [sys.executable, "-c", first + walk],
        cwd=widget.parent,
        env=environment(PYTHONPATH=str(BUILD / "python")),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert "-colour = 'red'\n+color = 'red'\n" in done.stdout
    assert done.stdout.endswith("\n('widget.py',)\n")
    assert (widget / "widget.py").read_text() == "tint = 'red'\ntint = 1\n"


def test_the_commands(widget: Path) -> None:
    (block,) = re.findall(r"```bash\n(.*?)```", TEXT, re.S)
    done = shell(block.replace("belljar changes --review", "belljar changes --apply"), widget)
    assert done.returncode == 0, done.stdout
    assert "  A  tested\n" in done.stdout and (widget / "tested").exists()
