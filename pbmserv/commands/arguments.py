"""Reads the words behind a command, place by place, as its catalogue row says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pbmserv.commands import lists, places
from pbmserv.commands.cursor import Cursor
from pbmserv.commands.forms import Kind, Row, Taken
from pbmserv.commands.spelling import BOARD, is_userid
from pbmserv.commands.words import Word

_READERS: Mapping[Kind, Callable[[Cursor], None]] = {
    Kind.BOARD: places.board,
    Kind.USERID: places.userid,
    Kind.NEW_USERID: places.new_userid,
    Kind.PASSWORD: places.password,
    Kind.NEW_PASSWORD: places.new_password,
    Kind.MOVE: places.move,
    Kind.PLAN: places.plan,
    Kind.DATE: places.date,
    Kind.SETTINGS: lists.settings,
    Kind.SEATS: lists.seats,
    Kind.PLAYERS: lists.players,
    Kind.ALONE: lists.alone,
    Kind.RECIPIENTS: lists.recipients,
    Kind.SHOWN: lists.shown,
    Kind.WATCHED: lists.watched,
    Kind.BOARDS: lists.boards,
    Kind.PEOPLE: lists.people,
    Kind.ADDRESSES: lists.addresses,
    Kind.NEW_ADDRESSES: lists.new_addresses,
    Kind.GAMES: lists.games,
    Kind.SUBJECTS: lists.subjects,
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
