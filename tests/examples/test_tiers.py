"""examples/tiers: programs with files and with a network, run as their own texts say."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples/tiers"
BELLJAR = Path(os.environ.get("BELLJAR_BUILD", "build/release")).resolve() / "belljar"

PEOPLE = """\
name,age,city
  ada   lovelace ,36,LON
Ada Lovelace,36,LON
,12,Berlin
grace hopper,85, bln
Zoë,six,Muc
kurt gödel,71,München
"""
ORDERS = {
    "/orders?page=1": {"orders": [{"cents": 1250}, {"cents": 99}], "next": "/orders?page=2"},
    "/orders?page=2": {"orders": [{"cents": 651}], "next": None},
}


def run(name: str, *arguments: str) -> dict:
    done = subprocess.run(
        [BELLJAR, "run", "--json", *arguments, EXAMPLES / name],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def test_the_table_is_cleaned(tmp_path):
    source = tmp_path / "people.csv"
    source.write_text(PEOPLE, encoding="utf-8")
    outcome = run("clean_csv.py", "--profile", "filesystem", "--file", str(source))
    assert outcome["success"], outcome["error"]
    assert outcome["stdout"] == "6 rows in, 3 out\n"
    files = {each["name"]: each for each in outcome["artifacts"]}
    assert set(files) == {"clean/people.csv", "clean/report.txt"}, "the input is not among them"
    table = files["clean/people.csv"]["content"]
    assert table == (
        "name,age,city\nAda Lovelace,36,LON\nGrace Hopper,85,Berlin\nKurt Gödel,71,Munich\n"
    )
    assert files["clean/people.csv"]["sha256"] == hashlib.sha256(table.encode()).hexdigest()
    assert files["clean/report.txt"]["content"] == (
        "1 x age is no number\n1 x doubled\n1 x no name\n"
    )
    assert source.read_text(encoding="utf-8") == PEOPLE, "nothing of the host's is changed"


class Api(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = json.dumps(ORDERS[self.path]).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def api() -> Iterator[int]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def test_the_api_is_asked_and_nobody_else(api, tmp_path):
    address = tmp_path / "address.txt"
    address.write_text(f"http://api.example.com:{api}\n")
    outcome = run(
        "ask_an_api.py",
        *("--profile", "network", "--allow-domain", f"api.example.com:{api}"),
        *("--resolve", "api.example.com=127.0.0.1", "--allow-private", "127.0.0.1"),
        *("--stdin", str(address)),
    )
    assert outcome["success"], outcome["error"]
    assert outcome["result"] == {"cents": 2000, "refused": True}
    allowed = {event["host"]: event["allowed"] for event in outcome["network"]}
    assert allowed == {"api.example.com": True, "elsewhere.example.com": False}


def test_every_example_says_how_it_is_run():
    examples = sorted(EXAMPLES.glob("*.py"))
    assert len(examples) >= 2
    for example in examples:
        text = example.read_text(encoding="utf-8")
        assert re.search(r"belljar run\s+--profile [a-z-]+", text), example
        assert f"examples/tiers/{example.name}`" in text
        assert example.name in Path(__file__).read_text(encoding="utf-8")
