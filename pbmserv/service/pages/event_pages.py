"""The public pages of events and teams, with public names."""

from __future__ import annotations

from dataclasses import replace

from pbmserv.service.core.context import CommandContext
from pbmserv.service.events import pages
from pbmserv.service.events import teams as team_facts
from pbmserv.store import teams
from pbmserv.store.events import events
from pbmserv.views.public_facts import EventLine, EventPage, TeamPage


def lines(context: CommandContext) -> list[EventLine]:
    """Return events in lines: those that take entries first."""
    return pages.overview(context)


def page(context: CommandContext, number: int, first: int) -> EventPage | None:
    """Return an event with its groups from *first* on; `None` if there is no such event."""
    event = events.load(context.connection, number)
    if event is None or event.game not in context.services.registry:
        return None
    return pages.page(context, event, first, public=True)


def teams_listed(context: CommandContext) -> list[TeamPage]:
    """Return the teams by name."""
    return team_facts.listed(context, public=True)


def team_page(context: CommandContext, key: str) -> TeamPage | None:
    """Return a team; `None` if there is none of this name."""
    team = teams.of_key(context.connection, team_facts.key_of(key))
    if team is None:
        return None
    facts = team_facts.facts(context, team, public=True)
    return replace(facts, events=pages.of_team(context, team.id))
