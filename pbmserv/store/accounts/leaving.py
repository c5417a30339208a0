"""Rows of players who leave or come back."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, delete, select, update

from pbmserv.store.accounts import address_changes as address_change_rows
from pbmserv.store.accounts import invitations as invitation_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import change_rows, delete_rows
from pbmserv.store.delivery import bounces
from pbmserv.store.ladders import ladder_places
from pbmserv.store.tables.accounts import PlayerState, players
from pbmserv.store.tables.boards import followers, seats, seeks, submitted_moves, unconfirmed_boards
from pbmserv.store.tables.boxes import daily_readers
from pbmserv.store.tables.events import regulars
from pbmserv.store.tables.mail import UNSENT, LetterState, outbox
from pbmserv.store.tables.teams import team_members, teams

HAS_LEFT = "the player has left"
"""Why a letter to somebody who left was not sent, for the operator."""


def leave(connection: Connection, player: Player, why: str, now: datetime) -> None:
    """Take a player off all ladders and teams, and end all letters to the player.

    The address is removed, and every reply address is revoked. All standing requests end: searches
    for opponents, followed boards, the box of the day, each season of a league, and plans.

    Args:
        why: the reason why waiting letters are not sent, for the operator.
    """
    ladder_places.leave_all(connection, player.id, now)
    connection.execute(
        update(players)
        .where(players.c.id == player.id)
        .values(
            state=PlayerState.LEFT,
            address="",
            reply_epoch=player.reply_epoch + 1,
            digest_minute=None,
            digest_due=None,
            unreachable_since=None,
        )
    )
    _leave_team(connection, player.id)
    for table in (seeks, followers, daily_readers, unconfirmed_boards, regulars):
        delete_rows(connection, table, player_id=player.id)
    address_change_rows.stop(connection, player.id)
    invitation_rows.drop_open(connection, player.id)
    drop_plans_and_notes(connection, player.id)
    fail_unsent(connection, outbox.c.player_id == player.id, why)


def fail_unsent(connection: Connection, which: ColumnElement[bool], why: str) -> None:
    """Fail those of some letters that are not sent yet."""
    connection.execute(
        update(outbox)
        .where(which, outbox.c.state.in_(UNSENT))
        .values(state=LetterState.FAILED, due_at=None, error=why)
    )


def _leave_team(connection: Connection, player_id: int) -> None:
    """Remove a player from a team, which the scheduler then checks: it may need another captain."""
    own = select(team_members.c.team_id).where(team_members.c.player_id == player_id)
    connection.execute(
        update(teams)
        .where(teams.c.id.in_(own), teams.c.due_at.is_not(None))
        .values(due_at=teams.c.created_at)
    )
    delete_rows(connection, team_members, player_id=player_id)


def come_back(connection: Connection, player: Player, address: str) -> None:
    """Send letters to *address*, a confirmed one, again, and forget the bounces from there."""
    bounces.forgive(connection, [address])
    change_rows(connection, players, {"id": player.id}, state=PlayerState.ACTIVE, address=address)


def drop_plans_and_notes(connection: Connection, player_id: int) -> None:
    """Delete plans, notes, and moves that wait for a confirmation."""
    connection.execute(
        update(seats).where(seats.c.player_id == player_id).values(plan=None, note=None)
    )
    seated = select(seats.c.seat).where(
        seats.c.board_id == submitted_moves.c.board_id,
        seats.c.seat == submitted_moves.c.seat,
        seats.c.player_id == player_id,
    )
    connection.execute(delete(submitted_moves).where(seated.exists()))
