"""run_command by the official clients, whose validators check each answer."""

import jsonschema
import pytest

from tests.clients.official import PEERS, Conversation, talk
from tests.languages.conftest import need_language

CALLS = [
    ("done", "run_command", {"command": "echo out; echo err >&2"}),
    ("failed", "run_command", {"command": ["sh", "-c", "exit 3"]}),
    ("missing", "run_command", {"command": ["no-such-program-7"]}),
    ("started", "run_command", {"command": "sleep 1000", "session": "new", "background": True}),
    ("refused", "run_command", {"action": "read", "session": "0" * 32, "id": 1}),
    ("long", "run_command", {"command": "seq 30000"}),
]
# Each package, over both transports.
CHOSEN = [peer for peer in PEERS if peer.mode in ("auto", None)]


@pytest.fixture(scope="module", params=CHOSEN, ids=str)
def conversation(request, build, tmp_path_factory) -> Conversation:
    need_language("shell")
    folder = tmp_path_factory.mktemp(str(request.param))
    return talk(request.param, build, folder, CALLS, ["--languages", "shell"])


def test_commands(conversation):
    done, failed, missing = (conversation[each] for each in ("done", "failed", "missing"))
    assert done["content"][0]["text"] == "stdout:\nout\n\nstderr:\nerr"
    assert done["structuredContent"]["command"]["exit_code"] == 0
    assert failed["isError"] and failed["structuredContent"]["command"]["exit_code"] == 3
    assert missing["structuredContent"]["command"]["state"] == "not_started"
    started = conversation["started"]["structuredContent"]
    assert started["command"] == {"id": 1, "state": "running"} and len(started["session"]) == 32
    assert "no session" in conversation["refused"]["content"][0]["text"]
    assert "characters left out" in conversation["long"]["content"][0]["text"]


def test_answers_fit_the_output_schema(conversation):
    (tool,) = (tool for tool in conversation["tools"] if tool["name"] == "run_command")
    for step in ("done", "failed", "missing", "started", "long"):
        jsonschema.Draft202012Validator(tool["outputSchema"]).validate(
            conversation[step]["structuredContent"]
        )
