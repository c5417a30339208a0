"""The values that the templates of letters name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pbmserv.commands.help_topics import HelpTopic
from pbmserv.commands.help_topics import topic as help_topic
from pbmserv.engine.registry import Registry
from pbmserv.engine.types import Seat
from pbmserv.errors import Refusal
from pbmserv.letters.reader import Reader
from pbmserv.letters.rendering import Links
from pbmserv.letters.replies import Mailto
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.views.board import BoardScene, checked_scene, previewed_scene
from pbmserv.views.shown_boards import ShownBoard
from pbmserv.views.texts import refusal_sentence, render_text

DEFAULT_WORDS: dict[str, Any] = {
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
"""Defaults for the words of letters about boards."""

_BOT = PlayerState.BOT
_PRESENT = frozenset({PlayerState.ACTIVE, _BOT})
"""States of players who can be challenged."""


@dataclass(frozen=True, slots=True)
class TemplateValues:
    """Makes the values of letters, and of parts of letters.

    Attributes:
        mail_domain: the server's address and keys.
        registry: the games.
        web_url: base of links to pages; ``""`` without pages.
    """

    mail_domain: MailDomain
    registry: Registry
    web_url: str

    def of_letter(
        self, letter: str, words: Mapping[str, Any], shown: ShownBoard | None, reader: Reader
    ) -> dict[str, Any]:
        """Return the values of a letter's templates, or of those of a part of a letter.

        Args:
            shown: the board that it shows; `None` for none.
        """
        scene = shown.scene(words) if shown else None
        if scene is not None and letter == "check":
            scene = checked_scene(scene, words.get("drawn", ""))
        elif scene is not None and kind_of(letter).beyond_record:
            scene = previewed_scene(scene, Seat(words["mover"]), words["move"])
        values: dict[str, Any] = {
            "house": self.mail_domain.address,
            "userid": reader.player.userid if reader.player else "",
            "words": DEFAULT_WORDS | dict(words),
            "brief": False,
            "compact": letter == "tray-board",
            "drawn": True,
            "spoken": reader.form == "spoken",
            "titles": self.registry.titles,
            "bots": self.registry.bots,
            "racing": self.registry.racing,
            "title": f"{scene.title} {scene.number}" if scene else "pbmserv",
            "why": _why(letter, words),
        }
        values |= self._of_board(shown, scene, values["userid"])
        values |= self._links(letter, shown, scene, reader, values["title"])
        return values | self._of_kind(letter, words, scene)

    def _of_board(
        self, shown: ShownBoard | None, scene: BoardScene | None, userid: str
    ) -> dict[str, Any]:
        """Return the values about the board and its players."""
        sitters = shown.board.sitters if shown else ()
        values: dict[str, Any] = {
            "beginner": shown is not None and shown.is_beginner,
            "scene": scene,
            "others": [name for name in shown.board.names if name != userid] if shown else [],
            # the other players who read words: neither bots nor players who left
            "people": [
                s.userid for s in sitters if s.userid != userid and s.state == PlayerState.ACTIVE
            ],
            "here": [s.userid for s in sitters if s.state in _PRESENT],
            "gone": [s.userid for s in sitters if s.state == PlayerState.DELETED],
            "note": _own_note(shown),
        }
        if scene is not None:  # values of the games' templates
            values |= {
                "view": scene.view,
                "names": scene.names,
                "you": scene.you,
                "board": scene.number,
            }
        return values

    def _links(
        self,
        letter: str,
        shown: ShownBoard | None,
        scene: BoardScene | None,
        reader: Reader,
        title: str,
    ) -> dict[str, Any]:
        """Return the values that make links to replies, and to the page of the board."""
        own = ""  # the reply address for moves on this board
        if shown is not None and shown.reply is not None:
            is_answer = shown.reply == reader.answer
            own = reader.reply_to if is_answer else self.mail_domain.address_of(shown.reply)
        # Commands in the subject are read at the plain address only, where "Re:" prevents that.
        # Each of the 96 links of a board repeats it, so there it is short and has no blank.
        subject = f"Board{scene.number}" if own and scene else f"Re: {title}"
        most_links = Links.FEW if letter == "tray-board" else Links.ALL
        token = own.rpartition("@")[0].removeprefix(f"{self.mail_domain.local}+")
        return {
            "mailto": Mailto(own or reader.reply_to, subject),
            "browser": f"{self.web_url}/b/{token}" if self.web_url and token else "",
            "links": most_links if own and not kind_of(letter).beyond_record else Links.NONE,
        }

    def _of_kind(
        self, letter: str, words: Mapping[str, Any], scene: BoardScene | None
    ) -> dict[str, Any]:
        """Return the values that only letters of this kind have."""
        match letter:
            case "tray-board" if scene is not None:
                moves = scene.game.legal(scene.view) if scene.your_turn else None
                return {"example": next(iter(moves or ()), "")}
            case "confirm" | "stranger":
                question = ReplyAddress(Purpose.CONFIRM, about=words["signup"])
                token = self.mail_domain.ring.token(question)
                return {"link": f"{self.web_url}/confirm/{token}" if self.web_url else ""}
            case "list":
                return {"games": [self.registry.newest(key).info for key in words["games"]]}
            case "help":
                topics = self._topics(words["subjects"])
                # Unknown subjects are not repeated, since one may be a slipped password.
                return {
                    "topic": ", ".join(topic.subject for topic in topics if topic.is_known),
                    "unknown": not any(topic.is_known for topic in topics),
                    "pages": [self._help_page(topic) for topic in topics],
                }
        return {}

    def _topics(self, subjects: Sequence[str]) -> list[HelpTopic]:
        """Return one page for all words together (``change password``), else one for each."""
        about = partial(help_topic, games=self.registry.titles, boxes=self.registry.boxes)
        together = about(" ".join(subjects))
        if together.is_known or len(subjects) < 2:
            return [together]
        topics = [about(subject) for subject in subjects]
        by_page = {topic.template if topic.is_known else topic.subject: topic for topic in topics}
        return list(by_page.values())

    def _help_page(self, topic: HelpTopic) -> str:
        infos = {game.info.key: game.info for game in self.registry}
        values = {
            "house": self.mail_domain.address,
            "info": infos.get(topic.subject),
            "infos": infos,
        }
        return render_text(topic.template, {**topic.values, **values})


def _why(letter: str, words: Mapping[str, Any]) -> str:
    """Return the sentence about the refused command or the dropped plan of a letter; ``""`` for
    none."""
    if letter == "refusal":
        return refusal_sentence(Refusal(**words["refusal"]))
    dropped = (words.get("plan") or {}).get("dropped")
    return refusal_sentence(Refusal(**dropped["refusal"])) if dropped else ""


def _own_note(shown: ShownBoard | None) -> str:
    """Return the reader's own note at a board; "" for a spectator."""
    if shown is None or shown.seat is None:
        return ""
    return shown.board.sitters[shown.seat].note or ""
