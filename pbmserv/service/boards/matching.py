"""Matching: players who look for any opponent find each other."""

from __future__ import annotations

import random

from pbmserv.commands.table.model import Seek
from pbmserv.engine.clocks import USUAL
from pbmserv.errors import Refused
from pbmserv.service.boards.game_options import read_options
from pbmserv.service.boards.proposals import Proposal, make_board
from pbmserv.service.core.answers import Answer, Notification, Part
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, must_be_open
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges

MOST_SEEKS = 5
"""Seeks of one player that may wait at once."""


def seek(context: CommandContext, command: Seek) -> Answer:
    """``game seek userid password [n] [-options]``, and ``… off``.

    Whoever looks for the same has a board at once; otherwise the seek waits for somebody.
    """
    player = context.speaker(command.who)
    game = known_game(context, command.game)
    key = game.info.key
    challenges.lock_seeks(context.connection)
    own = challenges.seeks_of(context.connection, player.id)
    if command.off:
        over = [one for one in own if one.game == key]
        if not over:
            raise Refused("no-seek", part=key, example=f"{key} seek")
        challenges.remove_seeks(context.connection, [one.id for one in over])
        return Answer((Part("seek", _words(game.info.title, over[-1], "off")),))
    must_be_open(context, game)
    seats = command.seats or max(2, game.info.min_seats)
    said = () if command.seats is None else (str(command.seats),)
    options, rated = read_options(
        game,
        command.options,
        seats,
        str(seats),
        " ".join((key, "seek", player.userid, "PASSWORD", *said)),
    )
    found = challenges.seeks_like(context.connection, key, seats, options)
    mine = next((one for one in found if one.player_id == player.id), None)
    if mine is not None:
        return Answer((Part("seek", _words(game.info.title, mine, "still")),))
    partners = _partners(context, player, found, seats - 1)
    if partners is not None:
        challenges.remove_seeks(context.connection, [one.id for one in partners])
        return _start(context, player, partners, Proposal(game, options, rated, USUAL, ()))
    if len(own) >= MOST_SEEKS:
        raise Refused("many-seeks", most=MOST_SEEKS, example=f"{own[0].game} seek off")
    challenges.add_seek(context.connection, player.id, key, seats, options, context.now)
    added = challenges.seeks_of(context.connection, player.id)[-1]
    return Answer((Part("seek", _words(game.info.title, added, "looking")),))


def _partners(
    context: CommandContext, player: Player, found: list[challenges.Seek], wanted: int
) -> list[challenges.Seek] | None:
    """So many of those who look for the same, who wait longest first; nobody's blocked one."""
    ids = [player.id, *(one.player_id for one in found)]
    blocked = challenges.blocked_pairs(context.connection, ids)
    chosen: list[challenges.Seek] = []
    for one in found:
        there = [player.id, *(other.player_id for other in chosen)]
        if all((one.player_id, other) not in blocked for other in there):
            chosen.append(one)
        if len(chosen) == wanted:
            return chosen
    return None


def _start(
    context: CommandContext, player: Player, partners: list[challenges.Seek], wanted: Proposal
) -> Answer:
    """The board of a match; who sits first is drawn by lot."""
    ids = [player.id, *(one.player_id for one in partners)]
    random.SystemRandom().shuffle(ids)
    sitting = []
    for player_id in ids:
        one = players.by_id(context.connection, player_id)
        assert one is not None
        sitting.append(one)
    proposal = Proposal(wanted.game, wanted.options, wanted.rated, wanted.terms, tuple(sitting))
    board = make_board(context, proposal, set(ids))
    own, told = [], []
    for sitter in board.sitters:
        others = [name for name in board.names if name != sitter.userid]
        words = {"event": "matched", "others": others}
        part = Part("started", words, board.id, 0, sitter.seat, board.thread)
        if sitter.player_id == player.id:
            own.append(part)
        else:
            told.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(told))


def _words(title: str, one: challenges.Seek, event: str) -> dict[str, object]:
    return {
        "event": event,
        "game": one.game,
        "title": title,
        "seats": one.seats,
        "options": list(one.options),
        "since": f"{one.created_at:%Y-%m-%d}",
    }
