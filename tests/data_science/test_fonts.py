"""Text in figures: scripts that matplotlib's own fonts lack, and what is said of missing glyphs."""

from __future__ import annotations

import pytest

from tests.data_science.session import Session

IMPORTS = "import io, matplotlib.pyplot as plt\n"
# Of a figure with this text as its title; the image is compared with that of boxes.
DRAWN = """
def drawn(text):
    figure = plt.figure(figsize=(2, 1))
    figure.suptitle(text)
    data = io.BytesIO()
    figure.savefig(data)
    plt.close(figure)
    return data.getvalue()
"""
THAI = "\u0e01\u0e02\u0e03"  # no font here has it


@pytest.mark.parametrize("text", ["中文标题", "繁體字", "テスト", "한국어"])
@pytest.mark.parametrize("families", ["", "plt.rcParams['font.sans-serif'] = ['SimHei']\n"])
def test_chinese_japanese_and_korean(sandbox: Session, text: str, families: str) -> None:
    outcome = sandbox.run(f"{IMPORTS}{families}{DRAWN}[drawn({text!r}) == drawn('{text[::-1]}')]")
    assert outcome["result"] == [text == text[::-1]]
    assert "Glyph" not in outcome["stderr"]
    # Said once, of however many texts.
    assert outcome["stderr"].count("findfont") == (1 if families else 0)


@pytest.mark.parametrize("kind", ["pdf", "svg"])
def test_in_other_formats(sandbox: Session, kind: str) -> None:
    outcome = sandbox.run(
        f"{IMPORTS}plt.title('中文')\ndata = io.BytesIO()\nplt.savefig(data, format={kind!r})\n"
        "len(data.getvalue()) > 1000"
    )
    assert (outcome["result"], outcome["stderr"]) == (True, "")


def test_settings_are_those_of_plain_matplotlib(sandbox: Session, plain) -> None:
    program = (
        "import matplotlib.pyplot as plt\n"
        "print([plt.rcParams[key] for key in ('font.family', 'font.sans-serif')])"
    )
    assert sandbox.run(program)["stdout"] == plain.run(program)["stdout"]


@pytest.mark.parametrize(
    ("draw", "line"),
    [
        ("plt.savefig(io.BytesIO())\n1", 3),
        ("plt.tight_layout()\nplt.close()", 3),
        ("plt.gcf().canvas.draw()\nplt.close()", 3),
        ("1\nplt.show()\n2", 4),
        ("1\n2", 4),  # drawn when it has ended
    ],
)
def test_missing_glyphs_are_one_warning_of_the_programs_line(
    sandbox: Session, draw: str, line: int
) -> None:
    said = sandbox.run(f"{IMPORTS}plt.title({THAI!r})\n{draw}")["stderr"].splitlines()
    assert "UserWarning: Glyphs 3585 (\\N{THAI CHARACTER KO KAI}), 3586 " in said[0]
    assert said[0].startswith(f"main.py:{line}: ") or said[0].startswith(f"<string>:{line}: "), said
    assert sum("Glyph" in each for each in said) == 1


def test_one_missing_glyph_is_told_as_by_matplotlib(sandbox: Session) -> None:
    outcome = sandbox.run(
        f"{IMPORTS}import warnings\nplt.title('\u0e01')\n"
        "with warnings.catch_warnings(record=True) as caught: plt.savefig(io.BytesIO())\n"
        "plt.close()\n[str(each.message) for each in caught]"
    )
    glyph, fonts = "3585 (\\N{THAI CHARACTER KO KAI})", "DejaVu Sans, Noto Sans CJK JP"
    assert outcome["result"] == [f"Glyph {glyph} missing from font(s) {fonts}."]


def test_in_the_full_language(jail: Session) -> None:
    outcome = jail.run(f"{IMPORTS}plt.title('中文')\nplt.savefig(io.BytesIO())")
    assert outcome["stderr"] == ""
    said = jail.run(f"{IMPORTS}plt.title({THAI!r})\nplt.savefig(io.BytesIO())\nplt.close()")[
        "stderr"
    ]
    assert said.count("Glyph") == 1
    assert ":3: UserWarning" in said
