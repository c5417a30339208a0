"""``pbmserv send``: sends a player's mail to the server."""

from __future__ import annotations

import contextlib
import select
import stat
import sys
from email.message import EmailMessage
from email.utils import parseaddr
from os import fstat
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.local_mailboxes import mailbox, parsed
from pbmserv.cli.output import complain, failure, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.cli.settling import wait_for_letters
from pbmserv.cli.subjects import subjects
from pbmserv.config.listen import Listen
from pbmserv.config.settings import Settings

if TYPE_CHECKING:
    import smtplib

PATIENCE_S = 1.0
"""Seconds to wait for a body from a pipe, if the mail needs none."""

TIMEOUT_S = 60.0


def send(
    sender: Annotated[str, typer.Option("--from", metavar="ADDR", help="Your address.")],
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="The body; `-` reads it from standard input."),
    ] = None,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="ADDR", help="Where to; default: the server's address."),
    ] = None,
    subject: Annotated[
        str,
        typer.Option("--subject", "-s", help="The subject line.", autocompletion=subjects),
    ] = "",
    reply: Annotated[bool, typer.Option("--reply", help="Answer your newest letter.")] = False,
    config: ConfigFile = None,
) -> None:
    """Send a mail to the server and print whether the server took it.

    `pbmserv read` prints the letters that follow. The mail is sent when the server
    has carried out earlier mails and delivered your letters, so you can write one
    command right below another.

    Examples: `pbmserv send --from bob@localhost --subject help`, or to answer
    your newest letter with a move: `pbmserv send --from bob@localhost
    --reply g,+b2`. If your text begins with a dash, put `--` in front.
    """
    settings = loaded(config).settings
    own = _address(sender, "--from")
    wait_for_letters(settings, own)
    message = _answer(settings, own) if reply else _empty_message()
    if to is not None or not reply:
        del message["To"]
        message["To"] = _address(to or settings.address, "--to")
    if subject or not reply:
        del message["Subject"]
        try:
            message["Subject"] = subject
        except ValueError:
            raise typer.BadParameter("a subject must be one line") from None
    body = _body(text or [], enough_without=bool(subject or reply))
    say(deliver(settings, own, message, body))


def deliver(settings: Settings, sender: str, message: EmailMessage, body: str) -> str:
    """Send a mail, and return the server's reply.

    Args:
        message: its headers without From.

    Raises:
        typer.Exit: the mail was refused, or no server listens; the reason was printed.
    """
    import smtplib
    from email.utils import formatdate, make_msgid

    message["From"] = sender
    message["Date"] = formatdate(localtime=True)
    # Without a domain, the library would ask name servers for ours.
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(body)
    recipient = parseaddr(str(message["To"]))[1]
    raw = message.as_bytes()
    where = _listener(settings)
    try:
        server = _connected(settings, where)
        try:
            server.ehlo_or_helo_if_needed()
            _step(where, server.mail(sender))
            _step(where, server.rcpt(recipient))
            return _step(where, server.data(raw))
        finally:
            with contextlib.suppress(OSError):  # the server has replied to the mail already
                server.quit()
            server.close()
    except smtplib.SMTPResponseException as error:
        raise _refused(where, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPServerDisconnected:
        raise failure(f"{where} closed the connection before it accepted the mail.") from None
    except OSError as error:
        raise failure(
            f"No mail server answers at {where} ({error.strerror or error}). Start it with "
            "`pbmserv serve`, or name another one with PBMSERV_SMTP."
        ) from None


def _empty_message() -> EmailMessage:
    from email.policy import SMTP

    # Lines are not folded, because folded References would not match Message-IDs. 7bit passes any
    # server on the way.
    return EmailMessage(policy=SMTP.clone(max_line_length=998, cte_type="7bit"))


def _step(where: Listen, response: tuple[int, bytes | str]) -> str:
    """Return the server's reply to a command.

    Raises:
        typer.Exit: the server refused it; the reason was printed.
    """
    code, words = response
    if not 200 <= code < 300:
        raise _refused(where, code, words)
    return _answer_line(code, words)


def _refused(where: Listen, code: int, words: bytes | str) -> typer.Exit:
    return failure(f"{where} refused the mail: {_answer_line(code, words)}")


def _answer_line(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return f"{code} {text}"


def _listener(settings: Settings) -> Listen:
    """Return the server's port or socket, with a loopback address for a wildcard one."""
    listen = settings.smtp or settings.lmtp
    if listen is None:
        raise failure("The server takes no mail: PBMSERV_SMTP and PBMSERV_LMTP are both empty.")
    if listen.path is None and not listen.port:
        raise failure("PBMSERV_SMTP has port 0, which could be any port; give it a number.")
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - replaced, not bound
    return Listen(local.get(listen.host, listen.host), listen.port, listen.path)


def _connected(settings: Settings, where: Listen) -> smtplib.SMTP:
    import smtplib

    if settings.smtp is not None:
        return smtplib.SMTP(where.host, where.port, "localhost", TIMEOUT_S)
    server = smtplib.LMTP(local_hostname="localhost", timeout=TIMEOUT_S)
    if where.path is not None:
        server.connect(str(where.path))
    else:
        server.connect(where.host, where.port)
    return server


def _answer(settings: Settings, address: str) -> EmailMessage:
    """Return the headers of an answer to the newest letter to an address."""
    newest = None
    for stored in mailbox(settings, address).messages():
        newest = stored
    if newest is None:
        raise failure(f"No letter has come to {address} yet, so there is nothing to answer.")
    letter = parsed(newest.raw)
    answer = _empty_message()
    answer["To"] = parseaddr(str(letter["Reply-To"] or letter["From"]))[1]
    old = str(letter["Subject"] or "")
    answer["Subject"] = old if old.lower().startswith("re:") else f"Re: {old}"
    message_id = str(letter["Message-ID"] or "").strip()
    if message_id:
        answer["In-Reply-To"] = message_id
        answer["References"] = f"{letter['References'] or ''} {message_id}".strip()
    return answer


def _address(text: str, option: str) -> str:
    address = parseaddr(text)[1]
    local, at, domain = address.rpartition("@")
    if not (local and at and domain) or not address.isascii() or not address.isprintable():
        raise typer.BadParameter(f"{option} needs one address, such as bob@localhost")
    return address


def _body(words: list[str], *, enough_without: bool) -> str:
    """Return the body of the mail: the words of the command line, or standard input.

    Args:
        words: words of the command line; ``["-"]`` to read standard input to its end.
        enough_without: the mail makes sense without a body, so do not wait for a silent pipe.
    """
    if words == ["-"]:
        return sys.stdin.read()
    if words:
        return " ".join(words)
    if sys.stdin is None or sys.stdin.closed or not _piped():
        return ""
    if enough_without and not select.select([sys.stdin], [], [], PATIENCE_S)[0]:
        complain("Standard input was silent, so the mail has no body.")
        return ""
    return sys.stdin.read()


def _piped() -> bool:
    """Return whether standard input is a pipe or a file, not a terminal and not /dev/null."""
    try:
        mode = fstat(sys.stdin.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
