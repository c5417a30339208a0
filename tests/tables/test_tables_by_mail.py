"""Seeks, rematches and records by real mails, in the words that players write."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import Correspondence, Letter

from pbmserv.cli.main import run


@pytest.mark.slow
def test_a_record_that_came_by_mail_is_played_back(
    server: Correspondence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alice, bob, carol = map(server.sign_up, ("alice", "bob", "carol"))
    server.send(alice, "blackbox seek alice secret")
    server.send(bob, "blackbox seek bob secret 2")
    server.reply(server.letters(bob)[-1], "a5,c6,e7,g5")
    server.reply(server.letters(alice)[-1], "b6,d7,f5,a7")
    server.reply(server.letters(bob)[-1], "resign")
    server.reply(server.letters(alice)[-1], "record")
    record = server.letter(alice)

    # Behind a userid there may be a password that has no business there.
    for line in ("blackbox ratings", "blackbox history", "all show", "blackbox games"):
        server.send(carol, f"{line} alice hunter22")
        refused = server.letter(carol)
        assert "hunter22" not in refused.subject + refused.text + refused.html
        assert "Nobody here has name 2 of those you wrote" in refused.text
    server.send(carol, "blackbox seek carol secret -size=99x99")
    refused = server.letter(carol)
    assert 'a board like "-size=99x99": each side' in refused.text
    assert "secret" not in refused.subject + refused.text + refused.html
    _played_back(record, tmp_path / "mail.txt", capsys)


def _played_back(record: Letter, saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Play the attached record back with the command line."""
    saved.write_text(record.text, encoding="utf-8")
    assert run(["replay", str(saved)]) == 0
    boards, complaints = capsys.readouterr()
    assert boards.startswith("2.\n* bob hid 4 atoms.\n")  # the draw of the sides is no turn
    assert "bob resigned: alice won board 1" in boards
    assert complaints == ""
    saved.write_text(record.text.replace("resign\nend", "a1,b1\nend"), encoding="utf-8")
    assert run(["replay", str(saved)]) == 1
    assert "breaks the rules" in capsys.readouterr().err
