"""`python -m benchmarks.matches [KEY…] [--games N] [--seconds S]`: strength of the bots of games.

The bots of a game and a player who moves at random meet each other, with each seat in half of the
games. A line for each pair tells its results and the difference in Elo, with the bounds of 95 %.
Then each bot's rating follows, on the scale of the server, and the processor time of its slowest
move. Blackbox has measurements of its own (`benchmarks.strength`).
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from time import process_time

from benchmarks.anchors import anchors
from pbmserv.engine.adapter import AdaptedGame
from pbmserv.engine.position import Position, bot_move, opening
from pbmserv.engine.ratings import anchor
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import Registry
from pbmserv.engine.rng import Rng
from pbmserv.engine.table import CountedRng
from pbmserv.engine.types import Move, Seat

RANDOM = "random"
GAMES = 40
SECONDS = 600.0
LONGEST = 600
"""Moves after which a game counts as drawn."""

SURE = 1.96
"""Standard deviations that hold 95 % of a normal distribution."""


@dataclass
class Score:
    """The results of one player against another."""

    won: int = 0
    drawn: int = 0
    lost: int = 0

    @property
    def games(self) -> int:
        return self.won + self.drawn + self.lost

    @property
    def share(self) -> float:
        """The share of the points. Half a game is added for each player, so that it is never 0."""
        return (self.won + self.drawn / 2 + 0.5) / (self.games + 1)

    def bounds(self) -> tuple[float, float]:
        """Return the bounds of the share of the points (Wilson's interval)."""
        games, points = self.games, self.won + self.drawn / 2
        middle = (points + SURE**2 / 2) / (games + SURE**2)
        spread = points * (games - points) / games + SURE**2 / 4
        width = SURE * math.sqrt(spread) / (games + SURE**2)
        return middle - width, middle + width


def elo(share: float) -> float:
    """Return the difference in Elo that means a share of the points."""
    if not 1e-9 < share < 1 - 1e-9:
        return math.copysign(math.inf, share - 0.5)
    return 400 * math.log10(share / (1 - share))


def main() -> int:
    """Let the bots of games play, and print their strength."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.matches", description=__doc__)
    parser.add_argument("keys", nargs="*", metavar="KEY", help="the games (all)")
    parser.add_argument("--games", type=int, default=GAMES, help=f"of each pair ({GAMES})")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="processor time of a pair")
    arguments = parser.parse_args()
    games = {game.info.key: game for game in Registry.installed() if isinstance(game, AdaptedGame)}
    if unknown := [key for key in arguments.keys if key not in games]:
        parser.error(f"no such game: {', '.join(unknown)} (there are {', '.join(games)})")
    for key in arguments.keys or games:
        for line in report(games[key], arguments.games, arguments.seconds):
            print(line, flush=True)
    return 0


def report(game: AdaptedGame, games: int, seconds: float) -> Iterator[str]:
    """Yield lines about the strength of the bots of a game."""
    slowest = dict.fromkeys(game.bots, 0.0)
    levels = [RANDOM, *game.bots]
    shares = {}
    for weak, strong in combinations(levels, 2):
        score = match(game, strong, weak, games, seconds, slowest)
        low, high = map(elo, score.bounds())
        yield (
            f"{game.info.key:<12} {strong:<11} {weak:<11} +{score.won} ={score.drawn} -{score.lost}"
            f"  Elo {elo(score.share):+.0f} ({low:+.0f} to {high:+.0f})"
        )
        shares[strong, weak] = score.share
    among_bots = {pair: share for pair, share in shares.items() if RANDOM not in pair}
    mus = anchors(list(game.bots), among_bots)
    for level, mu in mus.items():
        yield (
            f"{game.info.key:<12} {level:<11} mu {mu:.1f}, rating {anchor(mu).shown}, "
            f"slowest move {slowest[level]:.2f} s"
        )


def match(
    game: AdaptedGame, one: str, other: str, games: int, seconds: float, slowest: dict[str, float]
) -> Score:
    """Let two players meet, and return the score of the first.

    Args:
        seconds: processor time after which no further game begins.
        slowest: the processor time of the slowest move of each bot, which is updated.
    """
    score, begun = Score(), process_time()
    for number in range(games):
        if number % 2 == 0 and process_time() - begun > seconds:
            break
        levels = (one, other) if number % 2 == 0 else (other, one)
        places = places_of(game, levels, number // 2, slowest)
        mine, theirs = (places[levels.index(name)] for name in (one, other))
        score.won += mine < theirs
        score.drawn += mine == theirs
        score.lost += mine > theirs
    return score


def places_of(
    game: AdaptedGame, levels: Sequence[str], seed: int, slowest: dict[str, float]
) -> Sequence[int]:
    """Play a game, and return the place of each seat."""
    info = game.info
    position = opening(game, GameRecord(info.key, info.rules_version, 2, (), b"%032d" % seed))
    draws = CountedRng(Rng(b"random%d" % seed, 0))
    for _ in range(LONGEST):
        if position.outcome is not None:
            return position.outcome.places
        seat = Seat(min(game.to_act(position.state)))
        level = levels[seat]
        begun = process_time()
        move = chosen(position, seat, level, draws)
        if level in slowest:
            slowest[level] = max(slowest[level], process_time() - begun)
        position = position.move(seat, move)
    return (1, 1)


def chosen(position: Position, seat: Seat, level: str, draws: CountedRng) -> Move:
    """Return the move of a bot, or a random one."""
    if level != RANDOM:
        return bot_move(position, seat, level)
    view = position.game.view(position.state, seat)
    return position.game.parse(view, draws.choice(list(view.moves)))


if __name__ == "__main__":
    sys.exit(main())
