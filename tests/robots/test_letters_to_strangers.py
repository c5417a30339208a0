"""Letters to addresses that never wrote are few, whoever asks for them, and their links expire."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from asgi_client import load_all, site_of
from failing_handlers import failing_handler
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from running import MovableClock

from pbmserv.commands.table.looking import ListGames
from pbmserv.service.limits import rates
from pbmserv.store.tables.accounts import address_changes, signups

pytestmark = pytest.mark.slow

ALICE = address_of("alice")
DEFAULTS = {"rate_confirmations": "5/day", "rate_resets": "3/day"}


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Limits like those in `rates`, which no setting changes, but smaller."""
    monkeypatch.setattr(rates, "STRANGERS_OF_NETWORK", "10/hour; 24/day")
    monkeypatch.setattr(rates, "STRANGERS_AT_DOMAIN", "20/hour")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, signup="confirm", **DEFAULTS) as inside:
        inside.sign_up("alice", "bob")
        yield inside


def write(server: Indoors, sender: str, subject: str, peer: str = "198.51.100.3") -> list[Posted]:
    """Hand a mail in from a client at some place of the net."""
    return server.send(sender, subject, peer=peer)


def to_strangers(letters: list[Posted], writer: str) -> list[Posted]:
    return [letter for letter in letters if letter.recipient not in {writer, ALICE}]


def rows(server: Indoors, table) -> int:
    return server.server.count(table)


def clock_of(server: Indoors) -> MovableClock:
    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    return clock


def five(number: int, domain: str = "far") -> str:
    return " ".join(f"{letter}{number}@{domain}{letter}.example" for letter in "abcde")


@pytest.mark.usefixtures("small_limits")
def test_a_network_that_signs_up_strangers_reaches_few(server: Indoors) -> None:
    writer = "mallory@evil.example"
    sent: list[Posted] = []
    server.reads_late = True
    for number in range(12):
        sent += to_strangers(
            write(server, writer, f"signup m{number}x horseshoe {five(number)}"), writer
        )
    assert {letter.kind for letter in sent} == {"confirm"}
    assert len(sent) == 10  # in an hour
    assert len({letter.recipient for letter in sent}) == 10
    for hour in range(3):
        clock_of(server).move(hours=1)
        for number in range(11):
            name = f"h{hour}n{number}"
            line = f"signup {name} horseshoe {five(number, f'h{hour}x')}"
            sent += to_strangers(write(server, writer, line), writer)
    assert len(sent) == 24  # in a day


def test_few_mails_on_which_our_code_fails_write_to_a_stranger(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_handler(monkeypatch, ListGames):
        letters = [
            letter
            for number in range(8)
            for letter in server.send("victim@far.example", "list", f"{number}")
        ]
    assert [letter.kind for letter in letters] == ["kept"] * 5
    assert server.server.play_stage.kept_mails.count() == 8


def test_networks_behind_our_own_mail_server_have_such_letters_each(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    with failing_handler(monkeypatch, ListGames):
        letters = [
            letter
            for number, client in enumerate(["192.0.2.1"] * 6 + ["198.51.100.1"])
            for letter in server.send(
                "bob@far.example", "list", f"{number}", Received=f"from mx ([{client}])"
            )
        ]
    assert [letter.kind for letter in letters] == ["kept"] * 6


@pytest.mark.usefixtures("small_limits")
def test_one_domain_gets_few_letters_from_all_networks_together(server: Indoors) -> None:
    sent: list[Posted] = []
    server.reads_late = True
    for number in range(23):
        line = f"signup m{number}x horseshoe v{number}@far.example"
        peer = f"198.51.{number}.1"
        letters = write(server, f"m{number}@e{number}.example", line, peer=peer)
        sent += [letter for letter in letters if letter.recipient.endswith("@far.example")]
    assert len(sent) == 20


def test_a_class_of_pupils_signs_up_within_the_hour(server: Indoors) -> None:
    for number in range(30):
        address = f"pupil{number}@school.example"
        (question,) = write(server, address, f"signup pupil{number} horseshoe")
        assert (question.kind, question.recipient) == ("confirm", address)


def test_a_signup_expires_and_its_letter_and_link_say_so(server: Indoors) -> None:
    letters = server.send("dave@players.example", "signup dave horseshoe a@far.example")
    question = next(letter for letter in letters if letter.kind == "confirm")
    link = next(word for word in question.text.split() if "/confirm/" in word)
    path = link.removeprefix("http://games.example")
    site = site_of(server.server)
    server.live(days=6)
    assert load_all(site, path)[path].status == 200
    server.live(days=2)
    while server.server.expiry.step():
        pass
    assert rows(server, signups) == 0
    page = load_all(site, path)[path]
    assert page.status == 404
    assert b"can be confirmed for 7 days" in page.body
    (answer,) = server.reply(question, "yes")
    assert "more than 7 days old" in answer.one_line


def test_a_change_of_address_expires(server: Indoors) -> None:
    letters = server.send(ALICE, f"change address alice {PASSWORD} new@far.example")
    question = next(letter for letter in letters if letter.kind == "address-confirm")
    assert "You have 7 days" in question.text
    server.live(days=8)
    while server.server.expiry.step():
        pass
    assert rows(server, address_changes) == 0
    (answer,) = server.reply(question, "yes")
    assert "more than 7 days old" in answer.one_line


def test_a_player_asks_few_addresses_a_day(server: Indoors) -> None:
    sent: list[Posted] = []
    for number in range(13):
        peer = f"198.51.{number}.7"
        line = f"change address alice {PASSWORD} {five(number)}"
        sent += to_strangers(write(server, ALICE, line, peer=peer), ALICE)
    assert len(sent) == 10
    clock_of(server).moment += timedelta(days=1)
    line = f"change address alice {PASSWORD} own@far.example"
    assert to_strangers(write(server, ALICE, line), ALICE)


@pytest.mark.usefixtures("small_limits")
def test_invitations_count_with_the_letters_of_a_network(tmp_path: Path) -> None:
    with indoors(tmp_path, signup="confirm", invitations="50", **DEFAULTS) as server:
        server.sign_up("alice", "bob")
        server.reads_late = True
        writer, sent = "mallory@evil.example", list[Posted]()
        for number in range(12):
            line = f"signup m{number}x horseshoe v{number}@far.example"
            sent += to_strangers(write(server, writer, line), writer)
        for number in range(12):
            line = f"blackbox challenge alice {PASSWORD} w{number}@far.example"
            sent += to_strangers(write(server, ALICE, line), writer)
        assert {letter.kind for letter in sent} == {"confirm"}
        assert len(sent) == 10
