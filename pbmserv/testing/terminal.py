"""A game in a terminal, against its bot."""

from __future__ import annotations

import textwrap
from typing import Any

import typer

from pbmserv.drawing.filters import drawn_text
from pbmserv.engine.adapter import AdaptedGame, adapt
from pbmserv.engine.position import Position, bot_move, notes_for, opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.registry import bots_of
from pbmserv.engine.types import Outcome, Seat
from pbmserv.errors import MoveError, OperatorError, OptionError
from pbmserv.game import Game
from pbmserv.views.texts import note_sentences, refusal_sentence

YOU = Seat(0)


def play_in_terminal(
    rules: Game[Any],
    options: tuple[str, ...],
    bot: str,
    seed: bytes,
    seats: int,
) -> None:
    """Play until the board is over, or the player writes "quit".

    Args:
        seats: the number of players, with the person; 0 for the fewest that the game takes.

    Raises:
        OperatorError: there is no such bot or option, or the game is not for so many.
    """
    game = adapt(rules)
    level = bot or bots_of(game)[-1]
    if level not in game.bots:
        raise OperatorError(f"{rules.key} has no bot {level}; it has {', '.join(game.bots)}")
    names = _names(rules, level, seats)
    record = GameRecord(rules.key, rules.version, len(names), options, seed)
    try:
        position = opening(game, record)
    except OptionError as error:
        raise OperatorError(refusal_sentence(error.refusal)) from None
    typer.echo(f"{rules.title}. Write a move, or quit.")
    while position.outcome is None:
        movers = game.to_act(position.state)
        if YOU not in movers:
            seat = min(movers)
            position = position.move(seat, bot_move(position, seat, level))
            _tell(game, position, names)
            continue
        view = game.view(position.state, YOU)
        typer.echo("\n" + drawn_text(view, names))
        typer.echo(textwrap.fill(view.ask, 76))
        try:
            text = input("> ")
        except EOFError:
            return
        if not text.strip():
            continue
        if text.strip() in {"quit", "exit"}:
            return
        if text.strip() == "resign":
            position = position.withdraw(YOU)
            continue
        try:
            move = game.meant(view, text) or game.parse(view, text)
        except MoveError as error:
            typer.echo(textwrap.fill(refusal_sentence(error.refusal), 76))
            continue
        position = position.move(YOU, move)
        _tell(game, position, names)
    typer.echo("\n" + drawn_text(game.view(position.state, YOU), names))
    typer.echo(_result(position.outcome))


def _names(rules: Game[Any], level: str, seats: int) -> tuple[str, ...]:
    """Return the names of the players; a second bot is ``house-2``.

    Raises:
        OperatorError: the game is not for so many players.
    """
    least, most = rules.seats
    if not least <= (seats or least) <= most:
        players = f"{least}" if least == most else f"{least} to {most}"
        raise OperatorError(f"{rules.title} is for {players} players, not {seats}")
    bots = range(1, seats or least)
    return ("you", *(level if number == 1 else f"{level}-{number}" for number in bots))


def _tell(game: AdaptedGame, position: Position, names: tuple[str, ...]) -> None:
    notes = list(notes_for(game, position.step, YOU))
    for sentence in note_sentences(game, notes, names, YOU):
        typer.echo(textwrap.fill(sentence, 76))


def _result(outcome: Outcome) -> str:
    place = outcome.places[YOU]
    best = sum(place == 1 for place in outcome.places)
    end = "You have lost" if place > 1 else "You have won" if best == 1 else "It is a draw"
    return f"{end}: {outcome.reason}."
