"""Events of teams: their line-ups, the draw, the table, and the letters about the result.

An event of teams has an entry for each of the four players of a team. Until entries close, a
line-up follows the order of the team; then it is fixed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass

from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.events import letters, team_tables
from pbmserv.service.events.kinds.kind import Rules
from pbmserv.service.events.kinds.registry import kind_of
from pbmserv.service.events.team_tables import Match, TeamLine
from pbmserv.service.events.teams import BOARDS, news
from pbmserv.store import teams
from pbmserv.store.accounts import persons
from pbmserv.store.events import event_bars, event_entries, event_games, event_lists
from pbmserv.store.events.event_entries import Entry
from pbmserv.store.events.event_games import Pairing
from pbmserv.store.events.events import Event
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.teams import Member, Team
from pbmserv.views.names import PublicName
from pbmserv.views.public_facts import EventMatch, EventTeam, MatchGame, shape_from


@dataclass(frozen=True, slots=True)
class Group:
    """A group of teams: its table and its matches.

    Attributes:
        names: the names of the teams.
        players: the entries of the players by id.
    """

    names: Mapping[int, str]
    players: Mapping[int, Entry]
    lines: Sequence[TeamLine]
    matches: Sequence[Match]


# -- line-ups before the start -------------------------------------------------------------------


def lineup(context: CommandContext, team: Team) -> list[Member]:
    """Return the members who would play now, in the order of the boards."""
    return _active_members(context, team)[:BOARDS]


def _active_members(context: CommandContext, team: Team) -> list[Member]:
    members = teams.members(context.connection, team.id)
    return [member for member in members if member.state == PlayerState.ACTIVE]


def set_lineup(
    context: CommandContext, event: Event, team: Team, player_ids: Sequence[int]
) -> None:
    """Enter players for a team in the order of the boards, and no others; without any, the team is
    out.

    If only invited teams may enter, the captain stays invited as a reserve, and when the team is
    out.
    """
    invited_id = team.captain_id if Rules.of(event).invited else None
    event_entries.set_lineup(
        context.connection, event.id, team.id, player_ids, context.now, invited_id=invited_id
    )


def follow_order(context: CommandContext, team: Team) -> list[Notification]:
    """Give the events that take entries the present line-up of a team.

    A team that has fewer than four members left is no longer entered; its members are told.
    """
    notifications: list[Notification] = []
    for event in event_lists.open_to_team(context.connection, team.id, context.now):
        notifications += _enter_present_lineup(context, event, team)
    return notifications


def _enter_present_lineup(
    context: CommandContext, event: Event, team: Team
) -> Sequence[Notification]:
    """Enter those who would play now, or take out a team that is too small and tell its members."""
    players = _unbarred_lineup(context, team)
    is_complete = len(players) == BOARDS
    set_lineup(context, event, team, players if is_complete else [])
    if is_complete:
        return ()
    name = letters.facts(context, event).name
    return news(context, team, "short", event_name=name)


def _unbarred_lineup(context: CommandContext, team: Team) -> list[int]:
    """Return the members who would play now, in the order of the boards, without those who are
    barred from events."""
    ids = [member.player_id for member in _active_members(context, team)]
    people = persons.persons_of(context.connection, ids)
    return [
        player_id
        for player_id in ids
        if event_bars.barred_until(context.connection, people.ids_of_person(player_id), context.now)
        is None
    ][:BOARDS]


def count_complete(context: CommandContext, team_ids: Collection[int]) -> int:
    """Return the number of teams that could play now.

    A team can lose members without a command of its own, such as by deleted accounts; it stays
    entered until its line-up changes or entries close.
    """
    entered = [teams.load(context.connection, team_id) for team_id in team_ids]
    return sum(
        team is not None and len(_unbarred_lineup(context, team)) == BOARDS for team in entered
    )


def complete_lineups(
    context: CommandContext, event: Event
) -> tuple[list[Entry], list[Notification]]:
    """Return the entries of all complete teams when entries close, and the letters to the others.

    Reserves take the places of members who have left meanwhile.
    """
    notifications: list[Notification] = []
    entries = event_entries.of_event(context.connection, event.id)
    for team_id in sorted({entry.team_id for entry in entries if entry.team_id is not None}):
        team = teams.lock(context.connection, team_id)
        if team is None:
            continue
        notifications += _enter_present_lineup(context, event, team)
    entries = event_entries.of_event(context.connection, event.id)
    return [entry for entry in entries if entry.team_id is not None], notifications


# -- the draw, and the boards --------------------------------------------------------------------


def pairs(
    context: CommandContext, event: Event, group_number: int
) -> list[tuple[int, int, int | None]]:
    """Return the games of a group: number, the player who begins, and the other one.

    The seed of a player is the number of the team in its group, times `BOARDS`, plus the board.
    """
    entries = event_entries.of_event(context.connection, event.id, group_number)
    lineups: dict[int, dict[int, int]] = {team: {} for team in _teams(entries)}
    for entry in entries:
        if entry.is_here:
            lineups[entry.team_id or 0][(entry.seed or 0) % BOARDS] = entry.player_id
    return team_tables.pairs(list(lineups), lineups)


def team_names(context: CommandContext, event: Event, group_number: int) -> dict[str, str]:
    """Return the name of the team of each player of a group; empty for events of other kinds."""
    if kind_of(event).team_size == 1:
        return {}
    entries = event_entries.of_event(context.connection, event.id, group_number)
    names = teams.names_of(context.connection, _teams(entries))
    return {entry.userid: names[entry.team_id or 0] for entry in entries}


# -- the table -----------------------------------------------------------------------------------


def groups_of(
    context: CommandContext, event: Event, groups: tuple[int, int] | None
) -> dict[int, Group]:
    """Return the groups that play, by number."""
    games = event_games.of_event(context.connection, event.id, groups=groups)
    groups_by_number: dict[int, Group] = {}
    for group_number in sorted({game.group_number for game in games}):
        own = event_entries.of_event(context.connection, event.id, group_number)
        ids = _teams(own)
        team_of = {entry.player_id: entry.team_id or 0 for entry in own}
        played = team_tables.matches(
            ids, [game for game in games if game.group_number == group_number], team_of
        )
        groups_by_number[group_number] = Group(
            teams.names_of(context.connection, ids),
            {entry.player_id: entry for entry in own},
            team_tables.table(ids, played),
            played,
        )
    return groups_by_number


def tell_group(
    context: CommandContext, event: Event, group_number: int
) -> list[Notification] | None:
    """Store the places of the teams of a group with their players, and tell each player the result;
    `None` if none waits for it."""
    group = groups_of(context, event, (group_number, group_number)).get(group_number)
    if group is None:
        return None
    waiting = [entry for entry in group.players.values() if entry.place is None]
    if not waiting:
        return None
    notifications: list[Notification] = []
    rows = [asdict(row) for row in team_rows(group)]
    for line in group.lines:
        players = [entry for entry in waiting if (entry.team_id or 0) == line.team]
        for entry in players:
            event_entries.change(context.connection, event.id, entry.player_id, place=line.place)
        notifications += letters.news(
            context,
            event,
            players,
            "team-ended",
            teams=rows,
            group=group_number,
            place=line.place,
            team=group.names[line.team],
            champion=line.place == 1 and group_number == 1,
        )
    return notifications


def team_rows(group: Group) -> list[EventTeam]:
    """Return the table of a group."""
    return [shape_from(EventTeam, line, team=group.names[line.team]) for line in group.lines]


def team_matches(group: Group, name_of: Callable[[int], PublicName]) -> list[EventMatch]:
    """Return the matches of a group, each with its boards.

    Args:
        name_of: returns the name of a player.
    """
    return [
        EventMatch(
            first=group.names[match.first],
            second=group.names[match.second],
            first_points=match.first_points,
            second_points=match.second_points,
            open=match.is_open,
            boards=[_match_game(group, match, game, name_of) for game in match.games],
        )
        for match in group.matches
    ]


def _match_game(
    group: Group, match: Match, game: Pairing, name_of: Callable[[int], PublicName]
) -> MatchGame:
    """Return a board of a match, with the player of its first team in front."""
    first_id, second_id = game.first_id, game.second_id
    points = game.first_points, game.second_points
    if second_id and group.players[first_id].team_id != match.first:
        first_id, second_id = second_id, first_id
        points = points[::-1]
    return MatchGame(
        round=game.round,
        number=(game.number - 1) % BOARDS + 1,
        first=name_of(first_id),
        second=name_of(second_id) if second_id else "",
        board=game.board_id,
        first_points=points[0],
        second_points=points[1],
        reason=game.reason,
    )


def _teams(entries: Sequence[Entry]) -> list[int]:
    """Return the teams of a group in the order of the draw."""
    ordered = sorted(entries, key=lambda entry: (entry.seed or 0, entry.player_id))
    return list(dict.fromkeys(entry.team_id or 0 for entry in ordered))
