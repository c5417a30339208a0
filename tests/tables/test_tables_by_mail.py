"""Seeks, rematches and records by real mails, in the words that players write."""

from __future__ import annotations

from pathlib import Path

import pytest
from asking import guests, open_up
from running import Correspondence, Letter

from pbmserv.cli.main import run


@pytest.mark.slow
def test_two_who_look_for_each_other_play_and_a_third_one_watches(
    server: Correspondence, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    alice, bob, carol = guests(server, "alice", "bob", "carol")
    server.send(alice.address, "blackbox seek alice secret")
    server.reply(alice.letter(), "games")
    assert "alice has been looking for an opponent at Blackbox since" in alice.letter().text
    server.send(bob.address, "blackbox seek bob secret 2")
    started = bob.letters()[-1]
    assert "Board 1" in started.text or "board 1" in started.text
    server.send(carol.address, "subscribe 1 carol secret")
    followed = carol.letter()
    assert "You follow board 1" in followed.text

    server.reply(started, "a5,c6,e7,g5")
    news = carol.letter()
    assert "bob hid 4 atoms" in news.text
    server.reply(news, "unsubscribe")
    assert "You get no more letters about board 1." in carol.letter().text
    server.reply(news, "notify")
    assert "You get one letter when board 1 is over." in carol.letter().text
    server.reply(alice.letters()[-1], "b6,d7,f5,a7")
    first, second = (alice, bob) if "alice - bob" in followed.subject else (bob, alice)
    open_up(server, first, second)
    server.reply(bob.letters()[-1], "resign")
    assert "bob resigned: alice won board 1" in carol.letter().text
    won = alice.letters()[-1]
    assert "Your Blackbox rating: 1138 (+138), provisional, 1 game." in won.text

    server.reply(won, "ratings")
    assert "1000 to 1138 (+138)" in alice.letter().text
    server.reply(won, "record")
    record = alice.letter()
    server.reply(won, "rematch")
    assert "wants a rematch of board 1" in bob.letters()[-1].text
    server.send(carol.address, "blackbox standings")
    assert "alice    1138?" in carol.letter().text
    server.send(carol.address, "blackbox history alice bob")
    assert carol.letter().text.count("won by alice (resigned)") == 2
    server.send(carol.address, "all show alice inactive")
    assert "bob resigned: alice won board 1" in carol.letter().text
    server.send(carol.address, "blackbox games alice all")
    listed = carol.letter()
    assert "2 Blackbox games of alice" in listed.text
    assert all(len(line) <= 76 for line in listed.text.split("\n-- ")[0].splitlines())

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
    assert "2.\n* bob hid 4 atoms.\n" in boards  # first came the draw of the sides
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
