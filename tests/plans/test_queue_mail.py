"""Queued moves by mail: kept for their turn, played with the mail that brings it, and secret."""

from __future__ import annotations

import pytest
from playing import ANNA, ATOMS, BELA, NAMES, Game, begin
from running import Correspondence
from seating import seat_pairs
from sqlalchemy import select

from pbmserv.service.boards.plan_runs import MOST_PLIES
from pbmserv.store.tables.boards import seats


@pytest.fixture
def game(server: Correspondence) -> Game:
    return begin(server)


def kept(game: Game) -> list[tuple[int, str]]:
    with game.server.server.database.reading.connect() as connection:
        planned = select(seats.c.seat, seats.c.plan).where(seats.c.plan.is_not(None))
        rows = connection.execute(planned).all()
    return sorted((row.seat, row.plan) for row in rows)


def test_a_conditional_plan_is_played_when_its_turns_come(game: Game) -> None:
    answer = game.write(1, "queue", "1,+b2 if #: g else 5; 6")
    assert "Your plan for board 1" in answer.text
    assert "1,+B2 if #: G else 5; 6" in answer.text
    assert "1,+B2 if #: G else 5; 6" in answer.html
    assert game.read(0) == []  # nobody else hears of a plan

    game.server.send(ANNA, f"blackbox move 1 {NAMES[0]} secret 3", "Have fun!")
    own, news = game.read(0)
    assert "You fired port 3: hit (#)." in own.text
    assert "Your move on board 1" in news.text
    assert f"{NAMES[1]} fired port 1: hit (#)." in news.one_line
    (letter,) = game.read(1)  # one letter for both moves, words and all
    assert f"{NAMES[0]} fired port 3: hit (#)." in letter.one_line
    assert "You fired port 1: hit (#)." in letter.text
    assert "Played from your plan: 1,+B2" in letter.text
    assert "Have fun!" in letter.text
    assert "if #: G else 5; 6" in letter.text
    assert "else" not in own.text + news.text + own.html + news.html

    game.server.reply(letter, "show")
    (shown_again,) = game.read(1)
    assert "Your plan for your next turn" in shown_again.text
    assert "if #: G else 5; 6" in shown_again.text

    game.move(0, "14")
    assert game.plies()[2:] == [(0, "3"), (1, "1,+B2"), (0, "14"), (1, "G")]
    assert kept(game) == []


def test_a_plan_is_refused_or_begins_at_once_and_can_be_forgotten(game: Game) -> None:
    for plan, sentence, part in (
        ("g if", "A condition is missing in the plan at its end.", "if"),
        ("g; g", "Port G will show its result by then", "g"),
        ("g if maybe: 5", "A plan cannot ask for", "maybe"),
        ("hello", "is not a Blackbox move", "hello"),
    ):
        refused = game.write(1, "queue", plan)
        assert "Not done, nothing has changed" in refused.text
        assert sentence in refused.one_line
        assert part in refused.text
        assert "Try this" not in refused.text, "nobody is offered a plan that is not theirs"
    assert kept(game) == []

    answer = game.write(0, "queue", "3; 5")
    assert "You fired port 3: hit (#)." in answer.text
    assert "Played from your plan: 3" in answer.text
    (news,) = game.read(1)
    assert "Your move on board 1" in news.text
    assert kept(game) == [(0, "5")]

    game.server.reply(answer, "queue -")
    (gone,) = game.read(0)
    assert "Your plan for board 1 is dropped" in gone.text
    assert kept(game) == []
    game.server.reply(gone, "queue -")
    assert "You had no plan for board 1" in game.read(0)[0].text
    game.server.reply(gone, "queue 14")
    assert "We play this for you as soon as it is your turn" in game.read(0)[0].text


def test_a_queued_move_that_became_impossible_is_reported_with_the_board_and_uses_no_turn(
    game: Game,
) -> None:
    game.write(1, "queue", "8; g; 5")  # nobody knows yet that 8 leads to g
    game.move(0, "3")
    game.server.send(ANNA, f"blackbox move 1 {NAMES[0]} secret 14")
    (own,) = game.read(0)
    assert "t0b to move" in own.text
    (letter,) = game.read(1)
    assert "Your move on board 1" in letter.text
    assert f"{NAMES[0]} fired port 14: reflection (%)." in letter.one_line
    words = letter.one_line
    assert 'Your queued move "G" could not be played, so we dropped your plan.' in words
    assert "Port G already shows a" in words
    assert "You lost no turn." in words
    assert "Player t0b's board on left." in letter.text
    assert kept(game) == []
    assert game.plies()[2:] == [(0, "3"), (1, "8"), (0, "14")]
    game.move(1, "5")
    assert game.plies()[-1] == (1, "5")

    game.write(1, "queue", "1; if %: 6")  # but 1 is a hit
    game.move(0, "5")
    game.server.send(ANNA, f"blackbox move 1 {NAMES[0]} secret c")
    (letter,) = game.read(1)
    assert "Nothing in your plan fits what has happened" in letter.text
    assert "  if %: 6" in letter.text
    assert kept(game) == []
    assert game.plies()[-3:] == [(0, "5"), (1, "1"), (0, "C")]


def test_two_plans_play_on_up_to_a_bound_in_one_letter_each(game: Game) -> None:
    game.write(1, "queue", "a; d; e; f; 9; i; k; m; 1; 3; b; c")
    answer = game.write(0, "queue", "c; e; 10; 13; i; l; n; 3; 5; 12; 14; 1")
    assert len(game.plies()) == 2 + MOST_PLIES
    assert "You fired port C: hit (#)." in answer.text
    assert "You fired port 12: reflection (%)." in answer.text
    assert "t0b fired port 3: hit (#)." in answer.text
    assert "20 queued moves were played in one go" in answer.one_line
    assert "queue 14; 1" in answer.text
    (letter,) = game.read(1)
    assert "You fired port A: hit (#)." in letter.text
    assert "Your plan for your next turn" in letter.text
    assert "  B; C" in letter.text
    assert "14; 1" not in letter.text
    assert kept(game) == [(0, "14; 1"), (1, "B; C")]
    game.server.reply(answer, "queue 14; 1")
    game.server.letters()
    assert game.plies()[-4:] == [(0, "14"), (1, "B"), (0, "1"), (1, "C")]
    assert kept(game) == []


def test_a_plan_may_win_and_then_all_plans_are_gone(game: Game) -> None:
    game.write(1, "queue", ",".join(f"+{cell}" for cell in ATOMS[0].split(",")) + "; ?")
    assert kept(game) == [(1, "+B3,+D3,+A1,+F2; ?")]
    game.server.send(ANNA, f"blackbox move 1 {NAMES[0]} secret 3")
    own, lost = game.read(0)
    assert "You fired port 3" in own.text
    assert "t0b found all the atoms and won board 1" in lost.one_line
    (won,) = game.read(1)
    assert "You found all the atoms and won board 1" in won.one_line
    assert "Played from your plan: +B3,+D3,+A1,+F2; ?" in won.one_line
    assert kept(game) == []
    refused = game.write(1, "queue", "5")
    assert "Board 1 is over." in refused.text


def test_hiding_may_be_planned_with_what_follows_and_stays_secret(server: Correspondence) -> None:
    table = seat_pairs(server.server, 1, "t")[0]
    game = Game(server, table.board)
    answer = game.write(0, "queue", f"{ATOMS[0]}; 3")
    assert "Your atoms are hidden at" in answer.text
    (news,) = game.read(1)
    server.send(BELA, f"blackbox move 1 {NAMES[1]} secret {ATOMS[1]}")
    assert game.plies()[2] == (0, "3")
    letters = [news, *game.read(1)]
    assert "t0a fired port 3: hit (#)." in letters[-1].text
    server.send("watcher@example.org", "blackbox show 1")
    letters += server.letters("watcher@example.org")
    assert len(letters) > 2
    for letter in letters:
        # Every cell of a page says of itself that it is empty, and the own ones can be marked.
        page = letter.html.replace("B3: empty", "").replace("body=%2BB3", "").replace(">B3<", "")
        assert "B3" not in letter.text + page
        assert "queue" not in letter.text.lower()
