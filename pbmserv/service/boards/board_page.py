"""A board's page, as its player sees it; `pages.board_presses` carries out what is pressed.

The page is opened by the token of the reply address that the board's letters have, so it can do
what a reply to them can, and nothing else; its own address has the token of a visit. Looking
changes nothing: a move is put together by buttons that lead back to the page, and only what is
sent is played.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple
from weakref import WeakValueDictionary

from sqlalchemy import Connection

from pbmserv.clock import Clock
from pbmserv.engine.position import Position
from pbmserv.engine.protocol import Aided, Tappable
from pbmserv.engine.types import BOT_USERIDS, Seat
from pbmserv.errors import MoveError
from pbmserv.mail.reply_address import Purpose
from pbmserv.mail.visits import read_link
from pbmserv.service.boards.reports import CoachPart, asks_coach, coach_part
from pbmserv.service.core.actor import VISITOR
from pbmserv.service.core.context import CommandContext, Services
from pbmserv.service.core.lookup import is_shut
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.boards.moves import Before
from pbmserv.store.core.database import Database
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus
from pbmserv.views.board import BoardScene, foreseen
from pbmserv.views.reader import page_scene
from pbmserv.views.texts import refusal_sentence

LONGEST_DRAFT = 1_000
"""Characters of a move that is being put together."""
QUICK_DRAFT = 200
"""Characters of a move that is worked out at once; a longer one has a thread."""
LONGEST_WORDS = 4_000
"""Characters that stay in the page while it is."""
SCENES = 500
"""Boards that are kept as they were shown, some 50 kB each."""
TOOLS = ("seal", "lock")
"""Tools for taps, in place of marking cells."""


@dataclass(frozen=True, slots=True)
class Look:
    """How somebody looks at a board.

    Attributes:
        draft: the move as it is put together so far.
        tap: the spot that was tapped now; "" for none.
        check: which results one's own markers explain is asked (``all``), or a ray's way (a port).
        words: what is to be said with the move.
        tool: what taps do: one of `TOOLS`; anything else marks cells.
        take: the tool that was chosen now; "" for none.
        step: after how many plies to show the board; ``None`` = as it is now.
    """

    draft: str = ""
    tap: str = ""
    check: str = ""
    words: str = ""
    tool: str = ""
    take: str = ""
    step: int | None = None


@dataclass(frozen=True, slots=True)
class BoardPage:
    """What the page shows.

    Attributes:
        key: see `Press`.
        trouble: why the draft, or what was sent, does not do; "" where it does.
        example: what would do instead; "" for none.
        scene: the board, or what the draft would make of it, or what a check has found.
        stands: the board as it is.
        undecided: userids of those who have not accepted yet.
        reports: what the coach has found for whom somebody asked; the reader's own box first.
        awaits_report: the coach is still at work.
        hint: what the reader was told who has asked for a hint, and done nothing since.
        plan: the reader's moves that wait for their turn, as `engine.plans` writes them.
        tap: where the reader has just tapped, or what they have checked; ``tool`` if they have
            chosen a tool, "" for none of these.
        tool: "seal" while taps seal cells, "lock" while they lock cells and lines, else "".
        step: after how many plies the board is shown; ``None`` = as it is now.
        steps: how many plies there are, as far as the reader may know.
    """

    token: str
    player_id: int
    userid: str
    scene: BoardScene
    stands: BoardScene
    key: str
    draft: str = ""
    trouble: str = ""
    example: str = ""
    undecided: tuple[str, ...] = ()
    declined: bool = False
    words: str = ""
    reports: tuple[Mapping[str, Any], ...] = ()
    awaits_report: bool = False
    hint: Mapping[str, Any] | None = None
    plan: str = ""
    tap: str = ""
    tool: str = ""
    step: int | None = None
    steps: int = 0

    at_once: ClassVar[bool] = False
    """A move is put together first."""

    @property
    def now(self) -> Any:
        """The view as it is."""
        return self.stands.view

    @property
    def others(self) -> list[str]:
        """Userids of all but the reader."""
        return [name for name in self.scene.names if name != self.userid]

    @property
    def is_running(self) -> bool:
        """Whether the board is neither over nor declined, and shown as it is now."""
        return self.scene.outcome is None and not self.declined and self.step is None

    @property
    def can_check(self) -> bool:
        """Whether the reader, who plays, can have their markers checked."""
        return isinstance(self.scene.game, Aided) and self.userid not in self.undecided

    @property
    def has_checked(self) -> bool:
        """Whether the reader asks just now which results their markers explain."""
        return self.tap == "all" and self.can_check and self.is_running

    @property
    def thinks(self) -> bool:
        """Whether nobody has to move but bots, which will have done so in a moment."""
        is_theirs = set() < set(self.scene.waiting) <= set(BOT_USERIDS)
        return self.is_running and is_theirs and not self.scene.your_turn


class Turns:
    """Lets each player have one page at a time worked out in a thread, of which there are few."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, player_id: int) -> asyncio.Lock:
        """Return what to hold meanwhile."""
        lock = self._locks.get(player_id)
        if lock is None:
            lock = self._locks[player_id] = asyncio.Lock()
        return lock


class _Kept(NamedTuple):
    """A board as it was shown to a seat.

    Attributes:
        stamp: see `_stamp`.
        asks_coach: see `reports.asks_coach`.
        steps: see `BoardPage`.
    """

    stamp: tuple[Any, ...]
    scene: BoardScene
    asks_coach: bool
    steps: int


class BoardPages:
    """Answers for the pages of boards.

    Attributes:
        turns: of the players whose pages are worked out.
    """

    def __init__(
        self,
        services: Services,
        database: Database,
        clock: Clock,
    ) -> None:
        self._services = services
        self._database = database
        self._clock = clock
        self._scenes: dict[tuple[int, Seat], _Kept] = {}
        self.turns = Turns()

    async def page(self, token: str, look: Look) -> BoardPage | None:
        """Return the page as its player sees it; ``None`` if the link is not, or no longer, good.

        Looks that work something out are counted as those of a program are.

        Raises:
            TooMany: the player looks too often.
        """
        link = read_link(self._services.mail_domain.ring, token, self._clock.now())
        if link is None or link.purpose is not Purpose.BOARD:
            return None
        if look.draft or look.tap or look.check or look.step is not None:
            self._services.traffic.looks(link.player)
        is_quick = not look.check and look.step is None and len(look.draft) <= QUICK_DRAFT
        if self._database.reads_at_once and is_quick:
            seen = self._kept_page(token)
            if seen is not None:
                return _looked(seen, look)
        async with self.turns.of(link.player):
            return await asyncio.to_thread(self.worked_out, token, look)

    async def look(self, token: str) -> BoardPage | None:
        """The same for a program, whose looks are counted.

        Raises:
            TooMany: it looks too often.
        """
        link = read_link(self._services.mail_domain.ring, token, self._clock.now())
        if link is not None and link.purpose is Purpose.BOARD:
            self._services.traffic.looks(link.player)
        return await self.page(token, Look())

    # -- looks -----------------------------------------------------------------------------

    def worked_out(self, token: str, look: Look) -> BoardPage | None:
        """Return the page as its player sees it; `None` if the link is not good."""
        with self._database.reading.connect() as connection:
            seen = self.seen(connection, token)
            if seen is None or look.step is None:
                return None if seen is None else _looked(seen, look)
            return self._stepped(connection, token, seen, look.step)

    def _stepped(
        self, connection: Connection, token: str, seen: BoardPage, step: int
    ) -> BoardPage | None:
        """Return the page as it was after so many plies; the newest one if there are fewer."""
        seat_and_board = self.sitter_of(connection, token)
        if seat_and_board is None:
            return None
        sitter, board = seat_and_board
        positions = known_to(self._services.positions.newest(connection, board), sitter.seat)
        if step >= len(positions) - 1:
            return seen
        scene = page_scene(connection, board, positions[step], sitter.seat)
        return replace(seen, scene=scene, stands=scene, step=step)

    def _kept_page(self, token: str) -> BoardPage | None:
        """The page without a draft, if that takes no more than to read the board's row."""
        with self._database.reading.connect() as connection:
            seat_and_board = self.sitter_of(connection, token)
        if seat_and_board is None:
            return None
        sitter, board = seat_and_board
        kept = self._scenes.get((board.id, sitter.seat))
        is_settled = kept is not None and not (kept.asks_coach or kept.scene.shut)
        if kept is None or not is_settled or kept.stamp != (*_stamp(board), False):
            return None
        return _of_board(token, board, sitter, kept, CoachPart())

    def seen(
        self, connection: Connection, token: str, before: Before | None = None
    ) -> BoardPage | None:
        """Return the page without a draft; ``None`` if the link is not good.

        Args:
            before: see `Positions.newest`.
        """
        seat_and_board = self.sitter_of(connection, token)
        if seat_and_board is None:
            return None
        sitter, board = seat_and_board
        seat = sitter.seat
        context = CommandContext(self._services, connection, VISITOR, self._clock.now())
        shut = board.status == BoardStatus.FINISHED and is_shut(context, board)
        stamp = (*_stamp(board), shut)
        positions = self._services.positions
        position = positions.newest(connection, board, before)
        positions.remember({board.id: position})
        kept = self._scenes.get((board.id, seat))
        if kept is None or kept.stamp != stamp:
            if len(self._scenes) >= SCENES:
                self._scenes.clear()
            stands = position.shut if shut else position
            scene = page_scene(connection, board, stands, seat)
            steps = len(known_to(position, seat)) - 1
            kept = _Kept(stamp, scene, asks_coach(position, seat), steps)
            self._scenes[board.id, seat] = kept
        asks = kept.asks_coach
        coach = coach_part(connection, board, position, seat) if asks else CoachPart()
        return _of_board(token, board, sitter, kept, coach)

    def sitter_of(self, connection: Connection, token: str) -> tuple[Sitter, BoardRow] | None:
        """Return the player who looks, and the board; ``None`` if the token is not good now."""
        link = read_link(self._services.mail_domain.ring, token, self._clock.now())
        if link is None or link.purpose is not Purpose.BOARD:
            return None
        board = boards.load(connection, link.about)
        sitter = board.sitter_of(link.player) if board else None
        if board is None or sitter is None or sitter.state != PlayerState.ACTIVE:
            return None
        return (sitter, board) if sitter.reply_epoch == link.epoch else None


def _stamp(board: BoardRow) -> tuple[Any, ...]:
    """What a board's scene is made of: its record has only ever more plies."""
    return board.plies, board.status, board.names, board.rated, board.options, board.terms


def _of_board(
    token: str, board: BoardRow, sitter: Sitter, kept: _Kept, coach: CoachPart
) -> BoardPage:
    declined = board.status == BoardStatus.DECLINED
    return BoardPage(
        token,
        sitter.player_id,
        sitter.userid,
        kept.scene,
        kept.scene,
        secrets.token_hex(8),
        undecided=() if declined else board.undecided,
        reports=coach.reports,
        awaits_report=coach.is_due,
        hint=coach.hint,
        plan=sitter.plan or "",
        declined=declined,
        steps=kept.steps,
    )


def known_to(newest: Position, seat: Seat) -> list[Position]:
    """Return the start of a board and the positions after each ply that a seat knows of.

    Plies that were taken back are left out, and those before a restart. Plies of others from which
    the seat learns nothing are left out, too: their number is private.
    """
    return [newest.at(0), *(one for one in newest.after(0) if one.is_news_for(seat))]


def _looked(seen: BoardPage, look: Look) -> BoardPage:
    """The page with what its reader has put together, or asked of their own markers."""
    scene, draft, trouble = seen.scene, look.draft.strip()[:LONGEST_DRAFT], ""
    words = look.words[:LONGEST_WORDS]
    if look.tap and isinstance(scene.game, Tappable):
        draft = scene.game.tapped(scene.view, draft, look.tap)[:LONGEST_DRAFT]
    try:
        if draft:
            scene = foreseen("preview", {"mover": scene.you, "move": draft}, scene)
        if look.check:  # of the draft's markers, too
            drawn = "" if look.check == "all" else look.check
            scene = foreseen("check", {"drawn": drawn}, scene)
    except MoveError as error:
        trouble = refusal_sentence(error.refusal, on_page=True)
    tap = look.tap or look.check or ("tool" if look.take else "")
    changed = replace(seen, scene=scene, draft=draft, words=words, trouble=trouble, tap=tap)
    return replace(changed, tool=tool_of(look.tool, look.take))


def tool_of(tool: str, take: str) -> str:
    """Return what taps do: one of `TOOLS`, or "" while they mark cells.

    Args:
        tool: the tool of the page that was tapped.
        take: the tool that was chosen there; "" for none.
    """
    chosen = take or tool
    return chosen if chosen in TOOLS else ""
