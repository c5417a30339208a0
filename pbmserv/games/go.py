"""Go, by area scoring."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from math import isqrt
from typing import Any

from pbmserv.game import (
    After,
    Bot,
    Effort,
    Game,
    Grid,
    No,
    Option,
    Piece,
    Result,
    Rng,
    Seat,
    draw,
    win,
)

COLUMNS = "ABCDEFGHJKLMNOPQRST"
STONES = {
    "X": Piece("X", "black stone", 0, "\N{BLACK CIRCLE}"),
    "O": Piece("O", "white stone", 1, "\N{WHITE CIRCLE}"),
    "x": Piece("x", "dead black stone", None, "\N{DOTTED CIRCLE}"),
    "o": Piece("o", "dead white stone", None, "\N{DOTTED CIRCLE}"),
}
NAME = re.compile(r"\b([A-HJ-T])(1[0-9]|[1-9])\b", re.IGNORECASE)
COLUMN_I = re.compile(r"\bI(1[0-9]|[1-9])\b", re.IGNORECASE)
ANSWERS = {"accept": "agree", "reject": "resume"}
NAMED_DEAD = re.compile(r"\bdead\b", re.IGNORECASE)
HANDICAPS = {
    2: "DQ QD", 3: "DQ QD QQ", 4: "DQ QD QQ DD", 5: "DQ QD QQ DD KK", 6: "DQ QD QQ DD DK QK",
    7: "DQ QD QQ DD DK QK KK", 8: "DQ QD QQ DD DK QK KD KQ", 9: "DQ QD QQ DD DK QK KD KQ KK",
}  # fmt: skip
"""Handicap stones by their number: column and line of each, near (D), far (Q) or middle (K)."""


@cache
def names(size: int) -> tuple[str, ...]:
    """Return the names of all crossings, row by row from the top."""
    return tuple(f"{COLUMNS[n % size]}{size - n // size}" for n in range(size * size))


@cache
def beside(size: int) -> tuple[tuple[int, ...], ...]:
    """Return the crossings beside each crossing."""
    return tuple(
        tuple(
            other
            for other, is_there in (
                (n - 1, n % size > 0),
                (n + 1, n % size < size - 1),
                (n - size, n >= size),
                (n + size, n < size * (size - 1)),
            )
            if is_there
        )
        for n in range(size * size)
    )


def star_points(size: int, count: int) -> list[int]:
    """Return the crossings of handicap stones."""
    near, far, middle = (2 if size < 13 else 3), size - (3 if size < 13 else 4), size // 2
    at = {"D": near, "Q": far, "K": middle}
    return [at[row] * size + at[column] for column, row in map(tuple, HANDICAPS[count].split())]


@dataclass(frozen=True)
class Position:
    """A position.

    Attributes:
        board: row by row from the top.
        seen: hashes of all boards so far.
        passes: one after the other, so far.
        stage: "play"; "mark" while a player names dead stones; "agree" while the other answers;
            "over".
        dead: stones that a player has named as dead.
        resumed: whether the players once disagreed, so that the next passes end the game.
        twice_komi: twice the points that white gets, a whole number.
        handicap: black stones that were there at the beginning.
    """

    board: str
    seen: frozenset[int]
    twice_komi: int
    passes: int = 0
    stage: str = "play"
    dead: frozenset[int] = frozenset()
    resumed: bool = False
    handicap: int = 0


def size_of(board: str) -> int:
    """Return the number of rows of a board."""
    return isqrt(len(board))


def hash_of(board: str) -> int:
    """Return the hash of a board."""
    return int.from_bytes(blake2b(board.encode(), digest_size=8).digest(), "big")


def group(board: str, cell: int) -> tuple[set[int], set[int]]:
    """Return the stones joined to a stone, and their liberties."""
    around, stone = beside(size_of(board)), board[cell]
    stones, waiting, liberties = {cell}, [cell], set[int]()
    while waiting:
        for other in around[waiting.pop()]:
            if board[other] == ".":
                liberties.add(other)
            elif board[other] == stone and other not in stones:
                stones.add(other)
                waiting.append(other)
    return stones, liberties


def placed(board: str, cell: int, stone: str) -> str | None:
    """Return the board after a stone is played; `None` if that would be suicide."""
    around = beside(size_of(board))[cell]
    after = f"{board[:cell]}{stone}{board[cell + 1 :]}"
    taken: set[int] = set()
    for other in around:
        if after[other] not in {".", stone} and other not in taken:
            stones, liberties = group(after, other)
            if not liberties:
                taken |= stones
    if taken:
        cells = list(after)
        for other in taken:
            cells[other] = "."
        return "".join(cells)
    if any(after[other] == "." for other in around) or group(after, cell)[1]:
        return after
    return None


def is_eye(board: str, cell: int, stone: str) -> bool:
    """Return whether a free crossing is surrounded by stones of one player."""
    return all(board[other] == stone for other in beside(size_of(board))[cell])


def areas(board: str) -> tuple[int, int]:
    """Return the stones of both players, each with the free crossings that only they reach."""
    around, counts = beside(size_of(board)), [board.count("X"), board.count("O")]
    done: set[int] = set()
    for cell, stone in enumerate(board):
        if stone != "." or cell in done:
            continue
        region, waiting, reached = {cell}, [cell], set()
        while waiting:
            for other in around[waiting.pop()]:
                if board[other] != ".":
                    reached.add(board[other])
                elif other not in region:
                    region.add(other)
                    waiting.append(other)
        done |= region
        if len(reached) == 1:
            counts["XO".index(reached.pop())] += len(region)
    return counts[0], counts[1]


def lead(state: Position, board: str) -> float:
    """Return by how many points black leads on the board of a position, or on another one."""
    black, white = areas(board)
    extra = state.handicap if state.handicap > 1 else 0
    return black - white - extra - state.twice_komi / 2


def example_of_dead(state: Position) -> str:
    """Return an example of words that name a dead stone: one of the stones, if there are any."""
    named = names(size_of(state.board))
    stone = next((name for name, cell in zip(named, state.board, strict=True) if cell != "."), "D4")
    return f"dead {stone}"


class Go(Game[Position]):
    """Surround as much of the board as you can; more points than your opponent win.

    Black (X) begins. Put a stone on any free crossing, or pass. Stones without a free crossing
    beside them or beside the stones they are joined to are captured. You may not take the last
    liberty of your own stones, and no position of the board may come again (positional superko).

    After two passes the player to move names the dead stones, "dead D4 Q16" (one of a group is
    enough), or "none". The other player replies "agree", or "resume" to play on; then the next two
    passes end the game, and all stones count as alive.

    Each player has a point for each stone on the board and each free crossing that only their
    stones reach (area scoring). White gets the komi on top, and a point for each handicap stone.
    """

    key, title = "go", "Go"
    options = (
        Option("size", "lines of the board", (9, 13, 19), 9),
        Option("komi", "points for white", (0.5, 5.5, 6.5, 7, 7.5), 7.5),
        Option("handicap", "black stones at the beginning; white moves first", range(10), 0),
    )
    words = ("pass", "dead", "none", "agree", "resume", *ANSWERS)

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Position:
        size, stones = options["size"], options["handicap"]
        board = ["."] * size * size
        for cell in star_points(size, stones) if stones > 1 else ():
            board[cell] = "X"
        first = "".join(board)
        twice_komi = round(2 * options["komi"])
        return Position(first, frozenset({hash_of(first)}), twice_komi, handicap=max(0, stones))

    def first(self, state: Position) -> Sequence[Seat]:
        return [1 if state.handicap > 1 else 0]

    def legal(self, state: Position, seat: Seat) -> Iterator[int]:
        """Yield the crossings where a player may put a stone."""
        for cell, there in enumerate(state.board):
            if there == ".":
                after = placed(state.board, cell, "XO"[seat])
                if after is not None and hash_of(after) not in state.seen:
                    yield cell

    def sensible(self, state: Position, seat: Seat) -> Iterator[int]:
        """Yield the legal crossings that are not eyes of the player."""
        for cell in self.legal(state, seat):
            if not is_eye(state.board, cell, "XO"[seat]):
                yield cell

    def moves(self, state: Position, seat: Seat) -> Iterable[str]:
        if state.stage == "mark":
            yield "none"
            return
        if state.stage == "agree":
            yield from ("agree", "resume")
            return
        named = names(size_of(state.board))
        for cell in self.sensible(state, seat):
            yield named[cell]
        yield "pass"

    def read(self, state: Position, seat: Seat, text: str) -> str:
        size = size_of(state.board)
        word = text.strip(" .!").casefold()
        cells = [f"{column.upper()}{row}" for column, row in NAME.findall(text)]
        for name in cells:
            if name not in names(size):
                raise No(f"There is no crossing {name} on this board.")
        if not cells and COLUMN_I.search(text):
            raise No("There is no column I in Go; J comes after H.")
        if state.stage == "agree":
            answer = ANSWERS.get(word, word)
            if answer in {"agree", "resume"}:
                return answer
            raise No("Reply agree or resume.")
        if state.stage == "mark":
            return self.read_dead(state, word, cells)
        if word == "pass":
            return word
        if NAMED_DEAD.search(text):
            raise No("Dead stones are named after two passes.")
        if len(cells) != 1:
            raise No("Name one free crossing, or pass.")
        self.refuse_illegal(state, seat, cells[0])
        return cells[0]

    def read_dead(self, state: Position, word: str, cells: Sequence[str]) -> str:
        """Return the move that names dead stones, with all stones of their groups."""
        if word in {"none", "dead none"}:
            return "none"
        if not cells:
            raise No(f"Name dead stones, such as {example_of_dead(state)}, or reply none.")
        named = [names(size_of(state.board))[cell] for cell in sorted(self.dead(state, cells))]
        return f"dead {' '.join(named)}"

    def refuse_illegal(self, state: Position, seat: Seat, name: str) -> None:
        """Refuse a crossing where the player may not put a stone."""
        cell = names(size_of(state.board)).index(name)
        if state.board[cell] != ".":
            raise No(f"There is a stone on {name}.")
        after = placed(state.board, cell, "XO"[seat])
        if after is None:
            raise No(f"A stone on {name} would have no liberty.")
        if hash_of(after) in state.seen:
            raise No(f"With a stone on {name} the board would be as it was before (superko).")

    def dead(self, state: Position, cells: Sequence[str]) -> set[int]:
        """Return all stones of the groups that are named."""
        stones: set[int] = set()
        for name in cells:
            cell = names(size_of(state.board)).index(name)
            if state.board[cell] == ".":
                raise No(f"There is no stone on {name}.")
            stones |= group(state.board, cell)[0]
        return stones

    def play(self, state: Position, seat: Seat, move: str, rng: Rng) -> Position | After[Position]:
        if state.stage == "mark":
            cells = move.split()[1:] if move != "none" else []
            marked = replace(state, stage="agree", dead=frozenset(self.dead(state, cells)))
            claim = f"named as dead: {', '.join(cells)}" if cells else "named no stone as dead"
            return After(marked, [f"{{{seat}}} {claim}."])
        if move == "agree":
            return After(replace(state, stage="over"), [f"{{{seat}}} agreed on the dead stones."])
        if move == "resume":
            again = replace(state, stage="play", passes=0, dead=frozenset(), resumed=True)
            return After(again, [f"{{{seat}}} did not agree, and the game goes on."])
        if move == "pass":
            stage = "play"
            if state.passes == 1:
                stage = "over" if state.resumed else "mark"
            passed = replace(state, passes=state.passes + 1, stage=stage)
            return After(passed, [f"{{{seat}}} passed."])
        size = size_of(state.board)
        after = placed(state.board, names(size).index(move), "XO"[seat])
        assert after is not None
        return replace(state, board=after, seen=state.seen | {hash_of(after)}, passes=0)

    def over(self, state: Position) -> Result | None:
        if state.stage != "over":
            return None
        ahead = lead(state, self.without_dead(state))
        if ahead == 0:
            return draw("equal areas")
        points = "1 point" if abs(ahead) == 1 else f"{abs(ahead):g} points"
        return win(0 if ahead > 0 else 1, f"{'black' if ahead > 0 else 'white'} by {points}")

    def without_dead(self, state: Position) -> str:
        """Return the board without dead stones."""
        return "".join("." if n in state.dead else stone for n, stone in enumerate(state.board))

    def show(self, state: Position, seat: Seat | None) -> list[Grid | str]:
        size = size_of(state.board)
        board = "".join(
            stone.lower() if n in state.dead else stone for n, stone in enumerate(state.board)
        )
        rows = [board[n : n + size] for n in range(0, size * size, size)]
        lines = [str(size - n) for n in range(size)]
        black, white = areas(self.without_dead(state))
        count = (
            f"Area as it stands: black {black}, white {white} and {state.twice_komi / 2:g} komi."
        )
        grid = Grid(rows, STONES, columns=COLUMNS, lines=lines, shape="lines")
        return [grid] if state.stage == "play" else [grid, count]

    def ask(self, state: Position, seat: Seat) -> str:
        if state.stage == "mark":
            example = example_of_dead(state)
            return f'Both have passed. Name the dead stones, such as "{example}", or reply "none".'
        if state.stage == "agree":
            return 'Reply "agree" if the dead stones are right, or "resume" to play on.'
        last = names(size_of(state.board))[size_of(state.board) - 1]
        return f'Reply with a free crossing from A1 to {last}, or "pass".'


GAME = Go()

# -- the bots -------------------------------------------------------------------------------------


def stifled(board: list[str], cell: int, around: Sequence[Sequence[int]]) -> set[int]:
    """Return the stones joined to a stone if none of them has a liberty, else nothing."""
    stone, found, waiting = board[cell], {cell}, [cell]
    while waiting:
        for other in around[waiting.pop()]:
            there = board[other]
            if there == ".":
                return set()
            if there == stone and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def put(
    board: list[str], cell: int, stone: str, around: Sequence[Sequence[int]]
) -> list[int] | None:
    """Put a stone on a board, and return the captured stones; `None` if it would be suicide."""
    board[cell] = stone
    captured: list[int] = []
    for other in around[cell]:
        if board[other] not in {".", stone} and (dead := stifled(board, other, around)):
            captured += dead
            for dead_cell in dead:
                board[dead_cell] = "."
    if not captured and stifled(board, cell, around):
        board[cell] = "."
        return None
    return captured


def random_end(
    state: Position, seat: Seat, draws: random.Random
) -> tuple[list[str], dict[int, str]]:
    """Play a random game in which nobody fills an own eye.

    Return the last board, and for each crossing the first stone that was put there.
    """
    around = beside(size_of(state.board))
    board = list(state.board)
    free = [n for n, stone in enumerate(board) if stone == "."]
    firsts: dict[int, str] = {}
    stone, forbidden, passes = "XO"[seat], -1, 0
    for _ in range(3 * len(board)):
        untried, captured, cell = len(free), None, -1
        while untried and captured is None:
            at = int(draws.random() * untried)
            untried -= 1
            cell = free[at]
            free[at], free[untried] = free[untried], cell
            if cell != forbidden and any(board[other] != stone for other in around[cell]):
                captured = put(board, cell, stone, around)
        if captured is None:
            passes += 1
            if passes == 2:
                break
        else:
            firsts.setdefault(cell, stone)
            passes, forbidden = 0, captured[0] if len(captured) == 1 else -1
            free[untried] = free[-1]
            free.pop()
            free += captured
        stone = "O" if stone == "X" else "X"
    return board, firsts


def gains(state: Position, seat: Seat, draws: random.Random, count: int) -> list[float]:
    """Return for each crossing how many points it gains to be the first there.

    This compares the random games in which the player is first with those in which the other is.
    """
    points = [[0.0] * len(state.board) for _ in range(2)]
    games = [[0] * len(state.board) for _ in range(2)]
    for _ in range(count):
        board, firsts = random_end(state, seat, draws)
        black, white = areas("".join(board))
        ahead = black - white if seat == 0 else white - black
        for cell, stone in firsts.items():
            side = "XO".index(stone)
            points[side][cell] += ahead
            games[side][cell] += 1
    return [
        points[seat][n] / max(1, games[seat][n]) - points[1 - seat][n] / max(1, games[1 - seat][n])
        for n in range(len(state.board))
    ]


def stones_at_stake(state: Position, seat: Seat, cell: int) -> float:
    """Return how many stones a move captures and saves, less those that it gives away."""
    stone = "XO"[seat]
    after = placed(state.board, cell, stone) or state.board
    stones, liberties = group(after, cell)
    captured = state.board.count("OX"[seat]) - after.count("OX"[seat])
    if len(liberties) == 1:
        return captured - len(stones)
    saved: set[int] = set()
    for other in beside(size_of(state.board))[cell]:
        if state.board[other] == stone and len((joined := group(state.board, other))[1]) == 1:
            saved |= joined[0]
    return captured + len(saved) * (1.0 if len(liberties) > 2 or captured else 0.25)


def is_lonely(board: str, cell: int) -> bool:
    """Return whether a crossing is on the first two lines and no stone is near it."""
    size = size_of(board)
    row, column = divmod(cell, size)
    if 2 <= row < size - 2 and 2 <= column < size - 2:
        return False
    return not any(
        board[line * size + other] != "."
        for line in range(max(0, row - 2), min(size, row + 3))
        for other in range(max(0, column - 2), min(size, column + 3))
    )


def likely_dead(state: Position, seat: Seat, rng: Rng) -> set[int]:
    """Return the stones that seldom survive random games."""
    draws = random.Random(rng.below(2**32))  # noqa: S311 - for playing only
    count = max(4, round(40 * Effort.share))
    survived = [0] * len(state.board)
    for n in range(count):
        for cell, stone in enumerate(random_end(state, (seat + n) % 2, draws)[0]):
            survived[cell] += stone == state.board[cell]
    return {n for n, stone in enumerate(state.board) if stone != "." and survived[n] < count / 4}


def bot(count: int, skill: float) -> Bot[Position]:
    """Return a bot.

    Args:
        count: the random games for a move on the smallest board.
        skill: points for each stone that a move captures or saves, beside what the games say.
    """

    def choose(state: Position, seat: Seat, rng: Rng) -> str:
        named = names(size_of(state.board))
        if state.stage == "mark":
            dead = GAME.dead(state, [named[n] for n in likely_dead(state, seat, rng)])
            return f"dead {' '.join(named[n] for n in sorted(dead))}" if dead else "none"
        if state.stage == "agree":
            mine = {n for n in state.dead if state.board[n] == "XO"[seat]}
            return "agree" if mine <= likely_dead(state, seat, rng) else "resume"
        if state.passes and (lead(state, state.board) > 0) == (seat == 0):
            return "pass"
        cells = list(GAME.sensible(state, seat))
        cells = [n for n in cells if not is_lonely(state.board, n)] or cells
        if not cells:
            return "pass"
        draws = random.Random(rng.below(2**32))  # noqa: S311 - for playing only
        games = max(4, round(count * Effort.share * (81 / len(state.board)) ** 1.6))
        worth = gains(state, seat, draws, games)
        best = max(
            cells, key=lambda n: worth[n] + (skill and skill * stones_at_stake(state, seat, n))
        )
        return named[best]

    return choose


GAME.bots = {"house-easy": bot(20, 0.0), "house": bot(100, 2.0), "house-best": bot(700, 2.0)}
