"""A player's own page: boards, digest, preferences, addresses, absence, and leaving.

Its token is in letters to the player, and can do for some days what a reply to them can. A press is
a command, with the same letters as by mail.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from typing import Any

from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refusal
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.mail.visits import last_day, visit_of
from pbmserv.service.accounts import preferences
from pbmserv.service.boards.board_page import BoardPage, BoardPages, listed_page
from pbmserv.service.core.budget import Budget, TooMuch
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.pages.calendar import calendar_token
from pbmserv.service.pages.form_commands import command_of
from pbmserv.service.pages.new_games import NewGames, new_games
from pbmserv.service.pages.page_forms import PageLinkForm
from pbmserv.service.pages.page_requests import LINK_ENDED, PageRequest
from pbmserv.service.pages.play import Play
from pbmserv.service.schedule.deadlines import deadline_of
from pbmserv.service.time.localtime import local_date
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards, player_boards
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.boards import RUNNING
from pbmserv.views.shown_boards import show_or_log
from pbmserv.views.texts import refusal_sentence

MOST_BOARDS = 60
"""Most running boards that the page lists, the newest ones."""
MOST_DRAWN = 10
"""Most boards that wait for the reader and are drawn."""


@dataclass(frozen=True, slots=True)
class PersonalPage:
    """A player's page.

    Attributes:
        key: random word of the page; a second press of the same page has the same one.
        waiting: boards that wait for the reader; `others` has the rest.
        unshown: numbers of boards that their game fails to show.
        prefs: words of the letter ``prefs``.
        today: the reader's local date.
        expires: the last day of the link.
        new_games: facts from which the player can start a game.
        calendar: the token of the calendar of the player's deadlines.
        deadlines: when the player's time at a board is over, in ISO 8601, by board number.
        trouble, example: the reason why the last press was refused, and a press that would work.
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
    new_games: NewGames
    calendar: str
    deadlines: Mapping[int, str]
    trouble: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """The outcome of a press.

    Attributes:
        refused: the page with the reason, if it was refused.
        is_open: the link is still good.
    """

    refused: PersonalPage | None = None
    is_open: bool = True


class PersonalPages:
    """Answers for players' own pages.

    Args:
        board_pages: shows the running boards.
        play: carries out commands.
    """

    def __init__(self, contexts: PageContexts, board_pages: BoardPages, play: Play) -> None:
        self._contexts = contexts
        self._boards = board_pages
        self._play = play

    async def page(self, token: str) -> PersonalPage | None:
        """Return the page as its player sees it; ``None`` if the link is not, or no longer, good.

        Raises:
            TooMany: the player looks too often.
        """
        link = self._contexts.link(token, Purpose.PAGE)
        if link is None:
            return None
        self._contexts.services.traffic.count("look", str(link.player))
        async with self._boards.locks.of(link.player):
            return await asyncio.to_thread(self._page, token)

    async def ask_link(self, player_name: str) -> None:
        """Have a link mailed to a player, by userid or address.

        It does not wait for the result: the time would tell whether the player exists.
        """
        await self._play.leave(PageLinkForm(player_name.strip().lower()[:254]))

    async def press(self, token: str, fields: Mapping[str, str]) -> Change | None:
        """Carry out a form; return `None` if the link is not good.

        Args:
            fields: of the form; ``do`` says which form it is.

        Raises:
            KeyError: there is no such form.
        """
        page_request = await asyncio.to_thread(self._request, token, fields)
        if page_request is None:
            return None
        mail_id = await self._play.press(page_request)
        if mail_id == LINK_ENDED:
            return Change(is_open=False)
        return await asyncio.to_thread(self._outcome, token, mail_id)

    # -- looks -----------------------------------------------------------------------------

    def _player(self, context: CommandContext, token: str) -> tuple[Player, ReplyAddress] | None:
        """Return the player of a token and its link; `None` if the link has ended."""
        link = self._contexts.link(token, Purpose.PAGE)
        if link is None or context.now.date() > last_day(link):
            return None
        player = players.active_of(context.connection, link)
        return None if player is None else (player, link)

    def _page(self, token: str) -> PersonalPage | None:
        with self._contexts.open() as context:
            player_and_link = self._player(context, token)
            return None if player_and_link is None else _shown(context, *player_and_link, token)

    # -- presses ---------------------------------------------------------------------------

    def _request(self, token: str, fields: Mapping[str, str]) -> PageRequest | None:
        with self._contexts.open() as context:
            player_and_link = self._player(context, token)
            if player_and_link is None:
                return None
            player, _ = player_and_link
            present = preferences.as_words(context, player, set_now=False)
        command = command_of(player.userid, fields, present)
        words = fields.get("words", "") if fields["do"] == "challenge" else ""
        key = fields.get("key", "")
        return PageRequest(player.id, player.reply_epoch, 0, 0, key, command, words)

    def _outcome(self, token: str, mail_id: int) -> Change:
        """Return the outcome of a form, by the letters that answer its inbox row."""
        with self._contexts.open() as context:
            player_and_link = self._player(context, token)
            if player_and_link is None:  # the command has ended the link
                return Change(is_open=False)
            player, link = player_and_link
            for letter, words in outbox.answers_to(context.connection, mail_id, player.id):
                if letter == "refusal":
                    refusal = Refusal(**words["refusal"])
                    page = _shown(context, player, link, token)
                    return Change(replace(page, trouble=refusal_sentence(refusal)))
        return Change()


def _shown(context: CommandContext, player: Player, link: ReplyAddress, token: str) -> PersonalPage:
    shown, unshown = _boards_of(context, player)
    waiting = [page for page in shown if page.scene.your_turn or player.userid in page.undecided]
    others = [page for page in shown if page not in waiting]
    return PersonalPage(
        token,
        player.userid,
        secrets.token_hex(8),
        tuple(waiting),
        tuple(others),
        tuple(unshown),
        preferences.as_words(context, player, set_now=False),
        tuple(players.addresses_of(context.connection, player.id)),
        local_date(context.now, zone(player.tz)),
        last_day(link),
        new_games(context, player),
        calendar_token(context, player),
        _deadlines(context, player, shown),
    )


def _deadlines(context: CommandContext, player: Player, shown: list[BoardPage]) -> dict[int, str]:
    deadlines = {}
    for page in shown:
        board = boards.load(context.connection, page.scene.number)
        at = None if board is None else deadline_of(context, board, player.id)
        if at is not None:
            deadlines[page.scene.number] = at.isoformat()
    return deadlines


def _boards_of(context: CommandContext, player: Player) -> tuple[list[BoardPage], list[int]]:
    """Return the running boards, each with the link of its letters, and the numbers of boards that
    cannot be shown, or not within the budget of a page."""
    connection, ring = context.connection, context.services.mail_domain.ring
    budget = Budget()
    shown, unshown = list[BoardPage](), list[int]()
    for number in player_boards.of_player(connection, player.id, RUNNING, most=MOST_BOARDS):
        board = boards.load(connection, number)
        sitter = board.sitter_of(player.id) if board is not None else None
        if board is None or sitter is None:  # an operator has just given the seat away
            continue
        link = ReplyAddress(Purpose.BOARD, player.id, number, 0, player.reply_epoch)
        visit = visit_of(link, context.now)
        assert visit is not None
        show = partial(listed_page, context, ring.token(visit), board, sitter, budget.replay)
        try:
            budget.check()
            page = show_or_log(number, board.game, show)
        except TooMuch:
            page = None
        if page is None:
            unshown.append(number)
        else:
            shown.append(page)
    return shown, unshown
