"""Functions of the host's that a program may call by name: what goes there and comes back is plain
data, and a failure there is an exception here.
"""

import builtins
import json
from collections.abc import Callable
from typing import Any

from .host_calls import CallHost, calls
from .plain_data import MAX_DEPTH, decode, encode

# Among the functions, and no program's: it is told of what a program leaves (Request in
# engine/host/request.h).
TAKES_VARIABLES = "@variable"

# Likewise: runs Python code for the policy's subprocess.
STARTS_PYTHON = "@python"

_NOT_PLAIN = (
    "{}(): arguments are plain data only: None, bool, int, float, str, bytes, list, tuple, dict, "
    "set and frozenset"
)

# What a host's failure may be here: exceptions that are made of a message alone. That the host runs
# out of memory is not this program's limit.
_EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, Exception)
    and not issubclass(
        kind, (MemoryError, UnicodeError, BaseExceptionGroup, StopIteration, StopAsyncIteration)
    )
}


def make(name: str, call_host: CallHost, max_bytes: int) -> Callable[..., Any]:
    """A function that has the host's `name` called; at most `max_bytes` of arguments."""

    def function(*args: Any, **kwargs: Any) -> Any:
        return answered(call_host(name, _arguments(name, args, kwargs, max_bytes)))

    function.__name__ = function.__qualname__ = name
    return function


def make_coroutine(name: str, max_bytes: int) -> Callable[..., Any]:
    """Likewise, a coroutine function for one of the host's."""

    async def function(*args: Any, **kwargs: Any) -> Any:
        return _content(await calls.call(name, _arguments(name, args, kwargs, max_bytes)))

    function.__name__ = function.__qualname__ = name
    return function


def _arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], max_bytes: int) -> str:
    text, is_too_large = _encode_call(list(args), kwargs, max_bytes)
    if is_too_large:
        raise ValueError(f"{name}(): its arguments take more than {max_bytes} bytes")
    if text is None:
        raise TypeError(_NOT_PLAIN.format(name))
    return text


def answered(text: str) -> Any:
    """What the host answered, or an exception."""
    return _content(json.loads(text))


def _content(answer: dict[str, Any]) -> Any:
    if "interrupt" in answer:  # of a cell
        raise KeyboardInterrupt
    if "error" in answer:
        raise _exception(answer["error"])
    return decode(answer["value"])


def hand_over(variables: dict[str, Any], call_host: CallHost, max_bytes: int) -> None:
    """Tells the host each name, and its value where that is plain data of at most `max_bytes`."""
    for name, value in variables.items():
        for args in ([name, value], [name]):
            try:
                text, _ = _encode_call(args, {}, max_bytes)
            except RecursionError:  # the guest has left little of the stack
                text = None
            if text is not None:
                call_host(TAKES_VARIABLES, text)
                break
    call_host(TAKES_VARIABLES, '{"args":[],"kwargs":{}}')


def _encode_call(
    args: list[Any], kwargs: dict[str, Any], max_bytes: int
) -> tuple[str | None, bool]:
    # Each argument may be as deep as any value.
    depth = MAX_DEPTH + 2
    return encode({"args": args, "kwargs": kwargs}, max_bytes, exact=True, max_depth=depth)


def _exception(error: dict[str, str]) -> Exception:
    kind = _EXCEPTIONS.get(error["type"])
    if kind is None:
        return RuntimeError(f"{error['type']}: {error['message']}")
    return kind(error["message"])
