"""Moves that players try before they make them: submit and confirm, preview, check, undo."""

from __future__ import annotations

import pytest
from playing import ANNA, ATOMS, NAMES, Game, begin
from running import Correspondence
from seating import seat_pairs
from sqlalchemy import Connection, update

from pbmserv.store.tables.mail import outbox

WATCHER = "watcher@example.org"


@pytest.fixture
def game(server: Correspondence) -> Game:
    return begin(server)


def test_a_submitted_move_may_wait_for_its_turn_but_not_longer(game: Game) -> None:
    shown = game.write(1, "submit", "1")
    assert "as soon as it is your turn." in shown.one_line
    early = game.write(1, "confirm")
    assert "You can queue this move" in early.one_line
    game.move(0, "3")
    game.read(1)
    game.server.reply(shown, "yes")
    (done,) = game.read(1)
    assert "You fired port 1: hit (#)." in done.text
    assert "Port 3 already shows #" in game.write(0, "submit", "3").text

    game.write(0, "submit", "14")
    game.move(0, "5")
    game.move(1, "2")
    refused = game.write(0, "confirm")
    assert "You submitted that for move 5, and your next move is number 7." in refused.one_line
    assert "Player t0a's board on left." in refused.text
    game.write(0, "submit", "14")
    assert "You fired port 14: reflection (%)." in game.write(0, "confirm").text
    nothing = game.write(0, "confirm")
    assert "You have not submitted a move." in nothing.text


def test_preview_and_check_fire_nothing_and_change_nothing(game: Game) -> None:
    game.server.send(ANNA, f"blackbox showas {NAMES[0]} secret 1")
    (first,) = game.read(0)
    game.server.reply(first, "preview 3,+b3,+d3,+a1,+f2,?,!c")
    (own,) = game.read(0)
    assert "If you played 3,+B3,+D3,+A1,+F2,?,!C on board 1" in own.text
    assert "would fire port 3; only the move itself shows what the ray does." in own.one_line
    assert "would guess with the markers on A1, F2, B3 and D3." in own.one_line
    assert "You would seal column C as surely empty." in own.text
    assert "hit" not in own.text.partition("Player")[0]

    game.server.send(WATCHER, "blackbox preview 1 3,+b3")
    (spectators,) = game.server.letters(WATCHER)
    assert "If t0a played 3,+B3 on board 1" in spectators.text
    assert "t0a would put a marker on B3." in spectators.text
    assert "@" not in "".join(line for line in spectators.text.splitlines() if "|" in line)

    game.server.send(WATCHER, "blackbox preview 1 3,3")
    (refused,) = game.server.letters(WATCHER)
    assert "You can fire only one port" in refused.one_line
    assert game.plies()[2:] == []
    assert game.read(1) == []

    game.server.send(
        ANNA,
        "multiple",
        f"blackbox showas {NAMES[0]} secret 1\nblackbox submit 1 {NAMES[0]} secret +b3\n",
    )
    (report,) = game.read(0)
    assert report.text.count("Player t0a's board on left.") == 2
    assert "shown further down" not in report.text

    game.move(0, "3,+c3")
    game.move(1, "1")
    game.move(0, "14")
    game.move(1, "3")
    letter = game.write(0, "check")
    assert "Do your markers on board 1 fit?" in letter.text
    assert "* Your markers explain 1 of 2 results so far (3)." in letter.text
    assert (
        "Port 14 gave reflection (%), but with your markers it would give detour to 7."
        in letter.one_line
    )
    assert "There is 1 marker on your board; a guess needs 4." in letter.one_line
    game.server.reply(letter, "check")
    (again,) = game.read(0)
    assert again.text.splitlines()[2:12] == letter.text.splitlines()[2:12]
    assert game.read(1) == []
    assert len(game.plies()) == 6


def test_hiding_is_taken_back_while_the_letter_about_it_waits(server: Correspondence) -> None:
    table = seat_pairs(server.server, 1, "t")[0]
    game = Game(server, table.board)
    assert "There is nothing to take back yet." in game.write(0, "undo").text
    server.send(ANNA, f"blackbox move 1 {NAMES[0]} secret {ATOMS[0]}", "Good luck!")
    game.read(0)
    game.read(1)
    refused = game.write(0, "undo")
    assert "The others already know about your last move" in refused.one_line

    # As if bela got one mail a day: the letter still lies in the tray.
    def into_the_tray(connection: Connection) -> None:
        which = (outbox.c.player_id == table.players[1].id) & (outbox.c.letter == "board")
        waiting = {"state": "tray", "due_at": None, "claimed_by": None}
        connection.execute(update(outbox).where(which).values(**waiting))

    server.server.writer.submit(into_the_tray).result()
    undone = game.write(0, "undo")
    assert "You took your last move back." in undone.text
    assert "hide 4 atoms" in undone.text
    with server.server.database.reading.connect() as connection:
        rows = connection.execute(outbox.select().where(outbox.c.state == "tray")).all()
    assert [(row.letter, row.words["said"]) for row in rows] == [("chat", "Good luck!")]
    again = game.write(0, "move", "a1,a2,a3,a4")
    assert "Your atoms are hidden at A1, A2, A3 and A4." in again.text
