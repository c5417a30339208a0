"""Reads mails that are no replies to letters about boards: new mails, and replies to messages."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.grammar.command_names import (
    Head,
    find_head,
    has_credentials,
    spoken_challenge,
)
from pbmserv.commands.grammar.game_names import GameTitles
from pbmserv.commands.grammar.line import EMPTY, better_in_plain_words, in_plain_words, read_line
from pbmserv.commands.grammar.readings import BLANK, Line, Reading
from pbmserv.commands.grammar.unknown_lines import not_a_command
from pbmserv.commands.grammar.words import Word, fold, words_of
from pbmserv.commands.reading.bodies import read_body
from pbmserv.commands.reading.lines_below import LinesBelow, short_form_if_full
from pbmserv.commands.reading.replies import EMPTY_REPLY, read_reply, top_lines
from pbmserv.commands.reading.reply_commands import is_full_form
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, MULTIPLE, STOPS
from pbmserv.commands.table.looking import Games, Help
from pbmserv.commands.table.playing import Chat
from pbmserv.commands.table.row_types import Trait
from pbmserv.errors import Misread, PlayerError

_REPLY_PREFIXES = (
    *("re", "r", "fwd?", "fw", "i", "aw", "wg", "antw", "antwort", "sv", "vs", "vb", "vl", "tr"),
    *("rv", "res", "enc", "rif", "odp", "pd", "ynt", "ilt", "bls", "trs", "doorst", "atb", "va"),
    *("ref", "subject", "betreff"),
)
_SUBJECT_PREFIX = re.compile(
    rf"""
    \s*
    (?:
        \[[^\[\]]{{0,80}}\]                                # "[chess-club]", by a mailing list
      | \*{{2,}}\s?spam\s?\*{{2,}}                          # "***SPAM***", by a filter
      | (?:{"|".join(_REPLY_PREFIXES)})\s{{0,3}}             # "Re:" (Gmail), "AW:" (Outlook)
        (?:\[\d{{1,4}}\]|\(\d{{1,4}}\)|\^\d{{1,4}})?\s{{0,3}}:  # "Re[2]:" (The Bat!), "Re^2:"
    )
    """,
    re.IGNORECASE | re.VERBOSE,
)
"""A prefix of a subject, of which there may be several: "[chess-club] Re: AW: Your move"."""

UNREAD = {
    "encrypted": "(an encrypted mail)",
    "opaque": "(a sealed mail)",
    "html": "(a mail whose text could not be found)",
    "no-text": "(a mail without text)",
    "too-long": "(a mail that takes too long to read)",
}
"""Echoes of mails that cannot be read, by reason."""


def read_new_mail(subject: str, body: str, games: GameTitles) -> Reading:
    """Read the commands of a mail that answers no letter. Every mail has a reading.

    Args:
        subject: decoded, in one line.
        body: the new text, without quoted text and signature.
        games: titles of the games of this server by key. A line that begins a board and names
            no game means the first one.
    """
    text = clean_subject(subject)
    if text != fold(subject).strip():  # somebody else may have written "Fwd: resign 12"
        return _with_named_writers(_read_subject_and_body(text, body, games, answers=True))
    return _read_subject_and_body(text, body, games, answers=False)


def clean_subject(subject: str) -> str:
    """Return a folded subject without ``Re:``, ``AW:``, ``[list tags]`` and similar prefixes."""
    subject = fold(subject)
    at = 0
    while prefix := _SUBJECT_PREFIX.match(subject, at):
        at = prefix.end()
    return subject[at:].strip()


def _with_named_writers(reading: Reading) -> Reading:
    """Return a reading in which each line must name its writer."""
    lines = [replace(line, without_writer=None) for line in reading.lines]
    return replace(reading, lines=tuple(lines))


def _read_subject_and_body(text: str, body: str, games: GameTitles, *, answers: bool) -> Reading:
    """Read a command in the subject, or else those in the body.

    Args:
        text: the subject without its prefixes.
        body: the new text.
        games: titles of the games of this server by key.
        answers: whether the subject had a prefix such as "Re:".
    """
    words = words_of(text)
    if not words or words[0].text.lower() in MULTIPLE | STOPS:
        announced = bool(words) and words[0].text.lower() in MULTIPLE
        return read_body(body, games, announced=announced) or _without_commands(body, games)
    head = spoken_challenge(words, games) or find_head(words, games)
    if head is None:
        return _below_other_subject(text, words, body, games, answers=answers)
    line = _read_subject(text, words, head, games, answers=answers)
    if isinstance(line.meaning, PlayerError) or (
        answers and isinstance(line.meaning, Help | Games)
    ):
        # "Move for Bob" is an English subject, so that a command in full in the body counts. So
        # does any command below "Re: Games of alice", the subject of one of our letters.
        read_in_body = read_body(body, games)
        if read_in_body is not None and _is_meant(read_in_body.lines[0], answers=answers):
            return read_in_body
        if answers and _repeats_our_subject(words, head, line, empty=not body.strip()):
            return _without_commands(body, games)
    below = LinesBelow(body.split("\n"), 0, games, subject=text)
    return Reading((line, *below.not_tried()), below.words())


def _read_subject(
    text: str, words: Sequence[Word], head: Head, games: GameTitles, *, answers: bool
) -> Line:
    """Read a subject that begins like a command, or else says one in plain words."""
    line = read_line(words, head, len(text), games)
    is_doubtful = isinstance(line.meaning, PlayerError) or line.credentials is not None
    if is_doubtful and not answers and head.row is not None:
        return better_in_plain_words(text, games, head.row, line) or line
    return line


def _below_other_subject(
    text: str, words: Sequence[Word], body: str, games: GameTitles, *, answers: bool
) -> Reading:
    """Read the commands below a subject that begins like none, or else plain words."""
    read_in_body = read_body(body, games)
    if read_in_body is not None:
        return read_in_body
    if answers:
        return _without_commands(body, games)
    plain = in_plain_words(text, games) or in_plain_words(body, games)
    return Reading((plain or not_a_command(words, games),))


def read_message(body: str, games: GameTitles) -> Reading:
    """Read a reply to a message of a player.

    The reply is a `Chat` to that player, except if its first line is a command in full, if it is
    ``multiple`` with commands below, or if the mail is one word that is a command of replies.
    """
    lines = body.split("\n")
    top = top_lines(lines)
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


def _repeats_our_subject(words: Sequence[Word], head: Head, line: Line, *, empty: bool) -> bool:
    """Return whether the words after "Re:" are the subject of a letter of ours.

    An example is "Blackbox: the best scores".

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
    return BLANK in line.echo or getattr(line.meaning, "game", None) is not None


def _without_commands(body: str, games: GameTitles) -> Reading:
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
