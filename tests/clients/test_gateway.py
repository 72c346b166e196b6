"""Belljar behind the real ContextForge."""

import pytest

from tests.clients.gateway import Gateway
from tests.clients.server import TOOLS


@pytest.fixture(scope="module")
def gateway(gateway_python, tmp_path_factory):
    gateway = Gateway(gateway_python, tmp_path_factory.mktemp("gateway"))
    yield gateway
    gateway.stop()


@pytest.fixture(scope="module")
def registered(gateway, server) -> Gateway:
    """The gateway once it knows Belljar, which it reaches with a token."""
    answer = gateway.ask(
        "/v1/gateways",
        {
            "name": "belljar",
            "url": server.url,
            "transport": "STREAMABLEHTTP",
            "auth_type": "bearer",
            "auth_token": server.token,
        },
    )
    assert answer["reachable"] is True, answer
    return gateway


def structured(result: dict) -> dict:
    content = result["structuredContent"]
    (text,) = (part["text"] for part in result["content"] if part["type"] == "text")
    assert text
    return content


def test_it_takes_every_tool_over_with_its_description(registered):
    tools = {tool["originalName"]: tool for tool in registered.ask("/v1/tools")}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool["enabled"] and tool["reachable"]
        # It drops descriptions with characters that it takes for an attack, and cuts long ones.
        assert tool["description"] == tool["originalDescription"]
        assert tool["title"]
        if tool["originalName"] != "read_output":  # whose answers are text alone
            assert tool["outputSchema"]["type"] == "object"
        assert tool["annotations"]["openWorldHint"] is False


def test_its_own_clients_see_them(registered):
    answer = registered.ask("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    names = {tool["name"] for tool in answer["result"]["tools"]}
    assert names == {"belljar-" + name.replace("_", "-") for name in TOOLS}


def test_code_runs_through_it(registered):
    result = registered.call("belljar-execute-code", {"code": 'print("hello")\nresult = 2 + 2'})
    assert not result.get("isError")
    content = structured(result)
    assert (content["result"], content["stdout"]) == (4, "hello\n")


def test_a_failing_guest_stays_a_failure_with_its_output(registered):
    result = registered.call("belljar-execute-code", {"code": 'print("before")\n1 / 0'})
    assert result["isError"] is True
    text = result["content"][0]["text"]
    assert text.startswith("stdout:\nbefore\n\nerror (exception):\nTraceback")
    assert "ZeroDivisionError" in text


def test_code_is_validated_through_it(registered):
    content = structured(registered.call("belljar-validate-code", {"code": "import ctypes\n"}))
    assert content["validation"]["valid"] is False
    assert content["findings"][0]["line"] == 1


def test_a_restarted_server_serves_the_same_registration(registered, server):
    first = structured(registered.call("belljar-execute-code", {"code": "result = 1"}))
    server.kill()
    gone = registered.call("belljar-execute-code", {"code": "result = 2"})
    assert gone["isError"] is True
    server.start()
    again = structured(registered.call("belljar-execute-code", {"code": "result = 3"}))
    assert (first["result"], again["result"]) == (1, 3)


def read(registered, uri: str) -> str:
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}
    answer = registered.ask("/mcp", body)
    assert "result" in answer, answer
    (contents,) = answer["result"]["contents"]
    return contents["text"]


def test_what_was_cut_is_read_through_it(registered):
    result = registered.call("belljar-execute-code", {"code": "for i in range(9000): print(i)"})
    uri = structured(result)["cut"]["stdout"]["uri"]
    assert read(registered, uri) == "".join(f"{number}\n" for number in range(9000))
    assert read(registered, f"{uri}?offset=10&length=6") == "5\n6\n7\n"


def test_it_passes_no_progress_on(registered):
    """Known of it: should this fail, docs/mcp.md has to say that progress arrives."""
    params = {
        "name": "belljar-execute-code",
        # sleeps: it would be told in between
        "arguments": {"code": "import time\nprint(1, flush=True)\ntime.sleep(0.3)"},
        "_meta": {"progressToken": "p"},
    }
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    # One JSON object, though the client takes a stream as well.
    assert structured(registered.ask("/mcp", body)["result"])["stdout"] == "1\n"
