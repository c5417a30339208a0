"""Reads SMTP commands strictly: aiosmtpd's protocol with our own reader, MAIL, RCPT, VRFY and DATA.

aiosmtpd (1.4) has no hook for the reader of a session: it makes one and passes it to
`asyncio.StreamReaderProtocol`. `_StrictLines` comes between the two and replaces the reader.
`tests/unit/test_aiosmtpd.py` fails if a new version makes or uses its reader in another way. The
other parts use documented hooks: methods named ``smtp_COMMAND``, and the handler's methods.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, Protocol

from aiosmtpd.smtp import SMTP, Envelope, Session, syntax

from pbmserv.smtpd.arguments import CommandRefused, read_recipient, read_sender
from pbmserv.smtpd.lines import StrictReader


class Handler(Protocol):
    """Decides at each step of a session: see `pbmserv.smtpd.dialog`."""

    def begin_mail(self, envelope: Envelope, sender: str) -> str:
        """Set the sender; return the reply."""
        ...

    def add_recipient(self, server: Any, envelope: Envelope, recipient: str) -> str:
        """Add a recipient; return the reply."""
        ...

    async def store_mail(self, server: Any, envelope: Envelope) -> str:
        """Store ``envelope.content``; return the reply."""
        ...


class _StrictLines(asyncio.StreamReaderProtocol):
    """Replaces the reader that aiosmtpd makes.

    Attributes:
        lines: the reader of this session.
    """

    def __init__(
        self,
        _reader: asyncio.StreamReader,
        client_connected_cb: Callable[..., Any] | None = None,
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self.lines = StrictReader(loop)
        super().__init__(self.lines, client_connected_cb, loop)

    def data_received(self, data: bytes) -> None:
        """Hand octets to the reader."""
        self.lines.octets_received += len(data)
        super().data_received(data)


class StrictSmtp(SMTP, _StrictLines):
    """An SMTP session whose commands and mails cannot be read in two ways."""

    event_handler: Handler
    data_size_limit: int  # aiosmtpd would also allow `None`

    def current(self) -> tuple[Session, Envelope]:
        """Return the session and the envelope, which aiosmtpd makes when a connection begins."""
        assert self.session is not None
        assert self.envelope is not None
        return self.session, self.envelope

    @syntax("MAIL FROM:<address>", extended=" [SP <mail-parameters>]")
    async def smtp_MAIL(self, arg: str | None) -> None:  # noqa: N802 - named by aiosmtpd
        """Begin a mail (RFC 5321 section 4.1.1.2)."""
        if await self.check_helo_needed():
            return
        session, envelope = self.current()
        try:
            if envelope.mail_from:
                raise CommandRefused("503 5.5.1 there is a sender already")
            sender = read_sender(arg, extended=session.extended_smtp, largest=self.data_size_limit)
            reply = self.event_handler.begin_mail(envelope, sender)
        except CommandRefused as refusal:
            reply = refusal.reply
        await self.push(reply)

    @syntax("RCPT TO:<address>", extended=" [SP <mail-parameters>]")
    async def smtp_RCPT(self, arg: str | None) -> None:  # noqa: N802 - named by aiosmtpd
        """Name a recipient (RFC 5321 section 4.1.1.3)."""
        if await self.check_helo_needed():
            return
        session, envelope = self.current()
        try:
            if not envelope.mail_from:
                raise CommandRefused("503 5.5.1 send MAIL first")
            recipient = read_recipient(arg, extended=session.extended_smtp)
            reply = self.event_handler.add_recipient(self, envelope, recipient)
        except CommandRefused as refusal:
            reply = refusal.reply
        await self.push(reply)

    @syntax("VRFY <address>")
    async def smtp_VRFY(self, arg: str | None) -> None:  # noqa: N802 - named by aiosmtpd
        """Reply without telling whether an address exists (RFC 5321 section 7.3)."""
        if arg:
            await self.push("252 2.5.2 send a mail and see")
        else:
            await self.push("501 5.5.4 Syntax: VRFY <address>")

    async def smtp_AUTH(self, arg: str | None) -> None:  # noqa: N802, ARG002 - named by aiosmtpd
        """Refuse: nobody logs in here."""
        await self.push('500 5.5.1 command "AUTH" not recognized')

    @syntax("DATA")
    async def smtp_DATA(self, arg: str | None) -> None:  # noqa: N802 - named by aiosmtpd
        """Read a mail and hand it to the handler (RFC 5321 sections 4.1.1.4 and 4.5.2)."""
        session, envelope = self.current()
        if arg or not session.host_name or not envelope.rcpt_tos:
            await super().smtp_DATA(arg or "")  # replies with the reason
            return
        await self.push("354 End data with <CR><LF>.<CR><LF>")
        content = await self.lines.read_mail(self.data_size_limit)
        if content is None:
            await self.refuse_mail("552 Error: Too much mail data")
        else:
            envelope.content = content
            try:
                reply = await self.event_handler.store_mail(self, envelope)
            except Exception as error:  # noqa: BLE001 - logged there, and the client needs a reply
                await self.refuse_mail(await self.handle_exception(error))
                return
            self.envelope = Envelope()
            await self.push(reply)

    async def refuse_mail(self, reply: str) -> None:
        """Reply that a mail was not stored, and forget its envelope."""
        self.envelope = Envelope()
        await self.push(reply)
