"""Functions of the caller's that a program may call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from belljar import _plain
from belljar._options import variable

# The engine's own (engine/core/request.h), which no program can call by name.
TAKES_VARIABLES = "@variable"

Functions = Mapping[str, Callable[..., Any]]


def checked(
    functions: Functions | None, argument: str = "functions"
) -> dict[str, Callable[..., Any]]:
    if functions is None:
        return {}
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


def answering(functions: Mapping[str, Callable[..., Any]]) -> Callable[[str, str], str]:
    """For `_host`: name and arguments, as the program has sent them, to the answer.

    What it raises, and what a function returns that is not plain data, is the program's to see;
    only what is no Exception, as KeyboardInterrupt, ends the run.
    """
    import json  # not needed by most programs

    def answer(name: str, arguments: str) -> str:
        try:
            given = _plain.decode(arguments)
            value = functions[name](*given["args"], **given["kwargs"])
            form = _plain.encode(value, f"what {name} returned")
        except Exception as error:
            told = {"type": type(error).__name__, "message": _message(error)}
            return json.dumps({"error": told})
        return f'{{"value":{form}}}'

    return answer


def _message(error: Exception) -> str:
    try:
        # KeyError's own text is the repr of what was missing.
        text = str(error.args[0]) if type(error) is KeyError and error.args else str(error)
    except Exception:
        return ""
    return text.encode("utf-8", "replace").decode()
