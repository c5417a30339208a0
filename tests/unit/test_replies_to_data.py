"""The one reply to a mail for several recipients, by SMTP, and the many by LMTP."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from pbmserv.mail.envelope import Envelope
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.smtpd.dialog import Dialog

HOUSE = MailDomain("pbmserv", "games.example", KeyRing({1: b"k" * 32}))
STORED, LATER, NEVER = "250 2.0.0 OK 1", "451 4.3.0 later", "550 5.7.1 never"


class Door:
    """Replies to the mails for its recipients in their order."""

    def __init__(self, replies: list[str]) -> None:
        self._replies = iter(replies)

    def early_refusal(self, envelope: Envelope) -> str:
        return ""

    async def receive(self, envelope: Envelope) -> str:
        return next(self._replies)


def reply_to_data(replies: list[str], *, lmtp: bool) -> tuple[str, bool]:
    """Return the reply to a mail, and whether the session is renewed."""
    renewed: list[bool] = []
    recipients = [f"{number}@games.example" for number in range(len(replies))]
    server: Any = SimpleNamespace(
        peer="",
        hello="",
        is_ours=False,
        place=SimpleNamespace(stage=None),
        renew=lambda: renewed.append(True),
    )
    mail: Any = SimpleNamespace(mail_from="", content=b"Subject: g\r\n\r\n", rcpt_tos=recipients)
    dialog = Dialog(HOUSE, Door(replies), lmtp=lmtp)
    reply = asyncio.run(dialog.store_mail(server, mail))
    return reply, bool(renewed)


@pytest.mark.parametrize(
    ("replies", "reply"),
    [
        ([STORED, STORED], STORED),
        ([STORED, LATER], LATER),
        ([NEVER, LATER, STORED], LATER),
        ([STORED, NEVER], NEVER),
    ],
)
def test_a_client_tries_again_if_that_can_help_one_recipient(
    replies: list[str], reply: str
) -> None:
    assert reply_to_data(replies, lmtp=False) == (reply, STORED in replies)


def test_by_lmtp_each_recipient_has_its_own_reply() -> None:
    replies = [NEVER, LATER, STORED]
    assert reply_to_data(replies, lmtp=True) == ("\r\n".join(replies), True)
