"""Challenges of strangers wait for a proof: robots and forgers reach nobody with them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from indoors import Indoors, Posted, address_of, indoors
from running import MovableClock
from sqlalchemy import func, select

from pbmserv.service.limits import rates
from pbmserv.store.tables.accounts import signups
from pbmserv.store.tables.boards import boards as board_table

pytestmark = pytest.mark.slow

ALICE, VICTIM = address_of("alice"), "victim@v.example"


@pytest.fixture(autouse=True)
def _small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits like those in `rates`, which no setting changes, but smaller."""
    monkeypatch.setattr(rates, "STRANGERS_OF_NETWORK", "10/hour; 24/day")
    monkeypatch.setattr(rates, "KEPT_OF_NETWORK", "10/hour; 24/day")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, signup="confirm", rate_confirmations="5/day") as inside:
        inside.sign_up("alice", "bob")
        inside.letters()
        yield inside


def write(server: Indoors, sender: str, subject: str, peer: str = "198.51.100.3") -> list[Posted]:
    """Hand a mail in with this From, whose envelope names another sender each time."""
    return server.send(f"m{server.mails}@evil.example", subject, From=sender, peer=peer)


def waiting(server: Indoors) -> int:
    statement = select(func.count()).where(signups.c.challenge.is_not(None))
    return int(server.server.value(statement))


def recipients(letters: list[Posted]) -> set[str]:
    return {letter.recipient for letter in letters}


def test_a_robot_with_many_addresses_reaches_nobody(server: Indoors) -> None:
    for number in range(12):
        sender = f"r{number}@evil{number}.example"
        friend = ("alice", "f@far.example")[number % 2]
        letters = write(server, sender, f"blackbox challenge {friend}")
        assert recipients(letters) <= {sender}
    assert waiting(server) == 10  # of one network in an hour
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    for hour in range(3):
        clock.move(hours=1)
        for number in range(11):
            write(server, f"h{hour}n{number}@evil.example", "blackbox challenge alice")
    assert waiting(server) == 24  # of one network in a day
    letters = write(server, "nina@home.example", "blackbox challenge alice", peer="192.0.2.7")
    assert "waits here" in letters[0].one_line


def test_a_forger_replaces_a_challenge_and_issues_none(server: Indoors) -> None:
    (honest,) = write(server, VICTIM, "blackbox challenge alice", peer="192.0.2.7")
    for number in range(8):
        letters = write(server, VICTIM, f"blackbox challenge bob -atoms={1 + number % 4}")
        letters += write(server, VICTIM, f"blackbox challenge prizes{number}@spam.example")
        assert recipients(letters) <= {VICTIM}
        assert all("spam" not in letter.text + letter.html for letter in letters)
    assert waiting(server) == 1
    # The letter named alice, so that bob and the spammer's friend hear of nothing.
    letters = server.reply(honest, "yes")
    assert [letter.kind for letter in letters] == ["welcome"]
    assert "challenge to" not in letters[0].one_line


def test_a_letter_holds_no_password_that_was_written_beside_an_address(server: Indoors) -> None:
    write(server, VICTIM, "blackbox challenge victim lighthouse f@far.example")
    stored = server.server.column(select(signups.c.challenge))
    assert [words["address"] for words in stored] == ["f@far.example"]
    assert "lighthouse" not in str(stored)


def test_a_program_s_challenge_does_not_wait(server: Indoors) -> None:
    line, mark = "blackbox challenge alice", "auto-generated"
    assert server.send(VICTIM, line, "x", peer="198.51.100.3", Auto_Submitted=mark) == []
    assert waiting(server) == 0


def test_a_challenge_expires_with_its_signup(server: Indoors) -> None:
    (offer,) = write(server, VICTIM, "blackbox challenge alice")
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    clock.move(days=7, minutes=1)
    (later,) = write(server, VICTIM, "hello")
    assert "waits here" not in later.one_line
    (answer,) = server.reply(offer, "yes")
    assert answer.kind == "refusal"
    clock.moment += timedelta(days=7)
    while server.server.expiry.step():
        pass
    assert waiting(server) == 0


def test_the_button_of_the_letter_issues_it_once(tmp_path: Path, database_url: str) -> None:
    with indoors(tmp_path, database_url, signup="confirm") as server:
        server.sign_up("alice")
        server.letters()
        web = server.server.web_stage.web_requests
        for friend, others in (("alice", {ALICE}), ("house-beginner", set[str]())):
            sender = f"to-{friend}@home.example"
            (offer,) = write(server, sender, f"blackbox challenge {friend}")
            token = re.search(r"/confirm/(\w+)", offer.text)[1]
            assert server.loop.run_until_complete(web.confirm(token)).done
            letters = server.letters()
            assert recipients(letters) == {sender, *others}
            own = {letter.kind for letter in letters if letter.recipient == sender}
            assert own == {"welcome", "challenged" if others else "started"}
            assert server.loop.run_until_complete(web.confirm(token)).done
            server.reply(offer, "yes")
            assert boards(server) == 1 + (not others)
        assert waiting(server) == 0


def boards(server: Indoors) -> int:
    return int(server.server.value(select(func.count(board_table.c.id))))
