"""The ways in which programs of competitions and ordinary scripts read and write their streams.

Each idiom prints the same here as in plain Python.
"""

from __future__ import annotations

import os
import subprocess
import textwrap
from pathlib import Path

import pytest

from .test_programs import BELLJAR, PYTHON, pytestmark  # noqa: F401 (applies here too)

# Numbers, one to a line, and a text that is not ASCII.
INPUT = b"3\n10 20 30\nd\xc3\xa9j\xc3\xa0 vu\nlast\n"

FAST_IO = """
import os, sys
from io import BytesIO, IOBase
BUFSIZE = 8192
class FastIO(IOBase):
    newlines = 0
    def __init__(self, file):
        self._fd = file.fileno()
        self.buffer = BytesIO()
        self.writable = "x" in file.mode or "r" not in file.mode
        self.write = self.buffer.write if self.writable else None
    def read(self):
        while True:
            b = os.read(self._fd, max(os.fstat(self._fd).st_size, BUFSIZE))
            if not b:
                break
            ptr = self.buffer.tell()
            self.buffer.seek(0, 2), self.buffer.write(b), self.buffer.seek(ptr)
        self.newlines = 0
        return self.buffer.read()
    def readline(self):
        while self.newlines == 0:
            b = os.read(self._fd, max(os.fstat(self._fd).st_size, BUFSIZE))
            self.newlines = b.count(b"\\n") + (not b)
            ptr = self.buffer.tell()
            self.buffer.seek(0, 2), self.buffer.write(b), self.buffer.seek(ptr)
        self.newlines -= 1
        return self.buffer.readline()
    def flush(self):
        if self.writable:
            os.write(self._fd, self.buffer.getvalue())
            self.buffer.truncate(0), self.buffer.seek(0)
class IOWrapper(IOBase):
    def __init__(self, file):
        self.buffer = FastIO(file)
        self.flush = self.buffer.flush
        self.writable = self.buffer.writable
        self.write = lambda s: self.buffer.write(s.encode("utf-8"))
        self.read = lambda: self.buffer.read().decode("utf-8")
        self.readline = lambda: self.buffer.readline().decode("utf-8")
sys.stdin, sys.stdout = IOWrapper(sys.stdin), IOWrapper(sys.stdout)
input = lambda: sys.stdin.readline().rstrip("\\r\\n")
print(int(input()), sum(map(int, input().split())), input())
sys.stdout.write("end\\n")
"""

IDIOMS = {
    "input": "print(int(input()), input().split(), input())",
    "readline": "import sys\nprint(int(sys.stdin.readline()), sys.stdin.readline())",
    "input is readline": """
        import sys
        input = sys.stdin.readline
        n = int(input()); print(n, list(map(int, input().split())), input().strip())
        """,
    "input is the bytes' readline": """
        import sys
        input = sys.stdin.buffer.readline
        n = int(input()); print(n, list(map(int, input().split())), input().rstrip())
        """,
    "all bytes, split": "import sys\nprint(sys.stdin.buffer.read().split())",
    "all text, split": "import sys\ndata = sys.stdin.read().split()\nprint(len(data), data)",
    "lines": "import sys\nfor line in sys.stdin: print(repr(line))",
    "lines of bytes": "import sys\nfor line in sys.stdin.buffer: print(line)",
    "readlines": "import sys\nprint(sys.stdin.readlines())",
    "rest of the lines": "import sys\ninput()\nprint([line.rstrip() for line in sys.stdin])",
    "iter and input": "n = int(input())\nprint(list(iter(lambda: input(), 'last')))",
    "iter to the end": "import sys\nprint(list(iter(sys.stdin.readline, '')))",
    "next": "import sys\nprint(next(sys.stdin), next(sys.stdin))",
    "map over stdin": "import sys\nn, *rest = map(str.strip, sys.stdin)\nprint(n, rest)",
    "open(0)": "print(open(0).read().split())",
    "open(0), lines": "n, *rest = open(0)\nprint(n, rest)",
    "open(0) in bytes": "print(open(0, 'rb').read())",
    "open(0), readline": "input = open(0).readline\nprint(input(), input())",
    "open of a number": "import sys\nprint(open(sys.stdin.fileno()).read())",
    "open(1)": "out = open(1, 'w')\nout.write('hello\\n')\nprint('more', file=out, flush=True)",
    "open by its path": "print(open('/dev/stdin').read())",
    "with open(0)": "with open(0) as f:\n    print(len(f.readlines()))",
    "os.read": "import os\nprint(os.read(0, 1 << 20).split())",
    "os.read of a part": "import os\nprint(os.read(0, 2), os.read(0, 5))",
    "all by its size": """
        import io, os
        input = io.BytesIO(os.read(0, os.fstat(0).st_size)).readline
        print(int(input()), input().split(), input().decode())
        """,
    "os.write": "import os\nos.write(1, b'one\\n')\nprint(os.write(1, 'dé\\n'.encode()))",
    "os.write of a number": "import os, sys\nos.write(sys.stdout.fileno(), b'one\\n')",
    "os.write to stderr": "import os\nos.write(2, b'err\\n')",
    "print to stderr": "import sys\nprint('err', file=sys.stderr)\nsys.stderr.write('more\\n')",
    "stdout.write": "import sys\nsys.stdout.write('a\\n')\nprint(sys.stdout.writable())",
    "stdout's bytes": "import sys\nsys.stdout.buffer.write(b'a\\n')\nsys.stdout.buffer.flush()",
    "writelines": "import sys\nsys.stdout.writelines(['a\\n', 'b\\n'])",
    "TextIOWrapper of stdin": """
        import io, sys
        text = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8')
        print(text.readline(), text.read())
        """,
    "stdin is a TextIOWrapper": """
        import io, sys
        sys.stdin = io.TextIOWrapper(sys.stdin.buffer, encoding='utf-8')
        print(input(), [line for line in sys.stdin])
        """,
    "stdout is a TextIOWrapper": """
        import io, sys
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')
        print('déjà')
        """,
    "stdout in another encoding": """
        import io, sys
        sys.stdout = io.TextIOWrapper(sys.stdout.detach(), encoding='latin-1')
        print('abc')
        """,
    "buffered output of its own": """
        import io, sys
        out = io.StringIO()
        for i in range(3): out.write(f'{i}\\n')
        sys.stdout.write(out.getvalue())
        """,
    "stdout is a StringIO and back": """
        import io, sys
        old = sys.stdout
        sys.stdout = captured = io.StringIO()
        print('captured')
        print(sys.stdout is captured)
        sys.stdout = old
        print(repr(captured.getvalue()), sys.stdout is old)
        """,
    "stdout is back by its other name": """
        import io, sys
        sys.stdout = io.StringIO()
        print('lost')
        sys.stdout = sys.__stdout__
        print('seen', sys.stdout is sys.__stdout__)
        """,
    "stderr is a StringIO": """
        import io, sys
        sys.stderr = io.StringIO()
        print('x', file=sys.stderr)
        text, sys.stderr = sys.stderr.getvalue(), sys.__stderr__
        print(repr(text))
        """,
    "stdin is a StringIO": """
        import io, sys
        sys.stdin = io.StringIO('1\\n2\\n')
        print(input(), sys.stdin.readline(), input)
        sys.stdin = sys.__stdin__
        print(input())
        """.replace(", input)", ")"),
    "stdin is an object of its own": """
        import sys
        class Lines:
            def __init__(self, lines): self.lines = iter(lines)
            def readline(self): return next(self.lines, '')
        sys.stdin = Lines(['first\\n', 'second\\n'])
        print(input(), input())
        """,
    "stdout is an object of its own": """
        import sys
        class Tee:
            def __init__(self, stream): self.stream, self.kept = stream, []
            def write(self, text): self.kept.append(text); return self.stream.write(text)
            def flush(self): self.stream.flush()
        sys.stdout = tee = Tee(sys.stdout)
        print('hello', 3)
        sys.stdout = tee.stream
        print(tee.kept)
        """,
    "stdout is nothing": "import sys\nsys.stdout = None\nprint('lost')",
    "redirected within an assignment": """
        import contextlib, io, sys
        sys.stdout = mine = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()) as inner: print('inner')
        print('outer', sys.stdout is mine)
        sys.stdout = sys.__stdout__
        print(repr(inner.getvalue()), repr(mine.getvalue()))
        """,
    "setattr": """
        import io, sys
        setattr(sys, 'stdout', io.StringIO())
        print('lost')
        setattr(sys, 'stdout', sys.__stdout__)
        print('seen')
        """,
    "a decorator that captures": """
        import io, sys
        def captured(function):
            def run(*args):
                old, sys.stdout = sys.stdout, io.StringIO()
                try:
                    function(*args)
                    return sys.stdout.getvalue()
                finally:
                    sys.stdout = old
            return run
        @captured
        def say(x): print('said', x)
        print(repr(say(1)))
        """,
    "fast io": FAST_IO,
    "isatty": "import os, sys\nprint(sys.stdin.isatty(), os.isatty(0), sys.stdout.isatty())",
    "reconfigure": "import sys\nsys.stdout.reconfigure(encoding='utf-8')\nprint('déjà')",
    "with stdin": "import sys\nwith sys.stdin as f:\n    print(f.read())",
    "isinstance": "import io, sys\nprint(isinstance(sys.stdout, io.TextIOBase))",
    "os.fdopen": "import os\nwith os.fdopen(0) as f: print(f.read())",
}  # fmt: skip


def _shown(command: list[str | Path], stdin: str | Path) -> tuple[bytes, bytes, int]:
    with open(stdin, "rb") as file:
        done = subprocess.run(command, stdin=file, capture_output=True, check=False, timeout=60)
    return done.stdout, done.stderr, done.returncode


@pytest.mark.parametrize("name", IDIOMS)
def test_idiom_does_the_same(name: str, tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text(textwrap.dedent(IDIOMS[name]))
    stdin = tmp_path / "stdin"
    stdin.write_bytes(INPUT)
    plain = _shown([PYTHON, "-I", "-X", "utf8", program], stdin)
    assert plain[2] == 0, plain
    assert _shown([BELLJAR, "run", program, "--stdin", stdin], os.devnull) == plain


def test_open_of_a_path_is_found_before_the_run(tmp_path: Path) -> None:
    program = tmp_path / "main.py"
    program.write_text("print('ran')\nopen(0)\nopen('data.txt')\n")
    out, err, code = _shown([BELLJAR, "run", program], os.devnull)
    assert (out, code) == (b"", 3)
    assert b"main.py:3:1: BJ501" in err and b"main.py:2:1" not in err
