"""Programs of the languages besides Python, by the command."""

import http.server
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.clocks import HANG
from tests.languages.table import LANGUAGES, MUST_BE_THERE, Language
from tests.machine import BELLJAR, must_work, need_layers, need_program

ATTACK = (Path(__file__).parent / "attack.c").read_text()

# The option that names a language; a file's extension does, too.
NAMED = "--language"


@pytest.fixture(scope="session", autouse=True)
def machine() -> None:
    need_layers("kernel", "namespaces", "landlock", "seccomp", "strict")


def need_language(name: str) -> Language:
    """Skips where it is not installed: few machines have all."""
    language = LANGUAGES[name]
    missing = [each for each in language.needs if not shutil.which(f"/usr/bin/{each}")]
    if missing and must_work() and name in MUST_BE_THERE:
        pytest.fail(f"{name} needs {missing}")
    if missing:
        pytest.skip(f"{name} is not installed: there is no /usr/bin/{missing[0]}")
    return language


@dataclass(frozen=True)
class Ran:
    """One run: what it printed as JSON, and the command's own exit code."""

    outcome: dict[str, Any]
    code: int
    stderr: str

    def __getattr__(self, name: str) -> Any:
        return self.outcome[name]

    @property
    def files(self) -> list[str]:
        """The names of what it left."""
        return [each["name"] for each in self.outcome["artifacts"]]


Run = Callable[..., Ran]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Runs a program of a language, by its file's extension."""

    def run(
        name: str,
        source: str | bytes,
        *arguments: str,
        options: tuple[str | Path, ...] = (),
        stdin: bytes | None = None,
        binary: bool = False,
    ) -> Ran:
        language = need_language(name)
        file = tmp_path / language.file
        file.write_bytes(source if isinstance(source, bytes) else source.encode())
        named = (NAMED, name) if file.suffix in {".py", ""} else ()
        given = () if stdin is None else ("--stdin", "-")
        command = [BELLJAR, "run", "--json", *named, *given, *options, file, "--", *arguments]
        # In a session of its own, so that whatever it leaves behind is found.
        done = subprocess.run(
            command,
            input=stdin or b"",
            capture_output=True,
            check=False,
            cwd=tmp_path,
            timeout=HANG,
            start_new_session=True,
        )
        errors = done.stderr.decode(errors="replace")
        outcome = json.loads(done.stdout) if done.stdout.strip() else {}
        return Ran(outcome, done.returncode, errors)

    return run


Outside = Callable[..., str]


@pytest.fixture(scope="session")
def attack_program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """attack.c, compiled; its source is beside it."""
    need_language("c")
    folder = tmp_path_factory.mktemp("outside")
    (folder / "attack.c").write_text(ATTACK)
    subprocess.run(["gcc", "-w", "-o", "attack", "attack.c"], cwd=folder, check=True)
    return folder / "attack"


@pytest.fixture(scope="session")
def outside(attack_program: Path) -> Outside:
    """Runs an attack on this machine."""

    def attack(*words: str, **more: Any) -> str:
        done = subprocess.run(
            [attack_program, *words], capture_output=True, text=True, cwd=attack_program.parent,
            check=False, **more,
        )  # fmt: skip
        return done.stdout.strip()

    return attack


def processes_with(word: str) -> list[int]:
    """Processes of this machine with the word among their arguments or variables."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            text = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
        except OSError:
            continue
        if word.encode() in text and int(folder.name) != os.getpid():
            found.append(int(folder.name))
    return found


def end(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


LIBRARY = """
#include <unistd.h>
__attribute__((constructor)) static void begin(void) { (void)!write(1, "WON\\n", 4); }
void attack(void) {}
"""
# How often a program that waits for what does not come asks, and one for which it comes.
POLLS = {"inside": 50, "outside": 3000}


class Host:
    """What attacks are after."""

    def __init__(self, folder: Path, secret: Path, port: int) -> None:
        self.folder = folder
        self._secret = secret
        self._port = port

    def fill(self, source: str, where: str, workspace: Path, folder: Path) -> str:
        for name, value in {
            "secret": self._secret,
            "port": self._port,
            "library": workspace / "attack.so",
            "folder": folder,
            "polls": POLLS[where],
            "first": 1 if where == "inside" else os.getpid(),
        }.items():
            source = source.replace(f"<{name}>", str(value))
        return source


class _Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"WON\n")

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Host]:
    folder = tmp_path_factory.mktemp("host")
    (folder / "attack.c").write_text(LIBRARY)
    gcc = need_program("gcc", "gcc")
    subprocess.run([gcc, "-shared", "-fPIC", "-o", "attack.so", "attack.c"], cwd=folder, check=True)
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="belljar-") as secret:
        secret.write(b"WON\n")
        secret.flush()
        os.chmod(secret.name, 0o644)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Answer) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            yield Host(folder, Path(secret.name), server.server_port)
            server.shutdown()
