"""Liar's dice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import comb
from typing import Any

from pbmserv.game import After, Bot, Game, Items, No, Option, Result, Rng, Seat, Told

FACES = ("ones", "twos", "threes", "fours", "fives", "sixes")
NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
BID = re.compile(r"([0-9]{1,2}|[a-z]{1,9})[\s,x*of]{0,9}?([1-6]|[a-z]{1,9})")
DOUBTS = frozenset({"liar", "liar liar", "doubt", "i doubt it", "call", "call liar", "bluff"})
"""Ways to doubt a bid."""


@dataclass(frozen=True)
class Round:
    """A round.

    Attributes:
        dice: of each seat, sorted; 0 is a die that the reader may not see.
        bid: number of dice and face; `None` before the first bid of a round.
        bidder: the seat that has bid.
        lost: seats without dice, in the order in which they lost.
        wild: whether ones count as every face.
    """

    dice: tuple[tuple[int, ...], ...]
    bid: tuple[int, int] | None = None
    bidder: Seat = 0
    lost: tuple[Seat, ...] = ()
    wild: bool = True

    @property
    def total(self) -> int:
        return sum(map(len, self.dice))

    def count(self, face: int) -> int:
        """Return how many dice show a face, or a one that counts as it."""
        shown = [die for dice in self.dice for die in dice]
        ones = shown.count(1) if self.wild and face != 1 else 0
        return shown.count(face) + ones


def bid_text(bid: tuple[int, int]) -> str:
    """Return a bid as a move."""
    count, face = bid
    return f"{count} {FACES[face - 1] if count != 1 else NUMBERS[face]}"


def is_higher(bid: tuple[int, int], last: tuple[int, int] | None) -> bool:
    """Return whether a bid is more than the last one: more dice, or as many of a higher face."""
    return last is None or bid > last


class LiarsDice(Game[Round]):
    """Bid on everybody's dice, and catch the others lying; the last player with dice wins.

    Everybody has five dice and sees only their own. Take turns to bid how many dice of all players
    show a face: "3 fives". Each bid has more dice than the last one, or as many of a higher face.
    Ones count as every face (not with -wild=no). If you doubt the last bid, reply "liar": all dice
    are shown. If there are as many as the bid said, you lose a die, else the bidder does. Dice are
    rolled again, and the player who lost a die begins; after losing the last die you are out.
    """

    key, title, seats = "liar", "Liar's dice", (2, 6)
    options = (
        Option("dice", "dice of each player", range(1, 7), 5),
        Option("wild", "ones count as every face", (False, True), True),
    )
    hidden, draws = True, False
    words = ("liar", "doubt", "call", "bluff", "of", "x", "s", *FACES, *NUMBERS)

    def start(self, seats: int, options: Mapping[str, Any], rng: Rng) -> Round:
        dice = tuple(self.rolled(options["dice"], rng) for _ in range(seats))
        return Round(dice, wild=options["wild"])

    def rolled(self, count: int, rng: Rng) -> tuple[int, ...]:
        """Roll so many dice."""
        return tuple(sorted(1 + rng.below(6) for _ in range(count)))

    def moves(self, state: Round, seat: Seat) -> Iterable[str]:
        for count in range(1, state.total + 1):
            for face in range(1, 7):
                if is_higher((count, face), state.bid):
                    yield bid_text((count, face))
        if state.bid is not None:
            yield "liar"

    def read(self, state: Round, seat: Seat, text: str) -> str:
        words = " ".join(re.sub(r"(?<=[1-6])'?s\b", "", text.casefold()).strip(" .!").split())
        if words in DOUBTS:
            if state.bid is None:
                raise No("There is no bid to doubt yet.")
            return "liar"
        match = BID.fullmatch(words.rstrip("?"))
        bid = (number_of(match[1]), face_of(match[2])) if match else (0, 0)
        if not all(bid):
            raise No('A bid is a number and a face, such as "3 fives".')
        if bid[0] > state.total:
            raise No(f"There are only {state.total} dice.")
        if not is_higher(bid, state.bid):
            assert state.bid is not None
            raise No(f"Bid more dice than {bid_text(state.bid)}, or as many of a higher face.")
        return bid_text(bid)

    def play(self, state: Round, seat: Seat, move: str, rng: Rng) -> After[Round]:
        if move != "liar":
            bid = self.bid_of(move)
            after = replace(state, bid=bid, bidder=seat)
            return After(after, [f"{{{seat}}} bid {move}."], next=[self.following(state, seat)])
        assert state.bid is not None
        bid = state.bid
        there = state.count(bid[1])
        loser = seat if there >= bid[0] else state.bidder
        ones = ", with the ones" if state.wild and bid[1] != 1 else ""
        reports: list[str | Told] = [
            f"{{{seat}}} doubted {bid_text(bid)}.",
            f"There {'was' if there == 1 else 'were'} {bid_text((there, bid[1]))}{ones}. "
            + "; ".join(
                f"{{{n}}} had {' '.join(map(str, dice))}"
                for n, dice in enumerate(state.dice)
                if dice
            )
            + ".",
            f"{{{loser}}} lost a die.",
        ]
        return self.next_round(state, loser, reports, rng)

    def next_round(
        self, state: Round, loser: Seat, reports: list[str | Told], rng: Rng
    ) -> After[Round]:
        """Take a die from a player, and roll again."""
        left = [len(dice) - (n == loser) for n, dice in enumerate(state.dice)]
        dice = tuple(self.rolled(count, rng) for count in left)
        is_out = not dice[loser]
        lost = (*state.lost, loser) if is_out else state.lost
        after = replace(state, dice=dice, bid=None, lost=lost)
        begins = self.following(after, loser) if is_out else loser
        out = [loser] if is_out else []
        return After(after, reports, next=[begins], out=out, final=True)

    def bid_of(self, move: str) -> tuple[int, int]:
        """Return the bid of a move."""
        count, face = move.split()
        return int(count), face_of(face)

    def following(self, state: Round, seat: Seat) -> Seat:
        """Return the next player with dice."""
        seats = len(state.dice)
        after = [(seat + n) % seats for n in range(1, seats + 1)]
        return next(other for other in after if state.dice[other])

    def over(self, state: Round) -> Result | None:
        alive = [seat for seat, dice in enumerate(state.dice) if dice]
        if len(alive) > 1:
            return None
        order = [*alive, *reversed(state.lost)]
        places = tuple(1 + order.index(seat) for seat in range(len(state.dice)))
        return Result(places, "the last player with dice", tuple(map(len, state.dice)))

    def leave(self, state: Round, seat: Seat, rng: Rng) -> After[Round]:
        dice = tuple(
            () if n == seat else self.rolled(len(d), rng) for n, d in enumerate(state.dice)
        )
        after = replace(state, dice=dice, bid=None, lost=(*state.lost, seat))
        reports = ["All dice are rolled again."]
        return After(after, reports, next=[self.following(after, seat)], final=True)

    def seen(self, state: Round, seat: Seat | None) -> Round:
        dice = tuple(d if n == seat else (0,) * len(d) for n, d in enumerate(state.dice))
        return replace(state, dice=dice)

    def show(self, state: Round, seat: Seat | None) -> list[Items | str]:
        parts: list[Items | str] = []
        if seat is not None and state.dice[seat]:
            parts.append(Items("Your dice", [str(die) for die in state.dice[seat]]))
        parts.append(f"There are {state.total} dice, {self.counts(state)}.")
        if state.bid is not None:
            parts.append(f"The bid is {bid_text(state.bid)}.")
        return parts

    def counts(self, state: Round) -> str:
        """Return how many dice the players have, in the order of their seats."""
        return " + ".join(str(len(dice)) for dice in state.dice)

    def ask(self, state: Round, seat: Seat) -> str:
        if state.bid is None:
            return 'Reply with a bid, such as "2 fives".'
        count, face = state.bid
        higher = (count, face + 1) if face < len(FACES) else (count + 1, face)
        if higher[0] > state.total:
            return f'No bid is higher than {bid_text(state.bid)}: reply "liar".'
        return f'Reply with a higher bid, such as "{bid_text(higher)}", or "liar" if you doubt it.'


def number_of(word: str) -> int:
    """Return a number in digits or letters; 0 if it is none."""
    if word.isdigit():
        return int(word)
    return NUMBERS.index(word) if word in NUMBERS else 0


def face_of(word: str) -> int:
    """Return a face in digits or letters; 0 if it is none."""
    for face, name in enumerate(FACES, 1):
        if word in {str(face), name, NUMBERS[face]}:
            return face
    return 0


GAME = LiarsDice()

# -- the bots --------------------------------------------------------------------------------------


def chance(state: Round, seat: Seat, bid: tuple[int, int], trust: float) -> float:
    """Return how likely a bid is true, by the player's own dice.

    Args:
        trust: how much likelier an unknown die shows the face that was bid last.
    """
    mine = replace(state, dice=(state.dice[seat],)).count(bid[1])
    unknown = state.total - len(state.dice[seat])
    needed = bid[0] - mine
    odds = 1 / 3 if state.wild and bid[1] != 1 else 1 / 6
    if state.bid is not None and bid[1] == state.bid[1]:
        odds += trust
    if needed <= 0:
        return 1.0
    return sum(
        comb(unknown, n) * odds**n * (1 - odds) ** (unknown - n) for n in range(needed, unknown + 1)
    )


def gambler(doubts: float, bluffs: float, trust: float = 0.0) -> Bot[Round]:
    """Return a bot.

    It makes one of the lowest bids that are likely enough. If it trusts others, it makes the
    likeliest of these above another player's bid.

    Args:
        doubts: it doubts a bid that is less likely than this.
        bluffs: the least likelihood of its own bids.
        trust: see `chance`.
    """

    def choose(state: Round, seat: Seat, rng: Rng) -> str:
        def likelihood(bid: tuple[int, int]) -> float:
            return chance(state, seat, bid, trust)

        if state.bid is not None and likelihood(state.bid) < doubts:
            return "liar"
        bids = [
            (count, face)
            for count in range(1, state.total + 1)
            for face in range(1, 7)
            if is_higher((count, face), state.bid)
        ]
        if not bids:
            return "liar"
        floor = bluffs if rng.below(4) == 0 else min(0.6, bluffs + 0.25)
        likely = [bid for bid in bids if likelihood(bid) >= floor]
        if likely:
            few = likely[: 8 if state.bid is None else 5]
            # The likeliest first bid would tell the other players the bot's dice.
            by_chance = trust == 0.0 or state.bid is None
            return bid_text(rng.choice(few) if by_chance else max(few, key=likelihood))
        best = max(bids, key=likelihood)
        if state.bid is not None and likelihood(best) < 1 - likelihood(state.bid):
            return "liar"
        return bid_text(best)

    return choose


GAME.bots = {
    "house-easy": gambler(0.15, 0.2),
    "house": gambler(0.3, 0.35),
    "house-best": gambler(0.3, 0.35, trust=0.15),
}
