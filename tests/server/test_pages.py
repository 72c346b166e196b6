"""What a person sees who opens a server in a browser."""

import base64
import urllib.request
from html.parser import HTMLParser

import pytest

from tests.clients.server import TOKEN, HttpServer
from tests.server.test_rest import ask, serving

CONFIG = """
[execution]
profiles = ["basic"]
[jobs]
store = "state/jobs.db"
[audit]
enabled = true
folder = "state/audit"
[fronts]
judge0 = "basic"
"""
VOID = {"meta"}


class Page(HTMLParser):
    def __init__(self, text: str):
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.loads: list[str] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert not self.open, "elements that are not closed"

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if tag == "a" else []
        self.loads += [name for name in given if name in ("src", "srcset", "style", "action")]
        self.loads += [tag] if tag in ("script", "link", "iframe", "object", "img", "form") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    yield from serving(tmp_path_factory.mktemp("pages"), CONFIG)


def page(server, path: str) -> Page:
    answer = ask(server, "GET", path, token=None)
    assert answer.status == 200, answer.body
    assert answer.headers["Content-Type"] == "text/html; charset=utf-8"
    assert answer.headers["Content-Security-Policy"].startswith(
        "default-src 'none'; style-src 'sha"
    )
    found = Page(answer.body.decode())
    assert not found.loads
    return found


def test_the_front_page_leads_to_what_is_here(server):
    found = page(server, "/")
    assert {"/mcp", "/docs", "/openapi.json", "/metrics", "/v1/events"} <= set(found.links)
    assert "/submissions" in found.texts and "/run_code" not in found.texts
    for link in set(found.links) - {"/mcp", "/v1/events"}:  # for POST, and endless
        assert ask(server, "GET", link, token=None).status == 200, link


def test_the_reference_has_every_operation_and_each_of_its_links_leads_somewhere(server):
    api = ask(server, "GET", "/openapi.json", token=None).json()
    found = page(server, "/docs")
    operations = [each for methods in api["paths"].values() for each in methods.values()]
    assert {each["operationId"] for each in operations} <= set(found.ids)
    assert len(found.ids) == len(set(found.ids))
    text = "".join(found.texts)
    for each in operations:
        described = each["description"].replace("`", "")  # it is an element there
        assert each["summary"] in text and described in text
        for parameter in each.get("parameters", ()):
            assert parameter["name"] in text
    for link in found.links:
        assert (
            link.removeprefix("#") in found.ids
            if link.startswith("#")
            else link in ("/", "/openapi.json")
        )


def test_the_document_describes_itself(server):
    api = ask(server, "GET", "/openapi.json", token=None).json()
    assert api["info"]["description"]
    tags = {tag["name"]: tag["description"] for tag in api["tags"]}
    assert all(tags.values())
    for methods in api["paths"].values():
        for operation in methods.values():
            assert operation["description"].endswith(".")
            assert set(operation["tags"]) <= tags.keys()


def test_a_token_is_the_password_of_the_browser(tmp_path):
    server = HttpServer(tmp_path / "log.txt", token=TOKEN)
    try:
        url = server.url.removesuffix("/mcp")
        for path in ("/", "/docs"):
            refused = ask(server, "GET", path, token=None)
            assert refused.status == 401
            assert refused.headers["WWW-Authenticate"].startswith("Basic ")
            basic = base64.b64encode(f"any:{TOKEN}".encode()).decode()
            request = urllib.request.Request(
                url + path, headers={"Authorization": f"Basic {basic}"}
            )
            with urllib.request.urlopen(request, timeout=60) as answer:
                assert b"Belljar" in answer.read()
    finally:
        server.stop()
