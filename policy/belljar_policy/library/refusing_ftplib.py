"""ftplib, for tests that patch it: errors, and connections that refuse (refusing.py)."""

from __future__ import annotations

from . import refusing

FTP_PORT = 21


class Error(Exception):
    """The base of those below."""


class error_reply(Error):  # noqa: N801
    """An unexpected reply."""


class error_temp(Error):  # noqa: N801
    """A temporary error."""


class error_perm(Error):  # noqa: N801
    """A permanent error."""


class error_proto(Error):  # noqa: N801
    """A reply that is none."""


all_errors = (Error, OSError, EOFError)

_METHODS = (
    "close connect cwd delete dir getwelcome login mkd mlsd nlst pwd quit rename retrbinary "
    f"retrlines rmd sendcmd set_pasv size storbinary storlines {refusing.CONTEXT}"
)
FTP = refusing.kind("ftplib.FTP", _METHODS)
FTP_TLS = refusing.kind("ftplib.FTP_TLS", f"auth prot_p {_METHODS}")
