"""The local mailbox: pages to read and write mail on, for people who try the server on one machine.

It shows the letters of all players. So it has a listener of its own, which only this machine can
reach, and a secret path. Pages of other sites can neither read it by DNS rebinding nor send mail
through it.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from pbmserv.commands.grammar.word_forms import USERID
from pbmserv.config.listen import Listen
from pbmserv.errors import RelayError
from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.web.http.local_only import LocalOnly
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import LASTING, PRIVATE, html, tagged
from pbmserv.web.http.safe_responses import HEADERS, SafeResponses
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.mailbox.mail_program import LONGEST_BODY, Draft, MailProgram, Person, drafted

ANSWER_S = 3.0
"""Seconds to wait for a letter after a page has sent a mail."""
LOOK_S = 0.05
LONGEST_FORM = 8 * LONGEST_BODY
"""Most octets of a form, in which a character takes up to three for each octet."""

CONTENT = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
LETTER = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)
"""The policy for a letter in its frame: no scripts, no forms, and nothing is loaded."""

# With "no-referrer" browsers send "Origin: null" with forms.
_SAFE = HEADERS | {"Content-Security-Policy": CONTENT, "Referrer-Policy": "same-origin"}

log = logging.getLogger("pbmserv.web")


def build_mailbox(
    relay: str, smtp: Listen, mail_domain: MailDomain, templates: Environment
) -> Starlette:
    """Return the application of a listener on the loopback interface.

    Args:
        relay: the Maildirs, as in the setting.
        smtp: the listener for mail.
        mail_domain: the server's address and keys.
        templates: the templates of pages.
    """
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - replaced, not bound
    door = Listen(local.get(smtp.host, smtp.host), smtp.port)
    root = Path(read_relay_url(relay).path)
    program = MailProgram(root, f"smtp://{door}", mail_domain.address)
    secret = mailbox_secret(mail_domain.ring)
    site = _Mailbox(program, f"/{secret}/", templates)
    top = f"/{secret}"
    person = top + "/{address}"
    application = Starlette(
        routes=[
            Route(f"{top}/", site.people, methods=["GET", "POST"]),
            Route(f"{top}/news", site.news),
            Route(f"{top}/style.css", site.style),
            Route(f"{top}/mailbox.js", site.script),
            Route(f"{top}/icon.svg", site.icon),
            Route(f"{person}/", site.letters),
            Route(f"{person}/write", site.write, methods=["GET", "POST"]),
            Route(f"{person}/{{key}}", site.letter),
            Route(f"{person}/{{key}}/html", site.frame),
        ],
        middleware=[
            Middleware(SafeResponses, fault=site.fault, headers=_SAFE),
            Middleware(LocalOnly, what="mailbox"),
            Middleware(LimitedPosts, limits=PostLimits((f"{top}/",), ()), refuse=too_many_forms),
        ],
        exception_handlers={HTTPException: site.refused},
    )
    application.router.redirect_slashes = False
    return application


def too_many_forms(seconds: int) -> Response:
    """Return 429: this machine has sent too many forms."""
    text = f"You have sent too many forms within a minute. Wait {seconds} s and send it again.\n"
    return Response(text, 429, PRIVATE, "text/plain")


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
        """Show the people of the mailbox; a POST signs up one or two."""
        if request.method != "POST":
            return await self._page("people")
        fields = await read_form(request, LONGEST_FORM)
        signups = [
            (fields.get(f"name{number}", "").strip(), fields.get(f"password{number}", "").strip())
            for number in "12"
        ]
        signups = [(name, password) for name, password in signups if name]
        domain = self._program.server.rpartition("@")[2]
        for name, password in signups:
            if not USERID.fullmatch(name.lower()) or not password or " " in password:
                return await self._page("people", 422, trouble=name or "?", asked=signups)
        senders = [f"{name.lower()}@{domain}" for name, _ in signups]
        before = await self._unread(*senders)
        for (name, password), sender in zip(signups, senders, strict=True):
            draft = Draft(self._program.server, f"signup {name} {password}", "")
            error = await self._send_draft(sender, draft)
            if error:
                return await self._page("people", 422, said=error, asked=signups)
        for sender in senders:
            await self._wait_for_letter(sender, before[sender])
        return self._to(f"{senders[0]}/" if len(senders) == 1 else "")

    async def letters(self, request: Request) -> Response:
        """Show a person's letters, newest first."""
        person = await self._person(request)
        letters = await asyncio.to_thread(self._program.letters, person.address)
        sent = "sent" in request.query_params
        return await self._page("letters", person=person, letters=letters, sent=sent)

    async def letter(self, request: Request) -> Response:
        """Show a letter and mark it as seen."""
        person, key = await self._person(request), request.path_params["key"]
        letter = await asyncio.to_thread(self._program.letter, person.address, key)
        if letter is None:
            raise HTTPException(404)
        await asyncio.to_thread(self._program.mark_seen, person.address, key)
        query = request.query_params
        as_text = query.get("as") == "text" or not letter.has_html
        sent = "sent" in query
        return await self._page("letter", person=person, letter=letter, as_text=as_text, sent=sent)

    async def frame(self, request: Request) -> Response:
        """Answer with the HTML of a letter, for its frame."""
        person, key = await self._person(request), request.path_params["key"]
        letter = await asyncio.to_thread(self._program.letter, person.address, key)
        if letter is None:
            raise HTTPException(404)
        page = letter.html(f"{self._top}{quote(person.address)}/write")
        headers = {"Content-Security-Policy": LETTER, "X-Frame-Options": "SAMEORIGIN"}
        return html(page, 200, PRIVATE | headers)

    async def write(self, request: Request) -> Response:
        """Show the form for a mail; a POST sends it."""
        person = await self._person(request)
        if request.method == "POST":
            return await self._send(request, person)
        query = request.query_params
        draft = drafted({"to": self._program.server, **query})
        if "answer" in query:
            answered = await asyncio.to_thread(
                self._program.letter, person.address, query["answer"]
            )
            if answered is None:
                raise HTTPException(404)
            draft = answered.answer()
        return await self._page("write", person=person, draft=draft)

    async def _send(self, request: Request, person: Person) -> Response:
        draft = drafted(await read_form(request, LONGEST_FORM))
        before = await self._unread(person.address)
        error = await self._send_draft(person.address, draft)
        if error:
            return await self._page("write", 422, person=person, draft=draft, said=error)
        new = await self._wait_for_letter(person.address, before[person.address])
        return self._to(f"{person.address}/{new}?sent" if new else f"{person.address}/?sent")

    async def news(self, _request: Request) -> Response:
        """Answer with the numbers of new letters, for the script."""
        people = await asyncio.to_thread(self._program.people)
        counts = {person.address: len(person.unread) for person in people}
        return JSONResponse(counts, 200, PRIVATE)

    async def style(self, request: Request) -> Response:
        return tagged(request, self._style, "text/css", LASTING)

    async def script(self, request: Request) -> Response:
        return tagged(request, self._script, "text/javascript", LASTING)

    async def icon(self, request: Request) -> Response:
        return tagged(request, self._icon, "image/svg+xml", LASTING)

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Answer 404 or 405 with the same words, which do not help to guess the secret path."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        return Response("There is nothing here.\n", status, PRIVATE, "text/plain")

    def fault(self, error: BaseException) -> Response:
        """Answer 500 and log the error, which the page does not show."""
        log.error("a page of the mailbox failed", exc_info=error)
        return Response("A fault; the log says more.\n", 500, PRIVATE, "text/plain")

    async def _person(self, request: Request) -> Person:
        """Return the person whose pages these are."""
        people = await asyncio.to_thread(self._program.people)
        for person in people:
            if person.address == request.path_params["address"].lower():
                return person
        raise HTTPException(404)

    async def _send_draft(self, sender: str, draft: Draft) -> str:
        """Send a mail, and return the error, or ""."""
        try:
            await asyncio.to_thread(self._program.send, sender, draft)
        except (RelayError, ValueError) as error:
            return str(error)
        return ""

    async def _unread(self, *senders: str) -> Mapping[str, frozenset[str]]:
        people = await asyncio.to_thread(self._program.people)
        unread = {person.address: frozenset(person.unread) for person in people}
        return {sender: unread.get(sender, frozenset()) for sender in senders}

    async def _wait_for_letter(self, address: str, before: frozenset[str]) -> str:
        """Wait for a letter that is not in *before*; return its key, or "" if none comes."""
        end = monotonic() + ANSWER_S
        while monotonic() < end:
            unread = await self._unread(address)
            new = unread[address] - before
            if new:
                return min(new)
            await asyncio.sleep(LOOK_S)
        return ""

    def _to(self, path: str) -> Response:
        location = self._top + quote(path, safe="/?@")
        return Response(status_code=303, headers={**PRIVATE, "Location": location})

    async def _page(self, name: str, status: int = 200, **values: Any) -> Response:
        people = await asyncio.to_thread(self._program.people)
        shared = {"top": self._top, "server": self._program.server, "people": people}
        empty = {"person": None, "trouble": "", "said": "", "asked": (), "sent": False}
        template = self._templates.get_template(f"web/mailbox-{name}.html.j2")
        return html(template.render(empty | shared | values), status, PRIVATE)
