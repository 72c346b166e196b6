"""docs/languages.md is what tools/languages_page.py makes of languages/*.toml."""

import subprocess
import sys
from pathlib import Path

import languages_page
import pytest

ROOT = Path(__file__).parents[2]


def test_the_page_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "tools/languages_page.py"], capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_old_page_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = tmp_path / "languages.md"
    page.write_text(languages_page.page().replace("bash", "bsh", 1), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["languages_page.py"])
    assert languages_page.write_or_compare(page, languages_page.page()) == 1


def test_the_readme_counts_them() -> None:
    count = len(languages_page.languages())
    assert f"[{count} languages](docs/languages.md)" in (ROOT / "README.md").read_text()
    assert f"Python; {count} more" in (ROOT / "README.md").read_text()
    assert f"Python; [{count} more](languages.md)" in (ROOT / "docs/comparison.md").read_text()


def test_each_language_has_a_row() -> None:
    rows = languages_page.page().splitlines()
    for file in (ROOT / "languages").glob("*.toml"):
        if file.name != "base.toml":
            assert any(row.startswith(f"| `{file.stem}` |") for row in rows), file.stem
