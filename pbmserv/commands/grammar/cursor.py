"""The words behind a command while they are read one by one, and the refusals about them.

A word that stands in a wrong place may be a password. So a refusal quotes a
word only if it is shorter than any password, and tells its place otherwise;
and after a refusal the echo shows only words that were understood, and userids
that are somebody's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pbmserv.commands.grammar.spelling import BOARD, harmless, quotable
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.examples import example
from pbmserv.commands.table.model import Sender
from pbmserv.commands.table.row_types import Kind, Row, Taken
from pbmserv.errors import Misread


class Cursor:
    """A place in the words behind one command.

    Attributes:
        at: place (0-based) of the word that is read next.
        taken: what has been read so far.
        hidden: after a refusal, the places that must not be shown.
    """

    def __init__(
        self,
        row: Row,
        game: str | None,
        words: Sequence[Word],
        games: Collection[str],
        sender: Sender,
    ) -> None:
        self.row = row
        self.game = game
        self.words = words
        self.games = games
        self.sender = sender
        self.at = 0
        self.taken = Taken()
        self.hidden: Collection[int] = ()
        self._right: dict[Kind, str] = {}

    @property
    def more(self) -> bool:
        """Whether there is a word in this place."""
        return self.at < len(self.words)

    @property
    def short(self) -> bool:
        """Whether the command needs more words than there are."""
        return len(self.words) < self.row.least

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
            if kind is Kind.BOARD or (kind is Kind.USERID and self.sender.is_player(text))
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
        safe = self._known if row.secrets else self._numbered if doubtful else self._harmless
        shown = {place for place, word in enumerate(self.words[: row.most]) if safe(place, word)}
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
