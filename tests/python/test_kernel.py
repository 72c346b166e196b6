"""The Jupyter kernel, in an environment that has ipykernel, jupyter_kernel_test and nbclient."""

from __future__ import annotations

import json
import os
import struct
import subprocess
from pathlib import Path

import pytest

from tests.languages.conftest import need_language
from tests.machine import need, need_packages
from tests.python.conftest import BUILD, environment

PYTHON = Path(
    os.environ.get("BELLJAR_KERNEL_PYTHON", BUILD.resolve().parent / "venv-integrations/bin/python")
)

KERNEL_TEST = """
import unittest
import jupyter_kernel_test

class Belljar(jupyter_kernel_test.KernelTests):
    kernel_name = "belljar-test"
    language_name = "python"
    file_extension = ".py"
    code_hello_world = "print('hello, world')"
    code_stderr = "import sys; print('test', file=sys.stderr)"
    code_generate_error = "raise ValueError('no')"
    code_execute_result = [{"code": "6 * 7", "result": "42"}, {"code": "'a'", "result": "'a'"}]
    completion_samples = [
        {"text": "zi", "matches": {"zip"}},
        {"text": "prin", "matches": {"print"}},
    ]
    code_inspect_sample = "len"
    complete_code_samples = ["1", "print('hello')", "def f():\\n    return 1\\n"]
    incomplete_code_samples = ["def f():", "f(1,", "    x = 2"]

unittest.main()
"""

EXECUTED = """
import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

def executed(*cells, kernel="belljar-test", **options):
    global notebook
    notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, cells)))
    client = NotebookClient(notebook, kernel_name=kernel, timeout=60, **options)
    client.execute()
    nbformat.validate(notebook)
    return [cell.outputs for cell in notebook.cells]

def text(index):
    return "".join(
        each.get("text", "") or each.get("data", {}).get("text/plain", "") or
        each.get("ename", "") + ": " + each.get("evalue", "")
        for each in outputs[index])
"""

NOTEBOOK = """
outputs = executed(
    "%matplotlib inline\\nimport math\\nx = [1]",
    "print('one', flush=True)\\nx.append(2)\\nx",
    "%undo",
    "x",
    "",
    "%checkpoint mine",
    "x.clear()",
    "%checkpoints",
    "%rollback c99",
    "1 / 0",
    "import glob",
    "y = 1\\nwhile True: pass",
    "x",
    "%nothing",
    "print('\\\\x1b[31m')",
    allow_errors=True,
)
assert outputs[0] == [] and outputs[4] == []
assert text(1) == "one\\n[1, 2]" and outputs[1][-1].output_type == "execute_result"
assert (text(2), text(3)) == ("undone\\n", "[1]")
assert "mine" in text(7) and "no \\"c99\\"" in text(8)
assert text(9).startswith("ZeroDivisionError") and "1 / 0" in "".join(outputs[9][-1].traceback)
assert outputs[10][-1].traceback[0].startswith("<cell 10>:1:1: BJ201"), outputs[10]
assert sum("BJ201" in line for line in outputs[10][-1].traceback) == 1
assert "Timeout" in text(11) and "undone" in text(11)
assert text(12) == "[]" and "%undo, %checkpoint" in text(13)
assert text(14) == "\\\\x1b[31m\\n", text(14)
try:
    executed("1 / 0", "2")
except CellExecutionError as error:
    assert "ZeroDivisionError" in str(error)
else:
    raise AssertionError

print("good")
"""

MAGICS = r"""
import re

outputs = executed(
    "def half(x):\n    return x / 0",
    "%checkpoint",
    "half(1)",
    "%checkpoints",
    "\n\n%time 6 * 7",
    "%%time\nfor i in range(2):\n    print(i)\n1 / 0",
    "%timeit -n 10 -r 3 half",
    "%%timeit -r 2 y = 1\nz = y\nz + y",
    "z",
    "%timeit half(",
    "%timeit -q 1",
    "len?",
    "??half",
    "nothing_of_that_name?",
    "%undo\n1",
    "%%html\n<b>",
    "%time",
    "import subprocess\nimport ctypes",
    allow_errors=True,
)
counts = [each.execution_count for each in notebook.cells]
assert counts == list(range(1, len(counts) + 1)), counts
trace = "\n".join(outputs[2][-1].traceback)
assert 'File "<cell 3>", line 1' in trace and 'File "<cell 1>", line 2, in half' in trace, trace
assert "after cell 1\n" in text(3) and "cell 2" not in text(3), text(3)
timed = r"CPU times: total: [\d.]+ m?s\nWall time: [\d.]+ m?s\n"
assert re.search("42" + timed, text(4)) or re.search(timed + "42", text(4)), text(4)
assert re.match(r"0\n1\n" + timed, text(5)) and '"<cell 6>", line 4' in str(outputs[5]), outputs[5]
per_loop = r"[\d.e+]+ [mµn]?s ± [\d.e+]+ [mµn]?s per loop \(mean ± std. dev. of {} runs, "
assert re.fullmatch(per_loop.format(3) + r"10 loops each\)\n", text(6)), text(6)
assert re.fullmatch(per_loop.format(2) + r"[\d,]+ loops each\)\n", text(7)), text(7)
assert "NameError" in text(8), "what is timed left a name"
assert "SyntaxError" in text(9) and "-n LOOPS" in text(10), (text(9), text(10))
assert "number of items" in text(11) and "half(x)" in text(12), (text(11), text(12))
assert text(13) == "nothing_of_that_name is not defined here\n"
assert "a cell of its own" in text(14) and "this kernel has %%time, %%timeit; to add" in text(15)
assert "there are %undo" in text(16)
refused = outputs[17][-1].traceback
assert [line[:14] for line in refused if "BJ201" in line] == ["<cell 18>:1:1:", "<cell 18>:2:1:"]
print("good")
"""

DISPLAY = r"""
import json

PNG = "b'\\x89PNG\\r\\n\\x1a\\n'"
outputs = executed(
    "print('above')\ndisplay([1], 'a')\nprint('below')",
    "from IPython.display import *\ndisplay(HTML('<p onclick=x>a<script>b</script></p>'))\n"
    "HTML('<b>c</b>')",
    "display(Markdown('# <b>'), JSON({'a': [1]}), Math('x'), SVG('<svg/>'))\nJSON('[2]')",
    f"display(Image({PNG}))\nImage({PNG})",
    "print('gone')\nclear_output()\nprint('here')",
    "for i in range(1000): display(i)",
    "display(HTML('x' * 900_000))",
    "x = HTML('<b>')\nx.data = 5",
    "class Own:\n    def _repr_html_(self): return '<b onclick=x>own</b><script>b</script>'\n"
    "    def __repr__(self): return 'Own()'\ndisplay(Own())\nOwn()",
    "class Bad:\n    def _repr_html_(self): return 1/0\n"
    "    def __repr__(self): return 'Bad()'\nBad()",
    allow_errors=True,
)
kinds = [[each.output_type for each in output] for output in outputs]
assert kinds[0] == ["stream", "display_data", "display_data", "stream"], outputs[0]
assert text(0) == "above\n[1]'a'below\n"
page, value = (each.data["text/html"] for each in outputs[1])
assert (page, value) == ("<p>a</p>", "<b>c</b>")
assert not [each for each in outputs[2] if "text/html" in each.data], outputs[2]
assert text(2).startswith("# <b>") and "text/markdown" not in outputs[2][0].data
assert not any("image/svg+xml" in each.data for each in outputs[2])
assert outputs[2][1].data["application/json"] == {"a": [1]}
assert outputs[2][-1].data["application/json"] == [2]
assert [each.data["image/png"].strip() for each in outputs[3]] == ["iVBORw0KGgo="] * 2, outputs[3]
assert text(4) == "here\n"
for each in outputs[8]:
    assert (each.data["text/html"], each.data["text/plain"]) == ("<b>own</b>", "Own()"), outputs[8]
assert len(outputs[8]) == 2
assert [each.data for each in outputs[9]] == [{"text/plain": "Bad()"}], outputs[9]
assert kinds[5].count("display_data") == 500 and "at most 500" in text(5)
assert set(outputs[6][0].data) == {"text/plain"}
assert kinds[7] == ["error"], outputs[7]
print("good")
"""

FILES = """
import os
from pathlib import Path

Path("data.csv").write_text("a\\n1\\n")
Path(".hidden.csv").write_text("hidden")
Path("notes.txt").write_text("private")
Path("link.csv").symlink_to("notes.txt")
Path("folder.csv").mkdir()
os.mkfifo("pipe.csv")
outputs = executed(
    "import os\\nsorted(os.listdir())",
    "open('data.csv').read()",
    "%put notes.txt",
    "%put link.csv",
    "%put ../data.csv",
    "%put pipe.csv",
    "%put folder.csv",
    "%put .hidden.csv",
    "%put none.csv",
    "%put",
    "%put data.csv",
    kernel="belljar-files",
    allow_errors=True,
)
assert text(0) == "['data.csv']" and text(1) == repr("a\\n1\\n"), (text(0), text(1))
assert "this kernel gives *.csv" in text(2) and "--files" in text(2), text(2)
assert "it is a link" in text(3) and "own folder" in text(4)
assert "not a file" in text(5) and "Is a directory" in text(6), (text(5), text(6))
assert "this kernel gives" in text(7) and "No such file" in text(8) and "names of files" in text(9)
assert text(10) == "put data.csv, 4 bytes\\n"
with open("large.csv", "wb") as file:
    file.truncate((64 << 20) + 1)
outputs = executed("1", kernel="belljar-files", allow_errors=True)
assert "'large.csv': the files have more than 64 MiB" in text(0), text(0)
outputs = executed("%put data.csv", allow_errors=True)
assert "this kernel gives no files" in text(0), text(0)
print("good")
"""

LANGUAGES = r"""
outputs = executed(
    "open('numbers', 'w').write('1 2 3')",
    "%%bash\nread -r first rest < numbers\necho $first; missing",
    "%%bash\necho \"$rest\"",
    "%exchange rest bash",
    "rest",
    "%exchange rest bash javascript",
    "\n%%javascript\nrest + '!'",
    "%%javascript\nlet a = 1\nnull.b",
    "%exchange rest",
    "%exchange nothing bash",
    "%exchange rest perl",
    "%%perl\nprint 1",
    "%%bash -e\ntrue",
    "%undo",
    "%%bash\nread -r x; echo \"[$x]\"",
    "%%python\nrest",
    kernel="belljar-languages",
    allow_errors=True,
)
assert text(1).startswith("1\n") and "line 3" in text(1), text(1)
assert text(2) == "2 3\n" and text(3) == text(5) == "'2 3'\n" and text(4) == "'2 3'"
assert text(6) == "'2 3!'", text(6)
assert "TypeError" in text(7) and ".js:3:" in str(outputs[7]), outputs[7]
assert "give a variable and the language" in text(8) and "nothing" in text(9)
for index in (10, 11):
    assert "has %%time, %%timeit, %%bash, %%javascript; to add" in text(index), text(index)
assert "no arguments" in text(12)
assert text(14) == "[]\n" and text(15) == "'2 3'", (text(14), text(15))
print("good")
"""

INTERRUPT = """
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="belljar-test")
def run(code, after=lambda: None):
    said = []
    def hook(message):
        said.append((message["msg_type"], message["content"]))
        if message["msg_type"] == "stream":
            after()
    reply = client.execute_interactive(code, timeout=60, output_hook=hook)
    return reply["content"], said
run("x = 1")
reply, said = run("x = 2\\nprint('begun', flush=True)\\nwhile True: pass", manager.interrupt_kernel)
assert (reply["status"], reply["ename"]) == ("error", "KeyboardInterrupt"), reply
reply, said = run("x")
shown = [content["data"]["text/plain"] for kind, content in said if kind == "execute_result"]
assert shown == ["2"], said
client.stop_channels()
manager.shutdown_kernel()
print("good")
"""

INPUT = """
from jupyter_client.manager import start_new_kernel

manager, client = start_new_kernel(kernel_name="belljar-test")
asked = []
def run(code, *answers, after=lambda: None, **options):
    left, said = list(answers), []
    def stdin(message):
        asked.append((message["content"]["prompt"], message["content"]["password"]))
        if left:
            client.input(left.pop(0))
        else:
            after()
    reply = client.execute_interactive(
        code, timeout=60, output_hook=lambda message: said.append(message["content"]),
        allow_stdin=True, stdin_hook=stdin, **options)
    return reply["content"], "".join(each.get("text", "") for each in said), said
reply, text, said = run("print(input('name? '), input('age? '))", "Ada", "36")
assert (reply["status"], text) == ("ok", "name? age? Ada 36\\n"), (reply, text)
assert asked == [("", False)] * 2, asked
reply, text, said = run("import getpass; len(getpass.getpass('word: '))", "secret")
assert asked[-1] == ("", True) and "word: " in text
# Ctrl-D of a client.
reply, text, said = run("input()", chr(4))
assert reply["ename"] == "EOFError", reply
# Interrupted while it asks: the variables are what they were, and the next cell runs.
run("x = 1")
reply, text, said = run("x = 2\\ninput('never? ')", after=manager.interrupt_kernel)
assert reply["ename"] == "KeyboardInterrupt", reply
# Nobody answers, longer than the kernel waits.
reply, text, said = run("input('never? ')")
assert reply["ename"] == "EOFError", reply
reply, text, said = run("x")
assert any(each.get("data", {}).get("text/plain") == "2" for each in said), said
# A client that cannot ask.
reply = client.execute_interactive("input()", timeout=60, allow_stdin=False,
                                   output_hook=lambda _: None)
assert reply["content"]["ename"] == "EOFError", reply
client.stop_channels()
manager.shutdown_kernel()
print("good")
"""

DATA_SCIENCE = """
import nbformat
from nbclient import NotebookClient
notebook = nbformat.v4.new_notebook(cells=list(map(nbformat.v4.new_code_cell, [
    "import matplotlib.pyplot as plt\\nplt.plot([1, 2])",
    "import pandas as pd\\ndf = pd.DataFrame({'a': [1, 2], '<b>': ['<script>', 'y']})\\ndf",
    "display(df)\\ndf.loc[0, 'a'] = 7\\ndisplay(df.a)\\nprint('below')",
    "import plotly.express as px\\npx.bar(x=['a'], y=[3]).show()\\npx.line(x=[1], y=[2])",
    "px.bar(x=['//a.org'], y=[3])",
])))
NotebookClient(notebook, kernel_name="belljar-science", timeout=100).execute()
nbformat.validate(notebook)
first, second, third, fourth, fifth = (cell.outputs for cell in notebook.cells)
assert any("image/png" in each.get("data", {}) for each in first), first
(table,) = second
assert "&lt;script&gt;" in table.data["text/html"] and "<script>" not in table.data["text/html"]
assert "<script>" in table.data["text/plain"]
before, after, below = third
assert "<td>1</td>" in before.data["text/html"] and "<td>7</td>" in after.data["text/html"]
assert below.text == "below\\n"
plotly = "application/vnd.plotly.v1+json"
shown = [each.data[plotly]["data"][0]["type"] for each in fourth]
assert shown == ["bar", "scatter"], fourth
assert plotly not in fifth[0].data, "it names an address"
print("good")
"""


@pytest.fixture(scope="module")
def jupyter(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which the kernels are installed."""
    needs = "import ipykernel, jupyter_kernel_test, nbclient, nbformat"
    there = PYTHON.exists() and subprocess.run([PYTHON, "-c", needs], stderr=subprocess.DEVNULL)
    missing = f"{PYTHON} has no ipykernel, jupyter_kernel_test and nbclient"
    need(there and there.returncode == 0, missing)
    home = tmp_path_factory.mktemp("home")
    variables = environment() | {"HOME": str(home), "JUPYTER_PATH": str(home / "share/jupyter")}
    for options in (
        ["--name", "belljar-test", "--profile", "basic", "--timeout", "2s"]
        + ["--input-timeout", "5s"],
        ["--name", "belljar-files", "--profile", "filesystem", "--files", "*.csv"],
        ["--name", "belljar-science", "--profile", "data-science", "--timeout", "60"],
        ["--name", "belljar-languages", "--profile", "filesystem"]
        + ["--language", "bash", "--language", "javascript"],
    ):
        done = subprocess.run(
            [PYTHON, "-m", "belljar.kernel", "install", "--prefix", home, *options],
            env=variables,
            capture_output=True,
            text=True,
            timeout=60,
        )
        if not {"belljar-science", "belljar-languages"} & {*options} or done.returncode == 0:
            assert done.stdout.startswith("installed "), done.stderr
    return variables


@pytest.mark.parametrize(
    "code",
    [
        KERNEL_TEST,
        EXECUTED + NOTEBOOK,
        EXECUTED + MAGICS,
        EXECUTED + DISPLAY,
        EXECUTED + FILES,
        EXECUTED + LANGUAGES,
        INTERRUPT,
        INPUT,
        DATA_SCIENCE,
    ],
    ids=[
        "jupyter_kernel_test",
        "notebooks",
        "magics",
        "display",
        "files",
        "languages",
        "interrupt",
        "input",
        "figures and tables",
    ],
)
def test_kernel(jupyter: dict[str, str], code: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [PYTHON, "-W", "ignore", "-c", code],
        env=jupyter,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=110,
    )
    if "belljar-science" in code and "NoSuchKernel" in done.stderr:
        need_packages("data-science")
    if "belljar-languages" in code and "NoSuchKernel" in done.stderr:
        need_language("bash")
        need_language("javascript")
    assert done.returncode == 0, done.stdout + done.stderr
    assert code is KERNEL_TEST or done.stdout == "good\n"


def test_what_is_wrong_is_said(jupyter: dict[str, str]) -> None:
    for options, message in (
        (["install", "--profile", "basics"], "unknown profile"),
        (["install", "--timeout", "soon"], "--timeout"),
        (["install", "--language", "bahs"], "bahs"),
        (["uninstall", "--name", "none"], "no kernel 'none'"),
    ):
        done = subprocess.run(
            [PYTHON, "-m", "belljar.kernel", *options],
            env=jupyter,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.returncode == 2 and message in done.stderr
        assert done.stderr.startswith("belljar kernel: ")


def test_the_command_installs_and_removes_it(jupyter: dict[str, str], tmp_path: Path) -> None:
    def belljar(*words: str | Path) -> str:
        done = subprocess.run(
            [BUILD.resolve() / "belljar", "kernel", *words],
            env=jupyter
            | {"PATH": str(PYTHON.parent), "JUPYTER_PATH": str(tmp_path / "share/jupyter")},
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    place = tmp_path / "share/jupyter/kernels/mine"
    options = (
        "--name",
        "mine",
        "--profile",
        "basic",
        "--timeout",
        "5",
        "--files=*.csv",
        "--language=bash",
    )
    assert belljar("install", "--prefix", tmp_path, *options) == f"installed {place}\n"
    spec = json.loads((place / "kernel.json").read_text())
    assert Path(spec["argv"][0]).parent == PYTHON.parent
    assert spec["argv"][-6:] == [*options[2:]]
    assert (place / "logo-svg.svg").read_text().startswith("<svg ")
    for size in (32, 64):
        png = (place / f"logo-{size}x{size}.png").read_bytes()
        assert (png[:4], png[16:24]) == (b"\x89PNG", struct.pack(">II", size, size))
    assert belljar("uninstall", "--name", "mine") == f"removed {place}\n"
    assert not place.exists()
