"""What to do about an uncaught exception, where a short answer is likely to be the right one."""

import re
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple


class Surroundings(NamedTuple):
    """What the guest could not see from inside."""

    is_restricted: bool = True
    has_stdin: bool = False
    modules_elsewhere: Mapping[str, str] = MappingProxyType({})  # module -> profile
    missing_modules: Mapping[str, str] = MappingProxyType({})  # package -> what installs it


_NO_CODE = "code that is made at run time is not available; write it out as a function"

# Built-ins that the language policy withholds.
_WITHHELD = {
    "open": "files are not available here; pass data as standard input, or use a profile that has "
    "a /workspace",
    "eval": _NO_CODE + "; json.loads reads data",
    "exec": _NO_CODE,
    "compile": _NO_CODE,
    "__import__": "use the import statement",
    "globals": "keep such names in a dict of your own",
    "locals": "keep such names in a dict of your own",
    "vars": "keep such names in a dict of your own",
    "exit": "use sys.exit, raise SystemExit, or let the program end",
    "quit": "use sys.exit, raise SystemExit, or let the program end",
    "breakpoint": "there is no debugger here; print what you want to see",
}


# How a guard begins its message: "[BJ301] attribute …".
_RULE_ID = re.compile(r"\[(BJ\d{3})\] ")
# The same of a name that a module does not give, or that may not be set in it.
_NAME_OF_MODULE = re.compile(
    r"\[BJ\d{3}\] module '([\w.]+)' (?:has no attribute|is read-only:) '(\w+)'"
)


def _refusal(error: BaseException) -> str | None:
    """What the rule says that a guard named; the guest may write such a message too."""
    policy_rules = sys.modules.get("belljar_policy.rules")
    message = error.args[0] if error.args else None
    if policy_rules is None or type(message) is not str:
        return None
    found = _RULE_ID.match(message)
    if found is None:
        return None
    alternatives = sys.modules.get("belljar_policy.alternatives")
    if alternatives is not None and (name := _NAME_OF_MODULE.match(message)):
        if instead := alternatives.alternative_to_name(name[1], name[2]):
            return str(instead)
    rule = policy_rules.RULES.get(found[1])
    return rule.general_hint if rule else None


def _end_of_input(_: BaseException, around: Surroundings) -> str:
    if around.has_stdin:
        return "the standard input that was given has no more lines"
    return "pass standard input with --stdin or the stdin argument"


def _unknown_name(error: Any, around: Surroundings) -> str | None:
    name = error.name
    return _WITHHELD.get(name) if around.is_restricted and type(name) is str else None


def _missing_module(error: Any, around: Surroundings) -> str | None:
    name = error.name
    if type(name) is not str:
        return None
    root = name.partition(".")[0]
    if command := around.missing_modules.get(root):
        return f"it is not installed on this machine; its operator runs: {command}"
    if profile := around.modules_elsewhere.get(name) or around.modules_elsewhere.get(root):
        return f"the profile {profile!r} has this module"
    return "only the modules of the profile are there; nothing can be installed in the sandbox"


def _recursion(_: BaseException, __: Surroundings) -> str:
    return "calls were nested too deep; check the condition that ends the recursion, or use a loop"


def _memory(_: BaseException, __: Surroundings) -> str:
    return "work on smaller parts of the data at a time, or ask for a higher memory limit"


def _permission(_: BaseException, __: Surroundings) -> str:
    return "the sandbox refuses this; its profile lists what is allowed"


# The first class that the exception is an instance of.
_HINTS: tuple[tuple[type[BaseException], Callable[[Any, Surroundings], str | None]], ...] = (
    (EOFError, _end_of_input),
    (NameError, _unknown_name),
    (ModuleNotFoundError, _missing_module),
    (RecursionError, _recursion),
    (MemoryError, _memory),
    (PermissionError, _permission),
)


def hint_for(error: BaseException, around: Surroundings) -> str | None:
    try:
        if around.is_restricted and (refusal := _refusal(error)):
            return refusal
        for cls, make in _HINTS:
            if issubclass(type(error), cls):
                return make(error, around)
    except BaseException:  # an attribute of a guest's own subclass
        pass
    return None
