"""Where Belljar runs if not on this system: in a Linux container, on a Linux host over ssh, or in
WSL.

`BELLJAR_REMOTE` chooses (docs/elsewhere.md). Without it, the first that works: WSL on Windows, then
Docker, then Podman.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

# The MCP registry's description of this package.
_PUBLISHED = json.loads(Path(__file__).with_name("server.json").read_text(encoding="utf-8"))
VERSION: str = _PUBLISHED["version"]
(IMAGE,) = (each["identifier"] for each in _PUBLISHED["packages"] if each["registryType"] == "oci")

# Strict isolation is made of namespaces, which the engine's own filter and AppArmor forbid. No
# privilege is needed, nothing but Belljar is in this container, and each program gets a filter that
# allows less.
_ENGINE_OPTIONS = (
    "--rm",
    "--interactive",
    "--init",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
)

_SYSTEMS = {"darwin": "macOS", "win32": "Windows"}
# Exit codes of the command (docs/cli.md).
_OURS = 5
_INTERRUPTED = 130

_FORMS = (
    "docker, docker:IMAGE, podman, podman:IMAGE, ssh:HOST[:FOLDER], wsl, wsl:DISTRIBUTION[:FOLDER]"
)


class NoPlaceError(Exception):
    """There is nowhere to run; the message says what to do."""


@dataclass(frozen=True)
class Place:
    kind: str
    """"docker", "podman", "ssh" or "wsl"."""
    where: str
    """An image, a host or a distribution; empty: the default distribution."""
    folder: str = ""
    """The folder of the programs there, if it is not on PATH."""

    @property
    def name(self) -> str:
        if self.kind == "ssh":
            return f"{self.where} (ssh)"
        if self.kind == "wsl":
            return f"WSL ({self.where})" if self.where else "WSL"
        return f"a Linux container ({self.kind}, {self.where})"

    def _wrap(self, program: str, words: Sequence[str], options: Sequence[str] = ()) -> list[str]:
        path = f"{self.folder}/{program}" if self.folder else program
        if self.kind == "ssh":
            return ["ssh", *options, self.where, "--", shlex.join([path, *words])]
        if self.kind == "wsl":
            chosen = ["--distribution", self.where] if self.where else []
            return ["wsl.exe", *chosen, "--exec", path, *words]
        entry = f"--entrypoint={path}"
        return [self.kind, "run", *_ENGINE_OPTIONS, *options, entry, self.where, *words]

    def python(self, *words: str) -> list[str]:
        """The command that starts the Python in which Belljar is installed there."""
        return self._wrap("python3", words)

    def belljar(self, words: Sequence[str], *, at_a_terminal: bool) -> list[str]:
        """The command belljar with these arguments. In a container the current folder is visible,
        and nothing else of this machine."""
        options = []
        if self.kind in ("docker", "podman"):
            here = str(Path.cwd())
            inside = "/" + here.replace("\\", "/").replace(":", "").lstrip("/")
            options = [f"--mount=type=bind,source={here},target={inside}", f"--workdir={inside}"]
        if at_a_terminal and self.kind != "wsl":
            options.append("-t")
        return self._wrap("belljar", words, options)


def _works(command: Sequence[str]) -> bool:
    if shutil.which(command[0]) is None:
        return False
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=30
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0


def _chosen(text: str) -> Place:
    kind, _, rest = text.partition(":")
    if kind in ("docker", "podman") and not rest.startswith("-"):
        return Place(kind, rest or IMAGE)
    host, _, folder = rest.partition(":")
    if not host.startswith("-") and ((kind == "ssh" and host) or kind == "wsl"):
        return Place(kind, host, folder)
    raise NoPlaceError(f"BELLJAR_REMOTE={text} is none of {_FORMS}")


def find_place() -> Place:
    """Where to run.

    Raises:
        NoPlaceError: There is no such place.
    """
    if text := os.environ.get("BELLJAR_REMOTE"):
        return _chosen(text)
    if sys.platform == "win32" and _works(["wsl.exe", "--exec", "belljar", "--version"]):
        return Place("wsl", "")
    for engine in ("docker", "podman"):
        if _works([engine, "info"]):
            return Place(engine, IMAGE)
    raise NoPlaceError(
        f"Belljar runs on Linux, and this is {_SYSTEMS.get(sys.platform, sys.platform)}: start "
        "Docker or Podman, in whose Linux containers it then runs, or set BELLJAR_REMOTE to one of "
        + _FORMS
    )


def main() -> int:
    """The command `belljar`."""
    try:
        place = find_place()
    except NoPlaceError as error:
        print(f"belljar: error: {error}", file=sys.stderr)
        return _OURS
    at_a_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    if at_a_terminal:
        print(f"belljar: in {place.name}", file=sys.stderr)
    command = place.belljar(sys.argv[1:], at_a_terminal=at_a_terminal)
    try:
        return subprocess.call(command)
    except KeyboardInterrupt:
        return _INTERRUPTED
    except OSError as error:
        print(f"belljar: error: start {command[0]}: {error.strerror}", file=sys.stderr)
        return _OURS
