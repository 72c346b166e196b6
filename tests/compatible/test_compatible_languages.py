"""The languages besides Python in the APIs of other services: by their clients, and bad input."""

import json
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients.server import HttpServer
from tests.compatible.conftest import BASIC_TOKEN, TOKEN, start_server
from tests.compatible.test_compatible_http import ask
from tests.languages.conftest import need_language
from tests.languages.table import LANGUAGES as ALL
from tests.machine import ROOT

SESSION = Path(__file__).with_name("session_languages.py")
# cpython is no language of these services, whose Python is the embedded one.
LANGUAGES = sorted(set(ALL) - {"cpython", "shell"})
WAYS = ("fusion", "piston", "judge0")
COMPILED = ("c", "cpp", "go", "java", "rust", "typescript")

ENDLESS = {"bash": "while :; do :; done", "c": "int main() { for (volatile int i = 0;; ++i); }"}
# Twice as many types for each N.
SLOW_TO_COMPILE = """
template <int N, int K> struct F { static const int v = F<N - 1, 2 * K>::v + F<N - 1, 2 * K + 1>::v; };
template <int K> struct F<0, K> { static const int v = K; };
int main() { return F<26, 0>::v; }
"""  # noqa: E501
MORE = {name: {"endless": {"code": code, "seconds": 1}} for name, code in ENDLESS.items()} | {
    # Judge0's has no limit of the compiler's own.
    "cpp": {"slow": {"code": SLOW_TO_COMPILE, "compile_seconds": 1, "ways": ["fusion", "piston"]}}
}
# Compiling it takes more than its limits, and running it next to nothing.
SMALL_BUT_SLOW_TO_COMPILE = "#include <iostream>\nint main() { std::cout << 1; }"


def installed() -> list[str]:
    return [name for name in LANGUAGES if all(map(_is_there, ALL[name].needs))]


def _is_there(program: str) -> bool:
    return Path("/usr/bin", program).exists()


def programs(language: str) -> dict[str, dict[str, Any]]:
    file = tomllib.loads((ROOT / f"languages/{language}.toml").read_text())
    table = ALL[language]
    return {
        "ok": {"code": file["program"]["example"]},
        "hello": {"code": table.hello, "args": ["one", "two"], "stdin": "in"},
        "wrong": {"code": table.wrong},
        "leave": {"code": table.leave},
    } | MORE.get(language, {})


@pytest.fixture(scope="module")
def server(sealed, tmp_path_factory) -> Iterator[HttpServer]:  # noqa: F811, ANN001
    server = start_server(tmp_path_factory.mktemp("languages"), installed())
    yield server
    server.stop()


class Session:
    """The clients in one process. A language's programs run when the first test asks for them, so
    that no test waits for those of others."""

    def __init__(self, words: list[str | Path], errors: Path) -> None:
        with errors.open("wb") as stderr:
            self._process = subprocess.Popen(
                words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr
            )
        self._errors = errors
        self._results: dict[str, dict[str, dict]] = {}
        self.listed = self._answer()

    def __getitem__(self, language: str) -> dict[str, dict]:
        """By client and program."""
        if language not in self._results:
            line = json.dumps({"language": language, "programs": programs(language)})
            self._process.stdin.write(line.encode() + b"\n")
            self._process.stdin.flush()
            self._results[language] = self._answer()
        return self._results[language]

    def _answer(self) -> dict:
        line = self._process.stdout.readline()
        assert line, self._errors.read_text()[-4000:]
        return json.loads(line)

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def session(server, clients, tmp_path_factory) -> Iterator[Session]:
    words = [clients, SESSION, server.url.removesuffix("/mcp"), TOKEN]
    session = Session(words, tmp_path_factory.mktemp("clients") / "errors.txt")
    yield session
    session.close()


@pytest.fixture(params=LANGUAGES)
def language(request: pytest.FixtureRequest) -> str:
    need_language(request.param)
    return request.param


@pytest.fixture
def by(language: str, session: Session) -> dict[str, dict]:
    """The results of a language's programs by each client that has the language."""
    return {way: its for way in WAYS if (its := session[language][way])["ok"] is not None}


def test_a_program_prints_hello(by: dict, language: str) -> None:
    if "fusion" in by:
        ran = by["fusion"]["ok"]
        assert (ran["status"], ran["run_result"]["stdout"]) == ("Success", "hello\n"), ran
        assert (ran["compile_result"] is not None) == (language in COMPILED)
    ran = by["piston"]["ok"]
    assert (ran["run"]["stdout"], ran["run"]["code"]) == ("hello\n", 0), ran
    assert (ran["compile"] is not None) == (language in COMPILED)
    ran = by["judge0"]["ok"]
    assert (ran["status"], ran["stdout"], ran["stderr"]) == (3, "hello\n", None), ran


def test_a_program_has_its_input_and_its_error(by: dict, language: str) -> None:
    table = ALL[language]
    signal = 6 if table.type == "SIGABRT" else None
    for way, words in (("piston", "hello one two in"), ("judge0", "hello one two in")):
        ran = by[way]["hello"]
        stdout = ran["run"]["stdout"] if way == "piston" else ran["stdout"]
        assert " ".join(stdout.split()) == words, (way, ran)
    piston = by["piston"]["hello"]["run"]
    assert piston["signal"] == ("SIGABRT" if signal else None)
    assert (piston["code"] is None) == bool(signal)
    judge0 = by["judge0"]["hello"]
    assert (judge0["status"], judge0["exit_signal"]) == ((10, 6) if signal else (11, None)), judge0
    if not signal:
        assert "boom" in piston["stderr"] and "boom" in judge0["stderr"]
        assert piston["code"] == judge0["exit_code"] != 0


def test_a_program_that_cannot_be_compiled(by: dict, language: str) -> None:
    judge0, piston = by["judge0"]["wrong"], by["piston"]["wrong"]
    if language in COMPILED:
        assert judge0["status"] == 6 and judge0["compile_output"], judge0
        assert judge0["stdout"] is judge0["stderr"] is judge0["exit_code"] is None
        assert piston["compile"]["code"] != 0 and piston["compile"]["stderr"], piston
        assert (piston["run"]["code"], piston["run"]["output"]) == (None, "")
    else:
        assert judge0["status"] == 11 and judge0["stderr"], judge0
        assert piston["run"]["code"] != 0 and piston["run"]["stderr"], piston
    if "fusion" in by:
        fusion = by["fusion"]["wrong"]
        stage = "compile" if language in COMPILED else "run"
        assert (fusion["status"], fusion["summary"]) == ("Failed", stage), fusion
        assert fusion[f"{stage}_result"]["return_code"] != 0
        assert fusion[f"{stage}_result"]["stderr"]


def test_a_program_ends_with_its_code(by: dict) -> None:
    assert by["judge0"]["leave"]["exit_code"] == 7, by["judge0"]
    assert by["judge0"]["leave"]["status"] == 11
    assert by["piston"]["leave"]["run"]["code"] == 7
    if "fusion" in by:
        assert by["fusion"]["leave"]["run_result"]["return_code"] == 7


@pytest.mark.parametrize("name", sorted(ENDLESS))
def test_an_endless_program_is_stopped(session: Session, name: str) -> None:
    need_language(name)
    by = session[name]
    assert by["judge0"]["endless"]["status"] == 5
    assert by["piston"]["endless"]["run"]["signal"] == "SIGKILL"
    fusion = by["fusion"]["endless"]
    assert fusion is None or fusion["summary"] == "time", fusion


def test_a_compiler_is_stopped(session: Session) -> None:
    need_language("cpp")
    fusion, piston = (session["cpp"][way]["slow"] for way in ("fusion", "piston"))
    assert (fusion["status"], fusion["summary"]) == ("Failed", "compile time"), fusion
    assert fusion["run_result"] is None
    assert (piston["compile"]["signal"], piston["run"]["code"]) == ("SIGKILL", None), piston


def test_the_services_list_what_is_installed(session: Session) -> None:
    names = {"cpp": "c++", "r": "rscript", "sqlite": "sqlite3"}
    offered = ["python", *installed()]
    assert set(session.listed["runtimes"]) == {names.get(each, each) for each in offered}
    assert all(each["version"][0].isdigit() for each in session.listed["runtimes"].values())
    for id, title in ((54, "C++ (GCC "), (46, "Bash ("), (63, "JavaScript (Node.js ")):
        name = {54: "cpp", 46: "bash", 63: "javascript"}[id]
        if name in offered:
            assert session.listed["languages"][str(id)].startswith(title)


# --- without a client ---------------------------------------------------------------------------


def judged(server: HttpServer, language: int, source: str, **more: Any) -> dict:
    body = {"source_code": source, "language_id": language} | more
    status, answer, _ = ask(server, "POST", "/submissions?wait=true&fields=*", body)
    assert status == 201, answer
    return answer


def test_compiling_counts_for_none_of_the_programs_limits(server) -> None:
    need_language("cpp")
    limits = {"cpu_time_limit": 0.3, "cpu_extra_time": 0, "memory_limit": 32 << 10}
    done = judged(server, 54, SMALL_BUT_SLOW_TO_COMPILE, **limits)
    assert (done["status"]["id"], done["stdout"]) == (3, "1"), done
    assert float(done["time"]) < 0.3 and done["memory"] < 32 << 10
    # The control: the program itself is held by them.
    busy = SMALL_BUT_SLOW_TO_COMPILE.replace(
        "std::cout", "for (volatile long i = 0;; ++i); std::cout"
    )
    assert judged(server, 54, busy, **limits)["status"]["id"] == 5


def test_warnings_are_the_compilers(server) -> None:
    need_language("c")
    source = (
        '#include <stdio.h>\n#warning careful\nint main() { fputs("mine", stderr); puts("1"); }'
    )
    done = judged(server, 50, source)
    assert (done["stdout"], done["stderr"]) == ("1\n", "mine"), done
    assert "careful" in done["compile_output"]


def test_a_program_cannot_pass_for_a_compile_error(server) -> None:
    need_language("typescript")
    source = (
        "class CompileError extends Error { name = 'CompileError' }\nthrow new CompileError('x')"
    )
    done = judged(server, 74, source)
    assert (done["status"]["id"], done["compile_output"]) == (11, None), done


def test_files_go_in_and_out(server) -> None:
    need_language("bash")
    request = {
        "code": "tr a-z A-Z < in.txt > out.txt", "language": "bash",
        "files": {"in.txt": "YQ=="}, "fetch_files": ["out.txt"],
    }  # fmt: skip
    assert ask(server, "POST", "/run_code", request)[1]["files"] == {"out.txt": "QQ=="}


def test_what_is_not_enabled_is_named(server, sealed, tmp_path) -> None:
    other = start_server(tmp_path, ["bash"])
    try:
        told = ask(other, "POST", "/run_code", {"code": "1", "language": "bsh"})
        assert told[0] == 422 and 'did you mean "bash"?' in told[1]["detail"][0]["msg"]
        assert "execution.languages" in told[1]["detail"][0]["msg"]
        piston = {"language": "rust", "version": "*", "files": [{"content": "1"}]}
        told = ask(other, "POST", "/api/v2/execute", piston)
        assert told[0] == 400 and "execution.languages" in told[1]["message"]
        told = ask(other, "POST", "/submissions", {"source_code": "1", "language_id": 54})
        assert told[0] == 422 and "cpp is not enabled" in told[1]["language_id"][0]
        ids = [each["id"] for each in ask(other, "GET", "/languages")[1]]
        assert ids == [71, 92, 100, 109, 113, 46]
        assert ask(other, "GET", "/languages/46")[1]["source_file"] == "main.sh"
        # A token that is restricted to profiles has the languages that it lists.
        assert ask(other, "GET", "/languages/46", token=BASIC_TOKEN)[0] == 404
        told = ask(other, "POST", "/run_code", {"code": "1", "language": "bash"}, token=BASIC_TOKEN)
        assert told[0] == 422 and "execution.languages" in told[1]["detail"][0]["msg"]
    finally:
        other.stop()


# By each API, as (status, answer, stdout, compile or run standard error).
def by_each(server: HttpServer, language: str, source: str, stdin: str = "") -> list[tuple]:
    ids = {"bash": 46, "c": 50}
    fusion = ask(
        server, "POST", "/run_code", {"code": source, "language": language, "stdin": stdin}
    )[1]
    request = {"language": language, "version": "*", "files": [{"content": source}], "stdin": stdin}
    piston = ask(server, "POST", "/api/v2/execute", request)[1]
    judge0 = judged(server, ids[language], source, stdin=stdin)
    of_fusion = fusion["run_result"] or fusion["compile_result"]
    of_piston = piston.get("compile") if piston["run"]["code"] is None else piston["run"]
    return [
        (of_fusion["return_code"], of_fusion["stdout"], of_fusion["stderr"]),
        (of_piston["code"], of_piston["stdout"], of_piston["stderr"]),
        (
            1 if judge0["status"]["id"] == 6 else judge0["exit_code"],
            judge0["stdout"] or "",
            judge0["compile_output"] or judge0["stderr"] or "",
        ),
    ]


def test_nul_in_a_source_is_an_error_of_the_program(server) -> None:
    for name, file in (("bash", "main.sh"), ("c", "main.c")):
        need_language(name)
        for code, stdout, stderr in by_each(server, name, "a\0b"):
            assert (code, stdout) == (1, "")
            assert stderr == f"{file}: error: source code string cannot contain null bytes\n"


def test_lines_that_end_as_on_windows(server) -> None:
    need_language("c")
    source = '#include <stdio.h>\r\nint main() {\r\n  puts("1");\r\n}\r\n'
    assert {(code, stdout) for code, stdout, _ in by_each(server, "c", source)} == {(0, "1\n")}


def test_output_that_is_not_text(server) -> None:
    need_language("bash")
    for code, stdout, _ in by_each(server, "bash", r"printf '\377\0001'"):
        assert (code, stdout) == (0, "\ufffd\x001")


def test_input_that_nobody_reads(server) -> None:
    need_language("bash")
    for code, stdout, _ in by_each(server, "bash", "echo 1", stdin="x" * (1 << 20)):
        assert (code, stdout) == (0, "1\n")


def test_a_source_of_ten_megabytes(server) -> None:
    need_language("bash")
    source = "#" * (10 << 20)
    request = {"code": source, "language": "bash"}
    status, answer, _ = ask(server, "POST", "/run_code", request)
    assert status == 422 and "code is 10485760 bytes long" in answer["detail"][0]["msg"]
    request = {"language": "bash", "version": "*", "files": [{"content": source}]}
    status, answer, _ = ask(server, "POST", "/api/v2/execute", request)
    assert status == 400 and "code is 10485760 bytes long" in answer["message"]
    status, answer, _ = ask(
        server, "POST", "/submissions", {"source_code": source, "language_id": 46}
    )
    assert (status, answer) == (422, {"source_code": ["is too long (maximum is 1m)"]})
