"""The words behind a command while they are read one by one, and the refusals about them.

A word that stands in a wrong place may be a password. So a refusal quotes a
word only if it is shorter than any password, and tells its place otherwise;
and after a refusal the echo shows only words that were understood, and userids
that are somebody's."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from pbmserv.commands.grammar.words import (
    ADDRESS,
    BOARD,
    LONGEST_PASSWORD,
    MOST_SETTINGS,
    NUMBER,
    SETTING,
    SHORTEST_PASSWORD,
    USERID,
    Word,
    first_and_last_day,
    harmless,
    looks_like_a_move,
    quotable,
    setting_name,
)
from pbmserv.commands.table.catalogue import example
from pbmserv.commands.table.model import Secret, Sender
from pbmserv.commands.table.row_types import Arguments, Kind, Row
from pbmserv.errors import Misread


class Cursor:
    """A place in the words behind one command.

    Attributes:
        at: place (0-based) of the word that is read next.
        arguments: the arguments that were read so far.
        hidden: after a refusal, the places that must not be shown.
        named: the writers name themselves, since nothing else says who they are.
    """

    def __init__(
        self,
        row: Row,
        game: str | None,
        words: Sequence[Word],
        games: Collection[str],
        sender: Sender,
        *,
        named: bool = True,
    ) -> None:
        self.row = row
        self.game = game
        self.words = words
        self.games = games
        self.sender = sender
        self.named = named
        self.at = 0
        self.arguments = Arguments(game)
        self.hidden: Collection[int] = ()
        self._right: dict[Kind, str] = {}

    @property
    def more(self) -> bool:
        """Whether there is a word in this place."""
        return self.at < len(self.words)

    @property
    def short(self) -> bool:
        """Whether the command needs more words than there are."""
        return len(self.words) < self.row.min_words

    def next(self, missing: str) -> str:
        """The word in this place; *missing* is the refusal's code when there is none."""
        if self.more:
            return self.words[self.at].text
        raise self.refusal(missing)

    def rest(self) -> Iterator[str]:
        """The words from this place on, in lower case, without commas between them."""
        while self.more:
            yield self.words[self.at].text.rstrip(",;").lower()
            self.at += 1

    def line(self) -> str:
        """Everything from this place on, as one text."""
        text = " ".join([word.text for word in self.words[self.at :]])
        self.at = len(self.words)
        return text

    def accept(self, kind: Kind, text: str) -> None:
        """The word in this place is right, so that examples may repeat it."""
        self.keep(kind, text)
        self.at += 1

    def keep(self, kind: Kind, text: str) -> None:
        """What an example may have in a place, if nothing in it can be a password."""
        self._right[kind] = text

    @property
    def right(self) -> Mapping[Kind, str]:
        """What examples may repeat: boards, and userids that are somebody's."""
        if not self.row.secrets:
            return self._right
        return {
            kind: text
            for kind, text in self._right.items()
            if kind in {Kind.BOARD, Kind.SETTINGS}
            or (kind in {Kind.USERID, Kind.RECIPIENTS} and self.sender.is_player(text))
        }

    def bad_userid(self, text: str) -> Misread:
        """The word in this place cannot be a userid."""
        return self.refusal("bad-userid", part=quotable(text), place=self.at + 1)

    def refusal(
        self,
        code: str,
        *,
        part: str = "",
        kind: type[Misread] = Misread,
        doubtful: bool = False,
        **values: str | int,
    ) -> Misread:
        """The refusal, with an example that keeps what was right; sets `hidden`.

        *doubtful*: a word that has a userid's form may be a password.
        """
        row = self.row
        doubtful |= row.takes_password_last
        safe = self._known if row.secrets else self._numbered if doubtful else self._harmless
        shown = {
            place for place, word in enumerate(self.words[: row.max_words]) if safe(place, word)
        }
        self.hidden = set(range(len(self.words))) - shown
        return kind(
            code,
            part=part,
            example=example(row, self.game, self.games, self.right, self.sender),
            command=row.name,
            **values,
        )

    def _known(self, place: int, word: Word) -> bool:
        """Where any word may be the password: the board, and userids that are somebody's."""
        if place == 0 and Kind.BOARD in self._right:
            return True
        return place not in self.row.secrets and self.sender.is_player(word.text.lower())

    def _numbered(self, place: int, word: Word) -> bool:  # noqa: ARG002 - one form for all
        """Where what looks like a userid may be a password."""
        return BOARD.fullmatch(word.text) is not None or self.sender.is_player(word.text.lower())

    def _harmless(self, place: int, word: Word) -> bool:
        """Where no password belongs; but people write one behind a userid out of habit."""
        if place == self.at or not harmless(word.text):
            return False
        behind = place and self.sender.is_player(self.words[place - 1].text.lower())
        return self._numbered(place, word) if behind and not quotable(word.text) else True


UNTIL = frozenset({"until", "till", "til"})
_IN_FRONT_OF_DATES = UNTIL | {"from"}
"""Neither a userid, where days come last, nor a password: those are longer."""


def board(at: Cursor) -> None:
    """The number of a board, ``12``, ``#12`` or ``12#7``."""
    text = at.next("missing-board")
    found = BOARD.fullmatch(text)
    if found is None or int(found[1]) == 0:
        if at.short:
            raise at.refusal("missing-board")
        raise at.refusal("bad-board", part=quotable(text))
    at.arguments.board = int(found[1])
    at.arguments.number = int(found[2]) if found[2] else None
    at.accept(Kind.BOARD, found[1])


_VALUES = frozenset({"daily", "text", "html", "spoken", "auto", "none", "played"})
"""Of preferences; nobody has them for a password, though they are long enough."""


def userid(at: Cursor) -> None:
    """Who speaks."""
    text = at.next("missing-userid").lower().rstrip(",;")
    if text in _IN_FRONT_OF_DATES and at.row.parameters[-1].kind is Kind.DATE:
        raise at.refusal("missing-userid")
    if not USERID.fullmatch(text) or text.startswith("-"):
        value = text.partition("=")[2]
        if setting_name(text) and (value in _VALUES or quotable(value)):
            at.keep(Kind.SETTINGS, text)
        if at.short:
            raise at.refusal("missing-userid")
        raise at.bad_userid(text)
    at.arguments.userid = text
    at.accept(Kind.USERID, text)


def new_userid(at: Cursor) -> None:
    """The name of somebody who becomes a player."""
    text = at.next("missing-userid").lower().rstrip(",;")  # "signup alice, wonderland"
    if at.short:
        raise at.refusal("missing-password")
    if not USERID.fullmatch(text):
        raise at.bad_userid(text)
    if text.startswith("-"):
        raise at.refusal("dash-userid", part=quotable(text))
    at.arguments.userid = text
    at.accept(Kind.NEW_USERID, text)


def password(at: Cursor) -> None:
    """The password; a word that must be something else shows that it was left out."""
    text = at.next("missing-password")
    last = at.row.parameters[-1]
    if last.rest and text != "-":
        alone = at.at + 1 == len(at.words)
        if len(text) < SHORTEST_PASSWORD or (alone and looks_like_a_move(text)):
            raise at.refusal("no-password", board=at.arguments.board or 0)
    elif (last.kind is Kind.SETTINGS and setting_name(text)) or (
        last.kind is Kind.DATE and text.lower() in _IN_FRONT_OF_DATES
    ):
        raise at.refusal("missing-password")
    at.arguments.password = Secret(text)
    at.at += 1


def new_password(at: Cursor) -> None:
    """A password that somebody chooses."""
    text = at.next("missing-new-password")
    if ADDRESS.fullmatch(text):  # then what looks like the userid may be the password
        raise at.refusal("address-password")
    if text == "-":
        raise at.refusal("dash-password")
    if len(text) < SHORTEST_PASSWORD:
        several = at.at + 1 < len(at.words)
        raise at.refusal("short-password", shortest=SHORTEST_PASSWORD, several=several)
    if len(text) > LONGEST_PASSWORD:
        raise at.refusal("long-password", longest=LONGEST_PASSWORD)
    at.arguments.new = Secret(text)
    at.at += 1


def move(at: Cursor) -> None:
    """The rest of the line, the number behind ``#`` cut off."""
    labels = [parameter.label.partition("[")[0] for parameter in at.row.parameters]
    if not at.more:
        raise at.refusal("missing-move", form=", ".join(labels))
    text = at.line()
    numbered = NUMBER.search(text) if "#" in text else None
    if numbered:
        at.arguments.number = int(numbered[1])
        text = text[: numbered.start()]
    if "," in text and " " in text:
        text = ",".join(map(str.strip, text.split(",")))
    at.arguments.text = text.strip()
    if not at.arguments.text:
        raise at.refusal("missing-move", form=", ".join(labels))


def plan(at: Cursor) -> None:
    """The rest of the line as it is: ``#`` and commas mean something in it."""
    at.next("missing-plan")
    at.arguments.text = at.line().strip()
    if not at.arguments.text:
        raise at.refusal("missing-plan")


def date(at: Cursor) -> None:
    """The rest of the line, without ``until``; only words that dates are made of."""
    if at.next("missing-date").lower() in UNTIL | {"for"}:
        at.at += 1
    at.next("missing-date")
    begins = at.at
    text = at.line().strip()
    found = first_and_last_day(text)
    if found is None:
        at.at = begins
        raise at.refusal("bad-date")
    at.arguments.begins, at.arguments.until = found


_DIGEST = ("digest", "daily")
_HOUR = re.compile(r"\d{1,2}(?:[:.]\d{2})?(?:am|pm)?", re.IGNORECASE | re.ASCII)


def _hour(at: Cursor) -> str:
    """The hour that stands here, perhaps behind "at", which is read; ``""``: there is none."""
    behind = at.at + (at.words[at.at].plain in {"at", "@"})
    hour = at.words[behind].text.strip("@,;") if behind < len(at.words) else ""
    if not _HOUR.fullmatch(hour):
        return ""
    at.at = behind + 1
    return hour


def settings(at: Cursor) -> None:
    """``name=value``; also ``name = value`` and, for a name that is known, ``name value``; and the
    hour of a digest apart, ``digest=daily 8:00``."""
    found: list[tuple[str, str]] = []
    while at.more:
        text = at.words[at.at].text.rstrip(",;")
        if found and found[-1] == _DIGEST and (hour := _hour(at)):
            found[-1] = (found[-1][0], f"{found[-1][1]}@{hour}")
            continue
        if "=" not in text and at.at + 1 < len(at.words):
            following = at.words[at.at + 1].text
            if following.startswith("=") or setting_name(text + "="):
                text = f"{text}={following.removeprefix('=')}"
                at.at += 1
        if text.endswith("=") and at.at + 1 < len(at.words):
            at.at += 1
            text += at.words[at.at].text
        setting = SETTING.fullmatch(text)
        if setting is None:
            raise at.refusal("bad-setting", place=at.at + 1)
        found.append((setting[1].lower(), setting[2].rstrip(",;")))
        at.at += 1
    if len(found) > MOST_SETTINGS:
        raise at.refusal("too-many-settings", most=MOST_SETTINGS)
    at.arguments.settings = tuple(found)
