"""The words behind a command while they are read one by one, and the refusals about them.

A word that stands in a wrong place may be a password. So a refusal quotes a
word only if it is shorter than any password, and tells its place otherwise;
and after a refusal the echo shows only words that were understood.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pbmserv.commands.examples import example
from pbmserv.commands.forms import Kind, Row, Taken
from pbmserv.commands.spelling import BOARD, harmless, quotable
from pbmserv.commands.words import Word
from pbmserv.errors import Misread


class Cursor:
    """A place in the words behind one command.

    Attributes:
        at: place (0-based) of the word that is read next.
        taken: what has been read so far.
        hidden: after a refusal, the places that must not be shown.
    """

    def __init__(
        self, row: Row, game: str | None, words: Sequence[Word], games: Collection[str]
    ) -> None:
        self.row = row
        self.game = game
        self.words = words
        self.games = games
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
        self._right[kind] = text
        self.at += 1

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
        row, count = self.row, len(self.words)
        shown: set[int] = set()
        if row.secrets:  # any word may be the password, but the board's
            self._right = {k: v for k, v in self._right.items() if k is Kind.BOARD}
            shown = {0} if self._right else set()
        else:
            for place, word in enumerate(self.words[: row.most]):
                if doubtful:
                    safe = BOARD.fullmatch(word.text) is not None
                else:
                    safe = place != self.at and harmless(word.text)
                if safe:
                    shown.add(place)
        self.hidden = set(range(count)) - shown
        return kind(
            code,
            part=part,
            example=example(row, self.game, self.games, self._right),
            command=row.name,
            **values,
        )
