"""Cheats, robots, people who disappear and careless operators harm nobody's event."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import partial

import pytest
from asgi_client import load_all, site_of
from indoors import PASSWORD, address_of
from seasons import GAME, PAWNS, ROOKS, Field, gather, gather_two, kinds_to
from test_teams import finish_a_game

from pbmserv.errors import OperatorError
from pbmserv.service.events import entering, event_commands, team_entries
from pbmserv.service.operators import events as deeds
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.events import event_bars, event_entries, events
from pbmserv.store.tables.events import EventStatus
from pbmserv.views.filters import day

OLGA = Signature("olga", "They asked for it.")


def day_in(players: Field, days: float) -> str:
    return f"{players.server.server.clock.now() + timedelta(days=days):%Y-%m-%d}"


# -- people who disappear ------------------------------------------------------------------------


def test_a_player_who_is_late_is_barred_and_longer_the_second_time(
    field: Callable[[int], Field],
) -> None:
    players = field(5)
    players.all_say(f"league join {GAME}")
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    _play_all_but_ann(players, 2)
    players.live(10)
    texts = [letter.one_line for letter in players.news("ann")]
    (barred,) = [text for text in texts if "enter no event until" in text]
    assert players.event(2)["groups"][0]["removed"] == ["ann"]
    assert players.table(2) == [("bob", 6), ("cleo", 4), ("dan", 2), ("eve", 0)]
    assert "you are no longer entered in every season" not in barred
    (refused,) = players.says("ann", "swiss join chess")
    assert f"can enter none until {day(day_in(players, 30))}" in refused.one_line
    players.until(1, EventStatus.RUNNING)
    _play_all_but_ann(players, 1)
    players.live(10.1)
    texts = [letter.one_line for letter in players.news("ann")]
    *_, barred = [text for text in texts if "enter no event until" in text]
    assert "so you are no longer entered in every season" in barred
    (refused,) = players.says("ann", "swiss join chess")
    assert f"can enter none until {day(day_in(players, 90))}" in refused.one_line
    assert "ann" not in players.event(3)["waiting"]


def _play_all_but_ann(players: Field, event: int) -> None:
    """End the games of an event without Ann, and move in the others where she is the second."""
    for game in list(players.games(event)):
        other = max(game["first"], game["second"])
        move = "move" if "ann" in {game["first"], game["second"]} else "resign"
        line = f"{GAME} {move} {game['board']} {other} {PASSWORD} {'d' if move == 'move' else ''}"
        players.server.send_unread(address_of(other), line)


def _win_all(players: Field, event: int, winner: str) -> None:
    """Let the opponents of a player in an event give up."""
    for game in list(players.games(event)):
        pair = {game["first"], game["second"]}
        if winner in pair and not game["reason"]:
            (loser,) = pair - {winner}
            line = f"{GAME} resign {game['board']} {loser} {PASSWORD}"
            players.server.send_unread(address_of(loser), line)


def test_a_group_winner_who_leaves_is_followed_by_the_second(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    players.give_up(1)
    players.until(1, EventStatus.RUNNING)
    _win_all(players, 1, "finn")
    players.live(0.1)
    assert players.table(1, 2)[0] == ("finn", 6)
    players.says("finn", "event leave 1")
    players.give_up(1)
    players.live(1)
    assert players.event(1)["round"] == 2
    assert {name for name, _ in players.table(1, 3)} == {"ann", "gus"}


def test_only_who_leaves_before_half_of_the_games_is_struck_from_the_table(
    field: Callable[[int], Field],
) -> None:
    """Games with a player who was struck before are not counted."""
    players = field(6)
    players.all_say(f"league join {GAME}")
    players.pass_until(1, EventStatus.RUNNING)

    def leave_after_losses(name: str, opponents: set[str]) -> list[str]:
        for game in list(players.games(1)):
            pair = {game["first"], game["second"]}
            if name in pair and opponents & pair:
                line = f"{GAME} resign {game['board']} {name} {PASSWORD}"
                players.server.send_unread(address_of(name), line)
        players.live(0.1)
        players.says(name, "event leave 1")
        players.live(0.1)
        return sorted(players.event(1)["groups"][0]["removed"])

    assert leave_after_losses("ann", {"bob", "cleo"}) == ["ann"]  # 2 of 5 are over
    assert leave_after_losses("bob", {"dan", "eve"}) == ["ann"]  # 2 of 4
    assert leave_after_losses("cleo", set()) == ["ann", "cleo"]  # 1 of 4, which Bob has lost
    assert players.table(1)[-1] == ("bob", 0)


def test_nobody_wins_a_cup_in_which_nobody_has_moved(field: Callable[[int], Field]) -> None:
    """All are late on the same day: in Blackbox both players of a board hide first."""
    players = field(3)
    players.all_say("cup join blackbox")
    players.until(1, EventStatus.RUNNING)
    players.until(1, EventStatus.FINISHED)
    assert sorted(players.event(1)["groups"][0]["removed"]) == ["ann", "bob", "cleo"]
    texts = [letter.one_line for letter in players.news()]
    assert not [text for text in texts if "You have won" in text]
    assert (
        len([text for text in texts if "You were out of time in a game before half" in text]) == 3
    )
    results = [letter for letter in players.letters if letter.kind == "result"]
    assert len(results) == 6
    for result in results:
        assert "so nobody wins this game in the event" in result.one_line
        assert "both players took too long" in result.one_line
        assert result.subject.startswith("Won by nobody: Blackbox ")
        assert not re.search(
            r"\bwon (?:board|Blackbox) ", result.one_line.replace("Nobody won", "")
        )
    (page,) = load_all(site_of(players.server.server), "/game/1").values()
    assert "Nobody won board 1: both players took too long" in page.body.decode()


def test_a_player_who_is_away_is_not_late_with_the_other_one(
    field: Callable[[int], Field],
) -> None:
    players = field(3)
    players.all_say("cup join blackbox")
    players.until(1, EventStatus.RUNNING)
    players.says("ann", "away until in 12 days")
    players.until(1, EventStatus.FINISHED)
    assert sorted(players.event(1)["groups"][0]["removed"]) == ["bob", "cleo"]
    (result,) = [letter.one_line for letter in players.news("ann")]
    assert "You have won Monthly cup 1 of Blackbox" in result


def test_an_opponent_reads_that_a_late_player_is_out(field: Callable[[int], Field]) -> None:
    players = field(3)
    players.all_say(f"cup join {GAME}")
    players.until(1, EventStatus.RUNNING)
    players.says("ann", "away until in 12 days")  # bob waits for ann, and cleo for bob
    players.until(1, EventStatus.FINISHED)
    told = [letter for letter in players.news("ann") if letter.subject.endswith(": bob is out")]
    (text,) = [letter.one_line for letter in told]
    assert "bob was out of time in a game and is out. Board 1 has ended" in text


def open_cup(players: Field, name: str) -> None:
    """Let ann hold a cup of three, and bob enter it."""
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} cup "{name}" -entries=3')
    players.says("bob", "event join 1")


def test_an_event_loses_its_name_with_the_account_of_its_holder(
    field: Callable[[int], Field],
) -> None:
    players = field(4)
    open_cup(players, "Ann Smith's cup")
    (question,) = players.says("ann", "delete")
    players.server.reply(question, "yes")
    (shown,) = players.server.send(address_of("bob"), "events 1")
    assert shown.subject == "Players' event 1 of Connect Four"
    assert "Smith" not in shown.text


def test_a_deleted_account_takes_no_place_in_a_cup(field: Callable[[int], Field]) -> None:
    players = field(4)
    open_cup(players, "Office cup")
    (question,) = players.says("bob", "delete")
    players.server.reply(question, "yes")
    (entered,) = players.says("cleo", "event join 1")
    assert "Players in so far: 2" in entered.one_line
    (refused,) = players.says("cleo", "event join 1")
    assert "already" in refused.text
    players.says("dan", "event join 1")
    players.until(1, EventStatus.RUNNING, most=2)
    assert sorted(name for name, _ in players.table(1)) == ["ann", "cleo", "dan"]


def test_nobody_wins_a_cup_that_all_have_left(field: Callable[[int], Field]) -> None:
    players = field(3)
    open_cup(players, "Office cup")
    players.says("cleo", "event join 1")
    players.until(1, EventStatus.RUNNING, most=2)
    players.all_say("event leave 1")
    players.until(1, EventStatus.FINISHED, most=2)
    assert players.table(1) == []
    assert not [letter for letter in players.news() if "You have won" in letter.one_line]


def test_a_player_who_has_left_a_running_event_has_not_entered_it(
    field: Callable[[int], Field],
) -> None:
    players = field(4)
    open_cup(players, "Office cup")
    players.says("cleo", "event join 1")
    players.until(1, EventStatus.RUNNING, most=2)
    players.says("bob", "event leave 1")
    (refused,) = players.says("bob", "event join 1")
    assert "Event 1 takes no more entries" in refused.one_line


def test_a_cup_winner_who_leaves_is_followed_by_the_second_in_the_final(
    field: Callable[[int], Field],
) -> None:
    players = field(5)
    players.all_say(f"cup join {GAME}")
    players.live(0.1)
    _win_all(players, 1, "ann")
    players.live(0.1)
    players.says("ann", "event leave 1")
    players.give_up(1)
    players.until(1, EventStatus.FINISHED)
    assert players.table(1)[:2] == [("ann", 8), ("bob", 6)]
    assert players.event(2)["waiting"] == ["bob"]
    news = players.news()
    finalists = [letter.recipient for letter in news if "You play in the final" in letter.text]
    assert finalists == [address_of("bob")]
    won = [letter.recipient for letter in news if "You have won" in letter.text]
    assert won == [address_of("ann")]


def test_each_event_has_its_own_way_out_of_its_letters(field: Callable[[int], Field]) -> None:
    players = field(5)
    players.all_say(f"cup join {GAME}")
    players.all_say("cup join chess")
    letters = players.live(0.1)
    (begins, _) = (letter for letter in letters if letter.recipient == address_of("ann"))
    way_out = re.search(r"<mailto:([^?>]+)", str(begins.message["List-Unsubscribe"]))
    assert way_out
    (answer,) = players.server.send(address_of("ann"), "unsubscribe", "", way_out[1])
    assert answer.kind == "unsubscribed"
    with players.server.server.database.reading.connect() as connection:
        entries = [event_entries.of_player(connection, number, 1) for number in (1, 2)]
    assert sorted(entry.muted for entry in entries if entry) == [False, True]


def test_a_board_that_ends_with_an_opponent_is_told_also_without_letters(season: Field) -> None:
    season.says("ann", "event letters 1 off")
    season.says("dan", "event leave 1")
    (letter,) = season.news("ann")
    assert "dan has left. Board" in letter.one_line


# -- cheats and robots ---------------------------------------------------------------------------


def test_invitations_are_few_in_a_week(
    field: Callable[[int], Field], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_commands, "MOST_INVITED", 2)
    players = field(5)
    finish_a_game(players, "ann", "bob")
    for number, names in ((1, "bob cleo"), (2, "dan eve")):
        players.says("ann", f'event create {GAME} cup "Office cup" -entries=3')
        letters = players.says("ann", f"event invite {number} {names}")
        players.says("ann", f"event cancel {number}")
    assert [letter.kind for letter in letters] == ["refusal"]
    players.live(8)
    players.says("ann", f'event create {GAME} cup "Office cup" -entries=3')
    assert kinds_to(players.says("ann", "event invite 3 dan eve"), "dan") == ["event-invited"]


def test_nobody_is_in_very_many_events(
    field: Callable[[int], Field], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (entering, team_entries):
        monkeypatch.setattr(module, "MOST_ENTERED", 2)
    players = field(9)
    gather_two(players)
    for game in (GAME, "chess"):
        players.says("bob", f"cup join {game}")
    (refused,) = players.says("bob", "cup join hex")
    assert "You are in 2 events that are not over" in refused.one_line
    (refused,) = players.says("ann", f"team enter {GAME}")
    assert "bob is in 2 events that are not over" in refused.one_line
    players.says("bob", "cup leave chess")
    assert kinds_to(players.says("ann", f"team enter {GAME}"), "ann") == ["team"]


def test_a_player_holds_two_events_at_a_time(field: Callable[[int], Field]) -> None:
    players = field(2)
    finish_a_game(players, "ann", "bob")
    for _ in range(2):
        players.says("ann", f'event create {GAME} cup "Office cup" -entries=3')
    (refused,) = players.says("ann", f'event create {GAME} cup "Office cup" -entries=3')
    assert "that is as many as one player can have at a time" in refused.one_line


def _bar(players: Field, player_id: int) -> None:
    """Bar a player from events for thirty days."""
    until = players.server.server.clock.now() + timedelta(days=30)
    players.server.server.writer.submit(
        lambda connection: event_bars.bar(connection, player_id, until)
    ).result()


def test_a_barred_player_holds_no_event(field: Callable[[int], Field]) -> None:
    players = field(2)
    finish_a_game(players, "ann", "bob")
    _bar(players, 1)
    (refused,) = players.says("ann", f'event create {GAME} cup "Office cup" -entries=3')
    assert f"can enter none until {day(day_in(players, 30))}" in refused.one_line
    (listed,) = players.server.send(address_of("ann"), "events")
    assert "Office cup" not in listed.text


def test_a_bar_that_ends_in_time_costs_no_season(season: Field) -> None:
    season.give_up(1)
    closes = date.fromisoformat(season.event(2)["closes"])
    left = closes - season.server.server.clock.now().date()
    season.server.move_clock(days=left.days - 5)
    _bar(season, 1)
    season.pass_until(2, EventStatus.CLOSED)
    assert sorted(season.event(3)["waiting"]) == sorted(season.names)


def test_a_barred_reserve_gets_no_board(field: Callable[[int], Field]) -> None:
    players = field(9)
    gather(players, "Rooks", ROOKS)
    players.says("ann", f"team enter {GAME}")
    _bar(players, 5)
    players.says("ann", "team order eve ann bob cleo dan")
    with players.server.server.database.reading.connect() as connection:
        entered = [entry.userid for entry in event_entries.of_event(connection, 1)]
    assert entered == ["ann", "bob", "cleo", "dan"]
    letters = players.says("dan", "team leave")
    assert any("no longer in" in letter.one_line for letter in letters)


# -- careless operators --------------------------------------------------------------------------


def test_a_season_that_is_postponed_has_one_season_after_it(
    field: Callable[[int], Field],
) -> None:
    players = field(4)
    players.all_say(f"league join {GAME}")
    players.until(1, EventStatus.CLOSED)
    assert players.event(2)["status"] == EventStatus.OPEN
    postpone = partial(deeds.postpone, number=1, starts=day_in(players, 60))
    players.server.operators.do(OLGA, postpone)
    first, second = players.event(1)["starts"], players.event(2)["starts"]
    players.until(1, EventStatus.RUNNING)
    assert players.event(1)["starts"] == first
    assert players.event(1)["ends"] <= second
    assert players.event(2)["starts"] == second
    with players.server.server.database.reading.connect() as connection:
        assert events.load(connection, 3) is None


def test_a_game_of_a_player_who_is_out_gets_no_result(season: Field) -> None:
    players = season
    games = [game for game in players.games(1) if "ann" in {game["first"], game["second"]}]
    players.says("ann", "event leave 1")
    decide = partial(deeds.decide, number=games[0]["board"], result="lost")
    with pytest.raises(OperatorError, match="one of its players is out"):
        players.server.operators.do(OLGA, decide)


def test_operators_take_nobody_out_of_a_line_up_that_can_change(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather_two(players, ROOKS[:4], PAWNS)
    players.says("ann", f"team enter {GAME}")
    with pytest.raises(OperatorError, match="which can change until event 1 begins"):
        players.server.operators.do(OLGA, partial(deeds.remove, number=1, userid="bob"))
    assert players.event(1)["entered"] == 1
