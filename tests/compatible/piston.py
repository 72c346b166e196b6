"""Piston's client, with time for a busy machine: httpx gives an answer 5 s unless told otherwise,
and the client passes nothing on."""

from typing import Any

import ultra_piston
from ultra_piston.http_clients import HTTPXClient

PATIENCE = 110  # seconds, which a test has in all


class PatientClient(HTTPXClient):
    def _get_http_payload(self, endpoint: str = "") -> dict[str, Any]:
        return super()._get_http_payload(endpoint) | {"timeout": PATIENCE}


def piston_client(server: str) -> ultra_piston.PistonClient:
    return ultra_piston.PistonClient(
        base_url=f"{server}/api/v2/", rate_limit=0, http_client=PatientClient
    )
