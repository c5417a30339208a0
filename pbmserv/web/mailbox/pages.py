"""The pages of the local mailbox: people, letters, and the form for a mail."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from time import monotonic
from typing import Any
from urllib.parse import quote

from jinja2 import Environment
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from pbmserv.commands.grammar.word_forms import USERID
from pbmserv.errors import RelayError
from pbmserv.web.http.request_bodies import read_form
from pbmserv.web.http.responses import PRIVATE, existing, html_response
from pbmserv.web.mailbox.mail_program import (
    LONGEST_BODY,
    Draft,
    MailProgram,
    Person,
    ShownLetter,
    draft_of_form,
)

ANSWER_S = 3.0
"""Seconds to wait for a letter after a page has sent a mail."""
LOOK_S = 0.05
"""Seconds between two looks for that letter."""
LONGEST_FORM = 8 * LONGEST_BODY
"""Most octets of a form, in which a character takes up to three for each octet."""

LETTER_POLICY = (
    "sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox "
    "allow-top-navigation-by-user-activation; default-src 'none'; style-src 'unsafe-inline'; "
    "img-src data:; form-action 'none'; frame-ancestors 'self'; base-uri 'none'"
)
"""The policy for a letter in its frame: no scripts, no forms, and nothing is loaded."""

log = logging.getLogger("pbmserv.web")


class MailboxHandlers:
    """The handlers of the pages.

    Args:
        top: the path of the first page, which begins with the secret.
    """

    def __init__(self, program: MailProgram, top: str, templates: Environment) -> None:
        self._program = program
        self._top = top
        self._templates = templates

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
        for name, password in signups:
            if not USERID.fullmatch(name.lower()) or not password or " " in password:
                return await self._page("people", 422, wrong_name=name or "?", signups=signups)
        return await self._sign_up(signups)

    async def _sign_up(self, signups: Sequence[tuple[str, str]]) -> Response:
        """Send a mail that signs up for each name and password; redirect to the letters."""
        domain = self._program.server.rpartition("@")[2]
        senders = [f"{name.lower()}@{domain}" for name, _ in signups]
        before = await self._unread_keys(*senders)
        for (name, password), sender in zip(signups, senders, strict=True):
            draft = Draft(self._program.server, f"signup {name} {password}", "")
            error = await self._send_draft(sender, draft)
            if error:
                return await self._page("people", 422, error=error, signups=signups)
        for sender in senders:
            await self._wait_for_letter(sender, before[sender])
        return self._redirect(f"{senders[0]}/" if len(senders) == 1 else "")

    async def letters(self, request: Request) -> Response:
        """Show a person's letters, newest first."""
        person = await self._person(request)
        letters = await asyncio.to_thread(self._program.letters, person.address)
        sent = "sent" in request.query_params
        return await self._page("letters", person=person, letters=letters, sent=sent)

    async def letter(self, request: Request) -> Response:
        """Show a letter and mark it as seen."""
        person, key = await self._person(request), request.path_params["key"]
        letter = await self._letter(person, key)
        await asyncio.to_thread(self._program.mark_seen, person.address, key)
        query = request.query_params
        as_text = query.get("as") == "text" or not letter.has_html
        sent = "sent" in query
        return await self._page("letter", person=person, letter=letter, as_text=as_text, sent=sent)

    async def frame(self, request: Request) -> Response:
        """Answer with the HTML of a letter, for its frame."""
        person, key = await self._person(request), request.path_params["key"]
        letter = await self._letter(person, key)
        page = letter.html(f"{self._top}{quote(person.address)}/write")
        headers = {"Content-Security-Policy": LETTER_POLICY, "X-Frame-Options": "SAMEORIGIN"}
        return html_response(page, 200, PRIVATE | headers)

    async def write(self, request: Request) -> Response:
        """Show the form for a mail; a POST sends it."""
        person = await self._person(request)
        if request.method == "POST":
            return await self._send(request, person)
        query = request.query_params
        draft = draft_of_form({"to": self._program.server, **query})
        if "answer" in query:
            answered = await self._letter(person, query["answer"])
            draft = answered.answer()
        return await self._page("write", person=person, draft=draft)

    async def _send(self, request: Request, person: Person) -> Response:
        """Send the mail of a form, and redirect to the answer to it if one comes soon."""
        draft = draft_of_form(await read_form(request, LONGEST_FORM))
        before = await self._unread_keys(person.address)
        error = await self._send_draft(person.address, draft)
        if error:
            return await self._page("write", 422, person=person, draft=draft, error=error)
        new = await self._wait_for_letter(person.address, before[person.address])
        return self._redirect(f"{person.address}/{new}?sent" if new else f"{person.address}/?sent")

    async def unread_counts(self, _request: Request) -> Response:
        """Answer with the number of unread letters of each person, for the script."""
        people = await asyncio.to_thread(self._program.people)
        counts = {person.address: len(person.unread) for person in people}
        return JSONResponse(counts, 200, PRIVATE)

    async def refused(self, _request: Request, error: Exception) -> Response:
        """Answer 404 or 405 with the same words, which do not help to guess the secret path."""
        status = error.status_code if isinstance(error, HTTPException) else 500
        return Response("There is nothing here.\n", status, PRIVATE, "text/plain")

    def fault(self, error: BaseException) -> Response:
        """Answer 500 and log the error, which the page does not show."""
        log.error("a page of the mailbox failed", exc_info=error)
        return Response("A fault; the log says more.\n", 500, PRIVATE, "text/plain")

    async def _person(self, request: Request) -> Person:
        """Return the person whose pages these are.

        Raises:
            HTTPException: there is none with this address (404).
        """
        people = await asyncio.to_thread(self._program.people)
        for person in people:
            if person.address == request.path_params["address"].lower():
                return person
        raise HTTPException(404)

    async def _letter(self, person: Person, key: str) -> ShownLetter:
        """Return a letter of a person.

        Raises:
            HTTPException: there is none with this key (404).
        """
        return existing(await asyncio.to_thread(self._program.letter, person.address, key))

    async def _send_draft(self, sender: str, draft: Draft) -> str:
        """Send a mail; return the error, or ``""``."""
        try:
            await asyncio.to_thread(self._program.send, sender, draft)
        except (RelayError, ValueError) as error:
            return str(error)
        return ""

    async def _unread_keys(self, *senders: str) -> Mapping[str, frozenset[str]]:
        """Return the keys of the unread letters to each sender, who may have no Maildir yet."""
        people = await asyncio.to_thread(self._program.people)
        unread = {person.address: frozenset(person.unread) for person in people}
        return {sender: unread.get(sender, frozenset()) for sender in senders}

    async def _wait_for_letter(self, address: str, before: frozenset[str]) -> str:
        """Wait for a letter that is not in *before*; return its key, or ``""`` if none comes."""
        end = monotonic() + ANSWER_S
        while monotonic() < end:
            unread = await self._unread_keys(address)
            new = unread[address] - before
            if new:
                return min(new)
            await asyncio.sleep(LOOK_S)
        return ""

    def _redirect(self, path: str) -> Response:
        location = self._top + quote(path, safe="/?@")
        return Response(status_code=303, headers={**PRIVATE, "Location": location})

    async def _page(self, name: str, status: int = 200, **values: Any) -> Response:
        people = await asyncio.to_thread(self._program.people)
        shared = {"top": self._top, "server": self._program.server, "people": people}
        empty = {"person": None, "wrong_name": "", "error": "", "signups": (), "sent": False}
        template = self._templates.get_template(f"web/mailbox-{name}.html.j2")
        return html_response(template.render(empty | shared | values), status, PRIVATE)
