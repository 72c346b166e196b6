"""The package on macOS and Windows, where it asks a Belljar on Linux: here that of an environment,
through a command that stands for ssh, and in a container of the tests' engine."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import textwrap
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.container.daemon import open_daemon

from .conftest import MINOR, PYTHON, ROOT, VERSION, Environment, make_environment, pip

# The first of them waits for all of Belljar to be compiled.
pytestmark = pytest.mark.timeout(1800)

PLATFORMS = ("macosx_14_0_arm64", "macosx_12_0_x86_64", "win_amd64")

# [-t] HOST -- COMMAND: as ssh, on this machine; as there, without the variables of here.
SSH = """#!/bin/sh
[ "$1" = -t ] && shift
[ "$1" = nowhere ] && { echo "ssh: Could not resolve hostname nowhere" >&2; exit 255; }
shift 2
exec env -i HOME=/nonexistent PATH=/usr/bin:/bin sh -c "cd / && exec $1"
"""


@pytest.fixture(scope="module")
def wheel_for_others(frontend: Path, scratch: Path) -> Path:
    target = scratch / "elsewhere dist"
    built = subprocess.run(
        [frontend, "-I", "-m", "build", "--wheel", "--no-isolation", "-o", target]
        + [ROOT / "python/elsewhere"],
        capture_output=True,
        check=False,
        text=True,
    )
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr[-3000:]
    (wheel,) = target.glob("*.whl")
    return wheel


def install(frontend: Path, wheel: Path, folder: Path, *platform: str) -> str:
    done = pip(frontend, "install", "--no-index", "--no-deps", *platform, "--target", folder, wheel)
    return "" if done.returncode == 0 else done.stderr


@pytest.fixture(scope="module")
def package(frontend: Path, wheel_for_others: Path, scratch: Path) -> Path:
    """A folder with the package, as on a Mac."""
    folder = scratch / "elsewhere"
    options = ("--platform", PLATFORMS[0], "--only-binary", ":all:")
    assert install(frontend, wheel_for_others, folder, *options) == ""
    return folder


@pytest.fixture(scope="module")
def linux(scratch: Path, wheel: Path) -> Iterator[Environment]:
    """Where programs run. Without a space: what stands in a command that ssh passes on has none."""
    folder = scratch.with_name("belljar-elsewhere")
    yield make_environment(PYTHON, folder, wheel)
    shutil.rmtree(folder)


@dataclass(frozen=True)
class Mac:
    package: Path
    commands: Path
    remote: str
    variables: dict[str, str]

    def environment(self, **variables: str) -> dict[str, str]:
        return {
            "PATH": f"{self.commands}:/usr/bin:/bin",
            "PYTHONPATH": str(self.package),
            "HOME": "/nonexistent",
            "BELLJAR_REMOTE": self.remote,
            **self.variables,
            **variables,
        }

    def python(self, code: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [PYTHON, "-c", textwrap.dedent(code)],
            env=self.environment(**variables),
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )

    def belljar(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        """The command that pip installs."""
        return subprocess.run(
            [PYTHON, "-c", "import sys; from belljar._elsewhere import main; sys.exit(main())"]
            + list(words),
            env=self.environment(),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            text=True,
            timeout=120,
        )


@pytest.fixture(scope="module")
def over_ssh(package: Path, linux: Environment, scratch: Path) -> Mac:
    commands = scratch / "commands"
    commands.mkdir()
    (commands / "ssh").write_text(SSH)
    (commands / "ssh").chmod(0o755)
    return Mac(package, commands, f"ssh:here:{linux.folder}/bin", {})


def needed_by(programs: list[Path]) -> set[str]:
    """Their shared libraries and the linker."""
    found: set[str] = set()
    for program in programs:
        said = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
        found.update(re.findall(r"(/\S+) \(0x", said))
    return found


def root_of(environment: Environment) -> bytes:
    """A root file system with the environment and its interpreter, as a tar archive."""
    python = Path(PYTHON).resolve()
    library = Path(f"/usr/lib/python{MINOR}")
    compiled = [python, environment.belljar, *environment.packages.rglob("*.so")]
    compiled += [
        *library.glob("lib-dynload/*.so"),
        *environment.installation.rglob("belljar-guest"),
    ]
    archive = io.BytesIO()

    def without_what_is_not_needed(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if re.search(r"/(test|__pycache__|idlelib|pip)(/|$)", entry.name) else entry

    with tarfile.open(fileobj=archive, mode="w", dereference=True) as tar:
        for path in sorted(needed_by(compiled) | {PYTHON, str(python), "/usr/share/zoneinfo"}):
            tar.add(path)
        tar.add(library, filter=without_what_is_not_needed)
    archive.seek(0)
    with tarfile.open(fileobj=archive, mode="a") as tar:
        tar.add(environment.folder, filter=without_what_is_not_needed)
        for name in ("tmp", "proc", "dev", "sys", "etc"):
            folder = tarfile.TarInfo(name)
            folder.type, folder.mode = tarfile.DIRTYPE, 0o1777 if name == "tmp" else 0o755
            tar.addfile(folder)
    return archive.getvalue()


@pytest.fixture(scope="module")
def in_docker(package: Path, linux: Environment, scratch: Path) -> Iterator[Mac]:
    if Path(PYTHON).resolve().parts[:3] != ("/", "usr", "bin"):
        pytest.skip("the image has Debian's own Python")
    daemon = open_daemon()
    name = f"belljar-elsewhere:{uuid.uuid4().hex}"
    path = f"ENV PATH={linux.folder}/bin:/usr/bin"
    # An ordinary user, as in the image that is published.
    changes = ("--change", path, "--change", "USER 10001:10001")
    daemon("import", *changes, "-", name, stdin=root_of(linux))
    commands = scratch / "commands of docker"
    commands.mkdir()
    (commands / "docker").symlink_to(daemon.command)
    yield Mac(package, commands, f"docker:{name}", daemon.environment)
    daemon("rmi", "--force", name)


@pytest.fixture(scope="module", params=["over_ssh", "in_docker"])
def mac(request: pytest.FixtureRequest) -> Mac:
    found: Mac = request.getfixturevalue(request.param)
    return found


# --- installing ----------------------------------------------------------------------------------


@pytest.mark.parametrize("platform", PLATFORMS)
def test_pip_installs_it_on(
    platform: str, frontend: Path, wheel_for_others: Path, tmp_path: Path
) -> None:
    options = ("--platform", platform, "--only-binary", ":all:")
    assert install(frontend, wheel_for_others, tmp_path, *options) == ""
    assert not list(tmp_path.rglob("*.so"))


def test_pip_does_not_install_it_on_linux(
    frontend: Path, wheel_for_others: Path, tmp_path: Path
) -> None:
    assert "not a supported wheel on this platform" in install(frontend, wheel_for_others, tmp_path)


def test_it_is_the_same_version_with_the_same_commands(package: Path) -> None:
    (metadata,) = package.glob("*.dist-info")
    assert metadata.name == f"belljar_sandbox-{VERSION}.dist-info"
    assert (metadata / "entry_points.txt").read_text().count("= belljar._elsewhere:main") == 2
    assert json.loads((package / "belljar/server.json").read_text())["version"] == VERSION


# --- using ---------------------------------------------------------------------------------------


def test_runs_and_sessions(mac: Mac) -> None:
    done = mac.python(
        """
        import belljar
        from belljar import Sandbox

        with Sandbox(timeout="5s", memory="64m") as box:
            result = box.run("sum(prices)", inputs={"prices": [1.5, 2.5]})
            assert result.value == 4.0
            print(result.isolation.mode, belljar.__version__)
            big = box.run("(2**20000, {2}, b'x', {'a': None}, float('inf'))").value
            assert big == (2**20000, {2}, b"x", {"a": None}, float("inf"))
            assert box.run("1/0").error.type == "ZeroDivisionError"
            assert box.run("while True: pass", timeout=0.3).status == "timeout"
            assert box.validate("import ctypes").findings[0].rule == "BJ201"
            printed = []
            box.run("for i in range(3): print(i, flush=True)", stream=lambda *p: printed.append(p))
            assert "".join(text for _, text in printed) == "0\\n1\\n2\\n"
            assert box.run("f(2) + f(3)", functions={"f": lambda x: x * 10}).value == 50
            bad = box.run("f(2)", functions={"f": lambda x: {}[x]}).error
            assert (bad.type, bad.message) == ("KeyError", "'2'"), bad
            with box.session() as session:
                session.run("x = 1")
                one = session.checkpoint("one")
                session.run("x = 2")
                session.rollback(one)
                assert session.run("x").value == 1
                assert [each.run("x + 1").value for each in session.branch(2)] == [2, 2]
            assert "1" in box.run("print(1)").for_model()
            try:
                box.run("1", timeout="nonsense")
            except ValueError as error:
                print(error)
        """
    )
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first == f"strict {VERSION}"
    assert second.startswith('timeout: "nonsense": write seconds')
    place = "a Linux container (docker, " if "docker" in mac.remote else "here (ssh)"
    assert done.stderr.startswith(f"belljar: programs run in {place}")


def test_asyncio(over_ssh: Mac) -> None:
    done = over_ssh.python(
        """
        import asyncio
        from belljar import AsyncSandbox

        async def main():
            async with AsyncSandbox() as box:
                results = await asyncio.gather(*(box.run(f"{n} * 2") for n in range(20)))
                print([each.value for each in results] == [n * 2 for n in range(20)])
                try:
                    await asyncio.wait_for(box.run("while True: pass"), 0.3)
                except TimeoutError:
                    print("cancelled", (await box.run("1")).value)

        asyncio.run(main())
        """
    )
    assert (done.returncode, done.stdout) == (0, "True\ncancelled 1\n"), done.stderr


@pytest.mark.parametrize("where", ["stream", "functions"])
def test_closing_from_within_a_run(over_ssh: Mac, where: str) -> None:
    given = "functions={'close': close}"
    if where == "stream":
        given = "stream=close, functions={'close': int}"
    done = over_ssh.python(
        f"""
        from belljar import BelljarError, Sandbox

        def close(*_):
            box.close()

        box = Sandbox()
        # sleeps: until it is killed
        result = box.run("print(1, flush=True)\\nclose()\\nimport time\\ntime.sleep(1000)", {given})
        print(result.status, result.error.type)
        try:
            box.run("1")
        except BelljarError as error:
            print(error)
        """
    )
    assert done.stdout == "killed Cancelled\nrun in a sandbox: it is closed\n", done.stderr


def test_ctrl_c_ends_the_program_that_runs(over_ssh: Mac) -> None:
    code = """
        from belljar import Sandbox

        with Sandbox() as box:
            tell = lambda *_: print("begun", flush=True)
            try:
                box.run("print('begun', flush=True)\\nwhile True: pass", stream=tell)
            except KeyboardInterrupt:
                print("interrupted", box.run("1").value)
        """
    process = subprocess.Popen(
        [PYTHON, "-c", textwrap.dedent(code)],
        env=over_ssh.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    rest, said = process.communicate(timeout=60)
    assert (process.returncode, rest) == (0, "interrupted 1\n"), said


def test_a_belljar_that_ends_is_an_error_and_the_next_call_starts_another(over_ssh: Mac) -> None:
    done = over_ssh.python(
        """
        import os, signal
        from belljar import BelljarError, Sandbox, SessionClosed

        def end():
            os.kill(int(server), signal.SIGKILL)

        def find():
            # What stands for ssh is our child, and becomes the server.
            global server
            with open(f"/proc/self/task/{os.getpid()}/children") as children:
                (server,) = children.read().split()

        with Sandbox() as box:
            session = box.session()
            find()
            try:
                box.run("end()", functions={"end": end})
            except BelljarError as error:
                print(error)
            try:
                session.run("1")
            except BelljarError as error:
                print(type(error).__name__)
        with Sandbox() as box:
            print(box.run("6 * 7").value)
        """
    )
    first, second, third = done.stdout.splitlines() or done.stderr
    assert first.startswith("run in a sandbox: the Belljar in here (ssh) has ended"), done.stderr
    assert (second, third) == ("BelljarError", "42")


def test_forked_children_open_their_own(over_ssh: Mac) -> None:
    done = over_ssh.python(
        """
        import os
        from belljar import Sandbox

        box = Sandbox()
        print(box.run("1").value, flush=True)
        if os.fork() == 0:
            print(box.run("2").value, flush=True)
            os._exit(0)
        os.wait()
        print(box.run("3").value)
        """
    )
    assert (done.returncode, done.stdout) == (0, "1\n2\n3\n"), done.stderr


def test_the_command(mac: Mac, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text("print('hello')\n")
    version = mac.belljar("--version", cwd=tmp_path)
    assert version.stdout.startswith(f"belljar {VERSION} "), version.stderr
    assert mac.belljar("run", "-c", "import ctypes", cwd=tmp_path).returncode == 3
    if "docker" in mac.remote:
        # The current folder is there.
        tmp_path.chmod(0o755)
        done = mac.belljar("run", "program.py", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, "hello\n"), done.stderr


# --- errors --------------------------------------------------------------------------------------


def error_of(mac: Mac, remote: str, **variables: str) -> tuple[str, str]:
    """What the package says, and what the command says."""
    code = "from belljar import Sandbox, BelljarError\n" + textwrap.dedent(
        """
        try:
            Sandbox().run("1")
        except BelljarError as error:
            print(error, end="")
        """
    )
    other = Mac(mac.package, mac.commands, remote, variables)
    done = other.python(code)
    assert done.returncode == 0, done.stderr
    command = other.belljar("run", "-c", "1", cwd=Path("/"))
    return done.stdout, command.stderr


def test_nowhere_to_run(over_ssh: Mac, tmp_path: Path) -> None:
    said, command = error_of(over_ssh, "", PATH=str(tmp_path))
    wanted = f"Belljar runs on Linux, and this is {sys.platform}: start Docker or Podman, "
    assert said.startswith("start Belljar: " + wanted)
    assert command.startswith("belljar: error: " + wanted)


@pytest.mark.parametrize(
    "remote", ["vagrant", "ssh", "ssh:", "ssh:-oProxyCommand=id", "docker:--privileged", "wsl:-e"]
)
def test_a_place_that_is_none(over_ssh: Mac, remote: str) -> None:
    said, command = error_of(over_ssh, remote)
    assert f"BELLJAR_REMOTE={remote} is none of docker, docker:IMAGE" in said
    assert f"BELLJAR_REMOTE={remote} is none of docker, docker:IMAGE" in command


def test_a_host_that_does_not_answer(over_ssh: Mac) -> None:
    said, command = error_of(over_ssh, "ssh:nowhere")
    assert said == (
        "start Belljar: the Belljar in nowhere (ssh) did not start: "
        "ssh: Could not resolve hostname nowhere"
    )
    assert command == "ssh: Could not resolve hostname nowhere\n"


def test_a_host_without_belljar(over_ssh: Mac) -> None:
    said, _ = error_of(over_ssh, "ssh:here:/usr/bin")
    assert said.startswith("start Belljar: the Belljar in here (ssh) did not start: ")
    assert "No module named" in said


def test_a_command_that_is_not_there(over_ssh: Mac, tmp_path: Path) -> None:
    said, command = error_of(over_ssh, "podman", PATH=str(tmp_path))
    assert said == "start Belljar: start podman: No such file or directory"
    assert command == "belljar: error: start podman: No such file or directory\n"


def test_another_version_there(over_ssh: Mac, tmp_path: Path) -> None:
    other = tmp_path / "package"
    shutil.copytree(over_ssh.package, other)
    published = json.loads((other / "belljar/server.json").read_text())
    published["version"] = "9.9.9"
    (other / "belljar/server.json").write_text(json.dumps(published))
    said, _ = error_of(Mac(other, over_ssh.commands, "", {}), over_ssh.remote)
    assert f"here (ssh) has Belljar {VERSION}, and this is 9.9.9; install the same version" in said


def test_the_server_refuses_to_ask_another(over_ssh: Mac) -> None:
    done = over_ssh.python("import runpy; runpy.run_module('belljar._remote', run_name='__main__')")
    assert done.returncode == 1
    assert done.stderr == "belljar: error: this Python has the Belljar of another system\n"


@pytest.mark.parametrize(
    "bytes_sent",
    [b"\0\0\0\5[1,2", b"\xff\xff\xff\xff", b"\0\0\0\2{}", b"\0\0\0\2[]", b"\0\0\0\3abc", b"\0"],
)
def test_nonsense_ends_the_server(linux: Environment, bytes_sent: bytes) -> None:
    done = subprocess.run(
        [linux.folder / "bin/python", "-I", "-m", "belljar._remote"],
        input=bytes_sent,
        capture_output=True,
        check=False,
        timeout=60,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.returncode == 1
    assert re.fullmatch(rb"belljar: error: [^\n]*message[^\n]*\n", done.stderr), done.stderr
