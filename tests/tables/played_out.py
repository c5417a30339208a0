"""Whole games for tests of records and ratings: legal turns drawn at random until one is over."""

from __future__ import annotations

from dataclasses import replace

from heaps import HEAPS

from pbmserv.engine.position import advance, opening
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.registry import AnyGame, Registry
from pbmserv.engine.rng import Rng

GAMES: tuple[AnyGame, ...] = (*Registry.installed(), HEAPS)


def played_out(game: AnyGame, words: tuple[str, ...], seed: bytes) -> GameRecord:
    """The record of a game that is over."""
    record = GameRecord(game.info.key, game.info.rules_version, game.info.max_seats, words, seed)
    state = opening(game, record).state
    dice = Rng(b"turns of" + seed, 0)
    while acting := sorted(game.to_act(state)):
        seat = dice.choice(acting)
        view = game.view(state, seat)
        move = game.parse(view, dice.choice(list(game.legal(view) or ())))
        ply = Ply(len(record.plies) + 1, seat, move.text, move.free)
        state = advance(game, seed, state, ply).state
        record = replace(record, plies=(*record.plies, ply))
    return record
