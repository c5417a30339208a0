"""The data about a player that ``export`` sends, ready for JSON.

Each statement names the columns that it shows, so that a new column is not shown by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import groupby
from operator import itemgetter
from typing import Any, TypeAlias

from sqlalchemy import (
    BindParameter,
    Column,
    ColumnElement,
    Connection,
    FromClause,
    Select,
    bindparam,
    or_,
    select,
)

from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import blocks
from pbmserv.store.accounts.players import Player
from pbmserv.store.shared_boxes.shared_boxes import SOLVED
from pbmserv.store.tables.accounts import address_changes, addresses, invitations, notices, players
from pbmserv.store.tables.boards import (
    boards,
    followers,
    plies,
    seats,
    seeks,
    submitted_moves,
    unconfirmed_boards,
)
from pbmserv.store.tables.boxes import daily_readers, shared_boards, shared_boxes
from pbmserv.store.tables.events import entries, event_bars, regulars
from pbmserv.store.tables.ladders import ladder_places, ladders
from pbmserv.store.tables.mail import bounces, inbox, outbox
from pbmserv.store.tables.operators import audit
from pbmserv.store.tables.ratings import rating_changes, ratings, scores
from pbmserv.store.tables.teams import team_members, teams


def data_of(connection: Connection, player: Player) -> dict[str, Mapping[str, Any] | Iterable[Any]]:
    """Return all data about a player that the player may know, by section.

    Of a board, these are the player's own moves as written, never what an opponent hides. Boards
    are read when they are iterated over.
    """
    absences = absence_rows.of_player(connection, player.id)
    return {
        "account": {
            **_rows(connection, _ACCOUNT.params(player_id=player.id))[0],
            "password": "kept only as an argon2id hash",
        },
        **_read(connection, _ADDRESSES, player.id),
        "blocked": blocks.blocked_userids(connection, [player.id]),
        "absences": [{"begins": _when(a.begins), "ends": _when(a.ends)} for a in absences],
        **_read(connection, _NOTICES, player.id),
        "boards": _boards(connection, player.id),
        **_read(connection, _GAMES, player.id),
        "done_by_operators": _rows(
            connection,
            select(*audit.c["at", "action", "why", "facts"])
            .where(audit.c.target == f"user {player.userid}")
            .order_by(audit.c.id),
        ),
        "letters_to_you": _letters(connection, player.id),
    }


_PLAYER: BindParameter[int] = bindparam("player_id")


def _own(
    owner: Column[Any],
    *columns: ColumnElement[Any],
    by: Column[Any] | None = None,
    of: FromClause | None = None,
) -> Select[Any]:
    """Return the statement for a player's rows of a table.

    Args:
        owner: the column with the player's id.
        by: the order of the rows.
        of: the table to which the rows belong, if its columns are read, too.
    """
    statement = select(*columns).where(owner == _PLAYER)
    if of is not None:
        statement = statement.join_from(of, owner.table)
    return statement if by is None else statement.order_by(by)


_Sections: TypeAlias = Mapping[str, Select[Any]]
"""Statements for the rows of one player, by the name of the section."""

_ACCOUNT = _own(
    players.c.id,
    *players.c["userid", "address", "state", "format", "tz", "accept", "remind"],
    players.c.broadcasts.label("broadcast"),
    players.c.announcements.label("announce"),
    *players.c["report", "labels", "public", "messages", "digest_minute"],
    *players.c["unreachable_since", "created_at"],
)
"""The account; labels are names by which players know the preferences."""

_ADDRESSES: _Sections = {
    "addresses": _own(
        addresses.c.player_id,
        *addresses.c["address", "confirmed_at"],
        by=addresses.c.confirmed_at,
    ),
    "address_changes": _own(
        address_changes.c.player_id,
        *address_changes.c["address", "created_at", "confirmed_at"],
        by=address_changes.c.id,
    ),
    "letters_came_back_from": select(
        *bounces.c["address", "hard", "soft", "hard_at", "soft_at"],
        *bounces.c["status", "diagnostic", "suspended_at"],
    )
    .where(bounces.c.address.in_(_own(addresses.c.player_id, addresses.c.address)))
    .order_by(bounces.c.address),
}
_NOTICES: _Sections = {
    "notices": _own(notices.c.player_id, *notices.c["kind", "told_at"], by=notices.c.kind)
}
_GAMES: _Sections = {
    "ladders": _own(
        ladder_places.c.player_id,
        ladders.c.game,
        *ladder_places.c["rank", "joined_at"],
        of=ladders,
        by=ladders.c.game,
    ),
    "seeks": _own(
        seeks.c.player_id,
        *seeks.c["game", "seats", "options", "created_at"],
        by=seeks.c.id,
    ),
    # Their options are left out, as those of a running board.
    "boards_to_confirm": _own(
        unconfirmed_boards.c.player_id,
        *unconfirmed_boards.c["game", "created_at", "board_id"],
        by=unconfirmed_boards.c.id,
    ),
    "invitations": _own(
        invitations.c.player_id,
        *invitations.c["created_at", "name", "game", "options", "state", "board_id"],
        by=invitations.c.id,
    ),
    "following": _own(
        followers.c.player_id, *followers.c["board_id", "what"], by=followers.c.board_id
    ),
    "ratings": _own(
        ratings.c.player_id,
        *ratings.c["game", "mu", "sigma", "ordinal", "games"],
        *ratings.c["wins", "losses", "draws", "opponents", "rated_at"],
        by=ratings.c.game,
    ),
    "rating_changes": _own(
        rating_changes.c.player_id,
        *rating_changes.c["board_id", "game", "number", "place", "mu_before", "sigma_before"],
        *rating_changes.c["mu_after", "sigma_after", "weight", "created_at"],
    ).order_by(rating_changes.c.game, rating_changes.c.number),
    "mails_received_from_you": _own(
        inbox.c.player_id,
        *inbox.c["id", "received_at", "sender", "peer", "state"],
        by=inbox.c.id,
    ),
    "shared_boxes": _own(
        shared_boards.c.player_id,
        *shared_boxes.c["game", "day", "event_id", "number"],
        *shared_boards.c["board_id", "rank", "score", "counts"],
        of=shared_boxes,
        by=shared_boxes.c.id,
    ),
    "daily_at": _own(daily_readers.c.player_id, *daily_readers.c["game", "minute", "due_at"]),
    "events": _own(
        entries.c.player_id,
        *entries.c["event_id", "status", "group_number", "seed", "rating"],
        *entries.c["forfeits", "place", "muted", "entered_at", "team_id"],
        by=entries.c.event_id,
    ),
    "teams": _own(
        team_members.c.player_id,
        teams.c.name,
        *team_members.c["status", "place", "muted", "since", "active_at"],
        of=teams,
        by=teams.c.id,
    ),
    "leagues_entered_each_season": _own(regulars.c.player_id, *regulars.c["game", "since"]),
    "events_closed_to_you": _own(event_bars.c.player_id, event_bars.c.until),
    "scores": _own(
        scores.c.player_id,
        *scores.c["board_id", "game", "kind", "score", "ended_at"],
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


def _boards(connection: Connection, player_id: int) -> Iterator[dict[str, Any]]:
    """Yield a player's boards with the player's moves, of which there may be very many."""
    boards_by_id = _boards_without_moves(connection, player_id)
    rows = connection.execute(_MOVES, {"player_id": player_id})
    for board_id, moves in groupby(rows, itemgetter(0)):
        own_moves = [
            {"seat": seat, "text": text, "created_at": _when(at)}
            for _, seat, text, at in moves
            if text is not None
        ]
        yield {**boards_by_id[board_id], "moves": own_moves}


# Numbers of plies are left out, since they would show how many plies others have made.
_MOVES = (
    select(seats.c.board_id, seats.c.seat, plies.c.text, plies.c.created_at)
    .outerjoin(plies, (plies.c.board_id == seats.c.board_id) & (plies.c.seat == seats.c.seat))
    .where(seats.c.player_id == _PLAYER)
    .order_by(seats.c.board_id, plies.c.number)
)
"""All moves of a player; a seat without moves is a row without a text."""


def _boards_without_moves(connection: Connection, player_id: int) -> dict[int, dict[str, Any]]:
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
            *boards.c["id", "game", "options", "status", "rated", "outcome"],
            *boards.c["created_at", "finished_at"],
            *seats.c["seat", "plan", "note"],
        )
        .join(seats, seats.c.board_id == boards.c.id)
        .where(seats.c.player_id == player_id)
        .order_by(boards.c.id, seats.c.seat)
    )
    for row in _rows(connection, statement):
        seat, plan, note = row.pop("seat"), row.pop("plan"), row.pop("note")
        # Options may show what is hidden on a running board, or in a box that others still solve.
        if row["status"] in {"proposed", "active"} or row["id"] in unsolved:
            del row["options"]
        board = boards_by_id.setdefault(row["id"], {**row, "seat": []})
        board["seat"].append(seat)
        if plan is not None:
            board["queued"] = plan
        if note is not None:
            board["note"] = note
    submitted = (
        select(*submitted_moves.c["board_id", "turn", "text", "created_at"])
        .join(
            seats,
            (seats.c.board_id == submitted_moves.c.board_id)
            & (seats.c.seat == submitted_moves.c.seat),
        )
        .where(seats.c.player_id == player_id)
    )
    for submitted_move in _rows(connection, submitted):
        boards_by_id[submitted_move.pop("board_id")]["submitted"] = submitted_move
    return boards_by_id


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


def _rows(connection: Connection, statement: Select[Any]) -> list[dict[str, Any]]:
    rows = connection.execute(statement)
    names = tuple(rows.keys())
    return [_plain(names, row) for row in rows.all()]


def _plain(names: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {
        name: _when(value) if isinstance(value, datetime) else value
        for name, value in zip(names, row, strict=True)
    }


def _when(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="seconds")
