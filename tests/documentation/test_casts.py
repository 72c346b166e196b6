"""docs/casts: the pictures have the text that a terminal would show now."""

import re

import casts
import pytest

from tests.documentation.conftest import BELLJAR, PAGES, ROOT


def text(picture: str) -> list[str]:
    """Without what differs between versions: the greeting of the prompt, and marks below lines."""
    lines = (line for line in casts.words(picture) if line.strip(" ~^"))
    return [re.sub(r"(?<=Belljar ).*(?=, profile)", "…", line) for line in lines]


@pytest.mark.parametrize("name", casts.SCENES)
def test_a_picture_is_current(name):
    picture = (casts.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    command = "run: build/venv-dev/bin/python tools/casts.py build/release/belljar --write"
    assert text(picture) == text(casts.recorded(name, BELLJAR)), command
    for line in casts.SCENES[name]:
        assert any(line in row for row in text(picture)), line


def test_a_picture_that_is_behind_is_noticed():
    picture = (casts.FOLDER / "run.svg").read_text(encoding="utf-8")
    assert text(picture.replace("55", "54")) != text(picture)


@pytest.mark.parametrize("name", casts.SCENES)
def test_a_picture_is_shown_and_loads_nothing(name):
    picture = (casts.FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert "url(http" not in picture and "@import" not in picture and "<script" not in picture
    pages = [path for path in PAGES if f"casts/{name}.svg" in path.read_text(encoding="utf-8")]
    assert pages


def test_every_picture_is_made():
    assert {path.stem for path in (ROOT / "docs/casts").iterdir()} == set(casts.SCENES)


def test_every_screenshot_is_shown():
    """tools/pictures.py takes them, with a browser."""
    pages = "".join(path.read_text(encoding="utf-8") for path in PAGES)
    pictures = list((ROOT / "docs/pictures").iterdir())
    assert pictures
    for picture in pictures:
        assert f"(pictures/{picture.name})" in pages, picture
        assert picture.stat().st_size < 120_000, picture
