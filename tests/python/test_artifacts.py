"""What a run leaves: saved below a folder, and shown by notebooks; both are a stranger's."""

from __future__ import annotations

import os
import pickle
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from belljar import Artifact, GuestFailed, Result, Sandbox, _saving


def artifact(name: str, content: bytes | None = b"content", **parts: Any) -> Artifact:
    return Artifact(
        name=name,
        origin=parts.get("origin", "file"),
        media_type=parts.get("media_type", "text/plain"),
        size=0 if content is None else len(content),
        sha256=None,
        content=content,
        note=None,
    )


@pytest.mark.parametrize(
    "name", ["../x", "/etc/x", "a/../../x", "a//b", "", ".", "a/.", "..", "a/\0b", "a/"]
)
@pytest.mark.parametrize("overwrite", [False, True])
def test_names_that_lead_out(tmp_path: Path, name: str, overwrite: bool) -> None:
    folder = tmp_path / "folder"
    with pytest.raises(ValueError, match="leads out of the folder"):
        artifact(name).save(folder, overwrite=overwrite)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    "name",
    ["a\\b", "c:x", "x:stream", "NUL", "com1.txt", "a/aux .b", "a.", "a ", "a/\tb", "a?", "LPT²"],
)
def test_names_that_windows_takes_for_others(tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match="Windows has no file named"):
        _saving._save_on_windows(tmp_path, name.split("/"), b"content", overwrite=False)
    assert not list(tmp_path.iterdir())


def test_saving_without_descriptors_of_folders(tmp_path: Path) -> None:
    def save(name: str, content: bytes, *, overwrite: bool) -> None:
        _saving._save_on_windows(tmp_path / "in", name.split("/"), content, overwrite=overwrite)

    (tmp_path / "in").mkdir()
    save("a/b.txt", b"one", overwrite=False)
    with pytest.raises(FileExistsError):
        save("a/b.txt", b"two", overwrite=False)
    save("a/b.txt", b"three", overwrite=True)
    assert (tmp_path / "in/a/b.txt").read_bytes() == b"three"
    (tmp_path / "in/link").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="a link leads out of the folder"):
        save("link/x", b"four", overwrite=True)
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["a", "b.txt", "in", "link"]


@pytest.mark.parametrize("overwrite", [False, True])
def test_links_are_not_followed(tmp_path: Path, overwrite: bool) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("kept")
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "way").symlink_to(outside)
    (folder / "file").symlink_to(outside / "kept")
    with pytest.raises(OSError):
        artifact("way/new").save(folder, overwrite=overwrite)
    if overwrite:
        artifact("file").save(folder, overwrite=True)
        assert not (folder / "file").is_symlink()
    else:
        with pytest.raises(FileExistsError):
            artifact("file").save(folder)
    assert os.listdir(outside) == ["kept"]
    assert (outside / "kept").read_text() == "kept"


def test_what_is_replaced_is_whole_or_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    with pytest.raises(OSError):
        artifact("a").save(tmp_path, overwrite=True)  # a directory is in its way
    assert os.listdir(tmp_path) == ["a"]
    with pytest.raises(ValueError, match="has no content"):
        artifact("b", None).save(tmp_path)


@pytest.mark.parametrize("folder", [b"folder", 5])
def test_a_folder_is_a_str_or_a_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(TypeError, match="folder is a (bytes|int)"):
        artifact("a").save(folder)
    assert os.listdir() == []


def test_text() -> None:
    assert artifact("a", "ü".encode()).text == "ü"
    assert artifact("a", b"\xff").text is None
    assert artifact("a", None).text is None
    assert len(repr(artifact("a", b"x" * 1000))) < 200


# --- notebooks ------------------------------------------------------------------------------------

PNG = (
    b"\x89PNG\r\n\x1a\n"
    + struct.pack(">I", 13)
    + b"IHDR"
    + bytes(13)
    + struct.pack(">I", zlib.crc32(b"IHDR" + bytes(13)))
)


def shown(box: Sandbox, code: str, *artifacts: Artifact) -> dict[str, str]:
    import dataclasses

    result: Result = dataclasses.replace(box.run(code), artifacts=artifacts)
    return result._repr_mimebundle_()


def test_output_and_value(box: Sandbox) -> None:
    bundle = shown(box, "print('a < b')\n[1]")
    assert bundle == {
        "text/plain": "a < b\n[1]",
        "text/html": "<pre>a &lt; b</pre>\n<pre>[1]</pre>",
    }
    assert shown(box, "x = 1") == {"text/plain": "<belljar.Result ok>"}
    assert "ZeroDivisionError" in shown(box, "1 / 0")["text/plain"]
    assert "BJ201" in shown(box, "import glob")["text/plain"]


@pytest.mark.parametrize(
    "hostile",
    ["<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", "&lt;", '"><b>'],
)
def test_nothing_of_a_guests_is_markup(box: Sandbox, hostile: str) -> None:
    tables = [
        artifact("table-1.html", hostile.encode(), origin="display", media_type="text/html"),
        artifact("table-1.txt", hostile.encode(), origin="display", media_type="text/plain"),
        artifact("x.svg", hostile.encode(), origin="display", media_type="image/svg+xml"),
        artifact("y.png", hostile.encode(), origin="display", media_type="image/png"),
    ]
    html = shown(box, f"print({hostile!r})\n{hostile!r}", *tables)["text/html"]
    left = html.replace("<pre>", "").replace("</pre>", "")
    assert "<" not in left and ">" not in left


def test_figures(box: Sandbox) -> None:
    picture = artifact("figure-1.png", PNG, origin="display", media_type="image/png")
    bundle = shown(box, "x = 1", picture)
    assert bundle["text/html"].startswith('<img src="data:image/png;base64,iVBOR')
    assert bundle["text/plain"] == f"[figure-1.png: {len(PNG)} bytes of PNG]"


def test_terminals_get_no_escape_sequence(box: Sandbox) -> None:
    text = shown(box, "print('a\\x1b[2Jb\\x07\\x9b1m\\u202ec\\ttab')")["text/plain"]
    assert text == "a\\x1b[2Jb\\x07\\x9b1m\\u202ec\ttab"


def test_terminals_get_none_of_an_error_either(box: Sandbox) -> None:
    result = box.run("raise type('\\x1b]0;E\\x07', (Exception,), {})('\\x1b[2J\\u202e')")
    assert result.error is not None
    assert "\x1b[2J\u202e" in result.error.message  # so the attack is one
    assert "\x1b]0;E\x07" in result.error.type
    with pytest.raises(GuestFailed) as failed:
        result.raise_for_status()
    assert str(failed.value) == "exception: \\x1b]0;E\\x07: \\x1b[2J\\u202e"
    assert repr(result) == "<belljar.Result exception error=\\x1b]0;E\\x07>"
    assert failed.value.result is result
    assert str(pickle.loads(pickle.dumps(failed.value))) == str(failed.value)


def test_long_output_is_cut(box: Sandbox) -> None:
    text = shown(box, "print('x' * 200_000)")["text/plain"]
    assert len(text) < 101_000
    assert text.endswith("100,000 characters more")
