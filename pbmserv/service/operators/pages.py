"""Answers and changes for the operators' pages, by the functions that the command line uses."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Protocol, TypeVar

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError, StillWorking
from pbmserv.mail.envelope import Envelope
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.services import Services
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators import (
    announcements,
    blocked_senders,
    correspondence,
    events,
    ladders,
    letters,
    overviews,
    reply_keys,
)
from pbmserv.service.operators.correspondence import Correspondence
from pbmserv.service.operators.deeds import LONGEST_WHY, Signature, entries, look
from pbmserv.service.operators.form_actions import ACTIONS, Fields, number_in
from pbmserv.service.operators.kept_mails import KeptMail, KeptMailsView
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.server_status import ServerStatus
from pbmserv.store.accounts.signing_keys import KeyLine
from pbmserv.store.announcements import Announcement
from pbmserv.store.audit import Entry
from pbmserv.store.blocked_senders import BlockedSender
from pbmserv.store.core.database import Database
from pbmserv.store.operators.boards import BoardLine
from pbmserv.store.operators.letters import LetterLine
from pbmserv.store.operators.people import UserLine, user_lines
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus

T = TypeVar("T")

AT_ONCE = 4
"""Largest number of changes that are carried out at a time."""

ANSWER_S = 5.0
"""Seconds that a page waits for a change."""

MOST = 100
"""Largest number of rows in a list."""

ENTRIES = 20
"""Audit entries on the page of a mail or letter, and announcements on their page."""

LETTERS = letters.STATES
PLAYERS = tuple(PlayerState)
BOARDS = tuple(BoardStatus)
log = logging.getLogger("pbmserv.service")


class OrderTaker(Protocol):
    """Carries out orders of operators, in this process or another one."""

    def do(self, by: Signature, order: Order) -> str:
        """Carry out an order; return a sentence for the operator.

        Raises:
            OperatorError: the order is impossible; nothing has changed.
        """
        ...

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; return a sentence for the operator.

        Raises:
            OperatorError: the mail is not kept.
        """
        ...


class OperatorPages:
    """Answers questions of the operators' pages, and carries out their changes.

    Args:
        read: reads the envelope of a kept mail, as play does.
        orders: carries out the changes.
        status: returns the status of the server.
        mail_store: the database in which the door stores mails.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
        read: Callable[[Envelope], IncomingMail],
        orders: OrderTaker,
        status: Callable[[], ServerStatus],
        mail_store: Database,
    ) -> None:
        self._mail_store = mail_store
        self._services = services
        self._database = database
        self._clock = clock
        self._orders = orders
        self._mails = KeptMailsView(database, read)
        self._status = status
        # A deed may take minutes (to rebuild the ratings). The threads of web are watched, so it
        # must not block one of them.
        self._deeds = ThreadPoolExecutor(AT_ONCE, "deed")

    # -- questions -------------------------------------------------------------------------

    async def status(self) -> tuple[ServerStatus, Sequence[str]]:
        """Return the status of the server, and sentences about it."""
        status = await asyncio.to_thread(self._status)
        return status, [*status.sentences(self._clock.now())]

    async def mails(self) -> tuple[Sequence[KeptMail], int]:
        """Return the first kept mails (see `KeptMailsView.list`), and the number of all."""
        mails = await asyncio.to_thread(self._mails.list)
        return mails, await asyncio.to_thread(self._mails.count)

    async def mail(self, number: int) -> tuple[str, bool, Sequence[Entry]]:
        """Return a mail's text, whether it is kept, and its audit entries.

        Raises:
            OperatorError: there is no such mail.
        """
        text = await asyncio.to_thread(self._mails.show, number)
        if text is None:
            raise OperatorError(f"there is no mail {number}")
        is_kept = await asyncio.to_thread(self._mails.is_kept, number)
        return text, is_kept, await self.audit(f"mail {number}", ENTRIES)

    async def letters(self, state: str, to: str) -> Sequence[LetterLine]:
        """Return letters, newest first; see `letters.letter_lines`."""
        return await self._look(partial(letters.letter_lines, state=state, to=to, most=MOST))

    async def letter(self, number: int) -> tuple[LetterLine, str, bool, Sequence[Entry]]:
        """Return a letter, its text, whether operators can change it, and its audit entries.

        Raises:
            OperatorError: there is no such letter.
        """
        row, text = await self._look(partial(letters.letter_text, number=number))
        entries = await self.audit(f"letter {number}", ENTRIES)
        return row, text, row.state in letters.UNSETTLED and bool(row.recipient), entries

    async def correspondence(
        self, name: str
    ) -> tuple[Correspondence, Sequence[tuple[int, datetime]]]:
        """Return the mails of a player or address and the letters to them, and waiting arrivals.

        Raises:
            OperatorError: no player has this userid.
        """
        letters_and_mails = await self._look(partial(correspondence.read, name=name, most=MOST))
        waiting = await asyncio.to_thread(
            correspondence.waiting, self._mail_store, self._database, letters_and_mails.person
        )
        return letters_and_mails, waiting

    async def players(self, state: str, like: str) -> Sequence[UserLine]:
        """Return players in the order of their userids.

        Args:
            like: part of the userid or address.
        """
        return await self._look(
            lambda c: user_lines(
                c.connection, state if state in PLAYERS else None, like.lower(), MOST
            )
        )

    async def player(self, userid: str) -> tuple[overviews.Facts, Sequence[Entry]]:
        """See `overviews.user_facts`."""
        return await self._look(partial(overviews.user_facts, userid=userid))

    async def boards(self, player: str, status: str, game: str) -> Sequence[BoardLine]:
        """See `overviews.board_lines`."""
        known_status = status if status in BOARDS else ""
        return await self._look(
            partial(overviews.board_lines, player=player, status=known_status, game=game, most=MOST)
        )

    async def board(self, number: int) -> tuple[overviews.Facts, Sequence[Entry]]:
        """See `overviews.board_facts`."""
        return await self._look(partial(overviews.board_facts, number=number))

    async def events(self) -> tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]]:
        """Return the events, and pairs of players one of whom gave up early."""
        lines = await self._look(partial(events.event_lines, most=MOST))
        return lines, await self._look(events.watched)

    async def ladders(self) -> Sequence[Sequence[str]]:
        """See `ladders.ladder_lines`."""
        return await self._look(ladders.ladder_lines)

    async def games(self) -> Sequence[Sequence[str]]:
        """See `overviews.game_lines`."""
        return await self._look(overviews.game_lines)

    async def game(
        self, key: str
    ) -> tuple[overviews.Facts, Sequence[Sequence[str]], Sequence[Entry]]:
        """Return a game's facts, its ratings and its audit entries.

        Raises:
            OperatorError: there is no such game.
        """
        facts, entries = await self._look(partial(overviews.game_facts, key=key))
        rated = await self._look(partial(overviews.standing_lines, game=key, most=MOST))
        return facts, rated, entries

    async def announcements(self) -> Sequence[tuple[Announcement, str]]:
        """Return the newest announcements, each with its progress in words."""
        rows = await self._look(partial(announcements.listed, most=ENTRIES))
        return [(row, announcements.progress(row)) for row in rows]

    async def keys(self) -> Sequence[KeyLine]:
        """Return the keys of reply addresses, without their secrets."""
        return await self._look(reply_keys.listed)

    async def blocked_senders(self) -> Sequence[BlockedSender]:
        """See `blocked_senders.blocked`."""
        return await self._look(blocked_senders.blocked)

    async def audit(self, target: str, most: int = MOST) -> Sequence[Entry]:
        """Return audit entries, newest first, see `deeds.entries`."""
        return await self._look(partial(entries, target=target, most=most))

    async def _look(self, question: Callable[[CommandContext], T]) -> T:
        return await asyncio.to_thread(look, self._services, self._database, self._clock, question)

    # -- changes ---------------------------------------------------------------------------

    async def do(self, command: str, fields: Fields, by: Signature) -> str:
        """Carry out one of `ACTIONS`; return a sentence for the operator.

        Raises:
            OperatorError: the action is impossible; nothing has changed.
            StillWorking: the action takes longer than `ANSWER_S`, and goes on.
        """
        if not by.why.strip() or len(by.why) > LONGEST_WHY:
            raise OperatorError(f"give a reason, of at most {LONGEST_WHY} characters")
        loop = asyncio.get_running_loop()
        change = loop.run_in_executor(self._deeds, self._do, command, fields, by)
        done, _ = await asyncio.wait({change}, timeout=ANSWER_S)
        if not done:
            change.add_done_callback(_log_failure)
            raise StillWorking("an operator's change is still worked on")
        return change.result()

    def _do(self, command: str, fields: Fields, by: Signature) -> str:
        action = ACTIONS[command]
        if action.order is None:
            return self._orders.retry(number_in(fields, "numbers"), by)
        return self._orders.do(by, action.order(fields))


def _log_failure(change: asyncio.Future[str]) -> None:
    """Log an unexpected error of a change whose page has stopped waiting."""
    error = change.exception()
    if error is not None and not isinstance(error, OperatorError):
        log.error("an operator's change failed", exc_info=error)
