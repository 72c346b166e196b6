"""Individually reviewed library classes; the tables are the same for every profile.

The review looked for methods that look up attributes by names that a subclass or an instance
supplies (contextlib.redirect_stdout's `_stream`, dataclasses.Field's `name`); such classes are not
listed. A class that is in no table can be used, but not derived from or written to.
"""

from __future__ import annotations

# A guest's class may derive from these.
SUBCLASSABLE: dict[str, str] = {
    "random": "Random",
    "statistics": "NormalDist",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "numbers": "Number Complex Real Rational Integral",
    "collections": "ChainMap Counter OrderedDict UserDict UserList UserString defaultdict deque",
    "collections.abc": (
        "Awaitable Coroutine AsyncIterable AsyncIterator AsyncGenerator Hashable Iterable "
        "Iterator Generator Reversible Sized Container Callable Collection Set MutableSet Mapping "
        "MutableMapping MappingView KeysView ItemsView ValuesView Sequence MutableSequence "
        "ByteString"
    ),
    "functools": "partial",
    "array": "array",
    "graphlib": "TopologicalSorter",
    "string": "Template",
    "textwrap": "TextWrapper",
    "difflib": "SequenceMatcher Differ HtmlDiff",
    "pprint": "PrettyPrinter",
    "reprlib": "Repr",
    "json": "JSONDecoder JSONEncoder",
    "csv": "Dialect DictReader DictWriter excel excel_tab unix_dialect Sniffer",
    "configparser": "ConfigParser RawConfigParser BasicInterpolation ExtendedInterpolation",
    "html.parser": "HTMLParser",
    "xml.etree.ElementTree": "Element TreeBuilder",
    "datetime": "date datetime time timedelta tzinfo",
    "calendar": "Calendar TextCalendar HTMLCalendar",
    "zoneinfo": "ZoneInfo",
    "uuid": "UUID",
    "enum": "Enum EnumMeta EnumType Flag IntEnum IntFlag ReprEnum StrEnum auto",
    "typing": (
        "Generic Protocol SupportsAbs SupportsBytes SupportsComplex SupportsFloat SupportsIndex "
        "SupportsInt SupportsRound"
    ),
    "types": "SimpleNamespace",
    "abc": "ABC ABCMeta",
    "contextlib": (
        "AbstractAsyncContextManager AbstractContextManager AsyncExitStack ContextDecorator "
        "ExitStack nullcontext suppress"
    ),
    "io": "BytesIO StringIO",
    "os": "PathLike",
    "asyncio": (
        "BoundedSemaphore CancelledError Condition Event InvalidStateError LifoQueue Lock "
        "PriorityQueue Queue QueueEmpty QueueFull QueueShutDown Semaphore"
    ),
    "threading": "Barrier BoundedSemaphore Condition Event Semaphore Thread Timer local",
    "queue": "Empty Full LifoQueue PriorityQueue Queue",
    "concurrent.futures": "Executor ThreadPoolExecutor",
    "unittest": "TestCase TestLoader TestResult TestSuite TextTestResult TextTestRunner",
    "logging": (
        "FileHandler Filter Formatter Handler Logger LoggerAdapter NullHandler StreamHandler"
    ),
}

# Public attributes may be set on their instances: decimal.getcontext().prec = 5.
WRITABLE: dict[str, str] = {
    "decimal": "Context",
    "collections": "UserDict UserList UserString ChainMap defaultdict",
    "textwrap": "TextWrapper",
    "pprint": "PrettyPrinter",
    "reprlib": "Repr",
    "json": "JSONDecoder JSONEncoder",
    "csv": "DictReader DictWriter",
    "configparser": "ConfigParser RawConfigParser",
    "xml.etree.ElementTree": "Element ElementTree",
    "types": "SimpleNamespace",
    "threading": "Thread Timer local",
    "zipfile": "ZipInfo",
    "tarfile": "TarInfo",
    "sqlite3": "Connection Cursor",
    "unittest": "TestLoader TestResult TestSuite TextTestResult TextTestRunner",
    "logging": (
        "FileHandler Filter Formatter LogRecord Logger LoggerAdapter NullHandler StreamHandler"
    ),
}

# Computed at each load, by calling the function of that name in library/.
LIVE: dict[str, str] = {
    "sys": "argv stderr stdin stdout",
}

# Replaced names that only later Python versions have; profiles list them for all versions.
SINCE: dict[str, tuple[int, int]] = {
    "copy.replace": (3, 13),
    "asyncio.QueueShutDown": (3, 13),
    "asyncio.eager_task_factory": (3, 12),
    "os.path.splitroot": (3, 12),
    "queue.ShutDown": (3, 13),
}

# Packages that create and change classes at run time. Their types are not hardened, and classes
# created by library code are not checked: the kernel jail contains them, not the language policy.
OPEN_PACKAGES = frozenset({
    "IPython", "PIL", "aiohappyeyeballs", "aiohttp", "aiosignal", "anyio", "attr", "certifi",
    "charset_normalizer", "contourpy", "cycler", "dateutil", "frozenlist", "h11", "httpcore",
    "httpx", "idna", "joblib", "kiwisolver", "matplotlib", "mpl_toolkits", "mpmath", "multidict",
    "narwhals", "numpy", "pandas", "patsy", "plotly", "propcache", "pyparsing", "pytz", "requests",
    "scipy", "seaborn", "sklearn", "socks", "socksio", "statsmodels", "sympy", "threadpoolctl",
    "urllib3", "websocket", "websockets", "yarl",
})  # fmt: skip
