"""belljar image build and belljar image verify, in an installation of their own."""

import hashlib
import io
import json
import os
import pty
import shutil
import socket
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.machine import need, need_root

from .conftest import PROGRAM, Done


def not_copied(folder: str, names: list[str]) -> list[str]:
    """Images, and the packages of profiles, 700 MB that are in no image of basic."""
    is_of_packages = Path(folder).match("share/belljar/packages")
    return [name for name in names if is_of_packages or name.endswith(".tar")]


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    """A folder with the programs and share/belljar, as a build tree has them. Any program may stand
    for the one that a container starts: none is started here."""
    folder = tmp_path_factory.mktemp("installation")
    for name in ("belljar", "belljar-zygote"):
        shutil.copy(PROGRAM.parent / name, folder / name)
    shutil.copy(PROGRAM.parent / "belljar-zygote", folder / "belljar-guest")
    (folder / "share").symlink_to(PROGRAM.parent / "share")
    return folder


@pytest.fixture(scope="module")
def image(place):
    def run(*arguments: str | Path, cwd: Path = place) -> Done:
        done = subprocess.run(
            [place / "belljar", "image", *arguments],
            capture_output=True,
            check=False,
            cwd=cwd,
            timeout=120,
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture(scope="module")
def built(image, place) -> Path:
    done = image("build")
    assert (done.code, done.stderr) == (0, "")
    assert "\n  profile  " in done.stdout
    assert done.stdout.endswith("\nwritten to belljar-basic.tar\n")
    return place / "belljar-basic.tar"


def test_the_file_is_an_oci_layout_and_dockers_archive(built):
    with tarfile.open(built) as archive:
        files = {
            entry.name: archive.extractfile(entry).read()
            for entry in archive.getmembers()
            if entry.isfile()
        }
    for name, content in files.items():
        if name.startswith("blobs/sha256/"):
            assert name == "blobs/sha256/" + hashlib.sha256(content).hexdigest()

    def blob(descriptor):
        content = files["blobs/" + descriptor["digest"].replace(":", "/")]
        assert descriptor["size"] == len(content)
        return content

    assert json.loads(files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}
    manifest = json.loads(blob(json.loads(files["index.json"])["manifests"][0]))
    config = json.loads(blob(manifest["config"]))
    layer = blob(manifest["layers"][0])
    assert config["config"]["User"] == "65534:65534"
    assert config["config"]["Entrypoint"] == ["/opt/belljar/belljar-guest"]
    assert config["config"]["Labels"]["belljar.profile"] == "basic"
    assert config["rootfs"]["diff_ids"] == ["sha256:" + hashlib.sha256(layer).hexdigest()]
    assert json.loads(files["manifest.json"]) == [
        {
            "Config": "blobs/" + manifest["config"]["digest"].replace(":", "/"),
            "RepoTags": ["belljar:0.1.0-basic"],
            "Layers": ["blobs/" + manifest["layers"][0]["digest"].replace(":", "/")],
        }
    ]
    with tarfile.open(fileobj=io.BytesIO(layer)) as tree:
        entries = tree.getmembers()
    assert [entry.name for entry in entries] == sorted(entry.name for entry in entries)
    for entry in entries:
        assert entry.isfile() or entry.isdir(), entry.name
        assert (entry.uid, entry.gid, entry.mtime, entry.mode & 0o7222) == (0, 0, 0, 0), entry.name


def test_another_build_is_the_same_file(image, built, tmp_path):
    done = image("build", "--output", tmp_path / "again.tar", "--json")
    assert (done.code, done.stderr) == (0, "")
    facts = json.loads(done.stdout)
    assert facts["reference"] == "belljar:0.1.0-basic"
    assert sum(facts["parts"].values()) < facts["size_bytes"] < 60_000_000
    assert (tmp_path / "again.tar").read_bytes() == built.read_bytes()


def test_verify_of_what_was_built(image, built):
    done = image("verify", built)
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.endswith("all digests match, and all files are from this installation\n")
    facts = json.loads(image("verify", built, "--json").stdout)
    assert (facts["ok"], facts["faults"], facts["differences"]) == (True, [], [])


def test_verify_of_a_damaged_one(image, built, tmp_path):
    damaged = tmp_path / "damaged.tar"
    content = bytearray(built.read_bytes())
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    done = image("verify", damaged)
    assert (done.code, done.stderr) == (1, "")
    assert done.stdout.startswith("damaged, or not built by Belljar\n")
    assert "has another digest: sha256:" in done.stdout
    facts = json.loads(image("verify", damaged, "--json").stdout)
    assert facts["ok"] is False
    assert len(facts["faults"]) == 1


def test_verify_in_another_installation(image, built, place):
    guest = place / "belljar-guest"
    guest.chmod(0o755)
    whole = guest.read_bytes()
    try:
        guest.write_bytes(Path("/bin/true").read_bytes())
        done = image("verify", built)
    finally:
        guest.write_bytes(whole)
    assert (done.code, done.stderr) == (1, "")
    assert (
        "differs from what this installation would build\n  /opt/belljar/belljar-guest is another\n"
        in (done.stdout)
    )


def test_verify_of_what_is_no_image(image, tmp_path):
    text = tmp_path / "text"
    text.write_text("no tar")
    assert image("verify", text).code == 1
    for path in (tmp_path / "nothing", tmp_path, Path("/dev/zero")):
        done = image("verify", path)
        assert (done.code, done.stdout) == (5, "")
        assert done.stderr.startswith("belljar: error: open ")


def test_what_is_missing_is_named(image, place, tmp_path):
    guest = place / "belljar-guest"
    away = guest.rename(place / "away")
    try:
        done = image("build", "--output", tmp_path / "image.tar")
    finally:
        away.rename(guest)
    assert done.code == 5
    assert f"there is no {guest}" in done.stderr
    assert not any(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(image, tmp_path):
    done = image("build", "--output", tmp_path / "no" / "image.tar")
    assert done.code == 5
    assert "No such file or directory" in done.stderr
    done = image("build", "--output", tmp_path)
    assert done.code == 5
    assert "it exists and is not a file" in done.stderr


# A file system with less room than an image needs, which goes away with the command. Says what is
# left in it.
FULL_DISK = """
mount -t tmpfs -o size=8m none "$1" && cd "$1" && shift
"$@"
code=$?
ls -A
exit $code
"""


def test_a_full_disk(place, tmp_path):
    wrapper = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", FULL_DISK, "sh"]
    control = subprocess.run(
        [*wrapper, tmp_path, "touch", "here"], capture_output=True, check=False
    )
    need(control.returncode == 0, f"no disk can be mounted here: {control.stderr.decode()}")
    assert control.stdout == b"here\n", control.stderr
    done = subprocess.run(
        [*wrapper, tmp_path, place / "belljar", "image", "build", "--output", "image.tar"],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert (done.returncode, done.stdout) == (5, "")
    assert "No space left on device" in done.stderr
    assert '"image.tar"' in done.stderr


def test_a_folder_that_is_somebody_elses(place, tmp_path):
    need_root("can be somebody else")
    tmp_path.chmod(0o755)
    for folder in tmp_path.parents[:-2]:
        folder.chmod(folder.stat().st_mode | 0o011)
    home = tmp_path / "installation"
    shutil.copytree(place, home, ignore=not_copied, ignore_dangling_symlinks=True)
    subprocess.run(["chmod", "-R", "a+rX", home], check=True)
    for output, user, code in (("image.tar", 65534, 5), ("image.tar", 0, 0)):
        done = subprocess.run(
            [home / "belljar", "image", "build", "--output", output],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            user=user,
            group=user,
            timeout=120,
        )
        assert done.returncode == code, done.stderr
        if code != 0:
            assert done.stdout == ""
            assert "Permission denied" in done.stderr and '"image.tar"' in done.stderr


@pytest.fixture
def socket_path(tmp_path) -> Path:
    path = tmp_path / "engine.sock"
    assert len(str(path)) < 108
    return path


def load_over(place, path: Path, folder: Path, **more) -> subprocess.CompletedProcess:
    return subprocess.run(
        [place / "belljar", "image", "build", "--load", "docker"],
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={"DOCKER_HOST": f"unix://{path}", "TMPDIR": str(folder)},
        timeout=120,
        **more,
    )


def test_an_engine_that_is_not_there(place, tmp_path, socket_path):
    done = load_over(place, socket_path, tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert "engine.sock" in done.stderr and "there is no such socket" in done.stderr
    assert not any(tmp_path.iterdir())


def test_an_engine_that_has_stopped(place, tmp_path, socket_path):
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(socket_path))
    done = load_over(place, socket_path, tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert "engine.sock" in done.stderr and "has stopped" in done.stderr
    assert list(tmp_path.iterdir()) == [socket_path]


def test_a_socket_that_is_not_ours_to_use(place, tmp_path, socket_path):
    need_root("can be somebody else")
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    scratch.chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents[:-2], place):
        folder.chmod(folder.stat().st_mode | 0o055)
    with socket.socket(socket.AF_UNIX) as engine:
        engine.bind(str(socket_path))
        socket_path.chmod(0o600)
        engine.listen()
        done = load_over(place, socket_path, scratch, user=65534, group=65534)
    assert (done.returncode, done.stdout) == (5, "")
    assert "engine.sock" in done.stderr and "may not use it" in done.stderr
    assert not any(scratch.iterdir())


def test_an_installation_elsewhere_gives_the_same(built, place, tmp_path):
    home = tmp_path / "an installation elsewhere"
    shutil.copytree(place, home, ignore=not_copied, ignore_dangling_symlinks=True)
    done = subprocess.run(
        [home / "belljar", "image", "build", "--output", tmp_path / "image.tar", "--json"],
        capture_output=True,
        check=False,
        cwd=tmp_path,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "image.tar").read_bytes() == built.read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "Usage: belljar image"),
        (["biuld"], 'unknown command "biuld"; did you mean "build"?'),
        (["--json"], 'belljar image: unknown option "--json"'),
        (["--json", "build"], 'belljar image: unknown option "--json"'),
        (["build", "--profil", "basic"], 'belljar image build: unknown option "--profil"'),
        (["build", "more"], 'belljar image build: unexpected argument "more"'),
        (["build", "--profile", "basci"], 'unknown profile "basci"'),
        (["build", "--load", "dokcer"], '--load: unknown engine "dokcer"'),
        (["verify"], "belljar image verify: "),
        (["verify", "a", "b"], 'belljar image verify: unexpected argument "b"'),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_usage(image, arguments, words):
    done = image(*arguments)
    assert (done.code, done.stdout) == (2, "")
    assert words in done.stderr


def test_a_terminal_shows_how_far_it_is(place, tmp_path):
    ours, theirs = pty.openpty()
    with os.fdopen(ours, "rb", buffering=0) as terminal:
        child = subprocess.Popen(
            [place / "belljar", "image", "build", "--output", tmp_path / "image.tar"],
            stdout=subprocess.DEVNULL,
            stderr=theirs,
        )
        os.close(theirs)
        shown = b""
        try:
            while piece := terminal.read(4096):
                shown += piece
        except OSError:  # Linux says so when the last writer has closed
            pass
        assert child.wait(timeout=60) == 0
    assert b"\rwriting " in shown
    assert shown.endswith(b"\r\x1b[K")
