"""Python code that a program starts in a jar of its own: the language policy's subprocess."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import threading
from typing import TYPE_CHECKING

import pytest

from tests.clocks import HANG

if TYPE_CHECKING:
    from belljar import Result, Sandbox

HEAD = "import subprocess, sys\n"
ORDINARY = """
import subprocess, sys
CODE = "import sys; print(sys.argv[1:], input()); print('err', file=sys.stderr); sys.exit(3)"
done = subprocess.run([sys.executable, "-c", CODE, "a", "b"], input="line\\n",
                      capture_output=True, text=True, timeout=60)
print(done.returncode, repr(done.stdout), repr(done.stderr))
print(subprocess.check_output([sys.executable, "-c", "print(2 + 2)"]))
print(subprocess.check_output([sys.executable, "-"], input=b"print(5)"))
print(subprocess.call([sys.executable, "-c", "raise SystemExit(4)"]))
try: subprocess.check_call([sys.executable, "-c", "raise SystemExit(5)"])
except subprocess.CalledProcessError as error: print(error.returncode)
try: subprocess.run([sys.executable, "-c", "1/0"], check=True, capture_output=True, text=True)
except subprocess.CalledProcessError as error: print(error.stderr.splitlines()[-1])
with subprocess.Popen([sys.executable, "-u", "-c", "print(input() * 2)"], text=True,
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
    print(process.communicate("ab"), process.returncode)
try: subprocess.run([sys.executable, "-c", "while True: pass"], timeout=0.3)
except subprocess.TimeoutExpired as error: print("late", error.cmd[2])
done = subprocess.run([sys.executable, "-c", "import os; print(os.environ['NAME'])"],
                      env={"NAME": "value"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
print(done.stdout)
"""


def run(box: Sandbox, source: str, **options: object) -> Result:
    result = box.run(HEAD + textwrap.dedent(source), **options)  # type: ignore[arg-type]
    return result


def test_python_code_runs_as_in_plain_python(box: Sandbox) -> None:
    plain = subprocess.run(
        [sys.executable, "-c", ORDINARY], capture_output=True, text=True, timeout=HANG, check=True
    )
    result = box.run(ORDINARY)
    assert (result.status, result.stdout) == ("ok", plain.stdout)


def test_output_that_is_not_taken_is_the_programs(box: Sandbox) -> None:
    result = run(box, "subprocess.run([sys.executable, '-c', 'print(1); print(2, file=3)'])")
    assert result.ok and result.stdout == "1\n"
    assert "AttributeError" in result.stderr


def test_it_runs_in_cells(box: Sandbox) -> None:
    with box.session() as session:
        result = session.run(HEAD + "subprocess.check_output([sys.executable, '-c', 'print(1)'])")
        assert result.value == b"1\n"
        assert session.run("done = 1\ndone").value == 1


def test_it_runs_a_file_of_the_workspace_and_has_none(files: Sandbox) -> None:
    result = run(
        files,
        """
        import os
        with open("part.py", "w") as file: file.write("import os\\nprint(os.listdir('.'))")
        print(subprocess.check_output([sys.executable, "part.py"], text=True), os.listdir("."))
        """,
    )
    assert result.stdout == "[]\n ['part.py']\n"


@pytest.mark.parametrize(
    "call",
    [
        "run(['ls'])",
        "run('ls', shell=True)",
        "run([sys.executable, '-c', '1'], shell=True)",
        "run([sys.executable, '-m', 'http.server'])",
        "Popen(['/bin/sh', '-c', 'id'])",
        "check_output([b'/usr/bin/python3', '-c', '1'][:1])",
        "getoutput('id')",
        "run([sys.executable, '/etc/passwd'])",
    ],
)
def test_everything_else_is_refused_in_one_line(box: Sandbox, call: str) -> None:
    result = run(box, f"sys.executable\nsubprocess.{call}")
    assert result.status == "exception" and result.error is not None
    assert result.error.type in ("PermissionError", "TypeError"), result.error
    assert "\n" not in result.error.message


def test_modules_that_install_are_refused_before_the_run(box: Sandbox) -> None:
    result = run(box, "subprocess.run([sys.executable, '-m', 'pip', 'install', 'x'])")
    assert result.status == "refused" and result.findings[0].rule == "BJ201"


# --- attacks; the test above is their positive control --------------------------------------------


def test_a_program_starts_at_most_sixteen(box: Sandbox) -> None:
    result = run(
        box,
        """
        done = 0
        for _ in range(40):
            try: done += not subprocess.call([sys.executable, "-c", "1"])
            except PermissionError as error: said = str(error)
        print(done, said)
        """,
    )
    assert result.stdout == "16 [BJ502] subprocess: a run starts at most 16 other programs\n"


def test_one_that_was_started_starts_none(box: Sandbox) -> None:
    inner = HEAD + "print(subprocess.check_output([sys.executable, '-c', 'print(1)']))"
    result = run(
        box,
        f"""
        done = subprocess.run([sys.executable, "-c", {inner!r}], capture_output=True, text=True)
        print(done.returncode, done.stdout)
        print(done.stderr.splitlines()[-1])
        """,
    )
    assert result.stdout.startswith("1 \nPermissionError: [BJ502] subprocess.check_output() starts")


def test_the_policy_holds_in_it(box: Sandbox) -> None:
    result = run(
        box,
        """
        done = subprocess.run([sys.executable, "-c", "print('ran')\\nimport ctypes"],
                              capture_output=True, text=True)
        print(done.returncode, repr(done.stdout), "BJ201" in done.stderr)
        """,
    )
    assert result.stdout == "1 '' True\n"


def test_no_import_that_the_call_does_not_allow(box: Sandbox) -> None:
    source = """
    done = subprocess.run([sys.executable, "-c", "import json"], capture_output=True, text=True)
    print(done.returncode, "json" in done.stderr)
    """
    result = run(box, source, allowed_imports=["subprocess", "sys"])
    assert result.stdout == "1 True\n"
    assert run(box, source).stdout == "0 False\n"


def test_output_without_end_is_cut(box: Sandbox) -> None:
    result = run(
        box,
        """
        code = "for _ in range(100): print('x' * 1_000_000)"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True)
        is_cut = b"bytes of output were dropped" in done.stderr
        print(done.returncode, len(done.stdout) < 1_000_000, is_cut)
        done = subprocess.run([sys.executable, "-c", "print('x' * 1000)"], capture_output=True)
        print(done.returncode, len(done.stdout), done.stderr)
        """,
    )
    assert result.stdout == "0 True True\n0 1001 b''\n"


BURNS = "import time\\nend = time.process_time() + 0.4\\nwhile time.process_time() < end: pass"


def test_their_cpu_time_is_the_runs(box: Sandbox) -> None:
    source = f"""
    for number in range(COUNT):
        subprocess.run([sys.executable, "-c", "{BURNS}"])
        print(number, flush=True)
    """
    result = run(box, source.replace("COUNT", "12"), cpu=1)
    assert result.status == "cpu_limit", result
    assert len(result.stdout.splitlines()) < 4
    assert result.usage.cpu_time > 0.8
    few = run(box, source.replace("COUNT", "1"), cpu=1)
    assert few.ok and few.usage.cpu_time > 0.4


def test_their_time_is_the_runs(box: Sandbox) -> None:
    result = run(box, "subprocess.run([sys.executable, '-c', 'while True: pass'])", timeout=0.5)
    assert (result.status, result.stdout) == ("timeout", "")
    result = run(
        box, "subprocess.run([sys.executable, '-c', 'while True: pass'], timeout=900)", timeout=0.5
    )
    assert result.status == "timeout"


def test_their_memory_is_limited(box: Sandbox) -> None:
    result = run(
        box, "print(subprocess.call([sys.executable, '-c', 'x = bytearray(10**9)']))", memory="64m"
    )
    assert result.ok and result.stdout in ("1\n", "-9\n")


def test_cancelling_kills_both() -> None:
    from belljar import AsyncSandbox

    began = threading.Event()

    async def main() -> str:
        async with AsyncSandbox() as box:
            source = (
                HEAD + "tell()\nsubprocess.run([sys.executable, '-c', 'while True: pass'])\ntell()"
            )
            calls: list[int] = []

            def tell() -> None:
                calls.append(1)
                began.set()

            task = asyncio.create_task(box.run(source, functions={"tell": tell}, timeout=100))
            assert await asyncio.to_thread(began.wait, HANG)
            await asyncio.sleep(0.2)  # sleeps: so that it is usually in the second program
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert calls == [1]
            # The worker that it had is gone: the sandbox closes without waiting for it.
            return (await box.run("'still here'")).value

    assert asyncio.run(asyncio.wait_for(main(), HANG)) == "still here"
