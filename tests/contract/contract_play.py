"""Plays any registered game by its protocol alone, for the contract tests."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from blackbox_alone import every_game
from examples import DEEP
from heaps import HEAPS, show_heaps

from pbmserv.engine.position import advance, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import AnyGame, Registry
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Note, Seat, Step
from pbmserv.letters.rendering import Links
from pbmserv.letters.replies import Mailto
from pbmserv.views.environment import environment

show_heaps()
TESTS = Path(__file__).resolve().parent.parent
GAMES = tuple(Registry([*(entry.load() for entry in every_game()), HEAPS]))
LONGEST = 2000
SOME, FEW = (12, 12) if DEEP else (3, 1)
"""States of a board that are looked at before the last one, where a look takes long: of a game with
secrets, and of one without."""
EVERY = 1 if DEEP else 16
"""Plies from one that is looked at to the next one, where a look takes less long."""
SEED = bytes(32)
"""Seed of the boards that most tests look at."""
NAMES = tuple(f"player{n}" for n in range(1, 9))


TEXTS = ("a", "1", "?", "what?", "!1", "99", "pass", "accept")
"""Texts that might be moves of some game."""


def folder(game: AnyGame) -> Path:
    """Return the folder of the contract files: here, or ``contract/KEY`` in the game's package."""
    package = sys.modules[_module(game).partition(".")[0]]
    shipped = TESTS / "golden" / game.info.key
    places = [] if shipped.is_dir() else getattr(package, "__path__", ())
    return next((Path(place, "contract", game.info.key) for place in places), shipped)


def _module(game: AnyGame) -> str:
    """The module that has the rules."""
    return type(getattr(game, "rules", game)).__module__


@cache
def hook(game: AnyGame) -> ModuleType | None:
    """``hook_KEY.py``, or ``hook.py`` in a package of its own: what this suite cannot know of a
    game. Each of these may be left out.

    ``OPTIONS`` lists option words to play with, and ``seats(words)`` says how many play then;
    ``alternatives(state, seat)`` gives other states that the seat (or spectators, ``None``) cannot
    tell from this one; ``GARBAGE`` is the alphabet that comes closest to moves; ``TEXTS`` are
    moves and what is nearly one, and ``FREE`` those that use no turn, of which some must do.
    """
    key, package = game.info.key, _module(game).partition(".")[0]
    names = (f"hook_{key}", f"{package}.contract.{key}.hook")
    for name in names:
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise  # the hook exists, but imports something missing
    return None


def alternatives(game: AnyGame, state: object, seat: Seat | None) -> list[Any]:
    """Return other states that the seat cannot distinguish from this one, if the hook has any."""
    named = getattr(hook(game), "alternatives", None)
    return list(named(state, seat)) if named else []


def free_texts(game: AnyGame) -> tuple[str, ...]:
    """Return moves that use no turn."""
    return tuple(getattr(hook(game), "FREE", ()))


def texts(game: AnyGame) -> tuple[str, ...]:
    """A strategy for texts that are similar to moves of a game."""
    return (*free_texts(game), *getattr(hook(game), "TEXTS", ()), *TEXTS)


def option_sets(game: AnyGame) -> list[tuple[str, ...]]:
    """Return the option words to try, which always include the classic game."""
    game_hook = hook(game)
    return list(getattr(game_hook, "OPTIONS", [()]))


def seats_for(game: AnyGame, words: tuple[str, ...]) -> int:
    """Return the number of players with these options, by default the most that the game allows."""
    counted = getattr(hook(game), "seats", None)
    return counted(words) if counted is not None else game.info.max_seats


CASES = [(game, words) for game in GAMES for words in option_sets(game)]
CASE_NAMES = [f"{game.info.key} {' '.join(words)}".strip() for game, words in CASES]

MAILTO = Mailto("pbmserv+token@games.example", "Re: a board")


@dataclass(frozen=True)
class Played:
    """A played board: its record, and the step of each ply (0 is the start)."""

    game: AnyGame
    record: GameRecord
    steps: tuple[Step[Any], ...]

    @property
    def names(self) -> tuple[str, ...]:
        return NAMES[: self.record.seats]

    @property
    def readers(self) -> tuple[Seat | None, ...]:
        return (*map(Seat, range(self.record.seats)), None)

    @property
    def some_states(self) -> list[Any]:
        """The first and the last state and some between them, the same ones each time."""
        states, count = self.states, SOME if self.game.info.hidden else FEW
        return [*states[:: 1 + len(states) // count], states[-1]]

    @property
    def states(self) -> list[Any]:
        return [step.state for step in self.steps]


@cache
def play_randomly(game: AnyGame, words: tuple[str, ...], seed: bytes = SEED) -> Played:
    """Play random legal turns until the board is over."""
    seats = seats_for(game, words)
    record = GameRecord(game.info.key, game.info.rules_version, seats, words, seed)
    steps: list[Step[Any]] = [Step(opening(game, record).state, {None: ""})]
    dice = Rng(b"driver" + seed, 0)
    while acting := sorted(game.to_act(steps[-1].state)):
        assert len(record.plies) < LONGEST, "the game does not end"
        state = steps[-1].state
        seat = dice.choice(acting)
        view = game.view(state, seat)
        listed = game.legal(view)
        moves = list(listed) if listed is not None else []
        assert moves, "a seat that is to act has no legal move that is listed"
        move = game.parse(view, dice.choice(moves))
        ply = Ply(len(record.plies) + 1, seat, move.text, move.free)
        steps.append(advance(game, seed, state, ply))
        record = replace(record, plies=(*record.plies, ply))
    return Played(game, record, tuple(steps))


def rendered(game: AnyGame, view: Any, names: tuple[str, ...], you: Seat | None) -> str:
    """Return all texts that a letter makes of a view."""
    folder = f"games/{game.info.key}"
    templates = ("board.txt.j2", "board.html.j2", "advice.txt.j2", "advice.html.j2")
    people = [name for seat, name in enumerate(names) if seat != you]
    values = {"board": 12, "mailto": MAILTO, "links": Links.ALL, "people": people, "compact": False}
    return "\n".join(
        environment()
        .get_template(f"{folder}/{name}")
        .render(values, view=view, names=names, you=you, beginner=True)
        for name in templates
    )


def sentence(game: AnyGame, note: Note, names: tuple[str, ...], you: Seat | None) -> str:
    """Return a note as the reader *you* sees it."""
    template = environment().get_template(f"games/{game.info.key}/notes.j2")
    return template.render(note=note, names=names, you=you)


def public_for(step: Step[Any], you: Seat | None) -> str:
    """Return the text of a move as a reader sees it."""
    return step.public.get(you, step.public[None])
