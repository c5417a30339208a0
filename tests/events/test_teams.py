"""Matches of teams, played by mail in virtual time."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from asgi_client import load_all, site_of
from indoors import PASSWORD, Indoors, address_of
from seasons import GAME, PAWNS, ROOKS, Field, gather, gather_two, kinds_to
from sqlalchemy import Connection, update

from pbmserv.service.events import event_commands, team_tables
from pbmserv.service.events.tables import LOSS, WIN
from pbmserv.service.operators import people
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.accounts import persons
from pbmserv.store.events import event_bars, events
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.tables.accounts import addresses
from pbmserv.store.tables.events import EventStatus


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_two_teams_play_on_four_boards_and_one_late_player_loses_one(either: Indoors) -> None:
    players = Field(either, (*ROOKS, *PAWNS))
    gather_two(players)
    letters = players.says("ann", f"team enter {GAME}")
    assert kinds_to(letters, "ann") == ["team"]
    assert kinds_to(letters, "bob") == kinds_to(letters, "eve") == ["team-news"]
    (refused,) = players.says("ann", f"team enter {GAME}")
    assert refused.kind == "refusal"
    players.says("finn", f"team enter {GAME}")
    # Eve plays on the first board, and Bob is the reserve.
    (order,) = players.says("ann", "team order eve ann cleo dan bob")
    assert "reserve" in order.text
    letters = players.until(1, EventStatus.RUNNING)
    begins = {letter.recipient: letter for letter in letters if letter.kind == "event-begins"}
    assert set(begins) == {address_of(name) for name in ("eve", "ann", "cleo", "dan", *PAWNS)}
    assert "finn (Pawns)" in begins[address_of("eve")].text
    (group,) = players.event(1)["groups"]
    (match,) = group["matches"]
    assert match["open"]
    boards = [(game["number"], {game["first"], game["second"]}) for game in match["boards"]]
    pairs = [{"eve", "finn"}, {"ann", "gus"}, {"cleo", "hal"}, {"dan", "ivy"}]
    assert boards == list(enumerate(pairs, 1))
    first = [game["first"] in ROOKS for game in group["games"]]
    assert first in ([True, False, True, False], [False, True, False, True])
    # Dan never moves, and harms only his own board.
    for game in match["boards"]:
        if "dan" not in {game["first"], game["second"]}:
            loser = {"eve": "finn", "ann": "ann", "cleo": "hal"}[
                next(name for name in (game["first"], game["second"]) if name in ROOKS)
            ]
            line = f"{GAME} resign {game['board']} {loser} {PASSWORD}"
            either.send_unread(address_of(loser), line)
        else:
            line = f"{GAME} move {game['board']} ivy {PASSWORD} d"
            either.send_unread(address_of("ivy"), line)
    letters = players.until(1, EventStatus.FINISHED)
    (group,) = players.event(1)["groups"]
    rows = [(row["team"], row["points"], row["board_points"]) for row in group["teams"]]
    assert rows == [("Rooks", 1, 4), ("Pawns", 1, 4)]
    assert group["matches"][0]["boards"][3]["reason"] == "forfeit"
    path = "/teams/pawns"
    page = load_all(site_of(either.server), path)[path].body.decode()
    assert re.search(r"atch of teams 1 of [^<]*</a>: place 2</li>", page), page
    results = players.news()
    ended = [result for result in results if "Matches" in result.text]
    assert {letter.recipient for letter in ended} == set(begins)
    assert group["removed"] == []


def test_a_team_of_three_does_not_enter_and_one_that_shrinks_is_out(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather_two(players, ROOKS[:3])
    (refused,) = players.says("ann", f"team enter {GAME}")
    assert "1 more is missing" in refused.one_line
    (refused,) = players.says("gus", f"team enter {GAME}")
    assert "Only the captain" in refused.text
    players.says("finn", f"team enter {GAME}")
    assert players.event(1)["entered"] == 1
    (refused,) = players.says("gus", "event leave 1")
    assert "only the captain" in refused.text
    letters = players.says("gus", "team leave")
    assert any("no longer in" in letter.one_line for letter in letters)
    assert players.event(1)["entered"] == 0


def test_a_captain_holds_an_event_of_teams_that_begins_when_it_is_full(
    field: Callable[[int], Field],
) -> None:
    players = field(10)
    gather_two(players)
    (refused,) = players.says("bob", f'event create {GAME} team "Office match" -entries=2')
    assert "as soon as you have finished a game" in refused.text
    finish_a_game(players, "ann", "bob")
    (refused,) = players.says("bob", f'event create {GAME} team "Office match" -entries=2')
    assert "the captain of your team is ann" in refused.one_line
    (refused,) = players.says("ann", f'event create {GAME} team "Office match" -entries=1')
    assert "from 2 to 64 teams" in refused.one_line
    letters = players.says("ann", f'event create {GAME} team "Office match" -entries=2 -invited')
    assert kinds_to(letters, "ann") == ["team"]
    assert kinds_to(letters, "bob") == ["team-news"]
    assert "when 2 teams have entered" in letters[0].one_line
    assert players.event(1)["entered"] == 1
    (refused,) = players.says("finn", "event join 1")
    assert "invited" in refused.text
    # Finn leads the Pawns, and does not play: an invitation is no entry.
    players.says("finn", "team invite jack")
    players.says("jack", "team join Pawns")
    players.says("finn", "team order gus hal ivy jack finn")
    letters = players.says("ann", "event invite 1 finn")
    assert "To enter your team" in letters[1].one_line
    assert players.event(1)["entered"] == 1
    letters = players.says("gus", "event join 1")
    assert kinds_to(letters, "gus") == ["refusal"]
    letters = players.says("finn", "event join 1")
    assert "It is event 1 and begins now, since it is full." in letters[0].one_line
    assert '"Office match" (event 1) begins now.' in letters[1].one_line
    letters = players.until(1, EventStatus.RUNNING, most=2)
    begins = [letter.recipient for letter in letters if letter.kind == "event-begins"]
    playing = ("ann", "bob", "cleo", "dan", "gus", "hal", "ivy", "jack")
    assert sorted(begins) == sorted(map(address_of, playing))
    players.give_up(1, losers=("gus", "hal", "ivy", "jack"))
    players.until(1, EventStatus.FINISHED, most=3)
    (group,) = players.event(1)["groups"]
    assert [(row["team"], row["board_points"]) for row in group["teams"]] == [
        ("Rooks", 8),
        ("Pawns", 0),
    ]
    site = site_of(players.server.server)
    path = "/api/teams/pawns"
    assert json.loads(load_all(site, path)[path].body)["events"] == [
        {"event": 1, "name": '"Office match"', "status": "finished", "place": 2}
    ]


def test_a_team_that_lost_a_member_with_the_account_does_not_fill_an_event(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather_two(players)
    finish_a_game(players, "finn", "gus")
    players.says("finn", f'event create {GAME} team "Office match" -entries=2')
    (question,) = players.says("ivy", "delete")
    players.server.reply(question, "yes")
    (entered, *_) = players.says("ann", "event join 1")
    assert "begins now" not in entered.one_line
    assert players.event(1)["status"] == EventStatus.OPEN


def test_players_who_have_entered_do_not_count_as_invited(
    field: Callable[[int], Field], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(event_commands, "MOST_INVITED", 2)
    players = field(9)
    gather(players, "Rooks", ROOKS)
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} team "Office match" -entries=3')
    letters = players.says("ann", "event invite 1 finn gus")
    assert kinds_to(letters, "finn") == kinds_to(letters, "gus") == ["event-invited"]
    (refused,) = players.says("ann", "event invite 1 hal")
    assert "invite at most 2 players who do not enter" in refused.one_line


def test_a_team_leaves_an_event_of_a_player_and_the_event_is_cancelled(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather_two(players)
    finish_a_game(players, "ann", "bob")
    players.says("ann", f'event create {GAME} team "Office match" -entries=3')
    players.says("finn", "event join 1")
    (refused,) = players.says("gus", "event leave 1")
    assert 'only the captain can take the team out, with "event leave 1"' in refused.one_line
    letters = players.says("finn", "event leave 1")
    assert kinds_to(letters, "gus") == ["team-news"]
    assert players.event(1)["entered"] == 1
    letters = players.until(1, EventStatus.CANCELLED, most=20)
    assert kinds_to(letters, "ann") == ["event-news"]


def test_no_player_leaves_a_line_up_between_the_end_of_entries_and_the_draw(
    field: Callable[[int], Field],
) -> None:
    players = field(9)
    gather_two(players, ROOKS[:4])
    players.says("ann", f"team enter {GAME}")
    players.says("finn", f"team enter {GAME}")

    def close(connection: Connection) -> None:
        """Close entries, as when the game is suspended before the draw."""
        now = players.server.server.clock.now()
        events.change(connection, 1, status=EventStatus.CLOSED, closes_at=now)

    players.server.server.writer.submit(close).result()
    (refused,) = players.says("gus", "event leave 1")
    assert "only the captain can take the team out" in refused.one_line
    (refused,) = players.says("finn", "event leave 1")
    assert "takes no more entries or changes" in refused.one_line
    players.until(1, EventStatus.RUNNING)
    (group,) = players.event(1)["groups"]
    assert len(group["games"]) == 4


def test_one_person_plays_for_one_team_and_a_barred_player_for_none(
    field: Callable[[int], Field],
) -> None:
    players = field(10)
    gather_two(players, ROOKS[:4], ("eve", *PAWNS, "jack"))
    players.says("ann", f"team enter {GAME}")
    ids = {name: number for number, name in enumerate(players.names, 1)}

    def change(connection: Connection) -> None:
        """Give Finn a mailbox of Ann's, and bar Gus."""
        mailbox = persons.mailboxes_of(connection, [ids["ann"]])[0]
        connection.execute(
            update(addresses).where(addresses.c.player_id == ids["finn"]).values(mailbox=mailbox)
        )
        until = players.server.server.clock.now() + timedelta(days=30)
        event_bars.bar(connection, ids["gus"], until)

    players.server.server.writer.submit(change).result()
    (refused,) = players.says("eve", f"team enter {GAME}")
    assert "finn" in refused.text
    assert "ann" in refused.text
    players.says("eve", "team order gus eve hal ivy finn")
    (refused,) = players.says("eve", f"team enter {GAME}")
    assert "gus" in refused.text
    assert "2026" in refused.text
    players.says("eve", "team order eve hal ivy jack gus")
    letters = players.says("eve", f"team enter {GAME}")
    assert letters[0].kind == "team"


def finish_a_game(players: Field, first: str, second: str) -> None:
    """Play a game to its end, since a player must have finished one to hold an event."""
    server = players.server
    server.send(address_of(first), f"{GAME} challenge {first} {PASSWORD} {second}")
    server.send(address_of(second), f"{GAME} accept 1 {second} {PASSWORD}")
    for name in (first, second, first):  # one of them begins
        server.send(address_of(name), f"{GAME} move 1 {name} {PASSWORD} d")
    letters = server.send(address_of(second), f"{GAME} resign 1 {second} {PASSWORD}")
    assert {letter.kind for letter in letters} == {"result"}


def pairing(number: int, first: int, second: int, points: tuple[int, int]) -> Pairing:
    return Pairing(1, 1, number, first, second, number, *points, "solved")


def test_a_reply_to_words_of_a_team_that_its_writer_has_left_reaches_nobody(
    field: Callable[[int], Field],
) -> None:
    players = field(4)
    gather(players, "Rooks", ("ann", "bob"))
    gather(players, "Pawns", ("cleo", "dan"))
    (words,) = (
        letter
        for letter in players.says("ann", "team chat", "Let us meet.")
        if letter.recipient == address_of("bob")
    )
    players.says("bob", "team leave")
    players.says("cleo", "team invite bob")
    players.says("bob", "team join Pawns")
    (refused,) = players.server.reply(words, "Gladly.")
    assert refused.kind == "refusal"
    assert "You are not in that team any more" in refused.one_line


def test_words_to_a_team_go_to_no_suspended_member(field: Callable[[int], Field]) -> None:
    players = field(3)
    gather(players, "Rooks", ("ann", "bob", "cleo"))
    suspension = partial(people.suspend, userid="bob", end_games=False)
    players.server.operators.do(Signature("olga", "spam"), suspension)
    players.server.drop_letters()
    letters = players.says("ann", "team chat", "Let us meet.")
    assert kinds_to(letters, "bob") == []
    (answer,) = (letter for letter in letters if letter.recipient == address_of("ann"))
    assert answer.subject == "Your message to cleo"


def test_match_points_come_before_board_points() -> None:
    team_of = {player: player // 10 for player in (10, 11, 12, 13, 20, 21, 22, 23, *range(30, 34))}
    lineups = {team: {board: team * 10 + board for board in range(4)} for team in (1, 2, 3)}
    games = team_tables.pairs([1, 2, 3], lineups)
    assert len(games) == 12
    begins = [team_of[first] for _, first, _ in games[:4]]
    assert begins in ([1, 2, 1, 2], [2, 1, 2, 1])
    played = []
    for number, first, second in games:
        assert second is not None
        pair = {team_of[first], team_of[second]}
        board = first % 10
        winner = 1 if pair == {1, 2} and board < 3 else min(pair - {1} or pair)
        if pair == {1, 3}:
            winner = 1 if board < 3 else 3
        if pair == {2, 3}:
            winner = 2
        points = (WIN, LOSS) if team_of[first] == winner else (LOSS, WIN)
        played.append(pairing(number, first, second, points))
    lines = team_tables.table([1, 2, 3], team_tables.matches([1, 2, 3], played, team_of))
    # The second team has more points at the boards, and the first has won both matches.
    assert [(line.team, line.points, line.board_points) for line in lines] == [
        (1, 4, 12),
        (2, 2, 10),
        (3, 0, 2),
    ]
