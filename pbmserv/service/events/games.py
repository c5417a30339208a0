"""The games of an event, whether they are between two players or boxes that all share."""

from __future__ import annotations

from collections.abc import Collection
from typing import Protocol

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import paired_games, shared_boxes
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.tables import Line
from pbmserv.store.events import event_entries
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.events import Event
from pbmserv.store.tables.events import EntryStatus


class Games(Protocol):
    """The functions that the modules `paired_games` and `shared_boxes` have in common."""

    def begin_next(self, context: CommandContext, event: Event, /) -> list[Notification] | None:
        """Make some of the boards that the present round lacks; return one letter for each of their
        players, `None` if no board is missing."""

    def settle_next(
        self, context: CommandContext, event: Event, group_number: int | None = None, /
    ) -> list[Notification] | None:
        """Store the results of the games of a group that have ended, `None` if there are none.

        Args:
            group_number: the group; `None` for the next one.
        """

    def leave(self, context: CommandContext, event: Event, entry: Entry, /) -> list[Notification]:
        """Take a player out of a running event."""

    def decide_next(self, context: CommandContext, event: Event, /) -> list[Notification] | None:
        """End the next games of the present round that still run, `None` if none does."""

    def is_open(self, context: CommandContext, event: Event, /) -> bool:
        """Return whether games of the present round still run."""

    def tables(
        self, context: CommandContext, event: Event, groups: tuple[int, int] | None = None, /
    ) -> dict[int, list[Line]]:
        """Return the table of each group, or of the groups between two, by its number."""

    def tell_next(
        self, context: CommandContext, event: Event, groups: Collection[int], /
    ) -> list[Notification] | None:
        """Store the places of the next players and tell them the result; `None` if all know it.

        Args:
            groups: the groups of the last round that have players left.
        """


def games_of(event: Event) -> Games:
    return shared_boxes if kind_of(event).shares_boxes else paired_games


def withdraw(context: CommandContext, event: Event, player_id: int) -> list[Notification]:
    """Take a player out of a running event; return the letters, none of which tells that player.

    Games that have just ended count first: they may be half of the player's games.
    """
    games = games_of(event)
    entry = event_entries.of_player(context.connection, event.id, player_id)
    group_number = entry.group_number if entry is not None else None
    notifications = games.settle_next(context, event, group_number) or []
    entry = event_entries.of_player(context.connection, event.id, player_id)
    if entry is not None and entry.status == EntryStatus.ENTERED:
        letters = games.leave(context, event, entry)
        notifications += [letter for letter in letters if letter.player_id != player_id]
    return notifications
