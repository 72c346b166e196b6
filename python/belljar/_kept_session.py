"""The session that an agent's tool keeps."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from threading import Lock
from typing import Any

from belljar import _host, _options
from belljar._errors import SessionClosed
from belljar._sandbox import Sandbox
from belljar._session import Session


def offer_of(engine: _host.Engine, limits: Mapping[str, Any]) -> str:
    """What a model is told that the code of a tool with these limits may use."""
    timeout, memory = limits.get("timeout"), limits.get("memory")
    return engine.offer(
        None if timeout is None else _options.seconds("timeout", timeout),
        None if memory is None else _options.size("memory", memory),
    )


class KeptSession:
    """Opens on first use: the workers of large packages take seconds to start, during which a model
    can think. Copies have sessions of their own. Thread-safe.

    Raises:
        ValueError: The sandbox's runs are in containers: a stopped call would end the session.
    """

    def __init__(self, sandbox: Sandbox, limits: dict[str, Any]) -> None:
        if sandbox._open_request["container"] is not None:
            raise ValueError(
                "session: a stopped call would end one in a container; pass session=False"
            )
        self._sandbox = sandbox
        self._limits = limits
        self._lock = Lock()
        self._session: Session | None = None
        self._is_closed = False

    def offer(self) -> str:
        """What a model is told that cells may use. Starts the workers in the background."""
        return offer_of(self._sandbox._engine_of_sessions(), self._limits)

    def open(self) -> Session:
        with self._lock:
            if self._is_closed and self._session is None:
                what = "use a session"
                raise SessionClosed(what, f"{what}: it is closed: its caller closed it")
            if self._session is None:
                self._session = self._sandbox.session(**self._limits)
            return self._session

    def close(self) -> None:
        with self._lock:
            self._is_closed = True
            if self._session is not None:
                self._session.close()

    def __reduce__(self) -> tuple[Callable[..., KeptSession], tuple[Any, ...]]:
        return KeptSession, (self._sandbox, self._limits)
