"""Two searches for bots, which use only `moves`, `play` and `over` of a game.

Both limit their work without a clock, so that the same position gives the same move everywhere.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pbmserv.game.api import After, Bot, Game, Result, Rng, Seat

S = TypeVar("S")

Evaluate = Callable[[S, Seat], float]
"""Returns the worth of a state for a seat, from -1000 to 1000."""

_WON = 10_000.0
_DEEPEST = 64
_EXPLORATION = 1.1
_LONGEST = 400
"""Moves after which a random game counts as a draw."""


class Effort:
    """The share of their budgets that bots use: 1 in earnest, less in tests and in `game check`."""

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
        nodes: the number of positions to look at.
        evaluate: estimates the positions where the search stops.
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
    """A position of a Monte Carlo search.

    Attributes:
        mover: the seat whose move led here.
        seat: the seat to move.
        untried: moves without a node yet.
        worth: the sum of the worths of all random games through this node, for the mover.
    """

    state: Any
    mover: Seat
    seat: Seat
    untried: list[str]
    result: Result | None
    visits: int = 0
    worth: float = 0.0
    children: dict[str, _Node] = field(default_factory=dict)

    def most_promising(self) -> _Node:
        """Return the child to look at next: one that does well, or was seldom looked at (UCB1)."""
        return max(
            self.children.values(),
            key=lambda child: (
                child.worth / child.visits
                + _EXPLORATION * math.sqrt(math.log(self.visits) / child.visits)
            ),
        )


def monte_carlo(
    game: Game[S],
    state: S,
    seat: Seat,
    rng: Rng,
    *,
    playouts: int,
) -> str:
    """Return the move that wins most of many random games (UCT), without chance in the rules.

    Args:
        playouts: the number of random games.
    """
    search = _MonteCarlo(game, rng.below(2**32))
    root = search.node(state, 1 - seat, seat)
    if len(root.untried) == 1:
        return root.untried[0]
    for _ in range(max(2, round(playouts * Effort.share))):
        search.play_once(root)
    return max(root.children.items(), key=lambda item: item[1].visits)[0]


class _MonteCarlo:
    """A search that grows a tree of positions by one node with each random game."""

    def __init__(self, game: Game[Any], seed: int) -> None:
        self._game = game
        self._draws = random.Random(seed)  # noqa: S311 - for playing only

    def node(self, state: Any, mover: Seat, seat: Seat) -> _Node:
        """Return the node of a position; a seat without moves passes."""
        result = self._game.over(state)
        if result is not None:
            return _Node(state, mover, seat, [], result)
        moves = list(self._game.moves(state, seat))
        if not moves:
            seat = 1 - seat
            moves = list(self._game.moves(state, seat))
        self._draws.shuffle(moves)
        return _Node(state, mover, seat, moves, None)

    def play_once(self, root: _Node) -> None:
        """Play a random game behind a new node, and count its end for all nodes on the way."""
        path = [root]
        while not path[-1].untried and path[-1].children and path[-1].result is None:
            path.append(path[-1].most_promising())
        leaf = path[-1]
        if leaf.untried and leaf.result is None:
            move = leaf.untried.pop()
            state, seat = after(self._game, leaf.state, leaf.seat, move)
            leaf.children[move] = self.node(state, leaf.seat, seat)
            path.append(leaf.children[move])
        worths = self._played_out(path[-1])
        for node in path:
            node.visits += 1
            node.worth += worths[node.mover]

    def _played_out(self, node: _Node) -> Sequence[float]:
        """Return the worth of a random game for each seat."""
        state, seat, result = node.state, node.seat, node.result
        for _ in range(_LONGEST):
            if result is not None:
                break
            moves = list(self._game.moves(state, seat))
            if moves:
                move = moves[int(self._draws.random() * len(moves))]
                state, seat = after(self._game, state, seat, move)
                result = self._game.over(state)
            else:
                seat = 1 - seat
        if result is not None:
            return [_worth(result, side) for side in range(2)]
        return [0.0, 0.0]


def levels(
    game: Callable[[], Game[S]],
    evaluate: Evaluate[S] | None = None,
    nodes: tuple[int, int, int] = (60, 2_000, 30_000),
) -> dict[str, Bot[S]]:
    """Return the bots ``house-easy``, ``house`` and ``house-best``.

    Args:
        game: returns the game, which does not exist yet while its class is made.
        evaluate: estimates a state; without it only the end of the game counts.
        nodes: the positions that each bot looks at for a move.
    """

    def bot(budget: int) -> Bot[S]:
        def choose(state: S, seat: Seat, rng: Rng) -> str:
            worth = evaluate or (lambda _state, _seat: 0.0)
            return alpha_beta(game(), state, seat, rng, nodes=budget, evaluate=worth)

        return choose

    easy, medium, best = nodes
    return {"house-easy": bot(easy), "house": bot(medium), "house-best": bot(best)}
