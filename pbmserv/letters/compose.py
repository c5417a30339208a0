"""Makes a letter's bytes from its row in the outbox: a pure function of the record.

The row says which letter, to whom, of which board at which ply; everything else is in the
board's record or in the row's words. Retries repeat the kept bytes, never this.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from pbmserv.commands.help_topics import HelpTopic, topic
from pbmserv.engine.registry import Registry
from pbmserv.errors import Refusal, ServerFault
from pbmserv.letters.looking import (
    Looking,
    Mailto,
    Seen,
    attachments,
    page_of,
    reply_of,
    unless_broken,
    ways_out,
)
from pbmserv.letters.mime import Headers, build
from pbmserv.letters.scene import (
    FORESEEN,
    Composed,
    Links,
    compose,
    excerpt,
    foreseen,
    page,
    why,
)
from pbmserv.letters.shortening import Reader, cut, numbers, told_once
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.reply_address import OF_BOARDS, MailDomain, Purpose, ReplyAddress
from pbmserv.store.accounts.players import Player, by_address, by_id
from pbmserv.store.boards.moves import Positions
from pbmserv.store.bots import finished_reports
from pbmserv.store.delivery.outbox import QueuedLetter
from pbmserv.store.tables.accounts import PlayerState

log = logging.getLogger("pbmserv.send")

_USUAL: dict[str, Any] = {
    "event": "",
    "by": "",
    "said": "",
    "said_to": "",
    "undecided": [],
    "unreachable": [],
    "ratings": [],
    "plan": None,
    "forfeit": None,
}
"""What the words of a letter about a board may leave out."""

LONGEST = 100_000
"""Octets of a letter as it is mailed; Gmail hides what is behind 102 kB."""


@dataclass(frozen=True, slots=True)
class Composer:
    """Composes letters from the records that *positions* replays.

    Attributes:
        web_url: base of links, "" when there are no pages.
    """

    mail_domain: MailDomain
    registry: Registry
    positions: Positions
    web_url: str

    def bytes_of(self, looking: Looking, row: QueuedLetter) -> bytes:
        """The mail, ready for the relay.

        Raises:
            ServerFault: the row speaks of something that is not there, or was over so long ago
                that its words are kept no more.
        """
        reader, seen, values, composed = self._made(looking, row)
        thread = ""  # the first letter of this board to this seat
        if seen and (seen.seat is not None or kind_of(row.letter).to_followers):
            board = seen.board
            thread = self.mail_domain.letter_id(board.id, 0, seen.seat, board.thread)
        root = "" if thread == row.message_id else thread
        way, game = "answer" if row.in_reply_to else "news", seen.board.game if seen else "server"
        headers = Headers(
            from_name="pbmserv",
            from_addr=self.mail_domain.address,
            to=row.recipient,
            reply_to=reader.reply_to,
            subject=composed.subject,
            message_id=row.message_id,
            in_reply_to=row.in_reply_to or root,
            references=tuple(dict.fromkeys(filter(None, (root, row.in_reply_to)))),
            thread=thread,
            topic=values["title"] if thread else "",
            date=row.created_at,
            x_loop=self.mail_domain.address,
            list_id=f"{self.mail_domain.local}.{self.mail_domain.domain}",
            list_unsubscribe=ways_out(self.mail_domain, self.web_url, row, reader.player),
            auto_submitted="auto-replied" if row.in_reply_to else "auto-generated",
            # What feedback loops sum complaints by: kind of letter, game, how it came, and us. It
            # has Gmail's form, and is the same for everybody: it says nothing about the reader.
            feedback_id=f"{row.letter}:{game}:{way}:{_mark(self.mail_domain.domain)}",
        )
        html = composed.html if reader.form == "html" else ""
        has_files = kind_of(row.letter).has_files
        files = attachments(looking.connection, row, reader.player) if has_files else ()
        raw = build(headers, composed.text, html, files)
        if len(raw) > LONGEST and html and not files:
            return build(headers, composed.text, "", files)
        return raw

    def texts(self, connection: Connection, row: QueuedLetter) -> tuple[str, ...]:
        """Text and perhaps HTML of a letter as its reader got it, to see what a mail quotes of it.

        Nothing comes back for one that cannot be made any more, as of templates that have changed
        since: whoever answers it must not be kept from speaking.
        """
        try:
            reader, _, _, composed = self._made(Looking(connection, self.positions), row)
        except SQLAlchemyError:
            raise
        except (Exception, SystemExit):  # whatever a game's rules may raise
            log.exception("a letter cannot be made once more", extra={"letter": row.id})
            return ()
        return (composed.text, composed.html) if reader.form == "html" else (composed.text,)

    def _made(
        self, looking: Looking, row: QueuedLetter
    ) -> tuple[Reader, Seen | None, dict[str, Any], Composed]:
        """The reader of a letter, what it shows, what its templates may say, and its words."""
        if not row.message_id:
            raise ServerFault(f"letter {row.id} was over long ago; nothing is left to make it of")
        player = None if row.player_id is None else by_id(looking.connection, row.player_id)
        seen = looking.seen(row.board_id, row.ply, row.seat, player)
        # The address whose mails say by themselves who speaks and of what.
        told = reply_of(row, player)
        goes_on = player is not None and told is not None and told.purpose in OF_BOARDS
        shown = (seen or self._only_board(looking, row, player)) if goes_on else None
        if shown is not None and shown.reply is not None:
            told = shown.reply
        reply_to = self.mail_domain.address_of(told) if told else self.mail_domain.address
        # Who has proved nothing still reads mail there, and perhaps by ear.
        here = [player] if player else by_address(looking.connection, row.recipient)
        reader = Reader(player, reply_to, here[0].format if len(here) == 1 else "html")
        values = self._part_values(row.letter, row.words, seen, reader)
        values["form"] = reader.form
        # A letter with the page of a board names no other.
        is_named = row.letter == "page-link" or not values["board_page"]
        if goes_on and player is not None and is_named and self.web_url:
            token = self.mail_domain.ring.token(page_of(player, row.created_at))
            values["own_page"] = f"{self.web_url}/mine/{token}"
        if kind_of(row.letter).waits_for_coach:
            values |= _found(looking, row.words, row.board_id, row.ply, row.seat)
        elif row.letter in _OF_PARTS:
            values |= self._parts(looking, row, reader)
        return reader, seen, values, compose(row.letter, values)

    # -- what the templates may say ------------------------------------------------------

    def _parts(self, looking: Looking, row: QueuedLetter, reader: Reader) -> dict[str, Any]:
        """What is in a letter that has several others in it."""
        if row.letter == "summary":
            lines = self._lines(looking, told_once(row.words["lines"]), reader)
            lines = cut(lines, stranger=reader.player is None)
            done = sum(line["status"] == "done" for line in lines)
            return {"lines": lines, "done": done, "numbers": numbers(row.words["lines"])}
        waiting, news = row.words["waiting"], row.words["news"]
        reader.parts = len(waiting) + len(news)
        return {
            "waiting": [self._excerpt(looking, one, reader) for one in waiting],
            "news": [self._excerpt(looking, one, reader) for one in news],
            "keys": sorted({looking.board(one["board"]).game for one in waiting}),
        }

    def _lines(
        self, looking: Looking, lines: Sequence[Mapping[str, Any]], reader: Reader
    ) -> list[dict[str, Any]]:
        """What a summary says of each command; a board that comes several times is drawn once.

        Who looked at a board several times is shown it once, with the last of these commands.
        """
        reader.parts = sum(len(line["parts"]) for line in lines)
        drawn: set[tuple[object, object]] = set()
        found = []
        for line in reversed(lines):
            parts = []
            for part in reversed(line["parts"]):
                # What is about no board may explain something that need not be told again.
                no_board = part["board"] is None
                key = (part["letter"], None) if no_board else (part["board"], part["seat"])
                if key not in drawn or part["letter"] != "show":
                    parts.append(self._excerpt(looking, part, reader, brief=key in drawn))
                if not kind_of(part["letter"]).beyond_record:
                    drawn.add(key)
            found.append({**line, "parts": parts[::-1]})
        return found[::-1]

    def _excerpt(
        self,
        looking: Looking,
        part: Mapping[str, Any],
        reader: Reader,
        *,
        brief: bool = False,
    ) -> Composed:
        """A part of a letter; where a game breaks down over its board it says no more than that."""
        share = reader.share()
        show = partial(self._drawn, looking, part, reader, share, brief=brief)
        board = part["board"]
        if board is None:
            made = show()
        else:
            found = unless_broken(board, looking.board(board).game, show)
            made = found or excerpt("unshown", {"words": {"board": board}}, *share)
        reader.room -= len(made.html)
        reader.text_room -= len(made.text.encode())
        return made

    def _drawn(
        self,
        looking: Looking,
        part: Mapping[str, Any],
        reader: Reader,
        share: tuple[int, int, int],
        *,
        brief: bool,
    ) -> Composed:
        seen = looking.seen(part["board"], part["ply"], part["seat"], reader.player)
        values = self._part_values(part["letter"], part["words"], seen, reader)
        if kind_of(part["letter"]).waits_for_coach:
            about = part["board"], part["ply"], part["seat"]
            values |= _found(looking, part["words"], *about)
        return excerpt(part["letter"], {**values, "brief": brief}, *share)

    def _part_values(
        self, letter: str, words: Mapping[str, Any], seen: Seen | None, reader: Reader
    ) -> dict[str, Any]:
        userid = reader.player.userid if reader.player else ""
        scene = seen.scene(words) if seen else None
        if scene is not None and letter in FORESEEN:
            scene = foreseen(letter, words, scene)
        sitters = seen.board.sitters if seen else ()
        values: dict[str, Any] = {
            "house": self.mail_domain.address,
            "userid": userid,
            "words": _USUAL | dict(words),
            "brief": False,
            "beginner": seen is not None and seen.is_beginner,
            "compact": letter == "tray-board",
            "drawn": True,
            "spoken": reader.form == "spoken",
            "scene": scene,
            "others": [name for name in seen.board.names if name != userid] if seen else [],
            # the others who read what is said to them
            "people": [s.userid for s in sitters if s.userid != userid and s.state != _BOT],
            "here": [s.userid for s in sitters if s.state in _HERE],
            "titles": self.registry.titles,
            "bots": self.registry.bots,
            "racing": self.registry.racing,
            "gone": [s.userid for s in sitters if s.state == PlayerState.DELETED],
            "title": f"{scene.title} {scene.number}" if scene else "pbmserv",
        }
        # For moves on this board, whatever else the letter is about.
        own = self.mail_domain.address_of(seen.reply) if seen and seen.reply else ""
        values["mailto"] = Mailto(own or reader.reply_to, f"Re: {values['title']}")
        tapped = Links.FEW if values["compact"] else Links.ALL
        token = own.rpartition("@")[0].removeprefix(f"{self.mail_domain.local}+")
        values["board_page"] = f"{self.web_url}/b/{token}" if self.web_url and token else ""
        values["own_page"] = ""
        values["links"] = tapped if own and not kind_of(letter).beyond_record else Links.NONE
        if scene is not None:  # the names that a game's own templates know
            values |= {
                "view": scene.view,
                "names": scene.names,
                "you": scene.you,
                "board": scene.number,
            }
        dropped = (words.get("plan") or {}).get("dropped")
        values["why"] = why(Refusal(**dropped["refusal"])) if dropped else ""
        if letter == "tray-board" and scene is not None:
            moves = scene.game.legal(scene.view) if scene.your_turn else None
            values["example"] = next(iter(moves or ()), "")
        if letter == "refusal":
            values["why"] = why(Refusal(**words["refusal"]))
        elif letter == "confirm":
            token = self.mail_domain.ring.token(
                ReplyAddress(Purpose.CONFIRM, about=words["signup"])
            )
            values["link"] = f"{self.web_url}/confirm/{token}" if self.web_url else ""
        elif letter == "list":
            values["games"] = [self.registry.newest(key).info for key in words["games"]]
        elif letter == "help":
            topics = self._topics(words["subjects"])
            # Only what is known is repeated: what is not may be a slipped password.
            values["topic"] = ", ".join(found.subject for found in topics if found.known)
            values["unknown"] = not any(found.known for found in topics)
            values["pages"] = [self._page(found) for found in topics]
        return values

    def _topics(self, subjects: Sequence[str]) -> list[HelpTopic]:
        """One page for all words together (``change password``), else one for each."""
        games = [game.info.key for game in self.registry]
        together = topic(" ".join(subjects), games)
        if together.known or len(subjects) < 2:
            return [together]
        found = [topic(subject, games) for subject in subjects]
        return list({one.template if one.known else one.subject: one for one in found}.values())

    def _page(self, found: HelpTopic) -> str:
        infos = {game.info.key: game.info for game in self.registry}
        values = {
            "house": self.mail_domain.address,
            "info": infos.get(found.subject),
            "infos": infos,
        }
        return page(found.template, {**found.values, **values})

    def _only_board(
        self, looking: Looking, row: QueuedLetter, player: Player | None
    ) -> Seen | None:
        """The board of a summary that shows just one, so that a reply can go on with it."""
        parts = [p for line in row.words.get("lines", ()) for p in line["parts"] if p["board"]]
        if len({part["board"] for part in parts}) != 1:
            return None
        board, ply, seat = (parts[-1][name] for name in ("board", "ply", "seat"))
        show = partial(looking.seen, board, ply, seat, player)
        return unless_broken(board, looking.board(board).game, show)


def _found(
    looking: Looking,
    words: Mapping[str, Any],
    board_id: int | None,
    ply: int | None,
    seat: int | None,
) -> dict[str, Any]:
    """What the coach has found: the reports, those of the reader's own box first; or the hint."""
    known = finished_reports(looking.connection, board_id or 0, words.get("asked", ply or 0))
    if "seats" in words:
        return {"reports": [known[one] for one in words["seats"] if one in known]}
    return {"hint": known.get(-1 if seat is None else seat)}


@lru_cache(maxsize=16)  # there is one
def _mark(domain: str) -> str:
    """What feedback loops know us by."""
    return hashlib.sha256(domain.encode()).hexdigest()[:10]


_OF_PARTS = frozenset({"summary", "tray", "reminders"})
"""Letters that have several others in them."""

_BOT = PlayerState.BOT
_HERE = frozenset({PlayerState.ACTIVE, _BOT})
"""States of players with whom another board can be begun."""
