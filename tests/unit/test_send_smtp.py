"""Letters that go to a real SMTP or LMTP peer on the loopback."""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import trustme
from aiosmtpd.lmtp import LMTP
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from processes import Sink

from pbmserv.errors import (
    RelayDown,
    RelayError,
    RelayPermanent,
    RelayRefusesUs,
    RelayTemporary,
)
from pbmserv.outbound.relay import OutgoingLetter
from pbmserv.outbound.relay_url import RelayAddress
from pbmserv.outbound.relays import open_relay
from pbmserv.outbound.smtp import Patience, SmtpRelay

LETTER = OutgoingLetter(
    id=7,
    message_id="<12.7.1.f00d@play.example>",
    envelope_sender="bounce+x@play.example",
    recipient="ada@player.example",
    raw=b"Subject: Board 12\r\n\r\n1 # . .   \r\n.dot\r\n.\r\n..\r\n",
)


class Peer(Sink):
    """A mail server that answers as it is told and remembers what it got."""

    def __init__(self, *, login: bool = False, **options: Any) -> None:
        self.replies: dict[str, str] = {}
        self.mails: list[Envelope] = []
        self.names: list[str | None] = []
        self.encrypted: list[bool] = []
        self.logins: list[LoginPassword] = []
        self.connections: list[asyncio.Transport] = []
        if login:
            options["authenticator"] = self.authenticate
        super().__init__(**options)

    async def handle_EHLO(
        self, server: SMTP, session: Session, envelope: Envelope, name: str, replies: list[str]
    ) -> list[str]:
        session.host_name = name
        return replies

    async def handle_MAIL(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        envelope.mail_from = address
        envelope.mail_options.extend(options)
        return self.replies.get("MAIL", "250 OK")

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        if self.replies.get("RCPT") == "drop":
            self.connections[-1].abort()
        elif "RCPT" in self.replies:
            return self.replies["RCPT"]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        if self.replies.get("DATA") == "drop":
            self.connections[-1].abort()
        elif "DATA" in self.replies:
            return self.replies["DATA"]
        self.mails.append(envelope)
        self.names.append(session.host_name)
        self.encrypted.append(session.ssl is not None)
        return "250 taken"

    def authenticate(
        self, server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: Any
    ) -> AuthResult:
        self.logins.append(data)
        return AuthResult(success=data.password == b"open@sesame", handled=False)

    def drop_connections(self) -> None:
        """Close every connection from this side, as a relay does with idle ones."""

        async def drop() -> None:
            for connection in self.connections:
                if not connection.is_closing():
                    connection.abort()
            await asyncio.sleep(0)  # lets the sockets close

        asyncio.run_coroutine_threadsafe(drop(), self._loop).result(60)

    def session(self) -> SMTP:
        server = super().session()
        connect = server.connection_made

        def connection_made(transport: Any) -> None:
            # STARTTLS calls this again, with the transport that lies over the first one.
            if server.transport is None:
                self.connections.append(transport)
            connect(transport)

        vars(server)["connection_made"] = connection_made
        return server

    def close(self) -> None:
        self.drop_connections()
        super().close()


Start = Callable[..., Peer]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts peers, and ends them after the test."""
    with ExitStack() as stack:
        yield lambda **options: stack.enter_context(closing(Peer(**options)))


@pytest.fixture
def open_to() -> Iterator[Callable[[Peer], SmtpRelay]]:
    """Opens plain SMTP relays to peers, and closes them after the test."""
    opened: list[SmtpRelay] = []

    def opener(
        peer: Peer,
        trusted: ssl.SSLContext | None = None,
        patience: Patience | None = None,
        **address: Any,
    ) -> SmtpRelay:
        where = RelayAddress("smtp", "127.0.0.1", peer.port)
        relay = SmtpRelay(replace(where, **address), trusted, patience)
        opened.append(relay)
        return relay

    yield opener
    for relay in opened:
        relay.close()


Open = Callable[..., SmtpRelay]


@pytest.fixture
def tls() -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Contexts for the peer, and for a client that trusts it."""
    authority = trustme.CA()
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(server)
    client = ssl.create_default_context()
    authority.configure_trust(client)
    return server, client


def test_a_letter_arrives_byte_for_byte(start: Start, open_to: Open) -> None:
    peer = start()
    open_to(peer).deliver(LETTER)
    [mail] = peer.mails
    assert mail.content == LETTER.raw
    assert (mail.mail_from, mail.rcpt_tos) == ("bounce+x@play.example", ["ada@player.example"])
    assert f"SIZE={len(LETTER.raw)}" in mail.mail_options
    assert "SMTPUTF8" not in mail.mail_options
    assert peer.names == ["play.example"]


class Strict(SMTP):
    """Takes only paths as RFC 5321 section 4.1.2 writes them."""

    async def smtp_RCPT(self, arg: str | None) -> None:
        if re.fullmatch(r'TO:<(?:"[^"]+"|\w+(?:\.\w+)*)@[\w.]+>', arg or ""):
            await super().smtp_RCPT(arg)
        else:
            await self.push("501 5.1.3 malformed address")


@pytest.mark.parametrize("local", ["a..b", ".a", "a.b"])
def test_odd_dots_are_quoted_on_the_wire(start: Start, open_to: Open, local: str) -> None:
    peer = start(kind=Strict)
    open_to(peer).deliver(replace(LETTER, recipient=f"{local}@player.example"))
    assert [mail.rcpt_tos for mail in peer.mails] == [[f"{local}@player.example"]]


def test_a_connection_that_died_while_idle_is_replaced_unseen(start: Start, open_to: Open) -> None:
    peer = start()
    relay = open_to(peer)
    relay.deliver(LETTER)
    peer.drop_connections()
    relay.deliver(LETTER)
    assert len(peer.mails) == 2
    assert len(peer.connections) == 2


def test_a_relay_that_takes_so_many_letters_a_connection_gets_a_new_one(
    start: Start, open_to: Open
) -> None:
    peer = start()
    relay = open_to(peer)
    relay.deliver(LETTER)
    peer.replies["MAIL"] = "421 4.7.0 enough for this connection"
    with pytest.raises(RelayDown, match="421"):
        relay.deliver(LETTER)
    assert len(peer.connections) == 2
    del peer.replies["MAIL"]
    relay.deliver(LETTER)


REFUSALS = [
    *(
        (command, reply, error)
        for command in ("MAIL", "RCPT", "DATA")
        for reply, error in (
            ("450 4.2.0 greylisted", RelayTemporary),
            ("450 4.7.28 unusual rate of mail", RelayTemporary),
            ("451 4.3.2 not accepting now", RelayTemporary),
            ("552 5.3.4 so much is too much", RelayPermanent),
            ("421 4.3.2 going down", RelayDown),
            ("530 5.7.0 log in first", RelayRefusesUs),
        )
    ),
    # A limit on what we send does not fail the letter.
    ("RCPT", "550 5.4.5 rate limit exceeded", RelayTemporary),
    ("DATA", "554 5.7.0 too many mails from you today", RelayTemporary),
    # A refusal of our server does not fail the letter.
    ("MAIL", "550 who are you?", RelayRefusesUs),
    ("RCPT", "554 5.7.1 <ada@player.example>: Relay access denied", RelayRefusesUs),
    ("RCPT", "550 relay not permitted", RelayRefusesUs),
    ("RCPT", "550 5.7.54 SMTP; Unable to relay recipient", RelayRefusesUs),
    ("RCPT", "553 sorry, not in my list of allowed rcpthosts (#5.7.1)", RelayRefusesUs),
    ("RCPT", "553 5.7.1 <b@x>: Sender address rejected: not owned by user", RelayRefusesUs),
    ("RCPT", "554 5.7.1 Client host blocked using a list", RelayRefusesUs),
    ("RCPT", "550 Reverse DNS lookup failed", RelayRefusesUs),
    ("RCPT", "550 203.0.113.9 may not send for its SPF record", RelayRefusesUs),
    ("RCPT", "550 5.1.1 user unknown in relay recipient table", RelayPermanent),
    ("RCPT", "550 5.7.1 Recipient address rejected: blocked", RelayPermanent),
    ("DATA", "554 5.7.1 looks like spam", RelayPermanent),
]


def test_refusals_are_told_apart(start: Start, open_to: Open) -> None:
    peer = start()
    relay = open_to(peer)
    for command, reply, error in REFUSALS:
        peer.replies[command] = reply
        with pytest.raises(RelayError) as caught:
            relay.deliver(LETTER)
        assert type(caught.value) is error, (command, reply)
        assert reply in str(caught.value)
        peer.replies.clear()
        relay.deliver(LETTER)
    assert [mail.content for mail in peer.mails] == [LETTER.raw] * len(REFUSALS)


SLOW_S = 1.2
"""More than a busy machine needs for a command."""


class SlowAtTheEnd(SMTP):
    """Needs a while to answer the dot."""

    async def push(self, status: str | bytes) -> None:
        if status == "250 taken":
            await asyncio.sleep(SLOW_S)
        await super().push(status)


def test_a_relay_that_scans_for_long_gets_a_letter_once(start: Start, open_to: Open) -> None:
    """RFC 5321 section 4.5.3.2.6: giving up on the dot early sends the letter twice."""
    peer = start(kind=SlowAtTheEnd)
    patience = Patience(connect=SLOW_S - 0.2, command=SLOW_S - 0.2, end=60.0)
    relay = open_to(peer, patience=patience)
    relay.deliver(replace(LETTER, raw=b"Subject: long\r\n\r\n" + b"word\r\n" * 30_000))
    assert len(peer.mails) == 1
    assert len(peer.connections) == 1


def test_we_wait_as_long_as_the_standard_wants(start: Start, open_to: Open) -> None:
    assert Patience() == Patience(connect=60, command=300, end=600)
    peer = start(kind=SlowAtTheEnd)
    impatient = open_to(peer, patience=Patience(end=0.1))
    with pytest.raises(RelayDown, match="the connection broke"):
        impatient.deliver(LETTER)


def test_a_letter_without_a_line_end_gets_one(start: Start, open_to: Open) -> None:
    peer = start()
    open_to(peer).deliver(replace(LETTER, raw=b"Subject: x\r\n\r\n.bare"))
    assert peer.mails[0].content == b"Subject: x\r\n\r\n.bare\r\n"


@pytest.mark.parametrize("spelled", [str.lower, str.upper])
def test_a_server_that_quotes_our_sender_brings_no_token_into_the_log(
    start: Start, open_to: Open, spelled: Callable[[str], str]
) -> None:
    token = "aeaqcaabaeaq4tmnyg2zxwv7qk3l6obq"
    peer = start()
    peer.replies["RCPT"] = f"550 5.1.1 <{spelled(f'pbmserv+{token}@play.example')}>: nobody"
    with pytest.raises(RelayPermanent) as caught:
        open_to(peer).deliver(LETTER)
    assert token not in str(caught.value).lower()
    assert "+***@" in str(caught.value)


def test_after_a_refused_letter_the_connection_goes_on(start: Start, open_to: Open) -> None:
    peer = start()
    relay = open_to(peer)
    peer.replies["RCPT"] = "550 no such user"
    for _ in range(2):
        with pytest.raises(RelayPermanent):
            relay.deliver(LETTER)
    del peer.replies["RCPT"]
    relay.deliver(LETTER)
    assert len(peer.connections) == 1


@pytest.mark.parametrize("command", ["RCPT", "DATA"])
def test_a_connection_that_breaks_in_mid_letter_is_not_tried_twice(
    start: Start, open_to: Open, command: str
) -> None:
    peer = start()
    relay = open_to(peer)
    peer.replies[command] = "drop"
    with pytest.raises(RelayDown):
        relay.deliver(LETTER)
    assert len(peer.connections) == 1


def test_other_scripts_ask_for_smtputf8_and_only_then(start: Start, open_to: Open) -> None:
    peer = start(enable_SMTPUTF8=True)
    relay = open_to(peer)
    to_her = replace(LETTER, recipient="žofie@player.example")
    relay.deliver(to_her)
    relay.deliver(LETTER)
    first, second = peer.mails
    assert "SMTPUTF8" in first.mail_options
    assert first.rcpt_tos == ["žofie@player.example"]
    assert "SMTPUTF8" not in second.mail_options


def test_a_relay_without_smtputf8_cannot_take_such_an_address(start: Start, open_to: Open) -> None:
    peer = start(enable_SMTPUTF8=False)
    with pytest.raises(RelayPermanent, match="SMTPUTF8"):
        open_to(peer).deliver(replace(LETTER, recipient="žofie@player.example"))


def test_lmtp_over_a_unix_socket(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "lmtp"
    peer = start(kind=LMTP, path=path)
    relay = open_relay(f"lmtp:{path}")
    relay.deliver(LETTER)
    peer.replies["RCPT"] = "550 no such mailbox"
    with pytest.raises(RelayPermanent):
        relay.deliver(LETTER)
    relay.close()
    assert [mail.content for mail in peer.mails] == [LETTER.raw]


def test_starttls_is_taken_up_before_the_password_goes_out(
    start: Start, open_to: Open, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    peer = start(tls_context=tls[0], login=True)
    relay = open_to(peer, user="pbm", password="open@sesame", trusted=tls[1])
    relay.deliver(LETTER)
    assert peer.encrypted == [True]
    assert peer.logins == [LoginPassword(b"pbm", b"open@sesame")]


def test_tls_from_the_first_octet(
    start: Start, open_to: Open, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    peer = start(tls=tls[0], login=True, auth_require_tls=False)
    relay = open_to(peer, scheme="smtps", user="pbm", password="open@sesame", trusted=tls[1])
    relay.deliver(LETTER)
    assert len(peer.mails) == 1


def test_a_certificate_nobody_vouches_for_gets_no_password(
    start: Start, open_to: Open, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    peer = start(tls_context=tls[0], login=True)
    with pytest.raises(RelayDown, match="refused the connection"):
        open_to(peer, user="pbm", password="open@sesame").deliver(LETTER)
    assert not peer.logins


def test_a_wrong_password_stops_the_relay_and_is_not_told(
    start: Start, open_to: Open, tls: tuple[ssl.SSLContext, ssl.SSLContext]
) -> None:
    peer = start(tls_context=tls[0], login=True)
    relay = open_to(peer, user="pbm", password="wrong-secret", trusted=tls[1])
    with pytest.raises(RelayDown, match="refused our login") as caught:
        relay.deliver(LETTER)
    assert "wrong-secret" not in str(caught.value) + repr(relay)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_a_relay_on_this_machine_may_get_the_password_in_the_clear(
    start: Start, open_to: Open, host: str
) -> None:
    peer = start(login=True, auth_require_tls=False)
    open_to(peer, host=host, user="pbm", password="open@sesame").deliver(LETTER)
    assert len(peer.mails) == 1


def test_to_another_machine_no_password_goes_out_in_the_clear(
    start: Start, open_to: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = start(login=True, auth_require_tls=False)
    monkeypatch.setattr(socket, "create_connection", _to_loopback(peer))
    relay = open_to(peer, host="relay.example", user="pbm", password="open@sesame")
    with pytest.raises(RelayDown, match="no TLS"):
        relay.deliver(LETTER)
    assert not peer.logins


def _to_loopback(peer: Peer) -> Callable[..., socket.socket]:
    """Stands in for the network: every name leads to the peer."""
    real = socket.create_connection
    return lambda address, *args, **kwargs: real(("127.0.0.1", peer.port), *args, **kwargs)


@pytest.mark.parametrize("wrong", ["a@x.example\r\nDATA", "a@x.example> <b@x.example"])
def test_an_address_that_would_be_another_command_is_never_written(
    start: Start, open_to: Open, wrong: str
) -> None:
    peer = start()
    with pytest.raises(RelayPermanent, match="cannot be written"):
        open_to(peer).deliver(replace(LETTER, recipient=wrong))
    assert not peer.mails
