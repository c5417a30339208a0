"""Rows of received mail: each mail is kept, and has an effect once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.mail.envelope import UNCHECKED, Verdict
from pbmserv.store.core.statements import Prepared, columns_of
from pbmserv.store.tables.mail import MailState, inbox

FOR_POSTMASTER = "for the postmaster"
"""Why a mail is kept on which our code did not fail."""


@dataclass(frozen=True, slots=True)
class Received:
    """A mail as it came."""

    id: int
    recipient: str
    sender: str
    peer: str
    raw: bytes = field(repr=False)
    state: MailState
    error: str
    received_at: datetime
    verdict: Verdict


_ADD = {
    name: Prepared(
        dialect.insert(inbox).on_conflict_do_nothing().returning(inbox.c.id),
        (
            "digest",
            "recipient",
            "sender",
            "peer",
            "raw",
            "state",
            "error",
            "received_at",
            "player_id",
            "verdict",
            "found",
            "octets",
        ),
    )
    for name, dialect in (("sqlite", sqlite), ("postgresql", postgresql))
}
_ONE = select(*columns_of(Received, inbox), inbox.c.found)
_SPEAKER = (
    update(inbox).where(inbox.c.id == bindparam("mail")).values(player_id=bindparam("player"))
)
_MARK = (
    update(inbox)
    .where(inbox.c.id == bindparam("mail"))
    .values(state=bindparam("new_state"), error=bindparam("new_error"))
)


def add(
    connection: Connection,
    *,
    digest: str,
    recipient: str,
    sender: str,
    peer: str,
    raw: bytes,
    state: str,
    error: str = "",
    player_id: int | None = None,
    verdict: Verdict = UNCHECKED,
    now: datetime,
) -> int | None:
    """Keep a mail; ``None`` when this mail has been here before.

    *player_id* is who speaks, where the address it came to says so.
    """
    found = _ADD[connection.dialect.name].run(
        connection,
        {
            "digest": digest,
            "recipient": recipient,
            "sender": sender.lower(),
            "peer": peer,
            "raw": raw,
            "state": state,
            "error": error,
            "received_at": now,
            "player_id": player_id,
            "verdict": verdict.result,
            "found": verdict.found,
            "octets": len(raw),
        },
    )
    return found[0][0] if found else None


def number_of(connection: Connection, digest: str, recipient: str) -> int | None:
    """The number of the mail that another is a copy of."""
    found: int | None = connection.execute(
        select(inbox.c.id).where(inbox.c.digest == digest, inbox.c.recipient == recipient)
    ).scalar()
    return found


def spoken_by(connection: Connection, mail_id: int, player_id: int) -> None:
    """Note whose mail it was, for the day on which all about that player must go."""
    connection.execute(_SPEAKER, {"mail": mail_id, "player": player_id})


def heard_from(
    connection: Connection, player_id: int, senders: Collection[str], since: datetime
) -> bool:
    """Whether a player has written since then, from these addresses or proving who it is."""
    found = connection.execute(
        select(inbox.c.id)
        .where(
            inbox.c.received_at > since,
            inbox.c.state.in_((MailState.DONE, MailState.ANSWERED)),
            or_(inbox.c.player_id == player_id, inbox.c.sender.in_(senders)),
        )
        .limit(1)
    )
    return found.first() is not None


def empty(connection: Connection, mail_id: int) -> None:
    """Keep no more of a mail than that it came."""
    connection.execute(
        update(inbox).where(inbox.c.id == mail_id).values(raw=b"", octets=0, sender="")
    )


_HAS_TEXT = text("octets > 0")  # literally as in the index
_UNUSED = text("state IN ('answered', 'ignored')")
_WITH_TEXT = (
    select(inbox.c.id, inbox.c.octets)
    .where(
        _HAS_TEXT,
        inbox.c.state == bindparam("became"),
        inbox.c.received_at < bindparam("before"),
    )
    .order_by(inbox.c.received_at)
    .limit(bindparam("most"))
)


def with_text(
    connection: Connection, state: str, before: datetime, most: int
) -> list[tuple[int, int]]:
    """Mails of that state from before then that still have their text, oldest first: each with
    the text's octets."""
    found = connection.execute(_WITH_TEXT, {"became": state, "before": before, "most": most})
    return [(row.id, row.octets) for row in found]


def octets(connection: Connection) -> dict[str, int]:
    """What the texts of mails take, by state."""
    found = connection.execute(
        select(inbox.c.state, func.sum(inbox.c.octets)).where(_HAS_TEXT).group_by(inbox.c.state)
    )
    return {state: int(taken) for state, taken in found}


def forget(connection: Connection, numbers: Sequence[int]) -> None:
    """Keep no more of mails than who wrote them and what became of them."""
    connection.execute(
        update(inbox).where(inbox.c.id.in_(numbers)).values(raw=b"", octets=0, peer="", found="")
    )


def drop_text(connection: Connection, mail_id: int) -> None:
    """Keep a mail's text no longer; what was found out about its sender stays for a while."""
    connection.execute(update(inbox).where(inbox.c.id == mail_id).values(raw=b"", octets=0))


def prune(connection: Connection, unproven: datetime, before: datetime, most: int) -> int:
    """Forget all of mails that led to nothing; how many there were, at most *most*.

    A copy that comes after that is read like a new mail, and such a one anybody could write:
    what it says has never counted. Where the sender is proven a copy could be kept back by
    somebody until it means something, so these stay longer.

    Args:
        unproven: nobody proved to have written them, and they came before then.
        before: they came before then, whoever wrote them.
    """
    old = or_(
        inbox.c.received_at < before,
        and_(
            inbox.c.received_at < unproven,
            inbox.c.verdict != "pass",
            inbox.c.player_id.is_(None),
        ),
    )
    found = (
        select(inbox.c.id)
        .where(_UNUSED, inbox.c.received_at < unproven, old, inbox.c.octets == 0)
        .limit(most)
    )
    return connection.execute(delete(inbox).where(inbox.c.id.in_(found))).rowcount


def mark(connection: Connection, mail_id: int, state: str, error: str = "") -> None:
    """Change what became of a mail."""
    connection.execute(_MARK, {"mail": mail_id, "new_state": state, "new_error": error})


def kept(connection: Connection, most: int = 100) -> list[Received]:
    """Return mails that wait for the operator: faults first, then mails for the postmaster, each
    with the newest first and at most *most* of them."""
    newest = _ONE.where(inbox.c.state == MailState.KEPT).order_by(inbox.c.id.desc()).limit(most)
    faults = connection.execute(newest.where(inbox.c.error != FOR_POSTMASTER)).all()
    others = connection.execute(newest.where(inbox.c.error == FOR_POSTMASTER)).all()
    return [_received(row) for row in (*faults, *others)]


def count_kept(connection: Connection) -> int:
    """Return how many mails wait for the operator."""
    count = select(func.count()).where(inbox.c.state == MailState.KEPT)
    return int(connection.execute(count).scalar_one())


def put_off(connection: Connection, limit: int) -> list[Received]:
    """Mails that wait until their players may send more, oldest first."""
    found = connection.execute(
        _ONE.where(inbox.c.state == MailState.LATER, _HAS_TEXT)
        .order_by(inbox.c.received_at, inbox.c.id)
        .limit(limit)
    )
    return [_received(row) for row in found]


def get(connection: Connection, mail_id: int) -> Received | None:
    """One mail, whatever became of it."""
    row = connection.execute(_ONE.where(inbox.c.id == mail_id)).first()
    return _received(row) if row else None


def lock(connection: Connection, mail_id: int, *states: MailState) -> Received | None:
    """A mail in one of these states, locked so that two cannot carry it out at once."""
    row = connection.execute(
        _ONE.where(inbox.c.id == mail_id, inbox.c.state.in_(states)).with_for_update()
    ).first()
    return _received(row) if row else None


def told_by(connection: Connection, mail_id: int, digest: str) -> bool:
    """Tell copies of a kept mail by *digest*; false when it is a copy of another mail itself.

    A mail that could not be read was kept under the digest of its octets, by which a copy with
    other blanks is another mail.
    """
    recipient = select(inbox.c.recipient).where(inbox.c.id == mail_id).scalar_subquery()
    other = select(inbox.c.id).where(
        inbox.c.digest == digest, inbox.c.recipient == recipient, inbox.c.id != mail_id
    )
    if connection.execute(other).first() is not None:
        return False
    connection.execute(update(inbox).where(inbox.c.id == mail_id).values(digest=digest))
    return True


def _received(row: Any) -> Received:
    *known, found = row
    mail = Received(*known)
    return replace(mail, verdict=Verdict(row.verdict, found))
