"""``pbmserv send``: a mail to the server, as a player's mail program would send it."""

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

from pbmserv.cli.completion import subjects
from pbmserv.cli.output import complain, failure, harmless, say
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.config import Listen, Settings

if TYPE_CHECKING:
    import smtplib

PATIENCE_S = 1.0
"""How long a pipe may stay silent when a subject is enough to make a mail."""

TIMEOUT_S = 60.0


def send(
    sender: Annotated[str, typer.Option("--from", metavar="ADDR", help="Your address.")],
    text: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TEXT]...", help="The body; `-` reads it from standard input."),
    ] = None,
    to: Annotated[
        str | None, typer.Option("--to", metavar="ADDR", help="Default: the server's address.")
    ] = None,
    subject: Annotated[
        str,
        typer.Option("--subject", "-s", help="The subject line.", autocompletion=subjects),
    ] = "",
    reply: Annotated[
        bool, typer.Option("--reply", help="Answer the newest letter you were sent.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Send one mail to the server and print what it answered.

    Examples: `pbmserv send --from bob@localhost --subject help`, or to make a
    move in answer to the newest letter: `pbmserv send --from bob@localhost
    --reply g,+b2`. A text that begins with a dash goes after `--`.
    """
    settings = loaded(config).settings
    own = _address(sender, "--from")
    message = _answer(settings, own) if reply else _empty_message()
    if to is not None or not reply:
        del message["To"]
        message["To"] = _address(to or settings.address, "--to")
    if subject or not reply:
        del message["Subject"]
        try:
            message["Subject"] = subject
        except ValueError:
            raise typer.BadParameter("a subject is one line") from None
    body = _body(text or [], enough_without=bool(subject or reply))
    say(deliver(settings, own, message, body))


def deliver(settings: Settings, sender: str, message: EmailMessage, body: str) -> str:
    """Hand *message* (headers, without From and body) over; what the server said to it.

    Raises:
        typer.Exit: it was refused, or no server listens; the reason is on stderr.
    """
    import smtplib
    from email.utils import formatdate, make_msgid

    message["From"] = sender
    message["Date"] = formatdate(localtime=True)
    # Domains are given wherever a library would else ask the name server for ours.
    message["Message-ID"] = make_msgid(domain=sender.rpartition("@")[2])
    message.set_content(body)
    recipient = parseaddr(str(message["To"]))[1]
    raw = message.as_bytes()
    where = _server(settings)
    try:
        server = _connected(settings, where)
        try:
            server.ehlo_or_helo_if_needed()
            _step(where, server.mail(sender))
            _step(where, server.rcpt(recipient))
            return _step(where, server.data(raw))
        finally:
            with contextlib.suppress(OSError):  # the mail's fate is known already
                server.quit()
            server.close()
    except smtplib.SMTPResponseException as error:
        raise _refused(where, error.smtp_code, error.smtp_error) from None
    except smtplib.SMTPServerDisconnected:
        raise failure(f"{where} ended the conversation before it took the mail.") from None
    except OSError as error:
        raise failure(
            f"No mail server answers at {where} ({error.strerror or error}). Start it with "
            "`pbmserv serve`, or name another one with PBMSERV_SMTP."
        ) from None


def _empty_message() -> EmailMessage:
    from email.policy import SMTP

    # Folded References no longer match what they refer to, hence the long lines;
    # 7bit, for a server in between may know nothing else.
    return EmailMessage(policy=SMTP.clone(max_line_length=998, cte_type="7bit"))


def _step(where: Listen, response: tuple[int, bytes | str]) -> str:
    """The server's answer to one command, if it was a yes."""
    code, words = response
    if not 200 <= code < 300:
        raise _refused(where, code, words)
    return _answer_line(code, words)


def _refused(where: Listen, code: int, words: bytes | str) -> typer.Exit:
    return failure(f"{where} refused the mail: {_answer_line(code, words)}")


def _answer_line(code: int, words: bytes | str) -> str:
    text = words.decode("utf-8", "replace") if isinstance(words, bytes) else words
    return f"{code} {harmless(text)}"


def _server(settings: Settings) -> Listen:
    """Where to knock: a server that listens on every address is also here."""
    listen = settings.smtp or settings.lmtp
    if listen is None:
        raise failure("The server takes no mail: PBMSERV_SMTP and PBMSERV_LMTP are both off.")
    if listen.path is None and not listen.port:
        raise failure("PBMSERV_SMTP has port 0, so nobody knows where to send; give it a port.")
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
    """The headers of an answer to the newest letter that *address* was sent."""
    from pbmserv.cli.read import mailbox, parsed

    newest = None
    for stored in mailbox(settings, address).messages(all=True):
        newest = stored
    if newest is None:
        raise failure(f"{address} was sent no letter yet, so there is nothing to answer.")
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
    found = parseaddr(text)[1]
    local, at, domain = found.rpartition("@")
    if not (local and at and domain) or not found.isascii() or not found.isprintable():
        raise typer.BadParameter(f"{option} needs one address, such as bob@localhost")
    return found


def _body(words: list[str], *, enough_without: bool) -> str:
    """The text of the mail: the words, or what comes through a pipe.

    Args:
        words: from the command line; ``["-"]`` = read everything from standard input.
        enough_without: the mail makes sense without a body, so a pipe that
            somebody left open and silent is not waited for.
    """
    if words == ["-"]:
        return sys.stdin.read()
    if words:
        return " ".join(words)
    if sys.stdin is None or sys.stdin.closed or not _piped():
        return ""
    if enough_without and not select.select([sys.stdin], [], [], PATIENCE_S)[0]:
        complain("Nothing came through standard input, so the mail has no body.")
        return ""
    return sys.stdin.read()


def _piped() -> bool:
    """Whether standard input is a pipe or a file, not a terminal and not /dev/null."""
    try:
        mode = fstat(sys.stdin.fileno()).st_mode
    except OSError:
        return False
    return stat.S_ISFIFO(mode) or stat.S_ISREG(mode)
