"""Players who play by mail while processes of the server are killed.

A player answers each letter after it has arrived, and sends a mail again until it gets a 250, as a
mail server does. If a connection breaks after DATA, some players give up; these mails may or may
not be stored.
"""

from __future__ import annotations

import queue
import random
import smtplib
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.parser import BytesHeaderParser
from email.utils import parseaddr
from typing import Literal

from benchmarks.moves import Board, Games
from benchmarks.smtp import Mail

PATIENCE_S = 60.0
"""Longest wait for one reply of the server."""
AGAIN_S = 0.1
"""Seconds until a mail is sent again that got no 250."""
GIVE_UP = 0.25
"""Share of mails that are not sent again after a connection broke behind their DATA."""
OTHERS = 0.1
"""Share of mails that are not moves."""
FIRST_TURN = 3
"""Turn of the first probe. Questions answer an old letter, whose address is never a move's."""
QUESTIONS = ("help", "help move", "help challenge", "help clock", "help board", "help resign")

State = Literal["open", "unsure", "taken"]
"""State of a mail: it got no 250 yet, its connection broke after DATA, or it got its 250."""


@dataclass(slots=True)
class Sent:
    """A mail that was sent.

    Attributes:
        board, turn: of the move; 0 if the mail is not a move.
    """

    board: int
    turn: int
    text: str
    state: State = "open"


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
        headers = BytesHeaderParser().parsebytes(text)
        self.copies.setdefault(headers["Message-ID"].strip(), []).append(text)
        self.answered.add(headers.get("In-Reply-To", "").strip())
        self.arrived(parseaddr(headers.get("Reply-To", ""))[1].lower())


class Load:
    """The players.

    Args:
        port: returns the port at which the server is now.
        sessions: number of players who send at the same time.
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
        self.failures: list[BaseException] = []
        self._changed = threading.Condition()
        self._in_data = 0
        self._ready: queue.SimpleQueue[tuple[Board, Mail]] = queue.SimpleQueue()
        self._expected: dict[str, tuple[Board, Mail]] = {}
        self._stopping = threading.Event()
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

    def wait_for_data(self) -> None:
        """Wait up to a second for a mail between its DATA and its 250."""
        with self._changed:
            self._changed.wait_for(lambda: self._in_data > 0, 1.0)

    def wait_for_next(self, timeout: float) -> float:
        """Wait for the next 250, at most *timeout* seconds, and return the seconds."""
        begun = time.monotonic()
        with self._changed:
            before = self.taken
            self._changed.wait_for(lambda: self.taken > before, timeout)
        return time.monotonic() - begun

    def _session(self, chance: random.Random) -> None:
        try:
            while not self._stopping.is_set():
                if chance.random() < OTHERS:
                    self._send(_question(chance, self._games), Sent(0, 0, ""), chance)
                else:
                    self._move(chance)
                self._stopping.wait(chance.expovariate(1 / self._pause_s))
        except BaseException as error:  # noqa: BLE001 - reported at the end of the run
            self.failures.append(error)

    def _move(self, chance: random.Random) -> None:
        """Send the move of a player whose letter has arrived; wait a second for one."""
        try:
            board, mail = self._ready.get(timeout=1.0)
        except queue.Empty:
            return
        turn = board.turn - 1  # it was counted when the mail was written
        sent = Sent(board.id, turn, board.probes[(turn - FIRST_TURN) // 2])
        if board.left > 0:
            following = self._games.move(board)
            with self._changed:
                self._expected[following.recipient.lower()] = (board, following)
        self._send(mail, sent, chance)

    def _send(self, mail: Mail, sent: Sent, chance: random.Random) -> None:
        """Send a mail until its 250, or until the player gives up."""
        message_id = BytesHeaderParser().parsebytes(mail.data)["Message-ID"]
        self.sent[message_id] = sent
        while (state := self._hand_over(mail)) != "taken":
            if state == "unsure" and chance.random() < GIVE_UP:
                sent.state = state
                return
            time.sleep(AGAIN_S)
        sent.state = state
        with self._changed:
            self.taken += 1
            self.last = message_id
            self._changed.notify_all()

    def _hand_over(self, mail: Mail) -> State:
        """Send a mail once.

        Raises:
            smtplib.SMTPResponseException: the server refuses the mail for good.
        """
        state: State = "open"
        try:
            with smtplib.SMTP("127.0.0.1", self._port(), "players.example", PATIENCE_S) as client:
                client.ehlo()
                _expect_250(client.mail(mail.sender))
                _expect_250(client.rcpt(mail.recipient))
                state = "unsure"
                with self._data_under_way():
                    _expect_250(client.data(mail.raw))
                state = "taken"
        except smtplib.SMTPResponseException as error:
            if error.smtp_code >= 500:
                raise
            return "open"
        except OSError:
            pass
        return state

    @contextmanager
    def _data_under_way(self) -> Iterator[None]:
        """Count a mail between its DATA and its 250."""
        with self._changed:
            self._in_data += 1
            self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._in_data -= 1


def _expect_250(reply: tuple[int, bytes]) -> None:
    if reply[0] != 250:
        raise smtplib.SMTPResponseException(*reply)


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
