"""belljar.langchain in LangChain as it comes from PyPI."""

import asyncio
import copy
import gc
import json
import os
import subprocess
import threading
from pathlib import Path

import pytest
from belljar import BelljarError, Result, Sandbox
from belljar.langchain import BelljarTool
from langchain_core.messages import ToolMessage
from langchain_core.tools import tool as as_tool
from langchain_core.utils.function_calling import convert_to_openai_tool

from tests.machine import need_packages
from tests.places.place import RUNSC_ALONE, load, need

BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"
LIST_TOOLS = "".join(
    json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n"
    for method, params in (
        (
            "initialize",
            {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}},
        ),
        ("tools/list", {}),
    )
)


@pytest.fixture(scope="module")
def tool(box):
    return BelljarTool(sandbox=box)


def call(code: str) -> dict:
    return {"name": "python", "args": {"code": code}, "id": "call-1", "type": "tool_call"}


def test_a_model_is_told_what_there_is(tool):
    function = convert_to_openai_tool(tool)["function"]
    assert function["name"] == "python"
    assert list(function["parameters"]["properties"]) == ["code"]
    assert function["parameters"]["required"] == ["code"]
    text = function["description"]
    assert "one live Python" in text and "the standard library except " in text
    # What it has not, and what no program can use.
    assert " ctypes, " in text and " subprocess, " in text and " math" not in text
    assert "without files, network, processes and pip" in text
    assert " of memory the program is stopped" in text and len(text) < 1500


def test_packages_come_first():
    with BelljarTool(profile="data-science") as tool:
        if tool.sandbox.info().missing:
            need_packages("data-science")
        text = tool.description
    assert "Available: numpy, pandas, matplotlib, " in text and " and the standard library" in text
    assert len(text) < 1800


def test_its_words_are_those_of_the_mcp_tool():
    """One text: nothing of it is written down twice."""
    with BelljarTool(session=False) as tool:
        text = tool.description
    server = subprocess.run(
        [BELLJAR, "serve", "--config", "/dev/null", "--log-level", "off"],
        input=LIST_TOOLS,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    tools = json.loads(server.stdout.splitlines()[-1])["result"]["tools"]
    listed = tools[0]["description"]
    for sentence in (
        "Runs a Python program in a fresh process: nothing is left of earlier calls",
        "Answers with what it printed",
        "without files, network, processes and pip",
        "the program is stopped, with its output so far",
        "part is cut",
    ):
        assert sentence in listed and sentence in text


def test_without_a_session_a_model_is_told_so(box):
    assert "fresh process" in BelljarTool(sandbox=box, session=False).description


def test_its_limits_are_those_of_the_tool(box):
    assert "Limits: at 2500ms or " in BelljarTool(sandbox=box, timeout=2.5).description


def test_a_call_is_answered_with_text(tool):
    assert tool.invoke({"code": "print('hello')\n6 * 7"}) == "stdout:\nhello\n\nvalue:\n42"
    assert tool.invoke("'a' * 3") == "value:\n'aaa'"
    assert "printed nothing" in tool.invoke({"code": "x = 1"})


def test_a_tool_call_is_answered_with_a_message_and_the_result(tool):
    message = tool.invoke(call("[1, (2, 3)]"))
    assert isinstance(message, ToolMessage)
    assert (message.tool_call_id, message.status) == ("call-1", "success")
    assert message.content == "value:\n[1, (2, 3)]"
    assert isinstance(message.artifact, Result)
    assert message.artifact.value == [1, (2, 3)]


def test_what_fails_is_told_with_its_line_and_a_hint(tool):
    message = tool.invoke(call("print('so far')\n1 / 0"))
    assert message.content.startswith("stdout:\nso far\n\nerror (exception):\nTraceback")
    assert 'File "In[' in message.content and "line 2" in message.content
    assert message.artifact.status == "exception"
    refused = tool.invoke(call("x = 1\nimport glob"))
    assert "error (refused):\nNothing was run.\nline 2: BJ201" in refused.content
    assert "hint: " in refused.content


def test_a_value_that_python_cannot_print_is_shown_as_it_was_there(tool):
    message = tool.invoke(call("[10 ** 5000]"))
    assert message.content.startswith("value:\n[") and message.artifact.value == [10**5000]


def test_what_is_no_plain_data_is_shown_and_what_was_dropped_is_counted(tool):
    assert tool.invoke("{1: print}").startswith("value (its repr: it is not plain data):\n{1: <")
    assert "bytes beyond the limit (output) were dropped]" in tool.invoke("print('a' * 50_000_000)")


def test_a_limit_kills(box):
    message = BelljarTool(sandbox=box, timeout="200ms").invoke(call("print(1)\nwhile True: pass"))
    assert message.artifact.status == "timeout"
    assert message.content.startswith("stdout:\n1\n\nerror (timeout):")


def test_calls_are_cells_of_one_session(tool):
    tool.invoke({"code": "import math\ndef f(x): return math.floor(x)"})
    message = tool.invoke(call("f(1.5)"))
    assert message.artifact.value == 1 and message.artifact.session.cell > 1


def test_without_a_session_nothing_is_kept_between_calls(box):
    tool = BelljarTool(sandbox=box, session=False)
    tool.invoke({"code": "kept = 1"})
    message = tool.invoke(call("kept"))
    assert "NameError" in message.content and message.artifact.session is None


def test_the_session_opens_with_the_first_call_in_any_thread(box):
    with BelljarTool(sandbox=box) as tool:
        results = tool.batch([call(f"x{n} = {n}") for n in range(4)])
        assert sorted(each.artifact.session.cell for each in results) == [1, 2, 3, 4]
        assert len({each.artifact.session.id for each in results}) == 1
        assert tool.invoke("x0 + x1 + x2 + x3") == "value:\n6"


def test_containers_have_no_sessions():
    need(RUNSC_ALONE)
    load(RUNSC_ALONE, "basic")
    with pytest.raises(ValueError, match="pass session=False"):
        BelljarTool(sandbox=Sandbox(container=True))
    BelljarTool(sandbox=Sandbox(container=True), session=False)


def test_long_output_is_cut_for_the_model_alone(box):
    tool = BelljarTool(sandbox=box, max_characters=100)
    message = tool.invoke(call("print('a' * 1000 + 'z')"))
    assert "characters left out" in message.content and len(message.content) < 200
    assert message.content.endswith("z")
    assert len(message.artifact.stdout) == 1002


@pytest.mark.parametrize("session", [True, False])
def test_batches_are_answered_in_order(box, session):
    tool = BelljarTool(sandbox=box, session=session)
    codes = [{"code": f"{n} * 2"} for n in range(8)]
    assert tool.batch(codes) == [f"value:\n{n * 2}" for n in range(8)]


def test_it_is_asynchronous_too(tool):
    async def main():
        one, other = await asyncio.gather(tool.ainvoke({"code": "1"}), tool.ainvoke(call("2")))
        return one, other.artifact.value

    # Each loop of its own: one tool serves them all.
    for _ in range(2):
        assert asyncio.run(main()) == ("value:\n1", 2)


def test_cancelling_kills_the_program(tool):
    async def main():
        await asyncio.wait_for(tool.ainvoke({"code": "while True: pass"}), 0.5)

    with pytest.raises(TimeoutError):
        asyncio.run(main())


def test_a_shared_sandbox_is_not_closed(box):
    with BelljarTool(sandbox=box) as tool:
        assert tool.invoke("1") == "value:\n1"
    assert box.run("1").ok


def test_its_own_sandbox_is_closed():
    with BelljarTool(profile="filesystem") as tool:
        assert "/workspace" in tool.description
        text = tool.invoke("open('a.txt', 'w').write('hello')")
        assert "files:\na.txt, 5 bytes" in text
    with pytest.raises(BelljarError, match="it is closed"):
        tool.invoke("1")
    with pytest.raises(BelljarError, match="it is closed"):
        asyncio.run(tool.ainvoke({"code": "1"}))


def test_its_threads_end_with_it(box):
    before = set(threading.enumerate())
    for given in ({}, {"sandbox": box}, {"sandbox": box, "session": False}):
        with BelljarTool(**given) as tool:
            assert asyncio.run(tool.ainvoke({"code": "1"})) == "value:\n1"
            assert any(each.name == "belljar" for each in set(threading.enumerate()) - before)
        if "session" in given:
            assert asyncio.run(tool.ainvoke({"code": "1"})) == "value:\n1"  # as invoke
        del tool
        gc.collect()
        for thread in set(threading.enumerate()) - before:
            thread.join(10)
            assert not thread.is_alive()


def test_copies_run_programs_as_well(tool):
    tool.invoke("mine = 1")
    assert tool.model_copy().invoke("mine") == "value:\n1"
    with copy.deepcopy(tool) as other:
        assert "NameError" in other.invoke("mine")  # it has a session of its own


def test_wrong_options_are_named(box):
    with pytest.raises(ValueError, match="profile: the given sandbox already has one"):
        BelljarTool(sandbox=box, profile="basic")
    with pytest.raises(ValueError, match="timeout"):
        BelljarTool(sandbox=box, timeout="soon")
    with pytest.raises(ValueError, match="code"):
        BelljarTool(sandbox=box).invoke({"program": "1"})


def test_a_program_cannot_read_the_hosts_files(box, full, secret):
    @as_tool
    def plain(code: str) -> str:
        """What frameworks' examples do."""
        found: dict = {}
        exec(code, found)
        return str(found["found"])

    attack = f"found = open({str(secret)!r}).read()\nfound"
    assert plain.invoke({"code": attack}) == secret.read_text()  # so the attack is one
    for sandbox in (box, full):
        message = BelljarTool(sandbox=sandbox).invoke(call(attack))
        assert message.artifact.status in ("refused", "exception")
        assert secret.read_text() not in message.content
    assert "FileNotFoundError" in message.content  # without the policy: the kernel's doing


def test_a_machine_that_fails_is_no_answer_of_the_programs():
    box = Sandbox()
    tool = BelljarTool(sandbox=box)
    box.close()
    with pytest.raises(Exception, match="closed"):
        tool.invoke(call("1"))
