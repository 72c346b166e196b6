"""The official clients, in every mode and over both transports, against the real server."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor

import jsonschema
import pytest

from tests.clients.official import DOT, PEERS, SPINNING_IS_KILLED_WITHIN, Conversation, Peer, talk
from tests.clients.server import TOOLS

INVALID_PARAMS = -32602


# A conversation mostly waits.
AT_A_TIME = 4


@pytest.fixture(scope="module")
def conversations(request, build, tmp_path_factory) -> Iterator[dict[Peer, Future]]:
    """Those that the chosen tests ask for; all are on their way before the first test."""
    chosen = {
        item.callspec.params["conversation"]
        for item in request.session.items
        if item.path == request.path and "conversation" in getattr(item, "fixturenames", ())
    }
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        yield {
            peer: pool.submit(talk, peer, build, tmp_path_factory.mktemp(str(peer)))
            for peer in PEERS
            if peer in chosen
        }
        pool.shutdown(cancel_futures=True)


@pytest.fixture(scope="module", params=PEERS, ids=str)
def conversation(request, conversations) -> Conversation:
    return conversations[request.param].result()


def only_text(result: dict) -> str:
    texts = [part["text"] for part in result["content"] if part["type"] == "text"]
    assert len(texts) == 1, result
    return texts[0]


def structured(result: dict) -> dict:
    """Structured content, beside a text for the model."""
    assert "thrown" not in result, result
    assert only_text(result)
    return result["structuredContent"]


def test_they_agree_on_the_newest_revision_both_know(conversation):
    connected = conversation["connected"]
    assert connected["version"] == conversation.peer.version
    if conversation.peer.package == "mcp" and conversation.peer.pinned:
        return  # pinned to a revision it asks for nothing before the first call
    assert connected["server"]["name"] == "belljar"
    assert connected["server"]["version"]
    assert "tools" in connected["capabilities"]
    assert "execute_code" in connected["instructions"]


def test_tools_are_listed_with_all_that_describes_them(conversation):
    tools = {tool["name"]: tool for tool in conversation["tools"]}
    assert set(tools) == TOOLS
    for tool in tools.values():
        assert tool["title"] and tool["description"]
        # What read_output answers is text alone.
        outputs = [] if tool["name"] == "read_output" else [tool["outputSchema"]]
        for schema in (tool["inputSchema"], *outputs):
            assert schema["type"] == "object"
            jsonschema.Draft202012Validator.check_schema(schema)
        assert set(tool["annotations"]) >= {
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        }


def test_execute_code(conversation):
    result = conversation["execute"]
    content = structured(result)
    assert not result.get("isError")
    assert content["success"] is True
    assert content["status"] == "ok"
    assert content["result"] == {"sum": 4}
    assert content["stdout"] == "hello\n"
    assert only_text(result) == "stdout:\nhello\n\nvalue:\n{'sum': 4}"


def test_validate_code(conversation):
    content = structured(conversation["validate"])
    assert content["validation"]["valid"] is False
    assert any("ctypes" in error for error in content["validation"]["errors"])
    assert content["analysis"]["imports"] == ["ctypes", "math"]
    assert [finding["line"] for finding in content["findings"]] == [1]


def test_get_sandbox_info(conversation):
    content = structured(conversation["info"])
    assert content["success"] is True
    assert content["security_profiles"]["basic"]["enabled"] is True
    assert "math" in content["security_profiles"]["basic"]["modules"]


@pytest.mark.parametrize("step", ["execute", "validate", "info", "guest_failure"])
def test_structured_content_fits_the_output_schema(conversation, step):
    name = {"validate": "validate_code", "info": "get_sandbox_info"}.get(step, "execute_code")
    (tool,) = (tool for tool in conversation["tools"] if tool["name"] == name)
    jsonschema.Draft202012Validator(tool["outputSchema"]).validate(
        conversation[step]["structuredContent"]
    )


def test_what_a_run_leaves_comes_as_its_own_kind(conversation):
    result = conversation["left"]
    assert "thrown" not in result, result
    assert not result.get("isError"), result
    assert result["content"][0]["text"].startswith("files:\n")
    contents = {part["type"]: part for part in result["content"][1:]}
    assert set(contents) == {"image", "resource", "resource_link"}
    dot, table, long = (contents[kind] for kind in sorted(contents))
    assert (dot["mimeType"], dot["data"]) == ("image/png", DOT)
    assert table["resource"]["mimeType"] == "text/csv"
    assert table["resource"]["text"] == "name\nAda\n"
    assert (long["name"], long["mimeType"], long["size"]) == ("long.txt", "text/plain", 50_000)
    names = [each["name"] for each in result["structuredContent"]["artifacts"]]
    assert sorted(names) == ["dot.png", "long.txt", "table.csv"]
    (read,) = conversation["read"]["contents"]
    assert read["uri"] == long["uri"]
    assert read["text"] == "long " * 10_000


def test_a_failing_guest_is_an_error_that_keeps_what_was_printed(conversation):
    result = conversation["guest_failure"]
    content = structured(result)
    assert result["isError"] is True
    assert content["success"] is False
    assert content["stdout"] == "before\n"
    assert content["error"]["type"] == "ZeroDivisionError"
    assert only_text(result).startswith("stdout:\nbefore\n\nerror (exception):\nTraceback")


@pytest.mark.parametrize(
    ("step", "named"),
    [("wrong_type", "code"), ("missing_argument", "code"), ("out_of_bounds", "timeout")],
)
def test_bad_arguments_are_told_to_the_model(conversation, step, named):
    result = conversation[step]
    assert "thrown" not in result, result
    assert result["isError"] is True
    assert named in only_text(result)


def test_an_unknown_tool_is_a_protocol_error(conversation):
    result = conversation["unknown_tool"]
    assert result["thrown"]["code"] == INVALID_PARAMS, result
    assert "launch_missiles" in result["thrown"]["message"]


def test_output_arrives_while_the_code_runs(conversation):
    events = conversation["progress"]["events"]
    assert [event["event"] for event in events][-1] == "answer"
    progress = events[:-1]
    assert "first" in progress[0]["message"]
    assert "last" not in progress[0]["message"]
    assert "".join(event["message"] for event in progress) == "first\nlast\n"
    counts = [event["progress"] for event in progress]
    assert counts == sorted(set(counts)), "progress must grow with each notification"
    content = structured(conversation["progress"]["result"])
    assert content["stdout"] == "first\nlast\n"
    assert content["result"] == 7


def test_a_server_that_runs_code_answers_at_once(conversation):
    events = conversation["responsive"]["events"]
    order = [event["event"] for event in events if event["event"] != "progress"]
    assert order == (["list"] if conversation.peer.modern else ["ping", "list"]) + ["answer"]
    assert next(event["tools"] for event in events if event["event"] == "list") == len(TOOLS)


def test_calls_are_answered_in_the_order_they_end(conversation):
    assert conversation["parallel"] == {
        "order": ["quick", "slow"],
        "results": ["slow", "quick"],
    }


def test_cancelling_kills_what_runs(conversation):
    assert "thrown" in conversation["cancelled"]["result"], conversation["cancelled"]
    assert conversation.killed_after < SPINNING_IS_KILLED_WITHIN
    assert structured(conversation["after"])["result"] == 8


def test_a_client_that_leaves_needs_no_signal(conversation):
    closed = conversation["closed"]
    # A stdio client closes the server's input and, two seconds later, sends a signal.
    assert closed["seconds"] < 2
    assert closed["protocolErrors"] == []
