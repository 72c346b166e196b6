"""httpx, and httpcore, on which it is based and which it loads with the first request."""

from __future__ import annotations

import importlib
from typing import Any

from ..library import proxy_status


def adapt() -> None:
    """What the egress proxy refuses is an exception for http:// too, in the words that a refused
    tunnel has here.
    """
    error: Any = importlib.import_module("httpcore").ProxyError

    def check(response: Any) -> str | None:
        headers = {name.lower(): value for name, value in response.headers}
        header = headers.get(b"proxy-status", b"").decode("ascii", "replace")
        reason = response.extensions.get("reason_phrase", b"").decode("ascii", "ignore")
        if proxy_status.refusal(response.status, reason, header) is None:
            return None
        return f"{response.status} {reason}"

    forward: Any = importlib.import_module("httpcore._sync.http_proxy").ForwardHTTPConnection
    handle = forward.handle_request

    def handle_request(self: Any, request: Any) -> Any:
        response = handle(self, request)
        said = check(response)
        if said is None:
            return response
        self._connection.close()
        raise error(said)

    forward.handle_request = handle_request
    forward_async: Any = importlib.import_module(
        "httpcore._async.http_proxy"
    ).AsyncForwardHTTPConnection
    handle_async = forward_async.handle_async_request

    async def handle_async_request(self: Any, request: Any) -> Any:
        response = await handle_async(self, request)
        said = check(response)
        if said is None:
            return response
        await self._connection.aclose()
        raise error(said)

    forward_async.handle_async_request = handle_async_request
