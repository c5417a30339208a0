"""Tells a command in full, userid and password in it, from what a reply may say instead."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.commands.grammar.command_names import is_number
from pbmserv.commands.grammar.single_arguments import UNTIL
from pbmserv.commands.grammar.spelling import BOARD, PLAN_WORDS, SETTINGS, is_date, is_userid
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.catalogue import WHICH
from pbmserv.commands.table.row_types import Kind, Row

_ENGLISH = frozenset(
    {"to", "at", "in", "on", "from", "for", "with", "and", "the", "this", "that", "it", "my"}
    | {"all", "home", "again", "now", "here", "please"}
)
"""Words behind "back" or "delete" with which no userid is meant."""


def has_credentials(row: Row, rest: Sequence[Word], *, named: bool) -> bool:
    """Whether the words behind a command are those of its form in a subject.

    Args:
        row: the command.
        rest: the words behind its name.
        named: a game stands in front.
    """
    if not row.secrets:
        return named and bool(rest)
    if len(rest) < 2:
        return False
    if row.parameters[0].kind is Kind.BOARD:
        return _on_a_board(row, rest)
    if row.parameters[0].kind is not Kind.USERID or not is_userid(rest[0].text.lower()):
        return False
    return _by_last_place(row.parameters[-1].kind, rest)


def _by_last_place(kind: Kind, rest: Sequence[Word]) -> bool:
    """What the words behind a command are, by what its last place holds."""
    first = rest[0].text.lower()
    match kind:
        case Kind.NEW_PASSWORD:
            return False  # a reply to the letter that asks for a new password has just that
        case Kind.SETTINGS:
            return first not in SETTINGS
        case Kind.DATE:
            return first not in UNTIL and not is_date(" ".join(word.text for word in rest))
        case Kind.SEATS:
            return not is_number(first) and not first.startswith("-")
        case Kind.BOARDS:
            return not all(map(_is_shown, rest))
        case Kind.RECIPIENTS:  # "bob, carol" are two of them, "bob carol" may be a password
            return not all(word.text.endswith(",") for word in rest[:-1])
        case Kind.PASSWORD:
            return len(rest) == 2 and first not in _ENGLISH
    return True


def _is_shown(word: Word) -> bool:
    """Whether a word says which boards to show."""
    text = word.text.lower().rstrip(",")
    return text in WHICH or BOARD.fullmatch(text) is not None


def _on_a_board(row: Row, rest: Sequence[Word]) -> bool:
    board, who = (rest[0], rest[1]) if is_number(rest[0].text) else (rest[1], rest[0])
    if not is_number(board.text) or not is_userid(who.text):
        return False
    if board is rest[1] and len(rest) < row.least:
        return False
    if row.name == "chat":
        return len(rest) == 3
    return who.text.lower() not in PLAN_WORDS
