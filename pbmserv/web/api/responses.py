"""Responses of the API in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from pbmserv.web.api.requests import JSON
from pbmserv.web.api.shapes import adapter
from pbmserv.web.http.responses import tagged_response


def json_response(request: Request, value: Any, shape: Any, headers: Mapping[str, str]) -> Response:
    """Return a value of this shape as JSON, with its ETag."""
    return tagged_response(request, adapter(shape).dump_json(value), headers, JSON)
