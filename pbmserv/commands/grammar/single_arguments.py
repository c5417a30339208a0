"""Reads the places of a command that hold one thing: a board, a userid, a move, a date."""

from __future__ import annotations

from pbmserv.commands.grammar.cursor import Cursor
from pbmserv.commands.grammar.spelling import (
    ADDRESS,
    BOARD,
    COMMAS,
    LONGEST_PASSWORD,
    NUMBER,
    SHORTEST_PASSWORD,
    USERID,
    is_date,
    looks_like_a_move,
    quotable,
    setting_name,
)
from pbmserv.commands.table.model import Secret
from pbmserv.commands.table.row_types import Kind

UNTIL = frozenset({"until", "till", "til"})


def board(at: Cursor) -> None:
    """The number of a board, ``12``, ``#12`` or ``12#7``."""
    text = at.next("missing-board")
    found = BOARD.fullmatch(text)
    if found is None or int(found[1]) == 0:
        if at.short:
            raise at.refusal("missing-board")
        raise at.refusal("bad-board", part=quotable(text))
    at.taken.board = int(found[1])
    at.taken.number = int(found[2]) if found[2] else None
    at.accept(Kind.BOARD, found[1])


def userid(at: Cursor) -> None:
    """Who speaks."""
    text = at.next("missing-userid").lower()
    if text in UNTIL and at.row.parameters[-1].kind is Kind.DATE:
        raise at.refusal("missing-userid")
    if not USERID.fullmatch(text):
        if at.short:
            raise at.refusal("missing-userid")
        raise at.bad_userid(text)
    at.taken.userid = text
    at.accept(Kind.USERID, text)


def new_userid(at: Cursor) -> None:
    """The name of somebody who becomes a player."""
    text = at.next("missing-userid").lower()
    if at.short:
        raise at.refusal("missing-password")
    if not USERID.fullmatch(text):
        raise at.bad_userid(text)
    if text.startswith("-"):
        raise at.refusal("dash-userid", part=quotable(text))
    at.taken.userid = text
    at.accept(Kind.NEW_USERID, text)


def password(at: Cursor) -> None:
    """The password; a word that must be something else shows that it was left out."""
    text = at.next("missing-password")
    last = at.row.parameters[-1]
    if last.rest and text != "-":
        alone = at.at + 1 == len(at.words)
        if len(text) < SHORTEST_PASSWORD or (alone and looks_like_a_move(text)):
            raise at.refusal("no-password", board=at.taken.board or 0)
    elif (last.kind is Kind.SETTINGS and setting_name(text)) or (
        last.kind is Kind.DATE and text.lower() in UNTIL
    ):
        raise at.refusal("missing-password")
    at.taken.password = Secret(text)
    at.at += 1


def new_password(at: Cursor) -> None:
    """A password that somebody chooses."""
    text = at.next("missing-new-password")
    if ADDRESS.fullmatch(text):  # then what looks like the userid may be the password
        raise at.refusal("address-password")
    if text == "-":
        raise at.refusal("dash-password")
    if len(text) < SHORTEST_PASSWORD:
        raise at.refusal("short-password", shortest=SHORTEST_PASSWORD)
    if len(text) > LONGEST_PASSWORD:
        raise at.refusal("long-password", longest=LONGEST_PASSWORD)
    at.taken.new = Secret(text)
    at.at += 1


def move(at: Cursor) -> None:
    """The rest of the line, the number behind ``#`` cut off."""
    labels = [parameter.label.partition("[")[0] for parameter in at.row.parameters]
    if not at.more:
        raise at.refusal("missing-move", form=", ".join(labels))
    text = at.line()
    numbered = NUMBER.search(text) if "#" in text else None
    if numbered:
        at.taken.number = int(numbered[1])
        text = text[: numbered.start()]
    if "," in text and " " in text:
        text = COMMAS.sub(",", text)
    at.taken.move = text.strip()
    if not at.taken.move:
        raise at.refusal("missing-move", form=", ".join(labels))


def plan(at: Cursor) -> None:
    """The rest of the line as it is: ``#`` and commas mean something in it."""
    at.next("missing-plan")
    at.taken.move = at.line().strip()
    if not at.taken.move:
        raise at.refusal("missing-plan")


def date(at: Cursor) -> None:
    """The rest of the line, without ``until``; only words that dates are made of."""
    if at.next("missing-date").lower() in UNTIL:
        at.at += 1
    at.next("missing-date")
    begins = at.at
    text = at.line().strip()
    if not is_date(text):
        at.at = begins
        raise at.refusal("bad-date")
    at.taken.until = text
