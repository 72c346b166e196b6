"""belljar.adapters.codex: it answers as Codex's own exec-server does, and Codex works with it."""

import base64
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.clients.conftest import BUILD
from tests.languages.conftest import need_language
from tests.machine import ROOT, need_files

PACKAGE = BUILD / "release/python"
OURS = [sys.executable, "-m", "belljar.adapters.codex"]


@pytest.fixture(scope="module")
def codex() -> Path:
    """The program of the npm package, without the script that starts it."""
    packages = BUILD / "clients/node_modules/@openai"
    need_files(packages, PACKAGE / "belljar")
    need_language("shell")
    (program,) = packages.glob("codex-linux-*/vendor/*/bin/codex")
    return program


class ExecServer:
    """A server that is talked to."""

    def __init__(self, words: list, home: Path) -> None:
        self._process = subprocess.Popen(
            words,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"PYTHONPATH": str(PACKAGE), "CODEX_HOME": str(home)},
        )
        self._last = 0
        self.said: list[dict] = []
        self.info = self.ask("initialize", clientName="test")["result"]["environmentInfo"]
        self._send({"method": "initialized", "params": {}})

    def _send(self, message: dict) -> None:
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def _receive(self) -> dict:
        line = self._process.stdout.readline()
        assert line, "it has ended"
        return json.loads(line)

    def ask(self, method: str, **params: object) -> dict:
        self._last += 1
        self._send({"id": self._last, "method": method, "params": params})
        while "id" not in (message := self._receive()):
            self.said.append(message)
        assert message.pop("id") == self._last
        return message

    def until(self, method: str) -> dict:
        """The next notification of this kind."""
        while True:
            for index, message in enumerate(self.said):
                if message["method"] == method:
                    return self.said.pop(index)["params"]
            self.said.append(self._receive())

    def run(self, name: str, script: str, **options: object) -> tuple[str, str, int]:
        """Output and exit code of a line, from the notifications."""
        start = {
            "processId": name,
            "argv": ["/bin/bash", "-c", script],
            "cwd": "file:///tmp",
            "env": {"PATH": "/usr/bin:/bin", "GIVEN": "x"},
            "tty": False,
            "pipeStdin": False,
            "arg0": None,
        }
        assert self.ask("process/start", **start | options)["result"]["processId"] == name
        code = self.until("process/exited")["exitCode"]
        self.until("process/closed")
        text = {"stdout": "", "stderr": "", "pty": ""}
        for message in self.said:
            params = message["params"]
            assert (message["method"], params["processId"]) == ("process/output", name)
            text[params["stream"]] += base64.b64decode(params["chunk"]).decode()
        self.said.clear()
        return text["stdout"] + text["pty"], text["stderr"], code

    def end(self) -> None:
        self._process.stdin.close()
        self._process.wait(60)
        self._process.stdout.close()


@pytest.fixture(params=["codex", "belljar"])
def server(request, codex, tmp_path):
    words = OURS if request.param == "belljar" else [codex, "exec-server", "--listen", "stdio"]
    home = tmp_path / "home"
    home.mkdir()
    server = ExecServer(words, home)
    yield server
    server.end()


def uri(path: object) -> str:
    return f"file://{path}"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def test_processes(server):
    assert server.run("p1", "echo out $GIVEN; pwd; echo err >&2; exit 3") == (
        "out x\n/tmp\n",
        "err\n",
        3,
    )
    read = server.ask("process/read", processId="p1", afterSeq=None, maxBytes=65536, waitMs=100)
    found = read["result"]
    assert (found["exited"], found["exitCode"], found["closed"]) == (True, 3, True)
    assert {each["stream"] for each in found["chunks"]} == {"stdout", "stderr"}
    # Codex's own numbers the end, too, which may come before the output.
    numbers = [each["seq"] for each in found["chunks"]]
    assert numbers == sorted(set(numbers)) and 0 < numbers[0] and numbers[-1] < found["nextSeq"]
    start = {"argv": ["true"], "cwd": "file:///tmp", "env": {}, "tty": False, "arg0": None}
    assert server.ask("process/start", processId="p1", **start)["error"]["code"] == -32600
    assert server.ask("process/terminate", processId="nothing")["result"] == {"running": False}
    assert "error" in server.ask("process/read", processId="nothing", afterSeq=None)


def test_input_terminals_and_ends(server):
    start = {
        "argv": ["/bin/bash", "-c", "while read -r line; do echo got $line; done"],
        "cwd": "file:///tmp",
        "env": {"PATH": "/usr/bin:/bin"},
        "arg0": None,
    }
    for name, options in (("pipe", {"tty": False, "pipeStdin": True}), ("tty", {"tty": True})):
        server.ask("process/start", processId=name, **start, **options)
        chunk = {"processId": name, "chunk": encoded("line\n"), "writeId": "w1"}
        assert server.ask("process/write", **chunk)["result"] == {"status": "accepted"}
        text = ""
        while "got line" not in text:
            said = server.until("process/output")
            assert said["stream"] == ("pty" if name == "tty" else "stdout")
            text += base64.b64decode(said["chunk"]).decode()
        assert server.ask("process/terminate", processId=name)["result"] == {"running": True}
        assert server.until("process/exited")["exitCode"] != 0
        server.until("process/closed")
        server.said.clear()
    unknown = server.ask("process/write", processId="no", chunk="", writeId="w2")
    assert unknown["result"] == {"status": "unknownProcess"}


def test_files(server, tmp_path):
    folder = f"/tmp/{tmp_path.name}-files"  # there in both
    try:
        assert server.ask("fs/createDirectory", path=uri(f"{folder}/a"), recursive=True) == {
            "result": {}
        }
        file = uri(f"{folder}/a/one%20%C3%A9.txt")
        assert server.ask("fs/writeFile", path=file, dataBase64=encoded("text"))["result"] == {}
        assert server.ask("fs/readFile", path=file)["result"]["dataBase64"] == encoded("text")
        found = server.ask("fs/getMetadata", path=file)["result"]
        assert (found["isFile"], found["isDirectory"], found["isSymlink"]) == (True, False, False)
        assert found["size"] == 4 and found["modifiedAtMs"] > 1_600_000_000_000
        assert server.ask("fs/getMetadata", path=uri(folder))["result"]["isDirectory"]
        copy = uri(f"{folder}/copy")
        copied = server.ask(
            "fs/copy", sourcePath=uri(f"{folder}/a"), destinationPath=copy, recursive=True
        )
        assert copied["result"] == {}
        (entry,) = server.ask("fs/readDirectory", path=copy)["result"]["entries"]
        assert entry == {"fileName": "one é.txt", "isDirectory": False, "isFile": True}
        server.run("link", f"ln -s a {folder}/link")
        assert server.ask("fs/getMetadata", path=uri(f"{folder}/link"))["result"]["isSymlink"]
        real = server.ask("fs/canonicalize", path=uri(f"{folder}/link"))["result"]["path"]
        assert real == uri(f"{folder}/a")
        server.ask("fs/open", handleId="h", path=file)
        block = server.ask("fs/readBlock", handleId="h", offset=1, len=100)["result"]
        assert (base64.b64decode(block["chunk"]), block["eof"]) == (b"ext", True)
        assert server.ask("fs/close", handleId="h")["result"] == {}
        removed = {"recursive": True, "force": False}
        assert server.ask("fs/remove", path=copy, **removed)["result"] == {}
        for method in ("fs/remove", "fs/getMetadata", "fs/readFile", "fs/readDirectory"):
            options = removed if method == "fs/remove" else {}
            assert server.ask(method, path=copy, **options)["error"]["code"] == -32004, method
        assert server.ask("fs/readFile", path="http://x/y")["error"]["code"] == -32602
    finally:
        server.run("clean", f"rm -rf {folder}")


def test_what_is_refused(server):
    assert server.ask("no/such")["error"]["code"] == -32601
    assert "error" in server.ask("process/start", processId="x")


def test_a_sandbox_in_the_sandbox_is_refused(codex, tmp_path):
    server = ExecServer(OURS, tmp_path)
    answer = server.ask("fs/readFile", path=uri("/tmp/x"), sandbox={"any": "policy"})
    assert "--sandbox danger-full-access" in answer["error"]["message"]
    assert server.run("p", "cat /etc/hostname; id -u")[:1] == ("65534\n",)
    server.end()


def test_a_folder_has_the_path_that_it_has_outside(codex, tmp_path):
    folder = ROOT / "docs"
    server = ExecServer([*OURS, folder], tmp_path)
    assert server.info["cwd"] == uri(folder)
    first = (folder / "index.md").read_text().partition("\n")[0]
    script = "head -n 1 index.md; echo changed > index.md"
    assert server.run("p", script, cwd=uri(folder)) == (f"{first}\n", "", 0)
    server.end()
    assert (folder / "index.md").read_text().startswith(first)


# --- Codex itself ---------------------------------------------------------------------------------


class Model(ThreadingHTTPServer):
    """Calls a tool, and ends when it has its answer."""

    def __init__(self, *commands: str) -> None:
        super().__init__(("127.0.0.1", 0), Answer)
        self.commands = list(commands)
        self.seen: list[dict] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Answer(BaseHTTPRequestHandler):
    server: Model

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._say("application/json", json.dumps({"data": [], "models": []}))

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.server.seen.append(json.loads(self.rfile.read(size)))
        number = len(self.server.seen)
        if self.server.commands:
            arguments = json.dumps({"cmd": self.server.commands.pop(0)})
            item = {"type": "function_call", "call_id": f"c{number}", "name": "exec_command"}
            item["arguments"] = arguments
        else:
            content = [{"type": "output_text", "text": "done"}]
            item = {"type": "message", "role": "assistant", "content": content}
        usage = {"input_tokens": 1, "output_tokens": 1, "total_tokens": 2}
        events = [
            {"type": "response.created", "response": {"id": f"r{number}"}},
            {"type": "response.output_item.done", "output_index": 0, "item": {"id": "i", **item}},
            {"type": "response.completed", "response": {"id": f"r{number}", "usage": usage}},
        ]
        text = "".join(f"event: {each['type']}\ndata: {json.dumps(each)}\n\n" for each in events)
        self._say("text/event-stream", text)

    def _say(self, kind: str, text: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(text.encode())


CONFIG = """
model = "test"
model_provider = "test"
[model_providers.test]
name = "test"
base_url = "http://127.0.0.1:{port}/v1"
wire_api = "responses"
"""


def test_codex_works_in_a_session(codex, tmp_path):
    """As the page says. Its commands run in the session, over a copy of the project."""
    home, project = tmp_path / "home", tmp_path / "project"
    home.mkdir()
    project.mkdir()
    (project / "names.txt").write_text("Bob\nAda\n")
    (tmp_path / "secret.txt").write_text("the host's own")
    page = (ROOT / "docs/adapters.md").read_text()
    (toml,) = re.findall(r"^```toml\n(.*?)^```$", page.split("\n## Codex\n")[1], re.M | re.S)
    toml = toml.replace('"python3"', json.dumps(sys.executable))
    toml = toml.replace("/home/me/project", str(project))
    (home / "environments.toml").write_text(toml + f'env = {{ PYTHONPATH = "{PACKAGE}" }}\n')
    model = Model("sort names.txt | tee sorted.txt; id -u; cat ../secret.txt; pwd")
    (home / "config.toml").write_text(CONFIG.format(port=model.server_port))
    options = ["--sandbox", "danger-full-access", "--skip-git-repo-check", "-C", project]
    done = subprocess.run(
        [codex, "exec", *options, "Sort the names."],
        env=os.environ | {"CODEX_HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=100,
    )
    model.shutdown()
    assert done.returncode == 0, done.stderr
    (output,) = (
        item["output"] for item in model.seen[-1]["input"] if item["type"] == "function_call_output"
    )
    for line in ("Ada", "Bob", "65534", str(project)):  # errors may come between
        assert line in output.splitlines(), output
    assert "the host's own" not in output and "No such file or directory" in output
    assert (project / "sorted.txt").read_text() == "Ada\nBob\n"
