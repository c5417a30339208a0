"""Rows of signups: requests for userids, which letters ask to confirm."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import Any, Self

from sqlalchemy import Connection, select, update

from pbmserv.store.core.statements import add_numbered_row, change_rows, columns_of
from pbmserv.store.tables.accounts import signups


@dataclass(frozen=True, slots=True)
class WaitingChallenge:
    """A challenge that is issued when its signup is confirmed.

    Attributes:
        friends: userids of the other players; empty if the challenge goes to an address.
        address: the friend's mail address, ``""`` for none.
        options, times: words of the command.
    """

    game: str
    friends: tuple[str, ...]
    address: str
    options: tuple[str, ...]
    times: tuple[str, ...]

    @classmethod
    def of_json(cls, words: dict[str, Any]) -> Self:
        """Return the challenge that a row holds as JSON."""
        lists = {name: tuple(words[name]) for name in ("friends", "options", "times")}
        return cls(**{**words, **lists})


@dataclass(frozen=True, slots=True)
class PendingSignup:
    """A request for a userid from one address.

    Attributes:
        batch: joins the requests of one signup for several addresses.
        challenge: to be issued by the confirmation; `None` for none.
        player_id: player that was created by the confirmation; `None` before.
        created_at: time of the confirmation letter, or of the request before that letter.
    """

    id: int
    userid: str
    password_hash: str = field(repr=False)
    address: str
    batch: str
    player_id: int | None
    created_at: datetime
    challenge: WaitingChallenge | None


def add(
    connection: Connection,
    userid: str,
    password_hash: str,
    address: str,
    batch: str,
    now: datetime,
    challenge: WaitingChallenge | None = None,
) -> int:
    """Store a request until it is confirmed; return its id."""
    return add_numbered_row(
        connection,
        signups,
        userid=userid,
        password_hash=password_hash,
        address=address,
        batch=batch,
        created_at=now,
        challenge=None if challenge is None else asdict(challenge),
    )


_SIGNUP = select(*columns_of(PendingSignup, signups))


def _signup(row: Any) -> PendingSignup:
    challenge = None if row.challenge is None else WaitingChallenge.of_json(row.challenge)
    return replace(PendingSignup(*row), challenge=challenge)


def by_id(connection: Connection, signup_id: int) -> PendingSignup | None:
    """Return a request for a userid, `None` if there is none."""
    row = connection.execute(_SIGNUP.where(signups.c.id == signup_id)).first()
    return _signup(row) if row else None


def of_userid(connection: Connection, userid: str) -> list[PendingSignup]:
    """Return the unconfirmed requests for a userid, newest first."""
    rows = connection.execute(
        _SIGNUP.where(signups.c.userid == userid, signups.c.player_id.is_(None)).order_by(
            signups.c.id.desc()
        )
    )
    return [_signup(row) for row in rows]


def of_batch(connection: Connection, batch: str) -> list[PendingSignup]:
    """Return the unconfirmed requests of a batch."""
    rows = connection.execute(
        _SIGNUP.where(signups.c.batch == batch, signups.c.player_id.is_(None)).order_by(
            signups.c.id
        )
    )
    return [_signup(row) for row in rows]


def note_questions(connection: Connection, numbers: Sequence[int], now: datetime) -> None:
    """Note that confirmation letters for these requests are sent now."""
    connection.execute(update(signups).where(signups.c.id.in_(numbers)).values(created_at=now))


def batch_owner(connection: Connection, batch: str) -> int | None:
    """Return the player that another request of the same batch has created."""
    return connection.execute(
        select(signups.c.player_id)
        .where(signups.c.batch == batch, signups.c.player_id.is_not(None))
        .limit(1)
    ).scalar()


def challenge_of(connection: Connection, address: str, since: datetime) -> WaitingChallenge | None:
    """Return the waiting challenge of an address, if its signup is newer than *since*."""
    words = connection.execute(
        select(signups.c.challenge)
        .where(
            signups.c.address == address,
            signups.c.challenge.is_not(None),
            signups.c.created_at > since,
        )
        .limit(1)
    ).scalar()
    return None if words is None else WaitingChallenge.of_json(words)


def forget_challenge(connection: Connection, address: str) -> None:
    """Remove the waiting challenge of an address from all its requests."""
    connection.execute(
        update(signups)
        .where(signups.c.address == address, signups.c.challenge.is_not(None))
        .values(challenge=None)
    )


def settle(connection: Connection, signup_id: int, player_id: int) -> None:
    """Note the player that a request has created."""
    change_rows(connection, signups, {"id": signup_id}, player_id=player_id)
