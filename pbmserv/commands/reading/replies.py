"""What the words of a reply to one of our letters ask for; its address says who speaks and of which
board."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from pbmserv.commands.grammar import plain_words
from pbmserv.commands.grammar.command_names import (
    find_command,
    has_credentials,
    holds_a_move,
    is_number,
    spoken_challenge,
)
from pbmserv.commands.grammar.line import REST, read_arguments, read_line, without_filler, words_of
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.reading.bodies import Below, is_signature, read_body
from pbmserv.commands.table.catalogue import BY_NAME, IN_REPLY, WHICH, command_meant
from pbmserv.commands.table.looking import Games, ShowAs
from pbmserv.commands.table.model import Line, NotTried, Reading, ReplyMove, TrayReply, Yes
from pbmserv.commands.table.playing import Chat
from pbmserv.commands.table.row_types import Kind, Row, Trait
from pbmserv.commands.table.starting import Accept
from pbmserv.engine.types import value
from pbmserv.errors import Misread, PlayerError

LONGEST_ECHO = 200

EMPTY_REPLY = Line("(an empty reply)", Yes(unsaid=True))
"""What a reply with nothing in it is read as."""

_EXACT = {"check": re.compile(r"\S{1,3}"), "scores": re.compile(r"\d{1,4}x\d{1,4}\S*( [a-z]+)?")}
"""Arguments that no sentence has behind these commands: a port, or a kind of board. "check this"
is a sentence."""

_POLITE = frozenset(
    ("please", "pls", "thanks", "now", "it", "that", "this", "the", "my", "last", "move", "again")
)
"""Words behind a command of one word that change nothing about it."""

MOVES = re.compile(
    r"(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)(?:\s*,\s*(?:[+/!\-]?[a-z]{0,2}\d{1,3}|[a-z]|\?)){0,20}",
    re.IGNORECASE | re.ASCII,
)
"""What moves look like at most games' boards: ``g``, ``14``, ``+b2,?``."""

_NUMBERED = re.compile(r"([1-9])[.)]\s+(\S.*)", re.ASCII)

_GREETING = re.compile(
    r"(?:hi|hello|hey|dear|hallo|hola|salut|bonjour|ciao|moin|good \w{3,9})\b.{0,40}",
    re.IGNORECASE,
)

_MOST_PEOPLE = 3
"""``history alice bob`` is a command, "history repeats itself every time" is not."""


def in_words(
    words: Sequence[Word],
    lines: Sequence[str],
    top: Sequence[tuple[int, str]],
    games: Collection[str],
    *,
    plainly: bool,
) -> Reading | None:
    """What a reply asks for that begins with these words; ``None`` if a move may be below them."""
    place, text = top[0]
    below = Below(lines, place + 1, games)
    head = _head(words, games)
    if plainly and (head.row is None or (head.row.name == "help" and head.rest)):
        in_words = _in_plain_words(top, games)
        if in_words is not None:
            return Reading((in_words, *below.not_tried()), below.words())
    if head.row is not None and head.row.name == "challenge" and plain_words.says_yes(text):
        return None
    spoken = spoken_challenge(words, games) if len(top) == 1 else None
    if spoken is not None:
        return Reading((read_line(words, spoken, len(text), games),))
    if head.row is not None and head.row.name == "chat":
        number = head.rest[0].plain.removeprefix("#") if head.rest else ""
        # A board, but in "chat 5 minutes, please" it is a word as any other.
        names = re.fullmatch("[0-9]{1,9}", number) and (head.game or len(head.rest) == 1)
        front = 1 + bool(head.game) + bool(names)
        below = Below([*text.split(None, front)[front:], *lines[place + 1 :]], 0, games)
        line = Line("chat", Chat(None, int(number) if names else None, None))
        return Reading((line, *below.not_tried()), below.words())
    if head.row is not None and head.row.name != "move":
        command = _command(head, games)
        if command is not None:
            return _with_what_follows(head.row, command, top[1:], below, lines, games)
    if head.row is None and "passw" in text.lower():
        return Reading((Line(REST, Misread("reply-password", example="password NEWPASSWORD")),))
    return None


def _in_plain_words(top: Sequence[tuple[int, str]], games: Collection[str]) -> Line | None:
    """The command that the first line asks for in plain words, unless a move stands below it.

    What ends something is not done on a guess: a refusal says which word does it.
    """
    if any(MOVES.fullmatch(line) for _, line in top):
        return None
    text = top[0][1]
    command = plain_words.meant(text)
    words = words_of(command)
    if not words:
        return None
    head = _head(words, games)
    if head.row is None:
        read = read_body(command, games)
        return None if read is None else replace(read.lines[0], echo=text)
    if Trait.ALONE in head.row.traits:
        name = head.row.name
        return Line(text, Misread("stands-alone", part=name, example=name))
    line = _command(head, games)
    again = None if line is None or isinstance(line.asked, PlayerError) else line.again
    return None if line is None else replace(line, echo=text, again=again)


def moves(
    top: Sequence[tuple[int, str]], below: Below, lines: Sequence[str], games: Collection[str]
) -> ReplyMove:
    """Lines of which one may be a move, and for each what stands below it.

    What has the form of a move and stands apart from the first one, such as the letter "A" with
    which Alice signs, is neither played nor passed on.
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
    """Lines without the numbers of a list that counts from 1, as in "1. b3" and "2. d3"."""
    items: list[str] = []
    for number, text in enumerate(texts, start=1):
        item = _NUMBERED.fullmatch(text)
        if item is None or int(item[1]) != number:
            break
        items.append(item[2])
    return [*items, *texts[len(items) :]] if len(items) > 1 else [*texts]


def _may_be_initial(lines: Sequence[str], line: tuple[int, str]) -> bool:
    """Whether a line is a single letter with which a mail ends."""
    at, text = line
    name = text.rstrip(".!")
    return len(name) == 1 and name.isalpha() and not any(map(str.strip, lines[at + 1 :]))


def greets(text: str) -> bool:
    """Whether a line only greets, so that what the mail is about comes below it."""
    return _GREETING.fullmatch(text) is not None


def _with_what_follows(
    row: Row,
    line: Line,
    following: Sequence[tuple[int, str]],
    below: Below,
    lines: Sequence[str],
    games: Collection[str],
) -> Reading:
    """A command in a reply, with what its writer put below it."""
    if isinstance(line.asked, Yes | Accept) and following:
        # "accept", and below it the first move: surely no words for the opponent.
        first = moves(following, below, lines, games)
        line = replace(line, asked=replace(line.asked, below=first))
    left = below.not_tried()
    if Trait.LOOKS in row.traits and not isinstance(line.asked, PlayerError):
        # Nobody is told anything by these, so a move below them would be lost without a word.
        left = (*(Line(text, NotTried("below")) for _, text in following if may_act(text)), *left)
    return Reading((line, *left), below.words())


def may_act(text: str) -> bool:
    """Whether a line has the form of a move, or is a command of one word, perhaps for a board."""
    name, _, number = text.lower().rstrip(".!").partition(" ")
    named = name in IN_REPLY and (not number or is_number(number))
    return named or MOVES.fullmatch(text) is not None


@value(frozen=True, slots=True)
class _Head:
    """How a reply begins: perhaps a game, a command's name, and what is behind it."""

    game: str | None
    name: str
    row: Row | None
    rest: Sequence[Word]


def _head(words: Sequence[Word], games: Collection[str]) -> _Head:
    first = words[0].plain
    game = first if first in games and len(words) > 1 else None
    words = words[1:] if game else words
    name, rest = words[0].plain, words[1:]
    pair = " ".join([word.plain for word in words[:2]])
    if pair in IN_REPLY:
        return _Head(game, pair, IN_REPLY[pair], words[2:])
    row = IN_REPLY.get(name) or _guessed(name)
    if row is not None and row.name == "move" and len(rest) == 1:
        instead = rest[0].plain  # "move resign"
        if instead in {"resign", "undo"}:
            return _Head(game, instead, IN_REPLY[instead], ())
    return _Head(game, name, row, rest)


def _command(head: _Head, games: Collection[str]) -> Line | None:
    """The command that opens a reply; ``None`` when its first line is a sentence, or a move."""
    row, game = head.row, head.game
    assert row is not None
    name, rest = row.name, without_filler(row.as_reply, head.rest)
    texts = [word.plain for word in rest]
    numbered = _with_number(head, row, games)
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
        said = head.name if head.name in row.names else name
        return read_arguments(row.as_reply, said, game, (), games)
    here = name == "show" and texts in (["board"], ["boards"])
    if here or (name in {"show", "showas"} and not rest):
        return Line("show", ShowAs(game, None))
    if name == "games" and WHICH.issuperset(texts):
        return Line(" ".join(("games", *texts)), Games(game, (), (texts or ["active"])[-1]))
    if _names_a_board(row, rest):
        return read_arguments(row.without(Kind.USERID, Kind.PASSWORD), name, game, rest, games)
    kinds = {parameter.kind for parameter in row.parameters}
    exact = name in _EXACT and _EXACT[name].fullmatch(" ".join(texts))
    prose = (Trait.ENGLISH in row.traits and not exact and not _POLITE.issuperset(texts)) or (
        Kind.PEOPLE in kinds and len(rest) > _MOST_PEOPLE
    )
    if prose:
        return None
    plain = row.as_reply
    return read_arguments(plain, name, game, rest if plain.parameters else (), games)


def _with_number(head: _Head, row: Row, games: Collection[str]) -> Line | None:
    """A command whose number can be nothing but its board's: "resign 12", "board 12 g,+b2"."""
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
    """Whether a board is named by its number alone, for what does no harm at any board."""
    if Trait.ANY_BOARD not in row.traits or not rest or not is_number(rest[0].text):
        return False
    plain = row.without(Kind.USERID, Kind.PASSWORD)
    return plain.min_words <= len(rest) <= plain.max_words


def is_full_form(words: Sequence[Word], games: Collection[str]) -> bool:
    """Whether the line is a command as it would stand in a subject, password and all."""
    head = find_command(words, games)
    if head is None or head.row is None:
        return words[0].plain in games
    reply = _head(words, games)
    if reply.row is None and not head.row.in_reply:
        return True
    return has_credentials(head.row, words[head.rest :], named=bool(head.front))


def is_command_name(word: str) -> bool:
    """Return whether a word is or surely means the name of a command."""
    return word in BY_NAME or word in IN_REPLY or command_meant(word) is not None


def _guessed(name: str) -> Row | None:
    """Return the command of a reply that a misspelt word or a synonym means.

    A command that must stand alone is never guessed.
    """
    row = command_meant(name) if name.isalpha() else None  # "?" is a move
    return row if row is not None and row.in_reply and Trait.ALONE not in row.traits else None


def _without_move_word(text: str, games: Collection[str]) -> str:
    """A line without ``move`` or ``GAME move`` in front, which a reply does not need."""
    first, _, rest = text.partition(" ")
    if first.lower() in games:
        shorter = _without_move_word(rest.lstrip(), ())
        return text if shorter == rest.lstrip() else shorter
    row = BY_NAME.get(first.lower().rstrip(":")) or command_meant(first.lower())
    return rest.strip() if row is not None and row.name == "move" and rest.strip() else text


def first_paragraph(text: str) -> str:
    """The lines of a reply up to its first blank one below them, in one line."""
    found: list[str] = []
    for line in text.split("\n"):
        if is_signature(line) or (found and not line.strip()):
            break
        if line.strip():
            found.append(line.strip())
    return " ".join(found)
