"""Makes the bytes of a letter from its row in the outbox.

The row names the letter, its reader, the board and the ply; all else is in the board's record and
in the row's words. So each attempt to send a letter sends the same octets, unless something that it
shows, such as its reader's settings, has changed meanwhile.
"""

from __future__ import annotations

import hashlib
import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.engine.registry import Registry
from pbmserv.errors import ServerFault
from pbmserv.letters.attachments import attachments
from pbmserv.letters.lengths import (
    LONGEST,
    LONGEST_TINY_TEXT,
    ROOM,
    ROOM_FOR_STRANGERS,
    Lengths,
    Room,
)
from pbmserv.letters.mime import Headers, build
from pbmserv.letters.proof import (
    MOST_FIELDS,
    Growths,
    opened_record,
    proof_of,
    proofs_of_searches,
)
from pbmserv.letters.reader import Reader
from pbmserv.letters.rendering import LetterTexts, render_letter, render_part
from pbmserv.letters.replies import answer_to, unsubscribe_addresses
from pbmserv.letters.shortening import cut_to_room, seated_boards, without_repeats
from pbmserv.letters.template_values import TemplateValues
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import OF_BOARDS
from pbmserv.mail.visits import page_link
from pbmserv.store.accounts.players import Player, by_address, by_id
from pbmserv.store.boards.positions import Positions
from pbmserv.store.bots import finished_reports as coach_results
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.views.game_templates import with_defaults
from pbmserv.views.shown_boards import ShownBoard, ShownBoards, show_or_log
from pbmserv.views.texts import render_text

T = TypeVar("T")

log = logging.getLogger("pbmserv.send")


@dataclass(frozen=True, slots=True)
class _Draft:
    """A letter without its headers.

    Attributes:
        shown: the board that it is about, if any.
        title: the topic of its thread.
    """

    reader: Reader
    shown: ShownBoard | None
    title: str
    texts: LetterTexts


class Composer:
    """Makes letters.

    Args:
        mail_domain: the server's address and keys.
        registry: the games.
        positions: replays boards.
        web_url: base of links to pages; "" without pages.
    """

    def __init__(
        self, mail_domain: MailDomain, registry: Registry, positions: Positions, web_url: str
    ) -> None:
        self.mail_domain = mail_domain
        self.positions = positions
        self._web_url = web_url
        # The word by which feedback loops know this server.
        self._sender_mark = hashlib.sha256(mail_domain.domain.encode()).hexdigest()[:10]
        self._growths: Growths = {}
        self._template_values = TemplateValues(mail_domain, registry, web_url)

    def bytes_of(self, boards: ShownBoards, row: QueuedLetter) -> bytes:
        """Return the mail, ready for the relay but for its signature.

        Raises:
            ServerFault: the row names a board that does not exist, or is so old that its words
                were deleted.
        """
        draft = self._compose(boards, row)
        reader, texts = draft.reader, draft.texts
        headers = self._headers(row, draft)
        if headers.is_brief:
            return build(headers, texts.text, "")
        html = texts.html if reader.form == "html" else ""
        files = attachments(boards.connection, row, reader.player)
        opened = tuple(reader.opened.values())
        text = _cut(texts.text)
        raw = build(headers, text, html, (*files, *opened))
        if len(raw) > LONGEST and html and not files:
            return build(headers, text, "", opened)
        return raw

    def _headers(self, row: QueuedLetter, draft: _Draft) -> Headers:
        reader, shown = draft.reader, draft.shown
        thread = ""  # the Message-ID of the first letter about this board to this seat
        if shown and (shown.seat is not None or kind_of(row.letter).to_followers):
            board = shown.board
            thread = self.mail_domain.letter_id(board.id, 0, shown.seat, board.thread)
        root = "" if thread == row.message_id else thread
        origin = "answer" if row.in_reply_to else "news"
        game = shown.board.game if shown else "server"
        is_brief = _is_tiny(row, reader)
        boards = list(reader.proofs.values())
        if is_brief:
            records = [proof.tiny_field for proof in boards]
        else:  # no later letter repeats the pledge of a search, as letters about a board do
            searches = proofs_of_searches(row.letter, row.words)
            records = [proof.field for proof in searches] + [proof.field for proof in boards]
        return Headers(
            server=self.mail_domain.address,
            to=row.recipient,
            reply_to=reader.reply_to,
            subject=draft.texts.subject,
            message_id=row.message_id,
            in_reply_to=row.in_reply_to or root,
            references=tuple(dict.fromkeys(filter(None, (root, row.in_reply_to)))),
            thread=thread,
            topic=draft.title if thread else "",
            date=row.created_at,
            list_id=f"{self.mail_domain.local}.{self.mail_domain.domain}",
            list_unsubscribe=unsubscribe_addresses(
                self.mail_domain, self._web_url, row, reader.player
            ),
            auto_submitted="auto-replied" if row.in_reply_to else "auto-generated",
            # Feedback loops count complaints by these words. They are in Gmail's form, and say
            # nothing about the reader.
            feedback_id=f"{row.letter}:{game}:{origin}:{self._sender_mark}",
            is_brief=is_brief,
            records=tuple(records[:MOST_FIELDS]),
        )

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Return the text, and the HTML if there is any, with which to compare quoted passages.

        Return nothing if the letter cannot be made again, because its words were deleted, or for
        example because a template has changed. Its reader's answer must be read nevertheless.
        """
        draft = self._made_again(self._compose, connection, row)
        if draft is None:
            return ()
        texts = draft.texts
        return (texts.text, texts.html) if draft.reader.form == "html" else (texts.text,)

    def octets(self, connection: Connection, row: QueuedLetter) -> bytes:
        """Return the mail that an attempt to send it would make now, without its signature.

        Return nothing if it cannot be made again, see `texts`.
        """
        return self._made_again(self.bytes_of, connection, row) or b""

    def _made_again(
        self,
        make: Callable[[ShownBoards, QueuedLetter], T],
        connection: Connection,
        row: QueuedLetter,
    ) -> T | None:
        """Return a letter that *make* makes again. If that fails, log it and return `None`."""
        if not row.message_id:
            return None
        try:
            return make(ShownBoards(connection, self.positions), row)
        except SQLAlchemyError:
            raise
        except (Exception, SystemExit):  # rules of games may raise anything
            log.exception("a letter cannot be made once more", extra={"letter": row.id})
            return None

    def _compose(self, boards: ShownBoards, row: QueuedLetter) -> _Draft:
        if not row.message_id:
            raise ServerFault(f"letter {row.id} is too old: its words were deleted")
        player = None if row.player_id is None else by_id(boards.connection, row.player_id)
        shown = boards.shown(row.board_id, row.ply, row.seat, player)
        reader = self._reader(boards, row, player, shown)
        if shown is not None:
            self._prove(boards, row.letter, shown, reader)
        values = self._values_of(boards, row, shown, reader)
        render = partial(_tiny if _is_tiny(row, reader) else render_letter, row.letter, values)
        texts = with_defaults(shown.board.game, render) if shown else render()
        return _Draft(reader, shown, values["title"], texts)

    def _reader(
        self,
        boards: ShownBoards,
        row: QueuedLetter,
        player: Player | None,
        shown: ShownBoard | None,
    ) -> Reader:
        """Return the reader of a letter, with the address for answers."""
        answer = answer_to(row, player)
        if player is not None and answer is not None and answer.purpose in OF_BOARDS:
            played = shown or self._only_board(boards, row, player)
            if played is not None and played.reply is not None:
                answer = played.reply
        reply_to = self.mail_domain.address_of(answer) if answer else self.mail_domain.address
        # People who have proved nothing may be players, who perhaps want plain text.
        players = [player] if player else by_address(boards.connection, row.recipient)
        form = players[0].format if len(players) == 1 else "html"
        return Reader(player, answer, reply_to, form)

    def _values_of(
        self, boards: ShownBoards, row: QueuedLetter, shown: ShownBoard | None, reader: Reader
    ) -> dict[str, Any]:
        """Return the values of a letter's templates."""
        values = self._template_values.of_letter(row.letter, row.words, shown, reader)
        if not values["browser"]:
            # The letter that brings this link has no need of it in its frame.
            name = "own_page" if row.letter == "page-link" else "browser"
            values[name] = self._own_page(row, reader)
        if kind_of(row.letter).waits_for_coach:
            values |= _coach_values(boards, row.words, row.board_id, row.ply, row.seat)
        elif row.letter == "summary":
            values |= self._summary(boards, row, reader)
        elif kind_of(row.letter).has_entries:
            values |= self._entries(boards, row, reader)
        if len(reader.proofs) == 1 and reader.form != "spoken":
            values["proof"] = next(iter(reader.proofs.values()))
            values["opened"] = bool(reader.opened)
        if row.letter == "seek" and reader.form != "spoken":
            values["proof"] = next(iter(proofs_of_searches(row.letter, row.words)), None)
        values["drawn_games"] = frozenset(
            boards.board(board).game for board in _boards_in(row) if board is not None
        )
        return values

    def _own_page(self, row: QueuedLetter, reader: Reader) -> str:
        """Return the address of the player's own page; ``""`` if the letter does not name it."""
        player, answer = reader.player, reader.answer
        is_of_boards = answer is not None and answer.purpose in OF_BOARDS
        if player is None or not is_of_boards or not self._web_url:
            return ""
        link = page_link(player.id, player.reply_epoch, row.created_at)
        return f"{self._web_url}/mine/{self.mail_domain.ring.token(link)}"

    # -- letters that contain others -----------------------------------------------------

    def _summary(self, boards: ShownBoards, row: QueuedLetter, reader: Reader) -> dict[str, Any]:
        """Return the values of an answer to several commands."""
        most = ROOM_FOR_STRANGERS if reader.player is None else ROOM
        lines = self._lines(boards, without_repeats(row.words["lines"]), reader, most)
        lines = cut_to_room(lines, most)
        done = sum(line["status"] == "done" for line in lines)
        return {"lines": lines, "done": done, "numbers": seated_boards(row.words["lines"])}

    def _entries(self, boards: ShownBoards, row: QueuedLetter, reader: Reader) -> dict[str, Any]:
        """Return the values of a letter with entries for several boards, such as a digest."""
        waiting, news = row.words["waiting"], row.words["news"]
        parts = [*waiting, *news]
        room = Room(ROOM, len(parts))
        # The first ones matter most, so they come last and get the room that the others leave.
        texts = [self._part(boards, part, reader, room) for part in reversed(parts)][::-1]
        reader.proofs = dict(reversed(reader.proofs.items()))  # of which a letter has `MOST_FIELDS`
        return {
            "waiting": texts[: len(waiting)],
            "news": texts[len(waiting) :],
            "keys": sorted({boards.board(part["board"]).game for part in waiting}),
        }

    def _lines(
        self,
        boards: ShownBoards,
        lines: Sequence[Mapping[str, Any]],
        reader: Reader,
        most: Lengths,
    ) -> list[dict[str, Any]]:
        """Return the lines of a summary with their parts rendered.

        A board is drawn once, at the last command about it. A player who asked for a board several
        times sees it once.
        """
        room = Room(most, sum(len(line["parts"]) for line in lines))
        drawn: set[tuple[object, object]] = set()
        rendered = []
        for line in reversed(lines):
            parts = []
            for part in reversed(line["parts"]):
                # A part without a board may hold an explanation, which is needed once only.
                has_board = part["board"] is not None
                key = (part["board"], part["seat"]) if has_board else (part["letter"], None)
                if key not in drawn or part["letter"] != "show":
                    parts.append(self._part(boards, part, reader, room, brief=key in drawn))
                if not kind_of(part["letter"]).beyond_record:
                    drawn.add(key)
            rendered.append({**line, "parts": parts[::-1]})
        return rendered[::-1]

    def _part(
        self,
        boards: ShownBoards,
        part: Mapping[str, Any],
        reader: Reader,
        room: Room,
        *,
        brief: bool = False,
    ) -> LetterTexts:
        """Return a part of a letter. If its board cannot be shown, the part says only that.

        Args:
            boards: the boards of the letter.
            part: letter, words, board, ply and seat.
            reader: the reader.
            room: the room that is left in the letter; the part takes its own from it.
            brief: whether the board is drawn in another part.
        """
        share = room.next_share()
        show = partial(self._board_part, boards, part, reader, share, brief=brief)
        board = part["board"]
        if board is None:
            texts = show()
        else:
            shown = show_or_log(board, boards.board(board).game, show)
            texts = shown or render_part("unshown", {"words": {"board": board}}, share)
        room.take(texts.lengths)
        return texts

    def _board_part(
        self,
        boards: ShownBoards,
        part: Mapping[str, Any],
        reader: Reader,
        share: Lengths,
        *,
        brief: bool,
    ) -> LetterTexts:
        place = part["board"], part["ply"], part["seat"]
        shown = boards.shown(*place, reader.player)
        if shown is not None:
            self._prove(boards, part["letter"], shown, reader)
        values = self._template_values.of_letter(part["letter"], part["words"], shown, reader)
        if kind_of(part["letter"]).waits_for_coach:
            values |= _coach_values(boards, part["words"], *place)
        draw = partial(render_part, part["letter"], {**values, "brief": brief}, share)
        return with_defaults(shown.board.game, draw) if shown else draw()

    def _prove(self, boards: ShownBoards, letter: str, shown: ShownBoard, reader: Reader) -> None:
        """Note the hashes of a board for the letter, and the file with which a result opens
        them."""
        proof = proof_of(shown, self._growths)
        reader.proofs[proof.board] = proof
        if letter == "result" and (opened := opened_record(boards.connection, shown)):
            reader.opened[proof.board] = opened

    def _only_board(
        self, boards: ShownBoards, row: QueuedLetter, player: Player | None
    ) -> ShownBoard | None:
        """Return the board of a summary that shows only one, so that a reply can move there."""
        parts = [p for line in row.words.get("lines", ()) for p in line["parts"] if p["board"]]
        if len({part["board"] for part in parts}) != 1:
            return None
        board, ply, seat = (parts[-1][name] for name in ("board", "ply", "seat"))
        show = partial(boards.shown, board, ply, seat, player)
        return show_or_log(board, boards.board(board).game, show)


def _is_tiny(row: QueuedLetter, reader: Reader) -> bool:
    """Return whether a letter about a turn must be as short as can be, for an expensive link."""
    is_of_turn = kind_of(row.letter).tells_turn and row.words.get("event") in {"moved", "news"}
    return reader.form == "tiny" and is_of_turn and row.seat is not None


def _cut(text: str) -> str:
    """Return a text of a length that can be mailed; only a game that says far too much has more."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST].rpartition(chr(10))[0]}\n\nThe rest is left out.\n"


def _tiny(letter: str, values: Mapping[str, Any]) -> LetterTexts:
    """Return a letter about a turn without help, links and the legend, which its reader knows.

    A board that would make it too long is left out; its reader can ask for it.
    """
    whole = render_letter(letter, values)
    for drawn in (True, False):
        words = {**values, "headline": whole.headline, "drawn": drawn}
        text = re.sub(r"\n\n+", "\n", render_text("letters/pieces/tiny.txt.j2", words)) + "\n"
        if len(text.encode()) <= LONGEST_TINY_TEXT:
            break
    return replace(whole, text=text, html="")


def _boards_in(row: QueuedLetter) -> list[int | None]:
    """Return the boards that a letter and its parts are about; `None` if one is about none."""
    lines = row.words.get("lines", ()) if row.letter == "summary" else ()
    parts = [part for line in lines for part in line["parts"]]
    if kind_of(row.letter).has_entries:
        parts = [*row.words["waiting"], *row.words["news"]]
    return [row.board_id, *(part["board"] for part in parts)]


def _coach_values(
    boards: ShownBoards,
    words: Mapping[str, Any],
    board_id: int | None,
    ply: int | None,
    seat: int | None,
) -> dict[str, Any]:
    """Return the coach's reports, those of the reader's own box first, or the coach's hint."""
    results = coach_results(boards.connection, board_id or 0, words.get("asked", ply or 0))
    if "seats" in words:
        return {"reports": [results[seat] for seat in words["seats"] if seat in results]}
    return {"hint": results.get(-1 if seat is None else seat)}
