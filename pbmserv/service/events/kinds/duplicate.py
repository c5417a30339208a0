"""Duplicate events: all players get the same boxes, dice or deals, and a table compares them.

A box is solved alone; with dice or deals each player plays against the house.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from sqlalchemy import Connection

from pbmserv.engine.clocks import Terms
from pbmserv.engine.protocol import Dealing, races
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Refused
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.events.groups import Entrant
from pbmserv.service.events.kinds.kind import Kind, Rules
from pbmserv.store.events.events import Event

_RACE, _PRACTICE = "-race", "-practice"

_USUAL_BOT = "house"

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
    round_length = timedelta(days=14)
    terms = Terms(nag=5, forfeit=14, away=14)  # all may be used for one turn
    has_weekly_table = False  # the table is empty until all have finished a box

    def name(self, event: Event, title: str) -> str:
        return f"Duplicate event {event.number} of {title}"

    def why_not_for(self, game: AnyGame) -> str:
        if races(game) or (_has_chance(game) and game.info.is_for(2)):
            return ""
        return "has no races, dice or deals, so it has no duplicate events"

    def rules_for(self, game: AnyGame) -> Rules:
        """Return the numbers of events of a game; a game without boxes is played with the house."""
        if races(game):
            return self.rules
        house = _USUAL_BOT if _USUAL_BOT in game.bots else next(iter(game.bots))
        return replace(self.rules, house=house)

    def length_of_round(self, event: Event) -> timedelta:
        """Return twice the time for games with the house, which take more mails than boxes."""
        return self.round_length * (2 if Rules.of(event).house else 1)

    def terms_of(self, event: Event) -> Terms:
        """Return times of which all may be used for one turn."""
        days = self.length_of_round(event).days
        return replace(self.terms, forfeit=days, away=days)

    def board_options(self, game: AnyGame, words: tuple[str, ...], line: str) -> tuple[str, ...]:
        """Return canonical options of an event's boards.

        Raises:
            Refused: somebody would know the boxes, or they would have no score.
            OptionError: an option is unknown or has a wrong value.
        """
        if not races(game):
            options, _ = read_options(game, words, 2, game.info.key, line)
            return options
        words = words if _RACE in words else (_RACE, *words)
        options, _ = read_options(game, words, 1, game.info.key, line)
        chosen = game.options(options, 1)
        is_chosen = game.without_box(chosen) != chosen
        if is_chosen or not {_FIRST_WINS, _PRACTICE}.isdisjoint(options):
            raise Refused("event-boxes-drawn", example=line)
        return options

    def draw(
        self, connection: Connection, event: Event, player_ids: Sequence[int]
    ) -> list[list[Entrant]]:
        """Return the whole field as one group."""
        return [[Entrant(player_id, 0.0) for player_id in player_ids]]


def _has_chance(game: object) -> bool:
    return isinstance(game, Dealing) and game.has_chance
