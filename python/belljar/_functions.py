"""The caller's functions that a program may call."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from belljar import _plain
from belljar._escaping import escaped
from belljar._options import variable

# A function of the engine (engine/host/request.h) that programs cannot call by name.
TAKES_VARIABLES = "@variable"

# Likewise; called for each line that a program reads of its standard input.
ASKS_INPUT = "@input"

# Nested wrappers that are looked through; real functions have fewer.
_MAX_WRAPPERS = 16

Functions = Mapping[str, Callable[..., Any]]


def checked(argument: str, functions: Functions) -> dict[str, Callable[..., Any]]:
    if not isinstance(functions, Mapping):
        raise TypeError(
            f"{argument} is a {type(functions).__qualname__}; give a dict: name to callable"
        )
    for name, function in functions.items():
        variable(argument, name)
        if not callable(function):
            raise TypeError(
                f"{argument}[{name!r}] is a {type(function).__qualname__}, not callable"
            )
    return dict(functions)


class Prompt(str):
    """What a program has written, on the same line, before it reads its input: safe to display."""

    hidden = False
    """Whether `getpass` asks: what is typed should not be seen."""


class Interrupted(Exception):
    """Raised by who is asked: the cell that asks gets a KeyboardInterrupt."""


Ask = Callable[[Prompt], "str | None"]


def asking(ask: Ask) -> Callable[[str, bool], str | None]:
    """As a function of the engine. The end of the input is final."""
    has_ended = False

    def line(text: str, hidden: bool) -> str | None:
        nonlocal has_ended
        if has_ended:
            return None
        prompt = Prompt(escaped(str(text)[-1000:].replace("\n", " ")))
        prompt.hidden = bool(hidden)
        try:
            given = ask(prompt)
        except EOFError:
            given = None
        if given is None:
            has_ended = True
            return None
        if not isinstance(given, str):
            raise TypeError(f"stdin returned a {type(given).__qualname__}; return a str or None")
        return given if given.endswith("\n") else f"{given}\n"

    return line


def answering(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str, str], str]:
    """The callback for `_host`: name and arguments, as the program sent them, to the answer.

    An Exception, or a return value that is not plain data, is reported to the program. Other
    exceptions, such as KeyboardInterrupt, end the run.
    """
    import json  # most programs do not need it

    def answer(name: str, arguments: str) -> str:
        try:
            args, kwargs = _arguments(name, arguments)
            value = _function(functions, name)(*args, **kwargs)
            form = _plain.encode(value, f"what {name} returned")
        except Interrupted:
            return '{"interrupt": true}'
        except Exception as error:
            message = _message(error)
            if isinstance(error, TypeError):  # possibly about the call, and naming the callable
                message = _renamed(message, functions.get(name), name)
            return json.dumps({"error": {"type": type(error).__name__, "message": message}})
        return f'{{"value":{form}}}'

    return answer


def _function(functions: Mapping[str, Callable[..., Any]], name: str) -> Callable[..., Any]:
    if name not in functions:
        raise ValueError(f"{name}(): there is no such function")
    return functions[name]


def _arguments(name: str, text: str) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call as the runner encodes them. A hostile worker can send anything:
    `*"abc"` would be three arguments, and CPython's message for `**5` names the callable.
    """
    given = _plain.decode(text)
    if type(given) is dict and given.keys() == {"args", "kwargs"}:
        args, kwargs = given["args"], given["kwargs"]
        if type(args) is list and type(kwargs) is dict and all(type(key) is str for key in kwargs):
            return args, kwargs
    raise ValueError(f"{name}(): its arguments are not plain data")


def _renamed(message: str, function: Any, name: str) -> str:
    """`message` with the function's real name replaced by the name that the program knows."""
    for own in sorted(_own_names(function), key=len, reverse=True):
        message = message.replace(f"{own}()", f"{name}()")
    return message


def _own_names(function: Any) -> Iterator[str]:
    """The names that CPython may use for it in the message of a TypeError."""
    for _ in range(_MAX_WRAPPERS):
        is_class = isinstance(function, type)
        callables: list[Any] = [function, vars(type(function)).get("__call__")]
        if is_class:
            callables = [function, function.__init__, function.__new__]
            yield function.__name__
        for each in callables:
            module, qualname = (getattr(each, key, None) for key in ("__module__", "__qualname__"))
            if isinstance(qualname, str):
                yield qualname
                yield f"{module}.{qualname}"
        wrapped = function.func if isinstance(function, partial) else None
        function = wrapped if wrapped is not None else getattr(function, "__wrapped__", None)
        if not callable(function):
            return


def _message(error: Exception) -> str:
    try:
        # str() of a KeyError is the repr of the missing key.
        text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)
    except Exception:
        return ""
    return text.encode("utf-8", "replace").decode()
