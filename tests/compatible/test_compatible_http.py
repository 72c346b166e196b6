"""What no well-meaning client sends to the APIs of other services."""

import base64
import http.client
import json
from typing import Any

import pytest

from tests.clocks import until
from tests.compatible.conftest import BASIC_TOKEN, OTHER_TOKEN, TOKEN

PROGRAM = {"source_code": "print('mine')", "language_id": 71}
POSTS = ["/run_code", "/run_jupyter", "/api/v2/execute", "/submissions", "/submissions/batch"]
HOSTILE = [
    b"",
    b"{",
    b"[]",
    b"null",
    b"\xff\xfe",
    b'{"code":"\xff","language":"python"}',
    b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}",
    b'{"a":' + b'{"a":' * 50_000,
    b'{"a":[' + b"0," * 300_000 + b"0]}",
    b'{"a":1,"a":2}',
    b'{"a":1e999}',
    b'{"code":"1"}\x00',
    b"{}",
    b'{"code":[],"language":{},"cells":{},"files":5,"source_code":7,"language_id":[],'
    b'"submissions":{},"version":[]}',
]


def ask(
    server: Any,
    method: str,
    path: str,
    body: Any = None,
    token: str | None = TOKEN,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    all_headers = {"Content-Type": "application/json"} | (headers or {})
    if token and "Authorization" not in all_headers:
        all_headers["Authorization"] = f"Bearer {token}"
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
    connection.request(method, path, body, all_headers)
    response = connection.getresponse()
    text = response.read()
    connection.close()
    told = {name.lower(): value for name, value in response.getheaders()}
    return response.status, json.loads(text) if text else None, told


@pytest.mark.parametrize("path", POSTS)
@pytest.mark.parametrize("body", HOSTILE, ids=range(len(HOSTILE)))
def test_hostile_bodies_are_the_clients_mistake(server, path, body):
    status, answer, _ = ask(server, "POST", path, body)
    assert status in (400, 422), answer
    assert isinstance(answer, dict | list)


@pytest.mark.parametrize("path", POSTS)
def test_a_body_is_json_and_bounded(server, path):
    assert ask(server, "POST", path, b"code=1", headers={"Content-Type": "text/plain"})[0] == 415
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    connection.putrequest("POST", path)
    connection.putheader("Authorization", f"Bearer {TOKEN}")
    connection.putheader("Content-Type", "application/json")
    connection.putheader("Content-Length", str(1 << 40))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize(
    ("method", "path"),
    [
        *(("POST", path) for path in POSTS),
        ("GET", "/submissions/batch?tokens=a"),
        ("GET", "/submissions/a"),
        ("DELETE", "/submissions/a"),
        ("GET", "/languages"),
        ("GET", "/api/v2/runtimes"),
    ],
)
def test_every_route_asks_for_a_token(server, method, path):
    wrong = base64.b64encode(f"any:{TOKEN}x".encode()).decode()
    for headers in ({}, {"Authorization": f"Bearer {TOKEN}x"}, {"Authorization": f"Basic {wrong}"}):
        status, answer, told = ask(server, method, path, {}, token=None, headers=headers)
        assert status == 401, answer
        assert told["www-authenticate"].startswith("Bearer")


def test_a_token_may_be_a_password(server):
    basic = base64.b64encode(f"any:{TOKEN}".encode()).decode()
    assert ask(server, "GET", "/about", headers={"Authorization": f"Basic {basic}"})[0] == 200


def test_judge0_takes_its_own_header_too(server):
    def about(*names: tuple[str, str], path: str = "/about") -> int:
        return ask(server, "GET", path, token=None, headers=dict(names))[0]

    mine, other = ("X-Auth-Token", TOKEN), ("Authorization", f"Bearer {OTHER_TOKEN}")
    assert about(mine) == 200
    assert about(mine, ("Authorization", f"Bearer {TOKEN}")) == 200
    assert about(("X-Auth-Token", TOKEN + "x")) == about(mine, other) == 401
    assert about(mine, path="/api/v2/runtimes") == about(mine, path="/v1/limits") == 401
    status, answer, _ = ask(
        server, "POST", "/submissions", PROGRAM, token=None, headers=dict([mine])
    )
    assert status == 201
    # One caller, whichever header names it.
    assert ask(server, "GET", f"/submissions/{answer['token']}")[0] == 200


def judged(server, source: str, **more: Any) -> dict:
    body = PROGRAM | {"source_code": source} | more
    status, answer, _ = ask(server, "POST", "/submissions?wait=true&fields=*", body)
    assert status == 201, answer
    return answer


def test_judge0s_cpu_limit_is_that_of_the_processor(server):
    limits = {"cpu_time_limit": 2, "cpu_extra_time": 0, "wall_time_limit": 60}
    stopped = judged(server, "while True: pass", **limits)
    assert stopped["status"]["id"] == 5
    assert 2 <= float(stopped["time"]) <= 2.2
    # The control: this one uses more of it, and what it waits for costs nothing.
    code = (
        "import time\nwhile time.process_time() < 2.3: pass\ntime.sleep(0.1)"  # sleeps: so it does
    )
    assert judged(server, code, **(limits | {"cpu_time_limit": 4}))["status"]["id"] == 3
    late = judged(server, code, **(limits | {"cpu_extra_time": 3}))
    assert late["status"]["id"] == 5 and float(late["time"]) >= 2.3


def test_hints_name_what_an_operator_sets(server):
    program = "import tempfile\nimport numpy"
    hints = [judged(server, program)["stderr"]]
    piston = {"language": "python", "version": "3", "files": [{"content": program}]}
    hints.append(ask(server, "POST", "/api/v2/execute", piston)[1]["run"]["stderr"])
    for hint, setting in zip(hints, ("fronts.judge0", "fronts.piston"), strict=True):
        assert f'An operator allows it with {setting} = "filesystem".' in hint
        assert "an operator enables it with" in hint  # data-science
        assert "Send" not in hint and '"profile"' not in hint
    # The control: who can name a profile is told to.
    answer = ask(server, "POST", "/v1/executions", {"code": program, "profile": "basic"})[1]
    assert 'Send "profile": "filesystem".' in answer["error"]["hint"], answer


def test_pages_of_other_origins_cannot_run_code(server):
    for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}):
        assert ask(server, "POST", "/run_code", {}, headers=headers)[0] == 403


def test_another_tokens_submission_is_as_if_not_there(server):
    status, answer, _ = ask(server, "POST", "/submissions", PROGRAM)
    assert status == 201
    token = answer["token"]
    nobody = ask(server, "GET", "/submissions/00000000-0000-4000-8000-000000000000")
    for method in ("GET", "DELETE"):
        theirs = ask(server, method, f"/submissions/{token}", token=OTHER_TOKEN)
        assert theirs[:2] == nobody[:2]
        assert theirs[0] == 404
    status, answer, _ = ask(server, "GET", f"/submissions/batch?tokens={token}", token=OTHER_TOKEN)
    assert answer == {"submissions": [None]}

    def ended() -> dict | None:
        found = ask(server, "GET", f"/submissions/{token}")[1]
        return found if found["status"]["id"] >= 3 else None

    mine = until(ended)
    assert mine["stdout"] == "mine\n"
    assert ask(server, "DELETE", f"/submissions/{token}")[0] == 200
    assert ask(server, "GET", f"/submissions/{token}")[0] == 404


def test_a_token_uses_the_profiles_that_it_may(server):
    request = {"code": "print(1)", "language": "python"}
    status, answer, _ = ask(server, "POST", "/run_code", request, token=BASIC_TOKEN)
    assert status == 422, answer
    assert ask(server, "POST", "/submissions?wait=true", PROGRAM, token=BASIC_TOKEN)[0] == 201


def test_callbacks_are_refused(server):
    status, answer, _ = ask(
        server, "POST", "/submissions?wait=true", PROGRAM | {"callback_url": "http://127.0.0.1:9/"}
    )
    assert (status, list(answer)) == (422, ["callback_url"])


@pytest.mark.parametrize("path", ["../escape", "/etc/passwd", "a\x00b", "", "a" * 5000, "."])
def test_hostile_paths_of_files_are_refused(server, path):
    request = {"code": "print(1)", "language": "python", "files": {path: "YQ=="}}
    status, answer, _ = ask(server, "POST", "/run_code", request)
    assert status == 422, answer


def test_files_that_are_not_base64_are_refused(server):
    request = {"code": "print(1)", "language": "python", "files": {"a": "no!"}}
    assert ask(server, "POST", "/run_code", request)[0] == 422


def test_what_a_program_prints_is_utf_8_in_the_answer(server):
    code = "import sys\nsys.stdout.buffer.write(b'\\xff\\x00\\x1b[31m')"
    for path, request, at in (
        ("/run_code", {"code": code, "language": "python"}, ("run_result", "stdout")),
        (
            "/api/v2/execute",
            {"language": "python", "version": "*", "files": [{"content": code}]},
            ("run", "stdout"),
        ),
    ):
        status, answer, _ = ask(server, "POST", path, request)
        assert status == 200
        text = answer[at[0]][at[1]]
        assert text in ("\ufffd\x00\x1b[31m", ""), (text, answer)


def test_bytes_that_are_no_text_survive_where_an_answer_has_a_place_for_them(server):
    code = "import sys\nsys.stdout.buffer.write(b'\\xe9\\n')\nsys.stderr.buffer.write(b'\\xff')"
    request = {
        "source_code": base64.b64encode(code.encode()).decode(),
        "language_id": 71,
        "expected_output": base64.b64encode(b"\xe9\n").decode(),
    }
    path = "/submissions?wait=true&base64_encoded=true&fields=stdout,stderr,status"
    answer = ask(server, "POST", path, request)[1]
    assert base64.b64decode(answer["stdout"]) == b"\xe9\n"
    assert base64.b64decode(answer["stderr"]) == b"\xff"
    assert answer["status"]["description"] == "Accepted"
    wrong = request | {"expected_output": base64.b64encode(b"\xe8\n").decode()}
    assert ask(server, "POST", path, wrong)[1]["status"]["description"] == "Wrong Answer"


def test_paths_that_end_with_a_slash(server):
    request = {"language": "py", "version": "3", "files": [{"content": "print(1)"}]}
    assert ask(server, "POST", "/api/v2/execute/", request)[1]["run"]["stdout"] == "1\n"
    assert ask(server, "GET", "/api/v2/runtimes/")[0] == 200
    assert ask(server, "POST", "/submissions/?wait=true", PROGRAM)[1]["stdout"] == "mine\n"


def test_methods_and_paths_that_are_not_there(server):
    assert ask(server, "GET", "/run_code")[0] == 405
    assert ask(server, "PUT", "/submissions/a")[0] == 405
    for path in ("/run_code/", "/submissions/a/b", "/api/v3/execute", "/languages/all/x"):
        assert ask(server, "POST", path, {})[0] == 404
