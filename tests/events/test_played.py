"""Events that are played by mail in virtual time: they end on the day they said."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date, timedelta
from functools import partial
from pathlib import Path

import pytest
from indoors import Indoors, address_of, indoors
from seasons import GAME, PATIENCE_S, Field, kinds_to, wait_for_a_lock

from pbmserv.engine import ratings
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import new_events
from pbmserv.service.events.kinds.registry import SERVER_KINDS
from pbmserv.service.events.kinds.swiss import Swiss
from pbmserv.service.operators import events as operators_of_events
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.events import event_entries, event_games
from pbmserv.store.tables.events import EventStatus

FINISHED, RUNNING = EventStatus.FINISHED, EventStatus.RUNNING


def test_a_season_is_played_and_the_next_one_follows(
    field: Callable[[int], Field], monkeypatch: pytest.MonkeyPatch
) -> None:
    players = field(5)
    players.all_say(f"league join {GAME}")
    letters = players.until(1, RUNNING)
    assert [kinds_to(letters, name) for name in players.names] == [["event-begins"]] * 5
    assert "You play 4 games" in letters[0].text
    assert all("You have ●; " in letter.html for letter in letters)
    players.give_up(1)
    letters = players.live(1)
    assert players.table(1) == [("ann", 8), ("bob", 6), ("cleo", 4), ("dan", 2), ("eve", 0)]
    assert players.event(1)["status"] == FINISHED
    results = players.news()
    assert {letter.recipient for letter in results} == set(map(address_of, players.names))
    assert "You have won" in results[0].text
    assert "place 5" in results[-1].subject + results[-1].text
    # Ratings that are not sure yet, and not places, decide about the next groups.
    assert not any("a group next season" in letter.one_line for letter in results)
    assert [row["moves"] for row in players.event(1)["groups"][0]["rows"]] == [0] * 5
    monkeypatch.setattr(ratings, "SURE_AFTER", 0)
    assert [row["moves"] for row in players.event(1)["groups"][0]["rows"]] == [0, 0, 0, 1, 1]
    # The next season has everybody in it, and begins 13 weeks after the first one.
    following = players.event(2)
    assert sorted(following["waiting"]) == list(players.names)
    first = players.event(1)["starts"]
    players.until(2, RUNNING)
    assert players.event(2)["starts"] == f"{date.fromisoformat(first) + timedelta(days=91)}"


def test_games_that_still_run_on_the_last_day_are_decided(season: Field) -> None:
    players = season
    ends = players.event(1)["ends"]
    # Nothing is looked at until the last day, as if all had been within their time.
    with players.server.server.database.reading.connect() as connection:
        boards = [game.board_id for game in event_games.of_event(connection, 1)]
    players.server.server.writer.submit(
        lambda c: c.exec_driver_sql(
            "UPDATE boards SET due_at = NULL, forfeit_days = 0, total_days = NULL"
        )
    ).result()
    server = players.server
    server.move_clock(days=(date.fromisoformat(ends) - server.server.clock.now().date()).days - 1)
    assert players.status(1) == RUNNING
    players.pass_until(1, FINISHED)
    assert len(boards) == 10
    assert f"{players.server.server.clock.now():%Y-%m-%d}" == ends
    assert all(game["reason"] == "decided" for game in players.games(1))


def test_a_cup_with_a_second_round(field: Callable[[int], Field]) -> None:
    players = field(9)
    players.all_say(f"cup join {GAME}")
    letters = players.live(1)
    assert len([letter for letter in letters if letter.kind == "event-begins"]) == 5
    players.give_up(1)
    players.until(1, RUNNING)  # the month is over, and the other four begin
    assert len(players.event(1)["groups"]) == 2
    players.give_up(1)
    players.live(1)
    assert players.event(1)["round"] == 2
    assert players.table(1, 3) == [("ann", 0), ("finn", 0)]
    second = [letter for letter in players.letters if letter.kind == "event-begins"][9:]
    assert {letter.recipient for letter in second} == {address_of("ann"), address_of("finn")}
    assert second[0].subject == "Monthly cup 1 of Connect Four, round 2: 1 game"
    assert "Monthly cup 1 of Connect Four, round 2, group 3" in second[0].text
    players.give_up(1)
    players.live(1)
    assert players.event(1)["status"] == FINISHED
    assert players.table(1, 3) == [("ann", 2), ("finn", 0)]
    won = [letter for letter in players.news() if "You have won" in letter.text]
    assert [letter.recipient for letter in won] == [address_of("ann")]


def test_winners_of_monthly_cups_play_a_final(field: Callable[[int], Field]) -> None:
    players = field(5)
    for number, names in ((1, players.names), (3, players.names[1:])):
        players.all_say(f"cup join {GAME}", names)
        players.live(0.1)
        if len(names) < 5:
            players.until(number, RUNNING)
        players.give_up(number)
        players.until(number, FINISHED)
    final = players.event(2)
    assert final["waiting"] == ["ann", "bob"]
    assert final["starts"] == "2027-07-01"
    won = [letter for letter in players.news() if "You play in the final" in letter.one_line]
    assert [letter.recipient for letter in won] == [address_of("ann"), address_of("bob")]
    (refused,) = players.says("cleo", "event join 2")
    assert "only to players who were invited" in refused.one_line
    players.server.move_clock(days=500)
    players.live(1)
    assert players.event(2)["status"] == RUNNING
    players.give_up(2)
    players.live(1)
    assert players.table(2) == [("ann", 2), ("bob", 0)]


def test_a_final_that_was_postponed_is_announced_for_its_new_day(
    field: Callable[[int], Field],
) -> None:
    players = field(5)
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    players.give_up(1)
    players.until(1, FINISHED)
    postpone = partial(operators_of_events.postpone, number=2, starts="2027-08-01")
    players.server.operators.do(Signature("olga", "Holidays."), postpone)
    players.all_say(f"cup join {GAME}", players.names[1:])
    players.until(3, RUNNING)
    players.give_up(3)
    players.until(3, FINISHED)
    (won,) = (letter for letter in players.news("bob") if "You play in the final" in letter.text)
    assert "begins on 1 August 2027" in won.one_line


def test_the_winner_of_a_december_cup_plays_in_the_final_of_that_year(
    field: Callable[[int], Field],
) -> None:
    players = field(5)
    players.server.move_clock(days=290)
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    players.give_up(1)
    players.until(1, FINISHED)
    assert players.event(1)["closes"] == "2027-01-01"
    assert players.event(2)["name"] == "Final of the Connect Four cups of 2026"


def test_too_few_for_a_group_go_to_the_next_cup(field: Callable[[int], Field]) -> None:
    players = field(6)
    players.all_say(f"cup join {GAME}")
    players.until(1, RUNNING)
    assert players.event(2)["waiting"] == ["finn"]
    assert any("You are in the next cup" in letter.one_line for letter in players.news("finn"))


def test_a_player_left_over_makes_the_next_cup_full(field: Callable[[int], Field]) -> None:
    players = field(10)
    players.all_say(f"cup join {GAME}", players.names[:6])
    players.live(0.1)
    players.server.move_clock(days=40)  # the scheduler is late
    players.all_say(f"cup join {GAME}", players.names[6:])
    letters = players.live(0.1) + players.live(0.1)
    assert "event-begins" in kinds_to(letters, "finn")


def test_a_swiss_with_a_bye(field: Callable[[int], Field], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Swiss, "rules", replace(Swiss.rules, least=7))
    players = field(7)
    players.all_say(f"swiss join {GAME}")
    players.until(1, RUNNING)
    byes = []
    for number in range(1, 6):
        games = [game for game in players.games(1) if game["round"] == number]
        byes += [game["first"] for game in games if game["board"] is None]
        begun = [letter for letter in players.letters if letter.kind == "event-begins"]
        letters = begun[7 * (number - 1) :]
        assert all(
            f"Swiss 1 of Connect Four, round {number}  --" in letter.text for letter in letters
        )
        subjects = {letter.subject.partition("Connect Four")[2] for letter in letters}
        what = f", round {number}: " if number > 1 else " begins: "
        assert subjects == {f"{what}1 game", f"{what}you have a bye"}
        assert len(games) == 4
        players.give_up(1)
        players.live(1)
    assert players.event(1)["status"] == FINISHED
    assert len(set(byes)) == 5  # nobody has it twice
    table = players.table(1)
    assert table[0] == ("ann", 10)
    played = [frozenset((game["first"], game["second"])) for game in players.games(1)]
    assert len(set(played)) == len(played)  # nobody meets twice


def test_a_swiss_whose_last_four_have_all_met(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Swiss, "rules", replace(Swiss.rules, least=4))
    players = Field(server, ("ann", "bob", "cleo", "dan"))
    players.all_say(f"swiss join {GAME}")
    players.until(1, RUNNING)
    for _ in range(3):
        players.give_up(1)
        players.live(1)
    assert players.status(1) == FINISHED, "a fourth round would be byes alone"
    results = players.news()
    assert [letter.recipient for letter in results] == [*map(address_of, players.names)]
    for letter in results:
        words = " ".join(letter.text.split())
        assert "All players who are left have met, so it ends after round 3 of five." in words
    assert {game["round"] for game in players.games(1)} == {1, 2, 3}
    assert players.table(1)[0] == ("ann", 6)


def test_a_letter_is_not_sent_to_a_player_who_ended_them(field: Callable[[int], Field]) -> None:
    players = field(5)
    players.all_say(f"league join {GAME}")
    players.says("ann", "event letters 1 off")
    letters = players.until(1, RUNNING)
    assert kinds_to(letters, "ann") == ["event-begins"]  # it brings the boards
    players.give_up(1)
    letters = players.live(1)
    assert "event-news" not in kinds_to(players.letters, "ann")
    assert "event-news" in kinds_to(players.letters, "bob")


def test_two_first_entries_at_once_create_one_event(postgres_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, postgres_url) as server:
        players = Field(server, ("ann", "bob"))
        database, now = server.server.database, server.server.clock.now()
        with ThreadPoolExecutor(1) as thread, database.writing.begin() as connection:
            context = CommandContext(server.server.services, connection, NOBODY, now)
            event = new_events.create_next(context, SERVER_KINDS["cup"], GAME)
            event_entries.enter(connection, event.id, [2], now)
            letters = thread.submit(players.says, "ann", f"cup join {GAME}")
            wait_for_a_lock(connection, letters)
            connection.commit()
            assert [letter.kind for letter in letters.result(PATIENCE_S)] == ["event-entry"]
        with database.reading.connect() as connection:
            assert event_entries.count(connection, [1, 2]) == {event.id: 2}
