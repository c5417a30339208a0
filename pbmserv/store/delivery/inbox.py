"""Rows of received mails; the unique key lets each mail have an effect once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, and_, bindparam, delete, func, or_, select, text, update
from sqlalchemy.dialects import postgresql, sqlite

from pbmserv.mail.envelope import UNCHECKED, Envelope, Verdict
from pbmserv.store.core.prepared import Prepared
from pbmserv.store.core.statements import columns_of
from pbmserv.store.delivery.shares import next_number, share_for, share_of
from pbmserv.store.tables.mail import MailState, inbox

MOST_LISTED = 100
"""Most kept mails that an operator sees at once, of faults and for the postmaster each."""

FOR_POSTMASTER = "for the postmaster"
"""Error of a mail that is kept although our code did not fail."""


@dataclass(frozen=True, slots=True)
class NewMail:
    """A mail, or a request of a page, to store.

    Attributes:
        digest: copies of one mail to one recipient have the same.
        sender: address of the envelope; the player's for a request of a page.
        error: why it was not carried out; ``""`` if it is.
        player_id: the sender, if the recipient address names a player.
    """

    digest: str
    recipient: str
    sender: str
    peer: str
    raw: bytes = field(repr=False)
    state: MailState
    error: str = ""
    player_id: int | None = None
    verdict: Verdict = UNCHECKED

    @classmethod
    def of_envelope(
        cls, envelope: Envelope, digest: str, state: MailState, error: str, verdict: Verdict
    ) -> NewMail:
        """Return a mail for its recipient in lower case, since copies may differ in that."""
        recipient = envelope.recipient.lower()
        sender, peer, raw = envelope.sender, envelope.peer, envelope.raw
        return cls(digest, recipient, sender, peer, raw, state, error, verdict=verdict)


@dataclass(frozen=True, slots=True)
class StoredMail:
    """A mail in the inbox."""

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
        statement.on_conflict_do_nothing().returning(inbox.c.id),
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
            "share",
        ),
    )
    for name, statement in (
        ("sqlite", sqlite.insert(inbox)),
        ("postgresql", postgresql.insert(inbox).values(id=next_number(inbox))),
    )
}
_MAIL = select(*columns_of(StoredMail, inbox), inbox.c.found)
_IS_ROW = and_(inbox.c.id == bindparam("mail"), inbox.c.share == bindparam("mail_share"))
_SET_PLAYER = update(inbox).where(_IS_ROW).values(player_id=bindparam("player"))
_DROP_TEXT = Prepared(update(inbox).where(_IS_ROW).values(raw=b"", octets=0))
_MARK = (
    update(inbox).where(_IS_ROW).values(state=bindparam("new_state"), error=bindparam("new_error"))
)


def add(connection: Connection, new: NewMail, now: datetime) -> int | None:
    """Store a mail and return its number; `None` if it is a copy of an earlier one."""
    share = share_for(connection, new.digest)
    rows = _ADD[connection.dialect.name].run(
        connection,
        {
            "digest": new.digest,
            "recipient": new.recipient,
            "sender": new.sender.lower(),
            "peer": new.peer,
            "raw": new.raw,
            "state": new.state,
            "error": new.error,
            "received_at": now,
            "player_id": new.player_id,
            "verdict": new.verdict.result,
            "found": new.verdict.checks,
            "octets": len(new.raw),
            "share": share,
            "new_share": share,
        },
    )
    return rows[0][0] if rows else None


def number_of(connection: Connection, digest: str, recipient: str) -> int | None:
    """Return the number of the mail with this digest and recipient."""
    mail_id: int | None = connection.execute(
        select(inbox.c.id).where(inbox.c.digest == digest, inbox.c.recipient == recipient)
    ).scalar()
    return mail_id


def _key_of(connection: Connection, mail_id: int) -> dict[str, int]:
    return {"mail": mail_id, "mail_share": share_of(connection, mail_id)}


def set_player(connection: Connection, mail_id: int, player_id: int) -> None:
    """Note the player who sent a mail, so that `delete` finds it."""
    connection.execute(_SET_PLAYER, {**_key_of(connection, mail_id), "player": player_id})


def heard_from(
    connection: Connection, player_id: int, senders: Collection[str], since: datetime
) -> bool:
    """Return whether a player has written since a moment, proven or from these addresses."""
    rows = connection.execute(
        select(inbox.c.id)
        .where(
            inbox.c.received_at > since,
            inbox.c.state.in_((MailState.DONE, MailState.ANSWERED)),
            or_(inbox.c.player_id == player_id, inbox.c.sender.in_(senders)),
        )
        .limit(1)
    )
    return rows.first() is not None


def erase_text_and_sender(connection: Connection, mail_id: int) -> None:
    """Remove the text and the sender of a mail; its row stays."""
    erased = update(inbox).where(_IS_ROW).values(raw=b"", octets=0, sender="")
    connection.execute(erased, _key_of(connection, mail_id))


_HAS_TEXT = text("octets > 0")  # literally as in the index
_HAD_NO_EFFECT = text("state IN ('answered', 'ignored')")
_WITH_TEXT = (
    select(inbox.c.id, inbox.c.octets)
    .where(
        _HAS_TEXT,
        inbox.c.state == bindparam("with_state"),
        inbox.c.received_at < bindparam("before"),
    )
    .order_by(inbox.c.received_at)
    .limit(bindparam("most"))
)


def with_text(
    connection: Connection, state: str, before: datetime, most: int
) -> list[tuple[int, int]]:
    """Return number and octets of mails in a state that have their text, oldest first."""
    rows = connection.execute(_WITH_TEXT, {"with_state": state, "before": before, "most": most})
    return [(row.id, row.octets) for row in rows]


def octets(connection: Connection) -> dict[str, int]:
    """Return the octets of the texts of mails, by state."""
    rows = connection.execute(
        select(inbox.c.state, func.sum(inbox.c.octets)).where(_HAS_TEXT).group_by(inbox.c.state)
    )
    return {state: int(size) for state, size in rows}


def erase_texts(connection: Connection, numbers: Sequence[int]) -> None:
    """Remove the texts of mails, their peers and sender checks."""
    connection.execute(
        update(inbox).where(inbox.c.id.in_(numbers)).values(raw=b"", octets=0, peer="", found="")
    )


def drop_text(connection: Connection, mail_id: int) -> None:
    """Remove the text of a mail; its sender check stays for a while."""
    _DROP_TEXT.run(connection, _key_of(connection, mail_id))


def prune(connection: Connection, unproven: datetime, before: datetime, most: int) -> int:
    """Delete rows of mails that had no effect; return their number.

    A later copy of such a mail is read like a new mail. If the sender is not proven, this does no
    harm: anybody could write it. A proven mail could be held back by somebody until it has an
    effect, so its row stays longer.

    Args:
        unproven: delete mails without a proven sender from before this time.
        before: delete all mails from before this time.
        most: largest number of rows.
    """
    old = or_(
        inbox.c.received_at < before,
        and_(
            inbox.c.received_at < unproven,
            inbox.c.verdict != "pass",
            inbox.c.player_id.is_(None),
        ),
    )
    prunable = (
        select(inbox.c.id)
        .where(_HAD_NO_EFFECT, inbox.c.received_at < unproven, old, inbox.c.octets == 0)
        .limit(most)
    )
    return connection.execute(delete(inbox).where(inbox.c.id.in_(prunable))).rowcount


def mark(connection: Connection, mail_id: int, state: str, error: str = "") -> None:
    """Change the state of a mail."""
    values = {"new_state": state, "new_error": error}
    connection.execute(_MARK, {**_key_of(connection, mail_id), **values})


def kept(connection: Connection) -> list[StoredMail]:
    """Return mails that wait for the operator: faults, then mails for the postmaster.

    Both are newest first, and at most `MOST_LISTED`.
    """
    newest = (
        _MAIL.where(inbox.c.state == MailState.KEPT).order_by(inbox.c.id.desc()).limit(MOST_LISTED)
    )
    faults = connection.execute(newest.where(inbox.c.error != FOR_POSTMASTER)).all()
    others = connection.execute(newest.where(inbox.c.error == FOR_POSTMASTER)).all()
    return [_stored(row) for row in (*faults, *others)]


def count_kept(connection: Connection) -> int:
    """Return the number of mails that wait for the operator."""
    count = select(func.count()).where(inbox.c.state == MailState.KEPT)
    return int(connection.execute(count).scalar_one())


def put_off(connection: Connection, limit: int) -> list[StoredMail]:
    """Return mails that wait until their players may send more, oldest first."""
    rows = connection.execute(
        _MAIL.where(inbox.c.state == MailState.LATER, _HAS_TEXT)
        .order_by(inbox.c.received_at, inbox.c.id)
        .limit(limit)
    )
    return [_stored(row) for row in rows]


def awaited_games(connection: Connection) -> set[str]:
    """Return the keys of the games for which mails wait."""
    rows = connection.execute(
        select(inbox.c.error).where(inbox.c.state == MailState.PAUSED, _HAS_TEXT).distinct()
    )
    return set(rows.scalars())


def paused(connection: Connection, game: str, limit: int) -> list[StoredMail]:
    """Return mails that wait until a game can be played, oldest first."""
    rows = connection.execute(
        _MAIL.where(inbox.c.state == MailState.PAUSED, inbox.c.error == game, _HAS_TEXT)
        .order_by(inbox.c.received_at, inbox.c.id)
        .limit(limit)
    )
    return [_stored(row) for row in rows]


def count_paused(connection: Connection) -> tuple[int, datetime | None]:
    """Return the number of mails that wait for their games, and when the first one came."""
    row = connection.execute(
        select(func.count(), func.min(inbox.c.received_at)).where(
            inbox.c.state == MailState.PAUSED, _HAS_TEXT
        )
    ).one()
    return int(row[0]), row[1]


def get(connection: Connection, mail_id: int) -> StoredMail | None:
    """Return a mail in any state."""
    row = connection.execute(_MAIL.where(_IS_ROW), _key_of(connection, mail_id)).first()
    return _stored(row) if row else None


def lock(connection: Connection, mail_id: int, *states: MailState) -> StoredMail | None:
    """Return a mail in one of these states, and lock its row."""
    row = connection.execute(
        _MAIL.where(_IS_ROW, inbox.c.state.in_(states)).with_for_update(),
        _key_of(connection, mail_id),
    ).first()
    return _stored(row) if row else None


def set_digest(connection: Connection, mail_id: int, digest: str) -> bool:
    """Set the digest of a kept mail to that of its parsed form.

    A mail that could not be read was stored under the digest of its octets, which a copy with other
    blanks does not have.

    Returns:
        False if the mail is a copy of another one.
    """
    recipient = select(inbox.c.recipient).where(inbox.c.id == mail_id).scalar_subquery()
    other = select(inbox.c.id).where(
        inbox.c.digest == digest, inbox.c.recipient == recipient, inbox.c.id != mail_id
    )
    if connection.execute(other).first() is not None:
        return False
    connection.execute(update(inbox).where(inbox.c.id == mail_id).values(digest=digest))
    return True


def _stored(row: Any) -> StoredMail:
    *columns, evidence = row
    mail = StoredMail(*columns)
    return replace(mail, verdict=Verdict(row.verdict, evidence))
