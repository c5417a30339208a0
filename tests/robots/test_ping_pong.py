"""Two servers that are each other's players, and robots that answer everything: it ends."""

from __future__ import annotations

import itertools
import smtplib
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path

import pytest
from running import PATIENCE_S, Running, start

from pbmserv.outbound.relay import OutgoingLetter

PASSWORD = "wonder-land"
A, B = "pbmserv@a.example", "pbmserv@b.example"
REFUSALS = 6
"""Answers an hour that say nothing could be done; then one says that it is the last."""

COUNT = itertools.count()

ROBOTS: Mapping[str, Callable[[str], str]] = {
    "moving": lambda letter: "1",
    "same": lambda letter: "I am not here. Your mail is important to me.",
    "counting": lambda letter: f"This is answer number {next(COUNT)} of your friendly robot.",
    "empty": lambda letter: "",
    "echo": lambda letter: letter,
    "quoting": lambda letter: "\n".join(f"> {line}" for line in letter.splitlines()),
    "asking": lambda letter: "help",
    "agreeing": lambda letter: "accept",
    "chatting": lambda letter: "chat\nHow nice to hear from you!",
    "babbling": lambda letter: f"chat\nHow nice to hear from you, for the {next(COUNT)}th time!",
}
"""Autoresponders that keep to no standard at all, by their names at dumb.example."""


class Post:
    """The mail between both servers and the robots; counts letters by recipient."""

    def __init__(self) -> None:
        self.servers: dict[str, Running] = {}
        self.letters: Counter[str] = Counter()
        self._guard = threading.Lock()

    def deliver(self, letter: OutgoingLetter) -> None:
        """As a mail server would, at once."""
        with self._guard:
            self.letters[letter.recipient] += 1
        local, _, domain = letter.recipient.partition("@")
        message = message_from_bytes(letter.raw, policy=policy.default)
        assert isinstance(message, EmailMessage)
        if domain in self.servers:
            self.send(str(message["From"].addresses[0].addr_spec), letter.recipient, letter.raw)
        elif local in ROBOTS:
            self._answer(letter.recipient, message, ROBOTS[local])

    def close(self) -> None:
        """Nothing is held."""

    def send(self, sender: str, recipient: str, raw: bytes) -> None:
        server = self.servers[recipient.rpartition("@")[2]]
        with smtplib.SMTP("127.0.0.1", server.port, "dumb.example", PATIENCE_S) as client:
            client.ehlo()
            client.mail(sender)
            code, _ = client.rcpt(recipient)
            if code == 250:
                client.data(raw)

    def _answer(self, robot: str, asked: EmailMessage, words: Callable[[str], str]) -> None:
        body = asked.get_body(("plain",))
        assert body is not None
        answer = EmailMessage()
        answer["From"] = robot
        answer["To"] = asked["Reply-To"]
        answer["Subject"] = f"Re: {asked['Subject']}"
        answer["Message-ID"] = f"<{next(COUNT)}@dumb.example>"
        answer.set_content(words(str(body.get_content())))
        self.send(robot, str(asked["Reply-To"]), answer.as_bytes(policy=policy.SMTP))


@pytest.fixture
def post(tmp_path: Path) -> Iterator[Post]:
    post = Post()
    with ExitStack() as stack:
        for address in (A, B):
            domain = address.rpartition("@")[2]
            folder = tmp_path / domain
            folder.mkdir()
            post.servers[domain] = stack.enter_context(
                start(
                    f"sqlite:///{folder}/pbmserv.sqlite3",
                    folder,
                    address=address,
                    signup="open",
                    rate_refusals=f"{REFUSALS}/hour; 9/day",
                )
            )
        yield post


def quiet(post: Post) -> int:
    """Wait until no server has a letter to send; how many letters there were in all."""
    before = -1
    while before != (total := sum(post.letters.values())):
        before = total
        for server in post.servers.values():
            server.settle()
    return total


@pytest.mark.slow
def test_two_servers_and_their_robots_come_to_an_end(post: Post) -> None:
    a, b = post.servers["a.example"], post.servers["b.example"]
    players = {"a.example": tuple(ROBOTS), "b.example": ("same", "counting")}
    for server, other in ((a, B), (b, A)):
        server.send(other, f"signup other {PASSWORD}")
        server.send("carol@players.example", f"signup carol {PASSWORD}")
        for robot in players[server.server.mail_domain.domain]:
            server.send(f"{robot}@dumb.example", f"signup {robot} {PASSWORD}")
        server.letters()
        # From here on the letters go somewhere where they are answered.
        server.relay._relay = post
    for server in (a, b):
        everybody = ("other", *players[server.server.mail_domain.domain])
        for player in everybody:
            server.send("carol@players.example", f"blackbox challenge carol {player} -size=4x4")
        server.send(
            "carol@players.example", f"message carol {PASSWORD} {' '.join(everybody[:9])}", "Hello!"
        )
        server.send("same@dumb.example", f"message same {PASSWORD} counting", "From a robot!")
    a.send("counting@dumb.example", f"message counting {PASSWORD} babbling", "From a robot!")
    total = quiet(post)
    assert quiet(post) == total  # nothing goes on by itself
    # The other server's own letters are never answered: it got what carol had sent, no more.
    assert post.letters[A] <= 2
    assert post.letters[B] <= 2
    for robot in ROBOTS:
        assert 2 <= post.letters[f"{robot}@dumb.example"] <= 200, robot
    assert total < 1000, post.letters
    # What the servers write by themselves later begins nothing that goes on.
    for server in (a, b):
        server.live(days=30)
    assert quiet(post) < 2 * total


def test_a_person_is_answered_again_after_an_hour(post: Post) -> None:
    server = post.servers["a.example"]
    alice = "alice@players.example"
    server.send(alice, f"signup alice {PASSWORD}")
    server.letters()
    kinds = []
    for n in range(REFUSALS + 5):
        server.send(alice, f"what is this {n}")
        kinds.append([letter.subject for letter in server.letters(alice)])
    assert [len(one) for one in kinds] == [1] * (REFUSALS - 1) + [2] + [0] * 5
    assert kinds[REFUSALS - 1][1] == "No more answers for a while"
    server.send(alice, "list")  # what can be done is answered as always
    assert len(server.letters(alice)) == 1
    server.live(hours=1)
    server.send(alice, "and what is this")
    assert len(server.letters(alice)) == 1
