"""A cursor over the words after a command, which makes the refusals about them.

A word in a wrong place may be a password. A refusal therefore quotes a word only if it is shorter
than any password, and gives its number otherwise. The echo of a refused line shows only words that
were understood and userids of players.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from pbmserv.commands.grammar.examples import Sender, example
from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.word_forms import BOARD, harmless, is_userid, quotable
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.row_types import Arguments, Kind, Row
from pbmserv.errors import Misread


class Cursor:
    """A cursor over the words after one command.

    Attributes:
        index: of the next word.
        arguments: the arguments that were read so far.
        hidden: after a refusal, the indices of words that must not be shown.
        named: whether the line must name its writer, since the mail does not show who it is.
    """

    def __init__(
        self,
        row: Row,
        game: str | None,
        words: Sequence[Word],
        games: GameTitles,
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
        self.index = 0
        self.arguments = Arguments(game)
        self.hidden: Collection[int] = ()
        self._correct_words: dict[Kind, str] = {}

    @property
    def has_more(self) -> bool:
        return self.index < len(self.words)

    @property
    def is_short(self) -> bool:
        """Whether the line has fewer words than the command needs."""
        return len(self.words) < self.row.min_words

    def peek(self, missing: str) -> str:
        """Return the next word without moving on.

        Raises:
            Misread: there is no further word; *missing* is the code of the refusal.
        """
        if self.has_more:
            return self.words[self.index].text
        raise self.refusal(missing)

    def rest(self) -> Iterator[str]:
        """Read the remaining words, in lower case and without the commas between them."""
        while self.has_more:
            yield self.words[self.index].text.rstrip(",;").lower()
            self.index += 1

    def rest_of_line(self) -> str:
        """Read the remaining words as one text."""
        text = " ".join([word.text for word in self.words[self.index :]])
        self.index = len(self.words)
        return text

    def accept(self, kind: Kind, text: str) -> None:
        """Move on, and let examples repeat the text of the word."""
        self.keep(kind, text)
        self.index += 1

    def keep(self, kind: Kind, text: str) -> None:
        """Let examples repeat a text that cannot be a password."""
        self._correct_words[kind] = text

    @property
    def correct_words(self) -> Mapping[Kind, str]:
        """Texts that examples may repeat: with a password in the line, those that cannot be it."""
        if not self.row.secrets:
            return self._correct_words
        return {
            kind: text
            for kind, text in self._correct_words.items()
            if kind in {Kind.BOARD, Kind.SETTINGS, Kind.WORDS}
            or (kind in {Kind.USERID, Kind.RECIPIENTS} and self.sender.is_player(text))
        }

    def bad_userid(self, text: str) -> Misread:
        """Return the refusal of a word that cannot be a userid."""
        return self.refusal("bad-userid", part=quotable(text), place=self.index + 1)

    def refusal(
        self,
        code: str,
        *,
        part: str = "",
        kind: type[Misread] = Misread,
        doubtful: bool = False,
        **values: str | int,
    ) -> Misread:
        """Return a refusal whose example repeats the correct words, and set `hidden`.

        Args:
            code: of the refusal.
            part: the wrong words, if they may be repeated.
            kind: the class of the refusal.
            doubtful: whether a word in the form of a userid may be a password.
            values: further values for the text of the refusal.
        """
        row = self.row
        doubtful |= row.takes_password_last
        if row.secrets:
            may_be_shown = self._is_board_or_player
        else:
            may_be_shown = self._is_number_or_player if doubtful else self._is_harmless
        shown = {
            place
            for place, word in enumerate(self.words[: row.max_words])
            if may_be_shown(place, word)
        }
        self.hidden = set(range(len(self.words))) - shown
        return kind(
            code,
            part=part,
            example=example(row, self.game, self.games, self.correct_words, self.sender),
            command=row.name,
            reply=_reply_without_credentials(row),
            **values,
        )

    def _is_board_or_player(self, place: int, word: Word) -> bool:
        """Return whether a word may be shown in a line where any word may be the password."""
        if place == 0 and Kind.BOARD in self._correct_words:
            return True
        return place not in self.row.secrets and self.sender.is_player(word.text.lower())

    def _is_number_or_player(self, place: int, word: Word) -> bool:  # noqa: ARG002 - same signature
        """Return whether to show a word where a word in the form of a userid may be a password."""
        return BOARD.fullmatch(word.text) is not None or self.sender.is_player(word.text.lower())

    def _is_harmless(self, place: int, word: Word) -> bool:
        """Return whether a word may be shown in a line without a password.

        People write a password after a userid out of habit, and misspell the userid, too.
        """
        if place == self.index or not harmless(word.text):
            return False
        follows_userid = place and is_userid(self.words[place - 1].text)
        if follows_userid and not quotable(word.text):
            return self._is_number_or_player(place, word)
        return True


def _reply_without_credentials(row: Row) -> str:
    """Return in which replies a command needs no userid and password.

    ``"any"``, or ``"board"`` for a letter about its board; ``""`` if it always needs them.
    """
    if not (row.in_reply and row.may_be_vouched):
        return ""
    return "board" if row.parameters[0].kind is Kind.BOARD else "any"
