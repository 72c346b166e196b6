"""requests.exceptions, for tests that patch requests."""

from __future__ import annotations

from json import JSONDecodeError as _Undecodable
from typing import Any

from .objects import its_own_only, present_as


@its_own_only
class RequestException(OSError):
    """The base of all."""

    request: Any = None
    response: Any = None

    def __init__(self, *args: Any, request: Any = None, response: Any = None) -> None:
        self.args = args
        if request is not None:
            self.request = request
        if response is not None:
            self.response = response


class HTTPError(RequestException):
    """An answer with an error status."""


class ConnectionError(RequestException):  # noqa: A001
    """There is no connection."""


class ProxyError(ConnectionError):
    """None to the proxy."""


class SSLError(ConnectionError):
    """None that is secure."""


class Timeout(RequestException):
    """It took too long."""


class ConnectTimeout(ConnectionError, Timeout):
    """The connection did."""


class ReadTimeout(Timeout):
    """The answer did."""


class URLRequired(RequestException):
    """There is no address."""


class TooManyRedirects(RequestException):
    """The answers lead on and on."""


class MissingSchema(RequestException, ValueError):
    """The address does not begin with http://."""


class InvalidSchema(RequestException, ValueError):
    """It begins with something else."""


class InvalidURL(RequestException, ValueError):
    """It is no address."""


class InvalidHeader(RequestException, ValueError):
    """A header is not valid."""


class ChunkedEncodingError(RequestException):
    """The answer is broken."""


class ContentDecodingError(RequestException):
    """Its content is."""


class RetryError(RequestException):
    """It was tried too often."""


class InvalidJSONError(RequestException):
    """What was sent or received is no JSON."""


@its_own_only
class JSONDecodeError(InvalidJSONError, _Undecodable):
    """The answer is no JSON."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _Undecodable.__init__(self, *args)
        InvalidJSONError.__init__(self, *self.args, **kwargs)


present_as("requests.exceptions", globals())  # `requests` exports some of them, too
