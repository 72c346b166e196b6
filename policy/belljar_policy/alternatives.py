"""What to use instead of a module or a name that the profile does not have: hints of BJ201, BJ202
and BJ305.

Only for what programs really ask for, and only what is in the sandbox. Another profile is named
where this installation has one with the module (ModuleTable.near_modules), so never here.
"""

from __future__ import annotations

from collections.abc import Collection

_FILES = "io.StringIO and io.BytesIO are files in memory; there are no others"
_DESCRIPTORS = "open() opens files, by their path"
_SYSTEM = "there are no files, commands or environment here; io.StringIO is a file in memory"
_NETWORK = "there is no network here; pass the data in as standard input"
_PROCESSES = "there are no other processes here; call the code directly"
_THREADS = "there are no threads here; asyncio runs many things at a time in one"
_FRAMES = "lists, statistics, fractions and array are here; for a table, csv and a list of dicts"
_PICTURES = "there are no pictures here; print the numbers, or a line of '#' for each"
_MODELS = "there is no machine learning here; random, math and statistics are here"
_COLOURS = "print('\\033[31mred\\033[0m') prints in colour where the output is a terminal"
_COMPRESSION = "nothing here compresses; base64, binascii.crc32 and hashlib are here"
_ARGUMENTS = "a program here gets no arguments: set the values at its top"
_SERVICES = "there is no network here; call the program's own functions directly"
_SETTINGS = "there are no environment variables here; set the values at the program's top"
_PICKLE = "json keeps plain data, and copy.deepcopy copies objects"
_RUN_TIME_CODE = "write the code out; json.loads reads data"
_INTERPRETER = "nothing in the sandbox needs the interpreter's own parts"
_TERMINAL = "there is no screen and no keyboard here; print the result and read input()"

# By the module's name, or its first part.
ALTERNATIVES: dict[str, str] = {
    "os": _SYSTEM,
    **dict.fromkeys(("pathlib", "shutil", "tempfile", "glob", "fileinput", "mmap"), _FILES),
    **dict.fromkeys(("zipfile", "tarfile", "sqlite3", "filecmp", "linecache"), _FILES),
    **dict.fromkeys(("socket", "requests", "httpx", "aiohttp", "ssl", "http", "ftplib"), _NETWORK),
    **dict.fromkeys(("smtplib", "email", "websockets", "websocket", "urllib3"), _NETWORK),
    **dict.fromkeys(("urllib.request", "xmlrpc", "webbrowser", "select", "selectors"), _NETWORK),
    **dict.fromkeys(("openai", "anthropic", "boto3"), _NETWORK),
    **dict.fromkeys(("flask", "django", "fastapi", "streamlit"), _SERVICES),
    **dict.fromkeys(("gzip", "bz2", "lzma", "zlib"), _COMPRESSION),
    **dict.fromkeys(("subprocess", "multiprocessing", "pty", "fcntl"), _PROCESSES),
    "signal": "there are no signals here; asyncio.timeout ends what takes too long",
    "atexit": "end the program with try and finally",
    **dict.fromkeys(("threading", "concurrent", "_thread"), _THREADS),
    "queue": "collections.deque and heapq are queues; asyncio.Queue is one between tasks",
    "sched": "heapq keeps the next event first; asyncio.sleep waits",
    **dict.fromkeys(("numpy", "pandas", "scipy", "statsmodels", "sympy"), _FRAMES),
    **dict.fromkeys(("matplotlib", "seaborn", "plotly", "PIL", "cv2"), _PICTURES),
    **dict.fromkeys(("sklearn", "torch", "tensorflow", "keras", "transformers"), _MODELS),
    **dict.fromkeys(("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"), _PICKLE),
    "ast": "json.loads reads data; for an expression, write the code out",
    **dict.fromkeys(("code", "codeop", "dis", "compileall", "tokenize"), _RUN_TIME_CODE),
    **dict.fromkeys(("builtins", "importlib", "gc", "ctypes", "imp", "pkgutil"), _INTERPRETER),
    **dict.fromkeys(("site", "sysconfig", "runpy", "_io", "posix"), _INTERPRETER),
    **dict.fromkeys(("tkinter", "turtle", "pygame", "curses", "readline"), _TERMINAL),
    **dict.fromkeys(("argparse", "optparse", "getopt", "click", "typer"), _ARGUMENTS),
    **dict.fromkeys(("colorama", "termcolor"), _COLOURS),
    "dotenv": _SETTINGS,
    "getpass": "input() reads a line of the standard input",
    "platform": "sys.version_info and sys.platform tell the Python and the system",
    "locale": "format() and f-strings have ',' and '_' for thousands",
    "pytest": "unittest is here",
    "nose": "unittest is here",
    "hypothesis": "random with a seed makes test data; unittest checks it",
    "attr": "dataclasses are here",
    "attrs": "dataclasses are here",
    "pydantic": "dataclasses are here; check values in __post_init__",
    "pytz": "zoneinfo has the time zones",
    "dateutil": "datetime.fromisoformat reads dates; zoneinfo has the time zones",
    "typing_extensions": "typing has what this Python has of it",
    "simplejson": "json is here",
    "ujson": "json is here",
    "orjson": "json is here",
    "yaml": "json and configparser are here",
    "toml": "json and configparser are here",
    "tomllib": "json and configparser are here",
    "lxml": "xml.etree.ElementTree is here",
    "bs4": "html.parser is here",
    "codecs": "a string has encode(), bytes have decode(); base64 is here",
    "keyword": "isidentifier() of a string tells what may be a name",
    "shlex": "split() of a string splits at spaces; csv reads quotes",
    "tracemalloc": "sys.getsizeof tells the size of one object",
    "IPython": "print() or pprint show values",
    "weakref": "keep the objects in a dict and remove them yourself",
    "cProfile": "timeit and time.perf_counter measure",
    "profile": "timeit and time.perf_counter measure",
    "pdb": "print() what you want to see, or use assert",
    "rich": "pprint and textwrap are here",
    "tabulate": "format() and f-strings align columns",
    "tqdm": "print() the progress",
    "networkx": "graphlib sorts graphs; a dict of sets holds one",
    "six": "Python 2 is gone: use Python 3's own names",
}

# The same where a profile has packages: the module that has to be there, and the hint.
_FIGURES = "matplotlib.pyplot and plotly are here"
_LEARNING = "sklearn is here: sklearn.neural_network, HistGradientBoostingClassifier and others"
_TABLES = "pandas is here"
WITH_PACKAGES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("PIL", "cv2", "skimage", "imageio"),
                    ("matplotlib", "images are arrays here: plt.imshow, scipy.ndimage")),
    **dict.fromkeys(("bokeh", "altair", "plotnine", "pygal"), ("matplotlib", _FIGURES)),
    **dict.fromkeys(("torch", "tensorflow", "keras", "transformers", "xgboost", "lightgbm"),
                    ("sklearn", _LEARNING)),
    **dict.fromkeys(("catboost", "jax"), ("sklearn", _LEARNING)),
    **dict.fromkeys(("polars", "dask", "modin", "pyarrow", "duckdb"), ("pandas", _TABLES)),
    "openpyxl": ("pandas", "there are no spreadsheets here; pandas reads and writes CSV"),
    "tabulate": ("pandas", "print(DataFrame.to_string()) aligns columns"),
    "numba": ("numpy", "operations on whole arrays of numpy are as fast"),
    "cupy": ("numpy", "numpy is here"),
    "networkx": ("scipy", "scipy.sparse.csgraph has graphs"),
    "IPython": ("matplotlib", "the value of the last line is shown, and so are open figures"),
}  # fmt: skip

# The same for parts and names of packages.
PACKAGE_NAME_ALTERNATIVES: dict[str, str] = {
    "matplotlib.animation": "draw single frames as figures; there are no films here",
    "matplotlib.font_manager": "the fonts are those that matplotlib brings along",
    "matplotlib.image": "images are arrays here: plt.imshow shows one",
    "numpy.lib.stride_tricks.as_strided": "sliding_window_view, from the same module",
    **dict.fromkeys(
        ("pandas.read_pickle", "pandas.read_parquet", "pandas.read_sql", "pandas.read_hdf",
         "pandas.read_feather", "pandas.read_orc"),
        "read_csv and read_json read text",
    ),
    **dict.fromkeys(
        ("seaborn.load_dataset", "seaborn.get_dataset_names", "statsmodels.api.datasets",
         "sklearn.datasets.fetch_20newsgroups", "sklearn.datasets.fetch_california_housing",
         "sklearn.datasets.fetch_covtype", "sklearn.datasets.fetch_lfw_people",
         "sklearn.datasets.fetch_olivetti_faces", "sklearn.datasets.fetch_openml"),
        "nothing can be downloaded; plotly.express.data (iris, tips, gapminder, …) and the load_… "
        "functions of sklearn.datasets have tables",
    ),
}  # fmt: skip

# By module and name, for names that a module has and the profile withholds, or that programs set.
NAME_ALTERNATIVES: dict[str, str] = {
    **dict.fromkeys(("os.system", "os.popen", "os.fork", "os.kill", "os.execv"), _PROCESSES),
    **dict.fromkeys(("os.open", "os.fdopen", "os.read", "os.write", "os.close"), _DESCRIPTORS),
    **dict.fromkeys(("os.dup", "os.pipe", "os.fstat"), _DESCRIPTORS),
    "os.getlogin": "there are no users here",
    "os.getuid": "there are no users here",
    "os.get_terminal_size": "shutil.get_terminal_size() has a size to fall back to",
    "tempfile.mkstemp": "NamedTemporaryFile(delete=False) makes a file and opens it",
    "tempfile.SpooledTemporaryFile": "io.BytesIO holds bytes in memory, TemporaryFile on disk",
    "zipfile.Path": "ZipFile has namelist() and open()",
    "shutil.which": "there are no programs to run here",
    "sys.exc_info": "name the exception, `except Exception as error:`, and use type(error)",
    "sys.modules": "a name that was imported is a name of the program",
    "sys.path": "only the profile's modules can be imported",
    "sys.getrefcount": "nothing in the sandbox needs the interpreter's own parts",
    "sys.executable": "no other program can be started here",
    "sys.settrace": "print() what you want to see",
    "sys.stdout": "contextlib.redirect_stdout(io.StringIO()) catches what is printed",
    "sys.stderr": "contextlib.redirect_stderr(io.StringIO()) catches what is written there",
    "sys.stdin": "read from an io.StringIO where the program would read input()",
    "typing.get_type_hints": "read __annotations__; without `from __future__ import annotations` "
    "it holds the classes themselves",
    "typing.ForwardRef": "read __annotations__; text in annotations is never evaluated",
    "string.Formatter": "f-strings and string.Template fill in values",
    "inspect.getsource": "the program's text is not available to it; signature() tells parameters",
    "inspect.getsourcelines": "the program's text is not available to it",
    "inspect.currentframe": "pass the value along as an argument",
    "inspect.stack": "traceback.format_exc() tells where an error came from",
    "inspect.getfullargspec": "inspect.signature tells the parameters",
    "inspect.getmro": "a class's __mro__ has the classes in order",
    "inspect.getgeneratorstate": "keep in a variable how far a generator is",
    "traceback.format_tb": "traceback.format_exc() and format_exception(error) hold the lines",
    "traceback.print_tb": "traceback.print_exc() prints the lines",
    "traceback.extract_tb": "traceback.format_exc() holds the lines as text",
    "traceback.extract_stack": "traceback.format_exc() tells where an error came from",
    "traceback.TracebackException": "traceback.format_exception(error) holds the lines as text",
    "types.TracebackType": "annotate it as object: no program can look into it",
    "types.CodeType": "code objects are not available",
    "types.FrameType": "frames are not available",
    "unittest.mock": "a class of the program with the same methods stands in for an object",
}


def alternative(module: str, available: Collection[str] = ()) -> str:
    """What to do without `module` where there are the modules `available`, or "" where nothing is
    known.
    """
    package = module.partition(".")[0]
    needed, with_package = WITH_PACKAGES.get(package, ("", ""))
    if needed in available:
        return with_package
    own = (
        ALTERNATIVES.get(module)
        or NAME_ALTERNATIVES.get(module)
        or PACKAGE_NAME_ALTERNATIVES.get(module)
    )
    # Of a package that is there, a part is missing: what replaces the package is no answer.
    return own or ("" if package in available else ALTERNATIVES.get(package, ""))


def alternative_to_name(module: str, name: str) -> str:
    """What to do without `name` of `module`, or "" where nothing is known."""
    full = f"{module}.{name}"
    return NAME_ALTERNATIVES.get(full) or PACKAGE_NAME_ALTERNATIVES.get(full, "")
