"""subprocess, for guests: the names that tests patch, and the classes of results and errors.

There are no other processes, so every function refuses (refusing.py).
"""

from __future__ import annotations

from functools import partial
from typing import Any

from . import refusing
from .objects import its_own_only

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    """The base of the two below."""


@its_own_only
class CalledProcessError(SubprocessError):
    """What run(check=True) raises for a process that failed."""

    def __init__(self, returncode: Any, cmd: Any, output: Any = None, stderr: Any = None) -> None:
        self.returncode, self.cmd, self.stderr = returncode, cmd, stderr
        self.output = self.stdout = output

    def __str__(self) -> str:
        return f"Command {self.cmd!r} returned non-zero exit status {self.returncode}."


@its_own_only
class TimeoutExpired(SubprocessError):
    """What run(timeout=…) raises for a process that takes too long."""

    def __init__(self, cmd: Any, timeout: Any, output: Any = None, stderr: Any = None) -> None:
        self.cmd, self.timeout, self.stderr = cmd, timeout, stderr
        self.output = self.stdout = output

    def __str__(self) -> str:
        return f"Command {self.cmd!r} timed out after {self.timeout} seconds"


@its_own_only
class CompletedProcess:
    """What run() returns."""

    def __init__(self, args: Any, returncode: Any, stdout: Any = None, stderr: Any = None) -> None:
        self.args, self.returncode, self.stdout, self.stderr = args, returncode, stdout, stderr

    def check_returncode(self) -> None:
        """Raises CalledProcessError unless the process ended well."""
        if self.returncode:
            raise CalledProcessError(self.returncode, self.args, self.stdout, self.stderr)

    def __repr__(self) -> str:
        named = {"args": self.args, "returncode": self.returncode}
        if self.stdout is not None:
            named["stdout"] = self.stdout
        if self.stderr is not None:
            named["stderr"] = self.stderr
        return f"CompletedProcess({', '.join(f'{k}={v!r}' for k, v in named.items())})"


_WHY = (
    "would start a process, and other processes are not available; call the code directly, or "
    "patch it in a test"
)
_function = partial(refusing.function, why=_WHY)

Popen = _function("subprocess.Popen")
call = _function("subprocess.call")
check_call = _function("subprocess.check_call")
check_output = _function("subprocess.check_output")
getoutput = _function("subprocess.getoutput")
getstatusoutput = _function("subprocess.getstatusoutput")
run = _function("subprocess.run")
