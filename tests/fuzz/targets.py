"""Six entry points for strangers, each as a function of octets that must never raise.

The assertions hold for every input. `fuzz.py` searches for an input that breaks one, and
`test_fuzz_corpus.py` tries the corpus and small changes of it in every run of the tests.
"""

from __future__ import annotations

import asyncio
import logging
import re
import unicodedata
import zlib
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from typing import Any, cast

from dns_zone import Zone
from mail_quotes import in_plain_text

from pbmserv.clock import SystemClock
from pbmserv.commands.grammar.readings import Reading
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.errors import MailError
from pbmserv.inbound.auth.verdict import Trusted, examine
from pbmserv.inbound.dsn import MOST_RECIPIENTS, reported_failures
from pbmserv.inbound.message import read_mail, wire_refusal
from pbmserv.inbound.quotes.line_signs import BLANKS, unadorned
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.mail.networks import LOOPBACK
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.service.limits.postmaster_shares import PostmasterShares
from pbmserv.service.limits.rates import Rates, Traffic
from pbmserv.service.mails.incoming import MailParser
from pbmserv.smtpd.listener import Listener
from pbmserv.stages.door import UNREADABLE, Door
from pbmserv.store.delivery.arrivals import NewArrival

GAMES = {"blackbox": "Blackbox"}
HOUSE = MailDomain("pbmserv", "games.example", KeyRing({1: b"only for fuzzing"}))

_REPLY_LINE = re.compile(rb"[2-5][0-9]{2}[ -][\t -~]*")
_MOST_REPLY_LINES = 12  # of one command; EHLO has the most


class Faults(logging.Handler):
    """A handler that keeps logged faults of the server; each is a finding."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)

    def none(self) -> None:
        """Raise the first logged fault."""
        records, self.records = self.records, []
        for record in records:
            if record.exc_info and record.exc_info[1]:
                raise record.exc_info[1]
            raise AssertionError(record.getMessage())


class Shelf:
    """A mail store in memory, so that a session costs no disk."""

    def __init__(self) -> None:
        self.arrived: list[NewArrival] = []

    def submit(self, job: Any) -> Future[int]:
        """Store an arrival at once."""
        self.arrived.append(job.keywords["new"])
        stored: Future[int] = Future()
        stored.set_result(len(self.arrived))
        return stored

    def take_room(self, _octets: int, *, for_postmaster: bool) -> bool:
        """Return that there is room."""
        assert for_postmaster in {True, False}
        return True


class Ear(asyncio.Transport):
    """A connection without a socket, which behaves as asyncio's own do."""

    def __init__(self, protocol: asyncio.Protocol) -> None:
        super().__init__({"peername": ("192.0.2.1", 25), "sockname": ("192.0.2.2", 25)})
        self._protocol = protocol
        self.heard = bytearray()
        self.closed = False

    @property
    def protocol(self) -> asyncio.Protocol:
        """The protocol that has the connection now."""
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        assert isinstance(protocol, asyncio.Protocol)
        self._protocol = protocol

    def write(self, data: Any) -> None:
        if not self.closed:  # afterwards nobody hears it
            self.heard += data

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        if not self.closed:
            self.closed = True
            asyncio.get_running_loop().call_soon(self._protocol.connection_lost, None)

    abort = close

    def get_write_buffer_size(self) -> int:
        return 0

    def can_write_eof(self) -> bool:
        return False

    def pause_reading(self) -> None:
        """Do nothing: all octets are in memory already."""

    def resume_reading(self) -> None:
        """As above."""


def _mended(octets: bytes) -> bytes:
    """Lines that end in CRLF, whatever they ended in: what lies behind that guard is tried, too."""
    return re.sub(rb"\r\n|\r|\n", b"\r\n", octets)


def smtp(octets: bytes) -> None:
    """A session: the first octet says SMTP or LMTP and in how large pieces the rest arrives."""
    if not octets:
        return
    size = (octets[0] >> 1) * 16 or 1 << 20
    script = octets[1:]
    asyncio.run(_session(script, size, lmtp=bool(octets[0] & 1)))


async def _session(octets: bytes, size: int, *, lmtp: bool) -> None:
    shelf, faults = Shelf(), Faults()
    logger = logging.getLogger("pbmserv")
    logger.addHandler(faults)
    asyncio.get_running_loop().set_exception_handler(_raise)
    try:
        clock = SystemClock()
        traffic = Traffic(Rates("", "", "", "", "", "", ""), clock)
        anything = cast("Any", shelf)
        shares = PostmasterShares(1 << 20, clock)
        door = Door(HOUSE, anything, clock, traffic, anything, lambda: None, None, LOOPBACK, shares)
        listener = Listener(
            HOUSE,
            door,
            limits=ConnectionLimits("smtp", Bounds(1, 1, 1), ()),
            lmtp=lmtp,
            certificate=None,
            tls_at_once=False,
        )
        ear = Ear(listener.make_gate())
        ear.protocol.connection_made(ear)
        for at in range(0, len(octets), size):
            if not ear.closed:
                ear.protocol.data_received(octets[at : at + size])
                await asyncio.sleep(0)
        if not ear.closed:
            ear.protocol.eof_received()
        await _ended()
        ear.close()
        await asyncio.sleep(0)
    finally:
        logger.removeHandler(faults)
    faults.none()
    _check_replies(bytes(ear.heard), octets)
    parser = MailParser(HOUSE, GAMES, ())
    for new in shelf.arrived:
        assert HOUSE.knows(new.envelope.recipient)
        assert wire_refusal(new.envelope.raw) is None
        assert not HOUSE.is_ours(parser.parse(new.envelope).mail.sender)


def _raise(loop: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
    logging.getLogger("pbmserv").error("%s", context, exc_info=context.get("exception"))


async def _ended() -> None:
    """Wait until the session has read everything that was said."""
    others = asyncio.all_tasks() - {asyncio.current_task()}
    if others:
        await asyncio.wait(others, timeout=60)
        assert all(task.done() for task in others), "the session hangs"


def _check_replies(heard: bytes, octets: bytes) -> None:
    if not heard:
        return  # it hung up before it was greeted
    assert heard.startswith(b"220 ")
    assert heard.endswith(b"\r\n")
    lines = heard[:-2].split(b"\r\n")
    for line in lines:
        assert _REPLY_LINE.fullmatch(line), line
    most_lines = octets.count(b"\n") + octets.count(b"\r") + 2
    assert len(lines) <= _MOST_REPLY_LINES * most_lines
    assert b"Traceback" not in heard


def mime(octets: bytes) -> None:
    """A mail as it may come through the door."""
    for raw in {octets, _mended(octets), b"From: a@b.example\r\n" + _mended(octets)}:
        if wire_refusal(raw) is not None:
            continue
        envelope = Envelope("a@b.example", HOUSE.address, raw)
        try:
            mail = read_mail(envelope, HOUSE)
        except MailError as error:
            assert str(error) in UNREADABLE  # noqa: PT017 - whichever it is, there are words for it
            continue
        for line in (mail.sender, mail.subject, mail.message_id):
            line.encode()
            assert not set(line) & set("\r\n\0\x85\u2028\u2029")
        mail.text.encode()
        assert not set(mail.text) & set("\r\0\x0b\x0c\x85\u2028\u2029")
        assert unicodedata.is_normalized("NFC", mail.subject)
        read_new_text(mail.text)


def reply(octets: bytes) -> None:
    """The text of a reply: alone, and as what another reply quotes."""
    text = octets.decode("utf-8", "replace").replace("\r", "")
    own = {line.rstrip() for line in text.split("\n")}
    own |= {line.strip(BLANKS)[2:].rstrip() for line in own}  # dash-escaped: a signed text's
    own |= {unadorned(line).rstrip() for line in own}  # bold letters, items of a list
    assert set(read_new_text(text).text.split("\n")) <= own | {""}
    # Below an attribution a quoted line says that what is not quoted was written below it.
    styles = list(in_plain_text(f"Dear Alice,\n{text}"))
    first = zlib.crc32(octets)
    for name, quoted in (styles[(first + n * 37) % len(styles)] for n in range(4)):
        assert read_new_text(quoted).text == "", (name, quoted)
        assert read_new_text(f"g,+b2\n\n{quoted}").text == "g,+b2", (name, quoted)


_READERS: Sequence[Callable[[str, str], Reading]] = (
    lambda subject, body: read_new_mail(subject, body, GAMES),
    lambda _, body: read_reply_to(Answered.QUESTION, body, GAMES),
    lambda _, body: read_reply_to(Answered.PLAIN_LETTER, body, GAMES),
    lambda _, body: read_reply_to(Answered.DIGEST, body, GAMES),
)


def command(octets: bytes) -> None:
    """A subject and a body; the first octet says what kind of mail they are in."""
    if not octets:
        return
    text = octets[1:].decode("utf-8", "replace")
    subject, _, body = text.partition("\n")
    for kind in (octets[0] & 1, octets[0] & 3):
        reading = _READERS[kind](subject, body)
        assert reading.lines
        assert len(reading.words) <= 4_000
        for line in reading.lines:
            line.echo.encode()
            assert "\n" not in line.echo


def _names() -> Zone:
    """Return the DNS records of the domains of fuzzed mails: a key, a policy and SPF."""
    zone = Zone()
    zone.add_txt("s1._domainkey.a.example", "v=DKIM1; k=ed25519; p=" + "A" * 43 + "=")
    zone.add_txt("_dmarc.a.example", "v=DMARC1; p=reject; aspf=s")
    zone.add_txt("a.example", "v=spf1 a mx include:%{d} exists:%{l}.%{i}.a.example -all")
    return zone


NAMES = _names()
TRUSTED = Trusted("mx.games.example", frozenset({"a.example"}))


def sender(octets: bytes) -> None:
    """The header of a mail whose sender is checked; nothing in it can prove the sender."""
    for head in {_mended(octets), b"From: v@a.example\r\n" + _mended(octets)}:
        raw = head + b"\r\n\r\nHello.\r\n"
        if wire_refusal(raw) is not None:
            continue
        name = octets[:40].decode("latin-1")
        for handed_on in (False, True):
            envelope = Envelope(
                f"{name}@a.example", HOUSE.address, raw, "198.51.100.7", name, handed_on
            )
            verdict = examine(envelope, TRUSTED, NAMES)
            is_proven = b"pass" in octets.lower() and handed_on  # our own server may say so
            assert is_proven or not verdict.passed, verdict
            assert verdict.checks.isascii()
            assert verdict.checks.isprintable()


def report(octets: bytes) -> None:
    """A mail that may report letters that came back."""
    for raw in {_mended(octets), b"From: <>\r\n" + _mended(octets)}:
        failures = reported_failures(Envelope("", HOUSE.address, raw))
        assert len(failures) <= MOST_RECIPIENTS
        for failure in failures:
            assert failure.status.isprintable()
            assert failure.diagnostic.isprintable()
            assert all(address == address.lower() for address in failure.recipients)


TARGETS: Mapping[str, Callable[[bytes], None]] = {
    "smtp": smtp,
    "mime": mime,
    "reply": reply,
    "command": command,
    "sender": sender,
    "report": report,
}
