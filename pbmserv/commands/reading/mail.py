"""Turns a mail's subject and new text into the commands it asks for."""

from __future__ import annotations

from collections.abc import Collection

from pbmserv.commands.grammar.command_names import find_head
from pbmserv.commands.grammar.line import HELP, not_a_command, read_line, words_of
from pbmserv.commands.grammar.words import fold
from pbmserv.commands.reading.bodies import clean_subject, read_body, text_lines
from pbmserv.commands.reading.digest_reply import read_tray
from pbmserv.commands.reading.replies import read_reply
from pbmserv.commands.reading.trailing_text import Below
from pbmserv.commands.table.catalogue import MULTIPLE, STOPS
from pbmserv.commands.table.model import Games, Help, Line, ListGames, Reading
from pbmserv.errors import Misread, PlayerError

UNREAD = {
    "encrypted": "(an encrypted mail)",
    "opaque": "(a sealed mail)",
    "html": "(a mail whose text could not be found)",
    "no-text": "(a mail without text)",
}
"""What the answer says was read of a mail that could not be."""


def read(
    subject: str, body: str, *, games: Collection[str], reply: bool, tray: bool = False
) -> Reading:
    """All that a mail asks for, by section 3 of the command language; never raises.

    Args:
        subject: as it came, decoded, in one line.
        body: the new text: what a reply quotes and its signature taken away.
        games: keys of the games this server has, in lower case.
        reply: the mail came to the reply address of a letter, so the address
            says who speaks and of which board, and the subject says nothing.
        tray: that letter is the one mail a day, which speaks of several boards.
    """
    if reply:
        return read_tray(body, games, asked=tray) or read_reply(body, games)
    text = clean_subject(subject)
    words = words_of(text)
    if not words or words[0].text.lower() in MULTIPLE | STOPS:
        announced = bool(words) and words[0].text.lower() in MULTIPLE
        return read_body(body, games, announced=announced) or _nothing(body, games)
    head = find_head(words, games)
    if head is None:
        read_in_body = read_body(body, games)
        if read_in_body is not None:
            return read_in_body
        refused = not_a_command(words, games)
        return Reading((refused,))
    line = read_line(words, head, len(text), games)
    answers = text != fold(subject).strip()
    if isinstance(line.asked, PlayerError) or (answers and isinstance(line.asked, Help | Games)):
        # "Move for Bob" is a subject in English: a command in full below it goes first. So does
        # any below "Re: Games of alice", which was the subject of a letter from here.
        read_in_body = read_body(body, games)
        if read_in_body is not None and _is_meant(read_in_body.lines[0], answers=answers):
            return read_in_body
    below = Below(text_lines(body), 0, games, known=text)
    return Reading((line, *below.not_tried()), below.words())


def unread(why: str) -> Reading:
    """The reading of a mail whose text could not be read: one refusal, whatever its subject says.

    Args:
        why: ``Mail.unread``.
    """
    return Reading((Line(UNREAD[why], Misread(f"mail-{why}")),))


def _is_meant(line: Line, *, answers: bool) -> bool:
    """Whether a body's first line was surely written as a command, not as chat."""
    if isinstance(line.asked, PlayerError):
        return False
    if answers:
        return True
    if isinstance(line.asked, Help | ListGames):
        return False
    return line.echo.count("***") > 0 or getattr(line.asked, "game", None) is not None


def _nothing(body: str, games: Collection[str]) -> Reading:
    """What a mail without any command reads as."""
    text = body.strip()
    if not text:
        return Reading((HELP,))
    return Reading((not_a_command(words_of(text), games),))
