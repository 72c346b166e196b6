"""Checks of arguments. Each error names the argument."""

from __future__ import annotations

import inspect
import keyword
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from belljar import _host, _plain

if TYPE_CHECKING:
    from belljar._wire import ContainerRequest

Seconds = float | str
"""Seconds, or a str: "5s", "500ms", "2m"."""
Size = int | str
"""Bytes, or a str: "64m", "1g"; 1k is 1024."""
FileContent = bytes | str | os.PathLike[str]
"""Content of a workspace file: bytes, a str (encoded as UTF-8), or the path of a local file."""

_MAX_SECONDS = 86_400.0


@dataclass(frozen=True, slots=True)
class ContainerOptions:
    """Options for running programs in containers; `container=True` uses the defaults.

    See docs/containers.md. The image of the profile or language must exist:
    `belljar image build --profile PROFILE --load docker`.
    """

    engine: Literal["auto", "docker", "podman", "runsc"] = "auto"
    """Container engine. "runsc" needs no daemon; "auto" uses the first that is available."""
    runtime: Literal["auto", "runsc", "runc"] = "auto"
    """"runsc" is gVisor, which has its own kernel; "runc" uses this machine's kernel."""
    image: str | None = None
    """None: the image that `belljar image build` makes for the profile."""
    require_gvisor: bool = False
    """Refuse to run without gVisor."""
    packages: tuple[str, ...] = ()
    """Packages to install, with their dependencies, before the first run: "requests>=2.31,<3"."""
    socket: str | None = None
    """Path of Docker's or Podman's socket. None: the engine's standard path."""
    package_index: str | None = None
    """URL of the package index, as for pip. None: PIP_INDEX_URL."""
    package_hosts: tuple[str, ...] = ()
    """Other hosts that the index serves files from."""
    package_allow_private: tuple[str, ...] = ()
    """Non-public addresses that the index may have."""

    def request(self) -> ContainerRequest:
        """The checked options, for `_host`."""
        return {
            "engine": choice("container: engine", self.engine, _ENGINES),
            "runtime": choice("container: runtime", self.runtime, _RUNTIMES),
            "image": text("container: image", self.image or ""),
            "require_gvisor": flag("container: require_gvisor", self.require_gvisor),
            "socket": text("container: socket", self.socket or ""),
        }


_ENGINES = ("auto", "docker", "podman", "runsc")
_RUNTIMES = ("auto", "runsc", "runc")


def _wrong(name: str, value: object, wanted: str) -> TypeError:
    return TypeError(f"{name} is a {type(value).__qualname__}; give {wanted}")


def _shown(number: float) -> str:
    """repr() of an int with more than 4,300 digits raises, and long ones are not readable."""
    if isinstance(number, int) and abs(number) >= 2**64:
        return f"an int of {number.bit_length()} bits"
    return repr(number)


def seconds(name: str, value: Seconds) -> int:
    """The duration in whole milliseconds."""
    if isinstance(value, str):
        return _parsed(name, value, _host.parse_duration)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _wrong(name, value, 'seconds, such as 2.5, or a str such as "500ms"')
    if not 0.001 <= value <= _MAX_SECONDS:
        raise ValueError(f"{name} is {_shown(value)}; give seconds, from 0.001 to 86400")
    return round(value * 1000)


def size(name: str, value: Size) -> int:
    """The size in bytes."""
    if isinstance(value, str):
        value = _parsed(name, value, _host.parse_size)
    elif isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, value, 'bytes, such as 65536, or a str such as "64m"')
    if not 0 < value < 2**63:
        raise ValueError(f"{name} is {_shown(value)}; give a size above zero and below 8 EiB")
    return value


def _parsed(name: str, value: str, parse: Any) -> int:
    try:
        number: int = parse(text(name, value))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    return number


def text(name: str, value: str) -> str:
    if not isinstance(value, str):
        raise _wrong(name, value, "a str")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{name} is {value!r}, which contains a lone surrogate") from None
    if "\0" in value:
        raise ValueError(f"{name} is {value!r}, which contains a NUL")
    return value


def folder(name: str, value: str | os.PathLike[str] | None) -> bytes | None:
    """A folder of this machine, as the bytes of its path."""
    if value is None:
        return None
    try:
        path = os.path.abspath(os.fspath(value))
    except TypeError:
        raise _wrong(name, value, "a str or a path") from None
    if not os.path.isdir(path):
        raise ValueError(f"{name} is {path!r}, which is no folder")
    return os.fsencode(path)


def texts(name: str, value: Iterable[str]) -> list[str]:
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise _wrong(name, value, "a list of str")
    return [text(f"{name}[{index}]", item) for index, item in enumerate(value)]


def flag(name: str, value: bool) -> bool:
    if not isinstance(value, bool):
        raise _wrong(name, value, "True or False")
    return value


def choice(name: str, value: str, choices: tuple[str, ...]) -> str:
    if value not in choices:
        known = ", ".join(map(repr, choices))
        raise ValueError(f"{name} is {value!r}; it is one of {known}")
    return value


def count(name: str, value: int | None, least: int) -> int | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise _wrong(name, value, "a whole number")
    if not least <= value <= 10_000:
        raise ValueError(f"{name} is {_shown(value)}; give a number from {least} to 10000")
    return value


def check_programs(value: object) -> None:
    if isinstance(value, str | bytes):
        raise TypeError("programs is a single program; give several, as a list")
    if not isinstance(value, Iterable) and not hasattr(value, "__getitem__"):
        raise _wrong("programs", value, "several, as a list")


def stream(name: str, value: Callable[[str, str], object]) -> Callable[[str, str], object]:
    if not callable(value):
        raise TypeError(f"{name} is a {type(value).__qualname__}, not callable")
    if inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(type(value).__call__):
        raise TypeError(f"{name} is a coroutine function, which is not supported; give a function")
    return value


def source(code: str | bytes) -> bytes:
    """The source in UTF-8. Invalid source is not an error here: the run reports it."""
    if isinstance(code, str):
        return code.encode("utf-8", "surrogatepass")
    if isinstance(code, bytes):
        return code
    raise _wrong("code", code, "a str or bytes")


def standard_input(name: str, value: Any) -> Any:
    """The bytes, or the callable that gives its lines."""
    if isinstance(value, bytes) or callable(value):
        return value
    if isinstance(value, str):
        return value.encode("utf-8", "surrogatepass")
    raise _wrong(name, value, "a str, bytes or a callable")


def environment(name: str, value: Mapping[str, str]) -> list[str]:
    """Each variable as "NAME=VALUE"."""
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dict: name to value")
    pairs = []
    for key, item in value.items():
        if "=" in text(f"{name}: a name", key):
            raise ValueError(f"{name}: the name {key!r} contains =")
        pairs.append(f"{key}={text(f'{name}[{key!r}]', item)}")
    return pairs


def files(name: str, value: Mapping[str, FileContent]) -> list[tuple[str, bytes]]:
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dict: name to content")
    return [
        (text(f"{name}: a name", path), _content(f"{name}[{path!r}]", item))
        for path, item in value.items()
    ]


def _content(name: str, content: FileContent) -> bytes:
    if isinstance(content, bytes):
        return content
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, os.PathLike):
        with open(content, "rb") as file:
            return file.read()
    raise _wrong(name, content, "bytes, a str, or the path of a file")


def inputs(name: str, value: Mapping[str, object]) -> list[tuple[str, str]]:
    """Each name, with its value in JSON form."""
    if not isinstance(value, Mapping):
        raise _wrong(name, value, "a dict: name to value")
    return [
        (variable(name, key), _plain.encode(item, f"{name}[{key!r}]"))
        for key, item in value.items()
    ]


def is_variable(name: str) -> bool:
    is_name = name.isascii() and name.isidentifier() and name[0] != "_" and len(name) <= 256
    return is_name and not keyword.iskeyword(name)


def variable(argument: str, name: str) -> str:
    """Checks the name of a variable that is set in a program."""
    if not isinstance(name, str):
        raise _wrong(f"{argument}: a name", name, "a str")
    if not is_variable(name):
        raise ValueError(
            f"{argument}: {name!r} is not a valid variable name: a letter, then letters, digits "
            "and underscores, ASCII only, and not a keyword"
        )
    return name


def container(name: str, value: bool | ContainerOptions) -> ContainerRequest | None:
    """None: no container."""
    if isinstance(value, bool):
        return ContainerOptions().request() if value else None
    if isinstance(value, ContainerOptions):
        return value.request()
    raise _wrong(name, value, "True, False or ContainerOptions")
