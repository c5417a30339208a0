"""Speaks SMTP and LMTP to the next hop, over connections that are kept open."""

from __future__ import annotations

import contextlib
import ipaddress
import re
import smtplib
import ssl
from collections import deque
from collections.abc import Callable

from pbmserv.errors import RelayBusy, RelayDown, RelayError, RelayPermanent, RelayTemporary
from pbmserv.send.relay import OutgoingLetter, RelayAddress

TIMEOUT_S = 30.0
_GOODBYE_S = 1.0
_LONGEST_ERROR = 300
# RFC 3463 sections 3.4, 3.5, 3.8: not accepting now, congestion, policy; and how it is said.
_TOO_MUCH = re.compile(
    r"\b4\.(?:7\.\d{1,3}|3\.2|4\.5)\b|rate.?limit|too many|too fast|throttl|deferred due to",
    re.IGNORECASE,
)
_UNSAFE = re.compile(r"[\x00-\x1f\x7f<>]")


class SmtpRelay:
    """A relay reached by SMTP, SMTPS or LMTP.

    Idle connections wait in a pool; each thread that delivers takes one out, so
    there are never more of them than there are threads.
    """

    def __init__(self, address: RelayAddress, trusted: ssl.SSLContext | None = None) -> None:
        """Nothing is connected yet.

        Args:
            address: where, and with which login.
            trusted: which certificates count where a password is at stake
                (None: those that the machine trusts).
        """
        self._address = address
        self._trusted = trusted
        self._idle: deque[smtplib.SMTP] = deque()

    def __repr__(self) -> str:
        return f"SmtpRelay({self._address!r})"

    def deliver(self, letter: OutgoingLetter) -> None:
        """See `Relay.deliver`.

        A kept connection may have died unseen. MAIL FROM finds that out at no
        cost, and nothing is lost by saying it again over a fresh connection;
        after DATA nothing is repeated here, for the letter may have been taken.
        """
        connection = self._begin(letter)
        try:
            self._hand_over(connection, letter)
        except BaseException as trouble:
            refused = isinstance(trouble, RelayError) and not isinstance(trouble, RelayDown)
            if refused and _reset(connection):
                self._idle.append(connection)
            else:
                connection.close()
            raise
        self._idle.append(connection)

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

    def _begin(self, letter: OutgoingLetter) -> smtplib.SMTP:
        """A connection on which MAIL FROM has just been accepted."""
        try:
            kept = self._idle.pop()
        except IndexError:
            pass
        else:
            try:
                return _started(kept, letter)
            except RelayDown:
                pass
        return _started(self._connected(letter), letter)

    @staticmethod
    def _hand_over(connection: smtplib.SMTP, letter: OutgoingLetter) -> None:
        rcpt = f"TO:<{letter.recipient}>"
        _expect_good(_ask(lambda: connection.docmd("RCPT", rcpt)), "RCPT TO")
        _expect_good(_ask(lambda: connection.data(letter.raw)), "DATA")

    def _connected(self, letter: OutgoingLetter) -> smtplib.SMTP:
        """A new connection: greeted, encrypted if that is to be, logged in."""
        address = self._address
        # Our own domain, which bounces come back to, is also our name (RFC 5321, 4.1.1.1).
        domain = letter.envelope_sender.rpartition("@")[2]
        name = domain if domain and domain.isascii() else "localhost"
        try:
            connection = self._opened(name)
        except (OSError, smtplib.SMTPException) as error:
            raise RelayDown(f"no connection to the relay: {_said(error)}") from None
        try:
            connection.ehlo_or_helo_if_needed()
            if address.scheme == "smtp" and self._wants_tls(connection):
                connection.starttls(context=self._context())
                connection.ehlo_or_helo_if_needed()
            if address.user:
                connection.login(address.user, address.password)
        except smtplib.SMTPAuthenticationError as error:
            # The server's words might quote what we sent; its code says enough.
            connection.close()
            raise RelayDown(f"the relay refused our login ({error.smtp_code})") from None
        except (OSError, smtplib.SMTPException) as error:
            connection.close()
            raise RelayDown(f"the relay did not let us in: {_said(error)}") from None
        except BaseException:
            connection.close()
            raise
        return connection

    def _opened(self, name: str) -> smtplib.SMTP:
        address = self._address
        if address.scheme == "lmtp":
            # smtplib takes a host that begins with a slash for a Unix socket.
            return smtplib.LMTP(address.path or address.host, address.port, name, timeout=TIMEOUT_S)
        if address.scheme == "smtps":
            return smtplib.SMTP_SSL(
                address.host, address.port, name, timeout=TIMEOUT_S, context=self._context()
            )
        return smtplib.SMTP(address.host, address.port, name, timeout=TIMEOUT_S)

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


def _started(connection: smtplib.SMTP, letter: OutgoingLetter) -> smtplib.SMTP:
    """Say MAIL FROM; the connection is closed if it is refused."""
    # Not smtplib's own mail() and rcpt(): those read an address before they write it,
    # and what they make of an unusual one need not be the same address.
    words = [f"FROM:<{letter.envelope_sender}>"]
    if connection.has_extn("size"):
        words.append(f"SIZE={len(letter.raw)}")
    try:
        if _UNSAFE.search(letter.envelope_sender + letter.recipient):
            raise RelayPermanent("the address cannot be written in SMTP")
        if not (letter.raw.isascii() and (letter.envelope_sender + letter.recipient).isascii()):
            # RFC 6531: only for those who write from such an address.
            if not connection.has_extn("smtputf8"):
                raise RelayPermanent("the relay cannot carry this address (no SMTPUTF8)")
            words += ["SMTPUTF8", "BODY=8BITMIME"]
            connection.command_encoding = "utf-8"
        mail = " ".join(words)
        _expect_good(_ask(lambda: connection.docmd("MAIL", mail)), "MAIL FROM")
    except BaseException:
        connection.close()
        raise
    return connection


def _ask(command: Callable[[], tuple[int, bytes]]) -> tuple[int, bytes | str]:
    """One command and its reply; a broken connection becomes `RelayDown`."""
    try:
        return command()
    except smtplib.SMTPResponseException as refusal:
        return refusal.smtp_code, refusal.smtp_error
    except (OSError, smtplib.SMTPException) as error:
        raise RelayDown(f"the connection broke: {_said(error)}") from None


def _expect_good(reply: tuple[int, bytes | str], command: str) -> None:
    """Turn a refusal into the error that tells what to do with the letter."""
    code, words = reply
    if 200 <= code < 300:
        return
    said = f"{command}: {code} {_shown(words)}"
    if code == 421 or code < 200:
        # RFC 5321, 3.8: the server closes; -1 is smtplib's word for nonsense.
        raise RelayDown(said)
    if code in {530, 534, 535, 538}:
        # RFC 4954, 6: about our login, not about this letter.
        raise RelayDown(said)
    if 500 <= code < 600:
        raise RelayPermanent(said)
    if _TOO_MUCH.search(said):
        raise RelayBusy(said)
    raise RelayTemporary(said)


def _reset(connection: smtplib.SMTP) -> bool:
    """Whether the connection is fit for the next letter after a refusal."""
    try:
        return connection.rset()[0] == 250
    except (OSError, smtplib.SMTPException):
        return False


def _said(error: Exception) -> str:
    if isinstance(error, smtplib.SMTPResponseException):
        return f"{error.smtp_code} {_shown(error.smtp_error)}"
    return _shown(str(error)) or type(error).__name__


def _shown(words: bytes | str) -> str:
    """A server's words as one line for the log and the operator."""
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return "".join(c if c.isprintable() else " " for c in text)[:_LONGEST_ERROR].strip()


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
