"""Bounces through the real door, on both databases, and refusals by the relay."""

from __future__ import annotations

import logging
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, address_of, indoors
from posting import KINDS
from running import Letter, Running
from sqlalchemy import select

from pbmserv.log import TextFormatter
from pbmserv.mail.envelope import Envelope
from pbmserv.mail.key_ring import KeyRing
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.outbound.maildir import folder_of
from pbmserv.outbound.results import Failed, Sent
from pbmserv.store.tables.mail import bounces, outbox

ALICE, BOB = address_of("alice"), address_of("bob")


def return_path(server: Running, letter: Letter, address: str) -> str:
    """Return the envelope sender of a letter, as in its reader's mailbox."""
    box = folder_of(server.server.settings.data_dir / "mail", address) / "new"
    mark = f"Message-ID: {letter.message['Message-ID']}".encode()
    raw_letter = next(raw for raw in (path.read_bytes() for path in box.iterdir()) if mark in raw)
    first = raw_letter.partition(b"\n")[0].decode()
    assert first.startswith("Return-Path: <pbmserv+")
    return first.removeprefix("Return-Path: <").removesuffix(">")


def challenged(server: Running) -> Letter:
    """Let bob invite alice; return her letter."""
    server.send(BOB, "blackbox challenge bob alice")
    server.letter(BOB)
    return server.letter(ALICE)


def report(name: str, to: str, about: str, number: int = 0) -> bytes:
    raw = KINDS[name].raw(to, about)
    return raw.replace(b"Message-Id: <", b"Message-Id: <%d." % number)


def known_of(server: Running) -> list[tuple[str, int, bool]]:
    rows = server.server.rows(select(bounces))
    return [(row.address, row.hard, row.suspended_at is not None) for row in rows]


def test_a_report_comes_back_to_the_return_path(server: Running) -> None:
    server.sign_up("alice")
    server.sign_up("bob")
    first = challenged(server)
    about = return_path(server, first, ALICE)
    assert server.send_raw("", about, report("postfix", ALICE, about)).startswith("250 ")
    assert known_of(server) == [(ALICE, 1, False)]
    assert server.letters() == []  # reports are never answered
    server.live(days=1)
    (second,) = server.letters()  # the letter once more
    assert second.message["Message-ID"] == first.message["Message-ID"]
    reply_address = ReplyAddress(Purpose.BOUNCE, about=second.id)
    assert about != (about := server.server.mail_domain.address_of(reply_address))
    assert server.send_raw("", about.upper(), report("gmail", ALICE, about)).startswith("250 ")
    assert known_of(server) == [(ALICE, 2, True)]
    (letter,) = server.letters()
    assert letter.subject == "alice cannot be reached"
    assert return_path(server, letter, BOB) not in {about, server.address}


def test_a_forged_one_is_an_unknown_address(server: Running) -> None:
    server.sign_up("alice")
    server.sign_up("bob")
    about = return_path(server, challenged(server), ALICE)
    local, _, domain = about.partition("@")
    forged = f"{local[:-4]}{'aaaa' if local[-4:] != 'aaaa' else 'bbbb'}@{domain}"
    raw = report("postfix", ALICE, forged)
    assert server.send_raw("", forged, raw) == "550 5.1.1 no such address here"
    # Nor does a report count that comes to another address of ours.
    assert server.send_raw("", server.address, raw).startswith("250 ")
    assert known_of(server) == []


def test_a_letter_of_a_retired_key_is_too_old_to_be_answered(server: Running) -> None:
    ring = server.server.mail_domain.ring
    old = KeyRing({9: b"retired key" * 3})
    ring.retired = old.keys
    address = f"pbmserv+{old.token(ReplyAddress(Purpose.PLAYER, 1))}@games.example"
    refusal = "550 5.1.6 that letter is too old to be answered; write to pbmserv@games.example"
    assert server.send_raw(ALICE, address, b"Subject: show\r\n\r\n") == refusal


def test_reports_at_the_same_moment_count_once(server: Running) -> None:
    server.sign_up("alice")
    server.sign_up("bob")
    abouts = [return_path(server, challenged(server), ALICE) for _ in range(3)]
    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(
                lambda n: server.send_raw("", abouts[n % 3], report("qmail", ALICE, "", n)),
                range(8),
            )
        )
    assert all(reply.startswith("250 ") for reply in replies), replies
    assert known_of(server) == [(ALICE, 1, False)]


def test_a_refusal_by_the_relay_counts_as_well(database_url: str, tmp_path: Path) -> None:
    error = "RCPT TO: 550 5.1.1 <alice@players.example>: no such user"
    with indoors(tmp_path, database=database_url) as house:
        house.sign_up("alice", "bob")
        house.send(BOB, "blackbox challenge bob alice")
        for day in range(2):
            house.mails += 1
            number = refused(house, f"Day {day}.", error)
            house.live(days=1)
        assert _sent(house).count("unreachable") == 1
        with house.server.database.reading.connect() as connection:
            state = select(outbox.c.state).where(outbox.c.id == number)
            assert connection.execute(state).scalar() == "returned"


def refused(house: Indoors, words: str, error: str) -> int:
    """Let the relay refuse a letter from bob to alice; return its number."""
    line = f"From: {BOB}\r\nSubject: blackbox chat 1 bob {PASSWORD}\r\n\r\n{words}\r\n"
    envelope = Envelope(BOB, house.server.mail_domain.address, line.encode())
    assert house.hand_in(envelope).startswith("250")
    letters = house.server.outbox.make(house.server.outbox.claim(100))
    (lost,) = (letter.id for letter in letters if letter.recipient == ALICE)
    house.server.outbox.settle(
        [Failed(letter.id, error) if letter.id == lost else Sent(letter.id) for letter in letters]
    )
    return lost


def _sent(house: Indoors) -> list[str]:
    return house.server.column(select(outbox.c.letter).where(outbox.c.state == "sent"))


def test_the_log_shows_nothing_of_a_report(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with indoors(tmp_path) as house, caplog.at_level(logging.DEBUG, "pbmserv"):
        house.sign_up("alice", "bob")
        letters = house.send(BOB, "blackbox challenge bob alice")
        for _ in range(2):
            letter = next(letter for letter in letters if letter.recipient == ALICE)
            about = house.server.mail_domain.address_of(
                ReplyAddress(Purpose.BOUNCE, about=letter.id)
            )
            raw = KINDS["qmail"].raw(ALICE, about)
            raw += b"Diagnostic-Code: smtp; 550 Tiger-Lily-77\r\n" + letter.raw
            house.send_raw("", raw.replace(b"Date: 1 ", b"Date: %d " % letter.id), about)
            house.live(days=1)
            letters = house.send(BOB, f"blackbox chat 1 bob {PASSWORD}", "Hello.")
        written = "\n".join(map(TextFormatter().format, caplog.records))
    assert re.search(r'"letter came back" letter=\d+ verdict=hard status=5\.1\.1', written)
    for secret in ("Tiger-Lily", ALICE, about.partition("@")[0], "mailbox here", PASSWORD):
        assert secret not in written
