"""More pieces of everyday Python, each of which once failed here: name -> source.

BASIC run in the profile `basic`, FILES in `filesystem` and TESTED, which test themselves with
unittest.mock, in both (test_snippets.py).
"""

# ruff: noqa: E501
from __future__ import annotations

BASIC: dict[str, str] = {
    "a traceback as lines": """
import sys, traceback
def inner(): raise KeyError("missing")
def outer(): inner()
try:
    outer()
except KeyError as error:
    print([frame.name for frame in traceback.extract_tb(error.__traceback__)])
    print(error.__traceback__.tb_lineno, error.__traceback__.tb_next.tb_lineno)
    kind, value, tb = sys.exc_info()
    print(kind.__name__, traceback.format_tb(tb)[-1].split(",")[1].strip())
    traceback.print_exception(type(error), error, error.__traceback__, file=sys.stdout)
    filename, line, name, text = traceback.extract_tb(tb)[-1]
    print(line, name, text)
""",
    "pickling by parts": """
import copy, pickle
class Session:
    def __init__(self, user):
        self.user, self.cache = user, {"x": 1}
    def __getstate__(self):
        print("saving")
        state = self.__dict__.copy()
        del state["cache"]
        return state
    def __setstate__(self, state):
        print("loading")
        self.__dict__.update(state)
        self.cache = {}
data = pickle.dumps([Session("ada")])
again = pickle.loads(data)[0]
print(again.user, again.cache, copy.copy(again).user)
""",
    "reduce": """
import pickle
class Point:
    def __init__(self, x, y): self.x, self.y = x, y
    def __reduce__(self): return (Point, (self.x, self.y))
class Unit(int):
    def __new__(cls, value, name):
        self = super().__new__(cls, value)
        self.name = name
        return self
    def __getnewargs__(self): return (int(self), self.name)
point, unit = pickle.loads(pickle.dumps((Point(1, 2), Unit(3, "kg"))))
print(point.x, point.y, unit, unit.name)
""",
    "finalizers": """
class Resource:
    def __init__(self, name): self.name = name
    def __del__(self): print("released", self.name)
first = Resource("a")
del first
def work(): Resource("b")
work()
kept = Resource("c")
print("end")
""",
    "at exit": """
import atexit
@atexit.register
def last(): print("last")
atexit.register(print, "first", sep="")
print("body")
""",
    "fields of a dataclass": """
from dataclasses import dataclass
@dataclass
class Item:
    name: str
    price: float = 1.0
print(list(Item.__dataclass_fields__), hasattr(Item("x"), "__dataclass_fields__"), hasattr(3, "__dataclass_fields__"))
""",
    "a module by a call": "print(__import__('math').sqrt(16), __import__('os.path').path.join('a', 'b'))",
    "processes": """
from multiprocessing import Process, Queue, Manager, Value, Lock, Pipe
def square(queue, number): queue.put(number * number)
class Worker(Process):
    def __init__(self, total):
        super().__init__()
        self.total = total
    def run(self):
        with self.total.get_lock():
            self.total.value += 5
if __name__ == "__main__":
    queue = Queue()
    workers = [Process(target=square, args=(queue, n)) for n in range(3)]
    for worker in workers: worker.start()
    for worker in workers: worker.join()
    print(sorted(queue.get() for _ in workers), [worker.exitcode for worker in workers])
    total = Value("i", 0)
    worker = Worker(total); worker.start(); worker.join()
    print(total.value, worker.is_alive())
    here, there = Pipe()
    here.send([1, 2]); print(there.recv())
    with Manager() as manager:
        shared = manager.dict(a=1); shared["b"] = 2
        print(dict(shared))
""",
    "handlers of signals": """
import signal
def stop(number, frame): print("stopping")
before = signal.signal(signal.SIGINT, stop)
print(signal.SIGTERM.name, int(signal.SIGINT), before is signal.default_int_handler, signal.getsignal(signal.SIGINT) is stop)
""",
    "options": "import getopt\nprint(getopt.getopt(['-v', '--out', 'x', 'file'], 'v', ['out=']))",
    "types of files": "import mimetypes\nprint(mimetypes.guess_type('a.html'), mimetypes.guess_extension('image/png'))",
    "quoted printable": "import quopri\nprint(quopri.encodestring('né'.encode()), quopri.decodestring(b'n=C3=A9').decode())",
    "tokens": """
import io, token, tokenize
for each in tokenize.generate_tokens(io.StringIO("x = 1 + 2").readline):
    print(token.tok_name[each.type], repr(each.string))
""",
    "a document": """
from xml.dom import minidom
document = minidom.parseString("<a><b id='1'>text</b></a>")
element = document.createElement("c")
element.setAttribute("n", "2")
document.documentElement.appendChild(element)
print(document.toprettyxml(indent="  "), [b.getAttribute("id") for b in document.getElementsByTagName("b")], document.documentElement.childNodes[0].firstChild.data)
""",
    "records in a queue": """
import logging, logging.handlers, queue, sys
records = queue.Queue()
log = logging.getLogger("app")
log.addHandler(logging.handlers.QueueHandler(records))
listener = logging.handlers.QueueListener(records, logging.StreamHandler(sys.stdout))
listener.start()
log.warning("disk at %d %%", 91)
listener.stop()
""",
    "arguments of another program": """
import argparse, sys
sys.argv = ["tool", "--count", "3", "name"]
parser = argparse.ArgumentParser()
parser.add_argument("--count", type=int)
parser.add_argument("who")
print(parser.parse_args(), parser.prog)
""",
    "output that nobody reads": "import os\nwith open(os.devnull, 'w') as null:\n    print('nothing', file=null)\nprint('done')",
    "a stack for deep recursion": """
import sys, threading
def depth(n): return 0 if n == 0 else 1 + depth(n - 1)
def main(): print(depth(20000))
sys.setrecursionlimit(1 << 25)
threading.stack_size(512 * 1024 * 1024)
thread = threading.Thread(target=main); thread.start(); thread.join()
""",
    "the largest of a heap": "import heapq\nheap = [3, 1, 2]\nheapq._heapify_max(heap)\nprint(heapq._heappop_max(heap))",
    "facts of the interpreter": """
import sys, os, uuid, time
try: 1 / 0
except ZeroDivisionError: print(repr(sys.exception()))
sys.setswitchinterval(0.25)
print(sys.getswitchinterval(), sys.getfilesystemencodeerrors(), sys.getallocatedblocks() > 0)
print(os.SEEK_SET, os.SEEK_CUR, os.SEEK_END, uuid.uuid1().version, uuid.getnode() == uuid.getnode(), uuid.uuid1(node=5).node)
print(time.clock_gettime(time.CLOCK_MONOTONIC) > 0, time.clock_gettime_ns(time.CLOCK_REALTIME) > 0)
""",
    "a stack as lines": """
import inspect, sys, traceback
def outer():
    def inner(): return traceback.extract_stack(), inspect.stack(), traceback.format_stack(limit=2)
    return inner()
lines, stack, text = outer()
print([frame.name for frame in lines][-3:], lines[-1].lineno, [each.function for each in stack][:3], stack[0].lineno, stack[0][3])
print(text[1].splitlines()[1:])
try:
    try: {}["a"]
    except KeyError as error: raise ValueError("no") from error
except ValueError as error:
    kept = traceback.TracebackException.from_exception(error)
print("".join(kept.format()).splitlines()[-1], list(kept.format_exception_only()), kept, kept.exc_type.__name__, kept.stack[0].lineno)
print([line for line in kept.format() if "direct cause" in line])
print(sys.exc_info())
""",
    "partial functions": """
import functools, types
add = functools.partial(lambda a, b: a + b, 1)
add.note = "adds one"
functools.update_wrapper(add, print)
print(add(2), add.note, add.__name__, add.args, isinstance(str.join, types.MethodDescriptorType))
try: add.func = print
except AttributeError as error: print(error)
""",
    "codecs of streams": """
import codecs, io
out = io.BytesIO()
writer = codecs.getwriter("utf-8")(out)
writer.write("h\u00e9")
print(out.getvalue(), codecs.getreader("utf-8")(io.BytesIO(b"ab")).read())
decoder = codecs.getincrementaldecoder("utf-8")()
print([decoder.decode(bytes([each])) for each in "h\u00e9".encode()], codecs.getincrementalencoder("utf-16")().encode("a"))
try: codecs.getreader("nothing")
except LookupError as error: print(error)
for wrong in (lambda: decoder.decode(5), lambda: decoder.decode("a"), lambda: codecs.getincrementalencoder("utf-8")().encode(b"a")):
    try: print(wrong())
    except TypeError as error: print(type(error))
""",
    "fields with text for annotations": """
from __future__ import annotations
import dataclasses, typing
from dataclasses import Field, dataclass, fields
import typing as t
@dataclass
class Settings:
    shared: typing.ClassVar[int] = 1
    other: t.ClassVar[dict] = {}
    given: dataclasses.InitVar[int] = 2
    _: dataclasses.KW_ONLY
    name: str = "n"
    def __post_init__(self, given): self.kept = given
print(Settings(3, name="x"), Settings(3).kept, [(f.name, isinstance(f, Field)) for f in fields(Settings)])
""",
    "names of arguments that are no names": """
import argparse, os, configparser
print(argparse.Namespace(**{"a": 1, "b c": 2}), argparse.Namespace(x=[1]))
parser = argparse.ArgumentParser(prog="tool")
parser.add_argument("--long-option-name", help="words " * 20)
os.environ["COLUMNS"] = "50"
parser.print_help()
try: configparser.ConfigParser().get("a", "b")
except configparser.Error as error: print(error)
""",
    "documents and digests in pieces": """
import hashlib, io
import xml.etree.ElementTree as ET
print([(event, each.tag) for event, each in ET.iterparse(io.StringIO("<a><b/><c/></a>"), events=("start", "end"))])
print(hashlib.file_digest(io.BytesIO(b"data"), "sha256").hexdigest() == hashlib.sha256(b"data").hexdigest())
print(hashlib.file_digest(io.BytesIO(b"data"), hashlib.md5).hexdigest())
""",
    "memory and time of the program": """
import resource, tracemalloc
tracemalloc.start()
kept = [0] * 100_000
size, peak = tracemalloc.get_traced_memory()
tracemalloc.stop()
print(size > 700_000, peak >= size, tracemalloc.is_tracing(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1000)
""",
    "names of an older Python": """
__maintainers__ = ["ada"]
__author_email__ = "ada@example.org"
class Version:
    def __init__(self, number): self.number = number
    def __cmp__(self, other): return (self.number > other.number) - (self.number < other.number)
    def __lt__(self, other): return self.__cmp__(other) < 0
    def __nonzero__(self): return bool(self.number)
    __bool__ = __nonzero__
print(Version(1) < Version(2), bool(Version(0)), __maintainers__)
""",
    "lines of input": "import fileinput\nprint([line for line in fileinput.input()], __name__)",
    "a slow digest": "import hashlib\nprint(hashlib.scrypt(b'p', salt=b's', n=2, r=1, p=1).hex()[:8])",
}

FILES: dict[str, str] = {
    "files that arguments name": """
import argparse, contextlib, os, shutil
parser = argparse.ArgumentParser()
parser.add_argument("--out", type=argparse.FileType("w"))
with parser.parse_args(["--out", "x.txt"]).out as out: out.write("text")
print(open("x.txt").read(), shutil.which("no-such-program-anywhere"))
print(argparse.FileType("w")("-").write("to standard output "), argparse.FileType("rb")("-").read(), argparse.FileType("a"))
try: argparse.FileType("r")("missing.txt")
except argparse.ArgumentTypeError as error: print(error)
os.remove("x.txt")
os.mkdir("below")
with contextlib.chdir("below"): print(os.path.basename(os.getcwd()), os.listdir())
print(os.path.basename(os.getcwd()) != "below")
os.rmdir("below")
""",
    "a document in pieces": """
import hashlib, os
import xml.etree.ElementTree as ET
with open("a.xml", "w") as out: out.write("<a><b/></a>")
print([(event, each.tag) for event, each in ET.iterparse("a.xml")])
with open("a.xml", "rb") as source:
    print(hashlib.file_digest(source, "md5").hexdigest(), source.seek(0, os.SEEK_END))
os.remove("a.xml")
""",
    "rotated logs": """
import logging, logging.handlers, os, tempfile
folder = tempfile.mkdtemp()
handler = logging.handlers.RotatingFileHandler(os.path.join(folder, "app.log"), maxBytes=60, backupCount=2)
log = logging.getLogger("rotated"); log.addHandler(handler); log.propagate = False
for number in range(8): log.warning("message number %d", number)
handler.close()
print(sorted(os.listdir(folder)), open(os.path.join(folder, "app.log")).read())
""",
    "temporary files by number": """
import os, tempfile
number, path = tempfile.mkstemp(suffix=".txt")
with os.fdopen(number, "w") as file: file.write("one")
print(open(path).read())
number, path = tempfile.mkstemp()
os.write(number, b"two"); os.close(number)
print(open(path).read(), os.path.exists(path))
with tempfile.SpooledTemporaryFile(max_size=10, mode="w+") as file:
    file.write("three"); file.seek(0); print(file.read())
""",
    "variables in a path": "import os\nos.environ['PLACE'] = 'here'\nprint(os.path.expandvars('$PLACE/${PLACE}/$NOWHERE'))",
}

TESTED: dict[str, str] = {
    "lines of a shell that are patched": """
import cmd, io
from unittest.mock import patch
class Shell(cmd.Cmd):
    def do_add(self, arg): print("added", arg, file=self.stdout)
    def do_quit(self, arg): return True
with patch("builtins.input", side_effect=["add z 1", "quit"]) as ask, patch("sys.stdout", new_callable=io.StringIO) as out:
    Shell().cmdloop()
print(out.getvalue(), ask.call_count)
""",
    "processes that are patched": """
import os, subprocess, unittest
from unittest.mock import MagicMock, patch
def status(command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except subprocess.CalledProcessError as error:
        return f"failed with {error.returncode}"
def stop(number): os.kill(number, 15)
class Tests(unittest.TestCase):
    @patch("subprocess.run", return_value=MagicMock(stdout="fine"))
    def test_runs(self, run):
        self.assertEqual(status(["ls"]), "fine")
        run.assert_called_once_with(["ls"], capture_output=True, text=True, check=True)
    @patch("subprocess.run", side_effect=subprocess.CalledProcessError(3, "ls"))
    def test_fails(self, run): self.assertEqual(status("ls"), "failed with 3")
    @patch("os.kill")
    def test_stops(self, kill):
        stop(12)
        kill.assert_called_once_with(12, 15)
unittest.main(argv=["tests"], exit=False)
""",
    "arguments that are patched": """
import argparse, sys, unittest
from unittest.mock import patch
class Tests(unittest.TestCase):
    def test_arguments(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("number", type=int)
        with patch.object(sys, "argv", ["tool", "4"]):
            self.assertEqual(parser.parse_args().number, 4)
        with patch("sys.argv", ["tool", "5"]):
            self.assertEqual((parser.parse_args().number, sys.argv[1]), (5, "5"))
unittest.main(argv=["tests"], exit=False)
""",
}

PATHS = {
    "methods of paths that are patched": """
import unittest
from pathlib import Path
from unittest.mock import patch
def read(path): return Path(path).read_text() if Path(path).exists() else "none"
class Tests(unittest.TestCase):
    @patch("pathlib.Path.read_text", return_value="text")
    @patch("pathlib.Path.exists", return_value=True)
    def test_there(self, exists, read_text):
        self.assertEqual(read("/no/such/file"), "text")
        exists.assert_called_once_with()
    @patch.object(Path, "exists", lambda self: self.name == "file")
    def test_function(self): self.assertEqual(read("/no/such/thing"), "none")
    def test_not(self): self.assertEqual(read("/no/such/file"), "none")
unittest.main(argv=["tests"], exit=False)
""",
}
