"""Rows of mails: how long they keep a copy of a mail from having an effect."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from sqlalchemy import select

from pbmserv.mail.envelope import Verdict
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox
from pbmserv.store.delivery.inbox import NewMail
from pbmserv.store.tables.mail import MailState
from pbmserv.store.tables.mail import inbox as rows

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


def test_a_proven_mail_without_effect_is_remembered_longer(database: Database) -> None:
    """Somebody could hold a player's own mail back until it has an effect."""
    unproven = NewMail("unproven", OURS, ALICE, "", b"", MailState.IGNORED)
    mails = [
        unproven,
        replace(unproven, digest="by address", verdict=Verdict("pass", "")),
        replace(unproven, digest="by reply", player_id=1),
        replace(unproven, digest="carried out", state=MailState.DONE),
    ]

    def left_after(days: int) -> set[str]:
        now = NOW + timedelta(days=days)
        inbox.prune(connection, now - timedelta(days=7), now - timedelta(days=90), 10)
        return set(connection.execute(select(rows.c.digest)).scalars())

    with database.writing.begin() as connection:
        for mail in mails:
            inbox.add(connection, mail, NOW)
        assert left_after(6) == {"unproven", "by address", "by reply", "carried out"}
        assert left_after(8) == {"by address", "by reply", "carried out"}
        assert left_after(91) == {"carried out"}
