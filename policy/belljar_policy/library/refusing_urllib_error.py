"""urllib.error, for tests that patch urllib.request."""

from __future__ import annotations

from typing import Any

from .objects import its_own_only


@its_own_only
class URLError(OSError):
    """What urlopen() raises."""

    def __init__(self, reason: Any, filename: Any = None) -> None:
        self.args = (reason,)
        self.reason = reason
        if filename is not None:
            self.filename = filename

    def __str__(self) -> str:
        return f"<urlopen error {self.reason}>"


@its_own_only
class HTTPError(URLError):
    """An answer with an error status. As far as it has a body, it can be read."""

    def __init__(self, url: Any, code: Any, msg: Any, hdrs: Any, fp: Any) -> None:
        self.url = self.filename = url
        self.code = self.status = code
        self.msg = self.reason = msg
        self.hdrs = self.headers = hdrs
        self.fp = fp

    def read(self, *size: Any) -> Any:
        """The body, from the file that it was given."""
        return b"" if self.fp is None else self.fp.read(*size)

    def close(self) -> None:
        """Closes that file."""
        if self.fp is not None:
            self.fp.close()

    def getcode(self) -> Any:
        """The status."""
        return self.code

    def geturl(self) -> Any:
        """The address."""
        return self.url

    def info(self) -> Any:
        """The headers."""
        return self.headers

    def __str__(self) -> str:
        return f"HTTP Error {self.code}: {self.msg}"

    def __repr__(self) -> str:
        return f"<HTTPError {self.code}: {self.msg!r}>"


@its_own_only
class ContentTooShortError(URLError):
    """The answer is shorter than was said."""

    def __init__(self, message: Any, content: Any) -> None:
        self.args = (message,)
        self.reason = message
        self.content = content
