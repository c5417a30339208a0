"""Two servers that are each other's players, and robots that answer everything: it ends."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from email.message import EmailMessage
from pathlib import Path

import pytest
from headers import READ, SENT
from indoors import PASSWORD, Indoors, Posted, indoors

from pbmserv.mail.envelope import Envelope
from pbmserv.service.limits import rates

A, B = "pbmserv@a.example", "pbmserv@b.example"
REFUSALS = 3
"""Answers an hour that say nothing could be done; then one says that it is the last."""

MOST = 1_000
"""Letters, in all."""

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
        self.servers: dict[str, Indoors] = {}
        self.letters: Counter[str] = Counter()

    def run(self) -> int:
        """Deliver until no server has a letter to send; how many letters there were in all."""
        while letters := [
            letter for server in self.servers.values() for letter in server.letters()
        ]:
            for letter in letters:
                self._deliver(letter)
            assert self.letters.total() < MOST, self.letters
        return self.letters.total()

    def send(self, sender: str, recipient: str, raw: bytes) -> None:
        server = self.servers[recipient.rpartition("@")[2]]
        server.hand_in(Envelope(sender, recipient, raw, "127.0.0.1", "dumb.example"))

    def _deliver(self, letter: Posted) -> None:
        """As a mail server would, at once."""
        self.letters[letter.recipient] += 1
        local, _, domain = letter.recipient.partition("@")
        if domain in self.servers:
            sender = letter.message["From"].addresses[0].addr_spec
            self.send(sender, letter.recipient, letter.raw)
        elif local in ROBOTS:
            self._answer(letter, ROBOTS[local])

    def _answer(self, letter: Posted, words: Callable[[str], str]) -> None:
        answer = EmailMessage(READ)
        answer["From"] = letter.recipient
        answer["To"] = letter.reply_to
        answer["Subject"] = f"Re: {letter.subject}"
        answer["Message-ID"] = f"<{next(COUNT)}@dumb.example>"
        answer.set_content(words(letter.text))
        self.send(letter.recipient, letter.reply_to, answer.as_bytes(policy=SENT))


@pytest.fixture
def post(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Post]:
    monkeypatch.setattr(rates, "TALK", "3/hour; 5/day")  # as usual, but smaller
    monkeypatch.setattr(rates, "MOVES", "4/hour; 10/day")
    post = Post()
    with ExitStack() as stack:
        for address in (A, B):
            domain = address.rpartition("@")[2]
            folder = tmp_path / domain
            folder.mkdir()
            post.servers[domain] = stack.enter_context(
                indoors(folder, address=address, rate_refusals=f"{REFUSALS}/hour; 5/day")
            )
        yield post


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
    for server in (a, b):
        everybody = ("other", *players[server.server.mail_domain.domain])
        for player in everybody:
            server.send_unread(
                "carol@players.example", f"blackbox challenge carol {player} -size=4x4"
            )
        server.send_unread(
            "carol@players.example", f"message carol {PASSWORD} {' '.join(everybody[:9])}", "Hello!"
        )
        server.send_unread(
            "same@dumb.example", f"message same {PASSWORD} counting", "From a robot!"
        )
    a.send_unread("counting@dumb.example", f"message counting {PASSWORD} babbling", "From a robot!")
    total = post.run()
    assert post.run() == total  # nothing goes on by itself
    # The other server's own letters are never answered: it got what carol had sent, no more.
    assert post.letters[A] <= 2
    assert post.letters[B] <= 2
    for robot in ROBOTS:
        assert 2 <= post.letters[f"{robot}@dumb.example"] <= 200, robot
    # What the servers write by themselves later begins nothing that goes on.
    for server in (a, b):
        server.move_clock(days=30)
        server.server.scheduler.run_once()
    assert total <= post.run() < 2 * total


def test_a_person_is_answered_again_after_an_hour(post: Post) -> None:
    server = post.servers["a.example"]
    alice = "alice@players.example"
    server.send(alice, f"signup alice {PASSWORD}")
    kinds = [
        [letter.subject for letter in server.send(alice, f"brillig {n}")]
        for n in range(REFUSALS + 3)
    ]
    assert [len(kind) for kind in kinds] == [1] * (REFUSALS - 1) + [2] + [0] * 3
    assert kinds[REFUSALS - 1][1] == "No more answers for a while"
    assert len(server.send(alice, "list")) == 1  # what can be done is answered as always
    server.live(hours=1)
    assert len(server.send(alice, "and slithy toves")) == 1


def test_a_writer_of_too_many_messages_reaches_nobody_more(post: Post) -> None:
    server = post.servers["a.example"]
    for name in ("alice", "bob"):
        server.send(f"{name}@players.example", f"signup {name} {PASSWORD}")
    letters = [
        server.send("alice@players.example", f"message alice {PASSWORD} bob", f"Hello {n}!")
        for n in range(5)
    ]
    assert [letter.subject for letter in letters[2]] == [
        "Your message to bob",
        "No more answers for a while",
        "A message from alice",
    ]
    assert letters[3:] == [[], []]


def test_a_person_reads_of_each_board_and_undo_that_the_same_words_lead_to(post: Post) -> None:
    """The same question is answered 20 times a week, but these are more than answers."""
    server = post.servers["a.example"]
    alice = "alice@players.example"
    server.send(alice, f"signup alice {PASSWORD}")
    for number in range(1, 23):
        (letter,) = server.send(alice, f"blackbox solo alice {PASSWORD}")
        assert letter.subject == f"Your move: Blackbox {number}"
        server.send(alice, f"blackbox resign {number} alice {PASSWORD}")
    (letter,) = server.send(alice, f"blackbox solo alice {PASSWORD} -practice")
    for _ in range(22):
        server.send(alice, f"blackbox move 23 alice {PASSWORD} +b2")
        assert len(server.send(alice, f"blackbox undo 23 alice {PASSWORD}")) == 1


def test_a_person_reads_of_each_board_at_which_the_same_move_is_refused(tmp_path: Path) -> None:
    with indoors(tmp_path, rate_refusals="60/hour") as server:
        server.sign_up("alice")
        for number in range(1, 23):
            (letter,) = server.send("alice@players.example", f"blackbox solo alice {PASSWORD}")
            (refusal,) = server.reply(letter, "99")
            assert refusal.subject.startswith("Not done"), number
            server.reply(letter, "resign")
