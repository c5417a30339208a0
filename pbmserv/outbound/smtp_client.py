"""Speaks SMTP and LMTP to the next hop, over connections that are kept open."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import smtplib
import ssl
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.errors import (
    RelayBusy,
    RelayDown,
    RelayError,
    RelayPermanent,
    RelayRefusesUs,
    RelayTemporary,
)
from pbmserv.mail.reply_address import blank_tokens
from pbmserv.outbound.relay import OutgoingLetter, Relay, RelayAddress

_GOODBYE_S = 1.0
_LONGEST_ERROR = 300
_BLOCK = 65_536
# Replies that were hoped for.
_DONE = range(200, 300)
_GO_ON = range(354, 355)
# RFC 3463 sections 3.4, 3.5, 3.8: not accepting now, congestion, policy; and how it is said.
_TOO_MUCH = re.compile(
    r"\b4\.(?:7\.\d{1,3}|3\.2|4\.5)\b|rate.?limit|too many|too fast|throttl|deferred due to",
    re.IGNORECASE,
)
# What a recipient has nothing to do with. RFC 3463 sections 3.2 and 3.8: our address, our domain,
# and how mail servers say that they do not carry our letters at all.
_US = re.compile(
    r"\b5\.1\.[78]\b|\brelay(?:ing)?\b|rcpthosts|"
    r"\bsender (?:address )?(?:rejected|denied|refused|verif|unknown|not)|"
    r"authentication (?:is )?required|not authenticated",
    re.IGNORECASE,
)
_THEM = re.compile(r"\b5\.(?:1\.[1-6]|2)\b")
# RFC 5321 section 4.5.3.1.9, RFC 1870: this letter is too long.
_TOO_LONG = re.compile(r"\A552|\b5\.(?:2\.3|3\.4)\b")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>]")


@dataclass(frozen=True, slots=True)
class Patience:
    """How many seconds the next hop may take (RFC 5321 section 4.5.3.2).

    A letter whose end was not answered in time has to be sent again, though it may have been
    taken: so it is the last one that must be long.

    Attributes:
        connect: to connect and to be greeted; each address of the host is given as much.
        command: for the reply to a command.
        data: for the reply to DATA.
        block: to take 64 KiB of the letter.
        end: for the reply to the dot behind it.
    """

    connect: float = 60.0
    command: float = 300.0
    data: float = 120.0
    block: float = 180.0
    end: float = 600.0


class SmtpRelay(Relay):
    """A relay reached by SMTP, SMTPS or LMTP.

    Idle connections wait in a pool; each letter that is under way takes one out.
    """

    at_once = 8
    """While the next hop takes one letter, the next is begun: nobody waits, and no thread is needed
    for each."""

    def __init__(
        self,
        address: RelayAddress,
        trusted: ssl.SSLContext | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Nothing is connected yet.

        Args:
            address: where, and with which login.
            trusted: which certificates count where a password is at stake
                (None: those that the machine trusts).
            patience: how long to wait (None: as long as RFC 5321 wants it).
        """
        self._address = address
        self._trusted = trusted
        self._patience = patience or Patience()
        self._idle: deque[smtplib.SMTP] = deque()

    def __repr__(self) -> str:
        return f"SmtpRelay({self._address!r})"

    def close(self) -> None:
        """Say goodbye on every idle connection, without waiting long.

        For when no thread delivers any more; one that does keeps its connection.
        """
        while self._idle:
            connection = self._idle.pop()
            with contextlib.suppress(smtplib.SMTPException, OSError):
                if connection.sock is not None:
                    connection.sock.settimeout(_GOODBYE_S)
                connection.quit()
            connection.close()

    def steps(self, letter: OutgoingLetter) -> Iterator[None]:
        """See `Relay.steps`; each letter under way has a connection of its own.

        A kept connection may have died unseen. MAIL FROM finds that out at no
        cost, and nothing is lost by saying it again over a fresh connection;
        after DATA nothing is repeated here, for the letter may have been taken.
        """
        kept, patience = None, self._patience
        with contextlib.suppress(IndexError):
            kept = self._idle.pop()
        connection = kept or self._connected(letter)
        try:
            try:
                _say_mail(connection, letter, patience.command)
                yield
                _expect(connection, "MAIL FROM", patience.command)
            except RelayDown:
                if kept is None:
                    raise
                connection.close()
                connection = self._connected(letter)
                _say_mail(connection, letter, patience.command)
                _expect(connection, "MAIL FROM", patience.command)
        except BaseException:
            connection.close()
            raise
        try:
            _pour(connection, letter, patience)
            yield
            _expect(connection, "DATA", patience.end)
        except BaseException as trouble:
            refused = isinstance(trouble, RelayError) and not isinstance(trouble, RelayDown)
            if refused and _reset(connection, patience.command):
                self._idle.append(connection)
            else:
                connection.close()
            raise
        self._idle.append(connection)

    def _connected(self, letter: OutgoingLetter) -> smtplib.SMTP:
        """A new connection: greeted, encrypted if that is to be, logged in."""
        address = self._address
        # Our own domain, which bounces come back to, is also our name (RFC 5321, 4.1.1.1).
        domain = letter.envelope_sender.rpartition("@")[2]
        name = domain if domain and domain.isascii() else "localhost"
        try:
            connection = self._opened(name)
        except (OSError, smtplib.SMTPException) as error:
            raise _not_in("no connection to the relay", error) from None
        try:
            _wait(connection, self._patience.command)
            connection.ehlo_or_helo_if_needed()
            if address.scheme == "smtp" and self._wants_tls(connection):
                connection.starttls(context=self._context())
                connection.ehlo_or_helo_if_needed()
            if address.user:
                connection.login(address.user, address.password)
        except smtplib.SMTPAuthenticationError as error:
            # The server's words might quote what we sent; its code says enough.
            connection.close()
            refusal = f"the relay refused our login ({error.smtp_code})"
            raise _kind_of_refusal(error)(refusal) from None
        except (OSError, smtplib.SMTPException) as error:
            connection.close()
            raise _not_in("the relay did not let us in", error) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened(self, name: str) -> smtplib.SMTP:
        address, wait = self._address, self._patience.connect
        if address.scheme == "lmtp":
            # smtplib takes a host that begins with a slash for a Unix socket.
            return smtplib.LMTP(address.path or address.host, address.port, name, timeout=wait)
        if address.scheme == "smtps":
            return smtplib.SMTP_SSL(
                address.host, address.port, name, timeout=wait, context=self._context()
            )
        return smtplib.SMTP(address.host, address.port, name, timeout=wait)

    def _wants_tls(self, connection: smtplib.SMTP) -> bool:
        """Whether to go on encrypted.

        Raises:
            RelayDown: a password would go out in the clear.
        """
        here = _on_this_machine(self._address.host)
        if connection.has_extn("starttls"):
            return bool(self._address.user) or not here
        if self._address.user and not here:
            raise RelayDown("the relay offers no TLS, so the password was not sent")
        return False

    def _context(self) -> ssl.SSLContext:
        """Strict where a password goes; else TLS against listeners only (RFC 7435)."""
        if self._address.user or self._address.scheme == "smtps":
            return self._trusted or ssl.create_default_context()
        anybody = ssl.create_default_context()
        anybody.check_hostname = False
        anybody.verify_mode = ssl.CERT_NONE
        return anybody


def _send(connection: smtplib.SMTP, words: str | bytes, seconds: float) -> None:
    try:
        _wait(connection, seconds)
        connection.send(words)
    except (OSError, smtplib.SMTPException) as error:
        raise RelayDown(f"the connection broke: {_said(error)}") from None


def _say_mail(connection: smtplib.SMTP, letter: OutgoingLetter, seconds: float) -> None:
    """Say MAIL FROM, and where the next hop reads commands that nobody has waited for (RFC 2920)
    RCPT TO and DATA with it: one way there and back in place of three. Replies wait to be read."""
    # Not smtplib's own mail() and rcpt(): those read an address before they write it,
    # and what they make of an unusual one need not be the same address.
    words = [f"MAIL FROM:<{letter.envelope_sender}>"]
    if connection.has_extn("size"):
        words.append(f"SIZE={len(letter.raw)}")
    if _UNSAFE.search(letter.envelope_sender + letter.recipient):
        raise RelayPermanent("the address cannot be written in SMTP")
    if not (letter.raw.isascii() and (letter.envelope_sender + letter.recipient).isascii()):
        # RFC 6531: only for those who write from such an address.
        if not connection.has_extn("smtputf8"):
            raise RelayPermanent("the relay cannot carry this address (no SMTPUTF8)")
        words += ["SMTPUTF8", "BODY=8BITMIME"]
        connection.command_encoding = "utf-8"
    mail = " ".join(words) + "\r\n"
    if connection.has_extn("pipelining"):
        mail += f"RCPT TO:<{letter.recipient}>\r\nDATA\r\n"
    _send(connection, mail, seconds)


def _pour(connection: smtplib.SMTP, letter: OutgoingLetter, patience: Patience) -> None:
    """Send the letter itself, behind RCPT and DATA."""
    is_asked = connection.has_extn("pipelining")  # RCPT and DATA went out with MAIL
    try:
        if not is_asked:
            _send(connection, f"RCPT TO:<{letter.recipient}>\r\n", patience.command)
        _expect(connection, "RCPT TO", patience.command)
    except RelayDown:
        raise
    except RelayError:
        if is_asked:
            # RFC 2920 section 3.1: where DATA is accepted nevertheless, a dot alone ends it. What
            # was said of the letter counts.
            with contextlib.suppress(RelayError):
                _expect(connection, "DATA", patience.data, _GO_ON)
                _send(connection, ".\r\n", patience.block)
                _expect(connection, "DATA", patience.data)
        raise
    if not is_asked:
        _send(connection, "DATA\r\n", patience.command)
    _expect(connection, "DATA", patience.data, _GO_ON)
    # RFC 5321 section 4.5.2: a dot that begins a line is doubled.
    doubled = letter.raw.replace(b"\r\n.", b"\r\n..")
    if doubled.startswith(b"."):
        doubled = b"." + doubled
    ended = doubled + (b".\r\n" if doubled.endswith(b"\r\n") else b"\r\n.\r\n")
    for start in range(0, len(ended), _BLOCK):
        _send(connection, ended[start : start + _BLOCK], patience.block)


def _expect(connection: smtplib.SMTP, command: str, seconds: float, wanted: range = _DONE) -> None:
    """Read a reply to a command.

    Raises:
        RelayError: it is none of those that are wanted; its kind tells what to do with the letter.
    """
    words: bytes | str
    try:
        _wait(connection, seconds)
        code, words = connection.getreply()
    except smtplib.SMTPResponseException as refusal:
        code, words = refusal.smtp_code, refusal.smtp_error
    except (OSError, smtplib.SMTPException) as error:
        raise RelayDown(f"the connection broke: {_said(error)}") from None
    if code in wanted:
        return
    said = f"{command}: {code} {_shown(words)}"
    if code == 421 or code < 400:
        # RFC 5321, 3.8: the server closes. What is no refusal either is nonsense, for which
        # smtplib says -1.
        raise RelayDown(said)
    if code in {530, 534, 535, 538}:
        # RFC 4954, 6: about our login, not about this letter.
        raise RelayRefusesUs(said)
    if 500 <= code < 600:
        raise (
            RelayRefusesUs if _is_about_us(command, f"{code} {_shown(words)}") else RelayPermanent
        )(said)
    if _TOO_MUCH.search(said):
        raise RelayBusy(said)
    raise RelayTemporary(said)


def _is_about_us(command: str, refusal: str) -> bool:
    """Whether a 5xx would have been said of anybody's letter, so that it is no word about it."""
    if command == "MAIL FROM":
        return not _TOO_LONG.search(refusal)
    return command == "RCPT TO" and bool(_US.search(refusal)) and not _THEM.search(refusal)


def _not_in(what: str, error: Exception) -> RelayDown:
    return _kind_of_refusal(error)(f"{what}: {_said(error)}")


def _kind_of_refusal(error: Exception) -> type[RelayDown]:
    """A server that answers 5xx will not be let be by itself: somebody must do something."""
    code = error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else 0
    return RelayRefusesUs if 500 <= code < 600 else RelayDown


def _wait(connection: smtplib.SMTP, seconds: float) -> None:
    """Be ready to wait so long for what comes next. Without a socket, that will tell."""
    if connection.sock is not None:
        connection.sock.settimeout(seconds)


def _reset(connection: smtplib.SMTP, seconds: float) -> bool:
    """Whether the connection is fit for the next letter after a refusal."""
    try:
        _wait(connection, seconds)
        return connection.rset()[0] == 250
    except (OSError, smtplib.SMTPException):
        return False


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_shown(error.smtp_error)}"
    return _shown(str(error)) or type(error).__name__


def _shown(words: bytes | str) -> str:
    """A server's words as one line for the log and the operator; they may quote our sender."""
    text = blank_tokens(words.decode("utf-8", "replace") if isinstance(words, bytes) else words)
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_ERROR].strip()


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
