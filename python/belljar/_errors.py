"""The exceptions of the package."""

from __future__ import annotations

import errno as _errno


class BelljarError(Exception):
    """Belljar or this machine failed. It says nothing about the program.

    The message says which operation failed, why and, if possible, how to fix it.

    Attributes:
        operation: The operation that failed: "start zygote".
        errno: The system's error number, or None.
    """

    operation: str
    errno: int | None

    def __init__(self, operation: str, message: str | None = None, errno: int = 0) -> None:
        super().__init__(operation if message is None else message)
        self.operation = operation
        self.errno = errno or None

    def __reduce__(self) -> tuple[type[BelljarError], tuple[str, str, int]]:
        return type(self), (self.operation, str(self), self.errno or 0)

    def __repr__(self) -> str:
        name = f" ({_errno.errorcode.get(self.errno, self.errno)})" if self.errno else ""
        return f"{type(self).__name__}({str(self)!r}{name})"


class SessionClosed(BelljarError):  # noqa: N818 - a state, not a mistake
    """The session has ended: it was closed or dropped, its sandbox was closed, or its state is
    lost. The message says why."""


class SessionBusy(BelljarError):  # noqa: N818 - a state, not a mistake
    """The session was busy with other calls for as long as this one may wait (`wait` of
    `Sandbox.session`), or with the cell that makes this very call."""


class RefusedCall(Exception):
    """Not for users: a call that no runner makes, so that an attacker has taken its place."""
