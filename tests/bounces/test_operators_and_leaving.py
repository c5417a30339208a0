"""Operators and bounces, and the removal of bounces when a player leaves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from posting import come_back
from sqlalchemy import select

from pbmserv.errors import OperatorError
from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.kept_mails import UNREAD
from pbmserv.service.operators.letters import hold_letter, retry_letters
from pbmserv.service.operators.overviews import user_facts
from pbmserv.store import audit
from pbmserv.store.operators.letters import LetterLine, letter_lines
from pbmserv.store.tables.mail import bounces, inbox, outbox

ALICE, BOB = address_of("alice"), address_of("bob")
SIGNED = Signature("olga", "her provider has mended it")


@pytest.fixture
def any_house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    """Yield `house` on each kind of database."""
    with unreachable(tmp_path, database=database_url) as server:
        yield server


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    """Yield a house in which alice cannot be reached and a letter waits for her."""
    with unreachable(tmp_path) as server:
        yield server


@contextmanager
def unreachable(folder: Path, **settings: str) -> Iterator[Indoors]:
    with indoors(folder, **settings) as server:
        server.sign_up("alice", "bob")
        server.send(BOB, "blackbox challenge bob alice")
        come_back(server, say(server))
        (again,) = server.live(days=1)
        come_back(server, again)
        server.live(days=1)
        server.send(BOB, f"blackbox chat 1 bob {PASSWORD}", "Parked.")
        yield server


def say(server: Indoors) -> Posted:
    letters = server.send(BOB, f"blackbox chat 1 bob {PASSWORD}", "Hello.")
    return next(letter for letter in letters if letter.kind == "chat")


def test_of_a_kept_report_an_operator_reads_no_word(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It quotes the letter, with reply addresses and what players said."""

    def breaks(*_: object, **__: object) -> None:
        raise ZeroDivisionError("the inner workings")

    (letter,) = house.send(BOB, "help")
    with monkeypatch.context() as broken:
        broken.setattr("pbmserv.service.delivery.bounces.receive", breaks)
        come_back(house, letter)
    kept_mails = house.server.play_stage.kept_mails
    (kept,) = kept_mails.list()
    assert (kept.subject, kept.error) == (UNREAD, "ZeroDivisionError: the inner workings")
    shown = kept_mails.show(kept.id)
    assert shown is not None
    assert "550" not in shown


def waiting(house: Indoors) -> list[LetterLine]:
    return house.look(
        lambda context: letter_lines(context.connection, ("parked", "returned"), "", 99)
    )


def test_an_operator_sees_the_reason_and_ends_it(any_house: Indoors) -> None:
    house = any_house
    facts, _ = house.look(partial(user_facts, userid="alice"))
    by_name = dict(facts)
    assert by_name["unreachable"].startswith("since 2026-03-02 12:00 UTC")
    assert by_name["came back"].startswith(f"{ALICE} (given up): 550 5.1.1")
    assert [row.state for row in waiting(house)] == ["parked", "returned"]
    assert waiting(house)[1].error.startswith("came back (hard): 550 5.1.1")
    with pytest.raises(OperatorError, match="user reachable"):
        house.operators.do(SIGNED, partial(retry_letters, numbers=[waiting(house)[0].id]))

    done = house.operators.do(SIGNED, partial(people.reachable, userid="alice"))
    assert done.summary == f"We send letters to alice again; we had given up {ALICE}."
    letters = house.letters()
    assert sorted((letter.recipient, letter.kind) for letter in letters) == [
        (ALICE, "came-back"),
        (ALICE, "tray"),
        (BOB, "unreachable"),
    ]
    (back,) = (letter for letter in letters if letter.kind == "came-back")
    assert "The reason given: her provider has mended it" in back.one_line
    assert waiting(house) == []
    (entry,) = house.server.read(audit.entries, "user alice", 9)
    assert (entry.action, entry.operator) == ("reachable", "olga")
    with pytest.raises(OperatorError, match="we have given no address of alice up"):
        house.operators.do(SIGNED, partial(people.reachable, userid="alice"))


@pytest.mark.both_databases
def test_all_of_it_is_exported_and_then_forgotten(any_house: Indoors) -> None:
    house = any_house
    house.send(ALICE, f"prefs alice {PASSWORD}")
    house.live(days=1)
    come_back(house, say(house))
    (exported,) = house.send(ALICE, f"export alice {PASSWORD}")
    (attached,) = exported.message.iter_attachments()
    kept = json.loads(attached.get_content())
    (failed,) = kept["letters_came_back_from"]
    assert (failed["address"], failed["hard"]) == (ALICE, 1)
    assert kept["account"]["unreachable_since"] is None

    (letter,) = house.send(ALICE, f"delete alice {PASSWORD}")
    house.reply(letter, "yes")
    assert house.server.rows(select(bounces)) == []
    rows = house.server.rows(select(inbox.c.raw, inbox.c.sender))
    words = house.server.rows(select(outbox.c.words))
    assert not any(b"Final-Recipient" in row.raw for row in rows)
    assert not any(ALICE in row.sender for row in rows)
    assert not any("alice" in str(row.words) for row in words)


def test_a_report_is_not_kept_since_it_quotes_the_letter(house: Indoors) -> None:
    (refusal,) = house.send("zoe@players.example", "nonsense")
    come_back(house, refusal)
    with house.server.database.reading.connect() as connection:
        newest = connection.execute(select(inbox).order_by(inbox.c.id.desc())).first()
    assert newest is not None
    assert (newest.raw, newest.state) == (b"", "done")


def test_a_letter_that_an_operator_holds_goes_nowhere_once_its_reader_has_left(
    house: Indoors,
) -> None:
    number = waiting(house)[0].id
    house.operators.do(SIGNED, partial(hold_letter, number=number))
    asked = next(x for x in house.send(ALICE, f"delete alice {PASSWORD}") if "delete" in x.kind)
    house.reply(asked, "yes")
    with house.server.database.reading.connect() as connection:
        rows = connection.execute(select(outbox.c.state).where(outbox.c.id == number))
        assert rows.scalar_one() == "failed"
    with pytest.raises(OperatorError):
        house.operators.do(SIGNED, partial(retry_letters, numbers=[number]))
