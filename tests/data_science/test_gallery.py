"""Programs as people write them: the same numbers as in plain Python, and the same figures."""

from __future__ import annotations

import base64
import os
from pathlib import Path

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session, artifacts_of

HERE = Path(__file__).parent
PROGRAMS = sorted((HERE / "gallery").glob("*.py"))

# Of 255, and of all pixels. The same figure in two fonts is past both.
MEAN, OFF = 1.5, 0.0015


def test_the_gallery_is_there() -> None:
    assert len(PROGRAMS) >= 50
    drawn = [path for path in PROGRAMS if path.stem.startswith("plot_")]
    assert {path.stem for path in (HERE / "references").glob("*.png")} >= {p.stem for p in drawn}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_program(path: Path, sandbox: Session, plain: PlainPython) -> None:
    source = path.read_text(encoding="utf-8")
    ours, theirs = sandbox.run(source), plain.run(source)
    assert theirs["error"] is None, theirs["error"]
    assert ours["status"] == "ok", ours["error"] or ours["findings"]
    assert ours["stdout"] == theirs["stdout"]
    if theirs["result"] is not None and " at 0x" not in theirs["result"]:
        assert ours["result_repr"] == theirs["result"]

    figures = artifacts_of(ours, "image/png")
    assert len(figures) == len(theirs["figures"])
    assert bool(figures) or not path.stem.startswith("plot_")
    for number, (figure, other) in enumerate(zip(figures, theirs["figures"], strict=True)):
        difference = plain.compare(figure, base64.b64decode(other))
        assert difference["mean"] < 0.5 and difference["off"] < 0.001, difference
        name = path.stem + (f"-{number + 1}" if number else "")
        check_reference(HERE / "references" / f"{name}.png", plain.shrink(figure), plain)


def check_reference(reference: Path, shown: bytes, plain: PlainPython) -> None:
    if os.environ.get("BELLJAR_WRITE_REFERENCES") == "1":
        if not reference.is_file() or plain.compare(shown, reference.read_bytes())["mean"] >= MEAN:
            reference.parent.mkdir(exist_ok=True)
            reference.write_bytes(shown)
        return
    difference = plain.compare(shown, reference.read_bytes())
    assert difference["mean"] < MEAN and difference["off"] < OFF, difference


def test_the_comparison_sees_a_difference(sandbox: Session, plain: PlainPython) -> None:
    """Another line, another colour, another label: each is past the tolerance."""
    source = (HERE / "gallery" / "plot_line.py").read_text(encoding="utf-8")
    reference = (HERE / "references" / "plot_line.png").read_bytes()
    for old, new in (("np.cos", "np.tanh"), ('"--"', '"-."'), ('"sine"', '"sine of the times"')):
        assert old in source
        figure = artifacts_of(sandbox.run(source.replace(old, new)), "image/png")[0]
        difference = plain.compare(plain.shrink(figure), reference)
        assert difference["mean"] >= MEAN or difference["off"] >= OFF, (old, difference)
