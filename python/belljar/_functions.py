"""The caller's functions that a program may call."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from belljar import _plain
from belljar._errors import RefusedCall
from belljar._escaping import escaped
from belljar._options import variable

if TYPE_CHECKING:
    from belljar._awaited import AwaitedCalls, Work
    from belljar._wire import RunRequest

# A function of the engine (engine/host/request.h) that programs cannot call by name.
TAKES_VARIABLES = "@variable"

# Likewise; called for each line that a program reads of its standard input.
ASKS_INPUT = "@input"

# Likewise; called for each thing that a program shows by IPython.display.
SHOWS = "@display"
# Likewise, for coroutine functions, which programs await.
BEGINS_CALL = "+"
AWAITS_CALLS = "@await"
AWAITS_CALLS_UNTIL = "@await_until"
CANCELS_CALL = "@cancel"
_AWAITING = (AWAITS_CALLS, AWAITS_CALLS_UNTIL, CANCELS_CALL)

# The answer to a call that no runner makes (engine/run/run_options.h): the run ends.
_REFUSED = "refused"

# Nested wrappers that are looked through; real functions have fewer.
_MAX_WRAPPERS = 16

Functions = Mapping[str, Callable[..., Any]]

T = TypeVar("T")


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


def is_coroutine_function(function: Callable[..., Any]) -> bool:
    """Whether programs await it."""
    own = vars(type(function)).get("__call__")
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own)


def names(functions: Functions) -> list[str]:
    """As a request has them."""
    named = [
        f"{BEGINS_CALL}{name}" if is_coroutine_function(each) and name[0] != "@" else name
        for name, each in functions.items()
    ]
    return [*named, *_AWAITING] if named != list(functions) else named


class Answers:
    """The callback for `_host` of one run: name and arguments, as the program sent them, to the
    answer.

    An Exception, or a return value that is not plain data, is reported to the program. Other
    exceptions, such as KeyboardInterrupt, end the run.
    """

    def __init__(self, functions: Functions, work: Work | None = None) -> None:
        self._given = functions
        self._functions = dict(functions)
        if ASKS_INPUT in functions:
            self._functions[ASKS_INPUT] = asking(functions[ASKS_INPUT])
        self._work = work
        self._calls: AwaitedCalls | None = None

    def for_run(self) -> Answers:
        """For one of the runs that a request is used for, in whose thread this is called."""
        if self._work is None and names(self._given) != list(self._given):
            self._check_loop()
        return Answers(self._given, self._work)

    def _check_loop(self) -> None:
        asyncio = sys.modules.get("asyncio")
        if asyncio is not None and asyncio._get_running_loop() is not None:
            name = next(name for name, each in self._given.items() if is_coroutine_function(each))
            raise ValueError(
                f"functions[{name!r}] is a coroutine function, and this thread's event loop is "
                "running; use AsyncSandbox"
            )

    def __call__(self, name: str, arguments: str) -> str:
        shown = name.removeprefix(BEGINS_CALL)
        try:
            args, kwargs = _arguments(shown, arguments)
            if name in _AWAITING:
                return self._awaiting(name, args)
            function = _function(self._functions, shown)
            if shown != name:
                number = self._awaited().begin(shown, function, args, kwargs)
                return f'{{"value":{number}}}'
        except Exception as error:
            return self._failure(shown, error)
        return self._returned(name, lambda: function(*args, **kwargs))

    def _awaiting(self, name: str, args: list[Any]) -> str:
        calls = self._awaited()
        if name == CANCELS_CALL:
            calls.cancel(*args)
            return '{"value":null}'
        ended = calls.ended(*args)
        if ended is None:
            return "{}"
        number, name, result = ended
        return f'{{"ended":{number},{self._returned(name, result)[1:]}'

    def _awaited(self) -> AwaitedCalls:
        if self._calls is None:
            from belljar._awaited import AwaitedCalls, OwnLoop

            self._calls = AwaitedCalls(self._work or OwnLoop())
        return self._calls

    def _returned(self, name: str, result: Callable[[], Any]) -> str:
        try:
            form = _plain.encode(result(), f"what {name} returned")
        except Interrupted:
            return '{"interrupt": true}'
        except Exception as error:
            return self._failure(name, error)
        return f'{{"value":{form}}}'

    def _failure(self, name: str, error: Exception) -> str:
        import json  # most programs do not need it

        if isinstance(error, RefusedCall):
            return _REFUSED
        message = _message(error)
        if isinstance(error, TypeError):  # possibly about the call, and naming the callable
            message = _renamed(message, self._functions.get(name), name)
        return json.dumps({"error": {"type": type(error).__name__, "message": message}})

    def close(self) -> None:
        """The run has ended."""
        if self._calls is not None:
            self._calls.close()


def answered(request: RunRequest, run: Callable[[RunRequest], T]) -> T:
    """`run` with the request, whose functions are called for this run alone."""
    answers = request.get("call")
    if not isinstance(answers, Answers):
        return run(request)
    own = answers.for_run()
    try:
        return run({**request, "call": own})
    finally:
        own.close()


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
