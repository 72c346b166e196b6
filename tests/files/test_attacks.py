"""What a program may try with files. The control: the same succeeds in plain Python."""

import pathlib
import sqlite3
import textwrap

import pytest

# Ways to a descriptor, to functions of os and to modules. Each prints "escaped" when it got there.
POLICY = {
    "open() by a file's descriptor": """
        import tempfile
        with tempfile.TemporaryFile() as file: open(file.fileno(), closefd=False)
        """,
    "open() by a bool": "open(False, closefd=False)",
    "open() by __index__": """
        class Number:
            def __index__(self): return 0
        import io
        io.FileIO(Number(), closefd=False)
        """,
    "open() by an int with a path": """
        class Both(int):
            def __fspath__(self): return "x"
        import io
        io.FileIO(Both(0), closefd=False)
        """,
    "a keyword that is no plain str": """
        class Key(str): pass
        import io
        io.FileIO(**{Key("file"): 0, "closefd": False})
        """,
    "a raw file initialised anew": """
        file = open("x", "wb")
        file.raw.__init__(0, "wb", closefd=False)
        """,
    "a raw file of another's type": """
        file = open("x", "wb")
        type(file.raw)(0, "wb", closefd=False)
        """,
    "an opener": "open('x', 'wb', opener=lambda path, flags: 2, closefd=True)",
    "pathlib's method on a number": "import pathlib; pathlib.Path.open(0)",
    "os.system": "import os; assert os.system('true') == 0",
    "os.open": "import os; os.open('.', 0)",
    "os.fdopen": """
        import os, tempfile
        with tempfile.TemporaryFile() as file: os.fdopen(file.fileno(), closefd=False)
        """,
    "os.stat of a descriptor": "import os; os.stat(0)",
    "os.listdir of a class of int": """
        import os
        class Number(int): pass
        os.stat(Number(0))
        """,
    "os.path leads to os": "import os; os.path.os.system",
    "pathlib leads to os": "import pathlib; pathlib.os.system",
    "shutil leads to os": "import shutil; shutil.os.system",
    "the callback of rmtree": """
        import shutil
        seen = []
        shutil.rmtree("nothing", onerror=lambda function, path, info: seen.append(function))
        assert type(seen[0]).__name__ == "builtin_function_or_method"
        """,
    "the frames that rmtree's callback is shown": """
        import shutil
        seen = []
        shutil.rmtree("nothing", onerror=lambda function, path, info: seen.append(info))
        assert seen[0][2] is not None
        """,
    "the openers of tarfile": """
        import tarfile
        tarfile.TarFile.OPEN_METH["mine"] = "mro"
        """,
    "a stream's module": """
        import io, tarfile
        out = tarfile.open(fileobj=io.BytesIO(), mode="w|gz")
        assert type(out.fileobj.zlib).__name__ == "module"
        """,
    "an extension of SQLite": """
        import sqlite3
        sqlite3.connect(":memory:").enable_load_extension(True)
        """,
    "an extension of SQLite by name": """
        import sqlite3
        getattr(sqlite3.connect(":memory:"), "enable_load" + "_extension")(True)
        """,
    "the environment of the process": """
        import os
        assert hasattr(os.environ, "encodekey")
        """,
    "a name of the library's for every file": """
        import tempfile
        tempfile.tempdir = "x"
        """,
    "globals of a function of os": "import os; os.getenv.__globals__",
    "globals of a function of shutil": "import shutil; shutil.copy.__globals__['os'].system",
    "globals of a method of pathlib": "import pathlib; pathlib.Path.open.__globals__['os'].system",
    "globals by a pattern": """
        import zipfile
        match zipfile.ZipFile.open:
            case object(__globals__=names): names["sys"].modules
        """,
    "code of a function of glob": "import glob; glob.glob.__code__.replace(co_name='x')",
    "defaults of a function of os": """
        import os
        os.getenv.__defaults__ = ("mine",)
        assert os.getenv("none") == "mine"
        """,
    "zipfile leads to sys": "import zipfile; zipfile.sys.modules",
    "tarfile leads to os": "import tarfile; tarfile.os.system",
    "tempfile leads to os": "import tempfile; tempfile._os.system",
    "glob leads to sys by from": "from glob import sys; sys.modules",
    "a path's private parts": "import pathlib; p = pathlib.Path('x'); str(p); p._str",
    "a path's private parts, renamed": """
        import operator, pathlib
        path = pathlib.Path("x")
        str(path)
        operator.attrgetter("_st" + "r")(path)
        """,
    "a path that a pickle would make": """
        import pathlib
        make, parts = pathlib.Path("x").__reduce__()
        make.__new__.__globals__["os"].system
        """,
    "a path with a method of the program's": """
        import pathlib
        pathlib.Path.open = lambda self: None
        pathlib.Path("x").open()
        """,
    "the low-level file of a stream": """
        import tarfile
        stream = tarfile.open("x.tar", "w|").fileobj.fileobj
        class Mine(type(stream)):
            def __init__(self, fd): self.fd = fd
        Mine(0).fd
        """,
    "the descriptor of the low-level file": """
        import tarfile
        stream = tarfile.open("x.tar", "w|").fileobj.fileobj
        stream.fd = 0
        """,
    "what is called for members": """
        import tarfile
        tarfile.TarFile.fileobject = list
        """,
    "the filter of all archives": """
        import tarfile
        tarfile.TarFile.extraction_filter = None
        """,
    "a format of shutil's": """
        import shutil
        shutil.register_unpack_format("mine", [".mine"], lambda *_: None)
        """,
    "a format of shutil's by its private table": "import shutil; shutil._ARCHIVE_FORMATS['zip'][0]",
    "the finalizer of a folder": """
        import tempfile
        tempfile.TemporaryDirectory()._finalizer.peek()
        """,
    "the frame of what walk() cannot list": """
        import os
        seen = []
        list(os.walk("nothing", onerror=seen.append))
        seen[0].__traceback__.tb_frame.f_globals["sys"].modules
        """,
    "the frame of an error of pathlib": """
        import pathlib
        try:
            pathlib.Path("nothing").stat()
        except OSError as error:
            error.__traceback__.tb_next.tb_frame.f_globals["os"].system
        """,
    "the frame of an archive's error": """
        import zipfile
        try:
            zipfile.ZipFile("nothing")
        except OSError as error:
            error.with_traceback(None)
            try:
                zipfile.ZipFile("nothing")
            except OSError as again:
                again.__traceback__.tb_next.tb_frame.f_builtins
        """,
    "the generator of scandir's walk": """
        import os
        os.walk(".").gi_frame.f_globals["sys"].modules
        """,
    "SQL that loads an extension": """
        import sqlite3
        database = sqlite3.connect(":memory:")
        match database:
            case object(enable_load_extension=enable): enable(True)
        """,
    "an address for SQLite to call": """
        import sqlite3
        sqlite3.connect(":memory:").execute("SELECT fts3_tokenizer(?, ?)", ("x", b"12345678"))
        """,
    "the address of SQLite's own functions": """
        import sqlite3
        cursor = sqlite3.connect(":memory:").cursor()
        len(cursor.execute("SELECT FTS3_Tokenizer('simple')").fetchone()[0])
        """,
    "an address, in a text that shows another": """
        import sqlite3
        class Shy(str):
            def lower(self): return ""
            __contains__ = None
        database = sqlite3.connect(":memory:")
        database.execute(Shy("SELECT fts3_tokenizer(?, ?)"), ("x", b"12345678"))
        """,
    "addresses, one for each row": """
        import sqlite3
        database = sqlite3.connect(":memory:")
        database.execute("CREATE TABLE t (a)")
        sql = "INSERT INTO t SELECT fts3_tokenizer(?, ?)"
        database.executemany(sql, [("x", b"12345678")])
        """,
    "the address of SQLite's own functions, by a script": """
        import sqlite3
        database = sqlite3.connect(":memory:")
        database.executescript("CREATE TABLE t AS SELECT fts3_tokenizer('simple') AS a")
        """,
    "an address, by a connection's unbound method": """
        import sqlite3
        database = sqlite3.connect(":memory:")
        sql = "SELECT fts3_tokenizer(?, ?)"
        type(database).execute(database, sql, ("x", b"12345678"))
        """,
    "a converter of every connection": "import sqlite3; sqlite3.converters['X'] = bytes",
    "a class of SQLite with a method of the program's": """
        import sqlite3
        sqlite3.dbapi2.Connection
        """,
    "a shelf whose pickle calls a function": """
        import shelve
        calls = b"cbuiltins\\neval\\n(V1\\ntR."
        assert shelve.Shelf({b"x": calls})["x"] == 1
        """,
    "what a shelf reads its values with": """
        import io, shelve
        assert shelve.Unpickler(io.BytesIO(b"cbuiltins\\neval\\n(V1\\ntR.")).load() == 1
        """,
    "a shelf's method writes to another object": """
        import shelve
        class Mine: pass
        mine = Mine()
        shelve.Shelf.__init__(mine, {})
        assert mine.writeback is False
        """,
    "a profile in a file": """
        import contextlib, cProfile, io, pstats
        with contextlib.redirect_stdout(io.StringIO()):
            cProfile.run("1", "x.prof")
            pstats.Stats("x.prof").print_stats()
        """,
    "SQLite's callbacks and their tracebacks": """
        import sqlite3
        sqlite3.enable_callback_tracebacks(True)
        """,
    "a file class with a descriptor of its own": """
        import io
        class Mine(io.FileIO):
            def __init__(self, fd): super().__init__(fd, closefd=False)
        Mine(0)
        """,
    "a file class that was never initialised": """
        import io
        class Mine(io.FileIO):
            def __init__(self): pass
        io.FileIO.__init__(Mine(), 0, closefd=False)
        """,
    "a binary file from a number by TextIOWrapper": """
        import io
        io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False))).detach().detach()
        """,
    "code that is opened": "import io; io.open_code('/dev/null')",
    "os.truncate by a descriptor": """
        import os
        file = open("x", "w")
        os.truncate(file.fileno(), 3)
        """,
    "os.chdir by a descriptor": """
        import os
        try: os.chdir(0)
        except OSError: pass  # the kernel was asked
        """,
    "a file that argparse opens by a number": """
        import argparse
        argparse.FileType("r")(0)
        """,
    "a document by a descriptor": """
        import xml.etree.ElementTree as ET
        file = open("x", "w+")
        file.write("<a/>")
        file.seek(0)
        list(ET.iterparse(file.fileno()))
        """,
    "contextlib.chdir by a descriptor": """
        import contextlib
        try: contextlib.chdir(0).__enter__()
        except OSError: pass  # the kernel was asked
        """,
    "the mode of a descriptor": """
        import shutil
        file = open("x", "w")
        shutil.copymode("x", file.fileno())
        """,
    "the times of a descriptor": """
        import shutil
        file = open("x", "w")
        shutil.copystat(file.fileno(), "x")
        """,
    "the file system of a descriptor": "import shutil; shutil.disk_usage(0)",
    "os.fdopen of another file's descriptor": """
        import os
        file = open("x", "wb")
        os.fdopen(file.fileno(), "wb", closefd=False)
        """,
    "the number of a temporary file, given to the operating system": """
        import os, tempfile
        number, path = tempfile.mkstemp()
        os.truncate(number, 3)
        """,
    "names relative to a descriptor": """
        import os
        try: os.mkdir("x", dir_fd=0)
        except OSError: pass  # the kernel was asked
        """,
}


def _no_extensions() -> bool:
    return not hasattr(sqlite3.Connection, "enable_load_extension")


def _no_tokenizers() -> bool:
    try:
        sqlite3.connect(":memory:").execute("SELECT fts3_tokenizer('simple')")
    except sqlite3.Error:
        return True
    return False


# What not every Python has, by version or by how it was built.
ABSENT = {
    **dict.fromkeys(
        (name for name in POLICY if "fts3_tokenizer" in POLICY[name].lower()), _no_tokenizers
    ),
    "pathlib leads to os": lambda: not hasattr(pathlib, "os"),
    "an extension of SQLite": _no_extensions,
    "an extension of SQLite by name": _no_extensions,
    "SQL that loads an extension": _no_extensions,
}


@pytest.mark.parametrize("name", POLICY)
def test_the_policy_holds(name: str, session, plain) -> None:
    if name in ABSENT and ABSENT[name]():
        pytest.skip("this Python has not even that")
    source = textwrap.dedent(POLICY[name]).strip() + "\nprint('escaped')\n"
    assert "escaped" in plain(source), "the attack does not work in plain Python"
    outcome = session.run(source)
    assert "escaped" not in outcome["stdout"]
    assert outcome["status"] in ("exception", "refused")


# Places outside. Each is a call that has to fail with an OSError.
OUTSIDE = """
import os
def attempt(name, call):
    try:
        call()
    except OSError:
        print(name, "failed")
    else:
        print(name, "worked")
attempt("read", lambda: open("/etc/passwd").read())
attempt("read by dots", lambda: open("../" * 12 + "etc/passwd").read())
attempt("list the root", lambda: os.listdir("/"))
attempt("list /etc", lambda: os.listdir("/etc"))
attempt("processes", lambda: open("/proc/self/status").read())
attempt("devices", lambda: open("/dev/full"))
os.symlink("/etc/passwd", "link")
attempt("through a link", lambda: open("link").read())
os.symlink("/etc", "etc")
attempt("through a link to a directory", lambda: open("etc/passwd").read())
print(sorted(os.listdir()))
"""


@pytest.mark.parametrize("policy", ["on", "off"])
def test_nothing_outside_is_seen(policy: str, outcome_of, plain) -> None:
    assert plain(OUTSIDE).count("worked") == 8
    outcome = outcome_of(OUTSIDE, "--policy", policy)
    assert "worked" not in outcome["stdout"]
    assert outcome["stdout"].count("failed") == 8
    assert outcome["artifacts"] == []
    assert outcome["artifacts_note"] == "left out: 2 symbolic links"


def test_the_jail_alone_lets_no_file_be_made_elsewhere(outcome_of) -> None:
    source = OUTSIDE.partition('attempt("read"')[0] + textwrap.dedent("""
        import socket, stat
        attempt("write /", lambda: open("/x", "w"))
        attempt("write /usr", lambda: open("/usr/x", "w"))
        attempt("a device", lambda: os.mknod("d", 0o600 | stat.S_IFBLK, os.makedev(8, 0)))
        attempt("a FIFO", lambda: os.mkfifo("f"))
        attempt("a socket", lambda: socket.socket(socket.AF_UNIX))
        attempt("a hard link", lambda: os.link("/usr/share/zoneinfo/UTC", "utc"))
        attempt("the root by its path", lambda: os.open("/", os.O_RDONLY))
        attempt("up and out", lambda: (os.chdir(".."), open("x", "w")))
        attempt("another root", lambda: os.rename("/workspace", "/tmp/w"))
        os.chdir("/workspace")
        open("program", "wb").write(b"\\x7fELF")
        os.chmod("program", 0o4777)
        attempt("run it", lambda: os.execv("/workspace/program", ["program"]))
        attempt("own it", lambda: os.chown("program", 0, 0))
        attempt("mark it", lambda: os.setxattr("program", "user.x", b"y"))
        """)
    outcome = outcome_of(source, "--policy", "off")
    if "failed to map segment" in str(outcome["error"]):
        pytest.skip("this Python has socket in a file, and no worker maps one")
    assert outcome["status"] == "ok", outcome["error"]
    assert "worked" not in outcome["stdout"]
    assert outcome["stdout"].count("failed") == 12


SLIPS = """
import io, os, tarfile, zipfile
os.makedirs("in/side", exist_ok=True)
def tar_of(name, **more):
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        member = tarfile.TarInfo(name)
        for key in more: setattr(member, key, more[key])
        archive.addfile(member)
    data.seek(0)
    return tarfile.open(fileobj=data)
for name, more in (("../../slipped", {}), (os.getcwd() + "/slipped", {}),
                   ("link", {"type": tarfile.SYMTYPE, "linkname": "../.."}),
                   ("link", {"type": tarfile.SYMTYPE, "linkname": os.getcwd()}),
                   ("hard", {"type": tarfile.LNKTYPE, "linkname": "../../target"})):
    open("target", "w").close()
    try:
        tar_of(name, **more).extractall("in/side")
    except Exception as error:
        print(type(error).__name__)
    else:
        print("unpacked")
data = io.BytesIO()
with zipfile.ZipFile(data, "w") as archive:
    archive.writestr("../../zipped", "x")
    archive.writestr("/zipped", "x")
zipfile.ZipFile(data).extractall("in/side")
print(sorted(os.listdir()), sorted(os.listdir("in/side")))
"""


def test_archives_unpack_where_they_are_told_to(outcome_of, plain) -> None:
    outcome = outcome_of(SLIPS)
    assert outcome["error"] is None, outcome["error"]
    lines = outcome["stdout"].splitlines()
    assert lines[0] != "unpacked"
    assert lines[-1].startswith("['in', 'target'] ")
    assert "unpacked" in plain(SLIPS), "no control"


def test_what_swells_meets_the_size_of_the_workspace(outcome_of) -> None:
    source = textwrap.dedent("""
        import os, shutil, zipfile
        def attempt(call):
            try: call()
            except OSError as error: print(error.strerror)
            else: print("worked")
        block = bytes(1 << 20)
        with zipfile.ZipFile("bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
            with archive.open("zeros", "w", force_zip64=True) as member:
                for _ in range(100): member.write(block)
            for name in "abcd":
                with archive.open(name, "w") as member:
                    for _ in range(30): member.write(block)
        print(os.path.getsize("bomb.zip") < 1 << 20)
        attempt(lambda: zipfile.ZipFile("bomb.zip").extract("zeros", "out"))
        shutil.rmtree("out")
        attempt(lambda: zipfile.ZipFile("bomb.zip").extractall("out", list("abcd")))
        shutil.rmtree("out")
        attempt(lambda: [open(f"many{i}", "x").close() for i in range(10_000)])
        print(len(os.listdir()) > 4000)
        """)
    outcome = outcome_of(source)
    assert outcome["error"] is None, outcome["error"]
    full = "No space left on device"
    assert outcome["stdout"].splitlines() == ["True", full, full, full, "True"]
    assert len(outcome["artifacts"]) > 4000


def test_what_swells_in_memory_meets_the_memory_limit(outcome_of) -> None:
    source = (
        "import zlib\npacked = zlib.compress(bytes(60_000_000))\nzlib.decompress(packed + b'')\n"
    )
    outcome = outcome_of(source + "x = [zlib.decompress(packed) for _ in range(9)]")
    assert outcome["status"] == "memory_limit"


def test_one_run_leaves_nothing_to_the_next(outcome_of) -> None:
    source = (
        "import os\nprint(os.listdir(), os.listdir('/tmp'), dict(os.environ))\n"
        "open('left', 'w').close(); open('/tmp/left', 'w').close(); os.environ['LEFT'] = 'x'\n"
    )
    first, second = (outcome_of(source)["stdout"] for _ in range(2))
    assert first == second
    assert first.startswith("[] []")
