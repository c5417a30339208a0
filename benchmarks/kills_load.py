"""Players who play by mail while processes of the server are killed.

A player answers each letter after it has arrived, and sends a mail again until it gets a 250, as a
mail server does. If a connection breaks after the dot, some players give up; these mails may or may
not be stored.
"""

from __future__ import annotations

import queue
import random
import re
import smtplib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.moves import Board, Games
from benchmarks.smtp import Mail

PATIENCE_S = 60.0
"""Longest wait for one reply of the server."""
AGAIN_S = 0.1
"""Seconds until a mail is sent again that got no 250."""
GIVE_UP = 0.25
"""Share of mails that are not sent again after a connection broke behind their dot."""
OTHERS = 0.1
"""Share of mails that are not moves."""
FIRST_TURN = 3
"""Turn of the first probe. Questions answer an old letter, whose address is never a move's."""
QUESTIONS = ("help", "help move", "help challenge", "help clock", "help board", "help resign")

_MESSAGE_ID = re.compile(rb"^Message-ID:\s*(<[^>]+>)", re.IGNORECASE | re.MULTILINE)
_IN_REPLY_TO = re.compile(rb"^In-Reply-To:\s*(<[^>]+>)", re.IGNORECASE | re.MULTILINE)
_REPLY_TO = re.compile(rb"^Reply-To:\s*(?:[^<\r\n]*<)?([^>\s]+)", re.IGNORECASE | re.MULTILINE)


@dataclass(slots=True)
class Sent:
    """A mail that was sent.

    Attributes:
        board, turn: of the move; 0 if the mail is not a move.
        state: ``taken`` after its 250; ``unsure`` if the connection broke after the dot and the
            mail was not sent again; ``open`` while it is being sent.
    """

    board: int
    turn: int
    text: str
    state: Literal["open", "unsure", "taken"] = "open"


class _Broken(Exception):
    """The connection broke, or the mail got a 451; *after_dot*: it may be stored."""

    def __init__(self, *, after_dot: bool = False) -> None:
        self.after_dot = after_dot


@dataclass
class Letters:
    """All letters that the relay has taken.

    Attributes:
        arrived: called with the reply address of each letter.
        answered: Message-IDs of the mails that a letter answers.
        copies: octets of the letters, by Message-ID.
    """

    arrived: Callable[[str], None] = lambda _address: None
    answered: set[str] = field(default_factory=set)
    copies: dict[str, list[bytes]] = field(default_factory=dict)

    def take(self, _recipient: str, text: bytes) -> None:
        """Keep a letter."""
        message_id = _MESSAGE_ID.search(text)
        assert message_id is not None
        self.copies.setdefault(message_id[1].decode(), []).append(text)
        answers = _IN_REPLY_TO.search(text)
        if answers is not None:
            self.answered.add(answers[1].decode())
        to = _REPLY_TO.search(text)
        if to is not None:
            self.arrived(to[1].decode().lower())


class Load:
    """The players.

    Args:
        port: returns the port at which the server is now.
        sessions: number of sessions that send at the same time.
        pause_s: mean seconds between two mails of a session.

    Attributes:
        sent: every mail, by Message-ID.
        taken: number of mails with a 250.
        last: Message-ID of the newest mail with a 250.
    """

    def __init__(
        self,
        games: Games,
        port: Callable[[], int],
        chance: random.Random,
        *,
        sessions: int,
        pause_s: float,
    ) -> None:
        self._games = games
        self._port = port
        self._pause_s = pause_s
        self.sent: dict[str, Sent] = {}
        self.taken = 0
        self.last = ""
        self._changed = threading.Condition()
        self._dotted = 0
        self._ready: queue.SimpleQueue[tuple[Board, Mail]] = queue.SimpleQueue()
        self._expected: dict[str, tuple[Board, Mail]] = {}
        self._stopping = threading.Event()
        self.failures: list[BaseException] = []
        for board in games.running:
            self._ready.put((board, games.move(board)))
        self._threads = [
            threading.Thread(target=self._session, args=(random.Random(chance.random()),))
            for _ in range(sessions)
        ]

    def start(self) -> None:
        """Begin to send mails."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finish the mails that have been begun, and send no others."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def arrived(self, address: str) -> None:
        """Queue the next move of the player who got a letter with this reply address."""
        with self._changed:
            following = self._expected.pop(address, None)
        if following is not None:
            self._ready.put(following)

    def wait_for_dot(self) -> None:
        """Wait up to a second for a mail whose dot is sent and whose 250 has not come."""
        with self._changed:
            self._changed.wait_for(lambda: self._dotted > 0, 1.0)

    def wait_for_next(self, timeout: float) -> float:
        """Wait for the next 250, at most *timeout* seconds, and return the seconds."""
        begun = time.monotonic()
        with self._changed:
            before = self.taken
            self._changed.wait_for(lambda: self.taken > before, timeout)
        return time.monotonic() - begun

    def _session(self, chance: random.Random) -> None:
        wire: _Wire | None = None
        try:
            while not self._stopping.is_set():
                board, mail = self._next(chance)
                if mail is not None:
                    wire = self._send(wire, board, mail, chance)
                self._stopping.wait(chance.expovariate(1 / self._pause_s))
        except BaseException as error:  # noqa: BLE001 - reported at the end of the run
            self.failures.append(error)
        finally:
            if wire is not None:
                wire.close()

    def _next(self, chance: random.Random) -> tuple[Board | None, Mail | None]:
        if chance.random() < OTHERS:
            return None, _question(chance, self._games)
        try:
            return self._ready.get(timeout=1.0)
        except queue.Empty:
            return None, None

    def _send(
        self, wire: _Wire | None, board: Board | None, mail: Mail, chance: random.Random
    ) -> _Wire | None:
        """Send one mail until its 250 and return the connection if it is still open."""
        message_id = _MESSAGE_ID.search(mail.data)
        assert message_id is not None
        name = message_id[1].decode()
        sent = Sent(0, 0, "")
        if board is not None:
            turn = board.turn - 1  # it was counted when the mail was written
            sent = Sent(board.id, turn, board.probes[(turn - 3) // 2])
        self.sent[name] = sent
        if board is not None and board.left > 0:
            following = self._games.move(board)
            with self._changed:
                self._expected[following.recipient.lower()] = (board, following)
        while True:
            try:
                wire = wire or _Wire(self._port())
                wire.begin(mail)
                with self._dot():
                    wire.finish(mail)
            except (_Broken, OSError) as error:
                if wire is not None:
                    wire.close()
                    wire = None
                is_unsure = isinstance(error, _Broken) and error.after_dot
                if is_unsure and chance.random() < GIVE_UP:
                    sent.state = "unsure"
                    return None
                time.sleep(AGAIN_S)
            else:
                sent.state = "taken"
                with self._changed:
                    self.taken += 1
                    self.last = name
                    self._changed.notify_all()
                return wire

    @contextmanager
    def _dot(self) -> Iterator[None]:
        """Count a mail whose dot is sent and whose answer has not come."""
        with self._changed:
            self._dotted += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._dotted -= 1


class _Wire(smtplib.SMTP):
    """One SMTP connection."""

    def __init__(self, port: int) -> None:
        super().__init__("127.0.0.1", port, "players.example", PATIENCE_S)
        self.ehlo()

    def begin(self, mail: Mail) -> None:
        """Send the envelope, up to the 354."""
        _expect(2, self.docmd(f"MAIL FROM:<{mail.sender}>"))
        _expect(2, self.docmd(f"RCPT TO:<{mail.recipient}>"))
        _expect(3, self.docmd("DATA"))

    def finish(self, mail: Mail) -> None:
        """Send the mail with its dot and wait for the 250.

        Raises:
            _Broken: there was no 250; the mail may be stored.
        """
        try:
            self.send(mail.data)
            reply = self.getreply()
        except OSError:
            raise _Broken(after_dot=True) from None
        _expect(2, reply)


def _expect(wanted: int, reply: tuple[int, bytes]) -> None:
    """Raise an exception unless the reply's code has this first digit."""
    code, words = reply
    if code // 100 == 5:
        raise RuntimeError(f"refused: {code} {words.decode()}")
    if code // 100 != wanted:
        raise _Broken


def _question(chance: random.Random, games: Games) -> Mail:
    """Return a reply with a question, which makes no move and gets an answer."""
    board, seat = chance.choice(games.running), chance.randrange(2)
    sender = games.player_address(board, seat)
    recipient = games.reply_address(board, seat, FIRST_TURN)
    number = chance.getrandbits(64)
    text = (
        f"From: {sender}\r\nTo: {recipient}\r\nSubject: Re: Blackbox\r\n"
        f"Message-ID: <q{number:x}@players.example>\r\n\r\n{chance.choice(QUESTIONS)}"
    )
    return Mail(sender, recipient, text.encode() + b"\r\n.\r\n")
