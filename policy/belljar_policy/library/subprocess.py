"""subprocess, for guests: the names that tests patch, and the classes of results and errors.

There are no other processes, so every function refuses. A program may import the module if it uses
unittest.mock (transformer.py): its tests patch subprocess.run, and then nothing is started.
"""

from __future__ import annotations

import subprocess as library
from collections.abc import Callable
from typing import Any, NoReturn

CalledProcessError = library.CalledProcessError
CompletedProcess = library.CompletedProcess
SubprocessError = library.SubprocessError
TimeoutExpired = library.TimeoutExpired
DEVNULL, PIPE, STDOUT = library.DEVNULL, library.PIPE, library.STDOUT


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
