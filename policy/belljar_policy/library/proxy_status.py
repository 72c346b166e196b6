"""How libraries tell an answer of the egress proxy (engine/egress) from one of the target."""

from __future__ import annotations

from typing import Any

HEADER = "Proxy-Status"  # RFC 9209


def refusal(status: int, reason: Any, header: str | None) -> str | None:
    """What a library says of a tunnel that the proxy refuses, if this answer is the proxy's.

    For https:// a library asks the proxy for a tunnel, and any answer but 200 is an exception.
    For http:// it would take the same answer for the target's.
    """
    if status < 400 or header is None or header.partition(";")[0].strip() != "belljar":
        return None
    return f"Tunnel connection failed: {status} {reason}"
