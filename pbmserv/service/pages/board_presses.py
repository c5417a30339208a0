"""Presses on the page of a board: a move, a command or words of its player."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace

from pbmserv.errors import Refusal
from pbmserv.service.boards import far_labels
from pbmserv.service.boards.board_page import BoardPage, BoardPages, Look, full_page
from pbmserv.service.core.page_contexts import PageContexts
from pbmserv.service.pages.page_requests import LINK_ENDED, PageRequest
from pbmserv.service.pages.play import Play
from pbmserv.store.delivery import inbox, outbox
from pbmserv.store.tables.mail import MailState
from pbmserv.views.texts import refusal_sentence

BOT_S = 3.0
"""Seconds that a page waits for a bot to move, so that it can show the bot's move."""
_SHOWN = frozenset({"board", "result", "report", "hint"})
"""Letters that say no more than the page shows."""


@dataclass(frozen=True, slots=True)
class Press:
    """A press, as a browser or a program sends it.

    Attributes:
        turn: the turn of the board that the page showed.
        key: random word of the page; a second press of the same page has the same one.
        command: a move, or any command of a reply, in one line.
        words: for the others at the board.
    """

    turn: int
    key: str
    command: str
    words: str = ""


@dataclass(frozen=True, slots=True)
class Pressed:
    """The outcome of a press.

    Attributes:
        refused: the page with the reason, if it was refused.
        code: of that `Refusal`.
        by_letter: a letter says more than the page does.
        thinks: a bot is about to move, or the coach is at work.
    """

    refused: BoardPage | None = None
    code: str = ""
    by_letter: bool = False
    thinks: bool = False


class BoardPresses:
    """Carries out presses.

    Args:
        pages: shows the boards.
        play: carries out commands.
    """

    def __init__(self, contexts: PageContexts, pages: BoardPages, play: Play) -> None:
        self._contexts = contexts
        self._pages = pages
        self._play = play

    async def press(self, token: str, press: Press) -> Pressed | None:
        """Carry out a press; `None` if the link is not good.

        Raises:
            TooMany: its player has sent too much; nothing was done.
            StillWorking: it is stored, and takes long.
            NotDone: our code failed; nothing has changed.
        """
        request = await asyncio.to_thread(self._request, token, press)
        if request is None:
            return None
        mail_id = await self._play.press(request)
        if mail_id == LINK_ENDED:
            return None
        outcome = await asyncio.to_thread(self._outcome, token, press, mail_id)
        if outcome is not None and outcome.thinks:
            await self._play.until(lambda: not self._thinks(token, press), BOT_S)
        return outcome

    def _request(self, token: str, press: Press) -> PageRequest | None:
        with self._contexts.open() as context:
            seated = self._pages.seat_of(context, token)
        if seated is None:
            return None
        board, sitter = seated
        command = press.command
        if press.words.strip() and not command.strip():
            command = "chat"
        return PageRequest(
            sitter.player_id,
            sitter.reply_epoch,
            board.id,
            press.turn,
            press.key,
            command,
            press.words,
        )

    def _outcome(self, token: str, press: Press, mail_id: int) -> Pressed | None:
        """Return the outcome of a press, by the letters that answer its inbox row."""
        with self._contexts.open() as context:
            seated = self._pages.seat_of(context, token)
            if seated is None:
                return None
            page = full_page(context, token, *seated)
            letters = outbox.answers_to(context.connection, mail_id, page.player_id)
            row = None if letters else inbox.get(context.connection, mail_id)
        for letter, words in letters:
            if letter == "refusal":
                return _refused(page, press, Refusal(**words["refusal"]))
            if letter == "submitted" and words.get("far"):  # a page has no reply to ask for
                refusal = far_labels.far_cells_refused(words["far"], words["move"]).refusal
                return _refused(page, press, refusal)
        if row is not None and row.state != MailState.DONE:  # too many refusals for one more letter
            return _refused(page, press, Refusal("unsaid"))
        by_letter = any(letter not in _SHOWN for letter, _ in letters)
        return Pressed(by_letter=by_letter, thinks=page.thinks or _asks_coach(page, press))

    def _thinks(self, token: str, press: Press) -> bool:
        page = self._pages.make_page(token, Look())
        return page is not None and (page.thinks or _asks_coach(page, press))


def _refused(page: BoardPage, press: Press, refusal: Refusal) -> Pressed:
    shown = replace(
        page,
        trouble=refusal_sentence(refusal, on_page=True),
        example=refusal.example,
        draft=press.command,
        words=press.words,
    )
    return Pressed(shown, refusal.code)


def _asks_coach(page: BoardPage, press: Press) -> bool:
    return press.command.strip().lower() in {"report", "hint"} and page.awaits_report
