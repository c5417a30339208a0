"""Examples in letters about refused lines: one that would be refused, too, is left out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from pbmserv.commands.grammar.readings import Line
from pbmserv.engine.types import Seat
from pbmserv.errors import PlayerError, is_form
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Part
from pbmserv.service.mails.answers import kept_address
from pbmserv.service.mails.incoming import reading_of
from pbmserv.store.boards import boards

RunLine: TypeAlias = Callable[[CommandContext, Line], object]
"""Carries out a line; raises `PlayerError` if it is refused."""


def with_working_example(context: CommandContext, part: Part, run_line: RunLine) -> Part:
    """Return the letter with an example that works, or without one.

    The example is carried out as a reply to that letter would be. The caller undoes that.
    """
    refusal = part.words["refusal"]
    example = refusal["example"]
    if not example or is_form(example):
        return part
    address = _reply_address_of(context, part)
    if part.words["may_say"]:
        as_chat = f"chat {part.words['echo']}"
        may_say = _is_carried_out(context, as_chat, address, run_line)
        part = replace(part, words={**part.words, "may_say": may_say})
    spellings = [example]
    if part.board is not None:  # as replies to digests, and to many lines, require
        spellings.append(f"{part.board}: {example}")
    working_example = next(
        (
            spelling
            for spelling in spellings
            if _is_carried_out(context, spelling, address, run_line)
        ),
        "",
    )
    return replace(part, words={**part.words, "refusal": {**refusal, "example": working_example}})


def _reply_address_of(context: CommandContext, part: Part) -> ReplyAddress | None:
    """Return the reply address that a letter about a refusal will have."""
    speaker = context.current.speaker
    if speaker is None:
        return kept_address(context, None)
    player_id, epoch = speaker.player_id, speaker.reply_epoch
    reading = context.submission.reading
    has_many = reading.multiple or len(reading.lines) > 1
    if part.board is not None and part.seat is not None and not has_many:
        board = boards.load(context.connection, part.board)
        assert board is not None
        position = context.position(board)
        turn = position.game.turn(position.state, Seat(part.seat))
        return ReplyAddress(Purpose.BOARD, player_id, part.board, turn, epoch)
    kept = kept_address(context, player_id)
    if kept is None or (has_many and kept.purpose is Purpose.TRAY):
        return ReplyAddress(Purpose.PLAYER, player_id, epoch=epoch)
    return kept


def _is_carried_out(
    context: CommandContext, example: str, address: ReplyAddress | None, run_line: RunLine
) -> bool:
    """Return whether all lines of an example would be carried out."""
    games = context.services.registry.titles
    reading = reading_of("", example, games, address.purpose if address is not None else None)
    submission = replace(context.submission, text=example, reading=reading)
    trial = context.trial(replace(context.actor, reply_address=address), submission)
    try:
        for line in reading.lines:
            trial.next_command()
            run_line(trial, line)
    except PlayerError:
        return False
    return bool(reading.lines)
