"""A whole server in the process of a test. It takes mails and returns letters, without sockets."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email import message_from_bytes
from email.message import EmailMessage
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from argon2 import PasswordHasher

from pbmserv.config.settings import load
from pbmserv.engine.registry import Registry
from pbmserv.mail.envelope import Envelope
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.outbound.results import Sent
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.bots.bot_worker import BotWorker
from pbmserv.stages.base import Base
from pbmserv.stages.bots_process import make_bot_worker
from pbmserv.stages.door_process import DoorStage
from pbmserv.stages.play_process import PlayStage
from pbmserv.stages.post_process import PostStage
from pbmserv.stages.rings import Rings
from pbmserv.store.accounts import players
from pbmserv.store.core import schema
from pbmserv.store.core.database import Database
from pbmserv.testing.letter_headers import READ, SENT

PASSWORD = "wonder-land"  # noqa: S105 - of players of a test
FILE = "pbmserv.sqlite3"
_RATES = ("PLAYER", "ADDRESS", "NETWORK", "REFUSALS", "ANSWERS", "CONFIRMATIONS", "RESETS")


class _NoRelay(Relay):
    """Delivers nothing; letters are taken from the outbox."""

    def deliver(self, letter: OutgoingLetter) -> None:
        raise RuntimeError(f"letter {letter.id} was to be delivered")

    def close(self) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Letter:
    """A letter as its reader sees it."""

    recipient: str
    raw: bytes

    @cached_property
    def message(self) -> EmailMessage:
        message = message_from_bytes(self.raw, policy=READ)
        assert isinstance(message, EmailMessage)
        return message

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def text(self) -> str:
        return self._part("plain")

    @property
    def html(self) -> str:
        return self._part("html")

    def _part(self, kind: str) -> str:
        part = self.message.get_body((kind,))
        return "" if part is None else str(part.get_content()).replace("\r\n", "\n")


@dataclass
class TestServer:
    """A server and its mail; bots move at once.

    Attributes:
        letters: all letters so far, the oldest first.
    """

    play: PlayStage
    door: DoorStage
    post: PostStage
    bots: BotWorker
    loop: asyncio.AbstractEventLoop
    address: str
    letters: list[Letter] = field(default_factory=list)

    __test__ = False

    def sign_up(self, userid: str) -> str:
        """Create a player, and return the address."""
        address = f"{userid}@players.example"
        password_hash = self.play.passwords.hash(PASSWORD)
        now = datetime.now(UTC)
        self.play.writer.submit(
            lambda c: players.create(c, userid, password_hash, address, now)
        ).result()
        self.play.services.memo.note(userid, password_hash, PASSWORD, right=True)
        return address

    def challenge(self, key: str, userids: list[str], options: str = "") -> None:
        """Create players, and begin a board that all of them accept."""
        addresses = [self.sign_up(userid) for userid in userids]
        self.send(addresses[0], f"{key} challenge {' '.join(userids)} {options}".strip())
        for address in addresses[1:]:
            self.reply(self.newest(address), "accept")

    def send(self, sender: str, subject: str, body: str = "", to: str = "") -> list[Letter]:
        """Send a mail, and return the letters that follow."""
        mail = EmailMessage(SENT)
        mail["From"], mail["To"], mail["Subject"] = sender, to or self.address, subject
        mail["Message-ID"] = f"<{len(self.letters)}.{id(mail)}@players.example>"
        mail.set_content(body)
        envelope = Envelope(sender, to or self.address, mail.as_bytes())
        answer = self.loop.run_until_complete(self.door.door.receive(envelope))
        if not answer.startswith("250"):
            raise RuntimeError(f"the server refused a mail: {answer}")
        self.play.play.run_until_idle()
        self.door.run_once()  # frees the room of the mail in its lane
        return self._new_letters()

    def reply(self, letter: Letter, body: str) -> list[Letter]:
        """Reply to a letter, and return the letters that follow."""
        to = str(letter.message["Reply-To"])
        return self.send(letter.recipient, f"Re: {letter.subject}", body, to)

    def newest(self, address: str) -> Letter:
        """Return the newest letter to an address."""
        return [letter for letter in self.letters if letter.recipient == address][-1]

    def _new_letters(self) -> list[Letter]:
        new_letters: list[Letter] = []
        self.bots.run_once()
        while claimed := self.post.outbox.claim(1000):
            letters = self.post.outbox.make(claimed)
            self.post.outbox.settle([Sent(letter.id) for letter in letters])
            letters.sort(key=lambda letter: letter.id)
            new_letters += [Letter(letter.recipient, letter.raw) for letter in letters]
            self.bots.run_once()
        self.letters += new_letters
        return new_letters


@cache
def _files_of_a_new_server() -> dict[str, bytes]:
    """Return databases without rows, by the names of their files.

    Creating the tables takes longer than a short game.
    """
    with tempfile.TemporaryDirectory(prefix="pbmserv-test-") as folder:
        for url, stores in schema.stores_at(f"sqlite:///{folder}/{FILE}"):
            database = Database(url)
            schema.prepare(database, stores)
            database.close()
        return {path.name: path.read_bytes() for path in Path(folder).iterdir()}


@contextmanager
def server(*games: Any) -> Iterator[TestServer]:
    """Run a server that plays these games, with its files in a temporary folder."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="pbmserv-test-")))
        for name, octets in _files_of_a_new_server().items():
            (folder / name).write_bytes(octets)
        url = f"sqlite:///{folder / FILE}"
        values = {
            "PBMSERV_DATA_DIR": str(folder),
            "PBMSERV_DATABASE": url,
            "PBMSERV_ADDRESS": "pbmserv@games.example",
            "PBMSERV_WEB_URL": "http://games.example",
            "PBMSERV_SIGNUP": "open",
            **{f"PBMSERV_RATE_{name}": "" for name in _RATES},
        }
        base = Base(load(values, None).settings, None)
        stack.callback(base.close)
        if games:
            base.registry = Registry(games)
        hasher = Passwords(PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
        play = PlayStage(base, Rings(), hasher, names=None, by="test play", has_own_door=True)
        stack.callback(play.stop)
        door = DoorStage(base, play.play.ring, None)
        stack.callback(door.stop)
        post = PostStage(base, play.outbox_writer, "test post", _NoRelay())
        stack.callback(post.stop)
        bots = make_bot_worker(base, play.bot_moves)
        loop = asyncio.new_event_loop()
        stack.callback(loop.close)
        stack.callback(lambda: loop.run_until_complete(loop.shutdown_default_executor()))
        yield TestServer(play, door, post, bots, loop, base.mail_domain.address)
