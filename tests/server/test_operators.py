"""What operators do over HTTP while a server runs: change its limits, read its audit log. And what
anybody reads of it: their own entries, the receipts of their own executions."""

import base64
import json
import subprocess
import threading

import pytest

from tests.clients.server import BELLJAR, HttpServer
from tests.clocks import until
from tests.server.test_rest import ANNA, BERT, ask, write_config

TIMEOUT = 60
CONFIG = """
[execution]
concurrency = 2
queue = 4
[jobs]
store = "state/jobs.db"
[audit]
enabled = true
folder = "state/audit"
[[tokens]]
name = "anna"
file = "anna.token"
operator = true
[[tokens]]
name = "bert"
file = "bert.token"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("operators")


@pytest.fixture(scope="module")
def server(folder):
    config = write_config(folder, CONFIG)
    server = HttpServer(folder / "log.txt", arguments=["--config", str(config)])
    yield server
    server.stop()


def execute(server, code, token=BERT):
    answer = ask(server, "POST", "/v1/executions", {"code": code}, token=token)
    assert answer.status == 200, answer.body
    return answer.json()


def audit(server, query="", token=ANNA):
    answer = ask(server, "GET", f"/v1/audit{query}", token=token)
    assert answer.status == 200, answer.body
    return answer.json()


def audit_until(server, query, count=1, token=ANNA):
    """Entries are written after the answer."""
    entries: list = []

    def are_written() -> bool:
        entries[:] = audit(server, query, token)["entries"]
        return len(entries) >= count

    until(are_written, lambda: (query, entries))
    return entries


def receipt(server, execution, token=BERT):
    path = f"/v1/executions/{execution}/receipt"

    def ready():
        answer = ask(server, "GET", path, token=token)
        return answer if answer.status != 409 else None

    return until(ready)


def test_an_operator_changes_limits_and_they_hold_at_once(server, folder):
    before = ask(server, "GET", "/v1/limits", token=BERT).json()
    assert (before["running"], before["waiting"]) == (2, 4)
    try:
        changed = ask(server, "PATCH", "/v1/limits", {"running": 1, "waiting": 0})
        assert changed.status == 200, changed.body
        assert (changed.json()["running"], changed.json()["waiting"]) == (1, 0)
        statuses = []

        def call():
            body = {"code": "import time\ntime.sleep(1)"}  # sleeps: all three come meanwhile
            statuses.append(ask(server, "POST", "/v1/executions", body, token=BERT).status)

        threads = [threading.Thread(target=call) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        assert sorted(statuses) == [200, 429, 429]
    finally:
        restored = ask(server, "PATCH", "/v1/limits", {"running": 2, "waiting": 4})
        assert restored.status == 200, restored.body
    assert ask(server, "GET", "/v1/limits", token=BERT).json() == before
    # The log and the audit log have each change, with who made it.
    entries = audit_until(server, "?kind=settings", 4)
    assert {each["caller"] for each in entries} == {"anna"}
    values = [(each["settings"][0]["name"], each["settings"][0]["value"]) for each in entries]
    assert sorted(values) == [
        ("execution.concurrency", "1"), ("execution.concurrency", "2"),
        ("execution.queue", "0"), ("execution.queue", "4"),
    ]  # fmt: skip
    assert (folder / "log.txt").read_text().count('"setting_changed"') == 4


def test_nobody_else_changes_them(server):
    before = ask(server, "GET", "/v1/limits").json()
    refused = ask(server, "PATCH", "/v1/limits", {"waiting": 1}, token=BERT)
    assert refused.status == 403 and "operator = true" in refused.json()["detail"]
    for body in ({"waiting": "1"}, {"nothing": 1}, {"sessions": {"idle": -1}}, {"running": 100}):
        wrong = ask(server, "PATCH", "/v1/limits", body)
        assert wrong.status == 422, (body, wrong.body)
        assert wrong.json()["detail"]
    assert ask(server, "PATCH", "/v1/limits", b"{}", Content_Type="text/plain").status == 415
    assert ask(server, "GET", "/v1/limits").json() == before


def test_each_sees_its_own_entries_and_an_operator_all(server):
    of_bert = execute(server, "'of bert'")["execution_id"]
    of_anna = execute(server, "'of anna'", ANNA)["execution_id"]
    for execution, caller in ((of_bert, "bert"), (of_anna, "anna")):
        (entry,) = audit_until(server, f"?execution={execution}")
        assert entry["caller"] == caller and entry["execution"]["id"] == execution
    assert {each["caller"] for each in audit(server, token=BERT)["entries"]} == {"bert"}
    assert audit(server, f"?execution={of_anna}", BERT) == {"entries": [], "next": None}
    assert ask(server, "GET", "/v1/audit?caller=anna", token=BERT).status == 403
    # An operator also sees what nobody called for.
    assert audit(server, "?kind=start")["entries"][0]["settings"]
    assert audit(server, "?kind=start", BERT)["entries"] == []


def test_pages_of_the_audit_log(server):
    for number in range(5):
        execute(server, str(number))
    audit_until(server, "?kind=execution&caller=bert", 5)
    everything = [each["seq"] for each in audit(server, "?kind=execution&limit=1000")["entries"]]
    found, before = [], f"&before={everything[0] + 1}"  # others may still be written
    while True:
        page = audit(server, f"?kind=execution&limit=2{before}")
        assert len(page["entries"]) <= 2
        found += [each["seq"] for each in page["entries"]]
        if page["next"] is None:
            break
        before = f"&before={page['next']}"
    assert found == everything == sorted(everything, reverse=True) and len(found) >= 5
    for query in ("limit=0", "limit=1001", "limit=a", "before=0", "kind=x", "since=x", "x=1", "%"):
        wrong = ask(server, "GET", f"/v1/audit?{query}")
        assert wrong.status == 400 and wrong.json()["detail"], query


def test_a_receipt_needs_no_server_to_be_verified(server, folder, tmp_path):
    code = "print('hello')\n6 * 7"
    execution = execute(server, code)["execution_id"]
    answer = receipt(server, execution)
    assert answer.status == 200, answer.body
    file = tmp_path / "receipt.json"
    file.write_bytes(answer.body)
    (tmp_path / "program.py").write_text(code)
    verify = [BELLJAR, "receipt", "verify", file, "--key", folder / "state/audit/key.pub"]
    done = subprocess.run(
        [*verify, "--code", tmp_path / "program.py"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    statement = json.loads(base64.b64decode(answer.json()["payload"]))
    assert statement["predicate"]["execution"]["id"] == execution
    assert statement["predicate"]["caller"] == "bert"
    # One bit, and it is another one.
    file.write_bytes(answer.body.replace(b'"sig":"', b'"sig":"A', 1))
    assert subprocess.run(verify, capture_output=True).returncode != 0
    # For others, operators among them, there is none.
    assert receipt(server, execution, ANNA).status == 404
    assert receipt(server, "0" * 32).status == 404


def test_a_job_has_the_receipt_of_its_execution(server):
    answer = ask(
        server, "POST", "/v1/executions", {"code": "1 + 1"}, token=BERT, Prefer="respond-async"
    )
    assert answer.status == 202
    job = answer.json()["id"]

    def ended():
        found = ask(server, "GET", f"/v1/executions/{job}", token=BERT).json()
        return found if found["state"] == "succeeded" else None

    found = until(ended)
    assert found["execution"]["execution_id"] == job
    assert receipt(server, job).status == 200
    (entry,) = audit_until(server, f"?execution={job}")
    assert entry["caller"] == "bert"
