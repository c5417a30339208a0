"""``seek``: finds opponents for players who name none."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace

from pbmserv.commands.table.starting import Seek
from pbmserv.engine.chance import search_pledge
from pbmserv.engine.clocks import USUAL
from pbmserv.errors import Refused
from pbmserv.service.boards.first_draws import mark_of_mail, mix
from pbmserv.service.boards.new_boards import Proposal, make_board
from pbmserv.service.boards.option_words import read_options
from pbmserv.service.core import contact
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import game_of_letter, known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.store.accounts import persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import seeks

MOST_SEEKS = 5
"""Most waiting seeks of one player."""


def seek(context: CommandContext, command: Seek) -> Answer:
    """``game seek userid password [n] [-options]``, and ``… off``.

    If others seek the same, the board begins at once; otherwise the seek waits.
    """
    player = context.speaker(command.credentials)
    if command.off:
        return _stop(context, player, command.game)
    game = known_game(context, command.game or game_of_letter(context))
    key = game.info.key
    seeks.lock(context.connection)
    own = seeks.of_player(context.connection, player.id)
    refuse_closed_game(context, game)
    seats = command.seats or max(2, game.info.min_seats)
    seat_words = () if command.seats is None else (str(command.seats),)
    options, rated = read_options(
        game,
        command.options,
        seats,
        str(seats),
        " ".join((key, "seek", player.userid, "PASSWORD", *seat_words)),
    )
    alike = seeks.like(context.connection, key, seats, options)
    mine = next((other for other in alike if other.player_id == player.id), None)
    if mine is not None:
        return Answer((Part("seek", _words(context, mine, "still")),))
    partners = _partners(context, player, alike, seats - 1)
    if partners is not None:
        seeks.remove(context.connection, [partner.id for partner in partners])
        return _start(context, player, partners, Proposal(game, options, rated, USUAL, ()))
    if len(own) >= MOST_SEEKS:
        raise Refused("many-seeks", most=MOST_SEEKS, example=_stop_line(context, own))
    seed = secrets.token_bytes(32)
    seeks.add(context.connection, player.id, key, seats, options, seed, context.now)
    added = seeks.of_player(context.connection, player.id)[-1]
    return Answer((Part("seek", _words(context, added, "looking")),))


def _stop(context: CommandContext, player: Player, game: str | None) -> Answer:
    """Delete the seeks of a player, or those of one game; the game may be gone.

    Raises:
        Refused: there are none.
    """
    seeks.lock(context.connection)
    own = seeks.of_player(context.connection, player.id)
    over = [seek for seek in own if game in {None, seek.game}]
    if not over:
        part = context.services.registry.titles[game] if game else ""
        example = _stop_line(context, own) if own else f"{game or context.usual_game} seek"
        raise Refused("no-seek", part=part, example=example)
    seeks.remove(context.connection, [seek.id for seek in over])
    return Answer((Part("seek", _words(context, over[-1], "off", over)),))


def _stop_line(context: CommandContext, own: Sequence[seeks.Seek]) -> str:
    """Return the command that ends the first of a player's seeks whose game is installed."""
    registry = context.services.registry
    return next((f"{seek.game} seek off" for seek in own if seek.game in registry), "seek off")


def _partners(
    context: CommandContext, player: Player, alike: list[seeks.Seek], wanted: int
) -> list[seeks.Seek] | None:
    """Return enough players who seek the same, those who wait longest first; `None` if there are
    too few.

    No two of them block each other or are one person.
    """
    ids = {player.id, *(candidate.player_id for candidate in alike)}
    people = persons.persons_of(context.connection, ids)
    blocked = contact.blocked_pairs(context, ids, people)
    chosen: list[seeks.Seek] = []
    for candidate in alike:
        matched_ids = [player.id, *(other.player_id for other in chosen)]
        must_stay_apart = any(
            people.same(candidate.player_id, other)
            or {(candidate.player_id, other), (other, candidate.player_id)} & blocked
            for other in matched_ids
        )
        if not must_stay_apart:
            chosen.append(candidate)
        if len(chosen) == wanted:
            return chosen
    return None


def _start(
    context: CommandContext, player: Player, partners: list[seeks.Seek], proposal: Proposal
) -> Answer:
    """Begin the board of a match; the seats are drawn by lot.

    The letter to the partner who waited longest has pledged the seed, before the mail came that is
    mixed into it.
    """
    ids = [player.id, *(partner.player_id for partner in partners)]
    sitting = []
    for player_id in ids:
        partner = players.by_id(context.connection, player_id)
        assert partner is not None
        sitting.append(partner)
    proposal = replace(proposal, sitting=tuple(sitting))
    mark = mark_of_mail(context)
    board = make_board(
        context, proposal, set(ids), sides_drawn=True, seed=partners[0].seed, mark=mark
    )
    if mark:
        sitter = board.sitter_of(player.id)
        assert sitter is not None
        board = mix(context, board, sitter, mark)
    own, notifications = [], []
    for sitter in board.sitters:
        others = [name for name in board.names if name != sitter.userid]
        words = {"event": "matched", "others": others}
        part = Part("started", words, board.id, 0, sitter.seat, board.thread)
        if sitter.player_id == player.id:
            own.append(part)
        else:
            notifications.append(Notification.sitter(sitter, part))
    return Answer(tuple(own), tuple(notifications))


def _words(
    context: CommandContext, seek: seeks.Seek, event: str, over: Sequence[seeks.Seek] = ()
) -> dict[str, object]:
    registry = context.services.registry
    is_alone = len(list(registry)) == 1
    return {
        "event": event,
        "game": seek.game,
        "title": registry.titles[seek.game],
        "over": list(dict.fromkeys(registry.titles[ended.game] for ended in over)),
        "stop": "seek off" if is_alone else f"{seek.game} seek off",
        "seats": seek.seats,
        "options": list(seek.options),
        "since": f"{seek.created_at:%Y-%m-%d}",
        "pledge": search_pledge(seek.seed).hex() if event != "off" else "",
    }
