"""requests, for tests that patch it: errors, and functions that refuse (refusing.py)."""

from __future__ import annotations

from types import SimpleNamespace

from . import refusing
from .refusing_requests_exceptions import (
    ConnectionError,  # noqa: A004
    ConnectTimeout,
    HTTPError,
    JSONDecodeError,
    ReadTimeout,
    RequestException,
    Timeout,
    TooManyRedirects,
    URLRequired,
)

__all__ = [
    "ConnectTimeout", "ConnectionError", "HTTPError", "JSONDecodeError", "ReadTimeout",
    "RequestException", "Response", "Session", "Timeout", "TooManyRedirects", "URLRequired",
    "codes", "delete", "get", "head", "options", "patch", "post", "put", "request", "session",
]  # fmt: skip

codes = SimpleNamespace(
    ok=200, created=201, accepted=202, no_content=204, bad_request=400, unauthorized=401,
    forbidden=403, not_found=404, too_many_requests=429, internal_server_error=500,
    service_unavailable=503,
)  # fmt: skip

_METHODS = "delete get head options patch post put request"
Session = refusing.kind("requests.Session", f"close mount send {_METHODS} {refusing.CONTEXT}")
Response = refusing.kind(
    "requests.Response",
    f"close iter_content iter_lines json raise_for_status {refusing.CONTEXT}",
)
delete = refusing.function("requests.delete")
get = refusing.function("requests.get")
head = refusing.function("requests.head")
options = refusing.function("requests.options")
patch = refusing.function("requests.patch")
post = refusing.function("requests.post")
put = refusing.function("requests.put")
request = refusing.function("requests.request")
session = refusing.function("requests.session")
