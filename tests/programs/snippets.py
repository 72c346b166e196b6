"""Short pieces of everyday Python, as people and models write them: name -> source.

Each is run in the profile `basic` and in plain Python, and must print the same (test_snippets.py).
"""

# ruff: noqa: E501
from __future__ import annotations

SNIPPETS: dict[str, str] = {
    "arguments": """
import argparse
parser = argparse.ArgumentParser(description="Greet someone")
parser.add_argument("name", nargs="?", default="world")
parser.add_argument("--times", type=int, default=1)
args = parser.parse_args([])
for _ in range(args.times):
    print(f"Hello, {args.name}!")
print(vars(args))
""",
    "shell words": """
import shlex
print(shlex.split("git commit -m 'first commit' --author=\\"A B\\""))
print(" ".join(shlex.quote(part) for part in ["ls", "my file.txt"]))
""",
    "toml settings": """
import tomllib
config = tomllib.loads('''
[server]
host = "localhost"
ports = [8000, 8001]
debug = true
''')
print(config["server"]["ports"][0], config)
""",
    "subnets": """
import ipaddress
network = ipaddress.ip_network("192.168.0.0/29")
for address in network.hosts():
    print(address, address.is_private)
print(list(network.subnets(prefixlen_diff=1)))
""",
    "safe evaluation": """
import ast
print(ast.literal_eval("[1, 2.5, {'a': (True, None)}]"))
try:
    ast.literal_eval("__import__('os')")
except ValueError as error:
    print("refused")
""",
    "an evaluator of arithmetic": """
import ast, operator
OPERATORS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.USub: operator.neg}
def evaluate(node):
    if isinstance(node, ast.Expression):
        return evaluate(node.body)
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.BinOp):
        return OPERATORS[type(node.op)](evaluate(node.left), evaluate(node.right))
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[type(node.op)](evaluate(node.operand))
    raise TypeError(node)
print(evaluate(ast.parse("2 + 3 * (4 - -1)", mode="eval")))
""",
    "functions in a source": """
import ast
source = "def f(a, b=1): return a\\nclass C:\\n    def g(self): pass"
for node in ast.walk(ast.parse(source)):
    if isinstance(node, ast.FunctionDef):
        print(node.name, [arg.arg for arg in node.args.args], node.lineno)
""",
    "a rename in a source": """
import ast
class Rename(ast.NodeTransformer):
    def visit_Name(self, node):
        node.id = node.id.upper()
        return node
print(ast.unparse(Rename().visit(ast.parse("total = price * count"))))
""",
    "weak cache": """
import weakref, gc
class Image:
    def __init__(self, name): self.name = name
cache = weakref.WeakValueDictionary()
image = Image("a.png")
cache["a"] = image
print(cache["a"].name, len(cache))
del image
gc.collect()
print(len(cache))
""",
    "observer by weak reference": """
import weakref
class Subject:
    def __init__(self): self._observers = weakref.WeakSet()
    def attach(self, observer): self._observers.add(observer)
    def notify(self, value):
        for observer in self._observers: observer.update(value)
class Observer:
    def update(self, value): print("got", value)
subject, observer = Subject(), Observer()
subject.attach(observer)
subject.notify(3)
""",
    "a tree with weak parents": """
import weakref
class Node:
    def __init__(self, value, parent=None):
        self.value = value
        self.children = []
        self.parent = weakref.ref(parent) if parent else None
        if parent: parent.children.append(self)
root = Node(1); child = Node(2, root)
print(child.parent().value, [c.value for c in root.children])
""",
    "keywords": "import keyword\nprint([w for w in ['for', 'x', 'None', 'match'] if keyword.iskeyword(w)])",
    "error numbers": "import errno\nprint(errno.ENOENT, errno.errorcode[errno.EACCES])",
    "colours": """
import colorsys
h, s, v = colorsys.rgb_to_hsv(0.2, 0.4, 0.4)
print(round(h, 3), s, v, colorsys.hsv_to_rgb(0.5, 1.0, 1.0))
""",
    "compression": """
import zlib, gzip, bz2, lzma
data = b"the quick brown fox " * 50
for module in (zlib, gzip, bz2, lzma):
    packed = module.compress(data)
    print(module.__name__, len(packed) < len(data), module.decompress(packed) == data)
""",
    "gzip in memory": """
import gzip, io
buffer = io.BytesIO()
with gzip.GzipFile(fileobj=buffer, mode="wb") as file:
    file.write(b"line 1\\nline 2\\n")
buffer.seek(0)
with gzip.open(buffer, "rt") as file:
    print([line.strip() for line in file])
""",
    "rot13": "import codecs\nprint(codecs.encode('Hello', 'rot_13'), codecs.decode(b'aGk=', 'base64'))",
    "a module by its name": """
import importlib
for name in ("json", "math", "no_such_module"):
    try:
        module = importlib.import_module(name)
        print(module.__name__, "found")
    except ImportError as error:
        print(name, "missing")
""",
    "is it installed": """
import importlib.util
print(importlib.util.find_spec("json") is not None, importlib.util.find_spec("surely_not_here") is not None)
""",
    "garbage": """
import gc
class Node: pass
a, b = Node(), Node()
a.other, b.other = b, a
del a, b
print(gc.collect() >= 2, gc.isenabled())
""",
    "source of a function": """
import inspect
def area(width: float, height: float = 1.0) -> float:
    return width * height
print(inspect.signature(area), inspect.getfullargspec(area).args, area.__annotations__["return"].__name__)
""",
    "classes of this module": """
import inspect, sys
class Circle: pass
class Square: pass
print([name for name, cls in inspect.getmembers(sys.modules[__name__], inspect.isclass)])
""",
    "dispatch by name": """
import sys
def cmd_add(a, b): return a + b
def cmd_mul(a, b): return a * b
for name in ("add", "mul"):
    print(getattr(sys.modules[__name__], "cmd_" + name)(3, 4))
""",
    "type hints at run time": """
from typing import get_type_hints, Optional
class User:
    name: str
    age: "Optional[int]"
print(get_type_hints(User))
""",
    "a context manager with annotations": """
from types import TracebackType
from typing import Optional, Type
class Timer:
    def __enter__(self) -> "Timer":
        return self
    def __exit__(self, kind: Optional[Type[BaseException]], error: Optional[BaseException], tb: Optional[TracebackType]) -> bool:
        print("left with", kind.__name__ if kind else None)
        return True
with Timer():
    raise ValueError("x")
""",
    "a formatter with defaults": """
import string
class Defaults(string.Formatter):
    def get_value(self, key, args, kwargs):
        return kwargs.get(key, f"<{key}>") if isinstance(key, str) else super().get_value(key, args, kwargs)
print(Defaults().format("{greeting} {name}", greeting="hi"))
""",
    "tests of coroutines": """
import asyncio, unittest
async def double(x):
    await asyncio.sleep(0)
    return 2 * x
class T(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self): self.value = 21
    async def test_double(self): self.assertEqual(await double(self.value), 42)
result = unittest.TestResult()
unittest.defaultTestLoader.loadTestsFromTestCase(T).run(result)
print(result.testsRun, result.wasSuccessful())
""",
    "a shell of commands": """
import cmd, io, sys
class Shell(cmd.Cmd):
    intro, prompt = "welcome", ""
    use_rawinput = False
    def do_add(self, line):
        'add two numbers'
        print(sum(map(int, line.split())))
    def do_quit(self, line): return True
Shell(stdin=io.StringIO("add 2 3\\nquit\\n")).cmdloop()
""",
    "grouped numbers": """
import locale
print(f"{1234567.891:,.2f}", locale.format_string("%.1f", 3.14159))
""",
    "translations": """
import gettext
_ = gettext.gettext
print(_("Hello"), gettext.ngettext("file", "files", 2))
""",
    "versions": """
import platform, sys
print(platform.python_version() == sys.version.split()[0], platform.python_implementation(), platform.system())
print(sys.version_info >= (3, 8), sys.implementation.name, sys.byteorder)
""",
    "file modes": "import stat\nprint(stat.filemode(0o100755), stat.S_ISDIR(0o040755), oct(stat.S_IRWXU))",
    "the exception being handled": """
import sys, traceback
try:
    int("x")
except ValueError:
    kind, value, tb = sys.exc_info()
    print(kind.__name__, value)
    print(traceback.format_exc().splitlines()[-1])
""",
    "word count": """
from collections import Counter
import re
text = "The cat and the dog. The end."
print(Counter(re.findall(r"\\w+", text.lower())).most_common(2))
""",
    "group by": """
from itertools import groupby
from operator import itemgetter
rows = [{"team": "a", "n": 1}, {"team": "b", "n": 2}, {"team": "a", "n": 3}]
for team, group in groupby(sorted(rows, key=itemgetter("team")), key=itemgetter("team")):
    print(team, sum(row["n"] for row in group))
""",
    "csv in memory": """
import csv, io
text = "name,age\\nAda,36\\nGrace,85\\n"
rows = list(csv.DictReader(io.StringIO(text)))
out = io.StringIO()
writer = csv.DictWriter(out, fieldnames=["name", "age"])
writer.writeheader()
writer.writerows(sorted(rows, key=lambda row: -int(row["age"])))
print(out.getvalue().splitlines())
""",
    "json": """
import json
from dataclasses import dataclass, asdict
@dataclass
class Point:
    x: int
    y: int = 0
print(json.dumps([asdict(Point(1)), asdict(Point(2, 3))], indent=1))
print(json.loads('{"a": [1, null, true]}'))
""",
    "dates": """
from datetime import datetime, timedelta, date
start = datetime.strptime("2024-02-28", "%Y-%m-%d")
print((start + timedelta(days=2)).strftime("%d %B %Y"), (date(2024, 12, 25) - date(2024, 1, 1)).days)
""",
    "time zones": """
from datetime import datetime
from zoneinfo import ZoneInfo
print(datetime(2024, 7, 1, 12, tzinfo=ZoneInfo("UTC")).isoformat())
""",
    "fibonacci with a cache": """
from functools import lru_cache
@lru_cache(maxsize=None)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
print(fib(90), fib.cache_info().hits)
""",
    "a decorator with arguments": """
import functools, time
def retry(times):
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            for attempt in range(times):
                try:
                    return function(*args, **kwargs)
                except ValueError:
                    print("again", attempt)
            raise RuntimeError(function.__name__)
        return wrapper
    return decorate
calls = []
@retry(3)
def flaky():
    calls.append(1)
    if len(calls) < 3: raise ValueError
    return "done"
print(flaky(), flaky.__name__)
""",
    "a priority queue": """
import heapq
tasks = [(3, "write"), (1, "read"), (2, "run")]
heapq.heapify(tasks)
while tasks: print(heapq.heappop(tasks))
""",
    "prime sieve": """
def sieve(n):
    flags = bytearray([1]) * (n + 1)
    flags[:2] = b"\\0\\0"
    for i in range(2, int(n ** 0.5) + 1):
        if flags[i]: flags[i*i::i] = bytes(len(range(i*i, n + 1, i)))
    return [i for i, flag in enumerate(flags) if flag]
print(sieve(50))
""",
    "an enum": """
from enum import Enum, auto
class Colour(Enum):
    RED = auto()
    GREEN = auto()
    @property
    def label(self): return self.name.title()
print([c.label for c in Colour], Colour["RED"], Colour(2))
""",
    "abstract classes": """
from abc import ABC, abstractmethod
class Shape(ABC):
    @abstractmethod
    def area(self): ...
class Square(Shape):
    def __init__(self, side): self.side = side
    def area(self): return self.side ** 2
try: Shape()
except TypeError as error: print("abstract")
print(Square(3).area())
""",
    "match": """
def describe(value):
    match value:
        case {"type": "circle", "r": r}: return f"circle {r}"
        case [x, y, *rest]: return f"list {x} {y} {rest}"
        case int() | float(): return "number"
        case _: return "other"
print([describe(v) for v in ({"type": "circle", "r": 2}, [1, 2, 3], 1.5, "x")])
""",
    "async gather": """
import asyncio
async def fetch(n):
    await asyncio.sleep(0.001 * n)
    return n * n
async def main():
    print(await asyncio.gather(*(fetch(n) for n in range(4))))
asyncio.run(main())
""",
    "logging": """
import logging, sys
logging.basicConfig(stream=sys.stdout, level=logging.INFO, format="%(levelname)s:%(message)s")
logging.getLogger(__name__).info("started %s", "now")
""",
    "hashes": """
import hashlib, hmac, base64
print(hashlib.sha256(b"abc").hexdigest()[:16], hmac.new(b"k", b"m", "sha1").hexdigest()[:8], base64.b64encode(b"hi").decode())
""",
    "struct": "import struct\nprint(struct.pack('>IH', 1, 2).hex(), struct.unpack('<h', b'\\x01\\x00'))",
    "uuid": "import uuid\nprint(uuid.uuid5(uuid.NAMESPACE_DNS, 'example.org'), len(str(uuid.uuid4())))",
    "url parts": """
from urllib.parse import urlparse, parse_qs, urlencode
parts = urlparse("https://example.org/a/b?x=1&y=2#top")
print(parts.netloc, parse_qs(parts.query), urlencode({"q": "a b"}))
""",
    "xml": """
import xml.etree.ElementTree as ET
root = ET.fromstring("<r><item id='1'>a</item><item id='2'>b</item></r>")
print({item.get("id"): item.text for item in root.iter("item")})
""",
    "html": """
from html.parser import HTMLParser
class Links(HTMLParser):
    def handle_starttag(self, tag, attrs):
        if tag == "a": print(dict(attrs)["href"])
Links().feed('<p><a href="/x">x</a> <a href="/y">y</a></p>')
""",
    "statistics": "import statistics as st\nprint(st.mean([1, 2, 3, 4]), st.median([1, 3, 2]), round(st.stdev([1, 2, 3, 4]), 3))",
    "decimal money": "from decimal import Decimal, ROUND_HALF_UP\nprint(Decimal('2.675').quantize(Decimal('0.01'), ROUND_HALF_UP))",
    "random with a seed": "import random\nrandom.seed(1)\nprint(random.randint(1, 6), random.sample(range(10), 3), random.choice('abc'))",
    "text wrapping": "import textwrap\nprint(textwrap.fill('the quick brown fox jumps over the lazy dog', 20))",
    "diff": "import difflib\nprint('\\n'.join(difflib.unified_diff(['a', 'b'], ['a', 'c'], lineterm='')))",
    "timing": """
import time, timeit
start = time.perf_counter()
total = sum(range(1000))
print(total, time.perf_counter() - start < 5, timeit.timeit("sum(range(10))", number=10) < 5)
""",
    "pretty print": "from pprint import pprint\npprint({'b': [1, 2], 'a': {'x': None}})",
    "an iterator": """
class Countdown:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if self.n == 0: raise StopIteration
        self.n -= 1
        return self.n
print(list(Countdown(3)))
""",
    "messages": """
from email.message import EmailMessage
from email.utils import parseaddr, formataddr
message = EmailMessage()
message["Subject"], message["From"], message["To"] = "Hi", "a@example.org", "b@example.org"
message.set_content("Hello")
print(message["Subject"], message.get_content().strip(), parseaddr("A B <a@b.org>"))
""",
    "a parsed message": """
import email
message = email.message_from_string("Subject: Hi\\nFrom: a@example.org\\n\\nBody\\n")
print(message["subject"], message.get_payload().strip(), message.get_content_type())
""",
    "parts of a message": """
from email.mime.text import MIMEText
from email.mime.multipart import MIMEMultipart
message = MIMEMultipart()
message["Subject"] = "Report"
message.attach(MIMEText("see below", "plain"))
print([part.get_content_type() for part in message.walk()])
""",
}
