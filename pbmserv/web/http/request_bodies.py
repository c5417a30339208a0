"""Reads the bodies of requests, which strangers may send."""

from __future__ import annotations

from urllib.parse import parse_qsl

from starlette.requests import Request


async def read_form(request: Request, longest: int) -> dict[str, str]:
    """Return the fields of a form; none if it has more than *longest* octets.

    NUL is removed: browsers do not send it, and PostgreSQL refuses text with it.
    """
    body = await read_body(request, longest)
    try:
        fields = parse_qsl((body or b"").decode("ascii"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        return {}
    return {name: value.replace("\0", "") for name, value in fields}


async def read_body(request: Request, longest: int) -> bytes | None:
    """Return the body of a request; ``None`` if it has more than *longest* octets."""
    body = b""
    async for piece in request.stream():
        body += piece
        if len(body) > longest:
            return None
    return body
