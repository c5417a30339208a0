"""Reads a reply to one of our letters, whose address says who speaks and of which board."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pbmserv.commands.bodies import is_signature, opponent_text, read_body, text_lines
from pbmserv.commands.catalogue import BY_NAME, BY_SLIP, IN_REPLY, LATER, WHICH
from pbmserv.commands.forms import Kind, Row
from pbmserv.commands.heads import find_command, is_number
from pbmserv.commands.line import LONGEST_LINE, REST, read_arguments, words_of
from pbmserv.commands.model import (
    Accept,
    Chat,
    Command,
    Games,
    Line,
    Reading,
    Reject,
    ReplyMove,
    Resign,
    ShowAs,
    Yes,
)
from pbmserv.commands.spelling import is_userid
from pbmserv.commands.words import Word, fold
from pbmserv.errors import Misread

MOST_LINES = 5
LONGEST_ECHO = 200

_MAYBE_MOVES = frozenset({"undo", "redo", "restart"})
"""Commands still to come that are moves in some games: the game decides."""


def read_reply(body: str, games: Collection[str]) -> Reading:
    """What a reply asks for; an empty one says yes to the letter."""
    lines = text_lines(body)
    top = _top_lines(lines)
    words = words_of(top[0][1]) if top else []
    if not words:
        return Reading((Line("yes", Yes()),))
    read = read_body(body, games) if _is_full_form(words, games) else None
    if read is not None:
        return read
    below = opponent_text(lines[top[0][0] + 1 :])
    name = words[0].text.lower().rstrip(".,!:;")
    row = IN_REPLY.get(name) or _slip(name)
    if row is not None and row.name == "move" and len(words) == 2:
        row = IN_REPLY["resign"] if words[1].text.lower() == "resign" else row
        words = words[1:] if row.name == "resign" else words
    if row is not None and row.name == "chat":
        said = top[0][1].split(None, 1)[1:]
        text = opponent_text("\n".join((*said, below)).split("\n"))
        return Reading((Line("chat", Chat(None, None, None)),), text)
    if row is not None and row.name != "move":
        return Reading((_command(row, words, games),), below)
    if name in LATER - _MAYBE_MOVES:
        return Reading((Line(name, Misread("command-later", part=name, example="help")),), below)
    if row is None and "passw" in top[0][1].lower():
        refused = Misread("reply-password", example="password NEWPASSWORD")
        return Reading((Line(REST, refused),))
    move = ReplyMove(
        tuple(_without_move_word(text) for _, text in top),
        tuple(opponent_text(lines[at + 1 :]) for at, _ in top),
    )
    return Reading((Line(move.lines[0][:LONGEST_ECHO], move),), below)


def _command(row: Row, words: Sequence[Word], games: Collection[str]) -> Line:
    """A command whose first word opens the reply."""
    rest = words[1:]
    match row.name:
        case "yes":
            return Line("yes", Yes())
        case "accept":
            return Line("accept", Accept(None, None, None))
        case "reject":
            return _alone("reject", rest, Reject(None, None, None))
        case "resign":
            return _alone("resign", rest, Resign(None, None, None))
        case "show" if not rest or rest[0].text.lower() in {"board", "boards"}:
            return Line("show", ShowAs(None, None))
        case "games" if all(word.text.lower() in WHICH for word in rest):
            which = [word.text.lower() for word in rest]
            return Line(" ".join(("games", *which)), Games(None, (), (which or ["active"])[-1]))
        case _:
            return read_arguments(row, row.name, None, rest, games)


def _alone(name: str, rest: Sequence[Word], command: Command) -> Line:
    """A word that ends a game counts only by itself: "resign? Never!" is no resignation."""
    if rest:
        return Line(f"{name} {REST}", Misread("stands-alone", part=name, example=name))
    return Line(name, command)


def _is_full_form(words: Sequence[Word], games: Collection[str]) -> bool:
    """Whether the line is a command as it would stand in a subject, password and all."""
    if words[0].text.lower().rstrip(":,.;!") in games:
        return True
    head = find_command(words, games)
    if head is None or head.row is None:
        return False
    rest = words[head.rest :]
    if head.front or not head.row.in_reply:
        return head.row.name != "change password" or head.rest == 2
    if not rest or head.row.parameters[:1] == () or not is_number(rest[0].text):
        return False
    if head.row.parameters[0].kind is not Kind.BOARD:
        return False
    if head.row.name == "move":
        return len(rest) > 1 and is_userid(rest[1].text)
    if head.row.name == "chat":
        return len(rest) == 3 and is_userid(rest[1].text)
    return True


def _slip(name: str) -> Row | None:
    """The reply command a word is a known misspelling of; never one that ends a game."""
    row = BY_SLIP.get(name)
    return row if row is not None and row.name in {"move", "accept", "show", "chat"} else None


def _top_lines(lines: Sequence[str]) -> list[tuple[int, str]]:
    """The first non-blank lines, folded, with their places; none from below a signature."""
    found: list[tuple[int, str]] = []
    for place, line in enumerate(lines):
        text = fold(line).strip()
        if is_signature(text) or text.startswith(">"):
            break
        if text:
            found.append((place, text[:LONGEST_LINE]))
            if len(found) == MOST_LINES:
                break
    return found


def _without_move_word(text: str) -> str:
    """A line without ``move`` in front, which a reply does not need."""
    first, _, rest = text.partition(" ")
    row = BY_NAME.get(first.lower().rstrip(":")) or BY_SLIP.get(first.lower())
    return rest.strip() if row is not None and row.name == "move" and rest.strip() else text
