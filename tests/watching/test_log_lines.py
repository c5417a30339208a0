"""One log line for each mail, letter, refusal and wrong password, with numbers and no secrets."""

from __future__ import annotations

import logging
import socket
from pathlib import Path

import pytest
import trustme
from lines import facts, written
from running import Running, start
from seating import HIDINGS, seat_pairs
from smtp_client import Wire, mail

from pbmserv.mail.reply_address import Purpose, ReplyAddress

ALICE = "alice@players.example"
OURS = "pbmserv@games.example"


@pytest.fixture(autouse=True)
def _all_lines(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pbmserv")


def test_a_move_can_be_followed_from_the_mail_over_the_board_to_its_letters(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    table = seat_pairs(server.server, 1)[0]
    replies = []
    for seat in (0, 1):
        player = table.players[seat]
        replies.append(server.send(player.address, "Re", HIDINGS[seat], to=table.addresses[seat]))
    server.settle()
    server.server.sender.stop(20)  # a letter's line follows its delivery
    first, second = facts(caplog, "mail")
    assert replies == [f"250 2.0.0 OK {line['arrival']}" for line in (first, second)]
    assert first["outcome"] == "taken"
    assert (first["to"], first["player"]) == ("board", table.players[0].id)
    assert (first["done"], first["refused"]) == (1, 0)
    assert first["plies"] == f"{table.board}/1"
    assert second["plies"] == f"{table.board}/2"
    assert first["commands"] == "reply-move"
    assert first["octets"] > 100
    assert first["ms"] > 0
    letters = facts(caplog, "letter")
    assert {letter["outcome"] for letter in letters} == {"sent"}
    assert {(letter["mail"], letter["board"]) for letter in letters} == {
        (first["mail"], table.board),
        (second["mail"], table.board),
    }
    assert {letter["domain"] for letter in letters} == {"players.example"}
    assert sorted(letter["letter"] for letter in letters) == sorted(server.relay.delivered)
    assert sum(line["letters"] for line in (first, second)) == len(letters)
    assert {letter["attempts"] for letter in letters} == {1}


def test_the_outcome_of_each_mail_is_logged(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with Wire(server.port) as wire:
        copied = mail(ALICE, "help", Message_ID="<1@players.example>")
        wire.mail(ALICE, OURS, copied)
        wire.mail(ALICE, OURS, copied)
        wire.mail("", OURS, mail(ALICE, "on holiday", Auto_Submitted="auto-replied"))
        wire.mail(ALICE, "postmaster@games.example", mail(ALICE, "hello"))
        server.settle()  # the door writes the other two lines at once
        wire.mail(ALICE, OURS, b"Subject: x\r\n\r\nno sender")
        wire.mail(ALICE, OURS, mail(ALICE, "help") + b"\nbare")
    records = facts(caplog, "mail")
    assert [record["outcome"] for record in records] == [
        *("taken", "copy", "ignored", "kept", "refused", "refused")
    ]
    assert records[1]["mail"] == records[0]["mail"]
    assert ["arrival" in record for record in records] == [*[True] * 4, *[False] * 2]
    assert [record["to"] for record in records] == [*["server"] * 3, "postmaster", *["server"] * 2]
    assert records[2]["why"] == "null-sender"
    assert records[3]["why"] == "for the postmaster"
    assert records[4]["because"] == "554 5.6.0 the mail has no From address"
    assert records[5]["because"].startswith("550 5.6.0 This message has a bare CR")
    assert "mail" not in records[5]


def test_a_mail_over_the_limit_is_logged(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with start(tmp_path, rate_address="2/hour", mail_servers="") as server:
        for number in range(4):
            server.send(ALICE, "help", message_id=f"<{number}@players.example>")
    records = facts(caplog, "mail")
    assert [record["outcome"] for record in records] == ["taken", "taken", "put-off", "put-off"]
    assert records[3]["because"] == "over the limit of the address"


def test_each_refusal_at_the_door_has_a_line_with_its_network(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    token = "aeaqcaiaaaaaaaaaaaaaaaaaaa"
    with Wire(server.port) as wire:
        wire.ask(f"MAIL FROM:<{ALICE}>")
        wire.ask(f"RCPT TO:<pbmserv+{token}@games.example>")
        wire.ask("wonderland 12 g,+b2")
        for _ in range(5):
            wire.ask(f"RCPT TO:<{OURS}>")
        wire.ask(f"RCPT TO:<{OURS}>")
        wire.ask("RSET")
        while "goodbye" not in wire.ask("RCPT TO:<noise@players.example>"):
            pass
    reasons = [fact["because"] for fact in facts(caplog, "refused")]
    assert reasons[:3] == [
        "550 5.1.1 no such address here",
        "500 Error: command",
        "452 4.5.3 too many recipients",
    ]
    assert [fact["because"] for fact in facts(caplog, "session ended")] == [
        "421 4.7.0 too many commands that led to nothing, goodbye"
    ]
    networks = {fact["network"] for fact in facts(caplog, "refused")}
    assert networks == {"127.0.0.0/24"}
    text = "\n".join(written(caplog)).lower()
    for secret in (token, "wonderland", "+b2", "noise", "players.example"):
        assert secret not in text


def test_a_wrong_password_is_logged_with_its_network_and_without_its_text(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    table = seat_pairs(server.server, 1)[0]
    player = table.players[0]
    for guess in ("wonderland1", "wonderland2", "wonderland2"):
        server.send(player.address, f"blackbox move {table.board} {player.userid} {guess} b3")
    server.send(player.address, f"blackbox move {table.board} wonderland3 secret b3")
    records = facts(caplog, "wrong password")
    assert [(record["player"], record["because"]) for record in records[:3]] == [
        (player.id, "wrong"),
        (player.id, "wrong"),
        (player.id, "wrong again"),
    ]
    assert {record["network"] for record in records} == {
        "unknown"
    }  # tests come from a server of ours
    assert "wonderland" not in "\n".join(written(caplog))


def test_the_network_is_the_senders_also_behind_our_mail_server(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with Wire(server.port) as wire:
        received = "from x (mx.example [198.51.100.7])\r\n\tby games.example; today"
        raw = mail(ALICE, "blackbox move 1 nobody wonderland g")
        wire.mail(ALICE, OURS, f"Received: {received}\r\n".encode() + raw)
    server.settle()
    assert facts(caplog, "mail")[0]["network"] == "198.51.100.0/24"
    assert facts(caplog, "wrong password")[0]["network"] == "198.51.100.0/24"
    assert facts(caplog, "wrong password")[0]["player"] == 0


def test_no_line_holds_a_token_an_address_a_move_or_words(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    alice, bob = "alice@players.example", "bob@players.example"
    for address, password in ((alice, "wonderland"), (bob, "looking")):
        server.send(address, f"signup {address.partition('@')[0]} {password}")
        server.reply(server.letter(address), "yes")
        server.letter(address)
    server.send(alice, "blackbox challenge alice bob", "words to bob: jabberwock")
    challenge = server.letter(bob)
    server.reply(server.letter(alice), "a1,c4,e5,g2")
    server.reply(challenge, "b3,d3,g7,f2\nsnark")
    server.send(alice, "change password wonderland callooh", to=challenge.reply_to)
    server.settle()
    server.server.sender.stop(20)
    tokens = [server.server.mail_domain.address_of(ReplyAddress(Purpose.PLAYER, n)) for n in (1, 2)]
    tokens.append(challenge.reply_to)
    text = "\n".join(written(caplog))
    assert len(facts(caplog, "mail")) == 8
    assert len(facts(caplog, "letter")) == len(server.relay.delivered)
    assert "@players" not in text
    for token in tokens:
        assert token.partition("+")[2].partition("@")[0] not in text
    for word in ("wonderland", "looking", "callooh", "jabberwock", "snark", "c4", "g7"):
        assert word not in text


def test_a_relay_that_refuses_a_letter_is_quoted_by_its_code_alone(
    server: Running, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pbmserv.errors import RelayPermanent
    from pbmserv.outbound.relay import OutgoingLetter

    def refuse(letter: OutgoingLetter) -> None:
        with server.relay.changed:
            server.relay.delivered[1] = letter
            server.relay.changed.notify_all()
        raise RelayPermanent(f"550 5.1.1 <{ALICE}>: no such user {ALICE}")

    monkeypatch.setattr(server.relay, "deliver", refuse)
    server.send(ALICE, "help")
    server.settle()
    server.server.sender.stop(20)
    (line,) = facts(caplog, "letter")
    assert (line["outcome"], line["why"], line["domain"]) == (
        "refused",
        "550 5.1.1",
        "players.example",
    )
    assert ALICE not in "\n".join(written(caplog))


def test_a_client_that_cannot_do_tls_leaves_a_line(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    certificate = trustme.CA().issue_cert("games.example")
    chain = tmp_path / "chain.pem"
    certificate.private_key_and_cert_chain_pem.write_to_path(str(chain))
    with start(tmp_path, tls_cert=str(chain), smtps="127.0.0.1:0") as server:
        with Wire(server.port) as wire:
            assert wire.ask("STARTTLS").startswith("220")
            wire.say(b"EHLO in the clear, once more\r\n")
            wire.rest()
        with socket.create_connection(("127.0.0.1", server.smtps_port), 20) as client:
            client.sendall(b"EHLO in the clear\r\n")
            while client.recv(4096):
                pass
    records = facts(caplog, "TLS failed")
    assert [record["network"] for record in records] == ["127.0.0.0/24", "127.0.0.0/24"]
    assert {record["because"] for record in records} == {"TLS WRONG_VERSION_NUMBER"}


def test_a_stranger_who_speaks_no_smtp_leaves_a_line(
    server: Running, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_connection(("127.0.0.1", server.port), 20) as browser:
        browser.sendall(b"GET / HTTP/1.1\r\nHost: games.example\r\n\r\n")
        while browser.recv(4096):
            pass
    reasons = [fact["because"] for fact in facts(caplog, "session ended")]
    assert reasons == ["421 4.7.0 this is a mail server, goodbye"]
