"""Lists of boards, games and ratings for operators, and facts about one player, board or game.

They never include what a player hides from the others.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TypeAlias

from pbmserv.engine.clocks import Terms
from pbmserv.engine.registry import shown_options
from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators.games import game_key
from pbmserv.service.operators.people import player_named
from pbmserv.store import audit, ratings
from pbmserv.store.accounts import absences as absence_rows
from pbmserv.store.accounts import blocks, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.audit import Entry
from pbmserv.store.boards import boards, closed_games, game_pauses
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.delivery import bounces
from pbmserv.store.operators import boards as operator_boards
from pbmserv.store.operators import people
from pbmserv.store.operators.boards import BoardLine
from pbmserv.store.operators.people import UserLine
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus

Facts: TypeAlias = Sequence[tuple[str, str]]
"""Names and values."""

_ENTRIES = 20
"""Newest entries of the audit that are shown."""
STATES = tuple(PlayerState)
STATUSES = tuple(BoardStatus)


def user_lines(context: CommandContext, *, state: str, like: str, most: int) -> Sequence[UserLine]:
    """Return players in the order of their userids.

    Args:
        state: ``""`` or an unknown one for any.
        like: part of the userid or address.
    """
    known_state = state if state in STATES else None
    return people.user_lines(context.connection, known_state, like.lower(), most)


def user_facts(context: CommandContext, userid: str) -> tuple[Facts, Sequence[Entry]]:
    """Return the facts about a player, and the audit entries.

    Raises:
        OperatorError: there is no such player.
    """
    player = player_named(context, userid)
    connection = context.connection
    running = boards.running_of(connection, player.id)
    away = [
        f"{absence.begins:%Y-%m-%d %H:%M} to {absence.ends:%Y-%m-%d %H:%M} UTC"
        for absence in absence_rows.of_player(connection, player.id)
        if absence.ends > context.now
    ]
    own = players.addresses_of(connection, player.id)
    facts = [
        ("userid", player.userid),
        ("state", player.state),
        ("letters to", player.address or "(nowhere)"),
        ("addresses", ", ".join(own)),
        ("prefs", _settings(player)),
        ("away", "; ".join(away) or "(no)"),
        *_bounce_facts(context, player, own),
        ("blocks", ", ".join(blocks.blocked_userids(connection, [player.id])) or "(nobody)"),
        ("running", ", ".join(map(str, running)) or "(no board)"),
    ]
    for game in context.services.registry:
        rated = ratings.of_player(connection, game.info.key, player.id)
        if rated is not None:
            rating = f"{rated.standing.rating.shown} after {counted(rated.standing.games, 'game')}"
            facts.append((game.info.key, rating))
    return facts, audit.entries(connection, f"user {player.userid}", _ENTRIES)


def _bounce_facts(context: CommandContext, player: Player, own: Sequence[str]) -> Facts:
    """Return facts about letters that came back from a player's addresses."""
    facts = []
    if player.unreachable_since is not None:
        since = f"{player.unreachable_since:%Y-%m-%d %H:%M} UTC"
        facts.append(("unreachable", f"since {since}; letters wait until a mail comes"))
    for record in bounces.records_of(context.connection, own):
        state = "given up" if record.suspended_at else f"{record.hard} hard, {record.soft} soft"
        facts.append(("came back", f"{record.address} ({state}): {record.diagnostic}"))
    return facts


def board_lines(
    context: CommandContext, *, player: str, status: str, game: str, most: int
) -> Sequence[BoardLine]:
    """Return boards, newest first; *player*, *status* and *game* may be ``""`` for any, and an
    unknown *status* is any.

    Raises:
        OperatorError: there is no such player or game.
    """
    player_id = player_named(context, player).id if player else None
    key = game_key(context, game) if game else None
    known_status = status if status in STATUSES else None
    return operator_boards.board_lines(context.connection, known_status, key, player_id, most)


def board_facts(context: CommandContext, number: int) -> tuple[Facts, Sequence[Entry]]:
    """Return the facts about a board, and the audit entries.

    Raises:
        OperatorError: there is no such board.
    """
    board = boards.load(context.connection, number)
    if board is None:
        raise OperatorError(f"there is no board {number}; `pbmserv board list` shows them all")
    terms = board.terms
    facts = [
        ("board", f"{board.id} ({board.game}, rules {board.rules_version})"),
        ("players", ", ".join(board.names)),
        ("status", board.status),
        ("options", " ".join(_options(context, board)) or "(none)"),
        ("rated", "yes" if board.rated else "no"),
        ("plies", str(board.plies)),
        (
            "times",
            f"nagtime {terms.nag}, forfeittime {terms.forfeit}, totaltime {terms.total or 'none'}",
        ),
        ("due", f"{board.due_at:%Y-%m-%d %H:%M} UTC" if board.due_at else "(nothing)"),
    ]
    if terms.has_bank:
        facts.append(("clock", _bank(terms)))
    for sitter, clock in zip(board.sitters, board.clocks, strict=False):
        if clock.since is not None:
            times = counted(len(clock.reminded), "time")
            reminded = f", reminded {times}" if clock.reminded else ""
            facts.append(("waits for", f"{sitter.userid} since {clock.since:%Y-%m-%d}{reminded}"))
    if board.undecided:
        facts.append(("asked", ", ".join(board.undecided)))
    if board.outcome is not None:
        places = zip(board.names, board.outcome["places"], strict=True)
        result = ", ".join(f"{name} {place}" for name, place in places)
        facts.append(("ended", f"{board.outcome['reason']}; places: {result}"))
    return facts, audit.entries(context.connection, f"board {number}", _ENTRIES)


def game_lines(context: CommandContext) -> Sequence[Sequence[str]]:
    """Return for each game and rules version its state and its number of boards by status."""
    counts = operator_boards.board_counts(context.connection)
    closed = closed_games.closed_since(context.connection)
    stopped = game_pauses.stopped(context.connection)
    newest = {(g.info.key, g.info.rules_version) for g in context.services.registry}
    keys = sorted(newest | {(game, version) for game, version, _ in counts})
    return [
        (
            game,
            str(version),
            _state(context, game, version, stopped, closed),
            *(str(counts.get((game, version, status), 0)) for status in STATUSES),
        )
        for game, version in keys
    ]


def _state(
    context: CommandContext,
    game: str,
    version: int,
    stopped: Collection[str],
    closed: Collection[str],
) -> str:
    """Return the state of a version of a game, in one or two words."""
    registry = context.services.registry
    if not registry.has(game, version):
        return "not installed"
    if game in stopped:
        return "stopped"
    if game in closed:
        return "closed"
    return "open" if registry.newest(game).info.rules_version == version else "old"


def game_facts(context: CommandContext, key: str) -> tuple[Facts, Sequence[Entry]]:
    """Return the facts about a game, and the audit entries.

    Raises:
        OperatorError: there is no such game.
    """
    key = game_key(context, key)
    info = context.services.registry.newest(key).info
    closed = closed_games.closed_since(context.connection).get(key)
    stopped = [pause for pause in game_pauses.present(context.connection) if pause.game == key]
    facts = [
        ("game", f"{info.title} ({info.key}, rules {info.rules_version})"),
        ("about", info.summary),
        ("seats", f"{info.min_seats} to {info.max_seats}"),
        ("state", f"closed since {closed:%Y-%m-%d}" if closed else "open"),
        *(("stopped", f"since {p.begins:%Y-%m-%d %H:%M} UTC: {p.why}") for p in stopped),
        *(("option", f"{word}: {meaning}") for word, meaning in info.options),
    ]
    return facts, audit.entries(context.connection, f"game {key}", _ENTRIES)


def standing_lines(context: CommandContext, game: str, most: int) -> Sequence[Sequence[str]]:
    """Return the best players of a game, with mu and sigma of their ratings.

    Raises:
        OperatorError: there is no such game.
    """
    key = game_key(context, game)
    placed = ratings.best(context.connection, key, most)
    below = ratings.without_place(context.connection, key, most - len(placed))
    ranked = [
        *((str(rank), line) for rank, line in enumerate(placed, 1)),
        *(("-", line) for line in below),
    ]
    return [
        (
            rank,
            line.userid,
            str(line.standing.rating.shown),
            f"{line.standing.rating.mu:.3f}",
            f"{line.standing.rating.sigma:.3f}",
            str(line.standing.games),
        )
        for rank, line in ranked
    ]


def _options(context: CommandContext, board: BoardRow) -> tuple[str, ...]:
    game = context.services.registry.version(board.game, board.rules_version)
    return shown_options(game, board.options, board.seats)


def _settings(player: Player) -> str:
    """Return the preferences of a player that operators ask for, as ``prefs`` writes them."""
    names = ("format", "tz", "accept", "messages")
    return " ".join(f"{name}={getattr(player, name)}" for name in names)


def _bank(terms: Terms) -> str:
    """Return the bank of a board as a challenge writes it."""
    weekdays = "/weekdays" if terms.weekdays else ""
    return f"--time={terms.total}d+{terms.increment}d{weekdays} --cap={terms.cap}d"
