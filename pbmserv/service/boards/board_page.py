"""A board's page, as its player sees it; `pages.board_presses` carries out what the player sends.

The token of the reply address of the board's letters opens the page, so the page can do what a
reply can. The page's own address has the token of a visit. Looking changes nothing: a tap leads
back to the page with a longer draft of a move, and only a sent move is played.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar
from weakref import WeakValueDictionary

from pbmserv.engine.position import Position
from pbmserv.engine.protocol import Aided, Placing, Tappable, implements
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.errors import MoveError
from pbmserv.mail.reply_address import Purpose
from pbmserv.service.boards.listed_moves import ListedMove, known_to, moves_so_far
from pbmserv.service.boards.newest_words import Saying, newest_words
from pbmserv.service.boards.reports import coach_part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.core.secret_boxes import is_shut
from pbmserv.service.time.timekeeping import bank_words
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.boards.positions import Before
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import RUNNING, BoardStatus
from pbmserv.views.board import BoardScene, checked_scene, previewed_scene
from pbmserv.views.shown_boards import page_scene
from pbmserv.views.texts import refusal_sentence

LONGEST_DRAFT = 1_000
"""Most characters of a draft."""
LONGEST_WORDS = 4_000
"""Most characters of words for the others in a draft."""
TOOLS = ("seal", "lock")
"""Tools of the page: a tap with one of them does not mark a cell."""


@dataclass(frozen=True, slots=True)
class Look:
    """A player's request for a board's page.

    Attributes:
        draft: the move so far.
        tap: the spot that was tapped last; "" for none.
        check: ``all`` to check the markers; a port to draw its ray; "" for neither.
        words: words for the others.
        tool: one of `TOOLS`; with anything else, taps mark cells.
        take: the tool that was chosen last; "" for none.
        step: number of plies after which to show the board; ``None`` for the newest.
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
    """A board's page for one of its players.

    Attributes:
        token: the token of the page.
        player_id: row id of the reader.
        userid: userid of the reader.
        scene: the board, after the draft or with the result of a check.
        undrafted_scene: the board without the draft.
        key: a random word, by which a page that is sent twice has an effect once.
        draft: the move so far.
        trouble: why the draft or the sent move is refused; "" if it is not.
        example: a move that would be accepted instead; "" for none.
        undecided: userids of the players who have not accepted yet.
        declined: whether the challenge was declined.
        words: words for the others.
        reports: the coach's reports, that on the reader's own box first.
        awaits_report: whether the coach still works on a request of the reader.
        hint: the hint that the reader got last, if the reader has not moved since.
        plan: the reader's queued moves, as `engine.plans` writes them.
        tap: the spot that was tapped or checked last; ``tool`` after a choice of tools; "" for
            none of these.
        tool: "seal" while taps seal cells, "lock" while they lock cells and lines, else "".
        step: number of plies after which the board is shown; ``None`` for the newest.
        steps: number of plies, as far as the reader may know.
        placement: a placement that was drawn for the reader; "" if nothing is to be placed now.
        talk: the newest words at the board; empty where boards are listed.
        moves: the moves so far, newest first; empty where boards are listed.
        bank: the time on the reader's clock, as letters say it; `None` if the board has no banks.
    """

    token: str
    player_id: int
    userid: str
    scene: BoardScene
    undrafted_scene: BoardScene
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
    placement: str = ""
    talk: tuple[Saying, ...] = ()
    moves: tuple[ListedMove, ...] = ()
    bank: Mapping[str, Any] | None = None

    at_once: ClassVar[bool] = False
    """Taps change a draft, and are not moves by themselves."""

    @property
    def now(self) -> Any:
        """The view without the draft."""
        return self.undrafted_scene.view

    @property
    def others(self) -> list[str]:
        """Userids of the other players."""
        return [name for name in self.scene.names if name != self.userid]

    @property
    def is_running(self) -> bool:
        """Whether the board is neither over nor declined, and shown as it is now."""
        return self.scene.outcome is None and not self.declined and self.step is None

    @property
    def can_check(self) -> bool:
        """Whether the reader has markers that can be checked; before a placement there are none."""
        is_on = self.userid not in self.undecided and not self.placement
        return implements(self.scene.game, Aided) and is_on

    @property
    def has_checked(self) -> bool:
        """Whether the page shows the result of a check."""
        return self.tap == "all" and self.can_check and self.is_running

    @property
    def thinks(self) -> bool:
        """Whether the page waits for the moves of bots alone."""
        is_theirs = set() < set(self.scene.waiting) <= set(BOT_USERIDS)
        return self.is_running and is_theirs and not self.scene.your_turn


class PlayerLocks:
    """A lock for each player, who gets one page at a time made in a thread: threads are few."""

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[int, asyncio.Lock] = WeakValueDictionary()

    def of(self, player_id: int) -> asyncio.Lock:
        """Return the lock to hold while a page of this player is made."""
        lock = self._locks.get(player_id)
        if lock is None:
            lock = self._locks[player_id] = asyncio.Lock()
        return lock


class BoardPages:
    """Answers for the pages of boards.

    Attributes:
        locks: those of the players whose pages are made.
    """

    def __init__(self, contexts: PageContexts) -> None:
        self._contexts = contexts
        self.locks = PlayerLocks()

    async def page(self, token: str, look: Look) -> BoardPage | None:
        """Return the page for its player; ``None`` if the link is not valid.

        Requests with work to do are counted like those of programs.

        Raises:
            TooMany: the player looks too often.
        """
        link = self._contexts.link(token, Purpose.BOARD)
        if link is None:
            return None
        if look.draft or look.tap or look.check or look.step is not None:
            self._contexts.services.traffic.count("look", str(link.player))
        async with self.locks.of(link.player):
            return await asyncio.to_thread(self.make_page, token, look)

    async def page_for_program(self, token: str) -> BoardPage | None:
        """Return the page for a program, whose requests are counted even without a draft.

        Raises:
            TooMany: it looks too often.
        """
        link = self._contexts.link(token, Purpose.BOARD)
        if link is not None:
            self._contexts.services.traffic.count("look", str(link.player))
        return await self.page(token, Look())

    def make_page(self, token: str, look: Look) -> BoardPage | None:
        """Return the page for its player from the record; ``None`` if the link is not valid."""
        with self._contexts.open() as context:
            seated = self.seat_of(context, token)
            if seated is None:
                return None
            page = full_page(context, token, *seated, look.step)
            return _with_look(page, look) if look.step is None else page

    def seat_of(self, context: CommandContext, token: str) -> tuple[BoardRow, Sitter] | None:
        """Return the board of a token and its reader's seat; ``None`` if the token is not valid."""
        link = self._contexts.link(token, Purpose.BOARD)
        if link is None:
            return None
        board = boards.load(context.connection, link.about)
        sitter = board.sitter_of(link.player) if board else None
        if board is None or sitter is None or sitter.state != PlayerState.ACTIVE:
            return None
        return (board, sitter) if sitter.reply_epoch == link.epoch else None


def full_page(
    context: CommandContext, token: str, board: BoardRow, sitter: Sitter, step: int | None = None
) -> BoardPage:
    """Return the page without a draft, with talk, moves and the reader's clock.

    Args:
        step: number of plies after which to show the board; ``None``, or more plies than there
            are, for the newest.
    """
    newest = _newest(context, board)
    shown = _shown(context, board, newest)
    page = _new_page(context, token, board, sitter, newest, shown)
    positions = known_to(shown, sitter.seat)
    if step is not None and step < page.steps:
        scene = page_scene(context.connection, board, positions[step], sitter.seat)
        page = replace(page, scene=scene, undrafted_scene=scene, step=step)
    moves = moves_so_far(positions, board.names, sitter.seat)
    if board.seats == 1:
        return replace(page, moves=moves)
    bank = None
    if board.status == BoardStatus.ACTIVE:
        bank = bank_words(context, board, board.clocks, sitter.seat).get("bank")
    return replace(page, moves=moves, talk=newest_words(context, board, sitter), bank=bank)


def listed_page(
    context: CommandContext,
    token: str,
    board: BoardRow,
    sitter: Sitter,
    before: Before | None = None,
) -> BoardPage:
    """Return the page without draft, talk, moves and clock, as lists of boards show it.

    Args:
        token: the token of the page.
        before: see `Positions.newest`.
    """
    newest = _newest(context, board, before)
    return _new_page(context, token, board, sitter, newest, _shown(context, board, newest))


def _newest(context: CommandContext, board: BoardRow, before: Before | None = None) -> Position:
    positions = context.services.positions
    newest = positions.newest(context.connection, board, before)
    positions.remember({board.id: newest})
    return newest


def _shown(context: CommandContext, board: BoardRow, position: Position) -> Position:
    """Return the newest position as its player may see it."""
    is_hidden = board.status == BoardStatus.FINISHED and is_shut(context, board)
    return position.shut if is_hidden else position


def _new_page(
    context: CommandContext,
    token: str,
    board: BoardRow,
    sitter: Sitter,
    newest: Position,
    shown: Position,
) -> BoardPage:
    """Return the page without a draft, as lists of boards show it.

    Args:
        shown: the newest position as its player may see it.
    """
    scene = page_scene(context.connection, board, shown, sitter.seat)
    coach = coach_part(context.connection, board, newest, sitter.seat)
    declined, game, placement = board.status == BoardStatus.DECLINED, scene.game, ""
    if implements(game, Placing) and board.status in RUNNING:
        rules: Any = game
        placement = rules.placement(scene.view, Rng(secrets.token_bytes(32), 0))
    return BoardPage(
        token,
        sitter.player_id,
        sitter.userid,
        scene=scene,
        undrafted_scene=scene,
        key=secrets.token_hex(8),
        undecided=() if declined else board.undecided,
        reports=coach.reports,
        awaits_report=coach.is_due,
        hint=coach.hint,
        plan=sitter.plan or "",
        declined=declined,
        steps=len(known_to(newest, sitter.seat)) - 1,
        placement=placement,
    )


def _with_look(page: BoardPage, look: Look) -> BoardPage:
    """Return the page with the reader's draft, or with the check of their markers."""
    scene, draft, trouble = page.scene, look.draft.strip()[:LONGEST_DRAFT], ""
    words = look.words[:LONGEST_WORDS]
    if look.tap and isinstance(scene.game, Tappable):
        draft = scene.game.tapped(scene.view, draft, look.tap)[:LONGEST_DRAFT]
    try:
        if draft and scene.you is not None:
            scene = previewed_scene(scene, scene.you, draft)
        if look.check:  # of the draft's markers, too
            scene = checked_scene(scene, "" if look.check == "all" else look.check)
    except MoveError as error:
        trouble = refusal_sentence(error.refusal, on_page=True)
    tap = look.tap or look.check or ("tool" if look.take else "")
    changed = replace(page, scene=scene, draft=draft, words=words, trouble=trouble, tap=tap)
    return replace(changed, tool=tool_of(look.tool, look.take))


def tool_of(tool: str, take: str) -> str:
    """Return what taps do: one of `TOOLS`, or "" while they mark cells.

    Args:
        tool: the tool of the page that was tapped.
        take: the tool that was chosen there; "" for none.
    """
    chosen = take or tool
    return chosen if chosen in TOOLS else ""
