"""urllib3, which requests is based on."""

from __future__ import annotations

import importlib
import types
from typing import Any

from ..library import proxy_status


def adapt() -> None:
    """weakref.finalize, which keeps its own state in its class, is immutable by now. A worker ends
    with its connections. What the egress proxy refuses is an exception for http:// too.
    """
    pools: Any = importlib.import_module("urllib3.connectionpool")
    pools.weakref = types.SimpleNamespace(finalize=lambda *_: None)
    connection: Any = importlib.import_module("urllib3.connection").HTTPConnection
    errors: Any = importlib.import_module("urllib3.exceptions")
    original = connection.getresponse

    def getresponse(self: Any) -> Any:
        response = original(self)
        header = response.headers.get(proxy_status.HEADER) if self.proxy is not None else None
        said = proxy_status.refusal(response.status, response.reason, header)
        if said is None:
            return response
        response.close()
        raise errors.ProxyError("Unable to connect to proxy", OSError(said))

    connection.getresponse = getresponse
