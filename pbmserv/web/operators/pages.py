"""Pages for operators: queues, kept mails, letters, players, boards, games and the audit.

They show and change the same things as the command line.
"""

from __future__ import annotations

import secrets
from dataclasses import replace
from functools import partial
from typing import Any
from urllib.parse import quote

from starlette.responses import Response

from pbmserv.errors import OperatorError
from pbmserv.service.operators import (
    announcements,
    blocked_senders,
    correspondence,
    deeds,
    events,
    ladders,
    letters,
    overviews,
    reply_keys,
)
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.form_actions import ACTIONS
from pbmserv.service.operators.pages import OperatorPages
from pbmserv.service.operators.server_status import queue_rows
from pbmserv.web.operators.printer import OperatorPrinter
from pbmserv.web.operators.requests import Handler, OperatorRequest

MOST = 100
"""Largest number of rows in a list."""
ENTRIES = 20
"""Audit entries on the page of a mail or letter, and announcements on their page."""

MOST_OUTCOMES = 100
"""Outcomes of changes that are kept for the next page."""


class OperatorHandlers:
    """The handlers of the pages."""

    def __init__(self, pages: OperatorPages, printer: OperatorPrinter) -> None:
        self._pages = pages
        self._printer = printer
        self._outcomes: dict[str, str] = {}

    async def queues(self, request: OperatorRequest) -> Response:
        status, sentences = await self._pages.status()
        return self._page(
            "queues", request, server=status, sentences=sentences, waiting=queue_rows(status.queues)
        )

    async def mails(self, request: OperatorRequest) -> Response:
        """Show the kept mails."""
        mails, count = await self._pages.mails()
        return self._page("mails", request, mails=mails, more=max(0, count - len(mails)))

    async def mail(self, request: OperatorRequest) -> Response:
        number = request.path_number()

        async def page(request: OperatorRequest) -> Response:
            text, is_kept = await self._pages.mail(number)
            query = partial(deeds.entries, target=f"mail {number}", most=ENTRIES)
            entries = await self._pages.look(query)
            values = {"text": text, "is_kept": is_kept, "entries": entries}
            return self._page("mail", request, number=number, **values)

        # `inbox drop` takes a number, and `inbox retry` numbers.
        return await self._show_or_change(page, request, number=str(number), numbers=str(number))

    async def letters(self, request: OperatorRequest) -> Response:
        """Show letters; a POST sends all failed ones again."""

        async def page(request: OperatorRequest) -> Response:
            state, to = request.query("state"), request.query("to")
            query = partial(letters.letter_lines, state=state, to=to, most=MOST)
            rows = await self._pages.look(query)
            return self._page(
                "letters", request, letters=rows, state=state, to=to, states=letters.STATES
            )

        return await self._show_or_change(page, request, failed="yes")

    async def letter(self, request: OperatorRequest) -> Response:
        number = request.path_number()

        async def page(request: OperatorRequest) -> Response:
            row, text = await self._pages.look(partial(letters.letter_text, number=number))
            is_open = row.state in letters.UNSETTLED and bool(row.recipient)
            query = partial(deeds.entries, target=f"letter {number}", most=ENTRIES)
            entries = await self._pages.look(query)
            values = {"text": text, "is_open": is_open, "entries": entries}
            return self._page("letter", request, row=row, **values)

        # `outbox hold` and `outbox drop` take a letter, and `outbox retry` named ones.
        return await self._show_or_change(
            page, request, named=str(number), letter=str(number), failed=""
        )

    async def players(self, request: OperatorRequest) -> Response:
        state, like = request.query("state"), request.query("like")
        query = partial(overviews.user_lines, state=state, like=like, most=MOST)
        players = await self._pages.look(query)
        values = {"state": state, "like": like, "states": overviews.STATES}
        return self._page("players", request, players=players, **values)

    async def player(self, request: OperatorRequest) -> Response:
        userid = request.path_part("userid").lower()

        async def page(request: OperatorRequest) -> Response:
            facts, entries = await self._pages.look(partial(overviews.user_facts, userid=userid))
            state = dict(facts)["state"]
            return self._page(
                "player", request, userid=userid, state=state, facts_of=facts, entries=entries
            )

        return await self._show_or_change(page, request, userid=userid)

    async def correspondence(self, request: OperatorRequest) -> Response:
        """Show what a player or address sent, what was answered, and where each letter is."""
        name = request.query("name").strip()
        refusal = ""
        values: dict[str, Any] = {"correspondence": None, "waiting": ()}
        try:
            if name:
                listing = await self._pages.look(partial(correspondence.read, name=name, most=MOST))
                waiting = await self._pages.waiting(listing.person)
                values = {"correspondence": listing, "waiting": waiting}
        except OperatorError as error:
            refusal = str(error)
        return self._page("correspondence", request, whose=name, refusal=refusal, **values)

    async def boards(self, request: OperatorRequest) -> Response:
        names = ("player", "status", "game")
        values: dict[str, Any] = {name: request.query(name).strip().lower() for name in names}
        refusal, boards = "", tuple[Any, ...]()
        try:
            query = partial(overviews.board_lines, most=MOST, **values)
            boards = tuple(await self._pages.look(query))
        except OperatorError as error:
            refusal = str(error)
        lists: dict[str, Any] = {"boards": boards, "states": overviews.STATUSES, "refusal": refusal}
        return self._page("boards", request, **lists, **values)

    async def board(self, request: OperatorRequest) -> Response:
        number = request.path_number()

        async def page(request: OperatorRequest) -> Response:
            facts, entries = await self._pages.look(partial(overviews.board_facts, number=number))
            by_name = dict(facts)
            values: dict[str, Any] = {name: by_name[name] for name in ("status", "rated")}
            values["players"] = by_name["players"].split(", ")
            return self._page(
                "board", request, number=number, facts_of=facts, entries=entries, **values
            )

        return await self._show_or_change(page, request, board=str(number))

    async def events(self, request: OperatorRequest) -> Response:
        """Show events, players who gave up early with their opponents, and ladders.

        A POST changes one.
        """

        async def page(request: OperatorRequest) -> Response:
            return self._page(
                "events",
                request,
                events=await self._pages.look(partial(events.event_lines, most=MOST)),
                watched=await self._pages.look(events.watched),
                ladders=await self._pages.look(ladders.ladder_lines),
            )

        return await self._show_or_change(page, request)

    async def games(self, request: OperatorRequest) -> Response:
        """Show the games; a POST computes all ratings again."""

        async def page(request: OperatorRequest) -> Response:
            games = await self._pages.look(overviews.game_lines)
            return self._page("games", request, games=games)

        return await self._show_or_change(page, request)

    async def game(self, request: OperatorRequest) -> Response:
        """Show a game and its ratings."""
        key = request.path_part("game").lower()

        async def page(request: OperatorRequest) -> Response:
            facts, entries = await self._pages.look(partial(overviews.game_facts, key=key))
            standings = partial(overviews.standing_lines, game=key, most=MOST)
            rated = await self._pages.look(standings)
            values = {"game": key, "facts_of": facts, "rated": rated, "entries": entries}
            is_open, is_stopped = ("state", "open") in facts, "stopped" in dict(facts)
            return self._page("game", request, is_open=is_open, is_stopped=is_stopped, **values)

        return await self._show_or_change(page, request, game=key)

    async def server(self, request: OperatorRequest) -> Response:
        """Show the forms that concern the whole server."""

        async def page(request: OperatorRequest) -> Response:
            rows = await self._pages.look(partial(announcements.listed, most=ENTRIES))
            return self._page(
                "server",
                request,
                blocks=await self._pages.look(blocked_senders.blocked),
                announcements=[(row, announcements.progress(row)) for row in rows],
                keys=await self._pages.look(reply_keys.listed),
            )

        return await self._show_or_change(page, request)

    async def audit(self, request: OperatorRequest) -> Response:
        """Show the actions of operators."""
        target = request.query("target")
        entries = await self._pages.look(partial(deeds.entries, target=target, most=MOST))
        return self._page("audit", request, target=target, entries=entries)

    async def _show_or_change(
        self, page: Handler, request: OperatorRequest, **subject: str
    ) -> Response:
        """Show a page; a POST first carries out its form, and leads back to the page.

        If the change is refused, the page is shown with the reason.

        Args:
            subject: values that the page fixes, which its forms cannot change.
        """
        if request.http.method != "POST":
            return await page(request)
        command = request.fields.get("do", "")
        if command not in ACTIONS:
            return self._printer.notice(400, "forged", request.session)
        fields = dict(request.fields) | subject
        by = Signature(request.session.by, request.fields.get("why", ""))
        try:
            outcome = await self._pages.do(command, fields, by)
        except OperatorError as error:
            answer = await page(replace(request, trouble=str(error)))
            answer.status_code = 422
            return answer
        mark = secrets.token_urlsafe(9)
        self._outcomes[mark] = outcome
        while len(self._outcomes) > MOST_OUTCOMES:
            del self._outcomes[next(iter(self._outcomes))]
        return self._printer.redirect(f"{quote(request.http.scope['path'])}?done={mark}")

    def _page(self, name: str, request: OperatorRequest, **values: Any) -> Response:
        shared: dict[str, Any] = {
            "session": request.session,
            "here": self._printer.base + quote(request.http.scope["path"]),
            "filled": request.fields,
            "trouble": request.trouble,
            "done": self._outcomes.get(request.query("done"), ""),
        }
        return self._printer.page(name, shared | values)
