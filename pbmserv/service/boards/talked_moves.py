"""Finds the move among the sentences of a reply that has other words as well."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pbmserv.commands.grammar.sentences import (
    OR,
    Sentence,
    begins_correction,
    begins_courtesy,
    corrects,
    sentences,
    talk,
    with_courtesies_apart,
)
from pbmserv.engine.protocol import LeavingToChance, implements, only_meaning
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Move
from pbmserv.errors import MoveError, NotUnderstood, Refused
from pbmserv.service.boards.mover import Mover


@dataclass(frozen=True, slots=True)
class TalkedMove:
    """A move among other words.

    Attributes:
        move: the move.
        typed: the sentence that says it.
        words: the other sentences, for the opponent.
    """

    move: Move
    typed: str
    words: str


def talked_move(mover: Mover, text: str, *, has_accepted: bool) -> TalkedMove | None:
    """Return the move that the sentences of a text say, `None` if none of them does.

    Markers in one sentence and a turn in another are one move. A player who has not accepted the
    board leaves no move to chance.

    Raises:
        MoveError: the only sentence that is a move is not legal.
        Refused: the sentences say several moves, or one may take back another.
    """
    game, view = mover.position.game, mover.view
    parts = with_courtesies_apart(sentences(text))
    moves: dict[int, Move] = {}
    illegal: MoveError | None = None
    for place, sentence in enumerate(parts):
        try:
            move = _meaning(game, view, sentence)
            if move is None and has_accepted:
                move = _by_chance(game, view, sentence)
        except MoveError as error:
            illegal = illegal or error
            continue
        if move is not None:
            moves[place] = move
    if not moves:
        for sentence in parts:
            _refuse_choice(game, view, sentence)
        if illegal is not None and len(parts) > 1:
            raise illegal
        return None
    texts = list(dict.fromkeys(move.text for move in moves.values()))
    others = [sentence for place, sentence in enumerate(parts) if place not in moves]
    refuse_unclear_moves(list(moves.values()), others)
    chosen = next(iter(moves.values())) if len(texts) == 1 else game.parse(view, ",".join(texts))
    typed = " ".join(parts[place].text for place in moves)
    return TalkedMove(chosen, typed, talk(others))


def refuse_unclear_moves(moves: Sequence[Move], others: Sequence[Sentence]) -> None:
    """Refuse several turns, and a turn that another sentence may take back: "No, 6!".

    Raises:
        Refused: which one is meant is not clear.
    """
    turns = list(dict.fromkeys(move.text for move in moves if not move.free))
    doubt = next((sentence.text for sentence in others if corrects(sentence)), "")
    if len(turns) > 1 or (turns and doubt):
        other = turns[1] if len(turns) > 1 else doubt
        raise Refused("which-move", part=other, first=turns[0], example=turns[0])


def refuse_retracted_move(mover: Mover, move: Move, below: str) -> None:
    """Refuse a turn if words below it may take it back.

    Raises:
        Refused: they may.
    """
    if move.free or not below:
        return
    game, view = mover.position.game, mover.view
    for sentence in sentences(below):
        refuse_unclear_moves([move], [sentence])
        if begins_correction(sentence):
            other = only_meaning(game, view, sentence.text)
            refuse_unclear_moves([move] if other is None else [move, other], [])


def _refuse_choice(game: Any, view: Any, sentence: Sentence) -> None:
    """Refuse a sentence that names two moves to choose from: "5 or 6?".

    Raises:
        Refused: it does.
    """
    words = sentence.text.rstrip("?").replace(",", " ").split()
    for place in range(1, len(words) - 1):
        if words[place].lower() in OR:
            try:
                first, second = (game.parse(view, words[at]) for at in (place - 1, place + 1))
            except MoveError:
                continue
            if first.text != second.text:
                raise Refused("which-move", part=second.text, first=first.text, example=first.text)


def _meaning(game: Any, view: Any, sentence: Sentence) -> Move | None:
    """Return the move that a sentence says.

    Raises:
        MoveError: the sentence is a move that is not legal.
    """
    text = sentence.text
    is_letter = len(text) == 1 and text.isalpha()
    if not text or (is_letter and not begins_courtesy(sentence)):  # an initial, below a greeting
        return None
    try:
        move: Move | None = game.parse(view, text)
    except MoveError as error:
        move = only_meaning(game, view, text)
        if move is None and not isinstance(error, NotUnderstood):
            raise
    return move


def _by_chance(game: Any, view: Any, sentence: Sentence) -> Move | None:
    """Return a move drawn at random if a sentence asks for one, else `None`."""
    if not implements(game, LeavingToChance):
        return None
    move: Move | None = game.by_chance(view, sentence.text, Rng(secrets.token_bytes(32), 0))
    return move
