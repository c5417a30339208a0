"""Rows of invitations by mail address, and of addresses that want none.

No address is kept here, only a mark of it that nobody can turn back (`KeyRing.marks`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, bindparam, delete, func, insert, select, update

from pbmserv.engine.clocks import Terms
from pbmserv.store.core.statements import columns_of, insert_into
from pbmserv.store.tables.accounts import InvitationState, invitations, uninvited


@dataclass(frozen=True, slots=True)
class Invitation:
    """A letter to an address whose owner may become a player.

    Attributes:
        player_id: who invites.
        mark: of the address.
        sent: a letter went out; else the address wants none, or had enough of them.
        name: the userid that the inviter proposes; may be "".
        options: canonical words.
        board_id: the board that was made of it.
    """

    player_id: int
    mark: str
    sent: bool
    name: str
    game: str
    options: tuple[str, ...]
    terms: Terms
    created_at: datetime
    state: InvitationState = InvitationState.OPEN
    board_id: int | None = None


def add(connection: Connection, one: Invitation) -> int:
    """Keep it; its number."""
    terms = one.terms
    number: int = connection.execute(
        insert(invitations)
        .values(
            player_id=one.player_id,
            mark=one.mark,
            sent=one.sent,
            name=one.name,
            game=one.game,
            options=list(one.options),
            terms=[terms.nag, terms.forfeit, terms.total],
            created_at=one.created_at,
            state=one.state,
        )
        .returning(invitations.c.id)
    ).scalar_one()
    return number


_BY_ID = select(*columns_of(Invitation, invitations)).where(invitations.c.id == bindparam("number"))


def by_id(connection: Connection, number: int) -> Invitation | None:
    """The invitation with this number."""
    return _one(connection.execute(_BY_ID, {"number": number}).first())


def lock(connection: Connection, number: int) -> Invitation | None:
    """The same; nobody else can answer it until this transaction ends."""
    return _one(connection.execute(_BY_ID.with_for_update(), {"number": number}).first())


def _one(row: Any) -> Invitation | None:
    if row is None:
        return None
    return replace(Invitation(*row), options=tuple(row.options), terms=Terms(*row.terms))


def settle(
    connection: Connection, number: int, state: InvitationState, board_id: int | None = None
) -> None:
    """Note what was answered, and the board that was made of it."""
    connection.execute(
        update(invitations).where(invitations.c.id == number).values(state=state, board_id=board_id)
    )


def by_player(connection: Connection, player_id: int, since: datetime) -> int:
    """How many a player has written since then."""
    return _count(connection, invitations.c.player_id == player_id, since)


def has_invited(
    connection: Connection, player_id: int, marks: Sequence[str], since: datetime
) -> bool:
    """Whether a player has invited an address since then."""
    pair = (invitations.c.player_id == player_id) & invitations.c.mark.in_(marks)
    return _count(connection, pair, since) > 0


def sent_to(connection: Connection, marks: Sequence[str], since: datetime) -> int:
    """How many letters have gone to an address since then, whoever invited."""
    return _count(connection, invitations.c.sent & invitations.c.mark.in_(marks), since)


def _count(connection: Connection, which: ColumnElement[bool], since: datetime) -> int:
    statement = select(func.count()).where(which, invitations.c.created_at > since)
    return int(connection.execute(statement).scalar_one())


def want_none(connection: Connection, mark: str, now: datetime) -> None:
    """Never write to this address again; saying so twice changes nothing."""
    connection.execute(
        insert_into(connection, uninvited).values(mark=mark, since=now).on_conflict_do_nothing()
    )


def wants_none(connection: Connection, marks: Sequence[str]) -> bool:
    """Whether the owner of an address has asked for that."""
    found = connection.execute(select(uninvited.c.mark).where(uninvited.c.mark.in_(marks)))
    return found.first() is not None


def drop_open(connection: Connection, player_id: int) -> None:
    """Nobody can take up what a player has written who leaves."""
    connection.execute(
        delete(invitations).where(
            invitations.c.player_id == player_id, invitations.c.state == InvitationState.OPEN
        )
    )
