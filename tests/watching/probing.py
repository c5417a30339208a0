"""Requests to a running server."""

from __future__ import annotations

import http.client
import json
from typing import Any

PATIENCE_S = 60


def get(port: int, path: str) -> tuple[int, str]:
    """Return status and text of a page."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_S)
    try:
        connection.request("GET", path)
        response = connection.getresponse()
        return response.status, response.read().decode()
    finally:
        connection.close()


def health(port: int, path: str = "/healthz") -> tuple[int, dict[str, Any]]:
    """Return status and results of a health check."""
    status, text = get(port, path)
    return status, json.loads(text)
