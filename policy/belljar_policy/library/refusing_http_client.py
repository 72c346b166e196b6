"""http.client, for tests that patch it: status codes, errors, and connections that refuse
(refusing.py)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from . import refusing
from .objects import its_own_only

HTTP_PORT, HTTPS_PORT = 80, 443
globals().update(HTTPStatus.__members__)
responses = {status: status.phrase for status in HTTPStatus}


class HTTPException(Exception):
    """The base of all."""


class NotConnected(HTTPException):
    """There is no connection."""


class InvalidURL(HTTPException):
    """An address that is none."""


class UnknownProtocol(HTTPException):
    """The server speaks another protocol."""


class ImproperConnectionState(HTTPException):
    """The connection waits for something else."""


class CannotSendRequest(ImproperConnectionState):
    """Likewise."""


class CannotSendHeader(ImproperConnectionState):
    """Likewise."""


class ResponseNotReady(ImproperConnectionState):
    """Likewise."""


@its_own_only
class IncompleteRead(HTTPException):
    """The answer ended too early."""

    def __init__(self, partial: Any, expected: Any = None) -> None:
        self.args = (partial,)
        self.partial, self.expected = partial, expected

    def __str__(self) -> str:
        more = "" if self.expected is None else f", {self.expected} more expected"
        return f"IncompleteRead({len(self.partial)} bytes read{more})"


@its_own_only
class BadStatusLine(HTTPException):
    """The answer begins with something else."""

    def __init__(self, line: Any) -> None:
        self.line = line or repr(line)
        self.args = (self.line,)


class RemoteDisconnected(ConnectionResetError, BadStatusLine):
    """The server closed the connection."""

    def __init__(self, *args: Any) -> None:
        BadStatusLine.__init__(self, "")
        ConnectionResetError.__init__(self, *args)


_METHODS = (
    "close connect endheaders getresponse putheader putrequest request send set_debuglevel "
    "set_tunnel"
)
HTTPConnection = refusing.kind("http.client.HTTPConnection", _METHODS)
HTTPSConnection = refusing.kind("http.client.HTTPSConnection", _METHODS)
HTTPResponse = refusing.kind(
    "http.client.HTTPResponse",
    f"close fileno getcode getheader getheaders geturl info read readline {refusing.CONTEXT}",
)
