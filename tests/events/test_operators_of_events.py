"""Operators create seasons, postpone them, take players out and decide games; all is audited."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from indoors import PASSWORD, address_of
from seasons import GAME, Field

from pbmserv.errors import OperatorError
from pbmserv.service.operators import boards, deeds, events, games, lost_mailboxes, people
from pbmserv.service.operators.deeds import Action, Signature
from pbmserv.store.events import event_entries
from pbmserv.store.tables.events import EventStatus

OLGA = Signature("olga", "Both asked for it.")


def resign(players: Field, name: str, board: int) -> None:
    line = f"{GAME} resign {board} {name} {PASSWORD}"
    players.server.send_unread(address_of(name), line)


def test_a_season_is_created_postponed_and_cancelled(field: Callable[[int], Field]) -> None:
    players = field(4)
    operators = players.server.operators
    now = players.server.server.clock.now()
    day, later = (f"{now + timedelta(days=days):%Y-%m-%d}" for days in (30, 40))
    operators.do(OLGA, partial(events.create_event, kind="league", game=GAME, starts=day))
    assert players.event(1)["starts"] == day
    players.all_say(f"league join {GAME}")
    operators.do(OLGA, partial(events.postpone, number=1, starts=later))
    letters = players.server.letters()
    assert len(letters) == 4
    assert "Both asked for it." in letters[0].text
    with pytest.raises(OperatorError, match="takes entries already"):
        operators.do(OLGA, partial(events.create_event, kind="league", game=GAME, starts=later))
    with pytest.raises(OperatorError, match="is not a day"):
        operators.do(OLGA, partial(events.postpone, number=1, starts="soon"))
    with pytest.raises(OperatorError, match="in the past"):
        operators.do(OLGA, partial(events.postpone, number=1, starts="2020-01-01"))
    with pytest.raises(OperatorError, match="there is no event 9"):
        operators.do(OLGA, partial(events.cancel, number=9))
    deed = operators.do(OLGA, partial(events.cancel, number=1))
    assert {letter.part.words["why"] for letter in deed.letters} == {OLGA.why}
    assert players.event(1)["status"] == EventStatus.CANCELLED
    for refused in (partial(events.postpone, starts=later), events.cancel):
        with pytest.raises(OperatorError, match="event 1 is over"):
            operators.do(OLGA, partial(refused, number=1))
    audited = players.server.look(partial(deeds.entries, target="event 1", most=9))
    assert [entry.action for entry in audited] == ["cancel", "postpone", "create"]


def test_a_player_is_taken_out_and_a_game_decided(season: Field) -> None:
    players = season
    operators = players.server.operators
    unsure = Signature("olga", "Less than <b>half</b> played")
    operators.do(unsure, partial(events.remove, number=1, userid="dan"))
    letters = players.server.letters()
    (letter,) = [letter for letter in letters if "taken you out" in letter.one_line]
    assert "Less than &lt;b&gt;half&lt;/b&gt; played" in letter.html
    with pytest.raises(OperatorError, match="dan is out of event 1 already"):
        operators.do(unsure, partial(events.remove, number=1, userid="dan"))
    (game,) = [
        game for game in players.games(1) if {game["first"], game["second"]} == {"ann", "bob"}
    ]
    with pytest.raises(OperatorError, match="there is no result"):
        operators.do(OLGA, partial(events.decide, number=game["board"], result="third"))
    operators.do(OLGA, partial(events.decide, number=game["board"], result="draw"))
    players.give_up(1)
    players.live(1)
    assert dict(players.table(1)) == {"ann": 5, "bob": 5, "cleo": 2, "eve": 0}
    with pytest.raises(OperatorError, match="its table is final"):
        operators.do(OLGA, partial(events.decide, number=game["board"], result="first"))
    with pytest.raises(OperatorError, match="belongs to no event"):
        operators.do(OLGA, partial(events.decide, number=999, result="first"))


def test_a_game_is_not_decided_while_results_are_sent(season: Field) -> None:
    players = season
    writer = players.server.server.writer
    writer.submit(lambda c: event_entries.change(c, 1, 1, place=1)).result()
    game = next(players.games(1))
    with pytest.raises(OperatorError, match="its table is final"):
        players.server.operators.do(
            OLGA, partial(events.decide, number=game["board"], result="draw")
        )


def test_a_season_waits_while_its_game_is_closed(field: Callable[[int], Field]) -> None:
    players = field(4)
    players.all_say(f"league join {GAME}")
    players.until(1, EventStatus.CLOSED)
    operators = players.server.operators
    operators.do(OLGA, partial(games.close_game, game=GAME))
    players.live(12)
    assert players.event(1)["status"] == EventStatus.CLOSED
    operators.do(OLGA, partial(games.open_game, game=GAME))
    players.live(2)
    event = players.event(1)
    assert event["status"] == EventStatus.RUNNING
    assert event["starts"] == f"{players.server.server.clock.now() - timedelta(days=1):%Y-%m-%d}"


def test_games_that_are_given_up_early_are_watched(season: Field) -> None:
    players = season
    players.give_up(1)
    players.live(1)
    watched = players.server.look(events.watched)
    assert ("bob", "ann", "1", "1") in [line[:4] for line in watched]
    lines = players.server.look(partial(events.event_lines, most=9))
    assert [line[2] for line in lines] == ["open", "finished"]


@pytest.mark.parametrize(
    "deed",
    [
        partial(people.suspend, userid="dan", end_games=True),
        partial(lost_mailboxes.erase, userid="dan"),
    ],
)
def test_no_game_of_a_player_who_is_gone_counts_before_half_of_them(
    season: Field, deed: Action
) -> None:
    players = season
    game = next(game for game in players.games(1) if "dan" in {game["first"], game["second"]})
    loser = max({game["first"], game["second"]} - {"dan"})
    resign(players, loser, game["board"])
    assert "0 boards ended" in players.server.operators.do(OLGA, deed).summary
    players.live(1)
    assert len(players.event(1)["groups"][0]["removed"]) == 1
    assert "dan" not in dict(players.table(1))
    assert not any(points for _, points in players.table(1))


def test_nobody_is_barred_for_a_substitute_who_is_late(season: Field) -> None:
    players = season
    players.server.sign_up("sam")
    game = next(game for game in players.games(1) if game["first"] == "ann")
    hand_over = partial(boards.hand_over, number=game["board"], old="ann", new="sam")
    players.server.operators.do(OLGA, hand_over)
    for other in list(players.games(1)):
        if other["board"] != game["board"]:
            resign(players, max(other["first"], other["second"]), other["board"])
    players.until(1, EventStatus.FINISHED)
    assert not [letter for letter in players.news("ann") if "out of time" in letter.one_line]
    (late,) = [each for each in players.games(1) if each["board"] == game["board"]]
    assert (late["first_points"], late["reason"]) == (0, "forfeit")
