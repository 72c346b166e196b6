"""smtplib, for tests that patch it: errors, and connections that refuse (refusing.py)."""

from __future__ import annotations

from typing import Any

from . import refusing
from .objects import its_own_only

SMTP_PORT, SMTP_SSL_PORT = 25, 465


class SMTPException(OSError):
    """The base of all."""


class SMTPNotSupportedError(SMTPException):
    """The server lacks an extension."""


class SMTPServerDisconnected(SMTPException):
    """There is no connection."""


@its_own_only
class SMTPResponseException(SMTPException):
    """The server answered with an error."""

    def __init__(self, code: Any, msg: Any) -> None:
        self.smtp_code, self.smtp_error = code, msg
        self.args = (code, msg)


@its_own_only
class SMTPSenderRefused(SMTPResponseException):
    """The server does not take the sender."""

    def __init__(self, code: Any, msg: Any, sender: Any) -> None:
        self.smtp_code, self.smtp_error, self.sender = code, msg, sender
        self.args = (code, msg, sender)


@its_own_only
class SMTPRecipientsRefused(SMTPException):
    """The server takes none of the recipients."""

    def __init__(self, recipients: Any) -> None:
        self.recipients = recipients
        self.args = (recipients,)


class SMTPDataError(SMTPResponseException):
    """The server does not take the message."""


class SMTPConnectError(SMTPResponseException):
    """The server refused the connection."""


class SMTPHeloError(SMTPResponseException):
    """The server refused the greeting."""


class SMTPAuthenticationError(SMTPResponseException):
    """The server does not know the user."""


_METHODS = (
    "close connect docmd ehlo ehlo_or_helo_if_needed has_extn helo login noop quit send_message "
    f"sendmail set_debuglevel starttls verify {refusing.CONTEXT}"
)
SMTP = refusing.kind("smtplib.SMTP", _METHODS)
SMTP_SSL = refusing.kind("smtplib.SMTP_SSL", _METHODS)
