"""The kernel's layers alone: `--policy off`, and packages that read and write any memory.

Each attack does in plain Python what it is to do.
"""

from __future__ import annotations

import sysconfig
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
            ctypes.CDLL("/usr/lib/MULTIARCH/libz.so.1")
            print("done")
        except OSError:
            print("refused")
    """.replace("MULTIARCH", sysconfig.get_config_var("MULTIARCH")),
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
    "code made as a compiler makes it": LIBC
    + """
        at = libc.mmap(None, 4096, 3, 0x22, -1, 0)
        ctypes.memmove(at, bytes([0xB8, 42, 0, 0, 0, 0xC3]), 6)
        made = libc.mprotect(at, 4096, 5)
        print("done" if made == 0 and ctypes.CFUNCTYPE(ctypes.c_int)(at)() == 42 else "refused")
    """,
    "a file in memory as code": LIBC
    + """
        import os
        try:
            file = os.memfd_create("code")
            os.write(file, bytes([0xB8, 42, 0, 0, 0, 0xC3]))
            at = libc.mmap(None, 4096, 5, 2, file, 0)
            print("done" if ctypes.CFUNCTYPE(ctypes.c_int)(at)() == 42 else "refused")
        except OSError:
            print("refused")
    """,
    "what is read may be executed": LIBC
    + """
        libc.personality(0x0400000)  # READ_IMPLIES_EXEC
        at = libc.mmap(None, 4096, 3, 0x22, -1, 0)
        ctypes.memmove(at, bytes([0xB8, 42, 0, 0, 0, 0xC3]), 6)
        print("done" if ctypes.CFUNCTYPE(ctypes.c_int)(at)() == 42 else "refused")
    """,
    "libc's code is written over": LIBC
    + """
        target = ctypes.cast(libc.getppid, ctypes.c_void_p).value
        if libc.mprotect(target & ~4095, 8192, 7) == 0:
            ctypes.memmove(target, bytes([0xB8, 42, 0, 0, 0, 0xC3]), 6)
        print("done" if libc.getppid() == 42 else "refused")
    """,
    "libc's code is written over by numpy": LIBC
    + """
        import numpy as np
        from numpy.lib.stride_tricks import as_strided
        target = ctypes.cast(libc.getppid, ctypes.c_void_p).value
        libc.mprotect(target & ~4095, 8192, 7)
        memory = np.zeros(1, np.uint8)
        far = as_strided(memory, (2,), (target - memory.ctypes.data,))
        far[1] = 0xC3
        print("done" if libc.getppid() != -1 else "refused")
    """,
    "a function of libc by its address": LIBC
    + """
        address = ctypes.cast(libc.system, ctypes.c_void_p).value
        system = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p)(address)
        print("done" if system(b"true") == 0 else "refused")
    """,
    "a pool of processes": """
        try:
            from joblib.externals.loky import ProcessPoolExecutor
            from joblib.externals.loky.backend import get_context
            process = get_context("fork").Process(target=int)
            process.start()
            process.join()
            print("done" if process.exitcode == 0 else "refused")
        except OSError:
            print("refused")
    """,
    "pages that are shared with neighbours": LIBC
    + """
        at = libc.mmap(None, 8 << 20, 3, 0x22, -1, 0)
        print("done" if libc.madvise(ctypes.c_void_p(at), 8 << 20, 12) == 0 else "refused")
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


WRITTEN = """
import numpy as np
from numpy.lib.stride_tricks import as_strided
one = np.zeros(1, np.uint8)
far = as_strided(one, (1 << 40,), (1,))
"""


@pytest.mark.parametrize("act", ["far[1 << 39] = 1", "far[:] = 65", "far[: 1 << 30].fill(255)"])
def test_writing_past_the_end_ends_the_worker_alone(act: str, jail: Session) -> None:
    """Over the heap, the interpreter, and what the worker shares with the host."""
    outcome = jail.run(WRITTEN + act)
    assert outcome["status"] == "killed", outcome
    assert "SEGV" in outcome["error"]["message"] or "ABRT" in outcome["error"]["message"]
    assert jail.run("import numpy as np\nresult = int(np.arange(4).sum())")["result"] == 6


def test_as_strided_reads_its_neighbour(plain: PlainPython) -> None:
    """The control: it is all of the process's memory that the attacks above have."""
    found = plain.run(
        WRITTEN + "other = np.full(4096, 77, np.uint8)\n"
        "far = as_strided(one, (2,), (other.ctypes.data - one.ctypes.data,))\n"
        "far[1] = 78\nprint(other[0])"
    )
    assert found["stdout"] == "78\n", found


BOMBS = {
    "an array": "import numpy as np\nnp.ones(60_000_000).sum()",
    "many arrays": "import numpy as np\nkept = [np.ones(10_000) for _ in range(6000)]",
    "a page of each two megabytes": "import numpy as np\n"
    "kept = [np.zeros(1 << 21, np.uint8) for _ in range(240)]\n"
    "for each in kept: each[0] = 1",
    # Thin factors: as much memory as square ones, in a thirtieth of the time.
    "a product": "import numpy as np\na = np.ones((3000, 100)); b = [a @ a.T for _ in range(6)]",
    "a join": "import pandas as pd\na = pd.DataFrame({'k': [1] * 4000})\n"
    "b = a.head(3000).merge(a, on='k')",
    "a kernel": "import numpy as np\nfrom sklearn.metrics.pairwise import rbf_kernel\n"
    "rbf_kernel(np.ones((5000, 2))).sum()",
}


@pytest.mark.parametrize("policy", ["on", "off"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_meets_the_limit(name: str, policy: str, sandbox: Session, jail: Session) -> None:
    session = sandbox if policy == "on" else jail
    outcome = session.run(BOMBS[name], memory_limit="128m")
    assert outcome["status"] == "memory_limit", outcome
    assert "memory" in outcome["error"]["message"] + outcome["error"]["hint"]
    assert outcome["stderr"] == ""
    assert session.run(BOMBS[name], memory_limit="2g")["status"] == "ok"  # the control
