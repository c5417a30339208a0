"""Deeds of operators about players, and facts about players, boards, games and ratings.

Facts never include what a player hides from the others.
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
from pbmserv.service.operators.boards import end_board, game_key
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.ratings import rebuilding
from pbmserv.store import audit, ratings
from pbmserv.store.accounts import blocks, leaving, players, preferences
from pbmserv.store.accounts.players import Player
from pbmserv.store.audit import Entry
from pbmserv.store.boards import boards, closed_games
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.delivery import bounces
from pbmserv.store.operators import boards as operator_boards
from pbmserv.store.operators import people as operator_people
from pbmserv.store.operators.boards import BoardLine
from pbmserv.store.tables.accounts import PlayerState
from pbmserv.store.tables.boards import BoardStatus


def suspend(context: CommandContext, by: Signature, userid: str, *, end_games: bool) -> Deed:
    """Bar a player: the player can send no commands and gets no letters.

    Args:
        end_games: whether to end the player's running boards without a result. Else they go on
            without the player.

    Raises:
        OperatorError: there is no such player, or the player is not active.
    """
    player = _human_named(context, userid)
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}, so there is nothing to suspend")
    letters: list[Notification] = []
    ended = leaving.running(context.connection, player.id) if end_games else []
    for number in ended:
        to_all = end_board(context, by, number).letters
        letters += [letter for letter in to_all if letter.player_id != player.id]
    home = player.address
    leaving.leave(context.connection, player)
    operator_people.bar(context.connection, player.id)
    letters.append(Notification(home, None, _account_part("suspended", userid, by)))
    summary = f"{userid} is suspended" + (f"; {len(ended)} boards ended." if end_games else ".")
    facts = {"before": PlayerState.ACTIVE, "after": PlayerState.BARRED, "ended": ended}
    return Deed("suspend", f"user {userid}", summary, tuple(letters), facts)


def restore(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Let a barred player play again; letters go to the address that was confirmed first.

    Raises:
        OperatorError: there is no such player, or the player is not barred.
    """
    player = _human_named(context, userid)
    if player.state != PlayerState.BARRED:
        raise OperatorError(f"{userid} is {player.state}, not suspended")
    own = players.addresses_of(context.connection, player.id)
    leaving.come_back(context.connection, player, own[0])
    letters = [Notification(own[0], player.id, _account_part("restored", userid, by))]
    for number in leaving.running(context.connection, player.id):
        letters += board_letters(context, number, player.id)
    facts = {"before": PlayerState.BARRED, "after": PlayerState.ACTIVE}
    return Deed("restore", f"user {userid}", f"{userid} may play again.", tuple(letters), facts)


def reset(context: CommandContext, by: Signature, userid: str) -> Deed:  # noqa: ARG001 - every deed is signed
    """Revoke a player's reply addresses, and send a letter to set a new password.

    This helps if a mailbox was broken into, or if `forgot` cannot reach the player.

    Raises:
        OperatorError: there is no such player, or the player is not active.
    """
    player = _human_named(context, userid)
    if not player.active:
        raise OperatorError(f"{userid} is {player.state}; you can reset only active accounts")
    operator_people.revoke_addresses(context.connection, player.id, player.reply_epoch)
    words = {"userid": userid, "mark": password_mark(player.password_hash)}
    letters = [Notification(player.address, player.id, Part("reset", words))]
    for number in leaving.running(context.connection, player.id):
        letters += board_letters(context, number, player.id)
    summary = (
        f"The reply addresses of {userid} are revoked; "
        "a letter to set a new password is on its way."
    )
    return Deed("reset", f"user {userid}", summary, tuple(letters), {})


def reachable(context: CommandContext, by: Signature, userid: str) -> Deed:
    """Send letters to a player's given-up addresses again, and forget the bounces from there.

    Raises:
        OperatorError: there is no such player, or none of the addresses is given up.
    """
    player = player_named(context, userid)
    own = players.addresses_of(context.connection, player.id)
    records = bounces.standings(context.connection, own)
    given_up = [record for record in records if record.suspended_at is not None]
    if not player.active or not given_up:
        raise OperatorError(f"we have given no address of {userid} up; letters go there as always")
    home = come_back(context, player.id, by.why)
    bounces.forgive(context.connection, own)
    facts = {"addresses": [failure_words(record) for record in given_up]}
    names = ", ".join(record.address for record in given_up)
    summary = f"We send letters to {userid} again; we had given up {names}."
    return Deed("reachable", f"user {userid}", summary, home.notifications, facts)


def merge(context: CommandContext, by: Signature, userid: str, into: str) -> Deed:
    """Merge two accounts of one person: boards, addresses and results move to *into*.

    All ratings are computed again. The old userid stays taken.

    Raises:
        OperatorError: one is unknown or not active, both are the same, or they share a board.
    """
    old, new = _human_named(context, userid), _human_named(context, into)
    if old.id == new.id:
        raise OperatorError("you cannot merge an account with itself")
    for player in (old, new):
        if not player.active:
            raise OperatorError(f"{player.userid} is {player.state}; both must be active")
    shared = operator_people.shared_boards(context.connection, old.id, new.id)
    if shared:
        first = ", ".join(map(str, shared[:5]))
        raise OperatorError(
            f"{userid} and {into} play each other (board {first}), so you cannot merge them"
        )
    moved = leaving.running(context.connection, old.id)
    operator_people.move_daily_readings(context.connection, old.id, new.id)
    leaving.leave(context.connection, old)
    seats = operator_people.move_everything(context.connection, old.id, new.id)
    operator_people.retire(context.connection, old.id)
    rebuilding.rebuild(context.connection)
    letters = [Notification(new.address, new.id, _account_part("merged", into, by, other=userid))]
    for number in moved:
        letters += board_letters(context, number, new.id)
    summary = f"{userid} is part of {into} now: {seats} seats, {len(moved)} of them running."
    facts = {"into": into, "seats": seats}
    return Deed("merge", f"user {userid}", summary, tuple(letters), facts)


def _human_named(context: CommandContext, userid: str) -> Player:
    """Return the player of this userid, in any state.

    Raises:
        OperatorError: there is no such player, or it is a bot.
    """
    player = player_named(context, userid)
    if is_bot(player):
        raise OperatorError(
            f"{player.userid} is the server itself: it has no password and gets no letters. "
            "You can end its boards one by one: pbmserv board end NUMBER"
        )
    return player


def player_named(context: CommandContext, userid: str) -> Player:
    """Return the player or bot of this userid, in any state.

    Raises:
        OperatorError: there is no such player.
    """
    player = players.of_name(context.connection, userid.lower())
    if player is None:
        raise OperatorError(f"there is no player {userid}; `pbmserv user list` shows them all")
    return player


def board_letters(context: CommandContext, number: int, player_id: int) -> list[Notification]:
    """Return a new letter about a board to a player who cannot answer the old ones any more."""
    board = boards.load(context.connection, number)
    assert board is not None
    words = {"event": "news", "undecided": list(board.undecided), "ratings": []}
    return [
        Notification.sitter(sitter, Part("board", words, board.id, board.plies, Seat(sitter.seat)))
        for sitter in board.sitters
        if sitter.player_id == player_id
    ]


def _account_part(event: str, userid: str, by: Signature, other: str = "") -> Part:
    words = {"event": event, "userid": userid, "why": by.why, "other": other}
    return Part("operator-account", words)


Facts: TypeAlias = Sequence[tuple[str, str]]

_ENTRIES = 20
_STATUSES = tuple(BoardStatus)


def user_facts(context: CommandContext, userid: str) -> tuple[Facts, Sequence[Entry]]:
    """Return the facts about a player, and the audit entries.

    Raises:
        OperatorError: there is no such player.
    """
    player = player_named(context, userid)
    connection = context.connection
    running = leaving.running(connection, player.id)
    away = [
        f"{absence.begins:%Y-%m-%d %H:%M} to {absence.ends:%Y-%m-%d %H:%M} UTC"
        for absence in preferences.absences_of(connection, player.id)
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
            rating = f"{rated.standing.rating.shown} after {rated.standing.games} games"
            facts.append((game.info.key, rating))
    return facts, audit.entries(connection, f"user {player.userid}", _ENTRIES)


def _bounce_facts(context: CommandContext, player: Player, own: Sequence[str]) -> Facts:
    """Return facts about letters that came back from a player's addresses."""
    facts = []
    if player.unreachable_since is not None:
        since = f"{player.unreachable_since:%Y-%m-%d %H:%M} UTC"
        facts.append(("unreachable", f"since {since}; letters wait until a mail comes"))
    for record in bounces.standings(context.connection, own):
        state = "given up" if record.suspended_at else f"{record.hard} hard, {record.soft} soft"
        facts.append(("came back", f"{record.address} ({state}): {record.diagnostic}"))
    return facts


def board_lines(
    context: CommandContext, *, player: str, status: str, game: str, most: int
) -> Sequence[BoardLine]:
    """Return boards, newest first; *player*, *status* and *game* may be ``""`` for any.

    Raises:
        OperatorError: there is no such player or game.
    """
    player_id = player_named(context, player).id if player else None
    key = game_key(context, game) if game else None
    return operator_boards.board_lines(context.connection, status or None, key, player_id, most)


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
    """Return for each game and rules version its state and its number of boards by status."""
    counts = operator_boards.board_counts(context.connection)
    closed = closed_games.closed_since(context.connection)
    newest = {(g.info.key, g.info.rules_version) for g in context.services.registry}
    keys = sorted(newest | {(game, version) for game, version, _ in counts})
    return [
        (
            game,
            str(version),
            "closed" if game in closed else "open" if (game, version) in newest else "old",
            *(str(counts.get((game, version, status), 0)) for status in _STATUSES),
        )
        for game, version in keys
    ]


def game_facts(context: CommandContext, key: str) -> tuple[Facts, Sequence[Entry]]:
    """Return the facts about a game, and the audit entries.

    Raises:
        OperatorError: there is no such game.
    """
    key = game_key(context, key)
    info = context.services.registry.newest(key).info
    closed = closed_games.closed_since(context.connection).get(key)
    facts = [
        ("game", f"{info.title} ({info.key}, rules {info.rules_version})"),
        ("about", info.summary),
        ("seats", f"{info.min_seats} to {info.max_seats}"),
        ("state", f"closed since {closed:%Y-%m-%d}" if closed else "open"),
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
