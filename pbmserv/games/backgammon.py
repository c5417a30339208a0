"""Backgammon, with the doubling cube and matches."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

from pbmserv.game import After, Bot, Game, Grid, Items, No, Option, Piece, Result, Rng, Seat, ranked

BAR, OFF = 25, 0
MEN = {
    "X": Piece("X", "X", 0, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "O", 1, "\N{WHITE CIRCLE}"),
}
START = {24: 2, 13: 5, 8: 3, 6: 5}
PART = re.compile(r"(bar|off|2[0-5]|1[0-9]|[0-9])(?:\*)?(?:\(([2-4])\))?", re.IGNORECASE)
BETWEEN_POINTS = re.compile(r"\s+to\s+", re.IGNORECASE)
BETWEEN_STEPS = re.compile(r"\b(?:and|then|from)\b", re.IGNORECASE)
ANSWERS_TO_DOUBLE = {"accept": "take", "reject": "drop", "decline": "drop"}

Points = tuple[int, ...]
"""Men on each point as one player counts them: 1 to 24, 25 is the bar; the other's are negative."""

Step = tuple[int, int]
Play = tuple[Step, ...]


@dataclass(frozen=True)
class Board:
    """A position of a match.

    Attributes:
        points: as seat 0 counts them.
        bar: men of seat 1 on the bar.
        dice: the roll; empty before it.
        mover: whose turn it is.
        stage: "move", "roll" (roll or double) or "take" (answer to a double).
        cube, owner: the cube and its owner, `None` in the middle.
        score, target: of the match.
        has_cube: whether the match is played with the cube.
        crawford: whether this game is played without the cube, because one player needs one point.
        was_crawford: whether that game is over.
        number: of the game in the match, from 0.
    """

    points: Points
    bar: int
    dice: tuple[int, ...]
    mover: Seat
    stage: str = "move"
    cube: int = 1
    owner: Seat | None = None
    score: tuple[int, int] = (0, 0)
    target: int = 1
    has_cube: bool = False
    crawford: bool = False
    was_crawford: bool = False
    number: int = 0

    @property
    def may_double(self) -> bool:
        return self.has_cube and not self.crawford and self.owner in {None, self.mover}


def start_points() -> Points:
    """Return the men before the first move, as seat 0 counts the points."""
    points = [0] * 26
    for point, men in START.items():
        points[point] += men
        points[25 - point] -= men
    return tuple(points)


def seen_from(board: Board, seat: Seat) -> tuple[list[int], int]:
    """Return the points as a player counts them, and the other player's men on the bar."""
    if seat == 0:
        return list(board.points), board.bar
    turned = [0] * 26
    for point in range(1, 25):
        turned[25 - point] = -board.points[point]
    turned[BAR] = board.bar
    return turned, board.points[BAR]


def with_points(board: Board, seat: Seat, points: Sequence[int], bar: int) -> Board:
    """Return the board with men as a player counts them."""
    if seat == 0:
        return replace(board, points=tuple(points), bar=bar)
    turned = [0] * 26
    for point in range(1, 25):
        turned[25 - point] = -points[point]
    turned[BAR] = bar
    return replace(board, points=tuple(turned), bar=points[BAR])


def steps(points: Sequence[int], die: int) -> Iterator[Step]:
    """Yield the moves of one man."""
    sources = [BAR] if points[BAR] else [n for n in range(24, 0, -1) if points[n] > 0]
    farthest = max((n for n in range(1, 26) if points[n] > 0), default=0)
    for source in sources:
        to = source - die
        if to >= 1:
            if points[to] >= -1:
                yield source, to
        elif farthest <= 6 and (to == 0 or source == farthest):
            yield source, OFF


def stepped(points: Sequence[int], step: Step) -> tuple[list[int], int]:
    """Return the points after a man has moved, and how many men that hit."""
    after, hits = list(points), 0
    source, to = step
    after[source] -= 1
    if to != OFF:
        if after[to] == -1:
            after[to], hits = 0, 1
        after[to] += 1
    return after, hits


def plays(points: Sequence[int], bar: int, dice: Sequence[int]) -> dict[tuple[Any, ...], Play]:
    """Return the legal plays of a roll by the positions that they lead to.

    As many dice as possible must be used, and the higher one if only one can be.
    """
    orders = [tuple(dice)] if len(dice) == 4 else [tuple(dice), tuple(reversed(dice))]
    plays: dict[tuple[Any, ...], Play] = {}
    best = 0
    for order in orders:
        level: dict[tuple[Any, ...], Play] = {(*points, bar): ()}
        for count, die in enumerate(order, 1):
            following: dict[tuple[Any, ...], Play] = {}
            for (*place, hit), play in level.items():
                for step in steps(place, die):
                    after, hits = stepped(place, step)
                    following.setdefault((*after, hit + hits), (*play, step))
            if not following:
                break
            level = following
            if count > best:
                best, plays = count, {}
            if count == best:
                plays = {**level, **plays}
    if best == 1 and len(set(dice)) == 2:
        higher = {key: play for key, play in plays.items() if is_by(play[0], max(dice))}
        return higher or plays
    return plays


def is_by(step: Step, die: int) -> bool:
    """Return whether one man's move can have used a die."""
    source, to = step
    return source - to == die if to != OFF else source <= die


def name_of(point: int) -> str:
    """Return a point as it is written."""
    return {BAR: "bar", OFF: "off"}.get(point, str(point))


def text_of(play: Play) -> str:
    """Return a play as a move, the men farthest behind first."""
    return " ".join(f"{name_of(source)}/{name_of(to)}" for source, to in sorted(play, reverse=True))


def net(play: Iterable[Step]) -> dict[int, int]:
    """Return by how much a play changes the number of the player's men on each point."""
    change: Counter[int] = Counter()
    for source, to in play:
        change[source] -= 1
        change[to] += 1
    return {point: men for point, men in change.items() if men}


def read_steps(text: str) -> Play:
    """Return the moves of a text: 13/7 8/7, 24/18/13, 6/off(2), or just the points in pairs.

    "From 13 to 7 and 8 to 7" is 13/7 8/7, too.
    """
    steps: list[Step] = []
    text = BETWEEN_STEPS.sub(" ", BETWEEN_POINTS.sub("/", text))
    groups = [part for part in re.split(r"[\s,;]+", text.strip(" .!")) if part]
    if "/" not in text and "-" not in text:
        groups = ["/".join(groups[n : n + 2]) for n in range(0, len(groups), 2)]
    for group in groups:
        points = PART.findall(group.lower())
        if len(points) < 2 or PART.sub("", group.lower()).strip("/-"):
            raise No("A move is written as 13/7 8/7, with bar and off where they are needed.")
        numbers = [
            {"bar": BAR, "off": OFF}.get(name) or int(name.replace("off", "0"))
            for name, _ in points
        ]
        times = int(points[-1][1] or 1)
        for source, to in pairwise(numbers):
            steps += [(source, to)] * times
    return tuple(steps)


class Backgammon(Game[Board]):
    """Race your fifteen men home and off the board; the first to get them all off wins.

    Your men move from high points to low ones, as you see the board: from 24 to 1, and from your
    home (6 to 1) off the board, once all of them are there. Each die moves one man so many points;
    a double counts four times. A point with two or more men of your opponent is closed. A single
    man there is hit: it goes to the bar and must enter at your opponent's home before another man
    moves. Use as many dice as you can. Write "13/7 8/7", "bar/22", "6/off"; 24/18/13 moves one man
    twice.

    The player who has borne off all men first wins a point; two if the opponent has borne off none
    (a gammon), three if a man of theirs is left in your home or on the bar as well (a backgammon).

    With -match=N the first player with N points wins. From three points on there is a doubling
    cube: before you roll, you may reply "double"; your opponent replies "take", and owns the cube,
    or "drop", and loses what the game counts so far. In the game after a player comes within one
    point of the match nobody may double (Crawford).
    """

    key, title = "backgammon", "Backgammon"
    options = (
        Option("match", "points that win", (1, 3, 5, 7, 9, 11, 15, 21), 1),
        Option("cube", "a match has a doubling cube", (False, True), True),
    )
    draws = False
    words = (
        *("roll", "double", "take", "drop", "bar", "off", "from", "to", "and", "then"),
        *ANSWERS_TO_DOUBLE,
    )

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Board:
        target = options["match"]
        has_cube = options["cube"] and target > 1
        return self.new_game((0, 0), 0, target, rng, has_cube=has_cube)

    def new_game(
        self, score: tuple[int, int], number: int, target: int, rng: Rng, *, has_cube: bool
    ) -> Board:
        """Return the first position of a game; the higher die begins with both."""
        rng.deal(number)
        dice = (1, 1)
        while dice[0] == dice[1]:
            dice = (1 + rng.below(6), 1 + rng.below(6))
        mover = 0 if dice[0] > dice[1] else 1
        rolled = (max(dice), min(dice))
        board = Board(start_points(), 0, rolled, mover, target=target, has_cube=has_cube)
        return replace(board, score=score, number=number)

    def first(self, state: Board) -> Sequence[Seat]:
        return (state.mover,)

    def legal(self, state: Board, seat: Seat) -> dict[tuple[Any, ...], Play]:
        """Return the legal plays by the positions that they lead to."""
        points, bar = seen_from(state, seat)
        return plays(points, bar, state.dice)

    def moves(self, state: Board, seat: Seat) -> Iterable[str]:
        if state.stage == "roll":
            return ["roll", "double"]
        if state.stage == "take":
            return ["take", "drop"]
        return list(dict.fromkeys(text_of(play) for play in self.legal(state, seat).values()))

    def read(self, state: Board, seat: Seat, text: str) -> str:
        word = text.strip(" .!").casefold()
        if state.stage != "move":
            allowed = list(self.moves(state, seat))
            answer = ANSWERS_TO_DOUBLE.get(word, word)
            if answer in allowed:
                return answer
            raise No(f"Reply {' or '.join(allowed)}.")
        if word in {"roll", "double", "take", "drop"}:
            raise No("The dice are rolled already.")
        wanted = read_steps(text)
        legal = list(self.legal(state, seat).values())
        exact = [play for play in legal if sorted(play) == sorted(wanted)]
        same = exact or [play for play in legal if net(play) == net(wanted)]
        if len(same) == 1:
            return text_of(same[0])
        if same:
            ways = " or ".join(text_of(play) for play in same)
            raise No(f"That could be {ways}; write each step.")
        used = max((len(play) for play in legal), default=0)
        raise No(
            f"That does not use the dice {' and '.join(map(str, state.dice[:2]))} by the rules; "
            f"move {used} time{'' if used == 1 else 's'}."
        )

    def play(self, state: Board, seat: Seat, move: str, rng: Rng) -> After[Board]:
        if move == "double":
            offered = replace(state, stage="take", mover=1 - seat)
            reports = [f"{{{seat}}} doubled to {2 * state.cube}."]
            return After(offered, reports, next=[1 - seat], final=True)
        if move == "take":
            doubled = replace(state, cube=2 * state.cube, owner=seat, mover=1 - seat)
            return self.rolled(doubled, [f"{{{seat}}} took the cube."], rng)
        if move == "drop":
            return self.scored(state, 1 - seat, state.cube, [f"{{{seat}}} dropped."], rng)
        if move == "roll":
            return self.rolled(state, [], rng)
        key = next(key for key, play in self.legal(state, seat).items() if text_of(play) == move)
        moved = with_points(state, seat, key[:26], key[26])
        reports = [f"{{{seat}}} played {move}."]
        points, _ = seen_from(moved, seat)
        if not any(men > 0 for men in points):
            return self.scored(moved, seat, moved.cube * self.worth(moved, seat), reports, rng)
        return self.handed_on(replace(moved, mover=1 - seat), reports, rng)

    def handed_on(self, state: Board, reports: list[str], rng: Rng) -> After[Board]:
        """Return what comes before the next player's move: a chance to double, or the dice."""
        if state.may_double:
            return After(replace(state, stage="roll", dice=()), reports, next=[state.mover])
        return self.rolled(state, reports, rng)

    def rolled(self, state: Board, reports: list[str], rng: Rng) -> After[Board]:
        """Roll; a player who cannot move loses the turn."""
        mover = state.mover
        dice = (1 + rng.below(6), 1 + rng.below(6))
        reports = [*reports, f"{{{mover}}} rolled {dice[0]} and {dice[1]}."]
        used = dice * 2 if dice[0] == dice[1] else dice
        after = replace(state, dice=used, stage="move")
        if self.legal(after, mover):
            return After(after, reports, next=[mover], final=True)
        reports.append(f"{{{mover}}} had no move.")
        return self.handed_on(replace(after, mover=1 - mover, dice=()), reports, rng)

    def worth(self, state: Board, winner: Seat) -> int:
        """Return how often a game counts: 2 for a gammon, 3 for a backgammon."""
        points, _ = seen_from(state, 1 - winner)
        left = sum(men for men in points if men > 0)
        if left < 15:
            return 1
        return 3 if points[BAR] or any(points[n] > 0 for n in range(19, 25)) else 2

    def scored(
        self, state: Board, winner: Seat, points: int, reports: list[str], rng: Rng
    ) -> After[Board]:
        """Count a game, and begin the next one."""
        gained = [n + (points if seat == winner else 0) for seat, n in enumerate(state.score)]
        score = (gained[0], gained[1])
        if state.target > 1:
            reports = [*reports, f"{{{winner}}} won {points} point{'' if points == 1 else 's'}."]
        if max(score) >= state.target:
            return After(replace(state, score=score), reports)
        was_crawford = state.was_crawford or state.crawford
        number = state.number + 1
        new = self.new_game(score, number, state.target, rng, has_cube=state.has_cube)
        crawford = max(score) == state.target - 1 and not was_crawford
        new = replace(new, crawford=crawford, was_crawford=was_crawford)
        reports += [
            f"A new game begins; the score is {score[0]} to {score[1]}.",
            f"{{{new.mover}}} begins with {new.dice[0]} and {new.dice[1]}.",
        ]
        return After(new, reports, next=[new.mover], final=True)

    def over(self, state: Board) -> Result | None:
        if max(state.score) < state.target:
            return None
        if state.target == 1:
            return ranked(state.score, "all men are off")
        return ranked([min(points, state.target) for points in state.score], "the match")

    def show(self, state: Board, seat: Seat | None) -> list[Grid | Items | str]:
        parts: list[Grid | Items | str] = [self.grid(state, seat or 0)]
        if state.stage == "move" and state.dice:
            parts.append(Items("Dice", [str(die) for die in state.dice[:2]]))
        pips = [self.pips(state, 0), self.pips(state, 1)]
        parts.append(f"{pips[0]} pips to go for {{0}}, {pips[1]} for {{1}}.")
        off = [self.men_off(state, 0), self.men_off(state, 1)]
        if any(off):
            parts.append(f"{off[0]} men off for {{0}}, {off[1]} for {{1}}.")
        if state.target > 1:
            won, lost = state.score
            match = f"Match to {state.target}: {won} for {{0}}, {lost} for {{1}}."
            cube = f" The cube is at {state.cube}." if state.has_cube else ""
            no_doubles = state.crawford and state.has_cube
            crawford = " No doubles in this game (Crawford)." if no_doubles else ""
            parts.append(match + cube + crawford)
        return parts

    def grid(self, state: Board, seat: Seat) -> Grid:
        """Return the board as a player sees it."""
        points, bar = seen_from(state, seat)
        men_at = {str(point): points[point] for point in range(1, 25)}
        men_at |= {"bar": points[BAR], "their bar": -bar}
        order = (
            [*map(str, range(13, 19)), "their bar", *map(str, range(19, 25))],
            [*map(str, range(12, 6, -1)), "bar", *map(str, range(6, 0, -1))],
        )
        mine, theirs = ("X", "O") if seat == 0 else ("O", "X")

        def key(name: str) -> str:
            men = men_at[name]
            if not men:
                return "." if name.isdigit() else " "
            return mine if men > 0 else theirs

        return Grid(
            [[key(name) for name in names] for names in order],
            MEN,
            shape="points",
            columns=[""] * 13,
            lines=["", ""],
            names={(row, n): name for row in range(2) for n, name in enumerate(order[row])},
            counts={name: abs(men) for name, men in men_at.items() if men},
        )

    def men_off(self, state: Board, seat: Seat) -> int:
        """Return how many men a player has borne off."""
        points, _ = seen_from(state, seat)
        return 15 - sum(men for men in points if men > 0)

    def pips(self, state: Board, seat: Seat) -> int:
        """Return how many points a player's men have still to go."""
        points, _ = seen_from(state, seat)
        return sum(point * men for point, men in enumerate(points) if men > 0)

    def ask(self, state: Board, seat: Seat) -> str:
        if state.stage == "roll":
            return 'Reply "roll", or "double" to double first.'
        if state.stage == "take":
            return f'The cube would be at {2 * state.cube}: reply "take" or "drop".'
        example = next(iter(self.moves(state, seat)))
        dice = f"{state.dice[0]} and {state.dice[1]}"
        return f'You have rolled {dice}: reply with your moves, such as "{example}".'


GAME = Backgammon()

# -- the bots -------------------------------------------------------------------------------------


def value(points: Sequence[int], bar: int) -> float:
    """Estimate a position for the player who has just moved, in pips."""
    mine = sum(n * men for n, men in enumerate(points) if men > 0)
    theirs = sum((25 - n) * -men for n, men in enumerate(points) if men < 0) + 25 * bar
    off = 15 - sum(men for men in points if men > 0)
    last_mine = max((n for n in range(1, 26) if points[n] > 0), default=0)
    last_theirs = min((n for n in range(1, 25) if points[n] < 0), default=25) if not bar else 0
    total = theirs - mine + 0.0
    if last_mine < last_theirs:
        return total + 4 * off
    run = 0
    for n in range(1, 25):
        if points[n] >= 2:
            run += 1
            total += (5.0 if n in {4, 5, 6, 7} else 3.0 if n in {20, 21} else 1.5) + 1.2 * run
        else:
            run = 0
        if points[n] == 1:
            total -= hits_on(points, bar, n) * (25 - n + 4) / 36 * (1.0 + 0.25 * made(points))
        if points[n] > 3:
            total -= 0.8 * (points[n] - 3)
    total += bar * (6 + 4 * made_home(points))
    return total - points[BAR] * 9


def made(points: Sequence[int]) -> int:
    """Return how many points of the other player's home are closed."""
    return sum(points[n] <= -2 for n in range(19, 25))


def made_home(points: Sequence[int]) -> int:
    """Return how many points of the player's own home are closed."""
    return sum(points[n] >= 2 for n in range(1, 7))


def hits_on(points: Sequence[int], bar: int, blot: int) -> int:
    """Return how many of the 36 rolls hit a man, roughly."""
    sources = [n for n in range(1, blot) if points[n] < 0] + ([0] if bar else [])
    hit = 0
    distances = {blot - n for n in sources}
    for first in range(1, 7):
        for second in range(1, 7):
            reach = {first, second}
            if first == second:
                reach |= {n * first for n in (2, 3, 4) if is_open(points, blot, first, n)}
            elif points[blot - first] < 2 or points[blot - second] < 2:
                reach.add(first + second)
            hit += not distances.isdisjoint(reach)
    return hit


def is_open(points: Sequence[int], blot: int, die: int, count: int) -> bool:
    """Return whether a double reaches a man over points that are not closed."""
    return all(points[blot - n * die] < 2 for n in range(1, count) if blot - n * die > 0)


def chance(state: Board, seat: Seat) -> float:
    """Estimate how likely the player to roll wins."""
    points, bar = seen_from(state, seat)
    lead = value(points, bar) + 8
    left = max(20, sum(n * men for n, men in enumerate(points) if men > 0))
    return 1 / (1 + math.exp(-3.2 * lead / left))


def bot(blur: float) -> Bot[Board]:
    """Return a bot that takes the best position after each roll, as far as it sees them clearly."""

    def choose(state: Board, seat: Seat, rng: Rng) -> str:
        if state.stage == "roll":
            return "double" if 0.7 < chance(state, seat) < 0.92 else "roll"
        if state.stage == "take":
            return "drop" if chance(state, 1 - seat) > 0.78 else "take"
        scored = [
            (value(key[:26], key[26]) + blur * rng.below(1000) / 1000, text_of(play))
            for key, play in GAME.legal(state, seat).items()
        ]
        return max(scored)[1]

    return choose


GAME.bots = {"house-easy": bot(70.0), "house": bot(35.0), "house-best": bot(0.0)}
