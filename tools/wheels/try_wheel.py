"""Uses a wheel like someone who has nothing else: in a system without a compiler or a network.

    python3.11 -I try_wheel.py belljar_sandbox-….whl

`./dev wheels` runs it in a minimal Debian with the interpreter that the wheel is for. It installs
the wheel into a new environment and uses every entry point. It prints what it did, and on failure
what went wrong.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

# How many times slower than an ordinary machine this one is: an emulated one.
SLOWNESS = float(os.environ.get("BELLJAR_TEST_SLOWNESS", "1"))
COMPILERS = ("cc", "gcc", "g++", "clang", "cmake", "ninja", "make", "pkg-config")

PACKAGE = """
import asyncio
import sys
from belljar import AsyncSandbox, Sandbox

with Sandbox(timeout=5 * float(sys.argv[1]), memory="64m") as box:
    result = box.run("sum(prices)", inputs={"prices": [1.5, 2.5]})
    assert result.ok and result.value == 4.0, result
    assert not box.run("import ctypes").ok
    with box.session(timeout=1) as session:
        session.run("total = 1")
        stopped = session.run("total = 2\\nwhile True: pass")
        assert stopped.session.restored and session.run("total").value == 1, stopped


async def later():
    async with AsyncSandbox() as box:
        return (await box.run("6 * 7")).value


assert asyncio.run(later()) == 42
"""

CALLS = [
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "try_wheel", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {
        "id": 2,
        "method": "tools/call",
        "params": {"name": "execute_code", "arguments": {"code": "print(6 * 7)"}},
    },
]


def call(
    *words: str | Path, status: int = 0, text: str | None = None, **variables: str
) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        words,
        input=text or "",
        capture_output=True,
        check=False,
        text=True,
        timeout=120 * SLOWNESS,
        env=os.environ | variables,
    )
    if done.returncode != status:
        shown = " ".join(map(str, words))
        sys.exit(f"{shown}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def expect(what: str, is_so: bool, seen: object) -> None:
    if not is_so:
        sys.exit(f"{what}: {seen!r}")
    print(f"ok: {what}")


def expect_an_empty_system() -> None:
    found = [name for name in COMPILERS if shutil.which(name)]
    expect("there is no compiler", not found, found)


def install(wheel: str, folder: Path) -> None:
    call(sys.executable, "-I", "-m", "venv", folder)
    began = time.monotonic()
    pip = (folder / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check")
    call(*pip, "install", "--no-index", wheel)
    print(f"ok: pip install took {time.monotonic() - began:.1f} s")


def answer_over_stdio(belljar: Path) -> dict:
    """The answer to the last of CALLS; the end of the input would cancel it."""
    with subprocess.Popen(
        [belljar, "serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin and server.stdout
        for each in CALLS:
            server.stdin.write(json.dumps({"jsonrpc": "2.0"} | each) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == CALLS[-1]["id"]:
                server.stdin.close()
                return answer
    sys.exit(f"belljar serve ended with {server.returncode} before it answered")


def use_the_command(belljar: Path, scratch: Path) -> None:
    for isolation in ("strict", "standard"):
        done = call(belljar, "run", "--isolation", isolation, "-c", "print(6 * 7)")
        expect(f"belljar run, {isolation}", (done.stdout, done.stderr) == ("42\n", ""), done)
    done = call(belljar, "run", "--json", "-c", "1")
    layers = json.loads(done.stdout)["isolation"]["layers"]
    held = {each["name"] for each in layers if each["held"]}
    wanted = {"namespaces", "privileges", "rlimits", "landlock", "seccomp"}
    expect("all layers hold", wanted <= held, layers)
    expect("belljar doctor", "landlock" in call(belljar, "doctor").stdout.lower(), "no landlock")
    program = scratch / "main.py"
    program.write_text("import ctypes\n")
    done = call(belljar, "validate", program, status=1)
    expect("belljar validate", "BJ201" in done.stdout, done.stdout)
    answer = answer_over_stdio(belljar)
    expect("belljar serve, over stdio", "42" in json.dumps(answer["result"]["content"]), answer)
    with belljar.open("rb") as file:
        expect("belljar is a program", file.read(4) == b"\x7fELF", belljar)


def main() -> None:
    (wheel,) = sys.argv[1:]
    expect_an_empty_system()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "environment")
        install(wheel, folder)
        use_the_command(folder / "bin/belljar", Path(name))
        call(folder / "bin/python", "-I", "-c", PACKAGE, str(SLOWNESS))
        print("ok: import belljar: a run, a session, asyncio")


if __name__ == "__main__":
    main()
