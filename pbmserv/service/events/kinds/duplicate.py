"""Duplicate events: all players get the same boxes, and a table compares how they solved them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from sqlalchemy import Connection

from pbmserv.engine.clocks import Terms
from pbmserv.engine.protocol import races
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.events.groups import Entrant
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.store.events import Event

_RACE, _PRACTICE = "-race", "-practice"

_FIRST_WINS = "-scoring=first"
"""The option of races whose places depend on who finishes first."""


class Duplicate(Kind):
    """A duplicate event. Its players are one group of any size."""

    word = "duplicate"
    rules = Rules(size=0, least=2, boxes=3)
    most_entries = 5_000
    usual_entries = 0
    is_entered_by_game = False
    shares_boxes = True
    terms = Terms(nag=5, forfeit=14, away=14)  # all may be used for one turn
    round_length = timedelta(days=14)
    has_weekly_table = False  # the table is empty until all have finished a box

    def name(self, event: Event, title: str) -> str:
        return f"Duplicate event {event.number} of {title}"

    def why_not_for(self, game: AnyGame) -> str:
        return "" if races(game) else "has no races, so it has no duplicate events"

    def board_options(self, game: AnyGame, words: tuple[str, ...], line: str) -> tuple[str, ...]:
        """Return canonical options of an event's boards.

        Raises:
            Refused: somebody would know the boxes, or they would have no score.
            OptionError: an option is unknown or has a wrong value.
        """
        assert races(game)  # see `why_not_for`
        words = words if _RACE in words else (_RACE, *words)
        options, _ = read_options(game, words, 1, game.info.key, line)
        chosen = game.options(options, 1)
        is_chosen = game.without_box(chosen) != chosen
        if is_chosen or not {_FIRST_WINS, _PRACTICE}.isdisjoint(options):
            raise Refused("event-boxes-drawn", example=f'{line} "NAME" -boxes=3')
        return options

    def draw(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[list[Entrant]]:
        """Return the whole field as one group."""
        return [[Entrant(player_id, 0.0) for player_id in player_ids]]
