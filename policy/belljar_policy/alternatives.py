"""What to use instead of a module or a name that the profile does not have: hints of BJ201, BJ202
and BJ305.

Only for modules that programs really ask for, and only what is in the sandbox. Where another
profile has the module, the hint names that profile first.
"""

from __future__ import annotations

_FILES = "io.StringIO and io.BytesIO are files in memory; the 'filesystem' profile has real ones"
_NETWORK = "pass the data in as standard input; the 'network' profile reaches named hosts"
_PROCESSES = "there are no other processes here; call the code directly"
_THREADS = "there are no threads here; asyncio runs many things at a time in one"
_FRAMES = "the 'data-science' profile has tables and arrays"
_PICKLE = "json keeps plain data, and copy.deepcopy copies objects"
_RUN_TIME_CODE = "write the code out; json.loads reads data"
_INTERPRETER = "nothing in the sandbox needs the interpreter's own parts"
_TERMINAL = "there is no screen and no keyboard here; print the result and read input()"

# By the first part of the module's name.
ALTERNATIVES: dict[str, str] = {
    **dict.fromkeys(("os", "pathlib", "shutil", "tempfile", "glob", "fileinput", "mmap"), _FILES),
    **dict.fromkeys(("zipfile", "tarfile", "gzip", "bz2", "lzma", "zlib", "sqlite3"), _FILES),
    **dict.fromkeys(("socket", "requests", "httpx", "aiohttp", "ssl", "http", "ftplib"), _NETWORK),
    **dict.fromkeys(("smtplib", "email", "websockets", "websocket", "urllib3"), _NETWORK),
    **dict.fromkeys(("subprocess", "multiprocessing", "signal", "pty", "fcntl"), _PROCESSES),
    **dict.fromkeys(("threading", "concurrent", "_thread", "queue", "sched"), _THREADS),
    **dict.fromkeys(("numpy", "pandas", "scipy", "matplotlib", "seaborn", "sklearn"), _FRAMES),
    **dict.fromkeys(("statsmodels", "plotly", "sympy"), _FRAMES),
    **dict.fromkeys(("pickle", "cPickle", "dill", "cloudpickle", "shelve", "marshal"), _PICKLE),
    **dict.fromkeys(("ast", "code", "codeop", "dis", "compileall", "tokenize"), _RUN_TIME_CODE),
    **dict.fromkeys(("builtins", "importlib", "gc", "ctypes", "imp", "pkgutil"), _INTERPRETER),
    **dict.fromkeys(("site", "sysconfig", "runpy", "_io", "posix"), _INTERPRETER),
    **dict.fromkeys(("tkinter", "turtle", "pygame", "curses", "readline"), _TERMINAL),
    "argparse": "a program here gets no arguments: set the values at its top",
    "getopt": "a program here gets no arguments: set the values at its top",
    "click": "a program here gets no arguments: set the values at its top",
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
    "typing_extensions": "typing has what Python 3.11 has of it",
    "simplejson": "json is here",
    "ujson": "json is here",
    "orjson": "json is here",
    "yaml": "json and configparser are here",
    "toml": "json and configparser are here",
    "tomllib": "json and configparser are here",
    "lxml": "xml.etree.ElementTree is here",
    "bs4": "html.parser is here",
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

# By module and name, for names that a module has and the profile withholds, or that programs set.
NAME_ALTERNATIVES: dict[str, str] = {
    "sys.exc_info": "name the exception, `except Exception as error:`, and use type(error)",
    "sys.modules": "a name that was imported is a name of the program",
    "sys.path": "only the profile's modules can be imported",
    "sys.getrefcount": "nothing in the sandbox needs the interpreter's own parts",
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


def alternative(module: str) -> str:
    """What to do without `module`, or "" where nothing is known."""
    return NAME_ALTERNATIVES.get(module) or ALTERNATIVES.get(module.partition(".")[0], "")


def alternative_to_name(module: str, name: str) -> str:
    """What to do without `name` of `module`, or "" where nothing is known."""
    return NAME_ALTERNATIVES.get(f"{module}.{name}", "")
