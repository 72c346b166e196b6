"""belljar image build --load, with the engines themselves: what they have is what was built."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clocks import until
from tests.container.daemon import Archive, Daemon, open_daemon
from tests.machine import BELLJAR, BUILD, cannot, need_engine

# An engine takes an image of 50 MB within seconds, or minutes where the machine is busy.
pytestmark = pytest.mark.timeout(400)

ENGINES = ["docker", "podman"]


@contextmanager
def podman_service(folder: Path) -> Iterator[Path]:
    """A service of its own, with its own images: Podman has no daemon that would run anyway."""
    need_engine("podman")
    (folder / "podman").mkdir()
    socket = folder / "podman/podman.sock"
    # Podman takes no longer one than 50 characters.
    running = tempfile.mkdtemp(prefix="podman-", dir="/tmp")
    service = subprocess.Popen(
        ["podman", f"--root={folder}/data", f"--runroot={running}", "--storage-driver=vfs"]
        + [f"--tmpdir={folder}/tmp", "system", "service", "--time=0", f"unix://{socket}"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    try:
        until(lambda: socket.exists() or service.poll() is not None)
        if service.poll() is not None:
            cannot(f"podman does not serve: {service.communicate()[1].decode()}")
        yield socket
    finally:
        service.terminate()
        service.communicate(timeout=30)
        shutil.rmtree(running)


@pytest.fixture(scope="module", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[str, Daemon]]:
    """Its name and the docker command for its socket, which Podman understands too."""
    docker = open_daemon()
    if request.param == "docker":
        yield "docker", docker
        return
    with podman_service(tmp_path_factory.mktemp("engine")) as socket:
        yield "podman", Daemon(docker.command, socket)


def environment(socket: Path) -> dict[str, str]:
    """Where Belljar looks for either engine: DOCKER_HOST, and Podman's place below a folder."""
    if socket.parent.name == "podman":
        return {"XDG_RUNTIME_DIR": str(socket.parent.parent)}
    return {"DOCKER_HOST": f"unix://{socket}"}


def build(*arguments: str | Path, socket: Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BELLJAR, "image", "build", *arguments],
        env=environment(socket),
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


@dataclass(frozen=True)
class Built:
    facts: dict
    archive: Archive
    path: Path
    socket: Path


@pytest.fixture(scope="module")
def loaded(engine: tuple[str, Daemon], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Built]:
    """An image of a profile of these tests' own: what others have loaded keeps its name."""
    name, daemon = engine
    folder = tmp_path_factory.mktemp("loaded")
    basic = (BUILD / "share/belljar/profiles/basic.toml").read_text()
    profile = folder / "own.toml"
    profile.write_text(basic.replace('name = "basic"', f'name = "load-test-{os.getpid()}"', 1))
    done = build(
        *("--profile", profile, "--load", name, "--output", "image.tar", "--json"),
        socket=daemon.socket,
        cwd=folder,
    )
    assert (done.returncode, done.stderr) == (0, "")
    path = folder / "image.tar"
    facts = json.loads(done.stdout)
    yield Built(facts, Archive.read(path), path, daemon.socket)
    daemon.ask("rmi", "--force", facts["reference"])


def bare(digest: str) -> str:
    """Podman leaves out which kind of digest it is."""
    return digest.removeprefix("sha256:")


def test_the_engine_has_what_was_built(engine: tuple[str, Daemon], loaded: Built) -> None:
    name, daemon = engine
    assert loaded.facts["loaded"] == name
    there = daemon.inspect(loaded.facts["reference"])
    assert bare(there["Id"]) == bare(loaded.facts["id"]) == bare(loaded.archive.id)
    ours = loaded.archive.config["config"]
    assert there["Config"]["Labels"] == ours["Labels"]
    assert there["Config"]["User"] == "65534:65534"
    assert there["Config"]["Entrypoint"] == ["/opt/belljar/belljar-guest"]
    assert there["RootFS"]["Layers"] == loaded.archive.config["rootfs"]["diff_ids"]
    assert there["Config"]["Labels"]["belljar.inputs"] == loaded.facts["inputs"]


def test_loading_it_again_adds_nothing(engine: tuple[str, Daemon], loaded: Built) -> None:
    """By its socket, without a file; a terminal shows how far it is."""
    name, daemon = engine
    before = daemon("images", "--all", "--no-trunc", "--quiet", loaded.facts["reference"])
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        child = subprocess.Popen(
            [BELLJAR, "image", "build", "--profile", "own.toml", "--load", name, "--json"],
            env=environment(daemon.socket),
            cwd=loaded.path.parent,
            stdout=subprocess.PIPE,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := terminal.read(4096):
                shown += piece
        except OSError:  # Linux says so when the last writer has closed
            pass
        facts = json.loads(child.communicate(timeout=60)[0])
    assert child.returncode == 0
    assert f"\rloading into {name} ".encode() in shown
    assert shown.endswith(b"\r\x1b[K")
    assert (facts["digest"], facts["file"]) == (loaded.facts["digest"], None)
    after = daemon("images", "--all", "--no-trunc", "--quiet", loaded.facts["reference"])
    assert after == before != ""


def test_the_file_by_hand(engine: tuple[str, Daemon], loaded: Built) -> None:
    """docker load --input, after it was removed."""
    _, daemon = engine
    reference = loaded.facts["reference"]
    daemon("rmi", "--force", reference)
    assert daemon.ask("inspect", reference).returncode != 0
    assert reference in daemon("load", "--input", loaded.path)
    assert bare(daemon.inspect(reference)["Id"]) == bare(loaded.facts["id"])


@pytest.mark.parametrize("engine", ["docker"], indirect=True)
def test_its_program_is_all_that_can_be_started(engine: tuple[str, Daemon], loaded: Built) -> None:
    """There is no shell to be had in its place. What Podman starts: real_engines_test."""
    _, daemon = engine
    options = ("run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL")
    reference = loaded.facts["reference"]
    done = daemon.ask(*options, reference, "--help")
    assert b"belljar-guest" in done.stdout + done.stderr
    for program in ("/bin/sh", "sh", "/usr/bin/python3", "/usr/bin/apt-get"):
        shell = daemon.ask(*options, f"--entrypoint={program}", reference)
        assert shell.returncode == 127, shell
