"""aiohttp, which uses the proxy with `trust_env=True`."""

from __future__ import annotations

import importlib
from typing import Any

from ..library import proxy_status


def adapt() -> None:
    """What the egress proxy refuses is an exception for http:// too, of the class that a refused
    tunnel has.
    """
    response: Any = importlib.import_module("aiohttp.client_reqrep").ClientResponse
    error: Any = importlib.import_module("aiohttp.client_exceptions").ClientHttpProxyError
    original = response.start

    async def start(self: Any, connection: Any) -> Any:
        started = await original(self, connection)
        header = self.headers.get(proxy_status.HEADER)
        if proxy_status.refusal(self.status, self.reason, header) is None:
            return started
        raise error(
            self.request_info,
            self.history,
            status=self.status,
            message=self.reason,
            headers=self.headers,
        )

    response.start = start
