"""Mails over a limit that only their password shows: they had their 250, so they wait here."""

from __future__ import annotations

from pathlib import Path

import pytest
from failing_handlers import failing_handler
from indoors import PASSWORD, Indoors, address_of, indoors
from sqlalchemy import select

from pbmserv.commands.table.accounts import Prefs
from pbmserv.service.operators.kept_mails import KeptMails
from pbmserv.store.accounts import players
from pbmserv.store.tables.mail import inbox

ALICE = address_of("alice")
ZONES = ("Asia/Tokyo", "Europe/Oslo", "Europe/Rome", "Africa/Cairo")


def zone(server: Indoors) -> str:
    alice = server.server.read(players.active_by_userid, "alice")
    assert alice is not None
    return alice.tz


def states(server: Indoors) -> list[str]:
    return server.server.column(select(inbox.c.state).order_by(inbox.c.id))


def take_up(server: Indoors) -> None:
    server.server.play_stage.put_off_mails.run_once()


def sent_too_much(server: Indoors) -> None:
    """Four mails in an hour in which two are allowed."""
    server.sign_up("alice")
    kinds = []
    for name in ZONES:
        for letter in server.send(ALICE, f"prefs alice {PASSWORD} tz={name}"):
            kinds.append(letter.kind)
    assert kinds == ["prefs", "prefs", "too-many"]
    assert "they wait here" in letter.one_line


def test_they_are_carried_out_in_their_order_when_they_may_be(
    database_url: str, tmp_path: Path
) -> None:
    with indoors(tmp_path, database=database_url, rate_player="2/hour") as server:
        sent_too_much(server)
        assert zone(server) == ZONES[1]
        assert states(server)[-2:] == ["later", "later"]
        take_up(server)
        assert states(server)[-2:] == ["later", "later"]
        server.live(hours=1, minutes=1)
        take_up(server)
        assert states(server)[-2:] == ["done", "done"]
        assert zone(server) == ZONES[3]
        assert [letter.recipient for letter in server.letters()] == [ALICE, ALICE]
        take_up(server)
        assert server.letters() == []


def test_without_room_they_are_to_be_sent_again(tmp_path: Path) -> None:
    with indoors(tmp_path, rate_player="1/hour", inbox_octets="1M") as server:
        server.sign_up("alice")
        server.send(ALICE, f"prefs alice {PASSWORD} tz={ZONES[0]}")
        server.server.play_stage.quota.count_kept(1 << 20)
        (letter,) = server.send(ALICE, f"prefs alice {PASSWORD} tz={ZONES[1]}")
        assert "please send them again from" in letter.one_line
        assert "please send them again from" in " ".join(letter.html.split())
        assert states(server)[-1] == "ignored"


def test_one_on_which_our_code_fails_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with indoors(tmp_path, rate_player="2/hour") as server:
        sent_too_much(server)
        server.live(hours=2)
        with failing_handler(monkeypatch, Prefs):
            take_up(server)
        assert states(server)[-2:] == ["kept", "kept"]
        stage = server.server.play_stage
        kept: KeptMails = stage.kept_mails
        assert [mail.error for mail in kept.list()] == ["ZeroDivisionError: the inner workings"] * 2
