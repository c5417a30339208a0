"""Work of argon2 for a mail, its threads, and who waits for whom."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from email.message import EmailMessage
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from dns_zone import Zone
from headers import one_line
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from signing import DOMAIN, publish, writes

from pbmserv.commands.table.command_types import Credentials
from pbmserv.mail.envelope import Envelope
from pbmserv.service.auth import lockout
from pbmserv.service.auth.passwords import Passwords
from pbmserv.service.mails import password_checks

pytestmark = pytest.mark.slow

ALICE, THIEF = address_of("alice"), "thief@elsewhere.example"
REFUSED = "The userid and password do not match."
UNLOOKED = "more passwords than we check in one mail"


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads in which argon2 checks or hashes a password, one entry for each time."""
    threads: list[str] = []
    verify, prepare = PasswordHasher.verify, Passwords.prepare

    def verified(self: PasswordHasher, password_hash: str, password: str) -> bool:
        threads.append(threading.current_thread().name)
        return verify(self, password_hash, password)

    def prepared(self: Passwords, userid: str, password: str) -> None:
        threads.append(threading.current_thread().name)
        prepare(self, userid, password)

    monkeypatch.setattr(PasswordHasher, "verify", verified)
    monkeypatch.setattr(Passwords, "prepare", prepared)
    return threads


@pytest.fixture
def server(tmp_path: Path, runs: list[str]) -> Iterator[Indoors]:
    zone = Zone()
    publish(zone, DOMAIN)
    with indoors(tmp_path, names=zone) as opened:
        opened.sign_up("alice", "bob")
        opened.letters()
        runs.clear()
        yield opened


def refusals_in(report: Posted) -> list[str]:
    """Return the refusal of each line, of the two that are possible."""
    top, *parts = report.text.split("=" * 76)
    lines = [line for line in top.splitlines() if re.match(r"\d+\. ", line)]
    refusals = [next((r for r in (REFUSED, UNLOOKED) if r in one_line(part)), "") for part in parts]
    answers: list[str] = []
    for line in lines:
        see = re.search(r"\(see (\d+)\)", line)
        is_told = see is not None or ". done" in line
        answers.append((answers[int(see[1]) - 1] if see else "") if is_told else refusals.pop(0))
    return answers


def proven(server: Indoors, subject: str, body: str = "") -> str:
    """Return the report on a mail that alice's domain has signed."""
    (letter,) = writes(server, "alice", subject, body.replace("\n", "\r\n"))
    return letter.one_line


def test_one_mail_cannot_have_argon2_run_for_every_line(server: Indoors, runs: list[str]) -> None:
    many = "\n".join(f"prefs u{n} wrong{n}" for n in range(50))
    (letter,) = server.send(THIEF, "multiple", many)
    assert len(runs) == password_checks.MOST_WRONG
    assert refusals_in(letter) == [REFUSED] * password_checks.MOST_WRONG + [UNLOOKED] * (
        50 - password_checks.MOST_WRONG
    )
    assert "wrong" not in letter.text
    # It is the same for players who exist.
    runs.clear()
    many = "\n".join(f"prefs alice wrong{n}" for n in range(50))
    (other,) = server.send("thief@third.example", "multiple", many)
    assert len(runs) == password_checks.MOST_WRONG
    assert refusals_in(other) == refusals_in(letter)


@pytest.mark.parametrize(
    "filled", [["signup c{} secret-{} c{}@x.example"] * 4, ["prefs u{} wrong{}"] * 3]
)
def test_a_right_guess_among_many_is_not_revealed(
    server: Indoors, runs: list[str], filled: list[str]
) -> None:
    """She played a moment ago, so the memo knows the password."""
    server.send(ALICE, f"prefs alice {PASSWORD}")
    lines = [line.replace("{}", str(n)) for n, line in enumerate(filled)]
    guesses = [f"prefs alice {word}" for word in ("guess1", PASSWORD, "guess2", PASSWORD)]
    report = next(
        letter
        for letter in server.send(THIEF, "multiple", "\n".join([*lines, *guesses]))
        if letter.kind == "summary"
    )
    assert refusals_in(report)[len(lines) :] == [UNLOOKED] * 4


def test_the_same_slip_all_over_a_mail_is_one_slip(server: Indoors, runs: list[str]) -> None:
    for _ in range(3):
        (letter,) = server.send(ALICE, "multiple", "\n".join(["prefs alice wrong"] * 20))
        assert refusals_in(letter) == [REFUSED] * 20
    assert len(runs) == 1
    (letter,) = server.send(ALICE, f"prefs alice {PASSWORD}")
    assert letter.subject == "Your preferences, alice"


def test_a_closed_door_costs_no_argon2(server: Indoors, runs: list[str]) -> None:
    for n in range(5):
        server.send(THIEF, f"prefs alice wrong{n}")
    assert len(runs) == 5
    (letter,) = server.send(THIEF, "multiple", "prefs alice wrong7\nprefs nobody wrong8")
    assert len(runs) == 6  # nobody's door is open
    assert refusals_in(letter) == [REFUSED] * 2
    (letter,) = server.send(THIEF, f"prefs alice {PASSWORD}")
    assert REFUSED in letter.one_line
    assert len(runs) == 6


def test_new_passwords_are_hashed_for_some_lines_of_a_mail(
    server: Indoors, runs: list[str]
) -> None:
    many = "\n".join(f"signup new{n} secret-{n} n{n}@players.example" for n in range(10))
    letters = server.send("teacher@players.example", "multiple", many)
    assert len(runs) == password_checks.MOST_RUNS
    assert (
        sum(letter.subject.startswith("Welcome") for letter in letters) == password_checks.MOST_RUNS
    )
    (report,) = [letter for letter in letters if letter.kind == "summary"]
    assert refusals_in(report)[password_checks.MOST_RUNS :] == [UNLOOKED] * (
        10 - password_checks.MOST_RUNS
    )
    # All of what was not tried can be asked for once more, and players of one mail are not lost.
    runs.clear()
    (report,) = server.send(
        ALICE,
        "multiple",
        "\n".join(
            [
                f"prefs alice {PASSWORD}",
                f"prefs bob {PASSWORD}",
                f"change password bob {PASSWORD} other-word",
                "prefs bob other-word",
            ]
        ),
    )[:1]
    assert UNLOOKED not in report.one_line
    assert len(runs) <= password_checks.MOST_RUNS


def test_a_new_password_is_good_from_the_next_line_on(server: Indoors, runs: list[str]) -> None:
    lines = [f"change password alice {PASSWORD} other-word", "prefs alice other-word"]
    letters = server.send(ALICE, "multiple", "\n".join(lines))
    assert "2 of 2 commands done" in letters[0].one_line
    # What was right before is looked at once more, and is wrong.
    (letter,) = server.send(ALICE, f"prefs alice {PASSWORD}")
    assert REFUSED in letter.one_line
    (letter,) = server.send(ALICE, "prefs alice other-word")
    assert letter.subject == "Your preferences, alice"


def test_the_time_does_not_reveal_who_exists(server: Indoors, runs: list[str]) -> None:
    """This holds even if the same word was tried for another player before."""
    for done, userid in enumerate(("nobody", "alice", "nobody-else", "bob")):
        assert len(runs) == done
        for n in range(2):
            server.send(f"t{done}{n}@elsewhere.example", f"showas {userid} guessed-word")
        assert len(runs) == done + 1


def test_argon2_never_runs_on_the_writer(server: Indoors, runs: list[str]) -> None:
    """This holds for any words of a proven sender, locked out or not."""
    for n in range(9):
        server.send(ALICE, f"prefs alice guess{n}")
    for n in range(3):
        proven(server, "multiple", "\n".join(f"message alice wrong{n}x{k} alice" for k in range(9)))
    server.send(ALICE, "signup carol secret-word carol@players.example")
    assert runs
    assert {name.rpartition("_")[0] for name in runs} == {"pbmserv-hashing"}


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits of a network and an account like the usual ones, but smaller."""
    for name, wrong in (("NETWORK", 12), ("ACCOUNT", 16)):
        monkeypatch.setattr(lockout, name, replace(getattr(lockout, name), wrong=wrong))


@pytest.mark.usefixtures("small_limits")
def test_a_proven_sender_may_give_the_password_after_others_guessed(
    server: Indoors,
) -> None:
    for n in range(20):
        server.send_unread(f"t{n}@e{n}.example", f"prefs alice wrong{n}")
        server.drop_letters()
    (letter,) = server.send(ALICE, f"prefs alice {PASSWORD}")
    assert REFUSED in letter.one_line  # nothing tells her from the others yet
    assert "userid: alice" not in letter.text
    assert "format" in proven(server, f"prefs alice {PASSWORD}")


def behind(server: Indoors, sender: str, subject: str, client: str, author: str = "") -> str:
    """Return the answer to a mail that our mail server hands on with its results."""
    server.mails += 1
    message = EmailMessage()
    message["From"] = author or sender
    message["To"] = server.server.mail_domain.address
    message["Subject"] = subject
    message["Message-ID"] = f"<mta-{server.mails}@players.example>"
    raw = message.as_bytes().replace(b"\n", b"\r\n")
    field = f"Received: from mail (mail [{client}])\r\n\tby mx.games.example (Postfix)\r\n"
    raw = (field if client else "").encode() + raw
    house = server.server.mail_domain.address
    answer = server.hand_in(Envelope(sender, house, raw, "10.0.0.5", "mx.games.example", True))
    assert answer.startswith("250")
    (letter,) = server.letters()
    return letter.one_line


@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize(("client", "guesses"), [("198.51.100.7", 15), ("", 5)])
def test_strangers_lock_nobody_out_behind_a_mail_server(
    server: Indoors, client: str, guesses: int
) -> None:
    home = "192.0.2.1" if client else ""
    for n in range(guesses):
        userid = "alice" if n < 10 else f"u{n}"
        answer = behind(
            server, "evil@evil.example", f"prefs {userid} wrong{n}", client, author=ALICE
        )
        assert REFUSED in answer
    assert REFUSED in behind(server, "evil@evil.example", f"prefs alice {PASSWORD}", client)
    assert "format" in behind(server, ALICE, f"prefs alice {PASSWORD}", home)


def test_mails_of_one_neighbour_wait_for_each_other(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A guesser keeps one thread busy; a player's password is checked on the other."""
    gate, inside = threading.Event(), threading.Semaphore(0)
    before = PasswordHasher.verify

    def slow(self: PasswordHasher, password_hash: str, password: str) -> bool:
        if password.startswith("wrong"):
            inside.release()
            assert gate.wait(60)
        return before(self, password_hash, password)

    monkeypatch.setattr(PasswordHasher, "verify", slow)
    stage, to = server.server.play_stage, server.server.mail_domain.address

    def looked(sender: str, subject: str, peer: str) -> Future[frozenset[Credentials]]:
        raw = f"From: {sender}\r\nSubject: {subject}\r\n\r\n".encode()
        return stage.checks.vet(stage.parser.parse(Envelope(sender, to, raw, peer, "x")).request)

    thieves = [
        looked(f"t{n}@evil.example", f"prefs u{n} wrong{n}xxxx", "198.51.100.9") for n in range(6)
    ]
    assert inside.acquire(timeout=60)
    assert looked(ALICE, f"prefs alice {PASSWORD}", "192.0.2.1").result(60)
    assert not any(thief.done() for thief in thieves)
    assert not inside.acquire(blocking=False)
    gate.set()
    assert all(thief.result(60) for thief in thieves)
