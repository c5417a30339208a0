"""Reads the commands of a mail from its subject and new text."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.command_names import (
    Head,
    find_head,
    has_credentials,
    spoken_challenge,
)
from pbmserv.commands.grammar.line import (
    BLANK,
    EMPTY,
    LONGEST_LINE,
    REST,
    better_in_plain_words,
    in_plain_words,
    not_a_command,
    read_line,
    words_of,
)
from pbmserv.commands.grammar.readings import Line, NotTried, Reading
from pbmserv.commands.grammar.words import Word, fold
from pbmserv.commands.reading.bodies import (
    MOST_COMMANDS,
    MOST_NOT_TRIED,
    MOST_PROSE,
    LinesBelow,
    is_signature,
    is_stop,
    join_continuation,
    read_body,
    short_form_if_full,
)
from pbmserv.commands.reading.replies import (
    EMPTY_REPLY,
    LONGEST_ECHO,
    MOVES,
    is_command_name,
    is_full_form,
    read_words,
    reply_moves,
)
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, MULTIPLE, STOPS
from pbmserv.commands.table.looking import Games, Help, ListGames
from pbmserv.commands.table.model import AboutBoard, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat
from pbmserv.commands.table.row_types import Trait
from pbmserv.errors import Misread, PlayerError

_MOST_TOP = 5
"""Lines of a reply that may be a command or a move."""

_FRONT = re.compile(
    # The tag of a mailing list, or a prefix of mail programs in several languages.
    r"\s*(?:\[[^\[\]]{0,80}\]|\*{2,}\s?spam\s?\*{2,}"
    r"|(?:re|r|fwd?|fw|i|aw|wg|antw|antwort|sv|vs|vb|vl|tr|rv|res|enc|rif|odp|pd|ynt|ilt|bls|trs"
    r"|doorst|atb|va|ref|subject|betreff)\s{0,3}(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4})?\s{0,3}:)",
    re.IGNORECASE,
)

UNREAD = {
    "encrypted": "(an encrypted mail)",
    "opaque": "(a sealed mail)",
    "html": "(a mail whose text could not be found)",
    "no-text": "(a mail without text)",
    "too-long": "(a mail that takes too long to read)",
}
"""Echoes of mails that cannot be read, by reason."""


def read_commands(
    subject: str,
    body: str,
    *,
    games: Collection[str],
    reply: bool,
    tray: bool = False,
    plainly: bool = False,
) -> Reading:
    """Read all commands of a mail. Every mail has a reading; nothing is raised.

    Args:
        subject: decoded, in one line.
        body: the new text, without quoted text and signature.
        games: keys of the games of this server, in lower case. A line that begins a board and names
            no game means the first one.
        reply: whether the mail answers a letter. Then the address tells the player and the board,
            and the subject is ignored.
        tray: whether that letter is a digest of several boards.
        plainly: whether that letter asks nothing; see `read_reply`.
    """
    if reply:
        lines = body.split("\n")
        if tray and len([line for line in lines if _BOARD_BEHIND.fullmatch(line)]) > 1:
            lines = [_BOARD_BEHIND.sub(r"\2: \1", line) for line in lines]
        top = _top_lines(lines)
        # In reply to a digest, "412 5" names a board, perhaps below a greeting. In other replies
        # only "412: 5" or "#412 5" in the first line does.
        for at, line in top if tray else top[:1]:
            if not line.isalnum() and _board_in_front(line, games, surely=not tray):
                above = (place for place, text in top if place < at)
                first = next((n for n in above if _command_between(lines[n], games)), at)
                return Reading(tuple(_Tray(lines[first:], games).read()), multiple=True)
        return _read_reply_lines(lines, top, games, plainly=plainly)
    text = clean_subject(subject)
    if text != fold(subject).strip():  # somebody else may have written "Fwd: resign 12"
        return _with_named_writers(_read_new_mail(text, body, games, answers=True))
    return _read_new_mail(text, body, games, answers=False)


def clean_subject(subject: str) -> str:
    """Return a folded subject without ``Re:``, ``AW:``, ``[list tags]`` and similar prefixes."""
    subject = fold(subject)
    at = 0
    while prefix := _FRONT.match(subject, at):
        at = prefix.end()
    return subject[at:].strip()


def _top_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the first non-blank lines above a signature, folded, with their indices."""
    top: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        text = fold(line).strip()
        if text == "--" or text.startswith(">"):
            break
        if text:
            top.append((place, text[:LONGEST_LINE]))
            if len(top) == _MOST_TOP:
                break
    return top


def _with_named_writers(reading: Reading) -> Reading:
    """Return a reading in which each line must name its writer."""
    lines = [replace(line, without_writer=None) for line in reading.lines]
    return replace(reading, lines=tuple(lines))


def _read_new_mail(text: str, body: str, games: Collection[str], *, answers: bool) -> Reading:
    """Read a mail that does not answer a letter.

    Args:
        text: the subject without its prefixes.
        body: the new text.
        games: keys of the games of this server.
        answers: whether the subject had a prefix such as "Re:".
    """
    words = words_of(text)
    if not words or words[0].text.lower() in MULTIPLE | STOPS:
        announced = bool(words) and words[0].text.lower() in MULTIPLE
        return read_body(body, games, announced=announced) or _without_commands(body, games)
    head = spoken_challenge(words, games) or find_head(words, games)
    if head is None:
        read_in_body = read_body(body, games)
        if read_in_body is not None:
            return read_in_body
        if answers:
            return _without_commands(body, games)
        plain = in_plain_words(text, games) or in_plain_words(body, games)
        return Reading((plain or not_a_command(words, games),))
    line = read_line(words, head, len(text), games)
    is_doubtful = isinstance(line.meaning, PlayerError) or line.who is not None
    if is_doubtful and not answers and head.row is not None:
        line = better_in_plain_words(text, games, head.row, line) or line
    if isinstance(line.meaning, PlayerError) or (
        answers and isinstance(line.meaning, Help | Games)
    ):
        # "Move for Bob" is an English subject, so that a command in full in the body counts. So
        # does any command below "Re: Games of alice", the subject of one of our letters.
        read_in_body = read_body(body, games)
        if read_in_body is not None and _is_meant(read_in_body.lines[0], answers=answers):
            return read_in_body
        if answers and _is_of_a_letter(words, head, line, empty=not body.strip()):
            return _without_commands(body, games)
    below = LinesBelow(body.split("\n"), 0, games, subject=text)
    return Reading((line, *below.not_tried()), below.words())


def read_reply(body: str, games: Collection[str], *, plainly: bool = False) -> Reading:
    """Read a reply to a letter.

    Args:
        body: the new text.
        games: keys of the games of this server.
        plainly: whether the letter asks nothing, so that the reply may be a command in plain words
            such as "I give up".
    """
    lines = body.split("\n")
    return _read_reply_lines(lines, _top_lines(lines), games, plainly=plainly)


def _read_reply_lines(
    lines: Sequence[str], top: Sequence[tuple[int, str]], games: Collection[str], *, plainly: bool
) -> Reading:
    """Read the lines of a reply; *top* is the result of `_top_lines`."""
    if not top:
        return Reading((EMPTY_REPLY,))
    place, text = top[0]
    # Most replies begin with a move, which needs no search for a command.
    word = text.lower()
    if " " in text or not MOVES.fullmatch(text) or is_command_name(word) or word in games:
        words = words_of(text)
        if not words:
            return Reading((EMPTY_REPLY,))
        # "Challenge accepted!" is a yes.
        full = is_full_form(words, games) and not plain_words.says_yes(text)
        reading = read_body("\n".join(lines), games) if full else None
        reading = reading or read_words(words, lines, top, games, plainly=plainly)
        if reading is not None:
            return reading
    if place == len(lines) - 1 and " " not in text:  # as in most replies
        return Reading((Line(text[:LONGEST_ECHO], ReplyMove((text,), ("",))),))
    below = LinesBelow(lines, place + 1, games)
    move = reply_moves(top, below, lines, games)
    return Reading((Line(move.lines[0][:LONGEST_ECHO], move), *below.not_tried()), below.words())


def read_message(body: str, games: Collection[str]) -> Reading:
    """Read a reply to a message of a player.

    The reply is a `Chat` to that player, except if its first line is a command in full, if it is
    ``multiple`` with commands below, or if the mail is one word that is a command of replies.
    """
    lines = body.split("\n")
    top = _top_lines(lines)
    if not top:
        return Reading((EMPTY_REPLY,))
    words = words_of(top[0][1])
    first = words[0].plain if words else ""
    if len(words) == 1 and first in MULTIPLE:
        reading = read_body("\n".join(lines[top[0][0] + 1 :]), games, announced=True)
        if reading is not None:
            return reading
    if words and (short_form_if_full(top[0][1], games) or is_full_form(words, games)):
        reading = read_body(body, games)
        if reading is not None:
            return reading
    row = IN_REPLY.get(" ".join(word.text.lower() for word in words).rstrip(".!"))
    if row is not None and Trait.TALK not in row.traits and (len(top) == 1 or row.name == "chat"):
        return read_reply(body, games)
    if first == "chat":
        return read_reply(body, games)
    below = LinesBelow(lines, 0, games)
    return Reading((Line("message", Chat(None, None, None)), *below.not_tried()), below.words())


def refuse_unread(why: str) -> Reading:
    """Return the refusal of a mail whose text could not be read.

    Args:
        why: the reason, from ``Mail.unread``.
    """
    return Reading((Line(UNREAD[why], Misread(f"mail-{why}")),))


def _is_of_a_letter(words: Sequence[Word], head: Head, line: Line, *, empty: bool) -> bool:
    """Return whether a subject behind "Re:" is of one of our letters: "Blackbox: the best scores".

    Args:
        words: the words of the subject.
        head: its head.
        line: its reading.
        empty: whether the body is empty, so that a command in the subject must be meant.
    """
    if empty:
        return head.row is None and not head.suggestion
    row = head.row or BY_NAME.get(head.suggestion)
    if row is None or isinstance(line.meaning, Help | Games):
        return True
    behind = words[head.rest + (head.row is None) :]
    return not has_credentials(row, behind, named=bool(head.front))


def _is_meant(line: Line, *, answers: bool) -> bool:
    """Return whether the first line of a body is surely meant as a command."""
    if answers:  # even a faulty command is meant, rather than the subject of our letter
        return (
            not isinstance(line.meaning, PlayerError)
            or line.meaning.refusal.code != "not-a-command"
        )
    if isinstance(line.meaning, PlayerError):
        return False
    if isinstance(line.meaning, Help | ListGames):
        return False
    return line.echo.count("***") > 0 or getattr(line.meaning, "game", None) is not None


def _without_commands(body: str, games: Collection[str]) -> Reading:
    """Return the reading of a mail without commands."""
    text = body.strip()
    if not text:
        return Reading((EMPTY,))
    if plain_line := in_plain_words(text, games):
        return Reading((plain_line,))
    words = words_of(text)
    head = spoken_challenge(words, games)
    line = read_line(words, head, len(text), games) if head else not_a_command(words, games)
    return Reading((line,))


_SURE = re.compile(r"#?(\d{1,9})\s*:(?!\d|-?[()]+[\s.!]*$)\s*(\S.*)|#(\d{1,9})\s+(\S.*)", re.ASCII)
"""A line that surely names a board, "412: g"; "12 :)" is port 12 and a smile."""

_BOARD_BEHIND = re.compile(
    r"\A\s*(accept|reject|decline|resign|solve|show)\s+(?:board\s+)?#?(\d{1,9})[\s.!]*\Z",
    re.ASCII | re.IGNORECASE,
)
"""A command with its board behind, "accept 412", of which a reply to a digest may have several."""

_LIKELY = re.compile(
    r"(?:board\s+)?#?(\d{1,9})(?:\s*[:.)]|\s+[-\u2013]\s+(?=\d)|\s)\s*(\S.*)()()",
    re.ASCII | re.IGNORECASE,
)


def _board_in_front(line: str, games: Collection[str], *, surely: bool) -> re.Match[str] | None:
    """Match a line with a board in front, perhaps as in our letters: "Blackbox 412: g"."""
    name, _, rest = line.partition(" ")
    if (name.lower() in games or name.lower() in {"board", "game"}) and _SURE.fullmatch(rest):
        line = rest
    return (_SURE if surely else _LIKELY).fullmatch(line)


def _command_between(text: str, games: Collection[str]) -> Line | None:
    """Read a line among those for boards as a command about no board or about one that it names,
    such as "games" or "show 12"; return `None` if it is none."""
    (line, *_) = read_reply(text, games).lines
    command = line.meaning
    if isinstance(command, PlayerError | ReplyMove | Yes | TrayReply | Chat):
        return None
    return None if isinstance(command, AboutBoard) and command.board is None else line


class _Tray:
    """A reader of a reply to a digest."""

    def __init__(self, text: Sequence[str], games: Collection[str]) -> None:
        self._text = text
        self._games = games
        self._lines: list[Line] = []
        self._prose = 0

    def read(self) -> list[Line]:
        """Read all lines down to a signature, quoted text, or words below a blank line."""
        at, blank = 0, False
        while at < len(self._text):
            text = fold(self._text[at]).strip()
            if is_signature(text) or text.startswith(">"):
                break
            if not text:
                at, blank = at + 1, True
                continue
            if blank and not self._is_line(text):
                self._list_the_rest(self._text[at:], "words")
                break
            blank = False
            at, text = join_continuation(self._text, at)
            if is_stop(words_of(text) or words_of("end")):
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
        numbered = _board_in_front(text[:LONGEST_LINE], self._games, surely=False)
        board = int(numbered[1]) if numbered else 0
        command = _command_between(text, self._games) if numbered is None else None
        if command is not None:
            self._lines.append(command)
            return
        if numbered is None or not board or _SURE.fullmatch(numbered[2]):
            self._prose += 1
            self._lines.append(Line(REST, Misread("tray-line", example="412: g,+b2")))
            return
        inner = read_reply(numbered[2], self._games, plainly=True)
        line = inner.lines[0]
        echo = f"{board}: {line.echo}"
        if isinstance(line.meaning, PlayerError) or BLANK in line.echo:
            self._lines.append(Line(echo, line.meaning))  # with a password the line needs no board
        else:
            self._lines.append(Line(echo, TrayReply(board, numbered[2])))

    def _list_the_rest(self, lines: Sequence[str], why: str) -> None:
        """List the boards of lines that are not tried."""
        boards = []
        for line in lines:
            text = fold(line).strip()
            if is_signature(text) or text.startswith(">"):
                break
            # Among other words, "2 of us" is not a line for board 2.
            numbered = _board_in_front(text[:LONGEST_LINE], self._games, surely=why == "words")
            if numbered:
                boards.append(Line(f"{numbered[1] or numbered[3]}: {REST}", NotTried(why)))
        self._lines += boards[:MOST_NOT_TRIED]
        if len(boards) > MOST_NOT_TRIED:
            self._lines.append(Line(REST, NotTried(why, len(boards) - MOST_NOT_TRIED)))
