"""Reads replies to letters, of which some name a board in each line.

A digest is one letter about all boards of a player, who answers it like this:

    412: g,+b2
    accept 415

Any other letter is about one board, so that its reply is read by `replies`, unless its first line
surely names another board.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum

from pbmserv.commands.grammar.examples import Sender
from pbmserv.commands.grammar.game_names import GameTitles, game_in_front
from pbmserv.commands.grammar.readings import (
    BLANK,
    REST,
    Line,
    NotTried,
    Reading,
    read_without_sender,
)
from pbmserv.commands.grammar.words import LONGEST_LINE, fold, words_of
from pbmserv.commands.reading.bodies import MOST_COMMANDS, MOST_PROSE, is_stop, join_continuation
from pbmserv.commands.reading.lines_below import ends_text, with_counted_rest
from pbmserv.commands.reading.replies import Reply, read_reply
from pbmserv.commands.table.command_types import AboutBoard, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat
from pbmserv.errors import Misread, PlayerError

_SURE = re.compile(
    r"""
      \#?(\d{1,9})\s*:              # "412: g", "#412:g"
      (?!\d|-?[()]+[\s.!]*$)        #   but no time, "12:30", and no port with a smile, "12 :)"
      \s*(\S.*)
    |
      \#(\d{1,9})\s+(\S.*)          # "#412 g"
    """,
    re.ASCII | re.VERBOSE,
)
"""A line that surely names a board: its number, and the text for the board."""

_LIKELY = re.compile(
    r"""
    (?:board\s+)?\#?(\d{1,9})       # "412", "board 412"
    (?:
        \s*[:.)]                     # "412: g", "412. g", "412) g"
      | \s+[-\u2013]\s+(?=\d)        # "412 - 5"
      | \s                           # "412 g"
    )
    \s*(\S.*)
    """,
    re.ASCII | re.IGNORECASE | re.VERBOSE,
)
"""A line that may name a board, where lines for boards are expected; see `_SURE`."""

_BOARD_BEHIND = re.compile(
    r"\A\s*(accept|reject|decline|resign|solve|show)\s+(?:board\s+)?#?(\d{1,9})[\s.!]*\Z",
    re.ASCII | re.IGNORECASE,
)
"""A command and its board, "accept 412", of which a reply to a digest may have several."""


class Answered(Enum):
    """The letter that a reply answers."""

    QUESTION = "a letter that asks something, so that plain words are an answer to it"
    PLAIN_LETTER = "a letter that asks nothing, so that plain words may be a command"
    DIGEST = "a letter about several boards, which lines of the reply name"


def read_reply_to(
    answered: Answered, body: str, games: GameTitles, *, by_hand: bool = True
) -> Reading:
    """Read a reply to a letter, whose address tells the player and the board.

    In a reply to a digest, "412 5" names a board, perhaps below a greeting. In other replies only
    "412: 5" or "#412 5" in the first line does.

    Args:
        body: the new text, without quoted text and signature.
        games: titles of the games of this server by key.
        by_hand: a person wrote the reply. A program's plain words are no command.
    """
    is_digest = answered is Answered.DIGEST
    allow_plain_words = by_hand and answered is not Answered.QUESTION
    lines = body.split("\n")
    if is_digest and len([line for line in lines if _BOARD_BEHIND.fullmatch(line)]) > 1:
        lines = [_BOARD_BEHIND.sub(r"\2: \1", line) for line in lines]
    reply = Reply(lines, games, allow_plain_words=allow_plain_words)
    for place, line in reply.top if is_digest else reply.top[:1]:
        if not line.isalnum() and _board_in_front(line, games, surely=not is_digest):
            begin = _first_command_above(reply, lines, place, games)
            return Reading(tuple(_BoardLines(lines[begin:], games).read()), multiple=True)
    return reply.read()


def _board_in_front(line: str, games: GameTitles, *, surely: bool) -> tuple[str, str] | None:
    """Return the number of the board in front of a line and the text after it, `None` for none.

    The board may be named as in our letters: "Blackbox 412: g".
    """
    if line.lower().startswith(("board ", "game ")):
        count = 1
    else:
        count = game_in_front(line.split(), games)[1]
    without_name = "".join(line.split(maxsplit=count)[count:])
    if count and _SURE.fullmatch(without_name):
        line = without_name
    numbered = (_SURE if surely else _LIKELY).fullmatch(line)
    if numbered is None:
        return None
    number, rest = [group for group in numbered.groups() if group is not None]
    return number, rest


def _first_command_above(reply: Reply, lines: Sequence[str], place: int, games: GameTitles) -> int:
    """Return the place of the first command above the line at `place`, or `place` for none."""
    for above, _ in reply.top:
        if above < place and _command_between(lines[above], games):
            return above
    return place


def _command_between(text: str, games: GameTitles) -> Line | None:
    """Read a line among those for boards as a command, "games" or "show 12"; `None` for no command.

    It is about no board or about one that it names.
    """
    (line, *_) = read_reply(text, games).lines
    command = line.meaning
    if isinstance(command, PlayerError | ReplyMove | Yes | TrayReply | Chat):
        return None
    return None if isinstance(command, AboutBoard) and command.board is None else line


def _without_board(sender: Sender) -> Line:
    """Return the refusal of a line that names no board."""
    return Line(REST, Misread("tray-line", example=f"{sender.board or 412}: show"))


class _BoardLines:
    """A reader of lines that name their boards, and of commands between them."""

    def __init__(self, text: Sequence[str], games: GameTitles) -> None:
        self._text = text
        self._games = games
        self._lines: list[Line] = []
        self._prose = 0

    def read(self) -> list[Line]:
        """Read all lines down to a signature, quoted text, or words below a blank line."""
        at, blank = 0, False
        while at < len(self._text):
            text = fold(self._text[at]).strip()
            if ends_text(text):
                break
            if not text:
                at, blank = at + 1, True
                continue
            if blank and not self._is_line(text):
                self._list_the_rest(self._text[at:], "words")
                break
            blank = False
            at, text = join_continuation(self._text, at)
            words = words_of(text)
            if not words or is_stop(words):
                self._list_the_rest(self._text[at:], "stop")
                break
            self._line(text)
            if self._prose == MOST_PROSE:
                self._list_the_rest(self._text[at:], "prose")
                break
            if len(self._lines) == MOST_COMMANDS:
                self._list_the_rest(self._text[at:], "limit")
                break
        return self._lines

    def _is_line(self, text: str) -> bool:
        """Return whether a line is for a board, or a command."""
        if _board_in_front(text, self._games, surely=False) is not None:
            return True
        return _command_between(text, self._games) is not None

    def _line(self, text: str) -> None:
        """Read a line for a board, or a command between such lines."""
        numbered = _board_in_front(text[:LONGEST_LINE], self._games, surely=False)
        command = _command_between(text, self._games) if numbered is None else None
        if command is not None:
            self._lines.append(command)
            return
        if numbered is None or int(numbered[0]) == 0 or _SURE.fullmatch(numbered[1]):
            self._prose += 1
            self._lines.append(read_without_sender(_without_board))
            return
        board, rest = int(numbered[0]), numbered[1]
        line = read_reply(rest, self._games, allow_plain_words=True).lines[0]
        echo = f"{board}: {line.echo}"
        if isinstance(line.meaning, PlayerError) or BLANK in line.echo:
            self._lines.append(Line(echo, line.meaning))  # with a password the line needs no board
        else:
            self._lines.append(Line(echo, TrayReply(board, rest)))

    def _list_the_rest(self, lines: Sequence[str], why: str) -> None:
        """List the boards of lines that are not tried."""
        boards = []
        for line in lines:
            text = fold(line).strip()
            if ends_text(text):
                break
            # Among other words, "2 of us" is not a line for board 2.
            numbered = _board_in_front(text[:LONGEST_LINE], self._games, surely=why == "words")
            if numbered:
                boards.append(Line(f"{numbered[0]}: {REST}", NotTried(why)))
        self._lines += with_counted_rest(boards, why)
