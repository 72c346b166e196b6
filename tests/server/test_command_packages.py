"""Packages that commands of a server ask for, from an index of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.server import HttpServer
from tests.container.served_index import Index, served_index
from tests.languages.conftest import need_language
from tests.server.test_rest import BERT, TOKENS, ask, serving

GUESTS = ["python3", "-c", "import guests; print(guests.LIST)"]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    need_language("shell")
    with served_index(tmp_path_factory.mktemp("index") / "asked") as index:
        yield index


def config(index: Index, folder: Any, packages: str) -> str:
    return f"""
[execution]
languages = ["shell"]
[audit]
enabled = true
folder = "audit"
[packages]
enabled = true
index = "{index.address}"
allow_private = ["127.0.0.1"]
allowed = {packages}
folder = "{folder}"
{TOKENS}
"""


@pytest.fixture(scope="module")
def server(index: Index, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    allowed = '["host-of-guests", "scripted", "no-such-thing", "greeting"]'
    folder = tmp_path_factory.mktemp("cache") / "packages"
    yield from serving(tmp_path_factory.mktemp("server"), config(index, folder, allowed))


@pytest.fixture
def session(server: HttpServer) -> Iterator[str]:
    answer = ask(server, "POST", "/v1/sessions", {"language": "shell"})
    path = answer.headers["Location"]
    yield path
    ask(server, "DELETE", path)


def run(server: HttpServer, session: str, command: object, **more: object) -> dict[str, Any]:
    answer = ask(server, "POST", f"{session}/commands", {"command": command} | more)
    assert answer.status == 200, answer.body
    found: dict[str, Any] = answer.json()
    return found


def test_they_are_installed_first_and_stay(server: HttpServer, session: str) -> None:
    assert not run(server, session, GUESTS)["success"]
    done = run(server, session, GUESTS, packages=["host-of-guests"])
    assert (done["stdout"], done["packages"]) == (
        "['good day, you']\n",
        ["greeting==1.0", "host-of-guests==1.0"],
    )
    again = run(server, session, GUESTS)
    assert again["success"] and "packages" not in again
    more = run(server, session, ["scripted"], packages=["scripted"], background=True)
    assert more["packages"] == ["greeting==1.0", "host-of-guests==1.0", "scripted==1.0"]


def test_branches_have_them(server: HttpServer, session: str) -> None:
    run(server, session, "true", packages=["greeting==1.0"])
    answer = ask(server, "POST", f"{session}/branches", {"count": 1})
    assert answer.status == 201, answer.body
    (branch,) = answer.json()["branches"]
    path = f"/v1/sessions/{branch}"
    assert run(server, path, ["python3", "-c", "import greeting"])["success"]
    done = run(server, path, "true", packages=["scripted"])
    assert done["packages"] == ["greeting==1.0", "scripted==1.0"]


def test_what_is_refused(server: HttpServer, session: str) -> None:
    def refused(*packages: str) -> str:
        body = {"command": "true", "packages": packages}
        answer = ask(server, "POST", f"{session}/commands", body)
        assert answer.status == 422, answer.body
        return str(answer.json())

    assert "is not allowed" in refused("six")
    assert "a package is a name" in refused("./here")
    assert "a package is a name" in refused("host-of-guests --index-url=http://127.0.0.1")
    assert "named twice" in refused("greeting", "Greeting")


def test_one_that_cannot_be_had(server: HttpServer, session: str) -> None:
    body = {"command": "true", "packages": ["no-such-thing"]}
    answer = ask(server, "POST", f"{session}/commands", body)
    assert answer.status >= 400
    assert "could not be installed, and nothing was run" in answer.body.decode()
    assert "has no package" in answer.body.decode()
    assert run(server, session, "ls -A /packages/python")["stdout"] == ""


def test_another_tokens_session(server: HttpServer, session: str) -> None:
    body = {"command": "true", "packages": ["greeting"]}
    assert ask(server, "POST", f"{session}/commands", body, token=BERT).status == 404


def test_without_packages(tmp_path_factory: pytest.TempPathFactory) -> None:
    need_language("shell")
    text = f'[execution]\nlanguages = ["shell"]\n{TOKENS}'
    for server in serving(tmp_path_factory.mktemp("without"), text):
        path = ask(server, "POST", "/v1/sessions", {"language": "shell"}).headers["Location"]
        answer = ask(server, "POST", f"{path}/commands", {"command": "true", "packages": ["six"]})
        assert answer.status == 422
        assert "unknown member" in answer.body.decode()
