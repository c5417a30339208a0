"""Plays a dialog against a running server, and shows where the server does something else."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from email.utils import getaddresses, make_msgid, parseaddr
from functools import cached_property

from dialog_reader import (
    Arrival,
    CameBack,
    DaysPass,
    Dialog,
    Expected,
    Game,
    SentAgain,
    Silence,
    Step,
    TurnedAway,
    Written,
    address_of,
)
from headers import written
from running import Correspondence, Letter

from pbmserv.commands.table.command_types import Secret
from pbmserv.mail.envelope import Envelope, Verdict
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.mails.incoming import IncomingMail
from pbmserv.store.delivery import inbox

WIDTH = 76
"""Columns of our text (spec/mail.md)."""

NOTHING = "{nothing}"
QUOTED = "{the letter, quoted}"
UNQUOTED = "{the letter, not quoted}"


FORMS = frozenset(
    {
        ("multipart/alternative", "text/plain", "text/html"),
        ("multipart/mixed", "multipart/alternative", "text/plain", "text/html"),
        ("text/plain",),
        ("multipart/mixed", "text/plain"),
    }
)
"""Content types of the parts of letters, without attachments."""

_RANDOM = re.compile(r"/b/[a-z2-7]{20,}|\b[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}\b")
"""Links and the hashes of records are removed before a search for forbidden words, which they may
hold by chance."""


class DialogFailed(Exception):
    """The server did something else than the dialog says."""


EMPTY_CELL = re.compile(
    r'aria-label="[A-Z]+[0-9]+: empty[^"]*"[^>]*>[A-Z]+[0-9]+<'
    r'|body=%2B[A-Z]+[0-9]+(?:">[A-Z]+[0-9]+</a>)?'
)
STYLE = re.compile(r'<style>.*?</style>|style="[^"]*"', re.DOTALL)
TOKEN = re.compile(r"(?:\+|%2B)[a-z2-7]{24,64}(?=@)")
"""Tokens of reply addresses, which are random: a page is compared without them."""


@dataclass(frozen=True)
class _Received:
    """A letter with its parts.

    Attributes:
        html: its HTML, ``""`` for players who want plain text.
    """

    letter: Letter
    to: str
    subject: str
    text: str
    html: str

    @classmethod
    def of(cls, letter: Letter) -> _Received:
        to = dict(letter.message.raw_items())["To"].strip()
        page = letter.message.get_body(("html",))
        source = "" if page is None else str(page.get_content())
        return cls(letter, to, letter.subject, letter.text, source)

    @cached_property
    def page(self) -> str:
        """Its HTML with plain characters, without styles and the names of empty cells."""
        return html.unescape(TOKEN.sub("", EMPTY_CELL.sub("", STYLE.sub("", self.html))))


@dataclass(frozen=True, slots=True)
class _Sent:
    sender: str
    to: str
    raw: bytes
    reply: str


class Play:
    """A dialog and the server that it is played on."""

    def __init__(self, dialog: Dialog, server: Correspondence) -> None:
        self._dialog = dialog
        self._server = server
        self._named: dict[str, _Received] = {}
        self._newest: dict[str, _Received] = {}
        self._waiting: list[_Received] = []
        self._all: list[_Received] = []
        self._sent: _Sent | None = None
        self._secrets: list[str] = []
        parser = server.server.parser
        self._parse, parser.parse = parser.parse, self._note_secrets

    def begin(self) -> dict[str, Letter]:
        """Create the boards that exist from the beginning; return each player's newest letter."""
        for userid, password in self._dialog.seated:
            self._server.sign_up(userid, password)
        for game in self._dialog.games:
            self._begin(game)
        return {to: letter.letter for to, letter in self._newest.items()}

    def play(self, newest: Mapping[str, Letter] | None = None) -> None:
        """Play the dialog to its end.

        Args:
            newest: what `begin` returned; `None` if the first boards do not exist yet.

        Raises:
            DialogFailed: names the line of the dialog and shows the letter.
        """
        if newest is None:
            self.begin()
        else:
            self._newest = {to: _Received.of(letter) for to, letter in newest.items()}
        for userid, password in self._dialog.players[len(self._dialog.seated) :]:
            self._server.sign_up(userid, password)
        for step in self._dialog.steps:
            self._take(step)
        self._nothing_left(None)
        for letter in self._all:
            self._check_letter(letter)
        with self._server.server.database.reading.connect() as connection:
            kept = inbox.kept(connection)
        if kept:
            raise self._failure(None, f"a mail was kept for the operator:\n{kept[0].error}")

    def _begin(self, game: Game) -> None:
        """Begin a board and hide all atoms, so that the newest letters show it."""
        first, second = (address_of(player) for player in game.players)
        words = ("blackbox", "challenge", *game.players, *game.options.split())
        self._server.send(first, " ".join(words))
        for address, cells in ((second, game.hidden[1]), (first, game.hidden[0])):
            question = next(letter for letter in self._new_letters() if letter.to == address)
            self._server.reply(question.letter, cells)
        self._newest |= {letter.to: letter for letter in self._new_letters()}

    def _new_letters(self) -> list[_Received]:
        letters = [_Received.of(letter) for letter in self._server.letters()]
        self._all += letters
        return letters

    def _take(self, step: Step) -> None:
        match step:
            case Written():
                self._nothing_left(step)
                self._send(step, *self._mail(step))
            case SentAgain():
                self._nothing_left(step)
                assert self._sent is not None
                self._send(step, address_of(step.who), self._sent.to, self._sent.raw)
            case CameBack():
                self._nothing_left(step)
                self._come_back(step)
            case DaysPass():
                self._nothing_left(step)
                self._let_pass(step)
            case Arrival():
                self._arrival(step)
            case TurnedAway():
                assert self._sent is not None
                if not self._sent.reply.startswith(step.reply):
                    raise self._failure(step, f"the server replied: {self._sent.reply}")
                self._sent = None
            case Silence():
                self._nothing_left(step)

    def _let_pass(self, step: DaysPass) -> None:
        if step.down:
            self._server.sleep(days=step.days)
        else:
            for _ in range(step.days):
                self._server.live(days=1)
        self._waiting += self._new_letters()

    # -- mails ----------------------------------------------------------------------------

    def _mail(self, step: Written) -> tuple[str, str, bytes]:
        """Return sender, recipient and octets of a mail."""
        headers = {
            "From": address_of(step.who),
            "To": self._server.address,
            "Message-ID": make_msgid(domain="players.example"),
        }
        body = step.body.replace(NOTHING, "")
        if step.answers is not None:
            answered = self._answered(step)
            subject = answered.subject
            headers["To"] = answered.letter.reply_to
            headers["Subject"] = subject if subject.startswith("Re: ") else f"Re: {subject}"
            headers["In-Reply-To"] = str(answered.letter.message["Message-ID"])
            body = _with_quotes(body, answered.text)
        for name, value in step.headers:
            headers = {key: headers[key] for key in headers if key.lower() != name.lower()}
            headers[name] = value
        by_name = {name.lower(): value for name, value in headers.items()}
        raw = written(headers, f"{body}\n")
        return parseaddr(by_name["from"])[1], parseaddr(by_name["to"])[1], raw

    def _answered(self, step: Written) -> _Received:
        if step.answers:
            return self._named[step.answers]
        newest = self._newest.get(address_of(step.who))
        if newest is None:
            raise self._failure(step, f"{step.who} has no letter to reply to")
        return newest

    def _send(self, step: Step, sender: str, to: str, raw: bytes) -> None:
        self._sent = _Sent(sender, to, raw, self._server.send_raw(sender, to, raw))
        self._waiting += self._new_letters()
        for secret in self._secrets:
            if secret not in self._dialog.passwords:  # which no letter may show
                raise self._failure(step, f'say at the top: "password: {secret}"')

    def _note_secrets(self, envelope: Envelope, verdict: Verdict) -> IncomingMail:
        """Read a mail for the server, and note the passwords in it."""
        incoming = self._parse(envelope, verdict)
        for line in incoming.reading.lines:
            self._secrets += _secrets(line.meaning)
        return incoming

    def _come_back(self, step: CameBack) -> None:
        """Send a report (RFC 3464) about the newest letter to its envelope sender."""
        newest = self._newest[address_of(step.who)]
        about = ReplyAddress(Purpose.BOUNCE, about=newest.letter.id)
        to = self._server.server.mail_domain.address_of(about)
        status = step.reply.split()[1]
        lines = (
            *("From: MAILER-DAEMON@mx.players.example", f"Message-ID: {make_msgid()}"),
            *("Content-Type: message/delivery-status", "", "Reporting-MTA: dns; mx", ""),
            *(f"Final-Recipient: rfc822; {newest.to}", "Action: failed", f"Status: {status}"),
            *(f"Diagnostic-Code: smtp; {step.reply}", ""),
        )
        self._send(step, "", to, "\r\n".join(lines).encode())

    # -- letters --------------------------------------------------------------------------

    def _arrival(self, step: Arrival) -> None:
        address = address_of(step.who)
        letter = next((letter for letter in self._waiting if letter.to == address), None)
        if letter is None:
            others = "".join(map(_shown, self._waiting)) or " No letter came to anybody."
            raise self._failure(step, f"no letter came to {step.who}.{others}")
        self._waiting.remove(letter)
        self._newest[address] = letter
        if step.name:
            self._named[step.name] = letter
        at = 0
        for expected in step.expected:
            at = self._check(expected, letter, at)

    def _check(self, expected: Expected, letter: _Received, at: int) -> int:
        """Check one expectation from *at* on, and return the place for the next one."""
        if expected.subject:
            if letter.subject != expected.text:
                raise self._failure(expected, f"the subject is not {expected.text!r}:", letter)
            return at
        if expected.absent:
            parts = (_RANDOM.sub("", part) for part in (letter.subject, letter.text, letter.page))
            if any(_end(expected, part, 0) for part in parts):
                raise self._failure(expected, "this must not be in the letter:", letter)
            return at
        end = _end(expected, letter.text, at)
        if not end:
            above = " (it is, but further up)" if _end(expected, letter.text, 0) else ""
            raise self._failure(expected, f"this is not in the letter{above}:", letter)
        return end

    def _nothing_left(self, step: Step | None) -> None:
        """Check that the dialog has mentioned all letters, and that the last mail was accepted."""
        if self._waiting:
            letters = "".join(map(_shown, self._waiting))
            raise self._failure(step, f"before this, a letter came that is not mentioned:{letters}")
        if self._sent is not None and not self._sent.reply.startswith("250 "):
            raise self._failure(step, f"the mail was turned away: {self._sent.reply}")

    # -- every letter ----------------------------------------------------------------------

    def _check_letter(self, letter: _Received) -> None:
        message = letter.letter.message
        kinds = tuple(
            part.get_content_type() for part in message.walk() if not part.is_attachment()
        )
        if kinds not in FORMS:
            raise self._failure(None, f"a letter's parts are {kinds}:", letter)
        replies = getaddresses([letter.letter.reply_to])
        if len(replies) != 1 or not self._server.server.mail_domain.knows(replies[0][1]):
            raise self._failure(None, f"nobody can reply to {replies}:", letter)
        wide = next((line for line in letter.text.split("\n") if len(line) > WIDTH), None)
        if wide is not None:
            raise self._failure(None, f"a line is wider than {WIDTH}:\n\n{_indented(wide)}", letter)
        headers = "\n".join(f"{name}: {value}" for name, value in message.raw_items())
        plain = f"{headers}\n{letter.subject}\n{letter.text}".lower()
        source = letter.html.lower()  # to make the page takes longer
        for password in self._dialog.passwords:
            word = password.lower()
            if word in plain or (html.escape(word) in source and word in letter.page.lower()):
                raise self._failure(None, f'a letter shows the password "{password}":', letter)

    def _failure(
        self, where: Step | Expected | None, why: str, letter: _Received | None = None
    ) -> DialogFailed:
        place = f"{self._dialog.path.name}:{where.line if where else 'end'}"
        expected = ""
        if isinstance(where, Expected) and not where.subject:
            expected = "\n\n" + _indented(where.text)
        return DialogFailed(f"{place}: {why}{expected}{_shown(letter) if letter else ''}")


def _secrets(command: object) -> Iterator[str]:
    """Yield all passwords in a command."""
    if isinstance(command, Secret):
        yield command.text
    elif is_dataclass(command):
        for part in fields(command):
            yield from _secrets(getattr(command, part.name))


def _end(expected: Expected, text: str, at: int) -> int:
    """Return the end of the first occurrence from *at* on; 0 if there is none.

    Lines match exactly but for blanks at their ends; a phrase may be wrapped in any way.
    """
    if expected.exact:
        lines = [re.escape(line) + "[ ]*" for line in expected.text.split("\n")]
        match = re.compile("^" + "\n".join(lines) + "$", re.MULTILINE).search(text, at)
        return match.end() if match else 0
    first, *others = expected.text.split()
    begin = text.find(first, at)
    while begin >= 0:
        end = begin + len(first)
        for word in others:  # compiling a pattern would take longer
            next_word = end
            while text[next_word : next_word + 1].isspace():
                next_word += 1
            if next_word == end or not text.startswith(word, next_word):
                break
            end = next_word + len(word)
        else:
            return end
        begin = text.find(first, begin + 1)
    return 0


def _with_quotes(body: str, text: str) -> str:
    text = text.rstrip("\n")
    quoted = "\n".join(f"> {line}".rstrip() for line in text.split("\n"))
    return body.replace(QUOTED, quoted).replace(UNQUOTED, text)


def _shown(letter: _Received) -> str:
    head = f"To: {letter.to}\nSubject: {letter.subject}\n\n"
    return f"\n\nThe letter that came:\n\n{_indented(head + letter.text)}"


def _indented(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.rstrip("\n").split("\n"))
