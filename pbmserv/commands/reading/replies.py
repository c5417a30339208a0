"""Reads a reply to one of our letters, whose address tells the player and the board."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.arguments import EVENT_VERBS, TEAM_VERBS
from pbmserv.commands.grammar.command_names import (
    find_command,
    has_credentials,
    holds_a_move,
    spoken_challenge,
)
from pbmserv.commands.grammar.line import read_arguments, read_line, without_filler
from pbmserv.commands.grammar.readings import REST, Line, NotTried, Reading
from pbmserv.commands.grammar.word_forms import SHORTEST_PASSWORD, is_number
from pbmserv.commands.grammar.words import LONGEST_LINE, Word, fold, words_of
from pbmserv.commands.reading.bodies import GREETINGS, read_body
from pbmserv.commands.reading.lines_below import LinesBelow, ends_text, is_signature
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, WHICH, command_meant
from pbmserv.commands.table.looking import Games, ShowAs
from pbmserv.commands.table.model import ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat
from pbmserv.commands.table.row_types import Kind, Row, Trait
from pbmserv.commands.table.starting import Accept
from pbmserv.errors import Misread, PlayerError

LONGEST_ECHO = 200
_MOST_TOP = 5
"""Lines of a reply that may be a command or a move."""

EMPTY_REPLY = Line("(an empty reply)", Yes(is_empty=True))
"""The reading of an empty reply."""

_VERB, _TEAM_VERB = (
    re.compile(rf"(?:{'|'.join(sorted(verbs))})\b.*") for verbs in (EVENT_VERBS, TEAM_VERBS)
)
_EXACT = {
    "check": re.compile(r"\S{1,3}"),
    "scores": re.compile(r"\d{1,4}x\d{1,4}\S*( [a-z]+)?"),
    "give": re.compile(r"\d{1,4} ?[a-z]*|.{0,40} days?"),
    "claim": re.compile(r"(draw|abort|)"),
    **dict.fromkeys(("league", "cup", "swiss", "event"), _VERB),
    "team": _TEAM_VERB,
}
"""Arguments that show a command and not a sentence: a port, a kind of board, days, or a verb about
an event or a team.

"check this" may be a sentence."""

_OF_TALK = frozenset({"give", "claim"})
"""Commands whose names are words of any sentence, such as "give me a hint"."""

_FILLER_WORDS = frozenset(
    ("please", "pls", "thanks", "now", "it", "that", "this", "the", "my", "last", "move", "again")
)
"""Words behind a command that do not change its meaning."""

MOVES = re.compile(
    r"(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)(?:\s*,\s*(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)){0,20}",
    re.IGNORECASE | re.ASCII,
)
"""The form of moves in most games: ``g``, ``14``, ``+b2,?``."""

_NUMBERED = re.compile(r"([1-9])[.)]\s+(\S.*)", re.ASCII)

_GREETING = re.compile(
    rf"(?:{'|'.join(sorted(GREETINGS))}|good \w{{3,9}})\b.{{0,40}}", re.IGNORECASE
)

_ME_THE = frozenset({"me", "the", "my", "this", "again", "please", "now"})
"""Words around "board" in "show me the board again"."""

_MOST_PEOPLE = 3
"""Userids behind ``history``; "history repeats itself every time" is a sentence."""


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


def read_reply(body: str, games: Collection[str], *, plainly: bool = False) -> Reading:
    """Read a reply to a letter.

    Args:
        body: the new text.
        games: keys of the games of this server.
        plainly: whether the letter asks nothing, so that the reply may be a command in plain words
            such as "I give up".
    """
    lines = body.split("\n")
    return read_reply_lines(lines, top_lines(lines), games, plainly=plainly)


def read_reply_lines(
    lines: Sequence[str], top: Sequence[tuple[int, str]], games: Collection[str], *, plainly: bool
) -> Reading:
    """Read the lines of a reply; *top* is the result of `top_lines`."""
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
        reading = reading or _read_words(words, lines, top, games, plainly=plainly)
        if reading is not None:
            return reading
    if place == len(lines) - 1 and " " not in text:  # as in most replies
        return Reading((Line(text[:LONGEST_ECHO], ReplyMove((text,), ("",))),))
    below = LinesBelow(lines, place + 1, games)
    move = reply_moves(top, below, lines, games)
    return Reading((Line(move.lines[0][:LONGEST_ECHO], move), *below.not_tried()), below.words())


def _read_words(
    words: Sequence[Word],
    lines: Sequence[str],
    top: Sequence[tuple[int, str]],
    games: Collection[str],
    *,
    plainly: bool,
) -> Reading | None:
    """Read a reply by its first words.

    Args:
        words: the words of the first line.
        lines: all lines.
        top: the first non-blank lines with their indices.
        games: keys of the games of this server.
        plainly: whether a command in plain words is read; see `read_reply`.

    Returns:
        The reading, or `None` if the first lines may be a move.
    """
    place, text = top[0]
    below = LinesBelow(lines, place + 1, games)
    head = _reply_head(words, games)
    if plainly and (head.row is None or (head.row.name == "help" and head.rest)):
        line = _in_plain_words(top, games)
        if line is not None:
            return Reading((line, *below.not_tried()), below.words())
    if head.row is not None and head.row.name == "challenge" and plain_words.says_yes(text):
        return None
    spoken = spoken_challenge(words, games) if len(top) == 1 else None
    if spoken is not None:
        return Reading((read_line(words, spoken, len(text), games),))
    if head.row is not None and head.row.name == "chat":
        return _read_chat(head, text, lines[place + 1 :], games)
    if head.row is not None and head.row.name != "move":
        command = _read_command(head, games)
        if command is not None:
            return _with_what_follows(head.row, command, top[1:], below, lines, games)
    if head.row is None and "passw" in text.lower():
        return Reading((Line(REST, Misread("reply-password", example="password NEWPASSWORD")),))
    return None


def _read_chat(
    head: _ReplyHead, text: str, following: Sequence[str], games: Collection[str]
) -> Reading:
    """Read a message to the opponents, which begins behind "chat" and perhaps a board."""
    number = head.rest[0].plain.removeprefix("#") if head.rest else ""
    # In "chat 5 minutes, please" the number is not a board.
    names_a_board = re.fullmatch("[0-9]{1,9}", number) and (head.game or len(head.rest) == 1)
    front = 1 + bool(head.game) + bool(names_a_board)
    below = LinesBelow([*text.split(None, front)[front:], *following], 0, games)
    line = Line("chat", Chat(None, int(number) if names_a_board else None, None))
    return Reading((line, *below.not_tried()), below.words())


def _in_plain_words(top: Sequence[tuple[int, str]], games: Collection[str]) -> Line | None:
    """Return the command of the first line in plain words, `None` for none or if a move follows.

    A command that must stand alone is refused with its exact name.
    """
    if any(MOVES.fullmatch(line) for _, line in top):
        return None
    text = top[0][1]
    command = plain_words.meant_command(text)
    words = words_of(command)
    if not words:
        return None
    head = _reply_head(words, games)
    if head.row is None:
        reading = read_body(command, games)
        return None if reading is None else replace(reading.lines[0], echo=text)
    if Trait.ALONE in head.row.traits:
        name = head.row.name
        return Line(text, Misread("stands-alone", part=name, example=name))
    line = _read_command(head, games)
    return None if line is None else replace(line, echo=text, for_sender=None)


def reply_moves(
    top: Sequence[tuple[int, str]], below: LinesBelow, lines: Sequence[str], games: Collection[str]
) -> ReplyMove:
    """Return the lines of which one may be a move, each with the text below it.

    A line in the form of a move in a later paragraph than the first move, such as the letter "A"
    with which Alice signs, is neither played nor passed on.
    """
    texts = [_without_move_word(text, games) if " " in text else text for _, text in top]
    texts = _unnumbered(texts) if len(texts) > 1 else texts
    breaks = [
        place
        for place in range(1, len(top))
        if "" in [line.strip() for line in lines[top[place - 1][0] + 1 : top[place][0]]]
    ]
    forms = [place for place, text in enumerate(texts) if MOVES.fullmatch(text)]
    apart: set[int] = set()
    if forms:
        behind = min([place for place in breaks if place > forms[0]], default=len(top))
        apart.update([place for place in forms if place >= behind])
        if forms[0] in breaks and _may_be_initial(lines, top[forms[0]]) and not greets(texts[0]):
            apart.add(forms[0])
    for place in apart:
        below.leave_out(*top[place])
    kept = [place for place in range(len(top)) if place not in apart]
    words = [below.words(top[place][0] + 1) for place in kept]
    breaks = [number for number, place in enumerate(kept) if place in breaks]
    return ReplyMove(tuple(map(texts.__getitem__, kept)), tuple(words), tuple(breaks))


def _unnumbered(texts: Sequence[str]) -> list[str]:
    """Return lines without the numbers of a list, as in "1. b3" and "2. d3"."""
    items: list[str] = []
    for number, text in enumerate(texts, start=1):
        item = _NUMBERED.fullmatch(text)
        if item is None or int(item[1]) != number:
            break
        items.append(item[2])
    return [*items, *texts[len(items) :]] if len(items) > 1 else [*texts]


def _may_be_initial(lines: Sequence[str], line: tuple[int, str]) -> bool:
    """Return whether a line is a single letter at the end of a mail."""
    at, text = line
    name = text.rstrip(".!")
    return len(name) == 1 and name.isalpha() and not any(map(str.strip, lines[at + 1 :]))


def greets(text: str) -> bool:
    """Return whether a line is only a greeting."""
    return _GREETING.fullmatch(text) is not None


def _with_what_follows(
    row: Row,
    line: Line,
    following: Sequence[tuple[int, str]],
    below: LinesBelow,
    lines: Sequence[str],
    games: Collection[str],
) -> Reading:
    """Return the reading of a command with the lines below it."""
    if isinstance(line.meaning, Yes | Accept) and following:
        # The line below "accept" may be the first move.
        first = reply_moves(following, below, lines, games)
        line = replace(line, meaning=replace(line.meaning, below=first))
    not_tried = below.not_tried()
    if Trait.LOOKS in row.traits and not isinstance(line.meaning, PlayerError):
        # These commands pass no words on, so report a move below them as not tried.
        skipped = [Line(text, NotTried("below")) for _, text in following if may_act(text)]
        not_tried = (*skipped, *not_tried)
    return Reading((line, *not_tried), below.words())


def may_act(text: str) -> bool:
    """Return whether a line may be a move or a command of one word, perhaps with a board."""
    name, _, number = text.lower().rstrip(".!").partition(" ")
    is_command = name in IN_REPLY and (not number or is_number(number))
    return is_command or MOVES.fullmatch(text) is not None


@dataclass(frozen=True, slots=True)
class _ReplyHead:
    """The first words of a reply: perhaps a game, the name of a command, and its arguments."""

    game: str | None
    name: str
    row: Row | None
    rest: Sequence[Word]


def _reply_head(words: Sequence[Word], games: Collection[str]) -> _ReplyHead:
    first = words[0].plain
    game = first if first in games and len(words) > 1 else None
    words = words[1:] if game else words
    name, rest = words[0].plain, words[1:]
    pair = " ".join([word.plain for word in words[:2]])
    if pair in IN_REPLY:
        return _ReplyHead(game, pair, IN_REPLY[pair], words[2:])
    row = IN_REPLY.get(name) or _guessed_command(name)
    if row is not None and row.name in _OF_TALK:
        exact = _EXACT[row.name].fullmatch(" ".join([word.plain for word in rest]))
        row = row if exact else None
    if row is not None and row.name == "move" and len(rest) == 1:
        instead = rest[0].plain  # "move resign"
        if instead in {"resign", "undo"}:
            return _ReplyHead(game, instead, IN_REPLY[instead], ())
    return _ReplyHead(game, name, row, rest)


def _read_command(head: _ReplyHead, games: Collection[str]) -> Line | None:
    """Read the command of the first line, `None` if it is a sentence or a move."""
    row, game = head.row, head.game
    assert row is not None
    name, rest = row.name, without_filler(row.as_reply, head.rest)
    texts = [word.plain for word in rest]
    numbered = _board_command(head, row, games)
    if numbered is not None:
        return numbered
    if Trait.ALONE in row.traits:
        if rest:
            about_cells = name != "resign" and MOVES.fullmatch(" ".join(texts))  # "delete b2"
            refused = Misread("stands-alone", part=name, example=name)
            return None if about_cells else Line(f"{name} {REST}", refused)
        return read_arguments(row.as_reply, name, game, (), games)
    if name in {"yes", "accept"}:
        if not plain_words.says_yes(" ".join(("yes", *(word.raw for word in rest)))):
            return None  # "yes, but not now"
        spelling = head.name if head.name in row.names else name
        return read_arguments(row.as_reply, spelling, game, (), games)
    named = [word for word in texts if word not in _ME_THE]
    is_this_board = name == "show" and named in (["board"], ["boards"])
    if is_this_board or (name in {"show", "showas"} and not rest):
        return Line("show", ShowAs(game, None))
    if name == "games" and WHICH.issuperset(texts):
        return Line(" ".join(("games", *texts)), Games(game, (), (texts or ["active"])[-1]))
    if _names_a_board(row, rest):
        return read_arguments(row.without(Kind.USERID, Kind.PASSWORD), name, game, rest, games)
    kinds = {parameter.kind for parameter in row.parameters}
    is_exact = name in _EXACT and _EXACT[name].fullmatch(" ".join(texts))
    is_prose = (
        Trait.ENGLISH in row.traits and not is_exact and not _FILLER_WORDS.issuperset(texts)
    ) or (Kind.PEOPLE in kinds and len(rest) > _MOST_PEOPLE)
    if is_prose:
        return None
    plain = row.as_reply
    return read_arguments(plain, name, game, rest if plain.parameters else (), games)


def _board_command(head: _ReplyHead, row: Row, games: Collection[str]) -> Line | None:
    """Read a command whose number must be a board, "resign 12", else return `None`."""
    rest = head.rest
    if head.name == "board" and holds_a_move(rest):
        number, move = int(rest[0].text.strip("#,;:")), " ".join(word.text for word in rest[1:])
        return Line(f"{number}: {move}"[:LONGEST_ECHO], TrayReply(number, move))
    plain = row.without(Kind.USERID, Kind.PASSWORD)
    alone = [parameter.kind for parameter in plain.parameters] == [Kind.BOARD]
    if alone and len(rest) == 1 and is_number(rest[0].text):
        return read_arguments(plain, row.name, head.game, rest, games)
    return None


def _names_a_board(row: Row, rest: Sequence[Word]) -> bool:
    """Return whether a command that is harmless at any board names one by its number."""
    if Trait.ANY_BOARD not in row.traits or not rest or not is_number(rest[0].text):
        return False
    plain = row.without(Kind.USERID, Kind.PASSWORD)
    return plain.min_words <= len(rest) <= plain.max_words


def is_full_form(words: Sequence[Word], games: Collection[str]) -> bool:
    """Return whether a line is a command in full, as in a subject, with userid and password."""
    head = find_command(words, games)
    if head is None or head.row is None:
        # "liar 3 twos" is a move, as "3 twos" is.
        return words[0].plain in games and not is_number(words[min(1, len(words) - 1)].plain)
    reply = _reply_head(words, games)
    if reply.row is None and not head.row.in_reply:
        return True
    rest = words[head.rest :]
    if head.row.secrets and head.row.parameters[-1].rest and not _may_have_password(rest):
        return False  # "queue 3 twos" is about the board of the letter
    return has_credentials(head.row, rest, named=bool(head.front))


def _may_have_password(rest: Sequence[Word]) -> bool:
    """Return whether the third word behind a command with a board may be a password."""
    return len(rest) > 2 and len(rest[2].text) >= SHORTEST_PASSWORD


def is_command_name(word: str) -> bool:
    """Return whether a word is or surely means the name of a command."""
    return word in BY_NAME or word in IN_REPLY or command_meant(word) is not None


def _guessed_command(name: str) -> Row | None:
    """Return the command of a reply that a misspelt word or a synonym means.

    A command that must stand alone is never guessed.
    """
    row = command_meant(name) if name.isalpha() else None  # "?" is a move
    return row if row is not None and row.in_reply and Trait.ALONE not in row.traits else None


def _without_move_word(text: str, games: Collection[str]) -> str:
    """Return a line without ``move`` or ``GAME move`` in front, which replies do not need."""
    first, _, rest = text.partition(" ")
    if first.lower() in games:
        shorter = _without_move_word(rest.lstrip(), ())
        return text if shorter == rest.lstrip() else shorter
    row = BY_NAME.get(first.lower().rstrip(":")) or command_meant(first.lower())
    return rest.strip() if row is not None and row.name == "move" and rest.strip() else text


def first_paragraph(text: str) -> str:
    """Return the first paragraph of a reply in one line."""
    paragraph: list[str] = []
    for line in text.split("\n"):
        if is_signature(line) or (paragraph and not line.strip()):
            break
        if line.strip():
            paragraph.append(line.strip())
    return " ".join(paragraph)
