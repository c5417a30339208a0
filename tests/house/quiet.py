"""Carries out mails without moves of the house."""

from __future__ import annotations

from email import policy
from email.message import EmailMessage

from indoors import Indoors
from running import Letter

from pbmserv.mail.envelope import Envelope


def take(server: Indoors, letter: Letter, body: str) -> None:
    """Carry out a reply, and do nothing else."""
    mail = EmailMessage()
    mail["From"] = sender = str(letter.message["To"])
    mail["To"] = letter.reply_to
    mail["Subject"] = f"Re: {letter.subject}"
    mail["Message-ID"] = f"<{letter.id}.{body}@players.example>"
    mail.set_content(body)
    envelope = Envelope(sender, letter.reply_to, mail.as_bytes(policy=policy.SMTP))
    answer = server.hand_in(envelope)
    assert answer.startswith("250")
