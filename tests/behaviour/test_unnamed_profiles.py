"""A program for which no profile is named gets the same by every way in: what the operator enabled,
its caller may have, and it may need."""

from __future__ import annotations

import base64
import http.client
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import BELLJAR, HttpServer, environment
from tests.clocks import HANG, until
from tests.data_science.session import Session
from tests.machine import need_layers, need_packages
from tests.server.test_rest import ANNA, BERT, ask, write_config

pytestmark = pytest.mark.timeout(HANG * 4)

ALL = ("filesystem", "network", "full")
ENABLED = {f"SANDBOX_ENABLE_{name.upper()}": "true" for name in ALL}
# Installed packages are enabled for whoever starts Belljar; here they are not.
NOTHING = {"SANDBOX_ENABLE_DATA_SCIENCE": "false"}

CONFIG = """
[execution]
profiles = ["basic", "filesystem", "network", "full"]
[fronts]
sandbox_fusion = "auto"
piston = "auto"
judge0 = "auto"
[jobs]
store = "jobs.db"
[[tokens]]
name = "anna"
file = "anna.token"
[[tokens]]
name = "bert"
file = "bert.token"
profiles = ["basic"]
"""


@dataclass(frozen=True)
class Program:
    code: str
    needs: str = ""  # what it does not run without
    given: bool = False  # a file, besides


# Each prints "had it" if it had what it needs.
PROGRAMS = {
    "plain": Program("print('had', 'it')"),
    "plain with an import": Program("import math\nprint('had', 'it')"),
    "open": Program("open('a', 'w').write('x')\nprint('had', 'it')", "filesystem"),
    "open passed on": Program(
        "f = list(map(lambda f: f('a', 'w'), [open, ]))\nf[0].close()\nprint('had', 'it')",
        "filesystem",
    ),
    "a module": Program(
        "import pathlib\npathlib.Path('a').write_text('x')\nprint('had', 'it')", "filesystem"
    ),
    "a name of a module": Program("import os\nos.listdir('.')\nprint('had', 'it')", "filesystem"),
    "a module by its name": Program(
        "import importlib\nimportlib.import_module('tempfile')\nprint('had', 'it')", "filesystem"
    ),
    "a file that is given": Program("print('had', 'it')", "filesystem", given=True),
    "a network": Program("import urllib.request\nprint('had', 'it')", "network"),
    "no policy": Program("import ctypes\nprint('had', 'it')", "full"),
}
# By no text.
NEVER = ("network", "full")

Way = Callable[[Program], str]  # what came of it


@contextmanager
def package(variables: dict[str, str]) -> Iterator[Any]:
    sys.path.insert(0, str(BELLJAR.parent / "python"))
    before = {name: os.environ.get(name) for name in [*ENABLED, *NOTHING]}
    for name in before:
        os.environ.pop(name, None)
    os.environ.update(variables)
    try:
        from belljar import Sandbox

        with Sandbox(spares=1) as box:
            yield box
    finally:
        sys.path.pop(0)
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _text(result: Any) -> str:
    return f"{result.stdout}{result.error}{result.findings}"


class OnThisMachine:
    """What the command and the package do; their user is the operator."""

    def __init__(self, variables: dict[str, str], box: Any, folder: Path) -> None:
        self.variables = variables
        self.box = box
        self.file = folder / "given"
        self.file.write_text("given")

    def _command(self, *arguments: str, **given: Any) -> str:
        done = subprocess.run(
            [BELLJAR, *arguments],
            **given,
            capture_output=True,
            text=True,
            timeout=HANG,
            env=environment(**self.variables),
        )
        return done.stdout + done.stderr

    def run(self, program: Program) -> str:
        files = ["--file", str(self.file)] if program.given else []
        return self._command("run", *files, "-c", program.code, stdin=subprocess.DEVNULL)

    def repl(self, program: Program) -> str:
        files = ["--file", str(self.file)] if program.given else []
        return self._command("repl", *files, input=f"x = 1\n\n{program.code}\n")

    def repl_of_a_file(self, program: Program) -> str:
        cells = self.file.with_name("cells.py")
        cells.write_text(f"x = 1\n\n{program.code}\n")
        files = ["--file", str(self.file)] if program.given else []
        with cells.open() as standard_input:
            return self._command("repl", *files, stdin=standard_input)

    def sandbox(self, program: Program) -> str:
        files = {"given": "given"} if program.given else {}
        try:
            return _text(self.box.run(program.code, files=files))
        except ValueError as error:
            return str(error)

    def box_session(self, program: Program) -> str:
        with self.box.session() as session:
            assert session.run("x = 1").ok
            try:
                if program.given:
                    session.files.write("given", b"given")
                return _text(session.run(program.code))
            except ValueError as error:
                return str(error)


class ByServer:
    """What clients of a server can send, with a token."""

    def __init__(self, server: HttpServer, token: str) -> None:
        self.server = server
        self.token = token

    def _ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        answer = ask(self.server, method, path, body, token=self.token, **headers)
        return answer.json() if answer.body else None

    def _tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=HANG)
        message = {
            "jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": name, "arguments": arguments},
        }  # fmt: skip
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }
        connection.request("POST", "/mcp", json.dumps(message), headers)
        text = connection.getresponse().read().decode()
        connection.close()
        for line in text.splitlines():
            if line.startswith(("data: {", "{")):
                answer = json.loads(line.removeprefix("data: "))
                if answer.get("id") == 1:
                    return answer["result"]
        raise AssertionError(text)

    @staticmethod
    def _program(program: Program) -> dict[str, Any]:
        files = {"files": [{"path": "given", "text": "given"}]} if program.given else {}
        return {"code": program.code, **files}

    def mcp(self, program: Program) -> str:
        return json.dumps(self._tool("execute_code", **self._program(program)))

    def mcp_session(self, program: Program) -> str:
        first = self._tool("execute_code", code="x = 1", session="new")
        session = first["structuredContent"]["session"]["id"]
        try:
            return json.dumps(self._tool("execute_code", **self._program(program), session=session))
        finally:
            self._tool("close_session", session=session)

    def mcp_open_session(self, program: Program) -> str:
        session = self._tool("open_session")["structuredContent"]["session"]
        try:
            return json.dumps(self._tool("execute_code", **self._program(program), session=session))
        finally:
            self._tool("close_session", session=session)

    def rest(self, program: Program) -> str:
        return json.dumps(self._ask("POST", "/v1/executions", self._program(program)))

    def rest_session(self, program: Program) -> str:
        session = self._ask("POST", "/v1/sessions", {})["session"]
        try:
            cell = self._program(program)
            return json.dumps(self._ask("POST", f"/v1/sessions/{session}/cells", cell))
        finally:
            self._ask("DELETE", f"/v1/sessions/{session}")

    def rest_job(self, program: Program) -> str:
        path = "/v1/executions"
        body = self._program(program)
        answer = ask(self.server, "POST", path, body, token=self.token, Prefer="respond-async")
        if answer.status != 202:
            return answer.body.decode()
        job: dict[str, Any] = {}

        def has_ended() -> bool:
            job.update(self._ask("GET", answer.headers["Location"]))
            return job["state"] not in ("queued", "running")

        until(has_ended, lambda: job)
        return json.dumps(job)

    def rest_batch(self, program: Program) -> str:
        body = {"executions": [self._program(program)]}
        return ask(self.server, "POST", "/v1/batches", body, token=self.token).body.decode()

    def run_code(self, program: Program) -> str:
        files = {"given": base64.b64encode(b"given").decode()} if program.given else {}
        body = {"code": program.code, "language": "python", "files": files}
        return json.dumps(self._ask("POST", "/run_code", body))

    def run_jupyter(self, program: Program) -> str:
        files = {"given": base64.b64encode(b"given").decode()} if program.given else {}
        body = {"cells": ["x = 1", program.code], "files": files}
        return json.dumps(self._ask("POST", "/run_jupyter", body))

    def piston(self, program: Program) -> str:
        files = [{"content": program.code}]
        if program.given:
            files.append({"name": "given", "content": "given"})
        body = {"language": "python", "version": "*", "files": files}
        return json.dumps(self._ask("POST", "/api/v2/execute", body))

    def judge0(self, program: Program) -> str:
        if program.given:
            pytest.skip("its programs are given no files")
        body = {"source_code": program.code, "language_id": 71}
        path = "/submissions?wait=true&fields=*"
        return json.dumps(self._ask("POST", path, body))


LOCAL = ["run", "repl", "repl_of_a_file", "sandbox", "box_session"]
REMOTE = [
    "mcp", "mcp_session", "mcp_open_session", "rest", "rest_session", "rest_job", "rest_batch",
    "run_code", "run_jupyter", "piston", "judge0",
]  # fmt: skip
COMPATIBLE = ("run_code", "run_jupyter", "piston", "judge0")


@pytest.fixture(scope="module", autouse=True)
def machine() -> None:
    need_layers("kernel", "namespaces", "landlock", "seccomp", "strict")


@pytest.fixture(scope="module", params=["enabled", "not had"])
def has_all(request: pytest.FixtureRequest) -> bool:
    """The other is what must not be had: of an operator who enabled nothing, or for a token."""
    return request.param == "enabled"


@pytest.fixture(scope="module")
def local(has_all: bool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnThisMachine]:
    variables = NOTHING | (ENABLED if has_all else {})
    with package(variables) as box:
        yield OnThisMachine(variables, box, tmp_path_factory.mktemp("given"))


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpServer]:
    folder = tmp_path_factory.mktemp("server")
    config = write_config(folder, CONFIG)
    server = HttpServer(folder / "log.txt", arguments=["--config", str(config), "--spares", "1"])
    yield server
    server.stop()


@pytest.fixture
def way(request: pytest.FixtureRequest, has_all: bool) -> Way:
    name = request.param
    if name in LOCAL:
        return getattr(request.getfixturevalue("local"), name)
    return getattr(ByServer(request.getfixturevalue("server"), ANNA if has_all else BERT), name)


@pytest.mark.parametrize("way", LOCAL + REMOTE, indirect=True)
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_way_in_decides_the_same(way: Way, name: str, has_all: bool) -> None:
    program = PROGRAMS[name]
    is_had = not program.needs or (has_all and program.needs not in NEVER)
    came = way(program)
    assert ("had it" in came) == is_had, came


@pytest.mark.parametrize("way", COMPATIBLE, indirect=True)
def test_no_client_is_told_to_send_what_it_cannot(way: Way) -> None:
    for name in ("open", "a module", "a network", "a file that is given"):
        if name == "a file that is given" and "judge0" in str(way):
            continue
        came = way(PROGRAMS[name])
        for field in ('\\"profile\\"', "allowed_imports", "allowed_domains", "get_sandbox_info"):
            assert field not in came, came


def test_a_plain_program_waits_for_no_other_profile(server: HttpServer) -> None:
    """What costs: its calls count for basic alone."""
    by = ByServer(server, ANNA)
    ways = (by.mcp, by.rest, by.run_code, by.piston, by.judge0)
    before = settled_calls(server)
    for way in ways:
        way(PROGRAMS["plain with an import"])
    after = settled_calls(server)
    assert after.pop("basic") == before.pop("basic", 0) + len(ways)
    assert after == before


def settled_calls(server: HttpServer) -> Counter[str]:
    """A call is counted after its answer: those by profile, once none is running."""

    def none_runs() -> bool:
        metrics = ask(server, "GET", "/metrics").body.decode()
        return re.search(r"^belljar_calls_running 0$", metrics, re.MULTILINE) is not None

    until(none_runs)
    return calls_by_profile(server)


def calls_by_profile(server: HttpServer) -> Counter[str]:
    """From the metrics, of execute_code."""
    metrics = ask(server, "GET", "/metrics").body.decode()
    counted: Counter[str] = Counter()
    for labels, number in re.findall(
        r"^belljar_executions_total\{(.*)\} (\S+)$", metrics, re.MULTILINE
    ):
        if 'tool="execute_code"' in labels:
            (profile,) = re.findall(r'profile="([^"]*)"', labels)
            counted[profile] += int(float(number))
    return counted


# --- with packages --------------------------------------------------------------------------------

HEAD = "import numpy as np\nimport pandas as pd\ndf = pd.DataFrame({'a': [1, 2]})\n"
WRITING = {
    "to_csv": HEAD + "df.to_csv('o.csv')\nprint(pd.read_csv('o.csv').shape)",
    "savefig": "import matplotlib.pyplot as plt\n"
    "plt.plot([1])\nplt.savefig('p.png')\nprint('(2, 2)')",
    "to_excel": HEAD + "df.to_excel('o.xlsx')\nprint(pd.read_excel('o.xlsx').shape)",
    "savetxt": HEAD + "np.savetxt('o.txt', np.eye(2))\nprint(np.loadtxt('o.txt').shape)",
    "Image.save": "from PIL import Image\nImage.new('L', (2, 2)).save('i.png')\n"
    "print(Image.open('i.png').size)",
}


@pytest.fixture(scope="module")
def with_packages() -> Iterator[Session]:
    need_packages("data-science")
    variables = {"SANDBOX_ENABLE_FILESYSTEM": "true", "SANDBOX_ENABLE_DATA_SCIENCE": "true"}
    session = Session(BELLJAR, "--config", "/dev/null", environment=environment(**variables))
    yield session
    session.close()


@pytest.mark.parametrize("name", WRITING)
def test_packages_write_files(with_packages: Session, name: str) -> None:
    outcome = with_packages.run(WRITING[name])
    assert (outcome["status"], outcome["stdout"]) == ("ok", "(2, 2)\n"), outcome
    assert [each["origin"] for each in outcome["artifacts"]] == ["file"]


@pytest.mark.parametrize("name", ["to_csv", "savefig"])
def test_packages_write_files_by_the_command(with_packages: Session, name: str) -> None:
    variables = {"SANDBOX_ENABLE_FILESYSTEM": "true"}
    done = subprocess.run(
        [BELLJAR, "run", "-c", WRITING[name]],
        capture_output=True,
        text=True,
        timeout=HANG,
        env=environment(**variables),
    )
    assert (done.returncode, done.stdout) == (0, "(2, 2)\n"), done.stderr


def test_a_session_opened_with_plain_code_has_them_later(with_packages: Session) -> None:
    first = with_packages.run("x = 2", session="new")
    later = with_packages.run(
        "import numpy as np\nnp.savetxt('o.txt', np.eye(x))\nopen('o.txt').read().count('1.0')",
        session=first["session"]["id"],
    )
    assert (later["status"], later["result"]) == ("ok", 2), later


def test_without_files_packages_have_none(with_packages: Session) -> None:
    session = Session(
        BELLJAR,
        "--config",
        "/dev/null",
        environment=environment(SANDBOX_ENABLE_DATA_SCIENCE="true"),
    )
    try:
        outcome = session.run(WRITING["to_csv"])
    finally:
        session.close()
    assert outcome["status"] != "ok"
    assert "combine it with filesystem" in outcome["error"]["message"], outcome
