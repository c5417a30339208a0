"""``pbmserv mails``: an operator can say what became of a mail, and reads nothing of it."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from deeds import ALICE, deliver_at_door, start_board
from indoors import PASSWORD, Indoors
from typer.testing import CliRunner

from pbmserv.cli.main import app
from pbmserv.service.operators.correspondence import Correspondence, read


def correspondence(house: Indoors, name: str) -> Correspondence:
    items = house.look(partial(read, name=name, most=20))
    assert isinstance(items, Correspondence)
    return items


@pytest.mark.both_databases
def test_each_mail_has_its_outcome_and_each_letter_its_place(house: Indoors) -> None:
    number = start_board(house)
    house.send(ALICE, f"blackbox move {number} alice {PASSWORD} 99")
    (board,) = house.send(ALICE, f"blackbox showas alice {PASSWORD} {number}")
    house.reply(board, "nonsense and more")
    house.send(ALICE, "-", f"list\nblackbox show 99 alice {PASSWORD}")
    house.send_unread(ALICE, "hello", Auto_Submitted="auto-replied")
    for name in ("alice", "Alice", ALICE):
        lines = correspondence(house, name)
        ignored, both, reply, shown, refused, *_ = lines.mails
        assert (ignored.to, ignored.outcome) == ("plain address", "not answered: auto-submitted")
        assert reply.to == f"board {number}"
        assert "; refused: " in reply.outcome
        assert shown.outcome == "carried out"
        assert "; refused: " in refused.outcome
        answers = [letter for letter in lines.letters if letter.mail == str(refused.number)]
        assert [(answer.kind, answer.about) for answer in answers] == [
            ("refusal", f"board {number}")
        ]
        assert both.outcome.endswith("; refused: no-such-board")
        assert all(letter.place.startswith(("sent", "on its way")) for letter in lines.letters)


def test_a_mail_that_waits_is_listed(
    house: Indoors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))
    monkeypatch.setenv("PBMSERV_DATABASE", house.server.base.game.url)
    monkeypatch.setenv("PBMSERV_ADDRESS", house.server.mail_domain.address)
    deliver_at_door(house, "help")
    result = CliRunner().invoke(app, ["mails", ALICE], catch_exceptions=False)
    assert "UTC waits to be carried out." in result.output
    house.server.play_stage.play.run_until_idle()  # the door forgets it later
    result = CliRunner().invoke(app, ["mails", ALICE], catch_exceptions=False)
    assert "UTC waits to be carried out." not in result.output
