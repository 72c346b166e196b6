"""ssl, for tests that patch what connects: types, errors, and contexts that secure nothing.

A context is made before the connection that a test patches, and passed to it. So there are
contexts: they keep what is set, and their methods refuse (refusing.py).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

from . import refusing
from .objects import its_own_only


class VerifyMode(IntEnum):
    """Whether the other side needs a certificate."""

    CERT_NONE = 0
    CERT_OPTIONAL = 1
    CERT_REQUIRED = 2


CERT_NONE, CERT_OPTIONAL, CERT_REQUIRED = VerifyMode
PROTOCOL_TLS, PROTOCOL_TLS_CLIENT = 2, 16


class SSLError(OSError):
    """What goes wrong with TLS."""


class SSLCertVerificationError(SSLError, ValueError):
    """A certificate is not valid."""


@its_own_only
class SSLContext:
    """Settings of connections."""

    __slots__ = ("check_hostname", "protocol", "verify_mode")

    def __init__(self, protocol: Any = PROTOCOL_TLS) -> None:
        self.protocol = protocol
        self.check_hostname = protocol == PROTOCOL_TLS_CLIENT
        self.verify_mode = CERT_REQUIRED if self.check_hostname else CERT_NONE


for _name in ("load_cert_chain", "load_default_certs", "load_verify_locations", "wrap_socket"):
    setattr(SSLContext, _name, refusing.function(f"ssl.SSLContext.{_name}"))

SSLSocket = refusing.kind("ssl.SSLSocket", "close getpeercert recv send sendall version")


def create_default_context(*_: Any, **__: Any) -> SSLContext:
    """A context that verifies certificates."""
    return SSLContext(PROTOCOL_TLS_CLIENT)
