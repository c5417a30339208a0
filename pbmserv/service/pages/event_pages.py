"""Answers for the public pages of events and teams, with public names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import pages
from pbmserv.service.events import teams as team_facts
from pbmserv.store import teams
from pbmserv.store.events import events
from pbmserv.views.names import NAMELESS, PublicName, PublicNames, public_names
from pbmserv.views.public_facts import (
    EventGame,
    EventGroup,
    EventLine,
    EventMatch,
    EventPage,
    EventRow,
    EventTeam,
    TeamPage,
    TeamResult,
    shape_from,
)


def lines(context: CommandContext) -> list[EventLine]:
    """Return the newest events: those that take entries first."""
    return [shape_from(EventLine, row) for row in pages.overview(context)]


def page(context: CommandContext, number: int, first: int) -> EventPage | None:
    """Return an event with its groups from *first* on; `None` if there is no such event."""
    event = events.load(context.connection, number)
    if event is None or event.game not in context.services.registry:
        return None
    facts = pages.page(context, event, first)
    userids = {*facts["waiting"]}
    for group in facts["groups"]:
        userids |= {row["userid"] for row in group["rows"]} | {*group["removed"]}
        userids |= {game[side] for game in group["games"] for side in ("first", "second")}
    names = public_names(context.connection, userids - {""})
    groups = [_group(group, names) for group in facts["groups"]]
    waiting = [names.of(userid) for userid in facts["waiting"]]
    return shape_from(EventPage, facts, groups=groups, waiting=waiting)


def teams_listed(context: CommandContext) -> list[TeamPage]:
    """Return the teams by name."""
    rows = team_facts.listed(context)
    names = public_names(context.connection, {name for row in rows for name in row["members"]})
    return [_team(row, names) for row in rows]


def team_page(context: CommandContext, key: str) -> TeamPage | None:
    """Return a team; `None` if there is none of this name."""
    team = teams.of_key(context.connection, team_facts.key_of(key))
    if team is None:
        return None
    row = {**team_facts.facts(context, team), "events": pages.of_team(context, team.id)}
    return _team(row, public_names(context.connection, {*row["members"]}))


def _team(row: Mapping[str, Any], names: PublicNames) -> TeamPage:
    members = names.at_board(row["members"])
    return shape_from(
        TeamPage,
        row,
        captain=members.get(row["captain"]) or NAMELESS,
        members=[members[name] for name in row["members"]],
        events=[TeamResult(**event) for event in row.get("events", ())],
    )


def _group(group: Mapping[str, Any], public: PublicNames) -> EventGroup:
    """Return a group; several nameless players get numbers."""
    userids = [row["userid"] for row in group["rows"]] + list(group["removed"])
    names: dict[str, PublicName] = dict(public.at_board(userids))
    return EventGroup(
        number=group["number"],
        rows=[shape_from(EventRow, row, userid=names[row["userid"]]) for row in group["rows"]],
        games=[_game(game, names, public) for game in group["games"]],
        removed=[names[userid] for userid in group["removed"]],
        teams=[EventTeam(**row) for row in group["teams"]],
        matches=[
            shape_from(
                EventMatch,
                match,
                boards=[_game({**game, "round": 1}, names, public) for game in match["boards"]],
            )
            for match in group["matches"]
        ],
    )


def _game(
    game: Mapping[str, Any], names: Mapping[str, PublicName], public: PublicNames
) -> EventGame:
    return shape_from(
        EventGame,
        game,
        first=names.get(game["first"]) or public.of(game["first"]),
        second=names.get(game["second"]) or (game["second"] and public.of(game["second"])),
    )
