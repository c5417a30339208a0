"""Other atoms that the player who looks for them could not have told from the real ones so far."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from random_moves import some_placement
from worlds import HIDER, Played, Sent, World, board_of, some_seals, view_of

from pbmserv.engine.position import advance, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.types import Step
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.state import State
from pbmserv.store.boards import moves

TRIES = 200


def other_secrets(
    world: World, story: Played, dice: random.Random
) -> tuple[list[Sent], list[Sent]]:
    """The longest part of a story that goes the same with other secrets: as it was, and so.

    Atoms are possible as long as every ray of the solver ends where it did, every guess was
    judged as it was, and every clue said the same.
    """
    row = board_of(world)
    plies = world.server.read(moves.record, row.id)
    record = GameRecord("blackbox", row.rules_version, 2, row.options, row.seed)
    placed = next(ply for ply in plies if ply.seat == story.seats.index(HIDER))
    view = view_of(world, HIDER, story.seats)
    first = GAME.view(opening(GAME, record).state, placed.seat)
    real = list(_public_results(record, plies, placed, placed.text))
    best, atoms = 0, ""
    for _ in range(TRIES):
        other = GAME.parse(first, _moved(placed.text, view.options, dice)).text
        if set(other.split(",")) == set(placed.text.split(",")):
            continue
        facts = _public_results(record, plies, placed, other)
        same = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(real, facts, strict=False))
        )
        if same > best:
            best, atoms = same, other
    mails = [m for m, after in zip(story.mails, story.plies, strict=True) if after <= best]
    others = []
    for mail in mails:
        if mail.secret.startswith("!"):
            others.append(replace(mail, secret=some_seals(view, dice)))
        else:
            others.append(replace(mail, secret=atoms if mail.secret else ""))
    return mails, others


def _moved(real: str, options: Options, dice: random.Random) -> str:
    """A layout that differs a little from the real one, or entirely."""
    cells = real.split(",")
    free = [name for name in map(options.board.name, options.board.cells) if name not in cells]
    if not free or dice.random() < 0.3:
        return some_placement(options, dice)
    if len(cells) < options.most and dice.random() < 0.3:
        return ",".join([*cells, dice.choice(free)])
    cells[dice.randrange(len(cells))] = dice.choice(free)
    return ",".join(cells)


def _public_results(
    record: GameRecord, plies: list[Ply], placed: Ply, atoms: str
) -> Iterator[object]:
    """Yield the public result of each ply, up to the end, if the hider had placed *atoms*."""
    state = opening(GAME, record).state
    for ply in plies:
        used = replace(ply, text=atoms) if ply.number == placed.number else ply
        step = advance(GAME, record.seed, state, used)
        state = step.state
        if state.outcome is not None:
            return  # the boxes are open, so nothing is the same any more
        yield _everybody_knows(step)


def _everybody_knows(step: Step[State]) -> object:
    boxes = [(box.marks, box.markers, box.guesses_left) for box in step.state.boxes]
    return boxes, [n for n in step.notes if n.kind.startswith(("clue", "probe", "guess"))]
