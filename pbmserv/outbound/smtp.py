"""Delivers letters by SMTP or LMTP with smtplib; connections are kept open and reused."""

from __future__ import annotations

import contextlib
import re
import smtplib
import ssl
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

from pbmserv.errors import (
    RelayDown,
    RelayError,
    RelayPermanent,
    RelayRefusesUs,
    RelayTemporary,
)
from pbmserv.mail.bounce_codes import is_about_rate, is_about_sender
from pbmserv.mail.key_ring import blank_tokens
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.relay_url import RelayAddress

_GOODBYE_S = 1.0
_GO_AHEAD = 354
_LONGEST_ERROR = 300
# RFC 5321 section 4.5.3.1.9, RFC 1870: this letter is too long.
_TOO_LONG = re.compile(r"\A552|\b5\.(?:2\.3|3\.4)\b")
_ODD_DOTS = re.compile(r'\A\.[^"\\]*\Z|\A[^"\\]*\.(?:\.[^"\\]*)?\Z')
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>]")


@dataclass(frozen=True, slots=True)
class Patience:
    """Seconds that the next hop may take (RFC 5321 section 4.5.3.2).

    If the reply to the final dot is late, the letter is sent again although it may have been
    accepted. So that reply gets the most time.

    Attributes:
        connect: to connect and to greet, for each address of the host.
        command: for the reply to a command, and to accept a block of the letter.
        end: for the reply to the final dot.
    """

    connect: float = 60.0
    command: float = 300.0
    end: float = 600.0


class SmtpRelay(Relay):
    """A relay reached by SMTP, SMTPS or LMTP.

    Idle connections are kept. Each delivery takes one out of the pool and puts it back.
    """

    def __init__(
        self,
        address: RelayAddress,
        trusted: ssl.SSLContext | None = None,
        patience: Patience | None = None,
    ) -> None:
        """Prepare a relay without connecting.

        Args:
            address: where the relay is, and the login.
            trusted: certificates to accept if a password is sent (`None`: the machine's).
            patience: time limits (`None`: those of RFC 5321).
        """
        self._address = address
        self._trusted = trusted
        self._patience = patience or Patience()
        self._idle: deque[smtplib.SMTP] = deque()

    def __repr__(self) -> str:
        return f"SmtpRelay({self._address!r})"

    def close(self) -> None:
        """Close the idle connections without waiting long; busy ones stay open."""
        while self._idle:
            connection = self._idle.pop()
            with contextlib.suppress(smtplib.SMTPException, OSError):
                _set_timeout(connection, _GOODBYE_S)
                connection.quit()
            connection.close()

    def deliver(self, letter: OutgoingLetter) -> None:
        """Hand over one letter, see `Relay.deliver`.

        An idle connection may have broken unnoticed. Then a command before the letter fails, and
        all are repeated over a new connection. Once the letter is sent nothing is repeated: it may
        have been accepted.
        """
        connection = self._begin(letter)
        with self._keep_if_refused(connection):
            _send(connection, letter, self._patience.end)
        self._idle.append(connection)

    def _begin(self, letter: OutgoingLetter) -> smtplib.SMTP:
        """Return a connection on which the peer waits for the letter."""
        with contextlib.suppress(IndexError, RelayDown):
            return self._begin_on(self._idle.pop(), letter)
        return self._begin_on(self._connect(letter.envelope_sender.rpartition("@")[2]), letter)

    def _begin_on(self, connection: smtplib.SMTP, letter: OutgoingLetter) -> smtplib.SMTP:
        with self._keep_if_refused(connection):
            _offer(connection, letter, self._patience.command)
        return connection

    @contextlib.contextmanager
    def _keep_if_refused(self, connection: smtplib.SMTP) -> Iterator[None]:
        """Keep the connection if the relay refuses the letter; close it after other errors."""
        try:
            yield
        except RelayError as error:
            if isinstance(error, RelayDown) or not _reset(connection, self._patience.command):
                connection.close()
            else:
                self._idle.append(connection)
            raise
        except BaseException:
            connection.close()
            raise

    def check(self, domain: str) -> None:
        """Connect, log in and leave again.

        Args:
            domain: our own, for EHLO.

        Raises:
            RelayDown: the relay cannot be reached, or does not let us in.
        """
        self._idle.append(self._connect(domain))
        self.close()

    def _connect(self, domain: str) -> smtplib.SMTP:
        """Return a new connection after greeting, STARTTLS if required, and login."""
        address = self._address
        # Our name in EHLO (RFC 5321, 4.1.1.1) is the domain to which bounces return.
        name = domain if domain and domain.isascii() else "localhost"
        try:
            connection = self._open(name)
        except (OSError, smtplib.SMTPException) as error:
            raise _connection_error("no connection to the relay", error) from None
        try:
            _set_timeout(connection, self._patience.command)
            connection.ehlo_or_helo_if_needed()
            if address.scheme == "smtp" and self._wants_tls(connection):
                connection.starttls(context=self._context())
                connection.ehlo_or_helo_if_needed()
            if address.user:
                connection.login(address.user, address.password)
        except smtplib.SMTPAuthenticationError as error:
            # The server's text may quote the login; its code is enough.
            connection.close()
            refusal = f"the relay refused our login ({error.smtp_code})"
            raise _error_class(error)(refusal) from None
        except (OSError, smtplib.SMTPException) as error:
            connection.close()
            raise _connection_error("the relay refused the connection", error) from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _open(self, name: str) -> smtplib.SMTP:
        address, wait = self._address, self._patience.connect
        if address.scheme == "lmtp":
            # smtplib treats a host that begins with a slash as a Unix socket.
            return smtplib.LMTP(address.path or address.host, address.port, name, timeout=wait)
        if address.scheme == "smtps":
            return smtplib.SMTP_SSL(
                address.host, address.port, name, timeout=wait, context=self._context()
            )
        return smtplib.SMTP(address.host, address.port, name, timeout=wait)

    def _wants_tls(self, connection: smtplib.SMTP) -> bool:
        """Return whether to start TLS.

        Raises:
            RelayDown: the password would be sent unencrypted.
        """
        if connection.has_extn("starttls"):
            return bool(self._address.user) or not self._address.is_local
        if self._address.user and not self._address.is_local:
            raise RelayDown("the relay offers no TLS, so the password was not sent")
        return False

    def _context(self) -> ssl.SSLContext:
        """Return a TLS context that verifies certificates only if a password is sent (RFC 7435)."""
        if self._address.user or self._address.scheme == "smtps":
            return self._trusted or ssl.create_default_context()
        unverified = ssl.create_default_context()
        unverified.check_hostname = False
        unverified.verify_mode = ssl.CERT_NONE
        return unverified


def _offer(connection: smtplib.SMTP, letter: OutgoingLetter, seconds: float) -> None:
    """Send MAIL, RCPT and DATA, each after the reply to the one before it.

    Raises:
        RelayError: one of them was refused, or the connection broke.
    """
    verb = "MAIL"
    try:
        _set_timeout(connection, seconds)
        for verb, command in _commands(connection, letter).items():
            code, words = connection.docmd(command)
            if not _is_accepted(verb, code):
                raise _refusal(verb, code, words)
    except (OSError, smtplib.SMTPException) as error:
        raise _broken(verb, error) from None


def _commands(connection: smtplib.SMTP, letter: OutgoingLetter) -> dict[str, str]:
    """Return the commands before a letter, by their verbs.

    smtplib's own `mail` and `rcpt` parse the address first, and may change an unusual one.
    """
    mail = [f"MAIL FROM:<{_path(letter.envelope_sender)}>"]
    if connection.has_extn("size"):
        mail.append(f"SIZE={len(letter.raw)}")
    addresses = letter.envelope_sender + letter.recipient
    if _UNSAFE.search(addresses):
        raise RelayPermanent("the address cannot be written in SMTP")
    if not (letter.raw.isascii() and addresses.isascii()):  # RFC 6531
        if not connection.has_extn("smtputf8"):
            raise RelayPermanent("the relay cannot carry this address (no SMTPUTF8)")
        mail += ["SMTPUTF8", "BODY=8BITMIME"]
        connection.command_encoding = "utf-8"
    rcpt = f"RCPT TO:<{_path(letter.recipient)}>"
    return {"MAIL": " ".join(mail), "RCPT": rcpt, "DATA": "DATA"}


def _is_accepted(verb: str, code: int) -> bool:
    return code == _GO_AHEAD if verb == "DATA" else 200 <= code < 300


def _path(address: str) -> str:
    """Return an address as RFC 5321 section 4.1.2 writes it: quoted if its dots require that."""
    local, at, domain = address.rpartition("@")
    return f'"{local}"@{domain}' if at and _ODD_DOTS.search(local) else address


def _send(connection: smtplib.SMTP, letter: OutgoingLetter, seconds: float) -> None:
    """Send a letter for which the peer waits, and raise unless it is accepted."""
    try:
        _set_timeout(connection, seconds)
        connection.send(_dotted(letter.raw))
        code, words = connection.getreply()
    except (OSError, smtplib.SMTPException) as error:
        raise _broken("DATA", error) from None
    if not 200 <= code < 300:
        raise _refusal("DATA", code, words)


def _dotted(raw: bytes) -> bytes:
    """Return a letter as it is sent after DATA (RFC 5321 section 4.5.2); its lines end in CRLF.

    smtplib's own `data` looks for dots with a pattern, which takes as long as to pack the letter.
    """
    text = raw if raw.endswith(b"\r\n") else raw + b"\r\n"
    text = text.replace(b"\n.", b"\n..")
    return b"." + text + b".\r\n" if text.startswith(b".") else text + b".\r\n"


def _broken(verb: str, error: OSError | smtplib.SMTPException) -> RelayError:
    """Return our error for an exception during a command."""
    if isinstance(error, smtplib.SMTPResponseException):
        return _refusal(verb, error.smtp_code, error.smtp_error)
    return RelayDown(f"the connection broke: {_message(error)}")


def _refusal(verb: str, code: int, words: bytes | str) -> RelayError:
    """Return the error for a reply that is not positive; its class decides the letter's fate."""
    reply = f"{code} {_one_line(words)}"
    text = f"{_NAMES[verb]}: {reply}"
    if code == 421 or code < 400:
        # 421: the server closes the connection (RFC 5321, 3.8). Below 400: no valid refusal;
        # smtplib reports -1 if there was no reply.
        return RelayDown(text)
    if code in {530, 534, 535, 538}:
        # These codes are about our login, not about this letter (RFC 4954, 6).
        return RelayRefusesUs(text)
    if 500 <= code < 600 and _is_about_us(verb, reply):
        return RelayRefusesUs(text)
    if 500 <= code < 600 and not is_about_rate(reply):
        return RelayPermanent(text)
    return RelayTemporary(text)


_NAMES = {"MAIL": "MAIL FROM", "RCPT": "RCPT TO", "DATA": "DATA"}


def _is_about_us(verb: str, reply: str) -> bool:
    """Return whether the relay would refuse any letter of ours in this way."""
    if verb == "MAIL":
        return not _TOO_LONG.search(reply)
    return verb == "RCPT" and is_about_sender(reply)


def _connection_error(problem: str, error: Exception) -> RelayDown:
    return _error_class(error)(f"{problem}: {_message(error)}")


def _error_class(error: Exception) -> type[RelayDown]:
    """Return `RelayRefusesUs` for a permanent refusal (5xx), which only an operator can end."""
    code = error.smtp_code if isinstance(error, smtplib.SMTPResponseException) else 0
    return RelayRefusesUs if 500 <= code < 600 else RelayDown


def _set_timeout(connection: smtplib.SMTP, seconds: float) -> None:
    if connection.sock is not None:
        connection.sock.settimeout(seconds)


def _reset(connection: smtplib.SMTP, seconds: float) -> bool:
    """Send RSET; return whether the connection can be reused after a refusal."""
    try:
        _set_timeout(connection, seconds)
        return connection.rset()[0] == 250
    except (OSError, smtplib.SMTPException):
        return False


def _message(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_one_line(error.smtp_error)}"
    return _one_line(str(error)) or type(error).__name__


def _one_line(words: bytes | str) -> str:
    """Return a server's text as one line for the log and the operator, without reply tokens."""
    text = blank_tokens(words.decode("utf-8", "replace") if isinstance(words, bytes) else words)
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_ERROR].strip()
