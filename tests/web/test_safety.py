"""Safe answers where the application itself misbehaves."""

from __future__ import annotations

import asyncio

import pytest
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse

from pbmserv.web.http.safe_responses import SAFE_HEADERS, SafeResponses

HTTP = {"type": "http", "method": "GET", "path": "/", "headers": []}


def answers(application, scope) -> list[dict]:
    """Return the messages of an application's answer to one request."""
    sent: list[dict] = []

    async def receive():
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message) -> None:
        sent.append(message)

    safe = SafeResponses(application, lambda _error: PlainTextResponse("sorry", 500))
    try:
        asyncio.run(safe(scope, receive, send))
    except LookupError:
        sent.append({"type": "broken off"})
    return sent


@pytest.mark.parametrize("begun", [False, True])
def test_a_fault_becomes_a_page_or_ends_the_answer_that_has_begun(begun) -> None:
    async def application(scope, receive, send) -> None:
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": []})
        raise LookupError("inside")

    first, second, *_ = answers(application, HTTP)
    assert first["status"] == (200 if begun else 500)
    names = {name.decode() for name, _ in first["headers"]}
    assert {name.lower() for name in SAFE_HEADERS} <= names
    assert second == (
        {"type": "broken off"} if begun else {"type": "http.response.body", "body": b"sorry"}
    )


def test_a_client_that_hangs_up_in_a_body_is_no_fault_of_ours() -> None:
    async def application(scope, receive, send) -> None:
        raise ClientDisconnect

    assert answers(application, HTTP) == []


def test_events_other_than_requests_pass_through() -> None:
    async def application(scope, receive, send) -> None:
        await send({"type": f"{scope['type']}.startup.complete"})

    assert answers(application, {"type": "lifespan"}) == [{"type": "lifespan.startup.complete"}]
