"""Duplicate events with dice or deals: the same for all, against the same house."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from duplicate_events import begin_duplicate, board_and_position, play_as_bot
from indoors import PASSWORD, Posted, address_of, indoors
from mailboxes_of_games import sentences, verdict_of
from seasons import Field

from pbmserv.engine.position import Position
from pbmserv.engine.proof import pledge_of
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import Registry
from pbmserv.game import After, Game, Rng, win
from pbmserv.service.events import shared_boxes as shared
from pbmserv.service.operators import events
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.pages import public_boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.shared_boxes import event_boxes
from pbmserv.store.shared_boxes.shared_boxes import GIVEN_UP, PLAYED, SharedBoard
from pbmserv.store.tables.events import EventStatus

OLGA = Signature("olga", "They asked for it.")


def _begun(players: Field, game: str, options: str) -> list[Posted]:
    """Let the first player create a duplicate event, and all enter it; return its first letters."""
    rest = f'"Same dice" -entries={len(players.names)} {options}'
    return begin_duplicate(players.server, game, players.names, rest)


def _results(players: Field) -> list[SharedBoard]:
    with players.server.server.database.reading.connect() as connection:
        return event_boxes.results(connection, 1)


def _board(players: Field, name: str, number: int = 1) -> int:
    """Return a player's board at a game of event 1."""
    rows = {(row.userid, row.number): row.board_id for row in _results(players)}
    board = rows[name, number]
    assert board is not None
    return board


def _position(players: Field, number: int) -> Position:
    return board_and_position(players.server, number)[1]


def test_the_same_moves_lead_to_the_same_game(field: Callable[[int], Field]) -> None:
    players = field(3)
    _begun(players, "liar", "-games=2 -dice=2")
    first, second = _board(players, "ann"), _board(players, "bob")
    for name, number in (("ann", first), ("bob", second)):
        play_as_bot(players.server, name, number)
    own, other = _position(players, first), _position(players, second)
    texts = [[position.ply for position in end.backwards()] for end in (own, other)]
    assert texts[0] == texts[1]
    assert own.state == other.state
    rows = [board_and_position(players.server, number)[0] for number in (first, second)]
    assert len({_pledge(row) for row in rows}) == 1
    other_game, _ = board_and_position(players.server, _board(players, "ann", 2))
    assert _pledge(rows[0]) != _pledge(other_game)
    assert not any(row.rated for row in rows)
    players.says("cleo", "event leave 1")
    marks = {row["userid"]: row["boxes"] for row in players.event(1)["groups"][0]["rows"]}
    assert marks["ann"] == marks["bob"]
    assert marks["ann"][0].startswith("1 (")
    assert marks["cleo"][0] == "3"


def _pledge(board: BoardRow) -> bytes:
    return pledge_of(
        GameRecord(board.game, board.rules_version, board.seats, board.options, board.seed)
    )


def test_a_player_leaves_while_the_house_is_to_move(field: Callable[[int], Field]) -> None:
    players = field(2)
    _begun(players, "liar", "-games=1 -dice=2")
    number = _board(players, "bob")
    line = f"liar move {number} bob {PASSWORD} 1 two"
    players.server.send_unread(address_of("bob"), line)  # the house does not answer yet
    position = _position(players, number)
    assert position.game.to_act(position.state) == {1}
    players.server.operators.do(OLGA, partial(events.remove, number=1, userid="bob"))
    assert [row.rank for row in _results(players)] == [None, GIVEN_UP]
    players.live(0.1)  # the house has nothing to answer any more
    play_as_bot(players.server, "ann", _board(players, "ann"))
    players.live(1)
    assert players.event(1)["status"] == EventStatus.FINISHED
    assert players.table(1) == [("ann", 2), ("bob", 0)]


def test_a_player_who_deletes_the_account_harms_nobody(field: Callable[[int], Field]) -> None:
    players = field(2)
    _begun(players, "liar", "-games=2 -dice=1")
    line = f"liar move {_board(players, 'bob')} bob {PASSWORD} 2 sixes"
    players.server.send(address_of("bob"), line)
    (question,) = players.says("bob", "delete")
    players.server.reply(question, "yes")
    assert [row.rank for row in _results(players) if row.player_id == 2] == [PLAYED, GIVEN_UP]
    for number in (1, 2):
        play_as_bot(players.server, "ann", _board(players, "ann", number))
    players.live(1)
    assert players.event(1)["status"] == EventStatus.FINISHED
    assert sum(points for _, points in players.table(1)) == 4


class Late(Game[tuple[int, ...]]):
    """Roll a six.

    Roll the die in turn; the first six wins.
    """

    key, title, chance, draws = "late", "Late six", True, False

    def start(self, seats: int, options: Any, rng: Rng) -> tuple[int, ...]:
        return ()

    def moves(self, state: tuple[int, ...], seat: int) -> list[str]:
        return ["roll", "throw"]

    def play(
        self, state: tuple[int, ...], seat: int, move: str, rng: Rng
    ) -> After[tuple[int, ...]]:
        return After((*state, rng.below(6) + 1))

    def over(self, state: tuple[int, ...]) -> Any:
        return win((len(state) - 1) % 2, "a six") if 6 in state else None

    def show(self, state: tuple[int, ...], seat: int | None) -> str:
        return f"The rolls were: {' '.join(map(str, state))}."


def test_a_game_gets_such_events_for_a_word(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dice decide all of this game, so all players have the same result at it."""
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls([Late()])))
    with indoors(tmp_path) as server:
        players = Field(server, ("ann", "bob"))
        _begun(players, "late", "-boxes=3")
        for name, word in (("ann", "roll"), ("bob", "throw")):
            for number in (1, 2, 3):
                board = _board(players, name, number)
                while _position(players, board).outcome is None:
                    server.send(address_of(name), f"late move {board} {name} {PASSWORD} {word}")
        ends = [
            [_position(players, _board(players, name, number)) for number in (1, 2, 3)]
            for name in players.names
        ]
        assert [end.state.state for end in ends[0]] == [end.state.state for end in ends[1]]
        players.live(1)
        assert players.table(1) == [("ann", 3), ("bob", 3)]


def test_places_at_a_game() -> None:
    def result(player: int, rank: int | None, score: int | None) -> SharedBoard:
        return SharedBoard(player, f"p{player}", 1, None, 1, 1, player, rank, score)

    results = [
        result(1, PLAYED, 3),  # lost by a backgammon
        result(2, GIVEN_UP, 0),
        result(3, PLAYED, -2),  # won by a gammon
        result(4, PLAYED, 0),
        result(5, PLAYED, -2),
    ]
    assert shared.places(results) == {1: {3: 1, 5: 1, 4: 3, 1: 4, 2: 5}}
    assert shared.places([*results, result(6, None, None)]) == {}
    assert shared.places(results[:1]) == {1: {1: 1}}
    assert shared.marks(results) == {
        1: ["4 (-3)"],
        2: ["5"],
        3: ["1 (+2)"],
        4: ["3 (+0)"],
        5: ["1 (+2)"],
    }


def test_the_dice_can_be_checked_when_all_have_finished(field: Callable[[int], Field]) -> None:
    players = field(2)
    letters = _begun(players, "liar", "-games=1 -dice=2")
    number = _board(players, "ann")
    letters += play_as_bot(players.server, "ann", number)
    record = f"liar record {number} ann {PASSWORD}"
    refused = players.server.send(address_of("ann"), record)
    assert "Not done" in refused[0].text
    players.says("bob", "event leave 1")
    letters += players.live(1)
    letters += players.server.send(address_of("ann"), record)
    verdict = verdict_of(
        [letter.raw for letter in letters if letter.recipient == address_of("ann")]
    )
    findings = " ".join(sentences(verdict))
    assert "the result fit all" in findings
    assert "it belongs to a duplicate event" in findings
    assert "on a page" not in findings
    assert all(not _ply(position).mark for position in _position(players, number).backwards())


def test_a_list_does_not_tell_how_far_a_player_is(field: Callable[[int], Field]) -> None:
    players = field(2)
    _begun(players, "backgammon", "-games=1")
    play_as_bot(players.server, "ann", _board(players, "ann"), most=1)
    (listed,) = players.server.send(address_of("bob"), "games ann")
    assert "to move" in listed.one_line
    assert "(#" not in listed.one_line


def test_a_move_in_a_hidden_game_leaves_its_page_as_it_is(field: Callable[[int], Field]) -> None:
    players = field(2)
    _begun(players, "backgammon", "-games=1")
    number = _board(players, "ann")
    server = players.server

    def stamp() -> object:
        public = server.server.web_requests.public
        return server.loop.run_until_complete(public.read(public_boards.stamp, number))

    before = stamp()
    play_as_bot(players.server, "ann", number, most=1)
    assert stamp() == before
    players.all_say("event leave 1")
    assert stamp() != before


def _ply(position: Position) -> Ply:
    assert position.ply is not None
    return position.ply
