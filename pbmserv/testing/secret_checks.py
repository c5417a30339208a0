"""Checks that no hidden fact reaches a reader, by changing the facts and comparing octets."""

from __future__ import annotations

from collections.abc import Mapping, Sized
from dataclasses import fields, is_dataclass, replace
from typing import Any

from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, notes_for
from pbmserv.engine.table import Table
from pbmserv.engine.types import Seat
from pbmserv.game import Game
from pbmserv.testing.display_checks import NAMES, rendered_board
from pbmserv.testing.findings import Report, playing_method


class SecretChecks:
    """Checks that nothing hidden reaches a reader, by changing it.

    Args:
        rules, game: the game, and as the server has it.
        report: takes the findings.

    Attributes:
        hides: whether a state was met of which somebody may not see everything.
    """

    def __init__(self, rules: Game[Any], game: AdaptedGame, report: Report) -> None:
        self._rules, self._game, self._report = rules, game, report
        self.hides = False
        # States of earlier games in which the same seats have moved. Their hidden facts replace
        # those of a later game.
        self._others: dict[tuple[object, ...], Any] = {}

    def remember(self, movers: tuple[object, ...], state: Any) -> None:
        """Keep a state, whose hidden facts `check_hidden` puts into later games.

        Args:
            movers: the options, the number of seats, and the seats that have moved, in order.
        """
        self._others[movers] = state

    def check_hidden(self, position: Position, seats: int, movers: tuple[object, ...]) -> None:
        """Change the facts that are hidden from a reader, and compare the reader's boards.

        Args:
            movers: see `remember`; without an earlier game like this one, nothing is checked.
        """
        other = self._others.get(movers)
        table = position.state
        self.hides = self.hides or any(
            self._rules.seen(table.state, side) != table.state for side in (*range(seats), None)
        )
        if other is None or not self._rules.hidden or table.outcome is not None:
            return
        for you in (*map(Seat, range(seats)), None):
            side = None if you is None else table.sides[you]
            seen = self._rules.seen(table.state, side)
            changed = _with_other_secrets(table.state, seen, other)
            if changed == table.state:
                continue
            if self._rules.seen(changed, side) != seen:
                reader = "a spectator" if you is None else f"seat {you}"
                self._report.add("seen", f"what it shows to {reader} depends on what it hides")
                continue
            self._compare(position, _in_place(position, replace(table, state=changed)), you, seats)

    def check_secret_move(self, before: Position, seat: Seat, after: Position, seats: int) -> None:
        """Make another move in place of a secret one, and compare the boards of the others."""
        assert after.ply is not None
        text = after.ply.text
        if after.outcome is not None or after.step.public.get(None, text) in {text, ""}:
            return
        if self._rules.together and after.state.state != before.state.state:
            return  # the last choice of a turn shows them all
        listed = list(self._game.view(before.state, seat).moves)
        twin = next((move for move in listed if move != text), None)
        if twin is None:  # such as "random": other chance is another move
            before, twin = replace(before, chance=before.chance + b"twin"), text
        instead = before.move(seat, self._game.parse(self._game.view(before.state, seat), twin))
        for you in (*map(Seat, range(seats)), None):
            if you != seat and instead.outcome is None:
                self._compare(after, instead, you, seats)

    def _compare(self, first: Position, second: Position, you: Seat | None, seats: int) -> None:
        """Compare the boards and sentences that a reader gets of two positions."""
        reader = "a spectator" if you is None else f"seat {you}"
        views = [self._game.view(position.state, you) for position in (first, second)]
        if views[0].table.state != views[1].table.state:
            self._report.add("seen", f"{reader} can tell which secret move was made")
            return
        drawings = [rendered_board(self._rules.key, view, NAMES[:seats], you) for view in views]
        for name, text in drawings[0].items():
            if text != drawings[1][name]:
                self._report.add("show", f"{reader} reads something hidden ({name})")
        sentences = [
            [(note.kind, dict(note.values)) for note in notes_for(self._game, position.step, you)]
            for position in (first, second)
        ]
        if sentences[0] != sentences[1]:
            self._report.add(playing_method(self._rules), f"told says something hidden to {reader}")


def _in_place(position: Position, table: Table) -> Position:
    return replace(position, step=replace(position.step, state=table))


def _with_other_secrets(state: Any, seen: Any, other: Any) -> Any:
    """Return a state whose hidden parts are those of another one.

    A part is hidden if *seen* differs there. It is left as it is if the other state has nothing of
    the same form: how many cards somebody holds may be known.
    """
    if state == seen or type(state) is not type(other):
        return state
    if is_dataclass(state) and not isinstance(state, type) and type(seen) is type(state):
        values = {part.name: getattr(state, part.name) for part in fields(state) if part.init}
        parts = {
            name: _with_other_secrets(value, getattr(seen, name), getattr(other, name))
            for name, value in values.items()
        }
        return replace(state, **parts)
    if isinstance(state, tuple | list) and len(state) == len(other):
        if type(seen) is type(state) and len(seen) == len(state):
            triples = zip(state, seen, other, strict=True)
            parts_in_order = [_with_other_secrets(*triple) for triple in triples]
            if hasattr(state, "_make"):
                return type(state)._make(parts_in_order)
            return type(state)(parts_in_order)
        return other
    if isinstance(state, Mapping) and isinstance(seen, Mapping) and state.keys() == other.keys():
        return {
            key: _with_other_secrets(value, seen.get(key), other[key])
            for key, value in state.items()
        }
    return state if isinstance(state, Sized) and len(state) != len(other) else other
