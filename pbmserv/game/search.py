"""Two searches for bots, over nothing but `moves`, `play` and `over` of a game.

Both count their work and look at no clock, so the same position gives the same move everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pbmserv.game.api import After, Game, Result, Rng, Seat

S = TypeVar("S")

Evaluate = Callable[[S, Seat], float]
"""Returns the worth of a state for a seat, from -1000 to 1000."""

_WON = 10_000.0
_DEEPEST = 64
_EXPLORATION = 1.1


class Effort:
    """The share of their budgets that searches use: 1 in earnest, less in tests."""

    share = 1.0


class _Spent(Exception):
    """The budget of a search is used up."""


class _NoDice:
    """Stands for chance in games without any."""

    def below(self, _limit: int, /) -> int:
        raise RuntimeError("this search is for games without chance")

    def choice(self, items: Sequence[Any], /) -> Any:
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Any], /) -> list[Any]:
        return [self.choice(items)]

    def deal(self, number: int, /) -> None:
        """Do nothing."""


_NO_DICE = _NoDice()


def after(game: Game[S], state: S, seat: Seat, move: str) -> tuple[S, Seat]:
    """Return the state after a move of a game for two without chance, and the seat to move."""
    done = game.play(state, seat, move, _NO_DICE)
    if isinstance(done, After):
        following = min(done.next) if done.next else 1 - seat
        return done.state, following
    return done, 1 - seat


def alpha_beta(
    game: Game[S], state: S, seat: Seat, rng: Rng, *, nodes: int, evaluate: Evaluate[S]
) -> str:
    """Return the best move of a game for two without chance, as deep as the budget allows.

    Args:
        nodes: how many positions to look at.
    """
    search = _AlphaBeta(game, evaluate, max(10, round(nodes * Effort.share)))
    moves = rng.shuffled(list(game.moves(state, seat)))
    best = moves[0]
    for depth in range(1, _DEEPEST):
        if len(moves) == 1:
            break
        search.is_proved = True
        try:
            scores = search.scores(state, seat, moves, depth)
        except _Spent:
            break
        moves.sort(key=lambda move: -scores[move])
        best = moves[0]
        if search.is_proved or abs(scores[best]) > _WON / 2:
            break
    return best


class _AlphaBeta:
    """A search to a fixed depth.

    Attributes:
        is_proved: whether every line of the last search ended with the game.
    """

    def __init__(self, game: Game[Any], evaluate: Evaluate[Any], nodes: int) -> None:
        self._game = game
        self._evaluate = evaluate
        self._left = nodes
        self.is_proved = False

    def scores(self, state: Any, seat: Seat, moves: Sequence[str], depth: int) -> dict[str, float]:
        """Return the value of each move, or an upper bound if another move is better."""
        best, scores = -math.inf, {}
        for move in moves:
            following, mover = after(self._game, state, seat, move)
            scores[move] = self._turned(following, mover, seat, depth - 1, best, math.inf)
            best = max(best, scores[move])
        return scores

    def _turned(
        self, state: Any, mover: Seat, seat: Seat, depth: int, alpha: float, beta: float
    ) -> float:
        """Return the value for *seat* of a state in which *mover* is to move."""
        if mover == seat:
            return self._value(state, mover, depth, alpha, beta)
        return -self._value(state, mover, depth, -beta, -alpha)

    def _value(self, state: Any, seat: Seat, depth: int, alpha: float, beta: float) -> float:
        self._left -= 1
        if self._left < 0:
            raise _Spent
        result = self._game.over(state)
        if result is not None:
            return _worth(result, seat) * (_WON + depth)
        if depth <= 0:
            self.is_proved = False
            return self._evaluate(state, seat)
        best = -math.inf
        passes = True
        for move in self._game.moves(state, seat):
            passes = False
            following, mover = after(self._game, state, seat, move)
            value = self._turned(following, mover, seat, depth - 1, max(alpha, best), beta)
            best = max(best, value)
            if best >= beta:
                break
        if passes:
            return -self._value(state, 1 - seat, depth - 1, -beta, -alpha)
        return best


def _worth(result: Result, seat: Seat) -> float:
    """Return 1 for the best place, -1 for a worse one and 0 for a tie."""
    places = result.places
    if places.count(min(places)) > 1:
        return 0.0
    return 1.0 if places[seat] == min(places) else -1.0


@dataclass
class _Node:
    """A position of a Monte Carlo search; *won* is the worth for the seat that moved here."""

    state: Any
    seat: Seat
    untried: list[str]
    result: Result | None
    visits: int = 0
    won: float = 0.0
    children: dict[str, _Node] = field(default_factory=dict)
    mover: Seat = 0


def monte_carlo(
    game: Game[S],
    state: S,
    seat: Seat,
    rng: Rng,
    *,
    playouts: int,
    longest: int = 400,
    sensible: Callable[[S, Seat], Sequence[str]] | None = None,
) -> str:
    """Return the move that wins most of many random games (UCT), without chance in the rules.

    Args:
        longest: moves after which a random game counts as a draw.
        sensible: moves worth a look; `moves` of the game without it.
    """
    moves_of = sensible or (lambda state, seat: list(game.moves(state, seat)))
    draws = random.Random(rng.below(2**32))  # noqa: S311 - for playing only
    root = _node(game, moves_of, state, seat, draws)
    if len(root.untried) == 1:
        return root.untried[0]
    for _ in range(max(2, round(playouts * Effort.share))):
        path, node = [root], root
        while not node.untried and node.children and node.result is None:
            parent = node
            node = max(
                parent.children.values(),
                key=lambda child: (
                    child.won / child.visits
                    + _EXPLORATION * math.sqrt(math.log(parent.visits) / child.visits)
                ),
            )
            path.append(node)
        if node.untried and node.result is None:
            move = node.untried.pop()
            following, mover = after(game, node.state, node.seat, move)
            child = _node(game, moves_of, following, mover, draws)
            child.mover = node.seat
            node.children[move] = child
            path.append(child)
            node = child
        worths = _played_out(game, moves_of, node, draws, longest)
        for node in path:
            node.visits += 1
            node.won += worths[node.mover]
    return max(root.children.items(), key=lambda item: item[1].visits)[0]


def _node(
    game: Game[Any],
    moves_of: Callable[[Any, Seat], Sequence[str]],
    state: Any,
    seat: Seat,
    draws: random.Random,
) -> _Node:
    result = game.over(state)
    if result is not None:
        return _Node(state, seat, [], result)
    moves = list(moves_of(state, seat))
    if not moves:
        seat = 1 - seat
        moves = list(moves_of(state, seat))
    draws.shuffle(moves)
    return _Node(state, seat, moves, None)


def _played_out(
    game: Game[Any],
    moves_of: Callable[[Any, Seat], Sequence[str]],
    node: _Node,
    draws: random.Random,
    longest: int,
) -> Sequence[float]:
    """Return the worth of a random game for each seat."""
    state, seat, result = node.state, node.seat, node.result
    for _ in range(longest):
        if result is not None:
            break
        moves = moves_of(state, seat)
        if moves:
            state, seat = after(game, state, seat, moves[int(draws.random() * len(moves))])
            result = game.over(state)
        else:
            seat = 1 - seat
    if result is not None:
        return [_worth(result, side) for side in range(2)]
    return [0.0, 0.0]


def ladder(
    game: Callable[[], Game[S]],
    evaluate: Evaluate[S] | None = None,
    nodes: tuple[int, int, int] = (60, 2_000, 30_000),
) -> dict[str, Callable[[S, Seat, Rng], str]]:
    """Return the bots ``house-easy``, ``house`` and ``house-best``, which look further each.

    Args:
        game: returns the game, which is not made yet where its class names its bots.
        evaluate: how good a state is; without it only the end of the game counts.
    """

    def bot(budget: int) -> Callable[[S, Seat, Rng], str]:
        def choose(state: S, seat: Seat, rng: Rng) -> str:
            worth = evaluate or (lambda _state, _seat: 0.0)
            return alpha_beta(game(), state, seat, rng, nodes=budget, evaluate=worth)

        return choose

    easy, medium, best = nodes
    return {"house-easy": bot(easy), "house": bot(medium), "house-best": bot(best)}
