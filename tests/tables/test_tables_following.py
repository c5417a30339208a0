"""Following other people's boards: every turn or only the end, and nothing that is hidden."""

from __future__ import annotations

import re

from asking import Guest, guests
from running import Correspondence, Letter

from pbmserv.commands.table.looking import Follow, ShowAs
from pbmserv.commands.table.model import ReplyMove
from pbmserv.commands.table.playing import MakeMove, Resign
from pbmserv.commands.table.starting import Accept, Challenge, Reject
from pbmserv.store.boards import boards


def begin(alice: Guest, bob: Guest) -> None:
    """A new board of the two."""
    alice.asks(Challenge("blackbox", (alice.userid, bob.userid)))
    bob.replies(bob.letters()[-1], Accept(None, None, None))


def test_every_turn_or_only_the_end(server: Correspondence) -> None:
    alice, bob, carol, dave = guests(server, "alice", "bob", "carol", "dave")
    begin(alice, bob)
    carol.asks(Follow(1, None, "all"))
    follows = carol.letter()
    assert "You get a letter after every turn on board 1" in follows.text
    dave.asks(Follow(1, None, "end"))
    assert "You get one letter when board 1 is over." in dave.letter().text
    bob.asks(Follow(1, None, "all"))
    assert "You play on board 1 yourself" in bob.letters()[-1].text

    alice.asks(MakeMove(None, 1, None, "a5,c6,e7,g5"))
    bob.asks(MakeMove(None, 1, None, "b6,d7,f5,a7"))
    first, second = carol.letters()
    assert "alice hid 4 atoms" in first.text
    assert "alice hid 4 atoms" not in second.text  # what this turn did, not all since the start
    assert "bob hid 4 atoms" in second.text
    assert (
        first.message["References"] == second.message["References"] == follows.message["References"]
    )

    # A free move is nobody's news.
    alice.asks(MakeMove(None, 1, None, "+b2"))
    assert carol.letters() == []
    alice.asks(MakeMove(None, 1, None, "1"))
    news = carol.letter()
    assert "Board 1: bob to move" in news.text
    assert dave.letters() == []

    # Replies: looking, trying to move, leaving.
    carol.replies(news, ShowAs(None, None))
    assert "Board 1 after 3 moves" in carol.letter().text
    carol.replies(news, ReplyMove(("5",), ("",)))
    assert "its players make the moves" in carol.letter().text
    carol.replies(news, Follow(None, None, "off"))
    assert "You get no more letters about board 1." in carol.letter().text
    carol.replies(news, Follow(None, None, "off"))
    assert "You do not follow board 1" in carol.letter().text

    bob.asks(Resign(None, 1, None))
    assert carol.letters() == []
    over = dave.letter()
    assert "bob resigned: alice won board 1" in over.text
    assert "You get no more letters about this board." in over.one_line
    with server.server.database.reading.connect() as connection:
        assert boards.followers_of(connection, 1) == []
    dave.asks(Follow(1, None, "all"))
    assert "Board 1 is over." in dave.letter().text


def test_a_follower_hears_that_a_board_will_not_be_played(server: Correspondence) -> None:
    alice, bob, carol = guests(server, "alice", "bob", "carol")
    alice.asks(Challenge("blackbox", ("alice", "bob")))
    carol.asks(Follow(1, None, "end"))
    carol.letters()
    bob.replies(bob.letters()[-1], Reject(None, None, None))
    declined = carol.letter()
    assert "Board 1 will not be played" in declined.text
    carol.asks(Follow(1, None, "all"))
    assert "Board 1 was declined" in carol.letter().text
    carol.asks(Follow(99, None, "all"))
    assert "There is no board 99." in carol.letter().text
    carol.asks(Follow(None, None, "all"))
    assert "Which board? Put its number after the command." in carol.letter().text


def test_hidden_facts_change_no_letter_to_followers(server: Correspondence) -> None:
    seen = []
    for turn, (hers, his) in enumerate(
        ((("a5,c6,e7,g5"), ("b6,d7,f5,a7")), (("b7,d5,f6,c7"), ("g6,e5,a6,b5")))
    ):
        alice, bob, carol = guests(server, f"alice{turn}", f"bob{turn}", f"carol{turn}")
        begin(alice, bob)
        board = turn + 1
        carol.asks(Follow(board, None, "all"))
        for player, text in (
            (alice, hers),
            (bob, his),
            (alice, "+b2"),
            (alice, "1"),
            (bob, "!c3"),
            (bob, "2"),
        ):
            player.asks(MakeMove(None, board, None, text))
        letters = carol.letters()
        assert len(letters) == 5
        seen.append([_neutral(letter, turn, board) for letter in letters])
    assert seen[0] == seen[1]


def _neutral(letter: Letter, turn: int, board: int) -> str:
    """A letter without hashes, its board's number and the numbers in its players' names."""
    text = f"{letter.subject}\n{letter.text}\n{letter.html}"
    for name in ("alice", "bob", "carol"):
        text = text.replace(f"{name}{turn}", name)
    text = re.sub(r"[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}", "HASH", text)
    return re.sub(rf"\b([Bb]oard|Blackbox) {board}\b", r"\1 N", text)
