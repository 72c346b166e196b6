"""Attacks by way of an interpreter: each fails inside, also with a layer less, and succeeds
outside."""

import os
import subprocess
import tempfile
import uuid
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.clocks import HANG, until
from tests.languages.conftest import Host, Ran, Run, end, need_language, processes_with
from tests.languages.interpreter_attacks import ATTACKS, UNSAFE, Attack
from tests.languages.table import LANGUAGES
from tests.machine import need_root

LAYERS = ("landlock", "seccomp", "rlimits", "privileges")
OUTSIDE = {
    "c": ("bash", "-c", 'gcc "$0" && ./a.out'),
    "bash": ("bash",),
    "cpython": ("python3",),
    "go": ("bash", "-c", 'GO111MODULE=off CGO_ENABLED=0 go run "$0"'),
    "java": ("java",),
    "javascript": ("node",),
    "lua": ("lua5.4",),
    "octave": ("octave-cli", "--quiet"),
    "perl": ("perl",),
    "php": ("php",),
    "r": ("Rscript",),
    "ruby": ("ruby",),
    "rust": ("bash", "-c", 'rustc -o attack "$0" && ./attack'),
    "sqlite": ("sqlite3", ":memory:", "-init"),
    "typescript": (
        "bash",
        "-c",
        'esbuild --log-level=error --outfile=main.js "$0" && node main.js',
    ),
}
Inside = Callable[..., Ran]


@pytest.fixture
def inside(run: Run, host: Host) -> Inside:
    def attack(attack: Attack, *options: str) -> Ran:
        shown = Path("/usr/lib/locale")
        source = host.fill(attack.source, "inside", Path("/workspace"), shown)
        return run(attack.language, source, options=("--file", host.folder / "attack.so", *options))

    return attack


def assert_held(ran: Ran) -> None:
    assert "WON" not in ran.stdout, ran.outcome
    killed = ran.status == "killed" and ran.outcome["security_events"]
    assert "held" in ran.stdout or killed, ran.outcome


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_fails_inside(attack: Attack, inside: Inside) -> None:
    ran = inside(attack)
    assert_held(ran)
    assert ran.isolation["mode"] == "strict"


@pytest.mark.parametrize("attack", ATTACKS, ids=str)
def test_succeeds_outside(attack: Attack, host: Host, tmp_path: Path) -> None:
    """The control: the same program, in a process that nothing holds."""
    need_language(attack.language)
    if attack.root:
        need_root("may do this outside")
    (tmp_path / "attack.so").write_bytes((host.folder / "attack.so").read_bytes())
    # A name that the interpreter knows and that is no command of its own.
    file = "Main.java" if attack.language == "java" else LANGUAGES[attack.language].file
    source = host.fill(attack.source, "outside", tmp_path, tmp_path)
    (tmp_path / file).write_text(source)
    program, *options = OUTSIDE[attack.language]
    done = subprocess.run(
        [f"/usr/bin/{program}", *options, file],
        input="",
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"GOCACHE": str(host.folder / "go-build")},
        check=False,
        timeout=HANG,
    )
    assert "WON" in done.stdout, f"this test proves nothing here: {done}"


# Of these languages, each attack with each layer gone in turn: another one holds. What one layer
# holds alone is said in the table.
LESS = [
    pytest.param(attack, layer, id=f"{attack}, without {layer}")
    for attack in ATTACKS
    for layer in LAYERS
    if layer not in attack.alone and attack.language in ("bash", "javascript", "r", "java")
]


@pytest.mark.parametrize(("attack", "layer"), LESS)
def test_fails_with_a_layer_less(attack: Attack, layer: str, inside: Inside) -> None:
    assert_held(inside(attack, "--without", layer))


def test_a_write_to_address_zero_ends_the_program_alone(run: Run) -> None:
    ran = run("java", UNSAFE)
    assert "WON" not in ran.stdout
    assert (ran.status, ran.error["type"]) == ("exception", "SIGABRT"), ran.outcome


def test_threads_and_webassembly_of_node_work(run: Run) -> None:
    source = """
const { Worker, isMainThread, parentPort } = require("worker_threads");
if (isMainThread) {
  const bytes = Buffer.from("0061736d01000000010401600000030201000a040102000b", "hex");
  new Worker(__filename).on("message", m => console.log(m, WebAssembly.validate(bytes)));
} else {
  parentPort.postMessage("a thread");
}
"""
    assert run("javascript", source).stdout == "a thread true\n"


def test_coproc_of_bash_works(run: Run) -> None:
    source = "coproc cat; echo in >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x"
    assert run("bash", source).stdout == "in\n"


# Each program with two files as its arguments: one of the host and one of the workspace. What it
# shows of them is printed at once, since a limit may end the run; files that it made are read last.
EVERY = r"""
echo OWN > own
printf '%s\n' PROGRAMS | xargs -P 8 -I{} sh -c '
  timeout -s KILL 0.2 {} HOST own 2>&1 | timeout -s KILL 1 head -c 20000 |
    grep -aoE "canary-[0-9a-f]{32}" | sort -u; true'
grep -raohE 'canary-[0-9a-f]{32}' . | sort -u
id -u
"""


def test_every_program_of_the_machine_started_once(run: Run, tmp_path: Path) -> None:
    """Whatever they do, they do it inside: none shows a file of the host, and all of them end."""
    mark = uuid.uuid4().hex
    own, of_host = (f"canary-{uuid.uuid4().hex}" for _ in range(2))
    with tempfile.NamedTemporaryFile(dir="/var/tmp", prefix="belljar-") as secret:
        secret.write(of_host.encode() + b"\n")
        secret.flush()
        os.chmod(secret.name, 0o644)
        source = EVERY.replace("HOST", secret.name).replace("OWN", own)
        limits = ("--timeout", "60", "--cpu", "60", "--env", f"MARK={mark}")
        ran = run("bash", source.replace("PROGRAMS", "/usr/bin/*"), options=limits)
        few = source.replace("PROGRAMS", "/usr/bin/cat /usr/bin/head")
        control = subprocess.run(
            ["/usr/bin/bash", "-c", few], capture_output=True, text=True, check=False, cwd=tmp_path
        )
    assert of_host in control.stdout, control
    assert ran.status in ("ok", "timeout", "cpu_limit", "memory_limit"), ran.outcome
    shown = set(ran.stdout.split())
    assert own in shown and of_host not in shown, ran.outcome
    assert shown <= {own, "65534"}
    assert ran.status != "ok" or "65534" in shown
    try:
        until(lambda: not processes_with(mark), lambda: f"left: {processes_with(mark)}")
    finally:
        end(processes_with(mark))
