"""Matches of teams: their pairings by board, and the table of a group (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pbmserv.service.events.pairing import berger
from pbmserv.service.events.tables import DRAW, LOSS, WIN
from pbmserv.service.events.teams import BOARDS
from pbmserv.store.events.event_games import Pairing


@dataclass(frozen=True, slots=True)
class Match:
    """A match of two teams.

    Attributes:
        first_points, second_points: sums of the points at the boards.
        games: by board; a board on which neither player could begin is missing.
    """

    first: int
    second: int
    first_points: int
    second_points: int
    games: tuple[Pairing, ...]

    @property
    def is_open(self) -> bool:
        return any(game.is_open for game in self.games)

    def points_of(self, team: int) -> int:
        """Return the match points of a team: 2, 1 or 0; 0 while a game runs."""
        if self.is_open:
            return 0
        if self.first_points == self.second_points:
            return DRAW
        return WIN if (self.first_points > self.second_points) == (team == self.first) else LOSS


@dataclass(frozen=True, slots=True)
class TeamLine:
    """A team's line in the table of its group.

    Attributes:
        points: match points; matches with games that run have none yet.
        board_points: points at all boards so far.
        open: games that still run.
    """

    team: int
    place: int
    points: int
    board_points: int
    won: int
    drawn: int
    lost: int
    open: int


def pairs(
    teams: Sequence[int], lineups: Mapping[int, Mapping[int, int]]
) -> list[tuple[int, int, int | None]]:
    """Return the games of all matches of a group: number, the player who begins, and the other one.

    Who begins alternates from board to board. A player whose opponent is gone has a bye.

    Args:
        teams: in the order of the draw.
        lineups: for each team, the player of each board, from 0, who can play.
    """
    games: list[tuple[int, int, int | None]] = []
    for match, (first_team, second_team) in enumerate(berger(teams)):
        for board in range(BOARDS):
            pair = [lineups[team].get(board) for team in (first_team, second_team)]
            if board % 2:
                pair.reverse()
            able = [player for player in pair if player is not None]
            if able:
                second = able[1] if len(able) == 2 else None
                games.append((match * BOARDS + board + 1, able[0], second))
    return games


def matches(
    teams: Sequence[int], games: Sequence[Pairing], team_of: Mapping[int, int]
) -> list[Match]:
    """Return the matches of a group with their results.

    Args:
        team_of: the team of each player.
    """
    by_match: dict[int, list[Pairing]] = {}
    for game in games:
        by_match.setdefault((game.number - 1) // BOARDS, []).append(game)
    played = []
    for number, (first, second) in enumerate(berger(teams)):
        first_points = second_points = 0
        for game in by_match.get(number, []):
            points = game.first_points or 0, game.second_points or 0
            if team_of[game.first_id] != first:
                points = points[::-1]
            first_points += points[0]
            second_points += points[1]
        own = tuple(by_match.get(number, []))
        played.append(Match(first, second, first_points, second_points, own))
    return played


def table(teams: Sequence[int], played: Sequence[Match]) -> list[TeamLine]:
    """Return the table of a group, the best first.

    Match points count first, then board points, then the match between the teams; teams that are
    level in all have the order of the draw.
    """
    lines = {team: _line(team, played) for team in teams}
    level: dict[tuple[int, int], list[int]] = {}
    for line in lines.values():
        level.setdefault((line.points, line.board_points), []).append(line.team)

    def direct(line: TeamLine) -> int:
        rivals = {*level[line.points, line.board_points]}
        return sum(
            match.points_of(line.team)
            for match in played
            if line.team in {match.first, match.second} and {match.first, match.second} <= rivals
        )

    ordered = sorted(
        lines.values(),
        key=lambda line: (
            -line.points,
            -line.board_points,
            -direct(line),
            teams.index(line.team),
        ),
    )
    return [replace(line, place=place) for place, line in enumerate(ordered, 1)]


def _line(team: int, played: Sequence[Match]) -> TeamLine:
    own = [match for match in played if team in {match.first, match.second}]
    results = [match.points_of(team) for match in own if not match.is_open]
    return TeamLine(
        team=team,
        place=0,
        points=sum(results),
        board_points=sum(
            match.first_points if match.first == team else match.second_points for match in own
        ),
        won=results.count(WIN),
        drawn=results.count(DRAW),
        lost=results.count(LOSS),
        open=sum(game.is_open for match in own for game in match.games),
    )
