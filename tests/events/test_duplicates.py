"""Duplicate events: all get the same boxes, nobody waits for anybody, and the table compares."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from functools import partial

import pytest
from duplicate_events import create_as_operator
from indoors import PASSWORD, Posted, address_of
from seasons import GAME, Field, kinds_to
from solutions import box_of, solution

from pbmserv.errors import OperatorError
from pbmserv.service.events import shared_boxes as shared
from pbmserv.service.events.tables import Contestant, around, compare
from pbmserv.service.operators import boards as operator_boards
from pbmserv.service.operators import events
from pbmserv.service.operators.deeds import Signature
from pbmserv.store.boards import boards
from pbmserv.store.shared_boxes import event_boxes
from pbmserv.store.tables.events import EventStatus

OLGA = Signature("olga", "They asked for it.")


def _begun(players: Field) -> None:
    """Let operators create a duplicate event, and all players enter it."""
    create_as_operator(players.server, "blackbox")
    players.all_say("event join 1")
    players.until(1, EventStatus.RUNNING)


def _boards(players: Field, name: str) -> list[int]:
    """Return a player's boards in event 1, by box."""
    with players.server.server.database.reading.connect() as connection:
        rows = event_boxes.results(connection, 1)
    return [row.board_id for row in rows if row.userid == name and row.board_id is not None]


def _marks(players: Field) -> dict[str, list[str]]:
    (group,) = players.event(1)["groups"]
    return {row["userid"]: row["boxes"] for row in group["rows"]}


def _solves(players: Field, name: str, number: int) -> list[Posted]:
    """Let a player guess all atoms of a board at once."""
    guess = solution(box_of(players.server.server, number))
    line = f"blackbox move {number} {name} {PASSWORD} {guess}"
    return players.server.send(address_of(name), line)


def test_the_table_compares_and_the_event_ends_on_its_day(field: Callable[[int], Field]) -> None:
    players = field(3)
    _begun(players)
    assert players.event(1)["boxes"] == [1, 2, 3]
    of_player = {name: _boards(players, name) for name in players.names}
    with players.server.server.database.reading.connect() as connection:
        boards_of = {
            name: [boards.load(connection, number) for number in numbers]
            for name, numbers in of_player.items()
        }
    options = {name: [board.options for board in row if board] for name, row in boards_of.items()}
    assert options["ann"] == options["bob"] == options["cleo"]
    assert len(set(options["ann"])) == 3
    for number in of_player["ann"]:
        players.server.send(address_of("ann"), f"blackbox solve {number} ann {PASSWORD}")
    _solves(players, "bob", of_player["bob"][0])
    first = of_player["cleo"][0]
    players.server.send(address_of("cleo"), f"blackbox move {first} cleo {PASSWORD} 1")
    assert _marks(players) == {
        "ann": ["finished"] * 3,
        "bob": ["finished", "plays", "plays"],
        "cleo": ["plays"] * 3,
    }
    assert players.table(1) == [("ann", 0), ("bob", 0), ("cleo", 0)]
    letters = players.until(1, EventStatus.FINISHED, most=16)
    assert players.event(1)["finished"] == players.event(1)["ends"]
    # Nobody solved the last two boxes, so all are equal there. At the first, a ray cost cleo a
    # point.
    assert players.table(1) == [("bob", 8), ("ann", 6), ("cleo", 4)]
    # The only letters about the end are the results, which show the boxes that were given up.
    assert [kind for kind in kinds_to(letters, "cleo") if kind != "reminders"] == ["event-ends"]
    assert [kind for kind in kinds_to(letters, "ann") if kind != "reminders"] == ["event-news"]
    results = letters[-1]
    for number in of_player["cleo"]:
        assert f"You gave up board {number}" in results.text
    assert results.text.count("@|") == 12
    # Reminders name the end of the event, also for the box at which cleo moved later.
    reminders = [letter.one_line for letter in letters if letter.kind == "reminders"]
    assert len(reminders) == 4
    for text in reminders:
        assert {text[:8] for text in text.split("is lost on Wednesday ")[1:]} == {"18 March"}


def test_what_operators_cannot_do(field: Callable[[int], Field]) -> None:
    players = field(2)
    operators = players.server.operators
    now = players.server.server.clock.now()
    day = f"{now + timedelta(days=3):%Y-%m-%d}"
    with pytest.raises(OperatorError, match="has no duplicate events"):
        operators.do(OLGA, partial(events.create_event, kind="duplicate", game=GAME, starts=day))
    _begun(players)
    (board, *_) = _boards(players, "ann")
    with pytest.raises(OperatorError, match="nobody wins board"):
        operators.do(OLGA, partial(events.decide, number=board, result="first"))


def test_a_long_table_has_parts_and_a_letter_shows_the_lines_around_the_reader() -> None:
    count = 3 * shared.LINES // 2
    players = range(1, count + 1)
    contestants = [Contestant(player, 0, 0.0) for player in players]
    places = {player: player for player in players}
    lines = compare(contestants, [places], dict.fromkeys(players, 0))
    assert (lines[0].won, lines[0].points) == (count - 1, 2 * (count - 1))
    assert (lines[-1].lost, lines[-1].points) == (count - 1, 0)
    assert shared.count_parts(count) == 2
    assert list(shared.parts(lines, 1).values()) == [lines[: shared.LINES]]
    assert list(shared.parts(lines, 2).values()) == [lines[shared.LINES :]]
    assert shared.parts(lines, 3) == {}
    shown = [line.place for line in around(lines, 60)]
    assert shown == [1, 2, 3, 4, 5, 57, 58, 59, 60, 61, 62, 63]


def test_a_board_that_operators_take_away_keeps_no_box_shut(
    field: Callable[[int], Field],
) -> None:
    players = field(2)
    _begun(players)
    declined, *others = _boards(players, "bob")
    players.server.operators.do(OLGA, partial(operator_boards.end_board, number=declined))
    handed, *_ = others
    players.server.sign_up("cleo")
    players.server.operators.do(
        OLGA, partial(operator_boards.hand_over, number=handed, old="bob", new="cleo")
    )
    for number in _boards(players, "ann"):
        _solves(players, "ann", number)
    assert _marks(players) == {"ann": ["1", "finished", "finished"], "bob": ["2", "plays", "plays"]}
    players.until(1, EventStatus.FINISHED, most=16)
    assert players.table(1) == [("ann", 6), ("bob", 0)]
