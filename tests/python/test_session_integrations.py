"""The integrations with real sessions, in the environment that has the libraries."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.machine import need_files
from tests.python.conftest import BUILD, environment

PYTHON = BUILD.resolve().parent / "venv-integrations/bin/python"

SMOLAGENTS = """
from belljar import Sandbox
from belljar.smolagents import BelljarExecutor
from smolagents.local_python_executor import InterpreterError

def fails(action):
    try:
        executor(action)
    except InterpreterError as error:
        return str(error)
    raise AssertionError(action)

with Sandbox("basic", spares=1) as box:
    executor = BelljarExecutor(box, timeout="1s")
    executor.send_tools({"final_answer": lambda answer: answer, "double": lambda x: x * 2})
    executor.send_variables({"given": [1]})
    assert "one live Python" in executor.instructions
    done = executor("import math\\ndef f(x): return math.floor(x) + given[0]\\nprint('hi')")
    assert (done.output, done.logs, done.is_final_answer) == (None, "hi", False), done
    assert executor.variables == {}
    assert executor("given.append(2)\\nf(double(1.5))").output == 4
    assert executor("given").output == [1, 2]
    assert "ZeroDivisionError" in fails("given.append(3)\\n1 / 0")
    assert executor("given").output == [1, 2, 3]
    assert "Timeout" in fails("given.clear()\\nwhile True: pass")
    assert "was undone" in executor.state["_print_outputs"]
    executor.send_variables({"late": 5})
    assert "BJ201" in fails("import glob")
    assert executor("(given, late)").output == ([1, 2, 3], 5)
    done = executor("kept = 1\\nfinal_answer([kept])\\nkept = 2")
    assert (done.output, done.is_final_answer) == ([1], True)
    assert executor("kept").output == 1
    executor.session.undo()
    session = executor.session
    executor.cleanup()
    assert session.closed and box.run("1").value == 1
print("good")
"""

AGENT = """
from belljar import Sandbox
from belljar.smolagents import BelljarExecutor
from smolagents import CodeAgent
from smolagents.models import ChatMessage, MessageRole, Model

class Scripted(Model):
    actions = ["class A: n = 20\\na = A()", "a.n += extra", "final_answer(a.n)"]
    def generate(self, messages, **_):
        text = f"Thought: next.\\n<code>\\n{self.actions.pop(0)}\\n</code>"
        return ChatMessage(role=MessageRole.ASSISTANT, content=text)

with Sandbox("basic", spares=1) as box:
    executor = BelljarExecutor(box)
    agent = CodeAgent([], Scripted(model_id="scripted"), executor=executor,
                      instructions=executor.instructions, verbosity_level=0)
    assert agent.run("?", additional_args={"extra": 1}) == 21
print("good")
"""

LANGCHAIN = """
import asyncio
from belljar.langchain import BelljarTool

with BelljarTool(profile="basic", timeout=5) as tool:
    assert "one live Python" in tool.description
    tool.invoke({"code": "def f(): return 6"})
    assert tool.invoke({"code": "f() * 7"}) == "value:\\n42"
    async def main():
        return await tool.ainvoke({"code": "f() * 8"})
    assert asyncio.run(main()) == "value:\\n48"
    call = {"type": "tool_call", "id": "1", "name": "python", "args": {"code": "f()"}}
    message = tool.invoke(call)
    assert message.artifact.session.cell == 4
    session = tool._session.open()
assert session.closed
with BelljarTool(profile="basic", session=False) as tool:
    tool.invoke({"code": "x = 1"})
    assert "NameError" in tool.invoke({"code": "x"})
print("good")
"""

IPYTHON = """
from IPython.core.error import UsageError
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

shell = InteractiveShell.instance()
shell.run_line_magic("load_ext", "belljar.ipython")

def cell(line, code):
    with capture_output() as shown:
        shell.run_cell_magic("belljar", line, code)
    return shown.stdout + "".join(each.data["text/plain"] for each in shown.outputs)

cell("--session a", "def f(): return total\\ntotal = 2")
assert "2" in cell("--session a", "f()")
assert "NameError" in cell("--session b", "f()")
assert "NameError" in cell("", "f()")
shell.user_ns["given"] = [1]
cell("-s a --input given --output total --output f -r result", "total += given[0]\\nprint(total)")
assert shell.user_ns["total"] == 3 and "f" not in shell.user_ns
assert shell.user_ns["result"].session.cell == 3
shell.run_line_magic("belljar_undo", "a")
assert "2" in cell("-s a", "total")
for line in ("nobody", "a 99", "a x"):
    try:
        shell.run_line_magic("belljar_undo", line)
    except UsageError:
        continue
    raise AssertionError(line)
for line in ("-s a --memory 64m", "-s a -p filesystem"):
    try:
        shell.run_cell_magic("belljar", line, "1")
    except UsageError as error:
        assert "has been opened" in str(error)
    else:
        raise AssertionError(line)
shell.run_line_magic("unload_ext", "belljar.ipython")
assert "belljar_undo" not in shell.magics_manager.magics["line"]
print("good")
"""


@pytest.mark.parametrize(
    "code",
    [SMOLAGENTS, AGENT, LANGCHAIN, IPYTHON],
    ids=["smolagents", "an agent", "langchain", "ipython"],
)
def test_integrations(code: str, tmp_path: Path) -> None:
    need_files(PYTHON)
    done = subprocess.run(
        [PYTHON, "-c", code],
        env=environment() | {"HOME": str(tmp_path), "IPYTHONDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert (done.stdout, done.returncode) == ("good\n", 0), done.stdout + done.stderr
