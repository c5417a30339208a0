"""Finding somebody to play with: seeks, challenges that begin at once or not at all, rematches."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest
from running import Correspondence, start
from sqlalchemy import func, select

from pbmserv.service.boards.proposals import ALONE, OPEN_CHALLENGES, TOWARDS_ONE
from pbmserv.store.tables.boards import boards, seats, seeks


def count(server: Correspondence, table) -> int:
    with server.server.database.reading.connect() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


def statuses(server: Correspondence) -> list[str]:
    with server.server.database.reading.connect() as connection:
        return list(connection.execute(select(boards.c.status).order_by(boards.c.id)).scalars())


def challenge(server: Correspondence, address: str, other: str, words: str = "") -> None:
    userid = address.partition("@")[0]
    server.send(address, f"blackbox challenge {userid} secret {other}", words)


def prefer(server: Correspondence, address: str, wish: str) -> None:
    server.send(address, f"prefs {address.partition('@')[0]} secret {wish}")
    server.letters(address)


@pytest.mark.both_databases
def test_two_seeks_at_the_same_moment_make_one_board(database_url: str, tmp_path: Path) -> None:
    names = [f"p{n}" for n in range(10)]
    together = threading.Barrier(len(names))
    with start(tmp_path, database_url, web="") as server:
        addresses = [server.sign_up(name) for name in names]

        def seek(name: str, address: str) -> None:
            together.wait(60)
            server.send(address, f"blackbox seek {name} secret")

        threads = [
            threading.Thread(target=seek, args=pair) for pair in zip(names, addresses, strict=True)
        ]
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
    alice, bob, carol = map(server.sign_up, ("alice", "bob", "carol"))
    prefer(server, bob, "accept=auto")
    challenge(server, alice, "bob", "Nice to meet you!")
    own, other = server.letter(alice), server.letter(bob)
    assert "bob takes challenges at once, so board 1 has begun." in own.text
    assert "We passed your message on to bob." in own.text
    assert "alice has challenged you to Blackbox." in other.text
    assert "Nice to meet you!" in other.text
    server.reply(other, "a5,c6,e7,g5")
    assert "Board 1: alice to move" in server.letter(bob).text
    server.letters(alice)

    # Refused: the words are the same whether somebody refuses all or blocks this one.
    prefer(server, carol, "accept=none")
    challenge(server, alice, "carol")
    refused = server.letter(alice)
    prefer(server, carol, "accept=ask block=alice")
    challenge(server, alice, "carol")
    blocked = server.letter(alice)
    assert "carol is not taking challenges at the moment." in blocked.text
    assert blocked.text == refused.text
    assert blocked.html == refused.html
    server.send(alice, "message alice secret carol", "Why not?")
    assert "carol is not taking messages" in server.letter(alice).text
    server.send(bob, "message bob secret carol", "Hello!")
    assert "Hello!" in server.letter(carol).text
    assert statuses(server) == ["active"]


def test_a_player_alone_has_twenty_games_at_once(server: Correspondence) -> None:
    alice = server.sign_up("alice")
    server.send(alice, "blackbox solo alice -size=4x4 -atoms=1")
    server.reply(server.letter(alice), "yes")
    first = server.letter(alice)
    for _ in range(ALONE - 1):
        server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert "is yours alone" in server.letters(alice)[-1].text
    server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert "You play 20 games alone already" in server.letters(alice)[0].text
    assert statuses(server) == ["active"] * ALONE

    # One that is over makes room for another.
    server.reply(first, "solve")
    server.reply(first, "blackbox solo alice -size=4x4 -atoms=1")
    assert statuses(server) == ["finished"] + ["active"] * ALONE


def test_not_too_many_challenges_wait(server: Correspondence) -> None:
    names = [f"p{n}" for n in range(OPEN_CHALLENGES + 1)]
    alice, first, *_ = map(server.sign_up, ("alice", *names))
    for _ in range(TOWARDS_ONE + 1):
        challenge(server, alice, "p0")
    text = server.letters(alice)[-1].one_line
    assert "3 of your challenges are already waiting for an answer from p0" in text
    for name in names[1:]:
        challenge(server, alice, name)
    text = server.letters(alice)[-1].one_line
    assert "10 of your challenges are already waiting for an answer" in text
    assert statuses(server) == ["proposed"] * OPEN_CHALLENGES

    # An answer makes room for another.
    server.reply(server.letters(first)[0], "accept")
    challenge(server, alice, "p0")
    assert len(statuses(server)) == OPEN_CHALLENGES + 1

    # Those who begin at once are asked, too, when there is much to play already.
    other, auto = map(server.sign_up, ("alice2", "auto"))
    prefer(server, auto, "accept=auto")
    for _ in range(TOWARDS_ONE + 1):
        challenge(server, other, "auto")
    assert statuses(server)[-4:] == ["active", "active", "active", "proposed"]


def test_a_rematch_has_the_other_side_first(server: Correspondence) -> None:
    alice, bob, carol = map(server.sign_up, ("alice", "bob", "carol"))
    challenge(server, alice, "bob -fair")
    server.reply(server.letter(bob), "accept")
    server.reply(server.letters(bob)[-1], "a5,c6,e7,g5")
    server.reply(server.letters(alice)[-1], "b6,d7,f5,a7")
    server.reply(server.letters(alice)[-1], "resign")
    lost, won = server.letters(alice)[-1], server.letters(bob)[-1]

    server.reply(lost, "rematch")
    assert "We have invited bob" in server.letter(alice).text
    invitation = server.letter(bob)
    assert "alice wants a rematch of board 1." in invitation.text
    assert invitation.subject == "A rematch with alice: Blackbox 2"
    assert "Options: -fair." in invitation.text

    # Who asks for the same says yes.
    server.reply(won, "rematch")
    assert statuses(server) == ["finished", "active"]
    assert "now you both hide your atoms" in server.letter(alice).text

    # A third one may watch the first game, but not ask for another.
    server.send(carol, "rematch 1 carol secret")
    assert "you can watch, but not play" in server.letter(carol).text
