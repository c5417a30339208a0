"""``pbmserv announce``: every player hears once, slowly, also after a crash; most can opt out."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from deeds import ALICE, BOB, CAROL, SIGNED, do
from indoors import PASSWORD, Indoors, Posted, indoors
from rows import rows
from running import add_player
from sqlalchemy import Connection

from pbmserv.errors import OperatorError, ServerFault
from pbmserv.service.operators import people
from pbmserv.service.operators.announcements import announce, listed, resume, stop
from pbmserv.service.operators.deeds import entries
from pbmserv.service.schedule import announcer
from pbmserv.service.schedule.announcer import Announcer
from pbmserv.store import announcements


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol", "dave", "erin")
        yield server


def sender_of(house: Indoors) -> Announcer:
    stage = house.server.play_stage
    return Announcer(stage.services, stage.game, stage.writer, stage.clock, lambda: None)


def sent(house: Indoors, rounds: int = 3) -> list[Posted]:
    """Let a sender of a new process work, and return its letters."""
    for _ in range(rounds):
        sender_of(house).run_once()
    return house.letters()


def test_each_active_player_hears_once(house: Indoors) -> None:
    do(house, people.suspend, userid="dave", end_games=False)
    house.send(BOB, f"prefs bob {PASSWORD} announce=off")
    house.letters()
    done = do(house, announce, title="We move", text="On Sunday.\n\nStay.", is_service=False)
    assert "goes to 3 players" in done.summary
    letters = sent(house)
    assert [letter.recipient for letter in letters] == [ALICE, CAROL, "erin@players.example"]
    assert letters[0].subject == "We move"
    assert "On Sunday." in letters[0].one_line
    assert "prefs announce=off" in letters[0].one_line
    assert sent(house) == []
    with pytest.raises(OperatorError, match="3 letters so far; all letters are queued"):
        do(house, announce, title="We  move", text="On Sunday.\n\nStay.\n", is_service=True)
    (entry,) = house.look(partial(entries, target="announcement 1", most=5))
    assert (entry.operator, entry.action, entry.facts["readers"]) == ("olga", "announce", 3)


def test_a_service_notice_reaches_everybody(house: Indoors) -> None:
    house.send(BOB, f"prefs bob {PASSWORD} announce=off")
    do(house, announce, title="New rules", text="Read them.", is_service=True)
    letters = sent(house)
    assert len(letters) == 5
    assert "announce=off" not in letters[1].text
    assert letters[1].message["List-Unsubscribe"] is None


def test_a_click_ends_announcements(house: Indoors) -> None:
    do(house, announce, title="One", text="First.", is_service=False)
    link = sent(house)[0].message["List-Unsubscribe"]
    address = link.partition("mailto:")[2].partition(">")[0].partition("?")[0]
    (ended,) = house.send(ALICE, "unsubscribe", to=address)
    assert "You get no more announcements." in ended.one_line
    do(house, announce, title="Two", text="Second.", is_service=False)
    assert ALICE not in [letter.recipient for letter in sent(house)]


def test_letters_go_out_in_small_batches_and_survive_a_crash(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "BATCH", 2)
    do(house, announce, title="We move", text="On Sunday.", is_service=False)
    assert len(sent(house, 1)) == 2
    noted = announcements.note_progress

    def crash(connection: Connection, *facts: object) -> None:
        noted(connection, *facts)  # type: ignore[arg-type]
        raise KeyboardInterrupt

    with monkeypatch.context() as dying:
        dying.setattr(announcements, "note_progress", crash)
        with pytest.raises(ServerFault, match="KeyboardInterrupt"):
            sender_of(house).run_once()
    assert house.letters() == []
    with pytest.raises(OperatorError, match="2 letters so far; the others follow"):
        do(house, announce, title="We move", text="On Sunday.", is_service=False)
    assert len(sent(house, 5)) == 3


@pytest.mark.both_databases
def test_an_announcement_is_stopped_and_goes_on(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announcer, "BATCH", 2)
    do(house, announce, title="We move", text="On Sunday.", is_service=False)
    first = sent(house, 1)
    sender_of(house).run_once()  # two letters wait for the relay
    done = do(house, stop, number=1)
    assert "2 letters are sent or on their way, and 2 that waited are held" in done.summary
    assert sent(house) == []
    with pytest.raises(OperatorError, match="4 letters so far; it is stopped"):
        do(house, announce, title="We move", text="On Sunday.", is_service=False)
    (row,) = house.look(partial(listed, most=5))
    assert (row.title, row.sent, row.is_stopped) == ("We move", 4, True)
    with pytest.raises(OperatorError, match="is stopped already"):
        do(house, stop, number=1)
    do(house, resume, number=1)
    rest = sent(house)
    assert len({letter.recipient for letter in [*first, *rest]}) == len([*first, *rest]) == 5
    with pytest.raises(OperatorError, match="is not stopped; all letters are queued"):
        do(house, resume, number=1)
    with pytest.raises(OperatorError, match="is sent to everybody"):
        do(house, stop, number=1)
    with pytest.raises(OperatorError, match="there is no announcement 7"):
        do(house, stop, number=7)
    entries_of = house.look(partial(entries, target="announcement 1", most=5))
    assert [entry.action for entry in entries_of] == ["resume", "stop", "announce"]
    assert entries_of[1].facts == {"sent": 2, "held": 2}


def test_letters_of_a_finished_announcement_are_held_while_the_relay_is_down(
    house: Indoors,
) -> None:
    do(house, announce, title="We move", text="On Sunday.", is_service=False)
    do(house, announce, title="We stay", text="On Sunday.", is_service=True)
    for _ in range(4):
        sender_of(house).run_once()
    done = do(house, stop, number=1)
    assert done.facts == {"sent": 0, "held": 5}
    assert {letter.subject for letter in house.letters()} == {"We stay"}
    do(house, resume, number=1)
    assert {letter.subject for letter in house.letters()} == {"We move"}


def test_two_players_with_one_mailbox_get_one_letter(house: Indoors) -> None:
    add_player(house.server, "alice-2", PASSWORD, ALICE)
    do(house, announce, title="We move", text="On Sunday.", is_service=False)
    assert [letter.recipient for letter in sent(house)].count(ALICE) == 1


@rows(
    ("title", "text", "fault"),
    [
        ("", "words", "first line is the subject"),
        ("words", " \n", "first line is the subject"),
        ("w" * 151, "words", "at most 150 characters"),
        ("words", "w" * 20_001, "a text 20,000"),
    ],
)
def test_an_impossible_announcement_is_refused(
    house: Indoors, title: str, text: str, fault: str
) -> None:
    with pytest.raises(OperatorError, match=fault):
        house.operators.do(SIGNED, partial(announce, title=title, text=text, is_service=False))
