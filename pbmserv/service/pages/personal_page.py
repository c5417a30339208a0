"""A player's own page: boards, digest, preferences, addresses, absence, and leaving.

Its token stands in letters to the player, and can do for some days what a reply to them can. What
is pressed goes in as a mail, which brings the same letters.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from functools import partial
from typing import Any

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.commands.grammar.words import quoted
from pbmserv.engine.clocks import zone
from pbmserv.errors import Refusal
from pbmserv.letters.replies import opens_page
from pbmserv.mail.envelope import Envelope, Press, written
from pbmserv.mail.reply_address import PAGE_DAYS, Purpose, ReplyAddress
from pbmserv.mail.visits import read_link, visit_of
from pbmserv.service.accounts import preferences
from pbmserv.service.boards.board_page import BoardPage, BoardPages
from pbmserv.service.core.actor import VISITOR
from pbmserv.service.core.budget import Budget, TooMuch
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import NOTHING, Done, Notification, Part
from pbmserv.service.time.localtime import local_date
from pbmserv.store.accounts import players
from pbmserv.store.accounts import preferences as stored
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.boards import RUNNING
from pbmserv.views.reader import show_or_log
from pbmserv.views.texts import refusal_sentence

MOST_BOARDS = 60
"""Running boards that the page lists, the newest ones."""
MOST_DRAWN = 10
"""Boards that wait for the reader and are drawn."""
LINK_EVERY = timedelta(hours=3)
"""Anybody can ask for a player's link, and the player gets one letter in so long."""
MOST_OF_ADDRESS = 5
"""Players of one address who get a link."""

_EMPTIED = {"digest": "off", "remind": "off", "tz": "UTC"}
"""What an emptied field means; any other leaves things as they are."""
_SETTINGS = (
    *("format", "digest", "tz", "remind", "accept", "messages", "report", "labels"),
    *("public", "broadcast"),
)


@dataclass(frozen=True, slots=True)
class PersonalPage:
    """What the page shows.

    Attributes:
        key: a random word of the page: the same one again is the same press again.
        waiting: boards on which the reader is to do something; others have the rest.
        unshown: numbers of boards over which their game has broken down.
        prefs: words of the letter ``prefs``.
        today: by the reader's calendar.
        expires: the day after which the link is no longer good.
        trouble, example: why the last press was refused, and what would do.
    """

    token: str
    userid: str
    key: str
    waiting: tuple[BoardPage, ...]
    others: tuple[BoardPage, ...]
    unshown: tuple[int, ...]
    prefs: Mapping[str, Any]
    addresses: tuple[str, ...]
    today: date
    expires: date
    trouble: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What came of a press.

    Attributes:
        refused: the page with the reason, if it was.
        is_open: the link is still good.
    """

    refused: PersonalPage | None = None
    is_open: bool = True


class PersonalPages:
    """Answers for players' own pages.

    Args:
        leave: has a form stored, and does not wait until it is carried out.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
        board_pages: BoardPages,
        leave: Callable[[str, Mapping[str, Any]], Awaitable[int]],
    ) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._boards = board_pages
        self._leave = leave

    async def page(self, token: str) -> PersonalPage | None:
        """Return the page as its player sees it; ``None`` if the link is not, or no longer, good.

        Raises:
            TooMany: the player looks too often.
        """
        link = read_link(self._services.mail_domain.ring, token, self._clock.now())
        if link is None or link.purpose is not Purpose.PAGE:
            return None
        self._services.traffic.looks(link.player)
        async with self._boards.turns.of(link.player):
            return await asyncio.to_thread(self._page, token)

    async def ask_link(self, who: str) -> None:
        """Have a link mailed to a player, by userid or address. Nobody learns whether there is one,
        so this does not wait for what comes of it."""
        await self._leave("page_link", {"who": who.strip().lower()[:254]})

    async def press(self, token: str, fields: Mapping[str, str]) -> Change | None:
        """Carry out what was sent; ``None``: the link is not good.

        Args:
            fields: of the form; ``do`` says which it is.

        Raises:
            KeyError: there is no such form.
        """
        envelope = await asyncio.to_thread(self._mail, token, fields)
        if envelope is None:
            return None
        number = await self._boards.carried_out(envelope)
        return await asyncio.to_thread(self._outcome, token, number)

    # -- looks -----------------------------------------------------------------------------

    def _player(self, connection: Connection, token: str) -> tuple[Player, ReplyAddress] | None:
        now = self._clock.now()
        link = read_link(self._services.mail_domain.ring, token, now)
        if link is None or link.purpose is not Purpose.PAGE:
            return None
        player = players.by_id(connection, link.player)
        if player is None or not opens_page(link, player, now):
            return None
        return player, link

    def _page(self, token: str) -> PersonalPage | None:
        with self._database.reading.connect() as connection:
            found = self._player(connection, token)
            return None if found is None else self._made(connection, token, *found)

    def _made(
        self, connection: Connection, token: str, player: Player, told: ReplyAddress
    ) -> PersonalPage:
        now, local = self._clock.now(), zone(player.tz)
        shown, unshown = self._boards_of(connection, player)
        waiting = [one for one in shown if one.scene.your_turn or player.userid in one.undecided]
        others = [one for one in shown if one not in waiting]
        context = CommandContext(self._services, connection, VISITOR, now)
        return PersonalPage(
            token,
            player.userid,
            secrets.token_hex(8),
            tuple(waiting),
            tuple(others),
            tuple(unshown),
            preferences.as_words(context, player, set_now=False),
            tuple(players.addresses_of(connection, player.id)),
            local_date(now, local),
            last_day(told),
        )

    def _boards_of(
        self, connection: Connection, player: Player
    ) -> tuple[list[BoardPage], list[int]]:
        """Return the running boards, each with the link that its letters have; and the numbers of
        those that cannot be shown, or not within the budget of one page."""
        ring, budget = self._services.mail_domain.ring, Budget()
        found, unshown = list[BoardPage](), list[int]()
        for number in boards.of_player(connection, player.id, RUNNING, None, MOST_BOARDS):
            board = boards.load(connection, number)
            assert board is not None
            link = ReplyAddress(Purpose.BOARD, player.id, number, 0, player.reply_epoch)
            visit = visit_of(link, self._clock.now())
            assert visit is not None
            show = partial(self._boards.seen, connection, ring.token(visit), budget.replay)
            try:
                budget.check()
                page = show_or_log(number, board.game, show)
            except TooMuch:
                page = None
            if page is None:
                unshown.append(number)
            else:
                found.append(page)
        return found, unshown

    # -- presses ---------------------------------------------------------------------------

    def _mail(self, token: str, fields: Mapping[str, str]) -> Envelope | None:
        """The press as a reply to a letter about nothing special."""
        with self._database.reading.connect() as connection:
            found = self._player(connection, token)
            if found is None:
                return None
            player, _ = found
            context = CommandContext(self._services, connection, VISITOR, self._clock.now())
            now_so = preferences.as_words(context, player, set_now=False)
        line = line_of(player.userid, fields, now_so)
        told = ReplyAddress(Purpose.PLAYER, player.id, 0, 0, player.reply_epoch)
        domain = self._services.mail_domain
        press = Press(0, fields.get("key", ""), line)
        sender, to = player.address, domain.address_of(told)
        return written(sender, to, domain.domain, press, self._clock.now())

    def _outcome(self, token: str, number: int) -> Change:
        with self._database.reading.connect() as connection:
            found = self._player(connection, token)
            if found is None:  # it ended the links so far
                return Change(is_open=False)
            player, told = found
            for letter, words in outbox.answers_to(connection, number, player.id):
                if letter == "refusal":
                    refusal = Refusal(**words["refusal"])
                    page = self._made(connection, token, player, told)
                    return Change(replace(page, trouble=refusal_sentence(refusal)))
        return Change()


def last_day(told: ReplyAddress) -> date:
    """The last day on which a link is good."""
    return date(1970, 1, 1) + timedelta(days=told.number + PAGE_DAYS)


def line_of(userid: str, fields: Mapping[str, str], now_so: Mapping[str, Any]) -> str:
    """The command that a form asks for.

    Args:
        fields: as they were sent; ``do`` says which form it is.
        now_so: the preferences as they are; only others are asked for.

    Raises:
        KeyError: there is no such form.
    """
    said = {name: "".join(value.split()) for name, value in fields.items()}
    match fields["do"]:
        case "prefs":
            wanted = {
                name: said[name].strip("=") or _EMPTIED.get(name, now_so[name])
                for name in _SETTINGS
                if name in said
            }
            changed = [f"{name}={value}" for name, value in wanted.items() if value != now_so[name]]
            changed += [f"{name}={said[name]}" for name in ("block", "unblock") if said.get(name)]
            return " ".join(["prefs", *changed])
        case "away":
            begins = f"from {said['from']} " if said.get("from") else ""
            return f"away {begins}until {said.get('until', '')}"
        case "address":
            addresses = " ".join(fields.get("addresses", "").replace(",", " ").split())
            return f"change address {userid} {quoted(fields.get('password', ''))} {addresses}"
        case "back" | "export" | "signoff" | "delete" as word:
            return word
    raise KeyError(fields["do"])


def mail_link(
    services: Services, values: Mapping[str, Any], now: datetime, connection: Connection
) -> tuple[Done, bool]:
    """Mail links to those whom a form names; a job of play."""
    who = str(values["who"])
    if "@" in who:
        named = players.by_address(connection, who)[:MOST_OF_ADDRESS]
    else:
        found = players.of_name(connection, who)
        named = [] if found is None else [found]
    context = CommandContext(services, connection, VISITOR, now)
    letters = [
        outbox_row(
            context,
            Notification(one.address, one.id, Part("page-link", {"userid": one.userid})),
        )
        for one in named
        if one.active and stored.may_tell(connection, one.id, "page-link", now, LINK_EVERY)
    ]
    if not letters:
        return NOTHING, True
    outbox.add(connection, letters, now)
    return Done({}, len(letters)), True
