"""urllib.request, for tests that patch it: requests as data, and functions that refuse
(refusing.py)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from . import refusing
from .objects import its_own_only


@its_own_only
class Request:
    """What urlopen() is called with."""

    __slots__ = ("data", "full_url", "headers", "host", "method", "selector", "type")

    def __init__(
        self, url: Any, data: Any = None, headers: Any = (), origin_req_host: Any = None,
        unverifiable: Any = False, method: Any = None,
    ) -> None:  # fmt: skip
        if type(url) is not str:
            raise TypeError("[BJ502] an address is a plain str")
        parts = urlsplit(url)
        if not parts.scheme:
            raise ValueError(f"unknown url type: {url!r}")
        self.full_url, self.data, self.method = url, data, method
        self.type, self.host = parts.scheme, parts.netloc
        self.selector = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self.headers: dict[str, Any] = {}
        for key, value in dict(headers).items():
            self.add_header(key, value)

    def get_method(self) -> Any:
        """GET, or POST with data, unless it was given."""
        return self.method or ("GET" if self.data is None else "POST")

    def get_full_url(self) -> str:
        """The address."""
        return self.full_url

    def add_header(self, key: Any, val: Any) -> None:
        """Sets a header."""
        self.headers[str(key).capitalize()] = val

    def has_header(self, header_name: Any) -> bool:
        """Whether a header of that name is set."""
        return header_name in self.headers

    def get_header(self, header_name: Any, default: Any = None) -> Any:
        """The header of that name."""
        return self.headers.get(header_name, default)

    def header_items(self) -> list[tuple[str, Any]]:
        """All headers."""
        return list(self.headers.items())


OpenerDirector = refusing.kind("urllib.request.OpenerDirector", "add_handler close error open")
build_opener = refusing.function("urllib.request.build_opener")
install_opener = refusing.function("urllib.request.install_opener")
urlopen = refusing.function("urllib.request.urlopen")
urlretrieve = refusing.function("urllib.request.urlretrieve")
