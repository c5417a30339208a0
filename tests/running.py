"""A whole server inside the test's process: real sockets, real database, real Maildirs.

Only the clock can be moved, and argon2 is made cheap.
"""

from __future__ import annotations

import asyncio
import smtplib
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from email.message import EmailMessage
from email.utils import make_msgid
from functools import cache, cached_property, partial
from pathlib import Path
from time import monotonic, sleep
from unittest.mock import patch

from dns_zone import Zone
from headers import one_line, read, written
from migrated import BEGINNING, migrated, trusted_copies
from one_process import Server
from smtp_client import SETTLES
from speedups import cheap_hasher
from sqlalchemy import ColumnElement, select, update

from pbmserv.config.listen import public_url
from pbmserv.config.settings import Settings, load
from pbmserv.files import sqlite_file
from pbmserv.mail.dns import Resolver
from pbmserv.net.listening import port_of
from pbmserv.outbound.maildir import MaildirRelay
from pbmserv.outbound.relay import OutgoingLetter, Relay
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.operators.gauges import metrics
from pbmserv.service.operators.health import Health, Parts
from pbmserv.service.schedule import scheduler
from pbmserv.stages.mail_ports import MailPorts
from pbmserv.stages.ports import Bound, bind
from pbmserv.stages.stage_states import own_numbers
from pbmserv.stages.web_ports import WebPorts
from pbmserv.store.accounts import players
from pbmserv.store.operators import health as rows
from pbmserv.store.tables.downtime import heartbeats
from pbmserv.store.tables.mail import outbox

PATIENCE_S = 60
"""Seconds, on a machine that has much else to do."""

KEEPER_POLL_S = 86_400.0
"""Seconds between two looks of the keeper: it looks when a test moves the clock. A look at any
other moment might find the clock and the heartbeat moved apart, which is an outage."""

NOT_SENT = ("tray", "folded", "failed", "parked")
"""States of letters that no relay has seen, or that none will see again."""

_RATES = ("PLAYER", "ADDRESS", "NETWORK", "REFUSALS", "ANSWERS", "CONFIRMATIONS", "RESETS")
NO_RATES = {f"PBMSERV_RATE_{name}": "" for name in _RATES}
"""No limits by time: the clock stands still, so all mails of a test come at one moment."""


class MovableClock:
    """A clock that stands still until a test moves it."""

    def __init__(self) -> None:
        self.moment = BEGINNING

    def now(self) -> datetime:
        return self.moment

    def move(self, **by: float) -> None:
        self.moment += timedelta(**by)


class WatchedRelay(Relay):
    """A Maildir relay that notes the letters it has delivered, and notifies threads that wait."""

    def __init__(self, root: Path) -> None:
        self._relay: Relay = MaildirRelay(root)
        self.delivered: dict[int, OutgoingLetter] = {}
        self.changed = threading.Condition()

    def deliver(self, letter: OutgoingLetter) -> None:
        self._relay.deliver(letter)
        with self.changed:
            self.delivered[letter.id] = letter
            self.changed.notify_all()

    def close(self) -> None:
        self._relay.close()


@dataclass
class Letter:
    """A letter as its recipient sees it."""

    id: int
    raw: bytes

    @cached_property
    def message(self) -> EmailMessage:
        """The parsed letter. Parsing takes longer than making it, and many are only counted."""
        return read(self.raw)

    @property
    def subject(self) -> str:
        return str(self.message["Subject"])

    @property
    def reply_to(self) -> str:
        return str(self.message["Reply-To"])

    @cached_property
    def text(self) -> str:
        part = self.message.get_body(("plain",))
        assert part is not None
        return str(part.get_content()).replace("\r\n", "\n")

    @property
    def one_line(self) -> str:
        """The text in one line, for tests that do not care where lines break."""
        return one_line(self.text)

    @cached_property
    def html(self) -> str:
        part = self.message.get_body(("html",))
        assert part is not None
        return str(part.get_content())


def add_player(server: Server, userid: str, password: str, address: str) -> None:
    """Create a player with a confirmed address and a password that is remembered as right."""
    password_hash = server.passwords.hash(password)
    now = server.clock.now()
    server.writer.submit(lambda c: players.create(c, userid, password_hash, address, now)).result()
    server.services.memo.note(userid, password_hash, password, right=True)


def remember_password(server: Server, userid: str, password: str) -> None:
    """Let a server that was copied remember that a player's password is right."""
    player = server.read(players.account_of, userid)
    assert player is not None
    server.services.memo.note(userid, player.password_hash, password, right=True)


class Correspondence(ABC):
    """A server, and the players who write to it and read its letters."""

    server: Server

    @abstractmethod
    def send_raw(self, sender: str, to: str, raw: bytes) -> str:
        """Send these octets, wait until they are carried out, and return the last SMTP reply."""

    @abstractmethod
    def letters(self, address: str = "") -> list[Letter]:
        """Return the letters to *address* (or anybody) that are new since the last call."""

    @abstractmethod
    def settle(self) -> None:
        """Wait until all mails are carried out and all due letters are sent."""

    @abstractmethod
    def live(self, **by: float) -> None:
        """Move the clock of a running server, and let it do everything that is due."""

    def sleep(self, **by: float) -> None:
        """Move the clock while the server is down, and start it again."""
        self.settle()
        clock = self.server.clock
        assert isinstance(clock, MovableClock)
        clock.move(**by)
        self.server.scheduler.run_once()

    @property
    def address(self) -> str:
        return self.server.mail_domain.address

    def send(
        self,
        sender: str,
        subject: str = "",
        body: str = "",
        *,
        to: str = "",
        message_id: str = "",
        **headers: str,
    ) -> str:
        """Send a mail by SMTP, and return the server's last reply, such as ``"250 …"``."""
        named = {
            "From": sender,
            "To": to or self.address,
            "Subject": subject,
            "Message-ID": message_id or make_msgid(domain="players.example"),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        return self.send_raw(sender, to or self.address, written(named, body))

    def reply(self, letter: Letter, body: str, *, sender: str = "", **headers: str) -> str:
        """Answer a letter as a mail program does."""
        return self.send(
            sender or str(letter.message["To"]),
            f"Re: {letter.subject}",
            body,
            to=letter.reply_to,
            In_Reply_To=str(letter.message["Message-ID"]),
            **headers,
        )

    def letter(self, address: str) -> Letter:
        """Return the only new letter to *address*."""
        letters = self.letters(address)
        assert len(letters) == 1, [letter.subject for letter in letters]
        return letters[0]

    def sign_up(self, userid: str, password: str = "secret") -> str:
        """Create a player with a confirmed address, without any mail, and return the address."""
        address = f"{userid}@players.example"
        add_player(self.server, userid, password, address)
        return address


@dataclass
class Running(Correspondence):
    """A running server with its ports and its relay; the port of a part that is off is 0."""

    server: Server
    port: int
    web_port: int
    relay: WatchedRelay
    read_ids: set[int] = field(default_factory=set)
    lmtp_port: int = 0
    smtps_port: int = 0
    metrics_port: int = 0
    mailbox_port: int = 0
    operators_port: int = 0
    _looking: threading.Lock = field(default_factory=threading.Lock)

    @property
    def pages(self) -> int:
        """The pages, for a `Tab`."""
        return self.web_port

    def send_raw(self, sender: str, to: str, raw: bytes) -> str:
        """Send these octets."""
        with smtplib.SMTP("127.0.0.1", self.port, timeout=PATIENCE_S) as client:
            client.ehlo()
            client.mail(sender)
            code, words = client.rcpt(to)
            if code != 250:
                return f"{code} {words.decode()}"
            code, words = client.data(raw)
        self.carry_out()
        return f"{code} {words.decode()}"

    def letters(self, address: str = "") -> list[Letter]:
        """Return the new letters, after everything in the queue has been delivered."""
        self.settle()
        with self.relay.changed:
            new = [
                letter
                for number, letter in sorted(self.relay.delivered.items())
                if number not in self.read_ids and address in {"", letter.recipient}
            ]
        self.read_ids.update(letter.id for letter in new)
        return [Letter(letter.id, letter.raw) for letter in new]

    def carry_out(self) -> None:
        """Wait until all mails that have arrived are carried out."""
        end = monotonic() + PATIENCE_S
        with self._looking:  # twenty threads that look at once would slow the server down
            while self.server.waits():
                assert monotonic() < end, "a mail was not carried out"
                sleep(0.002)

    def settle(self) -> None:
        """Wait until all mails are carried out, and all due letters are sent and settled."""
        self.carry_out()
        with self.relay.changed:
            arrived = self.relay.changed.wait_for(
                lambda: self._queued() <= self.relay.delivered.keys(), PATIENCE_S
            )
        assert arrived, f"letters {self._queued() - self.relay.delivered.keys()} were not delivered"
        end = monotonic() + PATIENCE_S
        while in_hand := self._claimed():
            assert monotonic() < end, f"letters {in_hand} are still in hand"
            sleep(0.001)

    def _queued(self) -> set[int]:
        with self.server.database.reading.connect() as connection:
            waiting = outbox.c.state.not_in(NOT_SENT)
            letters = connection.execute(select(outbox.c.id).where(waiting, self._is_due()))
            return set(letters.scalars())

    def _claimed(self) -> list[int]:
        claimed = select(outbox.c.id).where(outbox.c.claimed_by.is_not(None))
        return self.server.column(claimed)

    def _is_due(self) -> ColumnElement[bool]:
        """Select letters that are due. A letter in hand is due again when its lease ends, soon."""
        soon = self.server.clock.now() + timedelta(hours=1)
        return outbox.c.due_at.is_(None) | (outbox.c.due_at < soon)

    def live(self, **by: float) -> None:
        """Move the clock of a running server, and let it do everything that is due."""
        self.settle()
        clock = self.server.clock
        assert isinstance(clock, MovableClock)
        later = clock.moment + timedelta(**by)
        # The heartbeat first: a clock that is ahead of it would look like an outage.
        self.server.writer.submit(
            lambda c: c.execute(update(heartbeats).values(beat_at=later))
        ).result()
        clock.moment = later
        self.server.door_stage.run_once()
        self.server.scheduler.run_once()
        self.server.sender.wake()  # it waits by a clock that nobody can move


class Open:
    """All ports of a server in one event loop."""

    def __init__(self, server: Server, bound: Bound) -> None:
        self.mail = MailPorts(server.base, server.door, bound)
        health = Health(
            self._look,
            server.settings.data_dir,
            server.base.mail,
            server.database,
            self._write,
            server.clock,
        )
        self.web = WebPorts(
            server.base,
            server.web_stage,
            health,
            lambda: metrics(health, own_numbers()),
            bound,
        )
        self._server = server

    def _write(self) -> Future[None]:
        server = self._server
        return server.writer.submit(partial(rows.probe_game_store, now=server.clock.now()))

    def _look(self) -> Parts:
        server = self._server
        texts = server.quota.taken, server.quota.most
        slots = self.mail.slots() | self.web.slots()
        relay, damage = server.post_stage.relay_state(), server.play_stage.integrity.damage
        return Parts(server.vitals(), slots, relay, texts, is_damaged=bool(damage))

    def _start_play(self) -> None:
        """Start play, and wait until its keeper has looked."""
        self._server.play_stage.start()
        while (keeper := self._server.scheduler.vital()).is_alive and keeper.silent_s:
            sleep(0.001)

    async def open(self) -> None:
        await asyncio.to_thread(self._start_play)
        self._server.door_stage.start()
        await self.mail.open()
        await self.web.open()
        self._server.post_stage.start()
        self._server.bot_worker.start()

    async def close(self) -> None:
        await self.mail.close()
        await self.web.close()


def read_settings(folder: Path, database_url: str, chosen: Mapping[str, str]) -> Settings:
    """Return the settings of a server with its files in *folder*.

    All but the places of files is read once in each process: that is a third of a server's start.
    """
    files = {"data_dir": folder, "database": database_url, "relay": f"maildir:{folder}/mail"}
    others = {
        name: value for name, value in files.items() if f"PBMSERV_{name.upper()}" not in chosen
    }
    return _settings_of(tuple(sorted(chosen.items()))).model_copy(update=others)


@cache
def _settings_of(chosen: tuple[tuple[str, str], ...]) -> Settings:
    return load(dict(chosen), None).settings


@contextmanager
def start(
    folder: Path, database_url: str = "", *, names: Resolver | None = None, **settings: str
) -> Iterator[Running]:
    """Start a server with its files in *folder*, and stop it at the end.

    Args:
        database_url: default: SQLite in the folder.
        names: the DNS of the server.
    """
    database_url = database_url or f"sqlite:///{folder}/pbmserv.sqlite3"
    if file := sqlite_file(database_url):
        migrated(file, has_key=True)
    loaded = read_settings(
        folder,
        database_url,
        {
            "PBMSERV_SMTP": "127.0.0.1:0",
            "PBMSERV_WEB": "127.0.0.1:0",
            "PBMSERV_MAILBOX": "",
            "PBMSERV_ADDRESS": "pbmserv@games.example",
            "PBMSERV_WEB_URL": "http://games.example",
            **NO_RATES,
            **{f"PBMSERV_{name.upper()}": value for name, value in settings.items()},
        },
    )
    relay = WatchedRelay(folder / "mail")
    bound = bind(loaded)
    ports = {name: port_of(at, getattr(loaded, name)) for name, at in bound.sockets.items()}
    smtp, web = ports["smtp"], ports.get("web")
    web_url = loaded.web_url or (public_url(web) if web else "")
    with trusted_copies(), patch.object(scheduler, "POLL_S", KEEPER_POLL_S):
        server = Server(
            loaded.model_copy(update={"smtp": smtp, "web_url": web_url}),
            MovableClock(),
            relay,
            Passwords(cheap_hasher()),
            names or Zone(),
        )

    def number_of(port: str) -> int:
        return ports[port].port if port in ports else 0

    running = Running(
        server,
        smtp.port,
        number_of("web"),
        relay,
        smtps_port=number_of("smtps"),
        metrics_port=number_of("metrics"),
        mailbox_port=number_of("mailbox"),
        operators_port=number_of("operator_pages"),
        lmtp_port=number_of("lmtp"),
    )
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="server")
    thread.start()

    async def opened() -> Open:
        doors = Open(running.server, bound)
        await doors.open()
        return doors

    doors = asyncio.run_coroutine_threadsafe(opened(), loop).result(PATIENCE_S)
    ports = {running.port, running.lmtp_port, running.smtps_port}
    SETTLES.update(dict.fromkeys(ports, running.carry_out))
    try:
        yield running
    finally:
        for port in ports:
            SETTLES.pop(port, None)
        asyncio.run_coroutine_threadsafe(doors.close(), loop).result(PATIENCE_S)
        running.server.close()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
