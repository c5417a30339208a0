"""The local mailbox: pages on which people who try the server on one machine read and write mail.

It shows everybody's letters, so it has a listener of its own, which only this machine reaches, and
a path that only those know who started the server. Pages of other sites cannot read it under a
name of theirs that leads here (DNS rebinding), nor send mail through it.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote, urlsplit

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

from pbmserv.commands.grammar.words import USERID
from pbmserv.config.listen import Listen
from pbmserv.errors import RelayError
from pbmserv.mail.reply_address import MailDomain, mailbox_secret
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.web.mail_program import LONGEST_BODY, Draft, MailProgram, Person, drafted
from pbmserv.web.pages import LASTING, PRIVATE, html, read_form, tagged
from pbmserv.web.post_limits import LimitedPosts, PostLimits
from pbmserv.web.safe_responses import HEADERS, SafeResponses

ANSWER_S = 3.0
"""Seconds that a page which has sent a mail waits for a letter."""
LOOK_S = 0.05
LONGEST_FORM = 8 * LONGEST_BODY
"""Octets, with three for a sign that is no letter."""

CONTENT = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
LETTER = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)
"""For a letter in its frame: no script, no form, and nothing is loaded."""

# With "no-referrer" a browser says of each form that it comes from nowhere.
_SAFE = HEADERS | {"Content-Security-Policy": CONTENT, "Referrer-Policy": "same-origin"}
_OF_PROXIES = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-real-ip")
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([a-z0-9.-]+))(?::[0-9]{1,5})?", re.IGNORECASE)

log = logging.getLogger("pbmserv.web")


def build_mailbox(
    relay: str, smtp: Listen, mail_domain: MailDomain, templates: Environment
) -> Starlette:
    """The application of a listener on the loopback interface.

    Args:
        relay: the Maildirs, as the setting names them.
        smtp: where the server takes mail.
    """
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - replaced, not bound
    door = Listen(local.get(smtp.host, smtp.host), smtp.port)
    root = Path(read_relay_url(relay).path)
    program = MailProgram(root, f"smtp://{door}", mail_domain.address)
    secret = mailbox_secret(mail_domain.ring)
    site = _Mailbox(program, f"/{secret}/", templates)
    top = f"/{secret}"
    one = top + "/{address}"
    application = Starlette(
        routes=[
            Route(f"{top}/", site.people, methods=["GET", "POST"]),
            Route(f"{top}/news", site.news),
            Route(f"{top}/style.css", site.style),
            Route(f"{top}/mailbox.js", site.script),
            Route(f"{top}/icon.svg", site.icon),
            Route(f"{one}/", site.letters),
            Route(f"{one}/write", site.write, methods=["GET", "POST"]),
            Route(f"{one}/{{key}}", site.letter),
            Route(f"{one}/{{key}}/html", site.frame),
        ],
        middleware=[
            Middleware(SafeResponses, fault=site.fault, headers=_SAFE),
            Middleware(OnlyHere, what="mailbox"),
            Middleware(LimitedPosts, limits=PostLimits((f"{top}/",), ()), refuse=too_many_forms),
        ],
        exception_handlers={HTTPException: site.refused},
    )
    application.router.redirect_slashes = False
    return application


def too_many_forms(seconds: int) -> Response:
    """429: this machine has sent too many forms."""
    text = f"You have sent a lot of forms within a minute: wait {seconds} s, and send it again.\n"
    return Response(text, 429, PRIVATE, "text/plain")


class OnlyHere:
    """ASGI middleware: answers a browser on this machine that asks for this machine, and lets no
    page of another site send a form.

    Args:
        what: is answering, for its words.
        origin: of a proxy of our own, before which nobody else is answered then; "" = there is
            none.
    """

    def __init__(self, app: ASGIApp, what: str, origin: str = "") -> None:
        self._app = app
        self._what = what
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        why = ""
        if scope["type"] == "http":
            why = stranger(Request(scope), self._what, self._origin)
        if why:
            answer = Response(f"{why}\n", 403, PRIVATE, "text/plain")
            await answer(scope, receive, send)
            return
        await self._app(scope, receive, send)


def stranger(request: Request, what: str, origin: str) -> str:
    """Why a request is not answered; "" where it is. See `OnlyHere`."""
    host = request.headers.get("host", "")
    if origin:
        if host.lower() != urlsplit(origin).netloc.lower():
            return f"The {what} answers to another name."
    else:
        if request.client is None or not ip_address(request.client.host).is_loopback:
            return f"The {what} is for the machine that it runs on."
        if not _is_here(host):
            return f"The {what} answers to localhost and 127.0.0.1 only."
        if any(name in request.headers for name in _OF_PROXIES):
            return f"The {what} answers no proxies."
    if request.method not in {"GET", "HEAD"}:
        # The first is the browser's word, the second that of older ones, too.
        own = origin or f"http://{host}"
        site = request.headers.get("sec-fetch-site", "same-origin")
        if site not in {"same-origin", "none"} or request.headers.get("origin", own) != own:
            return f"The {what} takes forms from its own pages only."
    return ""


def _is_here(host: str) -> bool:
    """Whether a Host header names this machine; the port may be that of a tunnel to it."""
    found = _HOST.fullmatch(host)
    if found is None:
        return False
    name = (found[1] or found[2]).lower()
    if name == "localhost":
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


class _Mailbox:
    """The handlers, and what they share."""

    def __init__(self, program: MailProgram, top: str, templates: Environment) -> None:
        self._program = program
        self._top = top
        self._templates = templates
        style = templates.get_template("web/style.css").render()
        self._style = style + templates.get_template("web/mailbox.css").render()
        self._script = templates.get_template("web/mailbox.js").render()
        self._icon = templates.get_template("web/icon.svg").render()

    async def people(self, request: Request) -> Response:
        """Who is here; a POST signs up one or two."""
        if request.method != "POST":
            return await self._page("people")
        fields = await read_form(request, LONGEST_FORM)
        asked = [
            (fields.get(f"name{number}", "").strip(), fields.get(f"password{number}", "").strip())
            for number in "12"
        ]
        asked = [one for one in asked if one[0]]
        domain = self._program.server.rpartition("@")[2]
        for name, password in asked:
            if not USERID.fullmatch(name.lower()) or not password or " " in password:
                return await self._page("people", 422, trouble=name or "?", asked=asked)
        senders = [f"{name.lower()}@{domain}" for name, _ in asked]
        before = await self._unread(*senders)
        for (name, password), sender in zip(asked, senders, strict=True):
            draft = Draft(self._program.server, f"signup {name} {password}", "")
            said = await self._sent(sender, draft)
            if said:
                return await self._page("people", 422, said=said, asked=asked)
        for sender in senders:
            await self._new(sender, before[sender])
        return self._to(f"{senders[0]}/" if len(senders) == 1 else "")

    async def letters(self, request: Request) -> Response:
        """Somebody's letters, the newest first."""
        person = await self._person(request)
        found = await asyncio.to_thread(self._program.letters, person.address)
        sent = "sent" in request.query_params
        return await self._page("letters", person=person, letters=found, sent=sent)

    async def letter(self, request: Request) -> Response:
        """One letter, which is read then: no change that anybody but its reader sees."""
        person, key = await self._person(request), request.path_params["key"]
        found = await asyncio.to_thread(self._program.letter, person.address, key)
        if found is None:
            raise HTTPException(404)
        await asyncio.to_thread(self._program.mark_seen, person.address, key)
        asked = request.query_params
        as_text = asked.get("as") == "text" or not found.has_html
        sent = "sent" in asked
        return await self._page("letter", person=person, letter=found, as_text=as_text, sent=sent)

    async def frame(self, request: Request) -> Response:
        """The HTML of a letter, for its frame."""
        person, key = await self._person(request), request.path_params["key"]
        found = await asyncio.to_thread(self._program.letter, person.address, key)
        if found is None:
            raise HTTPException(404)
        page = found.html(f"{self._top}{quote(person.address)}/write")
        kept = {"Content-Security-Policy": LETTER, "X-Frame-Options": "SAMEORIGIN"}
        return html(page, 200, PRIVATE | kept)

    async def write(self, request: Request) -> Response:
        """A mail that is being written; a POST sends it."""
        person = await self._person(request)
        if request.method == "POST":
            return await self._send(request, person)
        asked = request.query_params
        draft = drafted({"to": self._program.server, **asked})
        if "answer" in asked:
            answered = await asyncio.to_thread(
                self._program.letter, person.address, asked["answer"]
            )
            if answered is None:
                raise HTTPException(404)
            draft = answered.answer()
        return await self._page("write", person=person, draft=draft)

    async def _send(self, request: Request, person: Person) -> Response:
        draft = drafted(await read_form(request, LONGEST_FORM))
        before = await self._unread(person.address)
        said = await self._sent(person.address, draft)
        if said:
            return await self._page("write", 422, person=person, draft=draft, said=said)
        new = await self._new(person.address, before[person.address])
        return self._to(f"{person.address}/{new}?sent" if new else f"{person.address}/?sent")

    async def news(self, _request: Request) -> Response:
        """How many letters are new, for the script that says so."""
        people = await asyncio.to_thread(self._program.people)
        return JSONResponse({one.address: len(one.unread) for one in people}, 200, PRIVATE)

    async def style(self, request: Request) -> Response:
        return tagged(request, self._style, "text/css", LASTING)

    async def script(self, request: Request) -> Response:
        return tagged(request, self._script, "text/javascript", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged(request, self._icon, "image/svg+xml", LASTING)

    async def refused(self, _request: Request, error: Exception) -> Response:
        """404 and 405, which say nothing to those who guess."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        return Response("There is nothing here.\n", status, PRIVATE, "text/plain")

    def fault(self, error: BaseException) -> Response:
        """500: the log names the fault, the page does not."""
        log.error("a page of the mailbox failed", exc_info=error)
        return Response("A fault; the log says more.\n", 500, PRIVATE, "text/plain")

    async def _person(self, request: Request) -> Person:
        """Whose pages these are."""
        people = await asyncio.to_thread(self._program.people)
        for one in people:
            if one.address == request.path_params["address"].lower():
                return one
        raise HTTPException(404)

    async def _sent(self, sender: str, draft: Draft) -> str:
        """Send a mail; why it was not taken, or ""."""
        try:
            await asyncio.to_thread(self._program.send, sender, draft)
        except (RelayError, ValueError) as error:
            return str(error)
        return ""

    async def _unread(self, *senders: str) -> Mapping[str, frozenset[str]]:
        people = await asyncio.to_thread(self._program.people)
        unread = {one.address: frozenset(one.unread) for one in people}
        return {sender: unread.get(sender, frozenset()) for sender in senders}

    async def _new(self, address: str, before: frozenset[str]) -> str:
        """A letter that was not there before, once it has come; "" where none comes in time."""
        end = monotonic() + ANSWER_S
        while monotonic() < end:
            unread = await self._unread(address)
            new = unread[address] - before
            if new:
                return min(new)
            await asyncio.sleep(LOOK_S)
        return ""

    def _to(self, path: str) -> Response:
        way = self._top + quote(path, safe="/?@")
        return Response(status_code=303, headers={**PRIVATE, "Location": way})

    async def _page(self, name: str, status: int = 200, **values: Any) -> Response:
        people = await asyncio.to_thread(self._program.people)
        shared = {"top": self._top, "server": self._program.server, "people": people}
        empty = {"person": None, "trouble": "", "said": "", "asked": (), "sent": False}
        template = self._templates.get_template(f"web/mailbox-{name}.html.j2")
        return html(template.render(empty | shared | values), status, PRIVATE)
