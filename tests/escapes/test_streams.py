"""What the streams could lead to: descriptors, files, the interpreter's own objects."""

from __future__ import annotations

import pytest

from tests.escapes.suite import check_attack
from tests.policy.harness import assert_stopped, run

ATTACKS = {
    "a stream's number reads a file": """
        import os
        fd = os.open('/etc/passwd', os.O_RDONLY)
        loot = 'escaped' if os.read(fd, 1) else None
        """,
    "open() of a path by keyword": """
        try: loot = 'escaped' if open(file='/etc/passwd').read(1) else None
        except PermissionError: loot = None
        """,
    "open() under another name": """
        class Path(str): pass
        for opens in [open]: loot = 'escaped' if opens(Path('/etc/passwd')).read(1) else None
        """,
    "open() of a number that turns into a path": """
        class Number(int):
            def __fspath__(self): return '/etc/passwd'
        import os
        loot = 'escaped' if os.fdopen(os.open(Number(), 0)).read(1) else None
        """,
    "the opener gets a real descriptor": """
        import os
        opened = open('/dev/stdin', opener=lambda *_: os.open('/etc/passwd', 0))
        loot = 'escaped' if opened.read(1) else None
        """,
    "the stream below the stream": """
        import sys
        raw = getattr(sys.__stdout__.buffer, 'raw', sys.__stdout__.buffer)  # python -u has none
        loot = raw.__init__('/dev/null') or 'escaped'  # opened for writing as well
        """,
    "the class of the stream opens": """
        import sys
        raw = getattr(sys.__stdout__.buffer, 'raw', sys.__stdout__.buffer)  # python -u has none
        loot = 'escaped' if type(raw)('/etc/passwd').read(1) else None
        """,
    "a hook is assigned": """
        import sys
        sys.excepthook = print
        loot = 'escaped' if sys.excepthook is print else None
        """,
    "the first stream is assigned": """
        import sys
        sys.__stdout__ = 'escaped'
        loot = sys.__stdout__
        """,
    "a name that equals that of a stream": """
        import sys
        class Name(str):
            def __eq__(self, other): return True
            def __hash__(self): return hash('stdout')
        setattr(sys, Name('excepthook'), 'escaped')
        loot = sys.__dict__.pop(Name('excepthook'))
        """,
    "print() gives the stream its frames": """
        import sys
        kept = []
        class Stream:
            def write(self, text): kept.append(sys._getframe(0).f_globals)
        sys.stdout = Stream()
        print('x')
        loot = kept[0]
        """,
    "what runs after the program gets the stream": """
        import sys
        class Stream:
            def flush(self): raise SystemExit
            def write(self, text): return self.flush.__func__.__globals__
        sys.stderr = Stream()
        loot = sys.stderr.write('')
        """,
    "a base of streams gives its module": """
        import io
        class Mine(io.IOBase): pass
        loot = Mine.close.__globals__ if hasattr(Mine.close, '__globals__') else io.abc
        """,
    "a base of streams is changed": """
        import io
        io.IOBase.close = 'escaped'
        loot = io.IOBase.close
        """,
    "a wrapper's private buffer": """
        import io
        text = io.TextIOWrapper(io.BytesIO(b'x'))
        loot = text._checkClosed.__self__.__reduce_ex__ and io.TextIOWrapper.__init__.__objclass__
        loot = 'escaped' if loot is io.TextIOWrapper else None
        """,
}


@pytest.mark.parametrize("name", ATTACKS)
def test_streams_lead_nowhere(name: str) -> None:
    check_attack(ATTACKS[name])


# What only exists under the policy, so that there is no control in plain Python.


@pytest.mark.uncontrolled
@pytest.mark.parametrize("number", ["3", "-1", "True", "10 ** 9"])
def test_only_three_numbers_are_streams(number: str) -> None:
    for call in ("os.read({}, 1)", "os.write({}, b'')", "os.fstat({})", "os.fdopen({})"):
        ran = run(f"import os\n{call.format(number)}", stdin="")
        assert ran.error in {"OSError", "TypeError"}, ran


@pytest.mark.uncontrolled
def test_a_property_of_a_stream_reads_only_streams() -> None:
    """Not the private attribute of that name of any other object."""
    assert_stopped(
        """
        import contextlib, sys
        type(sys.__stdout__).buffer.fget(contextlib.redirect_stdout(None))
        """,
        "",
    )
