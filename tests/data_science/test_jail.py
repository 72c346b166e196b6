"""The kernel's layers alone: `--language full`, and packages that read and write any memory.

Each attack does in plain Python what it is to do.
"""

from __future__ import annotations

import textwrap

import pytest

from tests.data_science.plain import PlainPython
from tests.data_science.session import Session

LIBC = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
FAILED = ctypes.c_void_p(-1).value
"""

# name: program that prints "done" where nothing holds it
ATTACKS = {
    "memory that is written and executed": LIBC
    + """
        at = libc.mmap(None, 4096, 7, 0x22, -1, 0)
        print("done" if at not in (None, FAILED) else "refused")
    """,
    "machine code in an array": LIBC
    + """
        import numpy as np
        code = np.frombuffer(bytes([0xB8, 42, 0, 0, 0, 0xC3]) + bytes(8186), np.uint8).copy()
        page = (code.ctypes.data + 4095) // 4096 * 4096
        made = libc.mprotect(page, 4096, 7)
        print("done" if made == 0 else "refused")
    """,
    "a library of its own": """
        import ctypes, ctypes.util
        try:
            ctypes.CDLL("/usr/lib/x86_64-linux-gnu/libz.so.1")
            print("done")
        except OSError:
            print("refused")
    """,
    "a file of the host by numpy": """
        import numpy as np
        try:
            print("done" if np.fromfile("/etc/passwd", np.uint8).size else "")
        except OSError:
            print("refused")
    """,
    "a file of the host by pandas": """
        import pandas as pd
        try:
            print("done" if len(pd.read_csv("/etc/passwd", sep="\\x01", engine="python")) else "")
        except OSError:
            print("refused")
    """,
    "a file beside the packages": """
        import numpy, os
        try:
            with open(os.path.join(os.path.dirname(numpy.__file__), "evil.py"), "w") as file:
                file.write("")
            os.unlink(file.name)
            print("done")
        except OSError:
            print("refused")
    """,
    "another program": """
        import os
        try:
            print("done" if os.system("true") == 0 else "refused")
        except OSError:
            print("refused")
    """,
    "a process beside it": """
        import joblib, os
        try:
            child = os.fork()
            if child == 0:
                os._exit(0)
            os.waitpid(child, 0)
            print("done")
        except OSError:
            print("refused")
    """,
    "a pickle": """
        import io, os, pandas as pd
        try:
            pd.read_pickle(io.BytesIO(b"cposix\\nfork\\n(tR."))
            print("done")
        except OSError:
            print("refused")
    """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack(name: str, jail: Session, plain: PlainPython) -> None:
    libc, _, rest = ATTACKS[name].rpartition(LIBC)
    source = libc + _ + textwrap.dedent(rest)
    if name != "a pickle":  # its child would go on as this test's
        control = plain.run(source)
        assert control["stdout"].strip() == "done", control
    outcome = jail.run(source)
    assert "done" not in outcome["stdout"], outcome
    assert outcome["status"] in {"ok", "killed"}, outcome["error"]
    if outcome["status"] == "ok":
        assert outcome["stdout"].strip() == "refused"


def test_reading_past_the_end_ends_the_worker_alone(jail: Session) -> None:
    outcome = jail.run(
        "import numpy as np\n"
        "from numpy.lib.stride_tricks import as_strided\n"
        "as_strided(np.zeros(1, np.uint8), (1 << 40,), (1,)).sum()"
    )
    assert outcome["status"] == "killed" and "SEGV" in outcome["error"]["message"]
    assert jail.run("import numpy\nresult = 1")["result"] == 1


def test_memory_that_it_reads_is_its_own(jail: Session, sandbox: Session) -> None:
    """What another run left is not there: each has its own copy of the zygote's memory."""
    mark = "belljar-mark-" + "x" * 40
    sandbox.run(f"kept = [{mark!r} + str(i) for i in range(1000)]")
    jail.run(f"kept = [{mark!r} + str(i) for i in range(1000)]")
    outcome = jail.run(
        "import re, ctypes\n"
        "found = 0\n"
        "part = 'belljar-mark-'.encode()\n"
        "import numpy as np\n"
        "start = id(np) // (1 << 20) * (1 << 20)\n"
        "for page in range(start, start + (1 << 20), 4096):\n"
        "    found += (part + b'x' * 40) in ctypes.string_at(page, 4096)\n"
        "result = found"
    )
    assert outcome["status"] in {"ok", "killed"}
    assert outcome["status"] == "killed" or outcome["result"] == 0
