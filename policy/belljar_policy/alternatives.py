"""What to use instead of a module or a name that the profile does not have: hints of BJ201, BJ202
and BJ305.

Only for what programs really ask for, and only naming what is in the sandbox. Another profile is
never named here: ModuleTable.near_modules names one if this installation has it.
"""

from __future__ import annotations

import ast
from collections.abc import Collection

_FILES = "Only files in memory are available: io.StringIO and io.BytesIO"
_DESCRIPTORS = "Use open() with a path; file descriptors are not available"
_NETWORK = "The network is not available; pass the data as standard input"
_PROCESSES = "Other processes are not available; call the code directly"
_POOLS = (
    "Other processes are not available; use threading.Thread with queue.Queue, or "
    "multiprocessing.Pool, which runs its calls in threads"
)
_SHARED = "Threads share all objects of the program: use a variable, with threading.Lock"
_HOOKS = "Frames are not available; catch exceptions in the function that the thread runs"
_THREADS = "Use threading, queue or concurrent.futures"
_FRAMES = "Use lists, statistics, fractions or array; for tables, csv and a list of dicts"
_PICTURES = "Images are not available; print the numbers, or a bar of '#' for each"
_MODELS = "Machine learning is not available; use random, math and statistics"
_COLOURS = "On a terminal, print('\\033[31mred\\033[0m') prints in colour"
_ARGUMENTS = "Use argparse for arguments"
_SERVICES = "The network is not available; call the program's own functions directly"
_SERVERS = "The program cannot receive connections; call the handlers' functions directly"
_ALARMS = (
    "No signal reaches the program; check time.monotonic() in the loop, or use asyncio.timeout"
)
_SETTINGS = "Environment variables are not available; set the values at the program's top"
_PICKLE = "Use json to store plain data, and pickle.dumps to keep objects within the run"
_INSTALLS = (
    "A program installs nothing: the packages are those of its profile, or those that its caller "
    "asks for where the operator allows it"
)
_HOST = "A program learns nothing of the load and the settings of the machine that it runs on"
_SOUNDS = "Sound files are bytes: struct.pack writes their header and samples"
_RUN_TIME_CODE = "Write the code directly; use json.loads to parse data"
_INTERPRETER = "Interpreter internals are not available and not needed"
_TERMINAL = "Screen and keyboard are not available; use print() and input()"

# By the module's name, or its first part.
ALTERNATIVES: dict[str, str] = {
    **dict.fromkeys(("shutil", "tempfile", "glob", "mmap"), _FILES),
    **dict.fromkeys(("zipfile", "tarfile"), _FILES),
    "sqlite3": "Keep the rows in a list of dicts, with sorted() and itertools.groupby; csv and "
    "json read and write them",
    **dict.fromkeys(
        ("socket", "requests", "httpx", "aiohttp", "ssl", "http.client", "ftplib"), _NETWORK
    ),
    **dict.fromkeys(("smtplib", "websockets", "websocket", "urllib3"), _NETWORK),
    **dict.fromkeys(("urllib.request", "xmlrpc", "webbrowser", "select", "selectors"), _NETWORK),
    **dict.fromkeys(("openai", "anthropic", "boto3"), _NETWORK),
    **dict.fromkeys(("flask", "django", "fastapi", "streamlit"), _SERVICES),
    **dict.fromkeys(("subprocess", "pty", "fcntl"), _PROCESSES),
    **dict.fromkeys(
        ("_thread", "concurrent.futures.thread", "_queue", "gevent", "eventlet"), _THREADS
    ),
    **dict.fromkeys(("concurrent.futures.process", "pathos"), _POOLS),
    "multiprocessing.process": "Use multiprocessing.Process, which runs in a thread",
    "multiprocessing.dummy": "Use from multiprocessing.pool import ThreadPool",
    **dict.fromkeys(("multiprocessing.shared_memory", "multiprocessing.managers"), _SHARED),
    **dict.fromkeys(("numpy", "pandas", "scipy", "statsmodels", "sympy"), _FRAMES),
    **dict.fromkeys(("matplotlib", "seaborn", "plotly", "PIL", "cv2"), _PICTURES),
    **dict.fromkeys(("sklearn", "torch", "tensorflow", "keras", "transformers"), _MODELS),
    **dict.fromkeys(("cPickle", "dill", "cloudpickle", "marshal"), _PICKLE),
    "shelve": "Use a dict, and json to store it",
    **dict.fromkeys(("code", "codeop", "compileall"), _RUN_TIME_CODE),
    "dis": "Bytecode is not shown; ast.dump(ast.parse(text)) shows how Python reads a program",
    **dict.fromkeys(("ctypes", "imp"), _INTERPRETER),
    **dict.fromkeys(("pkgutil", "modulefinder"), "Use importlib.import_module"),
    **dict.fromkeys(("distutils", "setuptools", "pip", "venv", "ensurepip", "zipapp"), _INSTALLS),
    **dict.fromkeys(("imaplib", "poplib", "nntplib", "telnetlib"), _NETWORK),
    **dict.fromkeys(("dbm", "dbm.dumb", "dbm.gnu", "dbm.ndbm"), "Use a dict, and json to store it"),
    **dict.fromkeys(("wave", "aifc", "sndhdr", "audioop", "winsound"), _SOUNDS),
    **dict.fromkeys(("crypt", "spwd"), "Use hashlib.scrypt or hashlib.pbkdf2_hmac for passwords"),
    "syslog": "Use logging",
    "compression": "Use bz2, gzip, lzma and zlib, which are the same modules",
    "compression.zstd": "Use lzma or bz2, which compress about as well",
    "concurrent.interpreters": "Other interpreters are not available; use threading and queue",
    **dict.fromkeys(("site", "sysconfig", "runpy", "_io", "posix"), _INTERPRETER),
    **dict.fromkeys(("tkinter", "turtle", "pygame", "curses", "readline"), _TERMINAL),
    **dict.fromkeys(("optparse", "click", "typer", "docopt", "fire"), _ARGUMENTS),
    **dict.fromkeys(("colorama", "termcolor"), _COLOURS),
    **dict.fromkeys(("http.server", "socketserver", "wsgiref", "xmlrpc.server"), _SERVERS),
    "copyreg": "Define __reduce__ or __getstate__ in the class; copy and pickle call them",
    "dotenv": _SETTINGS,
    "pytest": "Use unittest",
    "nose": "Use unittest",
    "hypothesis": "Use random with a seed for test data, and unittest to check it",
    "attr": "Use dataclasses",
    "attrs": "Use dataclasses",
    "pydantic": "Use dataclasses, and check values in __post_init__",
    "pytz": "Use zoneinfo for time zones",
    "dateutil": "Use datetime.fromisoformat to parse dates and zoneinfo for time zones",
    "typing_extensions": "Use typing, with the features of this Python version",
    "simplejson": "Use json",
    "ujson": "Use json",
    "orjson": "Use json",
    "yaml": "Use json or configparser",
    "toml": "Use tomllib, whose loads() reads TOML",
    **dict.fromkeys(("openpyxl", "xlsxwriter", "xlrd"), "Spreadsheets are not available; use csv"),
    "regex": "Use re",
    "faker": "Use random.choice with lists of your own",
    "nltk": "Use re.findall for words and collections.Counter to count them",
    "lxml": "Use xml.etree.ElementTree",
    "bs4": "Use html.parser",
    "pdb": "Use print() or assert",
    "rich": "Use pprint or textwrap",
    "sortedcontainers": "Use bisect.insort on a list, or heapq",
    "tabulate": "Use format() or f-strings to align columns",
    "tqdm": "Use print() to show progress",
    "networkx": "Use a dict of sets for a graph, and graphlib to sort it",
    "six": "Use the Python 3 names directly",
}

# The same for profiles with packages: the required module, and the hint.
_FIGURES = "Use matplotlib.pyplot or plotly"
_LEARNING = "Use sklearn: sklearn.neural_network, HistGradientBoostingClassifier and others"
_TABLES = "Use pandas"
WITH_PACKAGES: dict[str, tuple[str, str]] = {
    **dict.fromkeys(("cv2", "skimage", "imageio"),
                    ("PIL", "Use PIL, or arrays as images: plt.imshow, scipy.ndimage")),
    **dict.fromkeys(("bokeh", "altair", "plotnine", "pygal"), ("matplotlib", _FIGURES)),
    **dict.fromkeys(("torch", "tensorflow", "keras", "transformers", "xgboost", "lightgbm"),
                    ("sklearn", _LEARNING)),
    **dict.fromkeys(("catboost", "jax"), ("sklearn", _LEARNING)),
    **dict.fromkeys(("polars", "dask", "modin", "duckdb"), ("pandas", _TABLES)),
    **dict.fromkeys(("pyarrow", "fastparquet"),
                    ("pandas", "Use CSV: DataFrame.to_csv and pandas.read_csv")),
    **dict.fromkeys(("xlsxwriter", "xlrd", "pyxlsb", "odf"),
                    ("openpyxl", "Use openpyxl, or pandas with it: .xlsx files")),
    "html5lib": ("bs4", "Use BeautifulSoup(text, 'lxml') or 'html.parser'"),
    **dict.fromkeys(("nltk", "spacy", "textblob"), ("regex",
                    "Use regex or re.findall for words, collections.Counter to count them and "
                    "sklearn.feature_extraction.text for n-grams and stop words")),
    "wave": ("scipy", "Use scipy.io.wavfile"),
    "numba": ("numpy", "Use numpy operations on whole arrays, which are as fast"),
    "cupy": ("numpy", "Use numpy"),
    "networkx": ("scipy", "Use scipy.sparse.csgraph for graphs"),
}  # fmt: skip

# The same for submodules and names of packages, and for modules that not every profile has.
PACKAGE_NAME_ALTERNATIVES: dict[str, str] = {
    "matplotlib.font_manager": "Only the fonts included in matplotlib are available",
    "numpy.lib.stride_tricks.as_strided": "Use sliding_window_view from the same module",
    **dict.fromkeys(
        ("pandas.read_parquet", "pandas.read_sql", "pandas.read_hdf",
         "pandas.read_feather", "pandas.read_orc"),
        "Use read_csv or read_json",
    ),
    **dict.fromkeys(
        ("lxml.html.parse", "lxml.html.submit_form", "lxml.html.open_in_browser"),
        "Use lxml.html.fromstring with the text",
    ),
    **dict.fromkeys(
        ("lxml.objectify", "lxml.builder", "lxml.cssselect", "lxml.html.clean"),
        "Use lxml.etree and lxml.html, with XPath",
    ),
    "socket.socketpair": "It is left out, as servers are: pass data between threads with "
    "queue.Queue",
    "tqdm.contrib": "Use tqdm(iterable)",
    "tqdm.asyncio": "Use tqdm(total=n), and update() in each task",

    **dict.fromkeys(
        ("seaborn.load_dataset", "seaborn.get_dataset_names", "statsmodels.api.datasets",
         "sklearn.datasets.fetch_20newsgroups", "sklearn.datasets.fetch_california_housing",
         "sklearn.datasets.fetch_covtype", "sklearn.datasets.fetch_lfw_people",
         "sklearn.datasets.fetch_olivetti_faces", "sklearn.datasets.fetch_openml"),
        "Downloads are not available; use plotly.express.data (iris, tips, gapminder, …) or the "
        "load_… functions of sklearn.datasets",
    ),
}  # fmt: skip

# The names that a profile with files has, and others do not.
FILE_NAMES = frozenset({"pathlib.Path", "pathlib.PosixPath"}) | frozenset(
    f"os.{name}" for name in (
        "access", "chdir", "chmod", "getcwd", "link", "listdir", "lstat", "makedirs", "mkdir",
        "readlink", "remove", "removedirs", "rename", "renames", "replace", "rmdir", "scandir",
        "stat", "symlink", "truncate", "unlink", "utime", "walk", "path.abspath", "path.exists",
        "path.expanduser", "path.getmtime", "path.getsize", "path.isdir", "path.isfile",
        "path.islink", "path.realpath", "path.relpath",
    )
)  # fmt: skip

# By module and name, for names that the profile withholds, or that programs try to set.
NAME_ALTERNATIVES: dict[str, str] = {
    **dict.fromkeys(("os.system", "os.popen", "os.fork", "os.kill", "os.execv"), _PROCESSES),
    **dict.fromkeys(("os.open", "os.close", "os.dup", "os.pipe"), _DESCRIPTORS),
    **dict.fromkeys(FILE_NAMES, _FILES),
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PosixPath"),
        "Use pathlib.PurePath for paths as text; only files in memory are available: io.StringIO "
        "and io.BytesIO",
    ),
    **dict.fromkeys(
        (
            "threading.excepthook",
            "threading.ExceptHookArgs",
            "threading.settrace",
            "threading.setprofile",
        ),
        _HOOKS,
    ),
    **dict.fromkeys(("signal.pause",), _ALARMS),
    **dict.fromkeys(("signal.raise_signal", "signal.pthread_kill"), "Call the handler directly"),
    "io.BufferedReader": "io.BytesIO is read in the same way, and needs no buffer",
    "io.BufferedWriter": "io.BytesIO is written in the same way, and needs no buffer",
    **dict.fromkeys(("os.getloadavg", "os.sysconf", "os.confstr", "os.getpriority"), _HOST),
    "os.uname": "Use platform.uname(), which tells nothing of the machine",
    "os.sched_getaffinity": "Use os.cpu_count()",
    "os.getlogin": "User accounts are not available",
    "os.getuid": "User accounts are not available",
    "logging.config.fileConfig": "Use dictConfig()",
    "logging.config.listen": "Use dictConfig()",
    "zipfile.Path": "Use namelist() and open() of ZipFile",
    "sys.settrace": "Use print()",
    "gc.get_objects": "Keep the objects in a list; weakref.ref shows whether one is alive",
    "gc.get_referrers": "Use weakref.ref to see whether an object is alive",
    "codecs.open": "Only files in memory are available: io.StringIO and io.BytesIO",
    "typing.ForwardRef": "Read __annotations__; text in annotations is never evaluated",
    "typing.evaluate_forward_ref": "Use typing.get_type_hints",
    "inspect.currentframe": "Pass the value as an argument",
    "traceback.walk_tb": "Use traceback.extract_tb(), which gives a list of lines",
}


NAMES_BY_MODULE: dict[str, set[str]] = {}
"""The names above, by their modules."""
for _full in NAME_ALTERNATIVES:
    _module, _, _name = _full.rpartition(".")
    NAMES_BY_MODULE.setdefault(_module, set()).add(_name)


def alternative(module: str, available: Collection[str] = ()) -> str:
    """What to use instead of `module`, given the modules `available`; "" if nothing is known."""
    package = module.partition(".")[0]
    needed, with_package = WITH_PACKAGES.get(package, ("", ""))
    if needed in available:
        return with_package
    own = (
        ALTERNATIVES.get(module)
        or NAME_ALTERNATIVES.get(module)
        or PACKAGE_NAME_ALTERNATIVES.get(module)
    )
    # If only a submodule of an available package is missing, the package needs no replacement.
    return own or ("" if package in available else ALTERNATIVES.get(package, ""))


def alternative_to_name(module: str, name: str) -> str:
    """What to use instead of `name` of `module`; "" if nothing is known."""
    full = f"{module}.{name}"
    return NAME_ALTERNATIVES.get(full) or PACKAGE_NAME_ALTERNATIVES.get(full, "")


PUT_INTO_SYS_MODULES = (
    "What a program puts into sys.modules, imports do not find: use the module that you made, "
    "without `import {}`."
)


def instead_of(hint: str, tree: ast.Module) -> str:
    """The hint of a finding, or what a program is told that starts pip."""
    if _PROCESSES not in hint:
        return hint
    for node in ast.walk(tree):
        if node.__class__ is ast.Constant and type(node.value) is str:
            words = node.value.split()
            if "pip" in words or "pip3" in words:
                return hint.replace(_PROCESSES, _INSTALLS)
    return hint
