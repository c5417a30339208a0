"""Reads a reply to one of our letters, whose address tells the player and the board.

The first line that is not blank decides what a reply is:

    g,+b2                        a move, with words for the opponent below it
    resign                       a command of replies (`reply_commands`)
    chat See you tomorrow!       a message
    blackbox show 12             commands in full, one in each line (`bodies`)
    I give up                    a command in plain words, if the letter asked nothing: the answer
                                 asks for the word "resign"
    Hm, let me try g             anything else: a move may be in it, or below it (`reply_moves`)
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.command_names import spoken_challenge
from pbmserv.commands.grammar.consent import says_yes
from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.line import read_line
from pbmserv.commands.grammar.readings import REST, Line, NotTried, Reading
from pbmserv.commands.grammar.words import LONGEST_LINE, Word, fold, words_of
from pbmserv.commands.reading.bodies import read_body
from pbmserv.commands.reading.lines_below import LinesBelow, ends_text, is_signature
from pbmserv.commands.reading.reply_commands import (
    LONGEST_ECHO,
    ReplyHead,
    is_command_name,
    is_full_form,
    read_command,
    reply_head,
)
from pbmserv.commands.reading.reply_moves import MOVES, leading_line, may_act, reply_moves
from pbmserv.commands.table.catalogue import IN_REPLY
from pbmserv.commands.table.command_types import ReplyMove, Yes
from pbmserv.commands.table.looking import Help
from pbmserv.commands.table.playing import Chat
from pbmserv.commands.table.row_types import Row, Trait
from pbmserv.commands.table.starting import Accept
from pbmserv.errors import Misread, PlayerError

_BEGIN_SENTENCES = frozenset({"help", "daily", "show", "list"})
"""Names of commands that also begin wishes for others: "daily digest", "show me my games"."""

_MOST_TOP = 5
"""Lines of a reply that may be a command or a move."""

EMPTY_REPLY = Line("(an empty reply)", Yes(is_empty=True))
"""The reading of an empty reply."""


def read_reply(body: str, games: GameTitles, *, allow_plain_words: bool = False) -> Reading:
    """Read a reply to a letter; see `Reply`."""
    return Reply(body.split("\n"), games, allow_plain_words=allow_plain_words).read()


def top_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the first non-blank lines above a signature, folded, with their indices."""
    top: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        text = fold(line).strip()
        if ends_text(text):
            break
        if text:
            top.append((place, text[:LONGEST_LINE]))
            if len(top) == _MOST_TOP:
                break
    return top


class Reply:
    """The lines of a reply.

    Args:
        lines: the new text.
        games: titles of the games of this server by key.
        allow_plain_words: whether the reply may be a command in plain words, such as "I give up".
            If the letter asks something, plain words are an answer to it.

    Attributes:
        top: the result of `top_lines`.
    """

    def __init__(self, lines: Sequence[str], games: GameTitles, *, allow_plain_words: bool) -> None:
        self.top = top_lines(lines)
        self._lines = lines
        self._games = games
        self._allow_plain_words = allow_plain_words

    def read(self) -> Reading:
        """Read the reply: a command, a message, or else moves with words below them."""
        if not self.top:
            return Reading((EMPTY_REPLY,))
        place, text = self.top[0]
        # Most replies begin with a move, which needs no search for a command.
        word = text.lower()
        is_move = " " not in text and MOVES.fullmatch(text) is not None
        if not is_move or is_command_name(word) or word in self._games:
            words = words_of(text)
            if not words:
                return Reading((EMPTY_REPLY,))
            reading = self._in_full(words) or self._by_first_words(words)
            if reading is not None:
                return reading
        if place == len(self._lines) - 1 and " " not in text:  # as in most replies
            return Reading((Line(text[:LONGEST_ECHO], ReplyMove((text,), ("",))),))
        below = self._below()
        move = reply_moves(self.top, below, self._lines, self._games)
        line = Line(leading_line(move.lines)[:LONGEST_ECHO], move)
        return Reading((line, *below.not_tried()), below.words())

    def _below(self) -> LinesBelow:
        """Return the lines below the first one."""
        return LinesBelow(self._lines, self.top[0][0] + 1, self._games)

    def _in_full(self, words: Sequence[Word]) -> Reading | None:
        """Read a reply with commands in full, `None` if the first line is none."""
        if not is_full_form(words, self._games):
            return None
        if says_yes(self.top[0][1]):  # "Challenge accepted!"
            return None
        if self._allow_plain_words and self._means_plain_words(words):
            return None  # "daily box please" has no password
        return read_body("\n".join(self._lines), self._games)

    def _by_first_words(self, words: Sequence[Word]) -> Reading | None:
        """Read a reply by the words of its first line, `None` if that may be a move."""
        text = self.top[0][1]
        below = self._below()
        head = reply_head(words, self._games)
        row = head.row
        begins_sentence = row is None or (row.name in _BEGIN_SENTENCES and bool(head.rest))
        if self._allow_plain_words and begins_sentence:
            line = self._in_plain_words()
            if line is not None:
                return Reading((line, *below.not_tried()), below.words())
        if row is not None and row.name == "challenge" and says_yes(text):
            return None
        spoken = spoken_challenge(words, self._games) if len(self.top) == 1 else None
        if spoken is not None:
            return Reading((read_line(words, spoken, len(text), self._games),))
        if row is None:
            if "passw" in text.lower():
                refused = Misread("reply-password", example="forgot USERID")
                return Reading((Line(REST, refused),))
            return None
        if row.name == "chat":
            return self._chat(head)
        command = read_command(head, self._games) if row.name != "move" else None
        if self._allow_plain_words and command and isinstance(command.meaning, PlayerError):
            line = self._in_plain_words()  # "show me my games"
            if line is not None and not isinstance(line.meaning, PlayerError | Help):
                return Reading((line, *below.not_tried()), below.words())
        return None if command is None else self._with_what_follows(row, command, below)

    def _means_plain_words(self, words: Sequence[Word]) -> bool:
        """Return whether a first line that begins like a command is meant in plain words.

        They mean the same command, or one that its name often stands in front of.
        """
        row = reply_head(words, self._games).row
        meaning = plain_words.as_command(self.top[0][1], self._games).split()
        if row is None or not meaning:
            return False
        return row.name in _BEGIN_SENTENCES or IN_REPLY.get(meaning[0]) is row

    def _chat(self, head: ReplyHead) -> Reading:
        """Read a message to the opponents, which begins after "chat" and perhaps a board."""
        place, text = self.top[0]
        number = head.rest[0].plain.removeprefix("#") if head.rest else ""
        # In "chat 5 minutes, please" the number is not a board.
        names_a_board = re.fullmatch("[0-9]{1,9}", number) and (head.game or len(head.rest) == 1)
        front = len(words_of(text)) - len(head.rest) + bool(names_a_board)
        first = text.split(None, front)[front:]
        below = LinesBelow([*first, *self._lines[place + 1 :]], 0, self._games)
        line = Line("chat", Chat(None, int(number) if names_a_board else None, None))
        return Reading((line, *below.not_tried()), below.words())

    def _in_plain_words(self) -> Line | None:
        """Return the command of the first line in plain words, `None` for none or beside a move.

        A command that must stand alone is refused with its exact name.
        """
        if any(MOVES.fullmatch(line) for _, line in self.top):
            return None
        text = self.top[0][1]
        command = plain_words.as_command(text, self._games)
        words = words_of(command)
        if not words:
            return None
        head = reply_head(words, self._games)
        if head.row is None:
            reading = read_body(command, self._games)
            return None if reading is None else replace(reading.lines[0], echo=text)
        if Trait.ALONE in head.row.traits:
            name = head.row.name
            return Line(text, Misread("stands-alone", part=name, example=name))
        line = read_command(head, self._games)
        return None if line is None else replace(line, echo=text, for_sender=None)

    def _with_what_follows(self, row: Row, line: Line, below: LinesBelow) -> Reading:
        """Return the reading of a command with the lines below it."""
        following = self.top[1:]
        if isinstance(line.meaning, Yes | Accept) and following:
            # The line below "accept" may be the first move.
            first = reply_moves(following, below, self._lines, self._games)
            line = replace(line, meaning=replace(line.meaning, below=first))
        not_tried = below.not_tried()
        if Trait.LOOKS in row.traits and not isinstance(line.meaning, PlayerError):
            # These commands pass no words on, so report a move below them as not tried.
            skipped = [Line(text, NotTried("below")) for _, text in following if may_act(text)]
            not_tried = (*skipped, *not_tried)
        return Reading((line, *not_tried), below.words())


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a reply in one line."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if is_signature(line) or (paragraph and not line.strip()):
            break
        if line.strip():
            paragraph.append(line.strip())
    return " ".join(paragraph)
