# What calls of the basic profile give: one of each kind, for the walk of tools/surface.py. An
# ordinary program of the sandbox; each of its variables is walked. It is here to make things.
# ruff: noqa: B022, E731, F401, F821, F841, UP007, UP045
import array
import asyncio
import collections
import concurrent.futures
import configparser
import contextlib
import contextvars
import cProfile
import csv
import dataclasses
import datetime
import decimal
import difflib
import enum
import fractions
import functools
import hashlib
import hmac
import html.parser
import io
import itertools
import json
import multiprocessing
import operator
import os
import pathlib
import pstats
import queue
import random
import re
import sched
import statistics
import string
import struct
import threading
import time
import types
import typing
import unicodedata
import urllib.parse
import uuid
import xml.etree.ElementTree as ElementTree
import zoneinfo


# the language itself
def function(x, *args, y=1, **kwargs):
    return x


def counting():
    received = yield 1


async def waiting():
    pass


async def counting_later():
    yield 1


class Plain:
    member = 1

    def method(self):
        return self

    @property
    def value(self):
        return 1

    @classmethod
    def made(cls):
        return cls()

    @staticmethod
    def fixed():
        return 1


class Slotted:
    __slots__ = ("slot",)


generator = counting()
coroutine = waiting()
awaiting = coroutine.__await__()
later = counting_later()
next_later = later.__anext__()
sending_later = later.asend(None)
throwing_later = later.athrow(ValueError)
closing_later = later.aclose()
plain = Plain()
method = plain.method
class_method = Plain.made
slot = Slotted.slot
parent = super(Plain, plain)
lambda_ = lambda: None
union = int | None
alias = list[int]
code_point_iterator = iter("aé")
iterators = [
    iter(container)
    for container in (
        "a",
        "é",
        b"a",
        bytearray(b"a"),
        [1],
        (1,),
        {1},
        {1: 1},
        range(1),
        range(2**70),
    )
]
reversed_ = [reversed([1]), reversed({1: 1}), reversed({1: 1}.items()), reversed({1: 1}.values())]
views = [{1: 1}.keys(), {1: 1}.values(), {1: 1}.items()]
view_iterators = [iter(view) for view in views]
called = iter(int, 1)
memory = memoryview(b"abcd")
memory_iterator = iter(memory)
bound = [[].append, "".join, {}.get, (1).__add__, str.join, int.__add__, dict.fromkeys]
mapped = [map(int, []), filter(None, []), zip(), enumerate([])]
numbers = [1, 1.5, 1j, True, 2**70]
slices = [slice(1), range(1), ..., NotImplemented, None]

# exceptions, raised
caught = []
for raiser in (
    lambda: 1 / 0,
    lambda: undefined,
    lambda: plain.missing,
    lambda: {}["missing"],
    lambda: [][1],
    lambda: int("x"),
    lambda: next(iter(())),
    lambda: b"\xff".decode(),
    lambda: "é".encode("ascii"),
    lambda: json.loads("{"),
    lambda: re.compile("("),
    lambda: ElementTree.fromstring("<"),
    lambda: decimal.Decimal("x"),
    lambda: zoneinfo.ZoneInfo("No/Where"),
    lambda: statistics.mean([]),
    lambda: configparser.ConfigParser().get("a", "b"),
    lambda: configparser.ConfigParser().read_string("a"),
    lambda: struct.unpack("i", b""),
    lambda: csv.reader([], "missing"),
    lambda: exit(1),
):
    try:
        raiser()
    except (Exception, SystemExit) as error:
        caught.append(error)
try:
    from math import missing
except ImportError as error:
    caught.append(error)
group = ExceptionGroup("several", [ValueError(1)])

# modules
pattern = re.compile("(?P<a>a)")
match = pattern.match("a")
matches = [pattern.finditer("a"), re.finditer("a", "a")]
digests = [
    hashlib.md5(),
    hashlib.sha1(),
    hashlib.sha256(),
    hashlib.sha3_256(),
    hashlib.shake_128(),
    hashlib.blake2b(),
    hashlib.blake2s(),
    hashlib.new("md5"),
    hmac.new(b"k", digestmod="md5"),
]
packed = struct.Struct("i")
unpacking = struct.iter_unpack("i", packed.pack(1))
rows = csv.reader(["a,b"])
row_writer = csv.writer(io.StringIO())
dict_rows = csv.DictReader(["a,b", "1,2"])
dict_writer = csv.DictWriter(io.StringIO(), ["a"])
dialect = csv.get_dialect("excel")
dialect_used = rows.dialect
sniffed = csv.Sniffer().sniff("a,b\n1,2\n")
parser = configparser.ConfigParser(interpolation=configparser.ExtendedInterpolation())
parser.read_string("[s]\na = 1\n")
section = parser["s"]
converters = parser.converters
page = html.parser.HTMLParser()
page.feed("<a b='c'>")
root = ElementTree.fromstring("<a b='c'><d/></a>")
tree = ElementTree.ElementTree(root)
tree_iterators = [root.iter(), root.iterfind("d"), root.itertext()]
tree_parser = ElementTree.XMLParser()
tree_builder = tree_parser.target
canonical = ElementTree.C14NWriterTarget(io.StringIO().write)
addresses = [
    urllib.parse.urlparse("http://a/b"),
    urllib.parse.urlsplit("http://a/b"),
    urllib.parse.urldefrag("http://a#b"),
    urllib.parse.urlparse(b"http://a/b"),
    urllib.parse.urlsplit(b"http://a/b"),
    urllib.parse.urldefrag(b"http://a#b"),
]
moments = [
    datetime.datetime.now(datetime.UTC),
    datetime.date.today(),
    datetime.time(1),
    datetime.timedelta(1),
    datetime.UTC,
    datetime.date.today().isocalendar(),
    zoneinfo.ZoneInfo("UTC"),
]
clocks = [time.localtime(), time.get_clock_info("time")]
identifier = uuid.UUID(int=1)
ratio = fractions.Fraction(1, 2)
exact = decimal.Decimal("1.5")
context = decimal.getcontext()
local_context = decimal.localcontext()
flags = context.flags
normal = statistics.NormalDist()
regression = statistics.linear_regression([1, 2], [1, 2])
randoms = [random.Random(1), random.SystemRandom()]
typed = array.array("i", [1])
typed_iterator = iter(typed)
Point = collections.namedtuple("Point", "x y")
point = Point(1, 2)
collected = [
    collections.ChainMap({}),
    collections.Counter("a"),
    collections.OrderedDict(a=1),
    collections.UserDict(a=1),
    collections.UserList([1]),
    collections.UserString("a"),
    collections.defaultdict(int, a=1),
    collections.deque([1]),
]
collected_views = [collections.OrderedDict(a=1).items(), collections.ChainMap({}).items()]
collected_iterators = [iter(collected[2]), iter(collected[7]), reversed(collected[7])]
iterated = [
    itertools.accumulate([1]),
    itertools.chain([1]),
    itertools.groupby([1]),
    itertools.tee([1])[0],
    itertools.count(),
    itertools.cycle([1]),
    itertools.islice([1], 1),
    itertools.permutations([1]),
    itertools.combinations([1], 1),
    itertools.product([1]),
    itertools.zip_longest([1]),
    itertools.starmap(pow, []),
    itertools.takewhile(bool, []),
    itertools.dropwhile(bool, []),
    itertools.compress([], []),
    itertools.filterfalse(bool, []),
    itertools.pairwise([]),
    itertools.repeat(1),
    next(itertools.groupby([1]))[1],
]
operators = [operator.itemgetter(0), operator.attrgetter("x"), operator.methodcaller("x")]
partial = functools.partial(int, base=2)
cached = functools.lru_cache(function)
cache_info = cached.cache_info()
cache_parameters = cached.cache_parameters()
ordered_key = functools.cmp_to_key(lambda a, b: 0)(1)
dispatching = functools.singledispatch(function)


class Wrapped:
    cached = functools.cached_property(function)
    partial = functools.partialmethod(function)
    dispatching = functools.singledispatchmethod(function)


managers = [
    contextlib.contextmanager(counting)(),
    contextlib.asynccontextmanager(counting_later)(),
    contextlib.ExitStack(),
    contextlib.AsyncExitStack(),
    contextlib.nullcontext(),
    contextlib.suppress(),
    contextlib.closing(io.StringIO()),
    contextlib.aclosing(later),
    contextlib.redirect_stdout(io.StringIO()),
    contextlib.redirect_stderr(io.StringIO()),
]


@dataclasses.dataclass(order=True)
class Data:
    x: int = 1
    y: list = dataclasses.field(default_factory=list)


data = Data()
data_fields = dataclasses.fields(Data)


class Colour(enum.Enum):
    RED = 1


class Permission(enum.Flag):
    READ = 1


colour = Colour.RED
permission = Permission.READ
names_of_colours = Colour.__members__
typed_values = [
    typing.Optional[int],
    list[int],
    typing.Callable[[int], int],
    typing.Literal[1],
    typing.TypeVar("T"),
    typing.ParamSpec("P"),
    typing.NewType("N", int),
    typing.Any,
    typing.Self,
    typing.TypeVarTuple("Ts"),
    typing.Annotated[int, 1],
    typing.Union[int, str],
    tuple[int],
    typing.ClassVar[int],
    typing.Final[int],
    type[int],
    dict[str, int],
]
parameter = typing.ParamSpec("P")
parameter_parts = [parameter.args, parameter.kwargs]


class Movie(typing.TypedDict):
    name: str


class Employee(typing.NamedTuple):
    name: str


class Generic(typing.Generic[typing.TypeVar("U")]):
    pass


class Proto(typing.Protocol):
    def method(self): ...


generic = Generic[int]
employee = Employee("a")
namespace = types.SimpleNamespace(a=1)
proxied = types.MappingProxyType({})
template = string.Template("$a")
comparison = difflib.SequenceMatcher(None, "a", "b")
comparison_match = comparison.find_longest_match()
encoder = json.JSONEncoder()
decoder = json.JSONDecoder()
encoding = encoder.iterencode({})
old_unicode = unicodedata.ucd_3_2_0
streams = [io.StringIO(), io.BytesIO(), io.TextIOWrapper(io.BytesIO())]
stream_of_number = [open(0), open(1, "wb"), os.fstat(0)]


# a running event loop, with errors that nobody caught
running = {}


async def fail():
    raise ValueError("nobody catches this")


async def meet():
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda loop, context: running.update(context=context))
    loop.set_debug(True)
    future, waited = loop.create_future(), asyncio.Queue()
    done = asyncio.create_task(asyncio.sleep(0, "result"))
    waiting = asyncio.create_task(waited.get())
    failed = asyncio.create_task(fail())
    running.update(
        loop=loop,
        future=future,
        queue=waited,
        done=done,
        waiting=waiting,
        failed=failed,
        task=asyncio.current_task(),
        handle=loop.call_soon(len, ()),
        barrier=asyncio.Barrier(2),
        timer=loop.call_later(9, print),
        group=asyncio.TaskGroup(),
        each=asyncio.as_completed([future]),
        waits=asyncio.wait_for(future, 9),
        gathered=asyncio.gather(future, waiting),
        shielded=asyncio.shield(future),
    )
    async with asyncio.timeout(9) as running["timeout"]:
        await done
    loop.call_exception_handler({"message": "shown", "future": future, "exception": None})
    future.cancel()
    waiting.cancel()


with asyncio.Runner() as running["runner"]:
    running["runner"].run(meet())
    running["runner"].run(asyncio.sleep(0))
variable = contextvars.ContextVar("variable")
variables = [contextvars.copy_context(), variable.set(1)]

# what later Pythons brought
if hasattr(itertools, "batched"):
    batches = itertools.batched("abc", 2)
if hasattr(typing, "TypeAliasType"):
    named_alias = typing.TypeAliasType("Alias", list[int])
    of_named_alias = typing.TypeAliasType("Of", list, type_params=(typing.TypeVar("T"),))[int]
if hasattr(asyncio, "eager_task_factory"):
    eager = asyncio.eager_task_factory
if hasattr(typing, "NoDefault"):
    nothing = typing.NoDefault

# profiles
profiler = cProfile.Profile()
profiler.runcall(int)
tables = pstats.Stats(profiler, stream=io.StringIO())
profile_of_tables = tables.get_stats_profile()
row_of_tables = next(iter(profile_of_tables.func_profiles.values()))

# paths as text
pure_paths = [pathlib.PurePosixPath("a/b"), pathlib.PureWindowsPath("a/b")]
pure_parents = pure_paths[0].parents

# threads
main_thread = threading.main_thread()
queue_of_threads = queue.SimpleQueue()
timer = threading.Timer(1, print)
thread_local = threading.local()
with concurrent.futures.ThreadPoolExecutor() as pool_of_threads:
    future_of_thread = pool_of_threads.submit(int)
    futures_done = concurrent.futures.wait([future_of_thread])
    futures_as_completed = concurrent.futures.as_completed([future_of_thread])
with multiprocessing.Pool(1) as pool_of_calls:
    async_result = pool_of_calls.apply_async(int)
    results_of_calls = pool_of_calls.imap(int, "1")
current_process = multiprocessing.current_process()
event_of_scheduler = sched.scheduler().enter(1, 1, print)
