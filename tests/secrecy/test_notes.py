"""A note at a board is its writer's alone."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from asgi_client import load_all, site_of
from indoors import PASSWORD, Indoors, address_of, indoors
from seating import HIDINGS
from sqlalchemy import select

from pbmserv.service.operators.boards import hand_over
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.tables.boards import seats

ANNA, BELA, CARLA = map(address_of, ("anna", "bela", "carla"))
SECRET = "xylophone in the corner"


def notes(house: Indoors) -> list[str | None]:
    return house.server.column(select(seats.c.note).order_by(seats.c.seat))


def begin(house: Indoors) -> None:
    house.sign_up("anna", "bela", "carla")
    house.send(ANNA, f"blackbox challenge anna {PASSWORD} bela")
    house.send(BELA, f"blackbox accept 1 bela {PASSWORD}")
    house.send(ANNA, f"blackbox note 1 anna {PASSWORD} {SECRET}")


def test_nobody_else_reads_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), indoors(tmp_path) as house:
        begin(house)
        house.send(CARLA, f"subscribe 1 carla {PASSWORD} all")
        letters = house.send(ANNA, f"blackbox move 1 anna {PASSWORD} {HIDINGS[0]}")
        letters += house.send(BELA, f"blackbox move 1 bela {PASSWORD} {HIDINGS[1]}")
        letters += house.send(ANNA, f"prefs anna {PASSWORD} format=spoken")
        letters += house.send(ANNA, f"blackbox move 1 anna {PASSWORD} 5")
        letters += house.send(BELA, f"blackbox resign 1 bela {PASSWORD}")
        letters += house.send(CARLA, "blackbox record 1")
        for player, address in (("bela", BELA), ("carla", CARLA), ("anna", ANNA)):
            letters += house.send(address, f"export {player} {PASSWORD}")
        read_by = {letter.recipient for letter in letters if b"xylophone" in letter.raw}
        assert read_by == {ANNA}
        own = [letter for letter in letters if letter.recipient == ANNA and letter.board == 1]
        assert all(SECRET in letter.one_line for letter in own)
        pages = load_all(site_of(house.server), "/game/1", "/players/anna", "/api/boards/1")
        assert not any(b"xylophone" in page.body for page in pages.values())
    assert "xylophone" not in caplog.text


def test_a_note_is_limited_and_goes_with_its_writer(tmp_path: Path) -> None:
    with indoors(tmp_path) as house:
        begin(house)
        assert notes(house) == [SECRET, None]
        longest = "b" * 300
        (refused,) = house.send(ANNA, "multiple", f"blackbox note 1 anna {PASSWORD} {longest}b")
        assert "at most 300 characters" in refused.text
        assert notes(house) == [SECRET, None]
        house.send(ANNA, "multiple", f"blackbox note 1 anna {PASSWORD} {longest}")
        assert notes(house) == [longest, None]
        by = Signature("olga", "she asked for it")
        house.operators.do(by, lambda c, by: hand_over(c, by, 1, "anna", "carla"))
        assert notes(house) == [None, None]
        house.letters()
        house.send(BELA, f"blackbox note 1 bela {PASSWORD} {SECRET}")
        (question, *_) = house.send(BELA, f"delete bela {PASSWORD}")
        house.reply(question, "yes")
        assert notes(house) == [None, None]
