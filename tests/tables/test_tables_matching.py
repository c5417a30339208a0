"""Finding somebody to play with: seeks, challenges that begin at once or not at all, rematches."""

from __future__ import annotations

import threading

import pytest
from asking import Guest, guests, lose
from running import Correspondence
from sqlalchemy import func, select

from pbmserv.commands.table.playing import Message
from pbmserv.commands.table.starting import Accept, Challenge, Rematch, Seek
from pbmserv.service.boards.proposals import ALONE, OPEN_CHALLENGES, TOWARDS_ONE
from pbmserv.store.tables.boards import boards, seats, seeks


def seek(*options: str, off: bool = False) -> Seek:
    return Seek("blackbox", None, None, options, off)


def count(server: Correspondence, table) -> int:
    with server.server.database.reading.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def statuses(server: Correspondence) -> list[str]:
    with server.server.database.reading.connect() as connection:
        return list(connection.execute(select(boards.c.status).order_by(boards.c.id)).scalars())


@pytest.mark.both_databases
def test_two_seeks_at_the_same_moment_make_one_board(server: Correspondence) -> None:
    players = guests(server, *(f"p{n}" for n in range(10)))
    together = threading.Barrier(len(players))

    def ask(player: Guest) -> None:
        together.wait(60)
        player.asks(seek())

    threads = [threading.Thread(target=ask, args=(player,)) for player in players]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert statuses(server) == ["active"] * 5
    assert count(server, seeks) == 0
    with server.server.database.reading.connect() as connection:
        seated = list(connection.execute(select(seats.c.player_id)).scalars())
    assert len(seated) == len(set(seated)) == 10


def test_some_begin_at_once_some_ask_and_some_refuse(server: Correspondence) -> None:
    alice, bob, carol = guests(server, "alice", "bob", "carol")
    bob.prefers(accept="auto")
    alice.asks(Challenge("blackbox", ("alice", "bob")), "Nice to meet you!")
    own, other = alice.letter(), bob.letter()
    assert "bob takes challenges at once, so board 1 has begun." in own.text
    assert "We passed your message on to bob." in own.text
    assert "alice has challenged you to Blackbox." in other.text
    assert "Nice to meet you!" in other.text
    server.reply(other, "a5,c6,e7,g5")
    assert "Board 1: alice to move" in bob.letter().text
    alice.letters()

    # Refused: the words are the same whether somebody refuses all or blocks this one.
    carol.prefers(accept="none")
    alice.asks(Challenge("blackbox", ("alice", "carol")))
    refused = alice.letter()
    carol.prefers(accept="ask")
    carol.blocks(alice)
    alice.asks(Challenge("blackbox", ("alice", "carol")))
    blocked = alice.letter()
    assert "carol is not taking challenges at the moment." in blocked.text
    assert blocked.text == refused.text
    assert blocked.html == refused.html
    alice.asks(Message(None, ("carol",)), "Why not?")
    assert "carol is not taking messages" in alice.letter().text
    bob.asks(Message(None, ("carol",)), "Hello!")
    assert "Hello!" in carol.letter().text
    assert statuses(server) == ["active"]


def test_a_player_alone_has_twenty_games_at_once(server: Correspondence) -> None:
    (alice,) = guests(server, "alice")
    server.send(alice.address, "blackbox solo alice -size=4x4 -atoms=1")
    server.reply(alice.letter(), "yes")
    first = alice.letter()
    for _ in range(ALONE - 1):
        server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert "is yours alone" in alice.letters()[-1].text
    server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert "You play 20 games alone already" in alice.letters()[0].text
    assert statuses(server) == ["active"] * ALONE

    # One that is over makes room for another.
    server.reply(first, "solve")
    server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert statuses(server) == ["finished"] + ["active"] * ALONE


def test_not_too_many_challenges_wait(server: Correspondence) -> None:
    names = [f"p{n}" for n in range(OPEN_CHALLENGES + 1)]
    alice, *others = guests(server, "alice", *names)
    for _ in range(TOWARDS_ONE + 1):
        alice.asks(Challenge("blackbox", ("alice", "p0")))
    text = " ".join(alice.letters()[-1].text.split())
    assert "3 of your challenges are already waiting for an answer from p0" in text
    for name in names[1:]:
        alice.asks(Challenge("blackbox", ("alice", name)))
    text = " ".join(alice.letters()[-1].text.split())
    assert "10 of your challenges are already waiting for an answer" in text
    assert statuses(server) == ["proposed"] * OPEN_CHALLENGES

    # An answer makes room for another.
    others[0].replies(others[0].letters()[0], Accept(None, None, None))
    alice.asks(Challenge("blackbox", ("alice", "p0")))
    assert len(statuses(server)) == OPEN_CHALLENGES + 1

    # Those who begin at once are asked, too, when there is much to play already.
    alice_, auto = guests(server, "alice2", "auto")
    auto.prefers(accept="auto")
    for _ in range(TOWARDS_ONE + 1):
        alice_.asks(Challenge("blackbox", ("alice2", "auto")))
    assert statuses(server)[-4:] == ["active", "active", "active", "proposed"]


def test_a_rematch_has_the_other_side_first(server: Correspondence) -> None:
    alice, bob = guests(server, "alice", "bob")
    alice.asks(Challenge("blackbox", ("alice", "bob"), ("-fair",)))
    bob.replies(bob.letter(), Accept(None, None, None))
    alice.asks(Rematch("blackbox", 1, None))
    assert "Board 1 is not over yet." in alice.letters()[-1].text
    server.reply(bob.letters()[-1], "a5,c6,e7,g5")
    server.reply(alice.letters()[-1], "b6,d7,f5,a7")
    lost, won = lose(server, alice, bob)

    alice.replies(lost, Rematch(None, None, None))
    assert "We have invited bob" in alice.letter().text
    challenge = bob.letter()
    assert "alice wants a rematch of board 1." in challenge.text
    assert challenge.subject == "A rematch with alice: Blackbox 2"
    assert "Options: -fair." in challenge.text

    # Who asks for the same says yes.
    bob.replies(won, Rematch(None, None, None))
    assert statuses(server) == ["finished", "active"]
    assert "now you both hide your atoms" in alice.letter().text
    bob.letters()

    # A third one may watch the first game, but not ask for another.
    (carol,) = guests(server, "carol")
    carol.asks(Rematch(None, 1, None))
    assert "you can watch, but not play" in carol.letter().text
