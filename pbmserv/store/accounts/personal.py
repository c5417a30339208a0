"""All data about a player, ready for JSON, as ``export`` sends it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from sqlalchemy import (
    BindParameter,
    Column,
    Connection,
    FromClause,
    Select,
    bindparam,
    or_,
    select,
    type_coerce,
)

from pbmserv.store.accounts import blocks, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.shared_boxes.shared_boxes import SOLVED
from pbmserv.store.tables.accounts import addresses, invitations, notices, players
from pbmserv.store.tables.boards import boards, followers, plies, seats, seeks
from pbmserv.store.tables.boxes import daily_readers, shared_boards, shared_boxes
from pbmserv.store.tables.columns import InstantText
from pbmserv.store.tables.events import entries, event_bars, regulars
from pbmserv.store.tables.ladders import ladder_places, ladders
from pbmserv.store.tables.mail import bounces, inbox, outbox
from pbmserv.store.tables.operators import audit
from pbmserv.store.tables.ratings import rating_changes, ratings, scores
from pbmserv.store.tables.teams import team_members, teams


def data_of(connection: Connection, player: Player) -> dict[str, Any]:
    """Return all data about a player that the player may know.

    Of a board, these are the player's own moves as written, never what an opponent hides. The
    password hash is left out.
    """
    absences = preferences.absences_of(connection, player.id)
    return {
        "account": _account(connection, player),
        **_read(connection, _ADDRESSES, player.id),
        "blocked": blocks.blocked_userids(connection, [player.id]),
        "absences": [{"begins": _when(a.begins), "ends": _when(a.ends)} for a in absences],
        **_read(connection, _NOTICES, player.id),
        "boards": _boards(connection, player.id),
        **_read(connection, _GAMES, player.id),
        "done_by_operators": _rows(
            connection,
            select(audit.c.at, audit.c.action, audit.c.why, audit.c.facts)
            .where(audit.c.target == f"user {player.userid}")
            .order_by(audit.c.id),
        ),
        "letters_to_you": _letters(connection, player.id),
    }


_PLAYER: BindParameter[int] = bindparam("player_id")


def _own(
    owner: Column[Any],
    *columns: Column[Any],
    by: Column[Any] | None = None,
    of: FromClause | None = None,
) -> Select[Any]:
    """Return the statement for a player's rows of a table.

    Args:
        owner: the column with the player's id.
        columns: default: all of the table.
        by: the order of the rows.
        of: the table to which the rows belong, if its columns are read, too.
    """
    statement = select(*(columns or (owner.table,))).where(owner == _PLAYER)
    if of is not None:
        statement = statement.join_from(of, owner.table)
    return statement if by is None else statement.order_by(by)


_Sections: TypeAlias = Mapping[str, Select[Any]]
"""Statements for the rows of one player, by the name of the section."""

_ADDRESSES: _Sections = {
    "addresses": _own(
        addresses.c.player_id,
        addresses.c.address,
        addresses.c.confirmed_at,
        by=addresses.c.confirmed_at,
    ),
    "letters_came_back_from": select(bounces)
    .where(bounces.c.address.in_(_own(addresses.c.player_id, addresses.c.address)))
    .order_by(bounces.c.address),
}
_NOTICES: _Sections = {
    "notices": _own(notices.c.player_id, notices.c.kind, notices.c.told_at, by=notices.c.kind)
}
_GAMES: _Sections = {
    "ladders": _own(
        ladder_places.c.player_id,
        ladders.c.game,
        ladder_places.c.rank,
        ladder_places.c.joined_at,
        of=ladders,
        by=ladders.c.game,
    ),
    "seeks": _own(
        seeks.c.player_id,
        seeks.c.game,
        seeks.c.seats,
        seeks.c.options,
        seeks.c.created_at,
        by=seeks.c.id,
    ),
    "invitations": _own(
        invitations.c.player_id,
        invitations.c.created_at,
        invitations.c.name,
        invitations.c.game,
        invitations.c.options,
        invitations.c.state,
        invitations.c.board_id,
        by=invitations.c.id,
    ),
    "following": _own(
        followers.c.player_id, followers.c.board_id, followers.c.what, by=followers.c.board_id
    ),
    "ratings": _own(ratings.c.player_id, by=ratings.c.game),
    "rating_changes": _own(rating_changes.c.player_id).order_by(
        rating_changes.c.game, rating_changes.c.number
    ),
    "mails_received_from_you": _own(
        inbox.c.player_id,
        inbox.c.id,
        inbox.c.received_at,
        inbox.c.sender,
        inbox.c.peer,
        inbox.c.state,
        by=inbox.c.id,
    ),
    "shared_boxes": _own(
        shared_boards.c.player_id,
        shared_boxes.c.game,
        shared_boxes.c.day,
        shared_boxes.c.event_id,
        shared_boxes.c.number,
        shared_boards.c.board_id,
        shared_boards.c.rank,
        shared_boards.c.score,
        shared_boards.c.counts,
        of=shared_boxes,
        by=shared_boxes.c.id,
    ),
    "daily_at": _own(daily_readers.c.player_id),
    "events": _own(entries.c.player_id, by=entries.c.event_id),
    "teams": _own(
        team_members.c.player_id,
        teams.c.name,
        team_members.c.status,
        team_members.c.place,
        team_members.c.muted,
        team_members.c.since,
        team_members.c.active_at,
        of=teams,
        by=teams.c.id,
    ),
    "leagues_entered_each_season": _own(regulars.c.player_id),
    "events_closed_to_you": _own(event_bars.c.player_id),
    "scores": _own(
        scores.c.player_id,
        scores.c.board_id,
        scores.c.game,
        scores.c.kind,
        scores.c.score,
        scores.c.ended_at,
        by=scores.c.board_id,
    ),
}


def _read(
    connection: Connection, sections: _Sections, player_id: int
) -> dict[str, list[dict[str, Any]]]:
    return {
        name: _rows(connection, statement.params(player_id=player_id))
        for name, statement in sections.items()
    }


_NAMES_IN_PREFS = {"broadcasts": "broadcast", "announcements": "announce"}
"""Names that players know, by the names of columns, where they differ."""


def _account(connection: Connection, player: Player) -> dict[str, Any]:
    """Return the account, with every column of `Player` but the secret ones."""
    columns = {
        _NAMES_IN_PREFS.get(name, name): _when(value) if isinstance(value, datetime) else value
        for name, value in player.columns.items()
        if name not in {"password_hash", "reply_epoch"}
    }
    created = connection.execute(
        select(players.c.created_at).where(players.c.id == player.id)
    ).scalar_one()
    return {
        **columns,
        "created_at": _when(created),
        "password": "kept only as an argon2id hash",
    }


def _boards(connection: Connection, player_id: int) -> list[dict[str, Any]]:
    boards_by_id: dict[int, dict[str, Any]] = {}
    unsolved = set(
        connection.execute(
            select(shared_boards.c.board_id).where(
                shared_boards.c.player_id == player_id,
                or_(shared_boards.c.rank.is_(None), shared_boards.c.rank != SOLVED),
            )
        ).scalars()
    )
    statement = (
        select(
            boards.c.id,
            boards.c.game,
            boards.c.options,
            boards.c.status,
            boards.c.rated,
            boards.c.outcome,
            boards.c.created_at,
            boards.c.finished_at,
            seats.c.seat,
        )
        .join(seats, seats.c.board_id == boards.c.id)
        .where(seats.c.player_id == player_id)
        .order_by(boards.c.id, seats.c.seat)
    )
    for row in connection.execute(statement).mappings():
        plain = _plain(list(row.keys()), list(row.values()))
        board = boards_by_id.setdefault(row["id"], {**plain, "seat": [], "moves": []})
        # Options may show what is hidden on a running board, or in a box that others still solve.
        if row["status"] in {"proposed", "active"} or row["id"] in unsolved:
            board.pop("options", None)
        board["seat"].append(row["seat"])
    moves = (
        select(
            plies.c.board_id,
            plies.c.seat,
            plies.c.text,
            type_coerce(plies.c.created_at, InstantText),
        )
        .join(seats, (seats.c.board_id == plies.c.board_id) & (seats.c.seat == plies.c.seat))
        .where(seats.c.player_id == player_id)
        .order_by(plies.c.board_id, plies.c.number)
    )
    # The number of a ply on its board would show how many plies others have made.
    numbers: Counter[tuple[int, int]] = Counter()
    for board_id, seat, text, at in connection.execute(moves).all():
        numbers[board_id, seat] += 1
        move = {"number": numbers[board_id, seat], "seat": seat, "text": text, "created_at": at}
        boards_by_id[board_id]["moves"].append(move)
    plans = select(seats.c.board_id, seats.c.plan).where(
        seats.c.player_id == player_id, seats.c.plan.is_not(None)
    )
    for plan in connection.execute(plans):
        boards_by_id[plan.board_id]["queued"] = plan.plan
    notes = select(seats.c.board_id, seats.c.note).where(
        seats.c.player_id == player_id, seats.c.note.is_not(None)
    )
    for seat in connection.execute(notes):
        boards_by_id[seat.board_id]["note"] = seat.note
    return list(boards_by_id.values())


def _letters(connection: Connection, player_id: int) -> list[dict[str, Any]]:
    """Return the letters to a player, and the words of people in them."""
    rows = connection.execute(
        select(
            outbox.c.letter, outbox.c.created_at, outbox.c.board_id, outbox.c.state, outbox.c.words
        )
        .where(outbox.c.player_id == player_id)
        .order_by(outbox.c.id)
    )
    letters = []
    for row in rows:
        letter = {
            "letter": row.letter,
            "written_at": _when(row.created_at),
            "board": row.board_id,
            "state": row.state,
        }
        for key in ("by", "to", "said", "said_to"):
            if row.words.get(key):
                letter[key] = row.words[key]
        letters.append(letter)
    return letters


def _rows(connection: Connection, statement: Any) -> list[dict[str, Any]]:
    rows = connection.execute(statement)
    names = tuple(rows.keys())
    return [_plain(names, row) for row in rows.all()]


def _plain(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: _when(value) if isinstance(value, datetime) else value
        for name, value in zip(names, row, strict=True)
        if name != "player_id"
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
