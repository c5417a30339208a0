"""A reply to all: one mail to a letter's reply address and to the plain address acts once.

It comes in either order, in one transaction or in two, and with either address in To or in Cc.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import pytest
from indoors import Indoors, Posted, indoors
from seating import HIDINGS, reply_address, seat_pairs

HEADS = ("To: {reply}, {plain}", "To: {plain}, {reply}", "To: {plain}\nCc: {reply}",
         "To: {reply}\nCc: {plain}", 'To: "pbmserv" <{reply}>,\n "Games, by mail" <{plain}>',
         "To: {plain}, bob@players.example, {reply}")  # fmt: skip
ORDERS = tuple(permutations(("reply", "plain")))


def mail(head: str, sender: str, number: int, body: str, **addresses: str) -> bytes:
    fields = f"From: {sender}\n{head}\nSubject: Re: Your move\nMessage-ID: <all-{number}@x.example>"
    return f"{fields}\n\n{body}\n".format(**addresses).replace("\n", "\r\n").encode()


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path) as server:
        yield server


def test_a_move_to_both_addresses_is_made_once_and_answered_once(house):
    tables = seat_pairs(house.server, len(HEADS), "t")
    for number, (table, head) in enumerate(zip(tables, HEADS, strict=True)):
        order = ORDERS[number % 2]
        for player, to, hiding in zip(table.players, table.addresses, HIDINGS, strict=True):
            house.send(player.address, body=hiding, to=to)
        first, second = table.players
        with house.server.database.reading.connect() as connection:
            reply = reply_address(house.server, connection, table.board, first)
        addresses = {"reply": reply, "plain": house.server.mail_domain.address}
        raw = mail(head, first.address, number, "9", **addresses)
        letters = [
            letter
            for name in order
            for letter in house.send_raw(first.address, raw, addresses[name])
        ]
        assert sorted(letter.recipient for letter in letters) == sorted(
            [first.address, second.address]
        ), (head, order)
        assert not any("Not done" in letter.text for letter in letters)
        assert all("port 9" in letter.text for letter in letters)
        assert house.send_raw(first.address, raw, addresses["plain"].upper()) == []


def challenge(house: Indoors) -> Posted:
    house.sign_up("alice", "bob")
    letters = house.send("alice@players.example", "blackbox challenge alice bob")
    return next(letter for letter in letters if letter.recipient.startswith("bob"))


@pytest.mark.parametrize("order", ORDERS)
def test_a_yes_to_both_addresses_counts_once(house, order):
    question = challenge(house)
    addresses = {"reply": question.reply_to, "plain": house.server.mail_domain.address}
    raw = mail("To: {plain}, {reply}", "bob@players.example", 1, "accept", **addresses)
    letters = [
        letter for name in order
        for letter in house.send_raw("bob@players.example", raw, addresses[name])
    ]  # fmt: skip
    assert "bob@players.example" in {letter.recipient for letter in letters}
    assert len(letters) == len({letter.recipient for letter in letters})
    assert not any("Not done" in letter.text for letter in letters)


def test_words_to_a_player_and_the_plain_address_are_passed_on_once(house):
    house.sign_up("alice", "bob")
    (message,) = [
        letter
        for letter in house.send("alice@players.example", "message alice wonder-land bob", "hello")
        if letter.recipient.startswith("bob")
    ]
    addresses = {"reply": message.reply_to, "plain": house.server.mail_domain.address}
    raw = mail("To: {reply}, {plain}", "bob@players.example", 1, "hello you", **addresses)
    letters = house.send_raw("bob@players.example", raw, addresses["plain"])
    letters += house.send_raw("bob@players.example", raw, addresses["reply"])
    assert not any("Not done" in letter.text for letter in letters)
    assert sum("hello you" in letter.text for letter in letters if "alice" in letter.recipient) == 1


def test_a_command_with_a_password_beside_an_answer_is_carried_out(house):
    question = challenge(house)
    addresses = {"reply": question.reply_to, "plain": house.server.mail_domain.address}
    raw = mail("To: {plain}\nCc: {reply}", "bob@players.example", 1, "whoami bob wonder-land",
               **addresses)  # fmt: skip
    letters = house.send_raw("bob@players.example", raw, addresses["plain"])
    assert any("bob" in letter.text for letter in letters)
    assert not any("Not done" in letter.text for letter in letters)


def test_a_command_with_a_password_beside_a_message_is_no_message(house):
    house.sign_up("alice", "bob")
    letters = house.send("alice@players.example", "message alice wonder-land bob", "hello")
    message = next(letter for letter in letters if letter.recipient.startswith("bob"))
    addresses = {"reply": message.reply_to, "plain": house.server.mail_domain.address}
    raw = mail("To: {plain}\nCc: {reply}", "bob@players.example", 1, "whoami bob wonder-land",
               **addresses)  # fmt: skip
    (letter,) = house.send_raw("bob@players.example", raw, addresses["plain"])
    assert (letter.recipient, letter.kind) == ("bob@players.example", "whoami")


def test_an_address_that_is_no_reply_address_changes_nothing(house):
    house.sign_up("alice")
    forged = "pbmserv+aaaaaaaaaaaaaaaaaaaaaaaaaaaa@games.example"
    raw = mail("To: {plain}\nCc: {reply}", "alice@players.example", 1, "9", reply=forged,
               plain=house.server.mail_domain.address)  # fmt: skip
    (letter,) = house.send_raw("alice@players.example", raw)
    assert "Not done" in letter.text
