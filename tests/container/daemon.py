"""The dockerd of tools/containers, by the docker command."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from dataclasses import dataclass
from pathlib import Path

from tests.machine import docker_command, docker_socket, need, need_engine

BLOBS = "blobs/sha256/"


@dataclass(frozen=True)
class Daemon:
    command: str
    socket: Path

    @property
    def environment(self) -> dict[str, str]:
        return {"DOCKER_HOST": f"unix://{self.socket}", "DOCKER_CONFIG": "/nonexistent"}

    def ask(
        self, *arguments: str | Path, stdin: bytes = b"", timeout: float = 360
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            [self.command, *arguments],
            env=self.environment,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=timeout,
        )

    def __call__(self, *arguments: str | Path, stdin: bytes = b"") -> str:
        done = self.ask(*arguments, stdin=stdin)
        assert done.returncode == 0, (arguments, done.stderr.decode(errors="replace"))
        return done.stdout.decode().strip()

    def inspect(self, name: str) -> dict:
        return json.loads(self("inspect", name))[0]


def open_daemon() -> Daemon:
    need_engine("docker")
    daemon = Daemon(str(docker_command()), docker_socket())
    done = daemon.ask("version", timeout=60)
    said = done.stderr.decode()
    need(done.returncode == 0, f"the engine at {daemon.socket} does not answer: {said}")
    return daemon


@dataclass(frozen=True)
class Archive:
    """What is in the file of an image, by the standard library's own reader."""

    manifest: dict
    config: dict
    layer: bytes
    id: str
    reference: str

    @classmethod
    def read(cls, path: Path) -> Archive:
        with tarfile.open(path) as archive:
            files = {
                entry.name: archive.extractfile(entry).read()
                for entry in archive.getmembers()
                if entry.isfile()
            }
        (image,) = json.loads(files["manifest.json"])
        (descriptor,) = json.loads(files["index.json"])["manifests"]
        return cls(
            manifest=json.loads(files["blobs/" + descriptor["digest"].replace(":", "/")]),
            config=json.loads(files[image["Config"]]),
            layer=files[image["Layers"][0]],
            id="sha256:" + image["Config"].removeprefix(BLOBS),
            reference=image["RepoTags"][0],
        )

    def names(self) -> set[str]:
        with tarfile.open(fileobj=io.BytesIO(self.layer)) as layer:
            return set(layer.getnames())
