"""Requests to the pages of a server without a socket, and their answers octet by octet."""

from __future__ import annotations

import asyncio
from typing import Any, NamedTuple

from one_process import Server
from starlette.applications import Starlette

from pbmserv.mail.networks import LOOPBACK
from pbmserv.views.environment import environment
from pbmserv.web.application import build_site
from pbmserv.web.limits.allowance import Allowance
from pbmserv.web.rendering.site_facts import SiteFacts

FORM = "application/x-www-form-urlencoded"
ELSEWHERE = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
)
"""Headers of a browser that sends the form of a page elsewhere."""


class Answer(NamedTuple):
    """An answer: its status, its headers in their order, and its body."""

    status: int
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    def header(self, name: str) -> str:
        return dict(self.headers).get(name.encode(), b"").decode()


def site_of(server: Server, allowance: Allowance | None = None, **others: Any) -> Starlette:
    """Return the application with the pages of a server; *others*: other facts about it."""
    facts = {
        "address": "pbmserv@games.example",
        "games": tuple(game.info for game in server.base.registry),
        "signup": "open",
        "base": "",
        "origin": "http://games.example",
        "proxies": LOOPBACK,
    }
    pages = SiteFacts(**{**facts, **others})
    allowance = allowance or Allowance(pages.proxies)
    health: Any = None
    return build_site(
        pages, server.web_stage.web_requests, environment(), health, server.registry, allowance
    )


async def fetch(
    site: Starlette, path: str, method: str = "GET", body: bytes = b"", **headers: str
) -> Answer:
    """Return the answer to a request."""
    plain, _, query = path.partition("?")
    fields = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {
        "type": "http",
        "method": method,
        "path": plain,
        "raw_path": plain.encode(),
        "query_string": query.encode(),
        "headers": fields,
        "http_version": "1.1",
        "scheme": "http",
        "server": ("games.example", 80),
        "client": ("192.0.2.1", 1),
        "root_path": "",
    }
    messages: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        messages.append(message)

    await site(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in messages[1:])
    return Answer(messages[0]["status"], tuple(messages[0]["headers"]), body)


async def visit_address(site: Starlette, path: str) -> str:
    """Return the address of the visit to which the link of a letter leads."""
    return (await fetch(site, path)).header("location")


async def load_page(site: Starlette, path: str) -> Answer:
    """Return the answer to a GET, after its redirection if it has one."""
    answer = await fetch(site, path)
    return await fetch(site, answer.header("location")) if answer.status == 303 else answer


def load_all(site: Starlette, *paths: str) -> dict[str, Answer]:
    """Return the answers to GETs of all paths, after their redirections."""

    async def ask() -> dict[str, Answer]:
        return {path: await load_page(site, path) for path in paths}

    return asyncio.run(ask())
