"""subprocess, for guests: the names that tests patch, and the classes of results and errors.

There are no other processes, so every function refuses. A program may import the module if it uses
unittest.mock (transformer.py): its tests patch subprocess.run, and then nothing is started.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from .objects import its_own_only

PIPE, STDOUT, DEVNULL = -1, -2, -3


class SubprocessError(Exception):
    """The base of the two below."""


class CalledProcessError(SubprocessError):
    """What run(check=True) raises for a process that failed."""

    def __init__(self, returncode: Any, cmd: Any, output: Any = None, stderr: Any = None) -> None:
        self.returncode, self.cmd, self.stderr = returncode, cmd, stderr
        self.output = self.stdout = output

    def __str__(self) -> str:
        return f"Command {self.cmd!r} returned non-zero exit status {self.returncode}."


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


def _refusing(name: str) -> Callable[..., NoReturn]:
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise PermissionError(
            f"[BJ502] subprocess.{name}() would start a process, and other processes are not "
            "available; call the code directly, or patch the function in a test"
        )

    refuse.__name__ = refuse.__qualname__ = name
    return refuse


Popen = _refusing("Popen")
call = _refusing("call")
check_call = _refusing("check_call")
check_output = _refusing("check_output")
getoutput = _refusing("getoutput")
getstatusoutput = _refusing("getstatusoutput")
run = _refusing("run")
