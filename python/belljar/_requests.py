"""The options of sandboxes, runs and sessions: the type, the default and the check of each, once.

Methods take them as `**options: Unpack[RunOptions]`, from which type checkers know their names and
types, and `@RUN` gives such a method the signature that `help` and `inspect` show. The functions at
the end turn options into requests for `_host`.
"""

import inspect
import os
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, Required, TypedDict, TypeVar

from belljar import _functions, _options
from belljar._functions import Ask, Functions
from belljar._options import ContainerOptions, FileContent, Seconds, Size

if TYPE_CHECKING:
    from belljar._awaited import Work
    from belljar._wire import OpenRequest, RunRequest, SessionRequest

Stream = Callable[[str, str], object]
"""Called with "stdout" or "stderr", and the text."""

Take = Callable[..., None]
Show = Callable[..., None]
"""Called after a program has finished or raised: with name and value of each variable that is plain
data, with only the name for each other variable, and finally without arguments."""

Method = TypeVar("Method", bound=Callable[..., Any])


class _ProgramOptions(TypedDict, total=False):
    timeout: Seconds | None
    cpu: Seconds | None
    output: Size | None
    stdin: str | bytes | Ask | None
    args: Iterable[str]
    env: Mapping[str, str] | None
    inputs: Mapping[str, object] | None
    functions: Functions | None
    files: Mapping[str, FileContent] | None
    allowed_imports: Iterable[str] | None
    allowed_domains: Iterable[str] | None
    stream: Stream | None
    raise_on_error: bool


class RunOptions(_ProgramOptions, total=False):
    """The keyword arguments of `Sandbox.run`, where they are explained."""

    memory: Size | None
    filename: str


class Program(RunOptions, total=False):
    """A program with options of its own, for `run_many`: a dict, `Program(code="x", stdin="y")`."""

    code: Required[str | bytes]


class CellOptions(_ProgramOptions, total=False):
    """The keyword arguments of `Session.run`, where they are explained."""

    language: str | None
    filename: str | None


class SandboxOptions(TypedDict, total=False):
    """The keyword arguments of `Sandbox`, where they are explained."""

    timeout: Seconds | None
    memory: Size | None
    cpu: Seconds | None
    output: Size | None
    isolation: Literal["strict", "standard"]
    policy: Literal["on", "off"]
    language: str
    allowed_imports: Iterable[str] | None
    allow_domains: Iterable[str]
    allow_private: Iterable[str]
    spares: int | None
    container: bool | ContainerOptions
    packages: Iterable[str]
    package_index: str | None
    npm_registry: str | None
    package_hosts: Iterable[str]
    package_allow_private: Iterable[str]


class SessionOptions(TypedDict, total=False):
    """The keyword arguments of `Sandbox.session`, where they are explained."""

    timeout: Seconds | None
    memory: Size | None
    cpu: Seconds | None
    output: Size | None
    checkpoints: int
    total_memory: Size | None
    project: str | os.PathLike[str] | None
    wait: Seconds


# Each takes the name of the option, for its errors, and the value.
_CHECKS: dict[str, Callable[[str, Any], Any]] = {
    "timeout": _options.seconds,
    "memory": _options.size,
    "cpu": _options.seconds,
    "output": _options.size,
    "stdin": _options.standard_input,
    "args": _options.texts,
    "env": _options.environment,
    "filename": _options.text,
    "inputs": _options.inputs,
    "functions": _functions.checked,
    "files": _options.files,
    "allowed_imports": _options.texts,
    "allowed_domains": _options.texts,
    "stream": _options.stream,
    "isolation": partial(_options.choice, choices=("strict", "standard")),
    "policy": partial(_options.choice, choices=("on", "off")),
    "language": _options.text,
    "allow_domains": _options.texts,
    "allow_private": _options.texts,
    "container": _options.container,
    "packages": _options.texts,
    "package_index": _options.text,
    "npm_registry": _options.text,
    "package_hosts": _options.texts,
    "package_allow_private": _options.texts,
    "checkpoints": partial(_options.count, least=1),
    "total_memory": _options.size,
    "project": _options.folder,
    "wait": _options.seconds,
}
# Of those whose default is not None.
_DEFAULTS: dict[str, Any] = {
    "args": (),
    "filename": "main.py",
    "raise_on_error": False,
    "isolation": "strict",
    "policy": "on",
    "language": "python",
    "allow_domains": (),
    "allow_private": (),
    "container": False,
    "packages": (),
    "package_hosts": (),
    "package_allow_private": (),
    "checkpoints": 16,
    "wait": 60,
}
# The values of `language` in 0.1, when it was the language policy; still accepted.
_FORMER_POLICIES = {"restricted": "on", "full": "off"}
# Those of a sandbox that are defaults of its runs.
_OF_RUNS = ("timeout", "memory", "cpu", "output", "allowed_imports")


class Keywords:
    """The keyword arguments of a method that takes them as `**options`."""

    def __init__(self, options: type, **defaults: Any) -> None:
        self._parameters = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=defaults.get(name, _DEFAULTS.get(name)),
                annotation=kind,
            )
            for name, kind in options.__annotations__.items()
        ]
        self._names = frozenset(options.__annotations__)

    def __call__(self, method: Method) -> Method:
        """Decorates the method."""
        plain = inspect.signature(method)
        *others, _ = plain.parameters.values()
        method.__signature__ = plain.replace(  # type: ignore[attr-defined]
            parameters=[*others, *self._parameters]
        )
        return method

    def check(self, options: Mapping[str, Any], method: str) -> None:
        """Refuses other keywords as Python does."""
        if unknown := self.unknown(options.keys()):
            raise TypeError(f"{method}() got an unexpected keyword argument {unknown}")

    def unknown(self, names: Collection[str]) -> str | None:
        """A name that is none of these keywords, and what may be meant."""
        if self._names.issuperset(names):
            return None
        import difflib

        name = next(name for name in names if name not in self._names)
        similar = difflib.get_close_matches(str(name), sorted(self._names), 1)
        hint = f". Did you mean {similar[0]!r}?" if similar else ""
        return f"{name!r}{hint}"


RUN = Keywords(RunOptions)
CELL = Keywords(CellOptions, filename=None, language=None)
SANDBOX = Keywords(SandboxOptions)
SESSION = Keywords(SessionOptions)


def _checked(options: Mapping[str, Any]) -> dict[str, Any]:
    """Those that are not the default, in the form of a request."""
    return {
        name: _CHECKS[name](name, value)
        for name, value in options.items()
        if value is not _DEFAULTS.get(name)
    }


def run_request(
    code: str | bytes,
    options: Mapping[str, Any],
    defaults: "RunRequest",
    *,
    take: Take | None = None,
    work: "Work | None" = None,
    show: Show | None = None,
    validate: bool = False,
) -> "RunRequest":
    """One run or cell, checked as far as possible without the profile.

    `defaults`: those of the sandbox. `take` receives the program's variables, for integrations that
    pass them to the next program. `show` receives what it shows by IPython.display. `work` runs
    coroutine functions (_awaited.py); None: an event loop of the run's own.
    """
    request: Any = {"source": _options.source(code)}
    if validate:
        request["validate"] = True
    if options:  # few runs have any
        request |= _checked(options)
        allowed = defaults.get("allowed_imports")
        if allowed is not None:
            _check_narrower(request.get("allowed_imports", ()), allowed)
    ask = options.get("stdin")
    if not callable(ask):
        ask = None
    if take is not None or show is not None or ask is not None or "functions" in request:
        callables = request.get("functions", {})
        if twice := callables.keys() & dict(request.get("inputs", ())).keys():
            raise ValueError(f"inputs and functions both define {min(twice)!r}")
        if ask is not None:
            request.pop("stdin")
            callables[_functions.ASKS_INPUT] = ask
        if show is not None:
            callables[_functions.SHOWS] = show
        if take is not None:
            callables[_functions.TAKES_VARIABLES] = take
        request["functions"] = _functions.names(callables)
        request["call"] = _functions.Answers(callables, work)
    typed: RunRequest = request
    return typed


def own_options(entry: Program) -> dict[str, Any]:
    """The options of a program of `run_many`, with its code."""
    if not isinstance(entry, Mapping):
        raise TypeError(
            f"it is a {type(entry).__qualname__}; give a str, bytes, or a dict of code and options"
        )
    own: dict[str, Any] = {**entry}
    if "code" not in own:
        raise TypeError("it has no 'code'")
    if unknown := RUN.unknown(own.keys() - {"code"}):
        raise TypeError(f"it has the unknown key {unknown}")
    return own


def of_request(options: Mapping[str, Any]) -> dict[str, Any]:
    """Without those that are not about the request."""
    return {name: value for name, value in options.items() if name != "raise_on_error"}


def of_program(index: int, error: Exception) -> Exception:
    """An error of one of the programs of `run_many`, which says of which."""
    if type(error) in {TypeError, ValueError}:
        return type(error)(f"programs[{index}]: {error}").with_traceback(error.__traceback__)
    error.add_note(f"programs[{index}]")
    return error


def _check_narrower(modules: Iterable[str], allowed: Iterable[str]) -> None:
    for module in modules:
        if not any(module == each or module.startswith(f"{each}.") for each in allowed):
            raise ValueError(
                f"allowed_imports: {module!r} is not one of the modules that this sandbox allows"
            )


def sandbox_requests(
    profile: str | None, options: Mapping[str, Any]
) -> "tuple[OpenRequest, RunRequest]":
    """A sandbox, and the defaults of its runs, checked as far as possible without opening it."""
    given = _checked({name: value for name, value in options.items() if name != "spares"})
    defaults: Any = {name: given.pop(name) for name in _OF_RUNS if name in given}
    container = given.get("container")
    if profile is not None and not _options.text("profile", profile):
        raise ValueError("profile: '' names none; leave it out")
    request: Any = _packages(given, options.get("container"))
    request |= {
        "profile": profile or "",
        "language": language(options.get("language", "python")),
        "strict": "isolation" not in given or given["isolation"] == "strict",
        "without_policy": _is_policy_off(options),
        "allow_domains": given.get("allow_domains", []),
        "allow_private": given.get("allow_private", []),
        "spares": _options.count("spares", options.get("spares"), 0 if container else 1),
        "container": container,
    }
    return request, defaults


def language(name: str) -> str:
    """As the extension knows it, for which Python is empty."""
    return "" if name == "python" or name in _FORMER_POLICIES else name


def _is_policy_off(options: Mapping[str, Any]) -> bool:
    given = options.get("language")
    if given not in _FORMER_POLICIES:
        return options.get("policy") == "off"
    policy = _FORMER_POLICIES[given]
    if options.get("policy", policy) != policy:
        raise ValueError(
            f"policy={options['policy']!r} and language={given!r} contradict each other; "
            "leave out language"
        )
    return policy == "off"


_OF_PACKAGES = (
    "packages", "package_index", "npm_registry", "package_hosts", "package_allow_private"
)  # fmt: skip
_SOURCES = {"package_index": "PIP_INDEX_URL", "npm_registry": "NPM_CONFIG_REGISTRY"}


def _packages(given: Mapping[str, Any], container: object) -> dict[str, Any]:
    """Those of the sandbox, or of the options of its container."""
    found = {name: given.get(name) for name in _OF_PACKAGES}
    if isinstance(container, ContainerOptions):
        for name in _OF_PACKAGES:
            value = getattr(container, name, None)
            if value and found[name]:
                raise ValueError(f"{name}: the container's options have it already; give one")
            found[name] = found[name] or (value and _CHECKS[name](f"container: {name}", value))
    for name, variable in _SOURCES.items():
        if found[name] is None:
            found[name] = os.environ.get(variable, "")
    return {name: found[name] or ("" if name in _SOURCES else []) for name in _OF_PACKAGES}


def session_request(options: Mapping[str, Any]) -> "tuple[SessionRequest, int]":
    """A session, and how long its calls wait for their turn, in milliseconds."""
    request: Any = _checked(options)
    if request.get("checkpoints") is None:
        request.pop("checkpoints", None)
    wait: int = request.pop("wait", None) or _options.seconds("wait", _DEFAULTS["wait"])
    return request, wait
