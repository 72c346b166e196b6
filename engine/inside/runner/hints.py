"""What to do about an uncaught exception, where a short answer is likely to be the right one."""

import errno
import re
import sys
import traceback
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Surroundings(NamedTuple):
    """What the guest could not see from inside."""

    is_restricted: bool = True
    has_stdin: bool = False
    modules_elsewhere: Mapping[str, str] = MappingProxyType({})  # module -> profile
    missing_modules: Mapping[str, str] = MappingProxyType({})  # package -> what installs it
    recursion_limit: int = 1000


_NO_CODE = "code that is made at run time is not available; write it out as a function"

# Built-ins that the language policy withholds.
_WITHHELD = {
    "open": "files are not available here; pass data as standard input",
    "eval": _NO_CODE + "; json.loads reads data",
    "exec": _NO_CODE,
    "compile": _NO_CODE,
    "__import__": "use the import statement",
    "globals": "keep such names in a dict of your own",
    "locals": "keep such names in a dict of your own",
    "breakpoint": "no debugger is available; use print()",
}


# How a guard begins its message: "[BJ301] attribute …".
_RULE_ID = re.compile(r"\[(BJ\d{3})\] ")
# The same of a name that a module does not give, or that may not be set in it.
_NAME_OF_MODULE = re.compile(
    r"\[BJ\d{3}\] module '([\w.]+)' (?:has no attribute|is read-only:) '(\w+)'"
)
_REFUSED_ATTRIBUTE = re.compile(r"\[BJ30[13]\] attribute '(\w+)'")


def _refusal(error: BaseException, around: Surroundings) -> str | None:
    """What to do about a guard's refusal; "": its message says it, None: nothing is known.

    The guest may write such a message too.
    """
    policy_rules = sys.modules.get("belljar_policy.rules")
    message = error.args[0] if error.args else None
    if policy_rules is None or type(message) is not str:
        return None
    found = _RULE_ID.match(message)
    rule = policy_rules.RULES.get(found[1]) if found else None
    if rule is None:
        return None
    if found[1] == "BJ502":  # its message already says what to do
        return ""
    return _about_the_name(message, around) or rule.general_hint or None


def _about_the_name(message: str, around: Surroundings) -> str | None:
    """What the policy's tables say about the name that a guard refused."""
    if found := _NAME_OF_MODULE.match(message):
        module, name = found.groups()
        alternatives = sys.modules["belljar_policy.alternatives"]
        instead = alternatives.alternative_to_name(module, name)
        files = around.modules_elsewhere.get("pathlib")
        if files and f"{module}.{name}" in alternatives.FILE_NAMES:
            return f"the profile {files!r} has it"
        if not instead and "[BJ202]" in message:
            return f"dir({module}) lists the available names"
        return instead or None
    if found := _REFUSED_ATTRIBUTE.match(message):
        tables = sys.modules["belljar_policy.tables"]
        return tables.REFUSED_DUNDERS.get(found[1]) or tables.attribute_hint(found[1])
    return None


def _end_of_input(_: BaseException, around: Surroundings) -> str:
    if around.has_stdin:
        return "the standard input that was given has no more lines"
    return "pass the program's input as stdin"


def _unknown_name(error: Any, around: Surroundings) -> str | None:
    name = error.name
    return _WITHHELD.get(name) if around.is_restricted and type(name) is str else None


def _missing_module(error: Any, around: Surroundings) -> str | None:
    name = error.name
    if type(name) is not str:
        return None
    root = name.partition(".")[0]
    if command := around.missing_modules.get(root):
        return f"it is not installed on this machine; to install it, the operator runs: {command}"
    if profile := around.modules_elsewhere.get(name) or around.modules_elsewhere.get(root):
        return f"the profile {profile!r} has this module"
    absent = "" if root in sys.stdlib_module_names else f"{root!r} is not installed here"
    alternatives = sys.modules.get("belljar_policy.alternatives")
    instead = alternatives.alternative(name) if alternatives and around.is_restricted else ""
    if instead:
        return f"{absent}; {instead[0].lower()}{instead[1:]}" if absent else instead
    return absent or "this module of the standard library is not available here"


# What optional parts of packages need, by a word of the message that they raise; and what the
# dynamic loader says of C code in a file.
_OPTIONAL = {
    "pyarrow": "parquet needs pyarrow, which is not installed here; use to_csv() and read_csv()",
    "xlsxwriter": "xlsxwriter is not installed here; use openpyxl, the default for .xlsx",
    "xlrd": "old spreadsheets (.xls) need xlrd, which is not installed here; .xlsx files work",
    "html5lib": "html5lib is not installed here; use lxml",
    "Jinja2": "this needs Jinja2, which is not installed here; use to_html() or to_string()",
    "failed to map segment": (
        "a sealed program cannot load C code from files; an operator's profile loads it before "
        "(imports.internal)"
    ),
}


def _missing_part(error: Any, _: Surroundings) -> str | None:
    text = error.args[0] if error.args else None
    if type(text) is not str:
        return None
    return next((hint for word, hint in _OPTIONAL.items() if word in text), None)


def _recursion(_: BaseException, around: Surroundings) -> str:
    return (
        f"calls are nested too deeply: the limit is {around.recursion_limit:,}; check where the "
        "recursion ends, use a loop, or raise it with sys.setrecursionlimit"
    )


def _memory(_: BaseException, __: Surroundings) -> str:
    return "process the data in smaller parts, or request a higher memory limit"


def _missing_file(error: Any, _: Surroundings) -> str | None:
    if type(error.filename) is not str:
        return None
    return "a run sees only the files that were passed with it: pass this one too"


_PROCESSES = (
    "other processes are not available here: call the function directly, or in threads "
    "(concurrent.futures.ThreadPoolExecutor); in the profiles with the language policy, process "
    "pools run in threads by themselves"
)
_OF_PROCESSES = ("subprocess", "multiprocessing", "concurrent.futures.process")
_STARTS_ONE = re.compile(r"fork|forkpty|popen|posix_spawnp?|system|(exec|spawn)[lv]\w*")


def _permission(error: Any, _: Surroundings) -> str:
    if error.errno == errno.EPERM and _starts_a_process(error):
        return _PROCESSES
    return "the sandbox refuses this; its profile lists what is allowed"


def _starts_a_process(error: BaseException) -> bool:
    names: tuple[str, ...] = ()
    for frame, _ in traceback.walk_tb(error.__traceback__):
        module = str(frame.f_globals.get("__name__"))
        if module.startswith(_OF_PROCESSES):
            return True
        names = (frame.f_code.co_name, *frame.f_code.co_names)
    return any(_STARTS_ONE.fullmatch(name) for name in names)


# Limits that a program meets as an exception. Each is of the profile: no caller raises it.
_FULL = "the workspace is full, whose size is the profile's: delete files, or write less"
_LIMITS = {
    errno.ENOSPC: _FULL,
    errno.EDQUOT: _FULL,
    errno.EMFILE: "too many files are open, of which the profile limits the number: close them",
    errno.EFBIG: "the file is larger than the profile allows: write several",
}


def _limit_of_the_system(error: Any, around: Surroundings) -> str | None:
    return _LIMITS.get(error.errno) or _file_of_c_code(error, around)


def _thread(error: Any, _: Surroundings) -> str | None:
    text = error.args[0] if error.args else None
    if text != "can't start new thread":
        return None
    return "the profile limits the number of threads: use a pool of a few"


def _file_of_c_code(error: Any, _: Surroundings) -> str | None:
    """lxml says no more than what the C library told it."""
    text = error.args[0] if error.args else None
    if type(text) is not str or not text.endswith("Permission denied"):
        return None
    return "without a profile that has files, pass the text or io.BytesIO(data)"


# The first class that the exception is an instance of.
_HINTS: tuple[tuple[type[BaseException], Callable[[Any, Surroundings], str | None]], ...] = (
    (EOFError, _end_of_input),
    (NameError, _unknown_name),
    (ModuleNotFoundError, _missing_module),
    (ImportError, _missing_part),
    (RecursionError, _recursion),
    (MemoryError, _memory),
    (FileNotFoundError, _missing_file),
    (PermissionError, _permission),
    (OSError, _limit_of_the_system),
    (RuntimeError, _thread),
)


_PACKAGES = (
    "A program installs nothing: the packages are those of its profile, or those that its caller "
    "asks for where the operator allows it."
)
_QUOTES = (
    "Before Python 3.12 an f-string cannot contain the quotes that enclose it: use the other kind "
    "inside."
)

_F_STRING = re.compile(r"f-string: (unmatched|unterminated|expecting '}')")

# What is often pasted along with a program, by how its line begins.
_NO_PYTHON = (
    (("```", "~~~"), "Leave out the Markdown fence around the program."),
    ((">>> ", "... "), "Leave out the prompts of the interactive interpreter."),
    (("%matplotlib",), "Leave out this line of a notebook: open figures are shown by themselves."),
    (("!pip", "%pip", "$ pip", "pip ", "!uv ", "!conda", "%conda"), _PACKAGES),
    (("%", "!", "$ ", "python "), "A notebook's or a shell's command is not Python."),
)


def hint_for_syntax(line: object, message: object = None) -> str | None:
    """What to do about a syntax error in `line`, where the line or CPython's message shows it."""
    if type(message) is str and sys.version_info < (3, 12) and _F_STRING.search(message):
        return _QUOTES
    if type(line) is not str:
        return None
    line = line.lstrip()
    return next((hint for begin, hint in _NO_PYTHON if line.startswith(begin)), None)


def hint_for(error: BaseException, around: Surroundings) -> str | None:
    try:
        if around.is_restricted and (refusal := _refusal(error, around)) is not None:
            return refusal or None
        for cls, make in _HINTS:
            if issubclass(type(error), cls):
                return make(error, around)
    except BaseException:  # an attribute of a guest's own subclass
        pass
    return None
