"""A mail that takes too long to read is refused politely, and keeps nobody else waiting."""

from __future__ import annotations

from indoors import PASSWORD, address_of

from pbmserv.mail import reading_time

ALICE, BOB = address_of("alice"), address_of("bob")


def test_the_writer_of_a_mail_that_takes_too_long_is_told_so(house, monkeypatch) -> None:
    monkeypatch.setattr(reading_time, "LONGEST_S", 0.0)
    (letter,) = house.send(ALICE, f"blackbox challenge alice {PASSWORD} bob", "good luck")
    assert letter.recipient == ALICE
    words = letter.one_line
    assert "takes so long to read that we stopped, and nothing in it was carried out" in words
    assert PASSWORD not in letter.text
    monkeypatch.undo()
    (letter,) = house.send(BOB, "games bob")
    assert "luck" not in letter.text


def test_a_second_mail_is_no_copy_of_one_that_took_too_long(house, monkeypatch) -> None:
    monkeypatch.setattr(reading_time, "LONGEST_S", 0.0)
    head = f"From: {ALICE}\r\nSubject: help\r\n\r\n".encode()
    assert len(house.send_raw(ALICE, head + b"a")) == 1
    assert len(house.send_raw(ALICE, head + b"b")) == 1
    assert house.send_raw(ALICE, head + b"b") == []


def test_a_program_gets_no_answer_to_a_mail_that_takes_too_long(house, monkeypatch) -> None:
    monkeypatch.setattr(reading_time, "LONGEST_S", 0.0)
    assert house.send(ALICE, "help", "a", Precedence="bulk") == []
