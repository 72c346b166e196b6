"""Where Belljar runs if not on this system: in a Linux container, on a Linux host over ssh, or in WSL.

`BELLJAR_REMOTE` chooses: docker, podman (with `:IMAGE` for another image than the published one),
ssh:HOST, wsl or wsl:DISTRIBUTION. Without it, the first that works: WSL on Windows, then Docker, then
Podman.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

VERSION = "0.1.0"
IMAGE = f"belljar/belljar:{VERSION}"

# The engine's own filter forbids the namespaces that strict isolation is made of. Nothing else runs in
# this container, and each program gets a filter that allows less.
_ENGINE_OPTIONS = (
    "--rm",
    "--interactive",
    "--init",
    "--security-opt=seccomp=unconfined",
    "--security-opt=apparmor=unconfined",
)

_HOW = (
    "Belljar runs on Linux, and this is {system}. Start Docker or Podman, in whose Linux containers "
    "it then runs, or set BELLJAR_REMOTE: docker, podman, ssh:HOST or wsl (docs/elsewhere.md)"
)


class NoPlaceError(Exception):
    """There is nowhere to run; the message says what to do."""


@dataclass(frozen=True)
class Place:
    kind: str
    """"docker", "podman", "ssh" or "wsl"."""
    where: str
    """An image, a host or a distribution; empty: the default distribution."""

    @property
    def name(self) -> str:
        if self.kind == "ssh":
            return f"{self.where} (ssh)"
        if self.kind == "wsl":
            return f"WSL ({self.where})" if self.where else "WSL"
        return f"a Linux container ({self.kind}, {self.where})"

    def _wrap(self, words: Sequence[str], options: Sequence[str], program: str) -> list[str]:
        if self.kind == "ssh":
            return ["ssh", self.where, "--", shlex.join([program, *words])]
        if self.kind == "wsl":
            chosen = ["--distribution", self.where] if self.where else []
            return ["wsl.exe", *chosen, "--exec", program, *words]
        entry = f"--entrypoint={program}"
        return [self.kind, "run", *_ENGINE_OPTIONS, *options, entry, self.where, *words]

    def python(self, *words: str) -> list[str]:
        """The command that starts the Python beside Belljar, with these arguments."""
        return self._wrap(words, [], "python3")

    def belljar(self, words: Sequence[str], *, at_a_terminal: bool) -> list[str]:
        """The command belljar with these arguments, in the folder where we are. In a container only
        that folder is visible."""
        options = ["--tty"] if at_a_terminal else []
        if self.kind in ("docker", "podman"):
            here = str(Path.cwd())
            inside = "/" + here.replace("\\", "/").replace(":", "").lstrip("/")
            options += [f"--volume={here}:{inside}", f"--workdir={inside}"]
        return self._wrap(words, options, "belljar")


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


def find_place() -> Place:
    """Where to run.

    Raises:
        NoPlaceError: There is no such place.
    """
    chosen, _, where = os.environ.get("BELLJAR_REMOTE", "").partition(":")
    image = where or IMAGE
    if chosen in ("docker", "podman"):
        return Place(chosen, image)
    if (chosen == "ssh" and where and not where.startswith("-")) or chosen == "wsl":
        return Place(chosen, where)
    if chosen:
        raise NoPlaceError(
            f"BELLJAR_REMOTE={os.environ['BELLJAR_REMOTE']} is none of docker, docker:IMAGE, podman, "
            "podman:IMAGE, ssh:HOST, wsl and wsl:DISTRIBUTION"
        )
    if sys.platform == "win32" and _works(["wsl.exe", "--exec", "belljar", "--version"]):
        return Place("wsl", "")
    for engine in ("docker", "podman"):
        if _works([engine, "info"]):
            return Place(engine, IMAGE)
    systems = {"darwin": "macOS", "win32": "Windows"}
    raise NoPlaceError(_HOW.format(system=systems.get(sys.platform, sys.platform)))


def main() -> int:
    """The command `belljar`."""
    try:
        place = find_place()
    except NoPlaceError as error:
        print(f"belljar: error: {error}", file=sys.stderr)
        return 5
    at_a_terminal = sys.stdin.isatty() and sys.stdout.isatty()
    command = place.belljar(sys.argv[1:], at_a_terminal=at_a_terminal)
    if at_a_terminal:
        print(f"belljar: in {place.name}", file=sys.stderr)
    try:
        return subprocess.call(command)
    except KeyboardInterrupt:
        return 130
    except OSError as error:
        print(f"belljar: error: start {command[0]}: {error.strerror}", file=sys.stderr)
        return 5
