"""Commands of the next event of a game: ``league``, ``cup`` and ``swiss``."""

from __future__ import annotations

from pbmserv.commands.grammar.game_names import with_keys
from pbmserv.commands.table.events import EventByGame
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.time_spans import zone
from pbmserv.errors import Refused
from pbmserv.service.accounts.preferences import DIGEST_MINUTE
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.lookup import known_game, refuse_closed_game
from pbmserv.service.core.outcome import Answer, Part
from pbmserv.service.events import new_events
from pbmserv.service.events.entering import answer_to_entry, entered_already, refuse_busy_player
from pbmserv.service.events.kinds.kind import Kind
from pbmserv.service.events.kinds.registry import SERVER_KINDS
from pbmserv.service.time.localtime import next_local
from pbmserv.store.accounts import players
from pbmserv.store.accounts.players import Player
from pbmserv.store.events import event_entries, event_lists, events, regulars
from pbmserv.store.events.events import BEFORE_START, UNDER_WAY

_JOIN = frozenset({"join", "enter"})
_LEAVE = frozenset({"leave", "withdraw"})


def event_by_game(context: CommandContext, command: EventByGame) -> Answer:
    """``league join|leave game [once]``, and the same for ``cup`` and ``swiss``.

    Raises:
        Refused: the words are not understood, or the player may not enter.
    """
    player = context.speaker(command.credentials)
    words = with_keys([word.lower() for word in command.words], context.services.registry.titles)
    kind = SERVER_KINDS[command.kind]
    once = words[-1:] == ["once"] and kind.recurs
    if once:
        words = words[:-1]
    if len(words) != 2 or words[0] not in _JOIN | _LEAVE:
        raise Refused("event-words", kind=command.kind, example=f"{command.kind} join GAME")
    game = known_game(context, words[1])
    if words[0] in _LEAVE:
        return _leave_by_game(context, player, kind, game)
    return join_by_game(context, player, kind, game, once=once)


def join_by_game(
    context: CommandContext, player: Player, kind: Kind, game: AnyGame, *, once: bool
) -> Answer:
    key = game.info.key
    refuse_closed_game(context, game)
    kind.refuse_impossible(game, f"cup join {key}")
    event = events.open_event(context.connection, kind.word, key, context.now)
    if event is not None:
        entry = event_entries.of_player(context.connection, event.id, player.id)
        is_regular = regulars.is_regular(context.connection, key, player.id)
        if entry is not None and (not kind.recurs or once != is_regular):
            raise entered_already(context, event)
    refuse_busy_player(context, player, event)
    if event is None:
        event = new_events.create_next(context, kind, key)
    event_entries.enter(context.connection, event.id, [player.id], context.now)
    has_digest = False
    if kind.recurs:
        if once:
            regulars.drop(context.connection, key, player.id)
        else:
            regulars.add(context.connection, key, player.id, context.now)
        has_digest = _turn_digest_on(context, player, kind)
    if kind.begins_full_groups:
        events.change(context.connection, event.id, due_at=context.now)
    return answer_to_entry(context, player, event, once=once, digest=has_digest)


def _leave_by_game(context: CommandContext, player: Player, kind: Kind, game: AnyGame) -> Answer:
    """End the recurring entry, and the entry to an event that has not started."""
    key = game.info.key
    was_regular = kind.recurs and regulars.drop(context.connection, key, player.id)
    left, running = None, None
    for event in event_lists.of_player(context.connection, player.id, (*BEFORE_START, *UNDER_WAY)):
        if (event.kind, event.game, event.owner_id) != (kind.word, key, None):
            continue
        entry = event_entries.of_player(context.connection, event.id, player.id)
        if entry is not None and entry.group_number is None:
            event_entries.drop(context.connection, event.id, player.id)
            left = event
        else:
            running = event
    if not (was_regular or left or running):
        raise Refused(
            "event-not-entered", part=f"{kind.word} {key}", example=f"{kind.word} join {key}"
        )
    if not (was_regular or left) and running is not None:
        raise Refused("event-runs", part=str(running.id), example=f"event leave {running.id}")
    words = {
        "what": "left",
        "kind": kind.word,
        "title": game.info.title,
        "game": key,
        "running": running.id if running else 0,
    }
    return Answer((Part("event-entry", words),))


def _turn_digest_on(context: CommandContext, player: Player, kind: Kind) -> bool:
    """Give a player the daily digest with the first entry to a kind of event that recurs; return
    whether that is new."""
    is_first = not event_lists.has_entered_before(context.connection, player.id, kind.word)
    if player.digest_minute is not None or not is_first:
        return False
    due = next_local(context.now, zone(player.tz), DIGEST_MINUTE)
    columns = {"digest_minute": DIGEST_MINUTE, "digest_due": due}
    players.change(context.connection, player.id, columns)
    return True
