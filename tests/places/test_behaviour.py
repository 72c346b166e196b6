"""The same request has the same outcome wherever it runs."""

from __future__ import annotations

import base64
import errno
import hashlib
import json
import subprocess

import pytest

from tests.behaviour.cases import CASES, differences
from tests.clocks import HANG, UNTIL_KILLED
from tests.places.place import BELLJAR, Place, Server

# --- programs that end by themselves --------------------------------------------------------------


@pytest.mark.parametrize("name", CASES)
def test_programs(basic: Server, name: str) -> None:
    case = CASES[name]
    names = {"memory": "memory_limit"}
    asked = {names.get(key, key): value for key, value in case.asked.items()}
    outcome = basic.run(case.code, **asked)
    assert differences(case, outcome) == {}, outcome
    assert outcome["isolation"]["policy"] == "on"


def test_reports(basic: Server) -> None:
    outcome = basic.run("def f(x):\n    return 1 / x\nf(0)")
    assert "return 1 / x" in outcome["error"]["traceback"]
    assert outcome["limits"]["timeout"] == 30
    assert outcome["usage"]["max_rss_bytes"] > 1 << 20


def test_nothing_is_kept(basic: Server) -> None:
    assert basic.run("import math\nkept = 1")["status"] == "ok"
    assert basic.run("kept")["error"]["type"] == "NameError"


def test_chance_differs(basic: Server) -> None:
    code = "import random, secrets\n(random.random(), secrets.token_hex(8), hash('x'))"
    assert len({json.dumps(basic.run(code)["result"]) for _ in range(3)}) == 3


# --- programs that do not -------------------------------------------------------------------------


def test_memory(basic: Server) -> None:
    outcome = basic.run("print('here')\nx = bytearray(400 << 20)", memory_limit="64m")
    assert outcome["status"] in {"memory_limit", "exception"}, outcome
    assert outcome["error"]["type"] in {"MemoryError", "MemoryLimit"}, outcome
    assert outcome["stdout"] == "here\n"


# --- the command ----------------------------------------------------------------------------------


def command(place: Place, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BELLJAR, "run", *place.options(), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        **options,  # type: ignore[call-overload]
    )


def test_the_command(place: Place, basic: Server) -> None:
    done = command(place, "--show-result", "-", input="print('hello')\n6 * 7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hello\n42\n", "")
    done = command(place, "-c", "raise ValueError('no')")
    assert done.returncode == 1
    assert done.stderr.endswith("ValueError: no\n")
    assert command(place, "-c", "import glob").returncode == 3
    assert command(place, "-c", "while True: pass", "--timeout", "500ms").returncode == 4


def test_output_comes_while_it_runs(place: Place, basic: Server) -> None:
    code = "print('first', flush=True)\n" + UNTIL_KILLED
    with subprocess.Popen(
        [BELLJAR, "run", *place.options(), "-c", code, "--timeout", "200"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "first\n"
        process.terminate()
        assert process.wait(timeout=HANG) == 128 + 15


# --- files ----------------------------------------------------------------------------------------


def test_files_in_and_out(files: Server) -> None:
    code = """
from pathlib import Path
text = Path("data/in.txt").read_text()
Path("data/in.txt").write_text("changed")
Path("out").mkdir()
Path("out/made.bin").write_bytes(bytes(range(256)))
(text, str(Path.cwd()), sorted(str(each) for each in Path().rglob("*")))
"""
    given = [{"path": "data/in.txt", "text": "günther"}, {"path": "same", "text": "kept"}]
    outcome = files.run(code, files=given)
    assert outcome["result"] == [
        "günther",
        "/workspace",
        ["data", "data/in.txt", "out", "out/made.bin", "same"],
    ], outcome
    made = {each["name"]: each for each in outcome["artifacts"]}
    assert sorted(made) == ["data/in.txt", "out/made.bin"]
    content = bytes(range(256))
    assert made["out/made.bin"]["size"] == 256
    assert made["out/made.bin"]["sha256"] == hashlib.sha256(content).hexdigest()
    assert base64.b64decode(made["out/made.bin"]["content"]) == content
    assert made["data/in.txt"]["content"] == "changed"


def test_no_files_of_others(files: Server) -> None:
    assert files.run("open('left', 'w').write('x')")["result"] == 1
    assert files.run("import os\nos.listdir()")["result"] == []
    for path in ("/etc/shadow", "/root/.bashrc", "/var/run/docker.sock"):
        outcome = files.run(f"open({path!r}).read()")
        assert outcome["error"]["type"] in {"FileNotFoundError", "PermissionError"}, outcome


def test_a_disk_bomb(files: Server) -> None:
    code = """
try:
    with open("big", "wb") as file:
        while True:
            file.write(bytes(1 << 20))
except OSError as error:
    full = error.errno
import os
os.remove("big")
full
"""
    outcome = files.run(code, timeout=60)
    full = {errno.ENOSPC, errno.EFBIG}
    assert outcome["status"] == "memory_limit" or outcome["result"] in full, outcome
    assert files.run("1 + 1")["result"] == 2


def test_temporary_files(files: Server) -> None:
    code = """
import sqlite3, tempfile, zipfile
with tempfile.TemporaryDirectory() as folder:
    with zipfile.ZipFile(f"{folder}/a.zip", "w") as archive:
        archive.writestr("b.txt", "content")
    text = zipfile.ZipFile(f"{folder}/a.zip").read("b.txt").decode()
database = sqlite3.connect("my.db")
database.execute("create table t (x)")
database.executemany("insert into t values (?)", [(1,), (2,)])
database.commit()
(text, database.execute("select sum(x) from t").fetchone()[0])
"""
    assert files.run(code)["result"] == ["content", 3]


# --- packages -------------------------------------------------------------------------------------


def test_frames_and_plots(tables: Server) -> None:
    code = """
import numpy as np
import pandas as pd
import matplotlib.pyplot as plt
frame = pd.DataFrame({"x": np.arange(5), "y": np.arange(5) ** 2})
plt.plot(frame.x, frame.y)
round(float(np.linalg.det(np.eye(3) * 2)), 9), int(frame.y.sum())
"""
    outcome = tables.run(code, timeout=60)
    assert outcome["result"] == [8.0, 30], outcome
    figures = [each for each in outcome["artifacts"] if each["media_type"] == "image/png"]
    assert len(figures) == 1
    assert base64.b64decode(figures[0]["content"]).startswith(b"\x89PNG\r\n")
