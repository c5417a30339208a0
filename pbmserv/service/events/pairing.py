"""Pairings of players, and who begins: Berger tables, and the Dutch system for a Swiss."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import combinations

from pbmserv.extras import why_missing
from pbmserv.service.events.tables import WIN
from pbmserv.store.events.event_games import Pairing


def berger(players: Sequence[int]) -> list[tuple[int, int]]:
    """Return the games of a single round robin as (first, second), by the Berger tables.

    Args:
        players: in the order of the draw.
    """
    numbers = {player: number for number, player in enumerate(players, 1)}
    even = len(players) + len(players) % 2
    return [
        (low, high) if _begins(numbers[low], numbers[high], even) else (high, low)
        for low, high in combinations(players, 2)
    ]


def _begins(low: int, high: int, even: int) -> bool:
    """Return whether the lower of two numbers of a Berger table begins."""
    if high == even:
        return low <= even // 2
    return (low + high) % 2 == 1


def why_no_swiss() -> str:
    """Return why this server can pair no Swiss, ``""`` if it can."""
    return why_missing("caissify_pairings")


def dutch(
    players: Sequence[int], games: Sequence[Pairing], round_number: int, rounds: int
) -> list[tuple[int, int | None]]:
    """Return the games of the next round of a Swiss as (first, second), `None` for the bye.

    Args:
        players: those who play on, in the order of the draw.
        games: the games of the earlier rounds, in order.
    """
    from caissify_pairings import generate_pairings  # takes long to import

    numbers = {player: number for number, player in enumerate(players, 1)}
    paired = [player for game in games for player in (game.first_id, game.second_id)]
    left = sorted({player for player in paired if player is not None} - numbers.keys())
    # Games against players who left count too: the bye goes to a player who missed few games (C9).
    all_numbers = numbers | {player: number for number, player in enumerate(left, len(numbers) + 1)}
    met = {
        (all_numbers[game.first_id], all_numbers[game.second_id])
        for game in games
        if game.second_id is not None
    }
    histories = _histories(all_numbers, games, round_number)
    rows = [
        {
            "id": number,
            "name": str(number),
            "rating": len(players) - number,
            "starting_number": number,
            "score": histories[player].score,
            "color_hist": histories[player].colours,
            "float_history": histories[player].floats,
            "bye_count": histories[player].byes,
            "forfeit_win_count": 0,
        }
        for player, number in numbers.items()
    ]
    pairs = generate_pairings(
        system="dutch",
        players=rows,
        previous_pairings=met,
        round_number=round_number,
        total_rounds=rounds,
        initial_color="white",
    )
    by_number = {number: player for player, number in numbers.items()}
    return [(by_number[pair["white_id"]], by_number.get(pair["black_id"] or 0)) for pair in pairs]


def have_all_met(players: Sequence[int], games: Sequence[Pairing]) -> bool:
    """Return whether each of some players has played against each other one."""
    met = {frozenset((game.first_id, game.second_id)) for game in games}
    return all(frozenset(pair) in met for pair in combinations(players, 2))


def _histories(
    players: Iterable[int], games: Sequence[Pairing], round_number: int
) -> dict[int, _History]:
    """Return the rounds before *round_number* by player."""
    histories = {player: _History() for player in players}
    for number in range(1, round_number):
        before = {player: history.score for player, history in histories.items()}
        seen = set()
        for game in games:
            if game.round != number:
                continue
            pair = (game.first_id, game.second_id)
            for player, other in (pair, pair[::-1]):
                if player is not None:
                    seen.add(player)
                    histories[player].add(game, player, before, other)
        for player in histories.keys() - seen:
            histories[player].skip()
    return histories


class _History:
    """A player's earlier rounds, as the pairing library wants them."""

    def __init__(self) -> None:
        self.score = 0.0
        self.colours: list[str] = []
        self.floats: list[str] = []
        self.byes = 0

    def add(self, game: Pairing, player: int, before: dict[int, float], other: int | None) -> None:
        """Add a game, or a bye."""
        is_first = game.first_id == player
        points = game.first_points if is_first else game.second_points
        self.score += (points or 0) / WIN
        if other is None:
            self.byes += 1
            self.floats.append("down")
            return
        self.colours.append("white" if is_first else "black")
        difference = before[player] - before[other]
        self.floats.append("down" if difference > 0 else "up" if difference < 0 else "none")

    def skip(self) -> None:
        """Add a round without a game."""
        self.floats.append("none")
