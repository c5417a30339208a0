"""Reads the words behind a command, place by place, as its catalogue row says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pbmserv.commands.grammar import list_arguments, single_arguments
from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.spelling import BOARD, is_userid
from pbmserv.commands.grammar.words import Word
from pbmserv.commands.table.row_types import Kind, Row, Taken

_READERS: Mapping[Kind, Callable[[Cursor], None]] = {
    Kind.BOARD: single_arguments.board,
    Kind.USERID: single_arguments.userid,
    Kind.NEW_USERID: single_arguments.new_userid,
    Kind.PASSWORD: single_arguments.password,
    Kind.NEW_PASSWORD: single_arguments.new_password,
    Kind.MOVE: single_arguments.move,
    Kind.PLAN: single_arguments.plan,
    Kind.DATE: single_arguments.date,
    Kind.SETTINGS: list_arguments.settings,
    Kind.SEATS: list_arguments.seats,
    Kind.PLAYERS: list_arguments.players,
    Kind.ALONE: list_arguments.alone,
    Kind.RECIPIENTS: list_arguments.recipients,
    Kind.SHOWN: list_arguments.shown,
    Kind.WATCHED: list_arguments.watched,
    Kind.BOARDS: list_arguments.boards,
    Kind.PEOPLE: list_arguments.people,
    Kind.ADDRESSES: list_arguments.addresses,
    Kind.NEW_ADDRESSES: list_arguments.new_addresses,
    Kind.GAMES: list_arguments.games,
    Kind.SUBJECTS: list_arguments.subjects,
}


def read_places(at: Cursor) -> Taken:
    """All arguments of a command.

    Raises:
        Misread: naming what is missing, wrong or too much.
    """
    row, most, found = at.row, at.row.most, len(at.words)
    if found > most:
        for parameter in row.parameters[:2]:
            if parameter.kind in {Kind.BOARD, Kind.USERID}:
                _READERS[parameter.kind](at)
        at.at = most
        raise at.refusal("too-many-words", expected=most, found=found)
    for parameter in row.parameters:
        _READERS[parameter.kind](at)
    return at.taken


def in_order(row: Row, words: Sequence[Word]) -> Sequence[Word]:
    """The words with the board in front, where userid and board have changed places.

    Only when nothing is missing: else what looks like the board may be the password.
    """
    kinds = [parameter.kind for parameter in row.parameters[:2]]
    if kinds != [Kind.BOARD, Kind.USERID] or len(words) < row.least:
        return words
    first, second = words[0].text, words[1].text
    swapped = BOARD.fullmatch(second) and is_userid(first) and not BOARD.fullmatch(first)
    return [words[1], words[0], *words[2:]] if swapped else words
