"""The jail alone: the language policy is off, and programs do with files what CPython can.

Each attack prints "escaped" when it got there. The control: in plain Python it does.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.data_science.session import Session


@pytest.fixture(scope="module")
def jail(program: Path, machine: None) -> Iterator[Session]:
    session = Session(program, "--profile", "filesystem", "--policy", "off")
    yield session
    session.close()


# To write outside: a folder above, which in plain Python is a test's own.
ARCHIVES = """
import io, os, shutil, tarfile, zipfile
if hasattr(tarfile, "fully_trusted_filter"):  # not the default any more since 3.14
    tarfile.TarFile.extraction_filter = staticmethod(tarfile.fully_trusted_filter)
os.mkdir("in")
above = os.path.dirname(os.getcwd())
def tar_of(*members):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content, more in members:
            member = tarfile.TarInfo(name)
            member.size = len(content)
            for key in more: setattr(member, key, more[key])
            archive.addfile(member, io.BytesIO(content))
    data.seek(0)
    return tarfile.open(fileobj=data)
"""
OUTSIDE_SLIPPED = "print(open(os.path.join(above, 'slipped')).read())"

ATTACKS = {
    # --- out of the workspace -----------------------------------------------------------------
    "list what is above": "import os; os.chdir('..'); assert os.listdir('.'); print('escaped')",
    "write above": "open('../above', 'w').write('x'); print('escaped')",
    "rename to above": "import os; open('x', 'w'); os.rename('x', '../x2'); print('escaped')",
    "replace the workspace itself": """
        import os
        here = os.getcwd()
        os.rename(here, here + '.old'); os.rename(here + '.old', here)
        print('escaped')
        """,
    "a descriptor above": """
        import os
        here = os.open('.', os.O_PATH)
        os.listdir(os.open('..', os.O_RDONLY | os.O_DIRECTORY, dir_fd=here))
        print('escaped')
        """,
    "an unnamed file elsewhere": """
        import os
        os.open('/var/tmp', os.O_TMPFILE | os.O_RDWR); print('escaped')
        """,
    "the table of mounts": "open('/proc/self/mountinfo').read(); print('escaped')",
    "the memory by its file": "open('/proc/self/mem', 'r+b'); print('escaped')",
    "the root by its link": "import os; os.listdir('/proc/self/root/etc'); print('escaped')",
    "an open file by its link": """
        import os
        here = os.open('.', os.O_RDONLY)
        os.listdir(f'/proc/self/fd/{here}'); print('escaped')
        """,
    "a link made of a link": """
        import os
        os.symlink('/proc/self/cwd/..', 'up'); os.listdir('up'); print('escaped')
        """,
    "a file through a link to above": """
        import os
        os.symlink('..', 'up')
        with open('up/slipped', 'w') as file: file.write('x')
        print('escaped')
        """,
    "a hard link to what is above": """
        import os, tarfile
        theirs = tarfile.__file__ if os.getcwd() == '/workspace' else '../theirs'
        if theirs == '../theirs': open(theirs, 'w').close()
        os.link(theirs, 'ours'); print('escaped')
        """,
    "tar: an absolute name": ARCHIVES + """
tar_of((above + '/slipped', b'escaped', {})).extractall('in')
""" + OUTSIDE_SLIPPED,
    "tar: a name that goes up": ARCHIVES + """
tar_of(('../../slipped', b'escaped', {})).extractall('in')
""" + OUTSIDE_SLIPPED,
    "tar: a link, then a file through it": ARCHIVES + """
tar_of(('d', b'', {'type': tarfile.SYMTYPE, 'linkname': above}),
       ('d/slipped', b'escaped', {})).extractall('in')
""" + OUTSIDE_SLIPPED,
    "tar: a hard link to what is outside": ARCHIVES + """
open(above + '/theirs', 'w').write('escaped')
tar_of(('x', b'', {'type': tarfile.LNKTYPE, 'linkname': '../../theirs'})).extractall('in')
print(open('in/x').read())
""",
    "shutil unpacks to above": ARCHIVES + """
with tarfile.open('a.tar', 'w') as archive:
    member = tarfile.TarInfo('../slipped'); member.size = 7
    archive.addfile(member, io.BytesIO(b'escaped'))
shutil.unpack_archive('a.tar', '.')
""" + OUTSIDE_SLIPPED,
    # --- databases ----------------------------------------------------------------------------
    "sqlite: a database elsewhere": """
        import sqlite3
        database = sqlite3.connect('here.db')
        database.execute("ATTACH '../there.db' AS there")
        database.execute('CREATE TABLE there.t (x)'); database.commit(); print('escaped')
        """,
    "sqlite: a copy to elsewhere": """
        import sqlite3
        sqlite3.connect('here.db').execute("VACUUM INTO '../copy.db'"); print('escaped')
        """,
    "sqlite: an extension": """
        import sqlite3
        database = sqlite3.connect(':memory:')
        database.enable_load_extension(True)
        try: database.load_extension('libBrokenLocale.so.1')
        except sqlite3.OperationalError as error:
            if 'undefined symbol' not in str(error): raise
            print('escaped')  # it is code of this process by then
        """,
    # --- what is no ordinary file -------------------------------------------------------------
    "a FIFO": "import os; os.mkfifo('f'); print('escaped')",
    "a socket": """
        import socket
        socket.socket(socket.AF_UNIX).bind('s'); print('escaped')
        """,
    "a program": """
        import os
        with open('program', 'w') as file: file.write('#!/bin/sh\\necho escaped\\n')
        os.chmod('program', 0o4755)
        os.execv('program', ['program'])
        """,
    "memory that is a file": "import os; os.memfd_create('x'); print('escaped')",
    "a terabyte of nothing": """
        import os
        file = open('x', 'wb'); os.ftruncate(file.fileno(), 1 << 40)
        print('escaped', os.path.getsize('x'))
        """,
    "a byte after a terabyte of nothing": """
        file = open('x', 'wb'); file.seek(1 << 40); file.write(b'x'); file.flush()
        print('escaped')
        """,
    # --- more than there is room for ----------------------------------------------------------
    "70 MiB in files": """
        for name in 'abcdefg': open(name, 'wb').write(bytes(10 << 20))
        print('escaped')
        """,
    "70 MiB in a file without a name": """
        import os
        files = [os.open('.', os.O_TMPFILE | os.O_RDWR) for _ in range(7)]
        for file in files:
            left = 10 << 20
            while left: left -= os.write(file, bytes(left))
        print('escaped')
        """,
    "70 MiB that nobody wrote": """
        import os
        for name in 'abcdefg':
            file = os.open(name, os.O_CREAT | os.O_RDWR); os.posix_fallocate(file, 0, 10 << 20)
        print('escaped')
        """,
    "10,000 files": "for i in range(10_000): open(f'{i}', 'x').close()\nprint('escaped')",
    "10,000 names of one file": """
        import os
        open('x', 'w')
        for i in range(10_000): os.link('x', str(i))
        print('escaped')
        """,
    "5,000 levels": """
        import os
        for i in range(5_000): os.mkdir('d'); os.chdir('d')
        print('escaped')
        """,
    # --- what workers have in common ----------------------------------------------------------
    "flags of a file that all have open": """
        import fcntl, os
        null = os.open('/dev/null', os.O_RDONLY) if os.path.exists('/dev/null') else 0
        fcntl.fcntl(null, fcntl.F_SETFL, os.O_NONBLOCK); print('escaped')
        """,
    "a lock of the library's file": """
        import fcntl, tarfile
        fcntl.flock(open(tarfile.__file__), fcntl.LOCK_SH); print('escaped')
        """,
}  # fmt: skip

AS_ROOT = {
    "a device": "import os; os.mknod('d', 0o20666, os.makedev(1, 3)); print('escaped')",
    "an owner": "import os; open('x', 'w'); os.chown('x', 1, 1); print('escaped')",
    "an owner by shutil": """
        import shutil
        open('x', 'w'); shutil.chown('x', 0, 0); print('escaped')
        """,
}


def fails(jail: Session, source: str) -> dict:
    outcome = jail.run(textwrap.dedent(source))
    assert "escaped" not in outcome["stdout"], outcome
    assert outcome["status"] == "exception", outcome
    return outcome


@pytest.mark.parametrize("name", ATTACKS)
def test_the_jail_holds(name: str, jail: Session, plain) -> None:
    if "load_extension" in ATTACKS[name] and not hasattr(sqlite3.Connection, "load_extension"):
        pytest.skip("this Python's sqlite3 loads no extensions")
    assert "escaped" in plain(textwrap.dedent(ATTACKS[name])), "no control"
    fails(jail, ATTACKS[name])
    assert jail.run("import os; print(os.listdir(), os.listdir('/tmp'))")["stdout"] == "[] []\n"


@pytest.mark.parametrize("name", AS_ROOT)
def test_the_jail_holds_root(name: str, jail: Session, plain) -> None:
    fails(jail, AS_ROOT[name])
    if os.geteuid() == 0:
        assert "escaped" in plain(textwrap.dedent(AS_ROOT[name])), "no control"


LOCKED = """
import fcntl, os, struct, tarfile
form = 'hhqqi4x'  # struct flock
question = struct.pack(form, fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
answer = fcntl.fcntl(open(tarfile.__file__, 'rb'), fcntl.F_GETLK, question)
print('seen' if struct.unpack(form, answer)[0] != fcntl.F_UNLCK else 'free')
"""


def test_nobody_sees_who_else_has_locked_a_file_of_the_library(jail: Session, plain) -> None:
    """A lock for reading would carry messages from one guest to another."""
    with open(plain("import tarfile; print(tarfile.__file__)").strip(), "rb") as library:
        fcntl.lockf(library, fcntl.LOCK_SH)
        assert plain(LOCKED) == "seen\n"
        outcome = jail.run(LOCKED)
    if "failed to map segment" in str(outcome["error"]):
        pytest.skip("this Python has fcntl in a file, and no worker maps one")
    assert outcome["stdout"] == "free\n", outcome
    assert outcome["security_events"] == []


def test_a_run_that_filled_the_workspace_hurts_nobody(jail: Session) -> None:
    """Nor does it cost the host what it has held: that goes with the worker."""
    fill = ATTACKS["70 MiB in files"]
    for _ in range(3):
        outcome = fails(jail, fill)
        assert outcome["error"]["type"] == "OSError"
        assert "No space left on device" in outcome["error"]["message"]
        after = jail.run("open('x', 'wb').write(bytes(60 << 20))")
        assert after["status"] == "ok", after


# In pieces, and its end looked at: each Python copies in a way of its own.
COPIES = """
import os, shutil
data = bytes(range(250)) * 12_000 + b"end"
with open("one", "wb") as file: file.write(data)
shutil.copyfile("one", "two")
shutil.copy("one", "three")
os.mkdir("in"); shutil.move("three", "in/three"); shutil.copytree("in", "again")
print(all(open(name, "rb").read() == data for name in ("two", "again/three")))
"""


@pytest.mark.parametrize("policy", ["on", "off"])
def test_copies_need_no_denied_call(jail: Session, session: Session, policy: str) -> None:
    """sendfile is denied, and a copy neither fails nor is told as an attack."""
    outcome = (jail if policy == "off" else session).run(COPIES)
    assert outcome["stdout"] == "True\n", outcome
    assert outcome["security_events"] == []


@pytest.mark.skipif(sys.version_info < (3, 14), reason="of Python 3.14")
def test_a_path_is_copied_and_moved(session: Session) -> None:
    """pathlib first asks for a copy that shares blocks (FICLONE), and gives up where it may not."""
    source = """
from pathlib import Path
one, folder = Path("one"), Path("folder")
one.write_text("text"); folder.mkdir()
print(one.copy("two").read_text(), one.copy_into(folder).read_text(), folder.copy("again").name)
print(Path("two").move("three").read_text(), Path("two").exists(), Path("again/one").read_text())
print(one.info.is_file(), folder.info.is_dir(), one.info.is_symlink())
"""
    outcome = session.run(source)
    assert outcome["stdout"] == "text text again\ntext False text\nTrue True False\n", outcome
    assert outcome["security_events"] == []


SENDFILE = """
import os
with open("one", "wb") as file: file.write(b"escaped")
source, target = os.open("one", os.O_RDONLY), os.open("two", os.O_CREAT | os.O_WRONLY)
os.sendfile(target, source, 0, 7)
print(open("two").read())
"""


def test_a_page_of_a_file_is_not_handed_on(jail: Session, plain) -> None:
    """tests/seal/seal_test.cc has splice, tee and vmsplice."""
    assert plain(SENDFILE) == "escaped\n", "no control"
    outcome = fails(jail, SENDFILE)
    assert outcome["error"]["type"] == "PermissionError"
    assert outcome["security_events"] == [
        {"layer": "seccomp", "action": "denied", "detail": "sendfile", "count": 1}
    ]
