"""Records the pictures of terminals in docs/casts: the built command, typed into a shell.

    python3 tools/casts.py build/release/belljar           # exits with 1 if one has another text
    python3 tools/casts.py build/release/belljar --write

It needs pyte and rich, which are in build/venv-dev.
"""

from __future__ import annotations

import html
import io
import os
import pty
import re
import select
import subprocess
import sys
import tempfile
from collections.abc import Callable
from itertools import groupby
from pathlib import Path

import pyte
from rich.console import Console
from rich.text import Text

FOLDER = Path(__file__).parents[1] / "docs/casts"
COLUMNS, ROWS = 112, 60
SECONDS = 60
FILES = {
    "countdown.py": "n = 3\nwhile n != 0: n -= 2\n",
    "src/report.py": 'import os\n\nprint(os.listdir("."))\n',
    "src/totals.py": "print(sum(range(11)))\n",
}
# What is typed, by the name of the picture.
SCENES = {
    "run": [
        "belljar run -c 'print(sum(range(11)))'",
        "cat countdown.py",
        "belljar run --timeout 1 countdown.py",
        "belljar run -c 'import subprocess'",
        "belljar run --policy off -c 'open(\"/etc/passwd\")'",
    ],
    "repl": [
        "belljar repl --profile basic --timeout 1",
        "numbers = [3, 1, 2]",
        "numbers.sort()",
        "numbers",
        "%undo 2",
        "numbers",
        "while numbers: pass",
        "numbers",
        "exit",
    ],
    "validate": ["belljar validate src", "belljar validate --needs src", "belljar rules BJ202"],
}
PROMPT = re.compile(r"(\$|In \[\d+\]:|\.\.\.:)$")


class Terminal:
    """A shell at a terminal, whose screen is known."""

    def __init__(self, belljar: Path, folder: Path) -> None:
        self.screen = pyte.Screen(COLUMNS, ROWS)
        self._stream = pyte.ByteStream(self.screen)
        self._end, side = pty.openpty()
        self._shell = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            start_new_session=True,
            preexec_fn=lambda: os.close(os.open(os.ttyname(0), os.O_RDWR)),  # makes it controlling
            env={
                "PATH": f"{belljar.parent}:/usr/bin:/bin",
                "HOME": str(folder),
                "INPUTRC": "/dev/null",
                "LANG": "C.UTF-8",
                "PS1": "$ ",
                "TERM": "xterm-256color",
                "COLUMNS": str(COLUMNS),
                "LINES": str(ROWS),
            },
        )
        os.close(side)
        self._wait(lambda: self._row() == "$")

    def close(self) -> None:
        self._shell.kill()
        self._shell.wait()
        os.close(self._end)

    def type(self, line: str) -> None:
        os.write(self._end, line.encode())
        self._wait(lambda: self._row().endswith(line))
        before = self.screen.cursor.y
        os.write(self._end, b"\r")
        self._wait(lambda: self.screen.cursor.y > before and PROMPT.search(self._row()) is not None)

    def _row(self) -> str:
        return self.screen.display[self.screen.cursor.y].rstrip()

    def _wait(self, is_reached: Callable[[], bool]) -> None:
        while not is_reached():
            if not select.select([self._end], [], [], SECONDS)[0]:
                raise TimeoutError("\n".join(self.screen.display).rstrip())
            self._stream.feed(os.read(self._end, 65536))


def style(cell: pyte.screens.Char) -> str:
    colour = "" if cell.fg == "default" else cell.fg.replace("brown", "yellow")
    colour = re.sub(r"^bright(?=[a-z])", "bright_", colour)
    if re.fullmatch(r"[0-9a-f]{6}", colour):
        colour = "#" + colour
    return f"{'bold ' if cell.bold else ''}{colour}".strip()


def drawn(screen: pyte.Screen) -> Text:
    """What is on the screen, up to the last prompt, in its colours."""
    text = Text()
    for y in range(screen.cursor.y):
        width = len(screen.display[y].rstrip())
        for look, cells in groupby((screen.buffer[y][x] for x in range(width)), key=style):
            text.append("".join(cell.data for cell in cells), style=look)
        text.append("\n")
    return text


def recorded(name: str, belljar: Path) -> str:
    """The picture, as it would be made now."""
    with tempfile.TemporaryDirectory() as folder:
        for path, content in FILES.items():
            file = Path(folder) / path
            file.parent.mkdir(exist_ok=True)
            file.write_text(content)
        terminal = Terminal(belljar, Path(folder))
        try:
            for line in SCENES[name]:
                terminal.type(line)
            text = drawn(terminal.screen)
        finally:
            terminal.close()
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), color_system="truecolor")
    console.print(text, end="", soft_wrap=True)
    picture = console.export_svg(title="belljar", unique_id=f"belljar-{name}")
    # No font from another host.
    return re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.S)


def words(picture: str) -> list[str]:
    """The text of a picture, row by row."""
    rows: dict[float, list[str]] = {}
    for y, text in re.findall(r'<text [^>]*?y="([\d.]+)"[^>]*>(.*?)</text>', picture, re.S):
        rows.setdefault(float(y), []).append(html.unescape(text).replace("\xa0", " "))
    return ["".join(parts).rstrip() for parts in rows.values()]


def main(arguments: list[str]) -> int:
    belljar = Path(arguments[0]).resolve()
    status = 0
    for name in SCENES:
        file, picture = FOLDER / f"{name}.svg", recorded(name, belljar)
        if "--write" in arguments:
            file.parent.mkdir(exist_ok=True)
            file.write_text(picture, encoding="utf-8")
        elif words(file.read_text(encoding="utf-8")) != words(picture):
            print(f"{file.name} is out of date: use --write", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
