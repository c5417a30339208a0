"""What operators' pages show and change: what the command line does, by the same functions."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, Protocol, TypeAlias, TypeVar

from pbmserv.clock import Clock
from pbmserv.errors import OperatorError, StillWorking
from pbmserv.mail.envelope import Envelope
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.service.operators import orders, people, queues
from pbmserv.service.operators.deeds import LONGEST_WHY, Signature, entries, looked
from pbmserv.service.operators.orders import Order
from pbmserv.service.operators.queues import KeptMail, KeptMailsView
from pbmserv.store.core.database import Database
from pbmserv.store.operators import audit, operating
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.store.tables.mail import LetterState

T = TypeVar("T")
Fields: TypeAlias = Mapping[str, str]

DEEDS = 4
"""Changes that are carried out at once."""
ANSWER_S = 5.0
"""Seconds that a page waits for what it asked for."""
LARGEST = 2**63 - 1
"""The largest number that anything can have: a larger one no database can even look for."""
MOST = 100
"""Rows of a list."""
ENTRIES = 20
"""Entries of the audit beside what they are about."""
SENT = (LetterState.SENT, LetterState.FOLDED, LetterState.DIGEST)
LETTERS = tuple(LetterState)
WAITING = tuple(state for state in LetterState if state not in SENT)
PLAYERS = tuple(PlayerState)
BOARDS = tuple(BoardStatus)

log = logging.getLogger("pbmserv.service")


class Side(Protocol):
    """Carries out what operators order, in this process or another one."""

    def do(self, by: Signature, order: Order) -> str:
        """Carry out an order; return a sentence for the operator.

        Raises:
            OperatorError: it cannot be done; nothing has changed.
        """
        ...

    def retry(self, number: int, by: Signature) -> str:
        """Carry a kept mail out again; return a sentence for the operator."""
        ...


@dataclass(frozen=True, slots=True)
class Queue:
    """What ``pbmserv status`` tells.

    Attributes:
        running: whether a server runs, as a sentence.
        stages: those of this machine, and what each is at.
        newest_mail, newest_letter: their numbers.
        octets: what takes room.
        waiting: what waits, how many of it, for how long the oldest has.
    """

    running: str
    stages: Mapping[str, str]
    newest_mail: int
    newest_letter: int
    octets: Mapping[str, int]
    waiting: Sequence[tuple[str, str, str]]


@dataclass(frozen=True, slots=True)
class Action:
    """What a form does.

    Attributes:
        fields: of the form and of its page, by their names at the command line.
        order: makes the order of the fields; raises OperatorError if they make no sense.
    """

    fields: tuple[str, ...]
    order: Callable[[Fields], Order] | None = None


def _for_user(order: Callable[[str], Order]) -> Action:
    return Action(("userid",), lambda fields: order(_word(fields, "userid")))


def _for_letter(order: Callable[[int], Order]) -> Action:
    return Action(("letter",), lambda fields: order(_number(fields, "letter")))


def _for_game(order: Callable[[str], Order]) -> Action:
    return Action(("game",), lambda fields: order(_word(fields, "game")))


def _for_board(order: Callable[[int], Order]) -> Action:
    return Action(("board",), lambda fields: order(_number(fields, "board")))


def _suspension(fields: Fields) -> Order:
    return orders.SuspendUser(_word(fields, "userid"), bool(fields.get("end_games")))


def _merger(fields: Fields) -> Order:
    return orders.MergeUser(_word(fields, "userid"), _word(fields, "into"))


def _hand_over(fields: Fields) -> Order:
    old, new = _word(fields, "old"), _word(fields, "new")
    return orders.HandOverBoard(_number(fields, "board"), old, new)


def _deadline(fields: Fields) -> Order:
    named = [name for name in TIMES if fields.get(name, "").strip()]
    times = tuple(f"--{name}={_number(fields, name, 0, LONGEST_TIME)}" for name in named)
    return orders.SetDeadline(_number(fields, "board"), times)


TIMES = ("nagtime", "forfeittime", "totaltime")
LONGEST_TIME = 365
"""Days."""

ACTIONS: Mapping[str, Action] = {
    "inbox retry": Action(("number",)),
    "inbox drop": Action(("number",)),
    "outbox retry": Action(("named", "failed", "since")),
    "outbox hold": _for_letter(orders.HoldLetter),
    "outbox drop": _for_letter(orders.DropLetter),
    "user suspend": Action(("userid", "end_games"), _suspension),
    "user restore": _for_user(orders.RestoreUser),
    "user reachable": _for_user(orders.ReachUser),
    "user reset": _for_user(orders.ResetUser),
    "user merge": Action(("userid", "into"), _merger),
    "board end": _for_board(orders.EndBoard),
    "board hand-over": Action(("board", "old", "new"), _hand_over),
    "board deadline": Action(("board", *TIMES), _deadline),
    "game suspend": _for_game(orders.CloseGame),
    "game restore": _for_game(orders.OpenGame),
    "rating exclude": _for_board(partial(orders.SetRated, rated=False)),
    "rating include": _for_board(partial(orders.SetRated, rated=True)),
    "rating rebuild": Action((), lambda _: orders.RebuildRatings()),
}
"""Actions of the pages, by the words of the command line."""


class OperatorPages:
    """What operators' pages ask of the service; looking never changes anything.

    Args:
        read: reads the envelope of a kept mail, as play does.
        side: carries out what they change.
        queue: looks at what waits.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
        read: Callable[[Envelope], IncomingMail],
        side: Side,
        queue: Callable[[], Queue],
    ) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._side = side
        self._mails = KeptMailsView(database, read)
        self._queue = queue
        # A deed may take minutes (ratings are computed anew): web's own threads are watched.
        self._deeds = ThreadPoolExecutor(DEEDS, "deed")

    # -- looks -----------------------------------------------------------------------------

    async def queue(self) -> Queue:
        """What waits."""
        return await asyncio.to_thread(self._queue)

    async def mails(self) -> tuple[Sequence[KeptMail], int]:
        """Return kept mails, as `KeptMailsView.list` has them, and how many there are in all."""
        mails = await asyncio.to_thread(self._mails.list)
        return mails, await asyncio.to_thread(self._mails.count)

    async def mail(self, number: int) -> tuple[str, bool, Sequence[audit.Entry]]:
        """A mail, whether it is kept, and what operators have done to it.

        Raises:
            OperatorError: there is none of that number.
        """
        text = await asyncio.to_thread(self._mails.show, number)
        if text is None:
            raise OperatorError(f"there is no mail {number}")
        is_kept = await asyncio.to_thread(self._mails.is_kept, number)
        return text, is_kept, await self.audit(f"mail {number}", ENTRIES)

    async def letters(self, state: str, to: str) -> Sequence[operating.PostRow]:
        """Letters, newest first. *state*: ``""`` = all that still wait, or ``all``."""
        states = LETTERS if state == "all" else (state,) if state in LETTERS else WAITING
        found: Sequence[operating.PostRow] = await self._look(
            lambda c: operating.letters_listed(c.connection, tuple(states), to.lower(), MOST)
        )
        return found

    async def letter(
        self, number: int
    ) -> tuple[operating.PostRow, str, bool, Sequence[audit.Entry]]:
        """A letter, its text, whether an operator can still change what becomes of it, and what
        they have done.

        Raises:
            OperatorError: there is none of that number.
        """
        row, text = await self._look(partial(queues.shown, number=number))
        entries = await self.audit(f"letter {number}", ENTRIES)
        return row, text, row.state not in SENT and bool(row.recipient), entries

    async def players(self, state: str, like: str) -> Sequence[operating.UserLine]:
        """Players by userid; *like*: a part of the userid or address."""
        found: Sequence[operating.UserLine] = await self._look(
            lambda c: operating.users(
                c.connection, state if state in PLAYERS else None, like.lower(), MOST
            )
        )
        return found

    async def player(self, userid: str) -> tuple[people.Facts, Sequence[audit.Entry]]:
        """See `people.user_facts`."""
        found: tuple[people.Facts, Sequence[audit.Entry]] = await self._look(
            partial(people.user_facts, userid=userid)
        )
        return found

    async def boards(self, player: str, status: str, game: str) -> Sequence[operating.BoardLine]:
        """See `people.board_lines`."""
        known = status if status in BOARDS else ""
        found: Sequence[operating.BoardLine] = await self._look(
            partial(people.board_lines, player=player, status=known, game=game, most=MOST)
        )
        return found

    async def board(self, number: int) -> tuple[people.Facts, Sequence[audit.Entry]]:
        """See `people.board_facts`."""
        found: tuple[people.Facts, Sequence[audit.Entry]] = await self._look(
            partial(people.board_facts, number=number)
        )
        return found

    async def games(self) -> Sequence[Sequence[str]]:
        """See `people.game_lines`."""
        found: Sequence[Sequence[str]] = await self._look(people.game_lines)
        return found

    async def game(
        self, key: str
    ) -> tuple[people.Facts, Sequence[Sequence[str]], Sequence[audit.Entry]]:
        """A game's facts, its ratings, and what operators have done about it.

        Raises:
            OperatorError: there is none of that name.
        """
        facts, entries = await self._look(partial(people.game_facts, key=key))
        rated = await self._look(partial(people.standing_lines, game=key, most=MOST))
        return facts, rated, entries

    async def audit(self, target: str, most: int = MOST) -> Sequence[audit.Entry]:
        """What operators have done, newest first; *target*: as ``pbmserv audit`` takes it."""
        found: Sequence[audit.Entry] = await self._look(partial(entries, target=target, most=most))
        return found

    async def _look(self, question: Callable[[CommandContext], Any]) -> Any:
        return await asyncio.to_thread(
            looked, self._services, self._database, self._clock, question
        )

    # -- changes ---------------------------------------------------------------------------

    async def do(self, command: str, fields: Fields, by: Signature) -> str:
        """Carry out one of `ACTIONS`; what was done.

        Raises:
            OperatorError: it cannot be done; nothing has changed.
            StillWorking: that takes long.
        """
        if not by.why.strip() or len(by.why) > LONGEST_WHY:
            raise OperatorError(f"give a reason, of at most {LONGEST_WHY} characters")
        loop = asyncio.get_running_loop()
        doing = loop.run_in_executor(self._deeds, self._do, command, fields, by)
        done, _ = await asyncio.wait({doing}, timeout=ANSWER_S)
        if not done:
            doing.add_done_callback(_noted)
            raise StillWorking("an operator's change is still worked on")
        return doing.result()

    def _do(self, command: str, fields: Fields, by: Signature) -> str:
        action = ACTIONS[command]
        if action.order is not None:
            return self._side.do(by, action.order(fields))
        if command == "outbox retry":
            return self._retry_letters(fields, by)
        number = _number(fields, "number")
        if not self._mails.is_kept(number):
            raise OperatorError(f"mail {number} is not kept any more")
        if command == "inbox retry":
            return self._side.retry(number, by)
        return self._side.do(by, orders.DropMail(number))

    def _retry_letters(self, fields: Fields, by: Signature) -> str:
        """One letter, or all that have failed (since a day)."""
        if not fields.get("failed"):
            numbers = [_number(fields, "named")]
        else:
            since = fields.get("since", "").strip()
            first = _day(since) if since else None
            question = partial(queues.failed, since=first)
            numbers = looked(self._services, self._database, self._clock, question)
            if not numbers:
                raise OperatorError("no letters have failed" + (" since then" if since else ""))
        return self._side.do(by, orders.RetryLetters(tuple(numbers)))


def _noted(doing: asyncio.Future[str]) -> None:
    """Log what came of a change for which nobody waits any more."""
    error = doing.exception()
    if error is not None and not isinstance(error, OperatorError):
        log.error("an operator's change failed", exc_info=error)


def _number(fields: Fields, name: str, least: int = 1, most: int = LARGEST) -> int:
    text = fields.get(name, "").strip()
    is_one = text.isascii() and text.isdigit() and len(text) < len(str(LARGEST)) + 1
    if not is_one or not least <= int(text) <= most:
        known = "" if most == LARGEST else f" from {least} to {most}"
        raise OperatorError(f"{name} is a number{known}")
    return int(text)


def _word(fields: Fields, name: str) -> str:
    text = fields.get(name, "").strip().lower()
    if not text:
        raise OperatorError(f"fill in {name}")
    return text


def _day(text: str) -> datetime:
    try:
        return datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise OperatorError("write the day as 2026-03-21") from None
