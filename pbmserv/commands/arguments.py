"""Reads the words behind a command, place by place, as its catalogue row says.

A word that stands in a wrong place may be a password. So a refusal quotes a
word only if it is shorter than any password, and tells its place otherwise;
and after a refusal the echo shows only words that were understood.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import ClassVar

from pbmserv.commands.catalogue import PAIRS, RESERVED, WHICH
from pbmserv.commands.examples import example, unknown_game
from pbmserv.commands.forms import Kind, Row, Taken
from pbmserv.commands.model import BoardRef, Secret
from pbmserv.commands.spelling import (
    ADDRESS,
    BOARD,
    COMMAS,
    DAYS,
    LONGEST_PASSWORD,
    MOST_ADDRESSES,
    MOST_PLAYERS,
    MOST_RECIPIENTS,
    MOST_SHOWN,
    MOST_SUBJECTS,
    NUMBER,
    OPTION,
    SHORTEST_PASSWORD,
    TIME,
    TIMES,
    USERID,
    VALUE,
    board_ref,
    harmless,
    quotable,
)
from pbmserv.commands.words import Word
from pbmserv.errors import Misread, OptionError


class Arguments:
    """The words behind one command.

    Attributes:
        hidden: after a refusal, the places (0-based) that must not be shown.
    """

    def __init__(
        self, row: Row, game: str | None, words: Sequence[Word], games: Collection[str]
    ) -> None:
        self._row = row
        self._game = game
        self._words = words
        self._games = games
        self._at = 0
        self._taken = Taken()
        self._right: dict[Kind, str] = {}
        self.hidden: Collection[int] = ()

    def read(self) -> Taken:
        """The arguments.

        Raises:
            Misread: naming what is missing, wrong or too much.
        """
        most, found = self._row.most, len(self._words)
        if found > most:
            if self._row.parameters[:1] and self._row.parameters[0].kind is Kind.BOARD:
                self._board()
            self._at = most
            raise self._refusal("too-many-words", expected=most, found=found)
        for parameter in self._row.parameters:
            self._READERS[parameter.kind](self)
        return self._taken

    # One method for each kind of place.

    def _board(self) -> None:
        text = self._next("missing-board")
        found = BOARD.fullmatch(text)
        if found is None or int(found[1]) == 0:
            if len(self._words) < self._row.least:
                raise self._refusal("missing-board")
            raise self._refusal("bad-board", part=quotable(text))
        self._taken.board = int(found[1])
        self._taken.number = int(found[2]) if found[2] else None
        self._accept(Kind.BOARD, found[1])

    def _userid(self) -> None:
        text = self._next("missing-userid").lower()
        if not USERID.fullmatch(text):
            if len(self._words) < self._row.least:
                raise self._refusal("missing-userid")
            raise self._bad_userid(text)
        self._taken.userid = text
        self._accept(Kind.USERID, text)

    def _new_userid(self) -> None:
        text = self._next("missing-userid").lower()
        if len(self._words) < self._row.least:
            raise self._refusal("missing-password")
        if not USERID.fullmatch(text):
            raise self._bad_userid(text)
        if text in RESERVED or text in self._games:
            raise self._refusal("reserved-userid", part=text)
        if text.startswith("-"):
            raise self._refusal("dash-userid", part=quotable(text))
        self._taken.userid = text
        self._accept(Kind.NEW_USERID, text)

    def _password(self) -> None:
        self._taken.password = Secret(self._next("missing-password"))
        self._at += 1

    def _new_password(self) -> None:
        text = self._next("missing-new-password")
        if ADDRESS.fullmatch(text):  # then what looks like the userid may be the password
            raise self._refusal("address-password")
        if text == "-":
            raise self._refusal("dash-password")
        if len(text) < SHORTEST_PASSWORD:
            raise self._refusal("short-password", shortest=SHORTEST_PASSWORD)
        if len(text) > LONGEST_PASSWORD:
            raise self._refusal("long-password", longest=LONGEST_PASSWORD)
        self._taken.new = Secret(text)
        self._at += 1

    def _move(self) -> None:
        self._next("missing-move")
        text = " ".join([word.text for word in self._words[self._at :]])
        numbered = NUMBER.search(text) if "#" in text else None
        if numbered:
            self._taken.number = int(numbered[1])
            text = text[: numbered.start()]
        if "," in text and " " in text:
            text = COMMAS.sub(",", text)
        self._taken.move = text.strip()
        if not self._taken.move:
            raise self._refusal("missing-move")
        self._at = len(self._words)

    def _players(self) -> None:
        self._next("missing-players")
        options: list[str] = []
        times: list[str] = []
        userids: list[str] = []
        while self._at < len(self._words):
            text = self._words[self._at].text.rstrip(",;") or ","
            timed = TIME.fullmatch(text)
            if timed:
                times.append(self._time(timed[1].lower(), timed[2]))
            elif text.startswith("--"):
                raise self._refusal(
                    "unknown-time",
                    part=text.partition("=")[0],
                    kind=OptionError,
                    known=", ".join(TIMES),
                )
            elif text.startswith("-") or "=" in text:
                options.append(self._option(text))
            else:
                userids.append(self._player(text.lower(), userids))
            self._at += 1
        if not userids:
            raise self._refusal("missing-players")
        # A game's option may change the seats (a race can have one), so then the game decides.
        if len(userids) == 1 and not options:
            raise self._refusal("one-player", part=userids[0])
        self._taken.options, self._taken.times = tuple(options), tuple(times)
        self._taken.userids = tuple(userids)

    def _player(self, text: str, before: list[str]) -> str:
        if not USERID.fullmatch(text):
            raise self._bad_userid(text)
        if text in before:
            raise self._refusal("repeated-userid", part=text)
        if len(before) == MOST_PLAYERS:
            raise self._refusal("too-many-players", most=MOST_PLAYERS)
        return text

    def _time(self, name: str, value: str | None) -> str:
        if value is None and self._at + 1 < len(self._words):
            self._at += 1
            value = self._words[self._at].text
        days = DAYS.fullmatch(value or "")
        if days is None:
            raise self._refusal(
                "bad-time", part=f"--{name}={quotable(value or '')}", kind=OptionError, name=name
            )
        return f"--{name}={days[1]}"

    def _option(self, text: str) -> str:
        found = OPTION.fullmatch(text)
        if found is None:
            raise self._refusal("bad-option", part=quotable(text), kind=OptionError)
        name, value = found[1].lower(), found[2]
        if value is None and self._at + 1 < len(self._words):
            following = self._words[self._at + 1].text
            if VALUE.fullmatch(following):
                self._at += 1
                value = following
        return f"-{name}" if value is None else f"-{name}={value}"

    def _recipients(self) -> None:
        self._next("missing-recipient")
        found: dict[str, None] = {}
        for text in self._rest():
            if not USERID.fullmatch(text):
                raise self._bad_userid(text)
            found[text] = None
        if len(found) > MOST_RECIPIENTS:
            raise self._refusal("too-many-recipients", most=MOST_RECIPIENTS)
        self._taken.userids = tuple(found)

    def _shown(self) -> None:
        self._next("missing-shown")
        boards: dict[BoardRef, None] = {}
        userids: dict[str, None] = {}
        for text in self._rest():
            board = BOARD.fullmatch(text)
            if board:
                boards[board_ref(board)] = None
            elif text in WHICH:
                self._taken.which = text
            elif USERID.fullmatch(text):
                userids[text] = None
            else:
                raise self._refusal(
                    "bad-shown", part=quotable(text), place=self._at + 1, doubtful=True
                )
        if boards and userids:
            # `show 12 alice password` is how a player's own view is often asked for.
            raise self._refusal("boards-and-userids", doubtful=True)
        if not boards and not userids:
            raise self._refusal("missing-shown")
        if max(len(boards), len(userids)) > MOST_SHOWN:
            raise self._refusal("too-many-shown", most=MOST_SHOWN)
        self._taken.boards, self._taken.userids = tuple(boards), tuple(userids)

    def _watched(self) -> None:
        self._next("missing-userid")
        userids: dict[str, None] = {}
        for text in self._rest():
            if text in WHICH:
                self._taken.which = text
            elif USERID.fullmatch(text):
                userids[text] = None
            else:
                raise self._bad_userid(text)
        if not userids:
            raise self._refusal("missing-userid")
        if len(userids) > MOST_SHOWN:
            raise self._refusal("too-many-shown", most=MOST_SHOWN)
        self._taken.userids = tuple(userids)

    def _boards(self) -> None:
        boards: dict[BoardRef, None] = {}
        for text in self._rest():
            board = BOARD.fullmatch(text)
            if board:
                boards[board_ref(board)] = None
            elif text in WHICH:
                self._taken.which = text
            else:
                raise self._refusal("bad-board", part=quotable(text))
        if len(boards) > MOST_SHOWN:
            raise self._refusal("too-many-shown", most=MOST_SHOWN)
        self._taken.boards = tuple(boards)

    def _addresses(self) -> None:
        found: dict[str, None] = {}
        place = 0
        while self._at < len(self._words):
            place += 1
            text = self._words[self._at].text.rstrip(",;").removeprefix("mailto:")
            text = text.removeprefix("<").removesuffix(">").removeprefix("mailto:")
            if not ADDRESS.fullmatch(text):
                raise self._refusal("bad-address", place=place)
            local, _, domain = text.rpartition("@")
            found[f"{local}@{domain.lower()}"] = None
            self._at += 1
        if len(found) > MOST_ADDRESSES:
            raise self._refusal("too-many-addresses", most=MOST_ADDRESSES)
        self._taken.addresses = tuple(found)

    def _subjects(self) -> None:
        found: list[str] = []
        for text in self._rest():
            if found and f"{found[-1]} {text}" in PAIRS:
                found[-1] = f"{found[-1]} {text}"
            else:
                found.append(text)
        if len(found) > 1 and found[0] in self._games:  # "blackbox move", "blackbox rules"
            found = found[:1] if found[1] == "rules" else found[1:]
        self._taken.subjects = tuple(found[:MOST_SUBJECTS])

    def _listed(self) -> None:
        for name in self._rest():
            if name not in self._games:
                self.hidden = range(self._at, len(self._words))
                raise unknown_game("", name, self._games, example="list")
            self._taken.subjects = (*self._taken.subjects, name)

    # What they share.

    def _next(self, missing: str) -> str:
        """The word in this place; *missing* is the refusal's code when there is none."""
        if self._at < len(self._words):
            return self._words[self._at].text
        raise self._refusal(missing)

    def _rest(self) -> Iterator[str]:
        """The words from this place on, in lower case, without commas between them."""
        while self._at < len(self._words):
            yield self._words[self._at].text.rstrip(",;").lower()
            self._at += 1

    def _accept(self, kind: Kind, text: str) -> None:
        self._right[kind] = text
        self._at += 1

    def _bad_userid(self, text: str) -> Misread:
        return self._refusal("bad-userid", part=quotable(text), place=self._at + 1)

    def _refusal(
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
        row, count = self._row, len(self._words)
        shown: set[int] = set()
        if row.secrets:  # any word may be the password, but the board's
            self._right = {k: v for k, v in self._right.items() if k is Kind.BOARD}
            shown = {0} if self._right else set()
        else:
            for place, word in enumerate(self._words[: row.most]):
                if doubtful:
                    safe = BOARD.fullmatch(word.text) is not None
                else:
                    safe = place != self._at and harmless(word.text)
                if safe:
                    shown.add(place)
        self.hidden = set(range(count)) - shown
        return kind(
            code,
            part=part,
            example=example(row, self._game, self._games, self._right),
            command=row.name,
            **values,
        )

    _READERS: ClassVar[Mapping[Kind, Callable[[Arguments], None]]] = {
        Kind.BOARD: _board,
        Kind.USERID: _userid,
        Kind.NEW_USERID: _new_userid,
        Kind.PASSWORD: _password,
        Kind.NEW_PASSWORD: _new_password,
        Kind.MOVE: _move,
        Kind.PLAYERS: _players,
        Kind.RECIPIENTS: _recipients,
        Kind.SHOWN: _shown,
        Kind.WATCHED: _watched,
        Kind.BOARDS: _boards,
        Kind.ADDRESSES: _addresses,
        Kind.GAMES: _listed,
        Kind.SUBJECTS: _subjects,
    }
