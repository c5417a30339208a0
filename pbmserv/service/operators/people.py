"""People as operators see and treat them: suspend, restore, reset, merge; and what operators see of
players, boards, games and ratings, never what a player has hidden.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from pbmserv.engine.registry import shown_options
from pbmserv.engine.types import Seat
from pbmserv.errors import OperatorError
from pbmserv.mail.reply_address import password_mark
from pbmserv.service.boards.bot_turns import is_bot
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.delivery.bounces import come_back, failure_words
from pbmserv.service.operators.boards import known_game, withdrawn
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.ratings import rebuilding
from pbmserv.store import ratings
from pbmserv.store.accounts import blocks, leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.delivery import bounces
from pbmserv.store.operators import audit, operating
from pbmserv.store.operators.audit import Entry
from pbmserv.store.operators.operating import BoardLine
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus


def suspend(context: CommandContext, by: Signature, userid: str, *, end_games: bool) -> Deed:
    """The player can do nothing and gets no letters; running boards go on without them.

    Args:
        end_games: running boards end instead, and count for nothing.

    Raises:
        OperatorError: there is no such player, or not an active one.
    """
    player = _person(context, userid)
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}, so there is nothing to suspend")
    told: list[Notification] = []
    ended = leaving.running(context.connection, player.id) if end_games else []
    for number in ended:
        told += [t for t in withdrawn(context, by, number).told if t.player_id != player.id]
    home = player.address
    leaving.leave(context.connection, player)
    operating.bar(context.connection, player.id)
    told.append(Notification(home, None, _account("suspended", userid, by)))
    said = f"{userid} is suspended" + (f"; {len(ended)} boards ended." if end_games else ".")
    facts = {"before": PlayerState.ACTIVE, "after": PlayerState.BARRED, "ended": ended}
    return Deed("suspend", f"user {userid}", said, tuple(told), facts)


def restore(context: CommandContext, by: Signature, userid: str) -> Deed:
    """A suspended player may play again; letters go to the address confirmed first.

    Raises:
        OperatorError: there is no such player, or not a suspended one.
    """
    player = _person(context, userid)
    if player.state != PlayerState.BARRED:
        raise OperatorError(f"{userid} is {player.state}, not suspended")
    own = players.addresses_of(context.connection, player.id)
    leaving.come_back(context.connection, player, own[0])
    told = [Notification(own[0], player.id, _account("restored", userid, by))]
    for number in leaving.running(context.connection, player.id):
        told += board_letters(context, number, player.id)
    facts = {"before": PlayerState.BARRED, "after": PlayerState.ACTIVE}
    return Deed("restore", f"user {userid}", f"{userid} may play again.", tuple(told), facts)


def reset(context: CommandContext, by: Signature, userid: str) -> Deed:  # noqa: ARG001 - every deed is signed
    """Every reply address of a player stops working; a letter lets them set a new password.

    For a mailbox that was broken into, or a forgotten password that `forgot` cannot reach.

    Raises:
        OperatorError: there is no such player, or one who has left.
    """
    player = _person(context, userid)
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}; you can reset only active accounts")
    operating.revoke(context.connection, player.id, player.reply_epoch)
    words = {"userid": userid, "mark": password_mark(player.password_hash)}
    told = [Notification(player.address, player.id, Part("reset", words))]
    for number in leaving.running(context.connection, player.id):
        told += board_letters(context, number, player.id)
    said = (
        f"The reply addresses of {userid} are revoked; "
        "a letter to set a new password is on its way."
    )
    return Deed("reset", f"user {userid}", said, tuple(told), {})


def reachable(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Letters to a player are sent again; what is held against their addresses is forgotten.

    Raises:
        OperatorError: there is no such player, or no address of theirs is given up.
    """
    player = named(context, userid)
    own = players.addresses_of(context.connection, player.id)
    failed = [s for s in bounces.standings(context.connection, own) if s.suspended_at is not None]
    if not player.active or not failed:
        raise OperatorError(f"we have given no address of {userid} up; letters go there as always")
    home = come_back(context, player.id, by.why)
    bounces.forgive(context.connection, own)
    given_up = ", ".join(one.address for one in failed)
    facts = {"addresses": [failure_words(one) for one in failed]}
    said = f"We send letters to {userid} again; we had given up {given_up}."
    return Deed("reachable", f"user {userid}", said, home.notifications, facts)


def merge(context: CommandContext, by: Signature, userid: str, into: str) -> Deed:
    """One person's two accounts become one: boards, addresses and results move to *into*.

    Ratings are computed anew. Nobody else gets the old userid.

    Raises:
        OperatorError: one is unknown or not active, both are the same, or they share a board.
    """
    old, new = _person(context, userid), _person(context, into)
    if old.id == new.id:
        raise OperatorError("you cannot merge an account with itself")
    for player in (old, new):
        if not player.active:
            raise OperatorError(f"{player.userid} is {player.state}; both must be active")
    shared = operating.shared_boards(context.connection, old.id, new.id)
    if shared:
        first = ", ".join(map(str, shared[:5]))
        raise OperatorError(
            f"{userid} and {into} play each other (board {first}), so you cannot merge them"
        )
    moved = leaving.running(context.connection, old.id)
    operating.move_readings(context.connection, old.id, new.id)
    leaving.leave(context.connection, old)
    seats = operating.move_everything(context.connection, old.id, new.id)
    operating.retire(context.connection, old.id)
    rebuilding.rebuild(context.connection)
    told = [Notification(new.address, new.id, _account("merged", into, by, other=userid))]
    for number in moved:
        told += board_letters(context, number, new.id)
    said = f"{userid} is part of {into} now: {seats} seats, {len(moved)} of them running."
    facts = {"into": into, "seats": seats}
    return Deed("merge", f"user {userid}", said, tuple(told), facts)


def _person(context: CommandContext, userid: str) -> Player:
    """As `named`, but nobody whom the server plays itself.

    Raises:
        OperatorError: there is no such player, or it is a bot.
    """
    player = named(context, userid)
    if is_bot(player):
        raise OperatorError(
            f"{player.userid} is the server itself: it has no password and gets no letters. "
            "You can end its boards one by one: pbmserv board end NUMBER"
        )
    return player


def named(context: CommandContext, userid: str) -> Player:
    """The player of this userid, whatever became of them.

    Raises:
        OperatorError: there is none.
    """
    player = players.of_name(context.connection, userid.lower())
    if player is None:
        raise OperatorError(f"there is no player {userid}; `pbmserv user list` shows them all")
    return player


def board_letters(context: CommandContext, number: int, player_id: int) -> list[Notification]:
    """A board's letter, anew, to a player whose old ones cannot be answered any more."""
    board = boards.load(context.connection, number)
    assert board is not None
    words = {"event": "news", "undecided": list(board.undecided), "ratings": []}
    return [
        Notification.sitter(sitter, Part("board", words, board.id, board.plies, Seat(sitter.seat)))
        for sitter in board.sitters
        if sitter.player_id == player_id
    ]


def _account(event: str, userid: str, by: Signature, other: str = "") -> Part:
    words = {"event": event, "userid": userid, "why": by.why, "other": other}
    return Part("operator-account", words)


Facts: TypeAlias = Sequence[tuple[str, str]]

_ENTRIES = 20
_STATUSES = tuple(BoardStatus)


def user_facts(context: CommandContext, userid: str) -> tuple[Facts, Sequence[Entry]]:
    """A player, and what operators did about them.

    Raises:
        OperatorError: there is none of that name.
    """
    player = named(context, userid)
    connection = context.connection
    running = leaving.running(connection, player.id)
    away = [
        f"{one.begins:%Y-%m-%d %H:%M} to {one.ends:%Y-%m-%d %H:%M} UTC"
        for one in preferences.absences_of(connection, player.id)
        if one.ends > context.now
    ]
    own = players.addresses_of(connection, player.id)
    facts = [
        ("userid", player.userid),
        ("state", player.state),
        ("letters to", player.address or "(nowhere)"),
        ("addresses", ", ".join(own)),
        ("prefs", _settings(player)),
        ("away", "; ".join(away) or "(no)"),
        *_returned(context, player, own),
        ("blocks", ", ".join(blocks.blocked_userids(connection, [player.id])) or "(nobody)"),
        ("running", ", ".join(map(str, running)) or "(no board)"),
    ]
    for game in context.services.registry:
        rated = ratings.of_player(connection, game.info.key, player.id)
        if rated is not None:
            shown = f"{rated.standing.rating.shown} after {rated.standing.games} games"
            facts.append((game.info.key, shown))
    return facts, audit.entries(connection, f"user {player.userid}", _ENTRIES)


def _returned(context: CommandContext, player: Player, own: Sequence[str]) -> Facts:
    """What is held against a player's addresses."""
    facts = []
    if player.unreachable_since is not None:
        since = f"{player.unreachable_since:%Y-%m-%d %H:%M} UTC"
        facts.append(("unreachable", f"since {since}; letters wait until a mail comes"))
    for one in bounces.standings(context.connection, own):
        state = "given up" if one.suspended_at else f"{one.hard} hard, {one.soft} soft"
        facts.append(("came back", f"{one.address} ({state}): {one.diagnostic}"))
    return facts


def board_lines(
    context: CommandContext, *, player: str, status: str, game: str, most: int
) -> Sequence[BoardLine]:
    """Boards, newest first.

    Raises:
        OperatorError: there is no such player or game.
    """
    player_id = named(context, player).id if player else None
    key = known_game(context, game) if game else None
    return operating.boards_listed(context.connection, status or None, key, player_id, most)


def board_facts(context: CommandContext, number: int) -> tuple[Facts, Sequence[Entry]]:
    """A board, and what operators did about it.

    Raises:
        OperatorError: there is none of that number.
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
    for sitter, clock in zip(board.sitters, board.clocks, strict=False):
        if clock.since is not None:
            reminded = f", reminded {len(clock.reminded)} times" if clock.reminded else ""
            facts.append(("waits for", f"{sitter.userid} since {clock.since:%Y-%m-%d}{reminded}"))
    if board.undecided:
        facts.append(("asked", ", ".join(board.undecided)))
    if board.outcome is not None:
        places = zip(board.names, board.outcome["places"], strict=True)
        result = ", ".join(f"{name} {place}" for name, place in places)
        facts.append(("ended", f"{board.outcome['reason']}; places: {result}"))
    return facts, audit.entries(context.connection, f"board {number}", _ENTRIES)


def game_lines(context: CommandContext) -> Sequence[Sequence[str]]:
    """For each game and rules version: its state, and boards by status."""
    counted = operating.counted(context.connection)
    closed = audit.closed(context.connection)
    newest = {(g.info.key, g.info.rules_version) for g in context.services.registry}
    keys = sorted(newest | {(game, version) for game, version, _ in counted})
    return [
        (
            game,
            str(version),
            "closed" if game in closed else "open" if (game, version) in newest else "old",
            *(str(counted.get((game, version, status), 0)) for status in _STATUSES),
        )
        for game, version in keys
    ]


def game_facts(context: CommandContext, key: str) -> tuple[Facts, Sequence[Entry]]:
    """A game, and what operators did about it.

    Raises:
        OperatorError: there is none of that name.
    """
    key = known_game(context, key)
    info = context.services.registry.newest(key).info
    closed = audit.closed(context.connection).get(key)
    facts = [
        ("game", f"{info.title} ({info.key}, rules {info.rules_version})"),
        ("about", info.summary),
        ("seats", f"{info.min_seats} to {info.max_seats}"),
        ("state", f"closed since {closed:%Y-%m-%d}" if closed else "open"),
        *(("option", f"{word}: {meaning}") for word, meaning in info.options),
    ]
    return facts, audit.entries(context.connection, f"game {key}", _ENTRIES)


def standing_lines(context: CommandContext, game: str, most: int) -> Sequence[Sequence[str]]:
    """The best players of a game, with the numbers behind what people see.

    Raises:
        OperatorError: there is no such game.
    """
    key = known_game(context, game)
    placed = ratings.best(context.connection, key, most)
    below = ratings.without_place(context.connection, key, most - len(placed))
    ranked = [
        *((str(rank), line) for rank, line in enumerate(placed, 1)),
        *(("-", o) for o in below),
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
    """Return a player's most asked for preferences, as ``prefs`` writes them."""
    names = ("format", "tz", "accept", "messages")
    return " ".join(f"{name}={getattr(player, name)}" for name in names)
