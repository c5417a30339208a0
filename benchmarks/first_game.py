"""`python -m benchmarks.first_game`: time and effort that a first game costs a person.

A newcomer reads the README, starts the server, signs up, and plays a game against the house to its
end: once by mail, once by pages. The newcomer reads 220 words a minute, each line once, no drawing
of a board, and nothing behind the words that say what to do; thinks three seconds about each mail
or button; and types four characters a second. Time is counted, not waited for, except for the start
of the server.
"""

from __future__ import annotations

import re
import smtplib
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from html import unescape
from pathlib import Path
from time import monotonic, sleep
from urllib.error import HTTPError
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

from benchmarks.servers import Running, pbmserv

WORDS_A_MINUTE = 220
DECISION_S = 3.0
CHARACTERS_A_SECOND = 4.0
PATIENCE_S = 30

SERVER = "pbmserv@games.example"
KATE = "kate@players.example"
MOVES = (
    *("a2,c4,e6,g1", "a", "c", "e", "g", "2", "5", "b", "d", "f"),
    *("+b2,+d3,+f5,+c6,?", "/b2,+b3,?", "/b3,+b4,?"),
)
"""Atoms to hide, rays, and guesses, which are wrong if the box is not lucky. A used port is left
out."""

_BOARD = re.compile(r"^[\s|+\-=.#%?@!*a-zA-Z0-9]*\|[\s\S]*$")
_BLOCK = re.compile(r"</?(?:p|h\d|li|dt|dd|td|th|tr|div|section|figcaption|label|summary)\b[^>]*>")
_UNSEEN = re.compile(r"<(svg|script|style|details|table|select|ol)\b.*?</\1>", re.DOTALL)
WAY = re.compile(r"^\s*((?:blackbox )?challenge house(?:-beginner)?)\b", re.MULTILINE)
"""The line of a welcome that begins a game."""
_OVER = re.compile(r"\b(?:won|lost) (?:board|Blackbox) \d|\bBoard \d+ is over|\bYou (?:won|lost)\b")


class Stuck(Exception):
    """The newcomer does not know how to go on."""


@dataclass
class Tally:
    """The counts of a newcomer so far.

    Attributes:
        seconds: of reading, thinking and typing.
        mails: that the newcomer wrote.
        letters: that came.
        presses: of buttons on pages.
        words: that were read.
        seen: lines that were read and are not read again.
    """

    seconds: float = 0.0
    mails: int = 0
    letters: int = 0
    presses: int = 0
    words: int = 0
    seen: set[str] = field(default_factory=set)

    def read(self, text: str, until: str = "") -> None:
        """Read the lines of a text that are new.

        Args:
            until: words that say what to do: nobody reads on behind them.
        """
        for line in text.splitlines():
            words = line.split()
            if words and line.strip() not in self.seen and not _BOARD.match(line):
                self.seen.add(line.strip())
                self.words += len(words)
                self.seconds += len(words) * 60 / WORDS_A_MINUTE
            if until and until in " ".join(words):
                return

    def act(self, typed: str = "") -> None:
        """Decide, and type some words."""
        self.seconds += DECISION_S + len(typed) / CHARACTERS_A_SECOND

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        return (
            f"{minutes}:{seconds:02} | {self.words} | {self.mails} | {self.letters}"
            f" | {self.presses}"
        )


class Server:
    """A server as the newcomer meets it: mails, letters in a Maildir, and pages.

    Args:
        running: the server.
        mailbox: the newcomer's Maildir.
    """

    def __init__(self, running: Running, mailbox: Path) -> None:
        self._smtp = running.port
        web = re.search(r"http[^\n]*?:(\d+)", running.greeting)
        assert web is not None
        self._web = int(web[1])
        self._new = mailbox / "new"
        self._taken: set[Path] = set()

    def send(self, subject: str, body: str, to: str = SERVER) -> None:
        """Send a mail of the newcomer."""
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Subject"] = KATE, to, subject
        mail["Message-ID"] = f"<{monotonic()}@players.example>"
        mail.set_content(body)
        with smtplib.SMTP("127.0.0.1", self._smtp) as client:
            client.send_message(mail, KATE, [to])

    def letters(self) -> list[EmailMessage]:
        """Wait for letters to the newcomer; return the new ones, oldest first."""
        end = monotonic() + PATIENCE_S
        files: list[Path] = []
        quiet_since = monotonic()
        while monotonic() < end and not (files and monotonic() - quiet_since > 1.0):
            if new := [file for file in sorted(self._new.glob("*")) if file not in self._taken]:
                files += new
                self._taken |= {*new}
                quiet_since = monotonic()
            sleep(0.1)
        return [_parsed(file.read_bytes()) for file in files]

    def ask(self, path: str, fields: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Load a page, or send a form; return the path behind redirections, and the page."""
        body = urlencode(fields).encode() if fields is not None else None
        try:
            answer = urlopen(f"http://127.0.0.1:{self._web}{path}", body, PATIENCE_S)
        except HTTPError as refusal:  # a page, too
            answer = refusal
        with answer:
            return urlsplit(answer.url).path, answer.read().decode()


def _parsed(octets: bytes) -> EmailMessage:
    mail = message_from_bytes(octets, policy=policy.default)
    assert isinstance(mail, EmailMessage)
    return mail


def words_of(letter: EmailMessage) -> str:
    """Return the subject and the text of a letter, without its signature."""
    part = letter.get_body(("plain",))
    assert part is not None
    text, _, _ = part.get_content().partition("\n-- \n")
    return f"{letter['Subject']}\n{text}"


def words_on(page: str) -> str:
    """Return what a page says, a line for each of its blocks.

    Drawers, choices and lists of moves are left out.
    """
    main = page.partition("<main")[2].partition("</main>")[0]
    return unescape(re.sub(r"<[^>]+>", " ", _BLOCK.sub("\n", _UNSEEN.sub(" ", main))))


class Newcomer:
    """Reads what comes, and does what it says."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.tally = Tally()
        self.moves = list(MOVES)
        self.first_ray: Tally | None = None

    def write(self, subject: str, body: str, to: str = SERVER) -> list[EmailMessage]:
        """Write a mail, and return the letters that come."""
        self.tally.act(body if to != SERVER else subject)
        self.tally.mails += 1
        self.server.send(subject, body, to)
        letters = self.server.letters()
        if not letters:
            raise Stuck(f"no letter after {subject!r} {body!r}")
        self.tally.letters += len(letters)
        return letters

    def reply(self, letter: EmailMessage, words: str) -> list[EmailMessage]:
        """Reply to a letter."""
        return self.write(f"Re: {letter['Subject']}", words, str(letter["Reply-To"]))

    def press(
        self, path: str, fields: Mapping[str, str], typed: str = "", until: str = ""
    ) -> tuple[str, str]:
        """Fill a form in, press its button, and read the page that comes; see `Tally.read`."""
        self.tally.act(typed)
        self.tally.presses += 1
        path, page = self.server.ask(path, fields)
        self.tally.read(words_on(page), until)
        return path, page

    def open(self, url: str, until: str = "") -> tuple[str, str]:
        """Follow a link, and read its page; see `Tally.read`."""
        self.tally.act()
        path, page = self.server.ask(urlsplit(url).path)
        self.tally.read(words_on(page), until)
        return path, page

    def wait(self, until: str = "") -> EmailMessage:
        """Wait for a letter, and read it."""
        letter = self.server.letters()[-1]
        self.tally.letters += 1
        self.tally.read(words_of(letter), until)
        return letter

    def note(self, move: str) -> None:
        """Remember when the first ray was fired."""
        if self.first_ray is None and move != MOVES[0]:
            self.first_ray = Tally(**vars(self.tally))

    # -- by mail ---------------------------------------------------------------------------

    def play_by_mail(self) -> None:
        """Ask to play, do what the letters say, and play to the end."""
        letters = self.write("I want to play", "")
        for _ in range(60):
            letter = letters[-1]
            text = words_of(letter)
            if self.first_ray is not None and _OVER.search(text):
                self.tally.read(text)
                return
            letters = self._next_mail(letter, text)
        raise Stuck("sixty mails were not enough")

    def _next_mail(self, letter: EmailMessage, text: str) -> list[EmailMessage]:
        """Read a letter as far as is needed, and answer it."""
        if re.search(r"[Bb]oard 1\b", text) and self.moves:
            self.tally.read(text)
            move = self.moves.pop(0)
            letters = self.reply(letter, move)
            if "Not done" not in words_of(letters[-1]):
                self.note(move)
            return letters
        if re.search(r'reply "yes"', " ".join(text.split())) or "Are you kate" in text:
            self.tally.read(text, '"yes"')
            return self.reply(letter, "yes")
        if way := WAY.search(text):
            self.tally.read(text, way[1])
            return self.reply(letter, way[1])
        if signup := re.search(r"\bsignup [A-Za-z]+", text):
            self.tally.read(text, signup[0])
            return self.write("signup kate tulips-42", "")
        raise Stuck(text)

    # -- by page ---------------------------------------------------------------------------

    def play_by_page(self) -> None:
        """Begin at the front page, and use pages wherever there is one."""
        self.open("/", "Sign up")
        self.press("/signup", {"name": "kate", "address": KATE}, f"kate{KATE}")
        path, _ = self.open(_link(self.wait('"yes"'), "confirm"))
        self.press(path, {})
        path, page = self.open(_link(self.wait("challenge house"), "mine"), "for a game at once")
        fields = {**_hidden(page, "challenge"), "who": "house-beginner", "game": "blackbox"}
        _, page = self.press(path, fields, "house-beginner", "Your move on board")
        board = re.search(r'href="(/b/[^"]+)"', page)
        link = board[1] if board else _link(self.wait(), "b")
        path, page = self.open(link)
        while not _OVER.search(" ".join(words_on(page).split())):
            if not self.moves:
                raise Stuck(words_on(page))
            move = self.moves.pop(0)
            hidden = dict(re.findall(r'type="hidden" name="(turn|key)" value="([^"]*)"', page))
            path, page = self.press(path, {**hidden, "move": move, "words": ""}, move)
            if "Not played" not in page:
                self.note(move)
            for _ in range(20):  # the house thinks
                if "house-beginner to move" not in page:
                    break
                sleep(0.5)
                path, page = self.server.ask(path)
            self.tally.read(words_on(page))


def _link(letter: EmailMessage, kind: str) -> str:
    part = letter.get_body(("plain",))
    assert part is not None
    match = re.search(rf"http://[^/\s]+/{kind}/\S+", part.get_content())
    return match[0] if match else ""


def _hidden(page: str, do: str) -> dict[str, str]:
    """Return the hidden fields of the form that asks for a change."""
    for form in re.findall(r"<form\b.*?</form>", page, re.DOTALL):
        fields = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
        if fields.get("do") == do:
            return fields
    return {}


def cloned(server: Running) -> Tally:
    """Return what the way from a clone to a running server costs, without the installation."""
    tally = Tally()
    readme = (Path(__file__).parents[1] / "README.md").read_text("utf-8")
    until, command, _ = readme.partition("make serve")
    tally.read(until + command)
    tally.act("make serve\n")
    tally.seconds += server.took
    tally.read(server.greeting)
    return tally


def main() -> int:
    """Play both games, and print a table."""
    rows: list[tuple[str, Tally | None]] = []
    for way in ("mail", "page"):
        with tempfile.TemporaryDirectory(prefix="pbmserv-first-") as name:
            folder = Path(name)
            relay = f"maildir:{folder / 'mail'}"
            with pbmserv(folder, folder / "pbmserv.sqlite3", relay) as running:
                newcomer = Newcomer(Server(running, folder / "mail" / KATE))
                try:
                    newcomer.play_by_mail() if way == "mail" else newcomer.play_by_page()
                except Stuck as stuck:
                    print(f"by {way}: stuck. {str(stuck)[:2000]}")
                if way == "mail":
                    rows.append(("clone to ready", cloned(running)))
                rows.append((f"first ray, by {way}", newcomer.first_ray))
                rows.append((f"finished game, by {way}", newcomer.tally))
    print("| until | time | words | mails | letters | presses |")
    for what, tally in rows:
        print(f"| {what} | {tally} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
