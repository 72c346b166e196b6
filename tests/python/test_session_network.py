"""The network of sessions in other languages: that of single runs, with a proxy for each cell."""

import contextlib
import http.server
import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import belljar
import pytest

from tests.clocks import HANG
from tests.languages.conftest import need_language
from tests.machine import BELLJAR

OTHERS = ("bash", "javascript", "r")


@dataclass
class Web:
    """A server of this machine, and whom it has answered."""

    port: int
    asked: list[str] = field(default_factory=list)

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"


@pytest.fixture
def web() -> Iterator[Web]:
    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            web.asked.append(self.path)
            self.send_response(200)
            self.send_header("Content-Length", "7")
            self.end_headers()
            self.wfile.write(b"ANSWER\n")

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        web = Web(server.server_port)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield web
        server.shutdown()


# Each asks 127.0.0.1:<port> for http://<url>/ and prints what it gets, or "held".
ASKS = {
    "bash": """
      ask() {
        { exec 3<> /dev/tcp/127.0.0.1/$1; } 2> /dev/null || { echo held; return; }
        printf 'GET http://%s/ HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' $2 $2 >&3
        cat <&3; exec 3>&-
      }
      ask <port> <url>
    """,
    "javascript": """
      await new Promise((done) => {
        const socket = require('net').connect(<port>, '127.0.0.1', () =>
          socket.write('GET http://<url>/ HTTP/1.1\\r\\n' +
            'Host: <url>\\r\\nConnection: close\\r\\n\\r\\n'));
        socket.on('data', (data) => process.stdout.write(data));
        socket.on('error', () => console.log('held')).on('close', done);
      });
    """,
    "r": """
      tryCatch(suppressWarnings({
        socket <- socketConnection("127.0.0.1", <port>, open = "r+b", blocking = TRUE, timeout = 20)
        writeBin(charToRaw("GET http://<url>/ HTTP/1.1\\r\\nHost: <url>\\r\\nConnection: close\\r\\n\\r\\n"), socket)
        while (length(got <- readBin(socket, "raw", 1000)) > 0) cat(rawToChar(got))
        close(socket)
      }), error = function(e) cat("held\\n"))
    """,  # noqa: E501
    "python": """
      import urllib.request
      def ask(url):
          try:
              print(urllib.request.urlopen("http://<url>/", timeout=20).read().decode())
          except OSError as failure:
              print("not an allowed host" if "allowed" in str(failure) else failure)
      ask("<url>")
    """,
}
PROXY = 1080
NARROWED = "is not among the allowed domains of this call"


def asking(language: str, url: str, port: int = PROXY) -> str:
    text = ASKS[language].replace("<url>", url).replace("<port>", str(port))
    lines = text.strip("\n").split("\n")
    return "\n".join(line.removeprefix("      ") for line in lines)


def outside(language: str, source: str, tmp_path: Any) -> str:
    """The same cell, in a process that nothing holds."""
    if language == "javascript":
        source = f"(async () => {{ {source} }})()"
    file = tmp_path / "cell"
    file.write_text(source)
    program = {"bash": "bash", "javascript": "node", "r": "Rscript"}[language]
    done = subprocess.run(
        [f"/usr/bin/{program}", file], capture_output=True, text=True, check=False, timeout=HANG
    )
    return done.stdout


@pytest.fixture
def open_box(web: Web) -> Iterator[Callable[..., belljar.Sandbox]]:
    boxes: list[belljar.Sandbox] = []

    def open_one(**options: Any) -> belljar.Sandbox:
        if options.get("language"):
            need_language(options["language"])
        hosts = {"allow_domains": [web.host], "allow_private": ["127.0.0.1"]}
        boxes.append(belljar.Sandbox(**{"profile": "network"} | hosts | options))
        return boxes[-1]

    yield open_one
    for box in boxes:
        box.close()


def check(session: belljar.Session, language: str, web: Web, named: str | None = None) -> None:
    """Reaches the allowed server, nothing else, and says so cell by cell."""
    del web.asked[:]
    allowed = session.run(asking(language, web.host), language=named)
    assert "ANSWER" in allowed.stdout, (allowed, allowed.stderr)
    (event,) = allowed.network
    assert (event.host, event.port, event.allowed) == ("127.0.0.1", web.port, True)
    assert event.bytes_received > 0
    refused = session.run(asking(language, "denied.test"), language=named)
    assert "not an allowed host" in refused.stdout, (refused, refused.stderr)
    (event,) = refused.network
    assert (event.host, event.port, event.allowed) == ("denied.test", 80, False)
    assert "not an allowed host" in event.detail
    if language != "python":
        direct = session.run(asking(language, web.host, web.port), language=named)
        assert (direct.stdout, direct.network) == ("held\n", ()), (direct, direct.stderr)
    assert web.asked == ["/"]


@pytest.mark.parametrize("language", OTHERS)
def test_a_session_has_the_hosts_of_its_sandbox(
    language: str, web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    with open_box(language=language).session() as session:
        check(session, language, web)


@pytest.mark.parametrize("language", OTHERS)
def test_the_control_reaches_the_server_itself(language: str, web: Web, tmp_path: Any) -> None:
    need_language(language)
    assert "ANSWER" in outside(language, asking(language, web.host, web.port), tmp_path)


def test_so_have_other_languages_of_a_session(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    with open_box().session() as session:
        for language in OTHERS:
            need_language(language)
            check(session, language, web, language)
        check(session, "python", web)


def test_so_has_python_in_a_session_of_bash(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    with open_box(language="bash").session() as session:
        check(session, "python", web, "python")
        session.run("echo from bash > file")
        assert session.run("open('file').read()", language="python").value == "from bash\n"
        assert session.languages == ("bash", "python")


@pytest.mark.parametrize("options", [{}, {"profile": "filesystem"}, {"language": "bash"}], ids=str)
def test_without_hosts_there_is_no_network(
    options: dict[str, str], web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    box = open_box(**{"profile": None, "allow_domains": [], "allow_private": []} | options)
    with box.session() as session:
        for port in (PROXY, web.port):
            ran = session.run(asking("bash", web.host, port), language="bash")
            assert (ran.stdout, ran.network) == ("held\n", ()), ran
        assert session.run("echo ${HTTP_PROXY:-none}", language="bash").stdout == "none\n"
        node = session.run(asking("javascript", web.host), language="javascript")
        assert node.stdout == "held\n"
    assert web.asked == []


def test_a_cell_may_have_fewer_hosts(web: Web, open_box: Callable[..., belljar.Sandbox]) -> None:
    with open_box(language="bash").session() as session:
        fewer = session.run(asking("bash", web.host), allowed_domains=[])
        assert NARROWED in fewer.stdout and web.asked == []
        assert "ANSWER" in session.run(asking("bash", web.host)).stdout
        with pytest.raises(ValueError, match=r"evil\.test"):
            session.run("echo 1", allowed_domains=["evil.test"])


LEFT = """
exec 5<> /dev/tcp/127.0.0.1/1080
printf 'CONNECT <url> HTTP/1.1\\r\\nHost: <url>\\r\\n\\r\\n' >&5
read -r answer <&5; echo "$answer"
"""


def test_a_connection_ends_with_its_cell(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    with open_box(language="bash").session() as session:
        first = session.run(LEFT.replace("<url>", web.host))
        assert " 200 " in first.stdout and first.network[0].allowed, first
        later = session.run(
            "printf 'GET /left HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n' >&5 2> /dev/null; cat <&5"
        )
        assert "ANSWER" not in later.stdout and later.network == (), later
        assert "/left" not in web.asked


def test_what_a_cell_leaves_running_uses_the_next_ones_proxy(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    """It is stopped between cells, and each request is judged by the cell in which it is made."""
    with open_box(language="bash").session() as session:
        session.run(asking("bash", "denied.test"))  # defines ask
        url = web.host
        session.run(f"(while ! [ -e go ]; do sleep 0.01; done; ask 1080 {url} > got; : > done) &")
        wait = "touch go; while ! [ -e done ]; do sleep 0.01; done; cat got; wait"
        narrower = session.run(wait, allowed_domains=[])
        assert NARROWED in narrower.stdout, (narrower, narrower.stderr)
        assert [event.allowed for event in narrower.network] == [False]
    assert web.asked == []


def test_the_next_interpreter_has_it_too(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    with open_box(language="bash").session() as session:
        stopped = session.run("while :; do :; done", timeout=0.3)
        assert stopped.status == "timeout" and stopped.session.restarted
        check(session, "bash", web)


# Reading the variable runs the program.
GETTER = """
Object.defineProperty(globalThis, 'x', {get: () =>
  require('child_process').spawnSync('bash', ['-c', <cell>], {encoding: 'utf8'}).stdout});
"""


def test_passing_a_value_reaches_no_host(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    need_language("javascript")
    with open_box(language="javascript").session() as session:
        session.run(GETTER.replace("<cell>", json.dumps(asking("bash", web.host))))
        assert "ANSWER" in session.run("x").value  # the control
        session.run("echo", language="bash")
        del web.asked[:]
        session.exchange("x", "javascript", to="bash")
        assert NARROWED in session.run('echo "$x"', language="bash").stdout
    assert web.asked == []


def test_nor_does_it_in_python_and_in_a_branch(
    web: Web, open_box: Callable[..., belljar.Sandbox]
) -> None:
    source = """
import urllib.request
said = []
class X(list):
    def __repr__(self):
        try:
            said.append(urllib.request.urlopen("http://<url>/").read().decode())
        except OSError as failure:
            said.append(str(failure))
        return "x"
x = X()
"""
    with open_box(policy="off").session() as session:
        assert session.run(source.replace("<url>", web.host)).ok
        assert "ANSWER" in session.run("repr(x); said[-1]").value  # the control
        (branch,) = session.branch(1)
        for each in (session, branch):
            each.run("echo", language="bash")
            del web.asked[:]
            with contextlib.suppress(belljar.BelljarError):  # it may be no plain data
                each.exchange("x", "python", to="bash")
            said = each.run("said[1:]").value
            assert len(said) == 1 and NARROWED in said[0], said
            assert web.asked == []


@pytest.mark.parametrize("command", ["run", "repl"])
def test_a_command_names_hosts_and_needs_no_profile(command: str, web: Web) -> None:
    hosts = ("--allow-domain", web.host, "--allow-private", "127.0.0.1")
    source = asking("bash", web.host)
    given = ("-c", source) if command == "run" else ()
    done = subprocess.run(
        [BELLJAR, command, "--language", "bash", *hosts, *given],
        input=source, capture_output=True, text=True, check=False, timeout=HANG,
    )  # fmt: skip
    assert "ANSWER" in done.stdout, done


class Served:
    """A server that offers Bash, and one host in two spellings."""

    def __init__(self, *hosts: str) -> None:
        environment = {
            "BELLJAR_NETWORK_ALLOWED_DOMAINS": ",".join(hosts),
            "BELLJAR_NETWORK_ALLOW_PRIVATE": "127.0.0.1",
            "BELLJAR_NETWORK_RESOLVE": "allowed.test=127.0.0.1",
        }
        self._process = subprocess.Popen(
            [BELLJAR, "serve", "--languages", "bash", "--profiles", "basic,network"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=os.environ | environment,
        )  # fmt: skip
        client = {"name": "tests", "version": "1"}
        self._ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo=client)

    def _ask(self, method: str, **parameters: object) -> dict[str, Any]:
        assert self._process.stdin and self._process.stdout
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
        print(json.dumps(message), file=self._process.stdin, flush=True)
        while True:
            answer = json.loads(self._process.stdout.readline())
            if answer.get("id") == 1:
                return answer["result"]

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        result = self._ask("tools/call", name=tool, arguments=arguments)
        assert not result.get("isError"), result
        return result["structuredContent"]

    def close(self) -> None:
        self._process.communicate()


@pytest.fixture
def served(web: Web) -> Iterator[Served]:
    server = Served(web.host, f"allowed.test:{web.port}")
    yield server
    server.close()


@pytest.mark.parametrize("own", ["bash", None])
def test_the_hosts_of_a_servers_session_are_those_of_its_kernels(
    own: str | None, web: Web, served: Served
) -> None:
    language = {"language": own} if own else {}
    session = served.call("open_session", **language, profile="network", allowed_domains=[web.host])
    cell = {"session": session["session"], "language": "bash"}
    allowed = served.call("execute_code", code=asking("bash", web.host), **cell)
    assert "ANSWER" in allowed["stdout"] and allowed["network"][0]["allowed"], allowed
    other = f"allowed.test:{web.port}"
    refused = served.call("execute_code", code=asking("bash", other), **cell)
    assert NARROWED in refused["stdout"], refused
    assert [each["allowed"] for each in refused["network"]] == [False]
    (listed,) = served.call("list_sessions")["sessions"]
    assert listed.get("languages", ["bash"]) == ([own] if own else ["python", "bash"])
    # Another one that is not narrowed has both.
    wider = served.call("open_session", language="bash", profile="network")
    cell["session"] = wider["session"]
    assert "ANSWER" in served.call("execute_code", code=asking("bash", other), **cell)["stdout"]


def test_a_servers_session_without_a_network_has_none(web: Web, served: Served) -> None:
    for terms in ({"language": "bash"}, {"profile": "basic"}):
        session = served.call("open_session", **terms)["session"]
        cell = {"session": session, "language": "bash", "code": asking("bash", web.host)}
        assert served.call("execute_code", **cell)["stdout"] == "held\n"
    assert web.asked == []
