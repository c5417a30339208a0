"""Rated games from their end to the letters, the tables and the record."""

from __future__ import annotations

import pytest
from asking import Guest, guests, hide, lose, open_up
from running import Correspondence, Letter

from pbmserv.commands.table.looking import History, Ratings, Record, ShowAs, Standings
from pbmserv.commands.table.playing import Resign
from pbmserv.commands.table.starting import Accept, Challenge, Reject
from pbmserv.engine.position import replay
from pbmserv.engine.record import read_record
from pbmserv.service.ratings import rebuilding


@pytest.mark.slow
def test_two_games_and_all_that_is_told_of_them(server: Correspondence) -> None:
    alice, bob, carol = guests(server, "alice", "bob", "carol")

    # A game that is declined counts for nothing, nor does one that is taken back in time.
    alice.asks(Challenge("blackbox", ("alice", "bob")))
    bob.replies(bob.letter(), Reject(None, None, None))
    alice.asks(Challenge("blackbox", ("alice", "bob")))
    server.reply(alice.letters()[-1], "b3,d3,f2,g7")
    alice.replies(alice.letter(), Resign(None, None, None))
    assert "will not be played" in alice.letter().text
    server.letters()

    # Nor does one that was agreed to be unrated.
    alice.asks(Challenge("blackbox", ("alice", "bob"), ("-unrated",)))
    bob.replies(bob.letter(), Accept(None, None, None))
    hide(server, alice, bob)
    lost, _ = lose(server, bob, alice)
    assert "rating:" not in lost.text
    alice.asks(Standings("blackbox"))
    assert "nobody is rated yet" in alice.letter().text

    # A rated one is explained to both.
    alice.asks(Challenge("blackbox", ("alice", "bob")))
    bob.replies(bob.letter(), Accept(None, None, None))
    hide(server, alice, bob)
    open_up(server, alice, bob)
    lost, won = lose(server, bob, alice)
    assert "Your Blackbox rating: 1138 (+138), provisional, 1 game." in won.text
    assert "bob: 927 (-73), provisional, 1 game." in won.text
    assert "your chance of winning was 50 %" in won.text
    assert "Your Blackbox rating: 927 (-73), provisional, 1 game." in lost.text
    assert "Your Blackbox rating: 927 (-73)" in lost.html
    server.server.clock.move(days=1)
    bob.replies(lost, ShowAs(None, None))
    assert "Your Blackbox rating: 927 (-73), provisional, 1 game." in bob.letter().text

    # The next one is worth less to the better one.
    bob.asks(Challenge("blackbox", ("bob", "alice")))
    alice.replies(alice.letters()[-1], Accept(None, None, None))
    hide(server, bob, alice)
    open_up(server, bob, alice)
    lost, won = lose(server, bob, alice)
    assert "Your Blackbox rating: 1193 (+55), provisional, 2 games." in won.text

    assert "It counts for 50 % of a game, since you two have played lately." in won.text
    assert "It counts for 50 % of a game" in won.html

    _tables(carol, alice, won)
    _record(carol)
    assert rebuilding.check(server.server.database).differences == 0


def _tables(carol: Guest, alice: Guest, won: Letter) -> None:
    """Check the answers that everybody gets about these five boards."""
    carol.asks(Standings(None))
    best = carol.letter()
    assert "Blackbox: 2 rated players" in best.text
    assert (
        "Rank  Player  Rating  Games  Won  Lost  Drawn\n"
        "   -  alice    1193?      2    2     0      0\n"
        "   -  bob       901?      2    0     2      0\n" in best.text
    )
    assert "<td" in best.html
    carol.asks(Ratings("blackbox", ("bob", "carol")))
    text = carol.letter().text
    assert "2 rated games: 0 won, 2 lost, 0 drawn." in text
    assert "1000 to 927 (-73)" in text
    assert "927 to 901 (-26)" in text
    assert "carol has no Blackbox rating yet" in text
    alice.replies(won, Ratings(None))
    assert "Blackbox rating of alice: 1193, provisional" in alice.letter().text

    carol.asks(History("blackbox", ("alice",)))
    history = carol.letter()
    assert "3 finished Blackbox games of alice" in history.text
    assert [line.split()[:4] for line in history.text.splitlines() if " March 2026 " in line] == [
        ["2", "March", "2026", "5"],
        ["1", "March", "2026", "4"],
        ["1", "March", "2026", "3"],
    ]
    assert "won by alice" in history.text
    carol.server.send(carol.address, "blackbox history")
    assert carol.letter().text.count("won by alice (resigned)") == 3
    for letter in (best, history):
        _fits(letter)


def _record(carol: Guest) -> None:
    """The record of a finished board plays back to the same end."""
    carol.asks(Record("blackbox", 4))
    record = carol.letter()
    _fits(record)
    assert "seed: " in record.text
    sheet = read_record(record.text)
    assert sheet.names == ("alice", "bob")
    assert sheet.result == "alice 1, bob 2 (resigned)"
    game = carol.server.server.registry.newest("blackbox")
    outcome = game.outcome(replay(game, sheet.record)[-1].state)
    assert outcome is not None
    assert outcome.places == (1, 2)
    carol.asks(Record(None, 1))
    assert "Board 1 was declined" in carol.letter().text


def _fits(letter: Letter) -> None:
    assert [line for line in letter.text.split("\n-- ")[0].splitlines() if len(line) > 76] == []
