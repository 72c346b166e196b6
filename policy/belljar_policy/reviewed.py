"""Individually reviewed library classes; the tables are the same for every profile.

The review looked for methods that look up attributes by names that a subclass or an instance
supplies (contextlib.redirect_stdout's `_stream`, dataclasses.Field's `name`); such classes are not
listed. A class that is in no table can be used, but not derived from or written to.
"""

from __future__ import annotations

import ast

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
    # Both call the program's methods by fixed names, and keep no state in Python. Not RawIOBase,
    # whose read() trusts the number that readinto() returns.
    "io": "BytesIO IOBase StringIO TextIOBase",
    "argparse": (
        "Action ArgumentDefaultsHelpFormatter ArgumentParser BooleanOptionalAction HelpFormatter "
        "MetavarTypeHelpFormatter Namespace RawDescriptionHelpFormatter RawTextHelpFormatter"
    ),
    "ast": "NodeTransformer NodeVisitor",
    "cmd": "Cmd",
    "shlex": "shlex",
    "weakref": "WeakKeyDictionary WeakSet WeakValueDictionary",
    "os": "PathLike",
    "asyncio": (
        "BoundedSemaphore CancelledError Condition Event InvalidStateError LifoQueue Lock "
        "PriorityQueue Queue QueueEmpty QueueFull QueueShutDown Semaphore"
    ),
    "threading": "Barrier BoundedSemaphore Condition Event Semaphore Thread Timer local",
    "multiprocessing": "Process",
    "queue": "Empty Full LifoQueue PriorityQueue Queue",
    "concurrent.futures": "Executor ThreadPoolExecutor",
    "string": "Formatter Template",
    "unittest": (
        "IsolatedAsyncioTestCase TestCase TestLoader TestResult TestSuite TextTestResult "
        "TextTestRunner"
    ),
    "logging": (
        "FileHandler Filter Formatter Handler Logger LoggerAdapter NullHandler StreamHandler"
    ),
    "logging.handlers": (
        "BufferingHandler MemoryHandler QueueHandler RotatingFileHandler TimedRotatingFileHandler"
    ),
}

# Public attributes may be set on their instances: decimal.getcontext().prec = 5.
WRITABLE: dict[str, str] = {
    "decimal": "Context",
    "collections": "UserDict UserList UserString ChainMap defaultdict",
    # What it was made of is read-only, and the library reads no other attribute of one.
    "functools": "partial",
    "refusing_ssl": "SSLContext",  # the library's own is another matter
    "textwrap": "TextWrapper",
    "pprint": "PrettyPrinter",
    "reprlib": "Repr",
    "json": "JSONDecoder JSONEncoder",
    "csv": "DictReader DictWriter",
    "configparser": "ConfigParser RawConfigParser",
    "xml.etree.ElementTree": "Element ElementTree",
    "types": "SimpleNamespace",
    "multiprocessing": "Process Value",
    "threading": "Thread Timer local",
    "zipfile": "ZipInfo",
    "tarfile": "TarInfo",
    "sqlite3": "Connection Cursor",
    "argparse": "ArgumentParser Namespace",
    # Every node: trees are data.
    "ast": " ".join(
        name
        for name, value in vars(ast).items()
        if isinstance(value, type) and issubclass(value, ast.AST)
    ),
    "cmd": "Cmd",
    "email.charset": "Charset",
    "email.message": "EmailMessage Message",
    "email.mime.multipart": "MIMEMultipart",
    "shlex": "shlex",
    "unittest": "TestLoader TestResult TestSuite TextTestResult TextTestRunner",
    "logging": (
        "FileHandler Filter Formatter LogRecord Logger LoggerAdapter NullHandler StreamHandler"
    ),
}

# Loaded when a program imports them, before it starts (ModuleTable.load): they are too rare to be
# in every worker's memory. A package is loaded as a whole. Unless something else has imported the
# module before the freeze: then its classes are changed there, as they cannot be changed later.
LATE = frozenset({
    "argparse", "bz2", "cmd", "colorsys", "email", "getopt", "gzip", "http", "ipaddress", "lzma",
    "mimetypes", "pathlib", "pickle", "shlex", "tokenize", "tomllib", "xml.dom",
})  # fmt: skip
# The same for modules of which no class is changed.
LATE_ANYWAY = frozenset({
    "ast", "atexit", "cProfile", "codecs", "doctest", "errno", "fileinput", "gc", "getpass",
    "gettext",
    "html", "importlib", "keyword", "linecache", "locale", "logging.config",
    "logging.handlers", "multiprocessing", "platform", "profile", "pstats", "quopri", "sched",
    "shelve", "signal", "stat", "timeit", "token", "tracemalloc", "unittest", "weakref", "zlib",
})  # fmt: skip

# The same for packages of OPEN_PACKAGES (packages/late.py).
LATE_PACKAGES = frozenset({
    "bs4", "faker", "lxml", "openpyxl", "regex", "sortedcontainers", "tabulate", "tqdm",
})  # fmt: skip

# Computed at each load, by calling the function of that name in library/.
LIVE: dict[str, str] = {
    "sys": "__stderr__ __stdin__ __stdout__ argv modules stderr stdin stdout",
    "time": "altzone daylight timezone tzname",
    "logging.config": "dictConfig",
    "unittest.mock": (
        "ANY AsyncMock DEFAULT FILTER_DIR InvalidSpecError MagicMock Mock NonCallableMagicMock "
        "NonCallableMock PropertyMock call create_autospec mock_open patch seal sentinel"
    ),
}

# May be assigned: the function set_NAME in library/ gets the value. Only what a program may change
# anyway, and what every reader expects to be any object (library/streams.py), or a plain list.
ASSIGNABLE: dict[str, str] = {
    "sys": "argv stderr stdin stdout",
}

# Replaced names that only later Python versions have; profiles list them for all versions.
SINCE: dict[str, tuple[int, int]] = {
    "copy.replace": (3, 13),
    "asyncio.QueueShutDown": (3, 13),
    "asyncio.eager_task_factory": (3, 12),
    "os.path.splitroot": (3, 12),
    "queue.ShutDown": (3, 13),
    "uuid.uuid6": (3, 14),
}

# Packages that create and change classes at run time. Their types are not hardened, and classes
# created by library code are not checked: the kernel jail contains them, not the language policy.
OPEN_PACKAGES = LATE_PACKAGES | {
    "PIL", "_regex", "aiohappyeyeballs", "aiohttp", "aiosignal", "anyio", "attr",
    "certifi", "charset_normalizer", "contourpy", "cycler", "dateutil", "et_xmlfile", "frozenlist",
    "h11", "httpcore", "httpx", "idna", "joblib", "kiwisolver", "matplotlib", "mpl_toolkits",
    "mpmath", "multidict", "narwhals", "numpy", "pandas", "patsy", "plotly", "propcache",
    "pyparsing", "pytz", "requests", "scipy", "seaborn", "sklearn", "socks", "socksio", "soupsieve",
    "statsmodels", "sympy", "threadpoolctl", "urllib3", "websocket", "websockets", "yarl",
}  # fmt: skip

# Library code that reads or writes attributes of modules by computed names, or reads a module's
# `__dict__`, while a program runs (guards/real_modules.cc): a whole module or "module:function",
# and the packages of which it may read the modules ("": all). No program chooses the module.
MODULE_READERS: dict[str, tuple[str, ...]] = {
    # It makes the modules.
    "importlib._bootstrap": ("",),
    "importlib._bootstrap_external": ("",),
    # They change and export the modules that a program imports.
    "belljar_policy.modules": ("",),
    # It runs the text of our own modules in them.
    "belljar_policy.library.kept": ("belljar_policy",),
    # It changes the classes of the module that is being loaded.
    "belljar_policy.library.objects:check_classes_of": ("",),
    "belljar_policy.packages.faker:_adapt_loading": ("faker",),
    "belljar_policy.packages.late": ("",),  # which asks whether a program runs
    "belljar_policy.packages.openpyxl:_adapt_sheet_writer": ("openpyxl",),
    "belljar_policy.packages.openpyxl:_adapt_writer": ("openpyxl",),
    "belljar_policy.packages.faker:_adapt_factory": ("faker",),
    "belljar_policy.packages.faker:_adapt_generator": ("faker",),
    "belljar_policy.packages.tqdm:_adapt": ("tqdm",),
    # For info("name"), which prints the documentation of what has the name.
    "numpy.lib._utils_impl:_makenamedict": ("",),
    # The module, or its package, is a constant.
    "PIL.features": ("PIL",),
    "_plotly_utils.basevalidators": ("plotly",),
    "_plotly_utils.importers:relative_import.<locals>.__getattr__": ("plotly",),
    "belljar_policy.packages.sympy": ("mpmath", "sympy"),
    "matplotlib.pyplot:switch_backend.<locals>.backend_mod": ("matplotlib.backends",),
    "pandas.io.excel._base:_infer_engine_from_workbook": ("openpyxl",),
    "pandas.core.window.rolling:Window._validate": ("scipy.signal",),
    "scipy._lib.deprecation:_sub_module_deprecation": ("scipy",),
    "scipy.linalg.blas:_get_funcs": ("scipy.linalg",),
    "scipy.optimize._optimize:show_options": ("scipy",),
    # The name ends in _array or _matrix, and is called for known formats only.
    "scipy.sparse._matrix_io:load_npz": ("scipy.sparse",),
    "anyio._lazyimport": ("anyio",),
    "websockets.imports": ("websockets",),
    "sklearn.utils._sparse:_align_api_if_sparse": ("scipy.sparse",),
    "sympy.core.cache": ("sympy",),
    # Before Python 3.12, the list comprehension is a function of its own.
    "sympy.plotting.series:ImplicitSeries._adaptive_eval.<locals>.<listcomp>": (
        "sympy.plotting.intervalmath",
    ),
    "sympy.plotting.series:ImplicitSeries._adaptive_eval": ("sympy.plotting.intervalmath",),
    # Namespaces of arrays: a program could choose another module only of these.
    "scipy._lib.array_api_compat.common._helpers:_issubclass_fast": ("numpy",),
    "scipy._lib.array_api_extra._delegation:atleast_nd": (
        "numpy", "scipy._lib.array_api_compat.numpy",
    ),
    "sklearn.externals.array_api_compat.common._helpers:_issubclass_fast": ("numpy",),
    "sklearn.externals.array_api_extra._manipulation:atleast_nd": (
        "numpy", "sklearn.externals.array_api_compat.numpy",
    ),
    # For the lines of a source, which linecache asks the module's loader for.
    "inspect:findsource": ("",),
    # For functions of plotly.colors, which show their own module.
    "inspect:_getmembers": ("_plotly_utils.colors",),
}  # fmt: skip
