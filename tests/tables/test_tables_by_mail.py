"""Seeks, rematches and records by real mails, in the words that players write."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import guests
from running import Correspondence, Letter

from pbmserv.cli.main import run


@pytest.mark.slow
def test_a_record_that_came_by_mail_is_played_back(
    server: Correspondence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alice, bob, carol = guests(server, "alice", "bob", "carol")
    server.send(alice.address, "blackbox seek alice secret")
    server.send(bob.address, "blackbox seek bob secret 2")
    server.reply(bob.letters()[-1], "a5,c6,e7,g5")
    server.reply(alice.letters()[-1], "b6,d7,f5,a7")
    server.reply(bob.letters()[-1], "resign")
    server.reply(alice.letters()[-1], "record")
    record = alice.letter()

    # Behind a userid there may be a password that has no business there.
    for line in ("blackbox ratings", "blackbox history", "all show", "blackbox games"):
        server.send(carol.address, f"{line} alice hunter22")
        refused = carol.letter()
        assert "hunter22" not in refused.subject + refused.text + refused.html
        assert "Nobody here has name 2 of those you wrote" in refused.text
    server.send(carol.address, "blackbox seek carol secret -size=99x99")
    refused = carol.letter()
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


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("nothing.txt",), "No such file"),
        (("empty.txt",), 'there is no line "pbmserv record 1" in it'),
    ],
)
def test_a_text_that_is_not_a_record_is_refused(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    complaint: str,
) -> None:
    (tmp_path / "empty.txt").write_text("")
    assert run(["replay", *(str(tmp_path / name) for name in arguments)]) == 1
    assert complaint in capsys.readouterr().err
