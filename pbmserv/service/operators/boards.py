"""What operators do about boards, games and ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pbmserv.engine.clocks import SeatClock
from pbmserv.errors import OperatorError, OptionError
from pbmserv.service.boards.bot_turns import is_bot, rates
from pbmserv.service.boards.followers import not_played
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.ratings import rating, rebuilding
from pbmserv.service.time import clocks as timekeeping
from pbmserv.store import clocks
from pbmserv.store.accounts import leaving, players
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow
from pbmserv.store.clocks import Times
from pbmserv.store.operators import audit, operating
from pbmserv.store.tables.boards import RUNNING, BoardStatus


def withdrawn(context: CommandContext, by: Signature, number: int) -> Deed:
    """A running board ends and counts for nothing.

    Raises:
        OperatorError: there is no such board, or it does not run.
    """
    board = running(context, number)
    boards.set_status(context.connection, number, BoardStatus.DECLINED)
    told = (
        *_letters(board, "withdrawn", by),
        *not_played(context, replace(board, status=BoardStatus.DECLINED)),
    )
    facts = {"before": board.status, "after": BoardStatus.DECLINED}
    said = f"Board {number} has ended and counts for nothing."
    return Deed("end", f"board {number}", said, told, facts)


def hand_over(context: CommandContext, by: Signature, number: int, old: str, new: str) -> Deed:
    """Another player takes a seat; the board's result changes no ratings then.

    Raises:
        OperatorError: the board does not run, *old* has no seat there, or *new* cannot take it.
    """
    board = running(context, number)
    leaving = next((s for s in board.sitters if s.userid == old.lower()), None)
    if leaving is None:
        names = ", ".join(board.names)
        raise OperatorError(f"{old} does not play on board {number}; these do: {names}")
    if is_bot(leaving):
        raise OperatorError(f"{leaving.userid} is the server itself and keeps its seat")
    coming = players.by_userid(context.connection, new.lower())
    if coming is None:
        raise OperatorError(f"there is no active player {new}")
    if board.sitter_of(coming.id) is not None:
        raise OperatorError(f"{coming.userid} plays on board {number} already")
    handed = operating.hand_over(
        context.connection, number, leaving.player_id, coming.id, context.now
    )
    operating.set_rated(context.connection, number, rated=False)
    after = boards.lock(context.connection, number)
    assert after is not None
    if after.status == BoardStatus.PROPOSED:
        timekeeping.accepted(context, after, after.undecided)  # all clocks, once nobody is asked
        if not after.undecided:
            boards.set_status(context.connection, number, BoardStatus.ACTIVE)
            after = replace(after, status=BoardStatus.ACTIVE)
    else:
        _start_anew(context, after, handed)
    told = [*_letters(after, "handed-over", by, old=leaving.userid, new=coming.userid)]
    if leaving.address:
        words = {"event": "given", "userid": leaving.userid, "why": by.why, "other": str(number)}
        told.append(
            Notification(leaving.address, leaving.player_id, Part("operator-account", words))
        )
    facts = {"before": leaving.userid, "after": coming.userid, "rated": board.rated}
    said = f"{coming.userid} plays board {number} in place of {leaving.userid}; it is unrated now."
    return Deed("hand-over", f"board {number}", said, tuple(told), facts)


def set_deadline(context: CommandContext, by: Signature, number: int, times: Sequence[str]) -> Deed:
    """New times for a board; whoever is waited for begins to be waited for now.

    Args:
        times: as a challenge has them (``--forfeittime=30`` …); those not named stay as they are,
            and none = only begin anew.

    Raises:
        OperatorError: the board does not run, or the times are none.
    """
    board = running(context, number)
    before = board.terms
    try:
        terms = timekeeping.read_times(times, before) if times else before
    except OptionError as error:
        example = error.refusal.example
        raise OperatorError(f"{error.refusal.part} does not fit; try {example}") from None
    operating.set_terms(context.connection, number, terms)
    _start_anew(context, replace(board, terms=terms), [s.seat for s in board.sitters])
    facts = {
        "before": [before.nag, before.forfeit, before.total],
        "after": [terms.nag, terms.forfeit, terms.total],
    }
    said = (
        f"Board {number}: reminder {_after(terms.nag)}, forfeit {_after(terms.forfeit)}, "
        f"in all {terms.total or 'any number of'} days, from now on."
    )
    return Deed("deadline", f"board {number}", said, tuple(_letters(board, "deadline", by)), facts)


def set_rated(context: CommandContext, by: Signature, number: int, *, rated: bool) -> Deed:
    """Whether a board's result counts; ratings are computed anew if it has ended.

    Raises:
        OperatorError: there is no such board, it is so already, or it can have no result that
            counts: one player is alone, it ended before all had accepted, or a bot plays there.
    """
    board = known(context, number)
    if why := _never_counts(board):
        raise OperatorError(f"board {number} counts for no ratings: {why}")
    if board.rated == rated:
        state = "rated" if rated else "unrated"
        raise OperatorError(f"board {number} is {state} already")
    if rated and not rates(context.services.registry.newest(board.game), board.sitters):
        raise OperatorError(f"board {number} is a game with bots that are not rated")
    operating.set_rated(context.connection, number, rated=rated)
    changed = 0
    if board.status == "finished":
        changed = rebuilding.rebuild(context.connection).differences
    told = _letters(board, "rated" if rated else "unrated", by)
    facts = {"before": board.rated, "after": rated}
    said = f"Board {number} {'counts' if rated else 'does not count'}; that changed {changed} rows."
    action = "include" if rated else "exclude"
    return Deed(action, f"board {number}", said, tuple(told), facts)


def _never_counts(board: BoardRow) -> str:
    """Why a board has no result that could count; ``""``: it has, or may still get one."""
    if board.status == BoardStatus.DECLINED:
        return "it was declined or called off, so nobody has won or lost it"
    if board.status == BoardStatus.FINISHED and board.undecided:
        return f"it ended before {' and '.join(board.undecided)} had accepted it"
    players = [sitter.player_id for sitter in board.sitters]
    return "" if rating.counts(players) else "that takes two players or more"


def rebuild_ratings(context: CommandContext, _: Signature) -> Deed:
    """All ratings are computed again from the record of the boards."""
    done = rebuilding.rebuild(context.connection)
    rows = f"{done.boards} rated boards, {done.players} ratings"
    said = f"{rows}: all correct."
    if done.differences:
        said = f"{rows}: {done.differences} rows differed and have been put right."
    facts = {"differences": done.differences, "first": done.told}
    return Deed("rebuild", "ratings", "\n".join((*done.told, said)), (), facts)


def close_game(context: CommandContext, _: Signature, game: str) -> Deed:
    """No new boards of a game are made; those that run go on.

    Raises:
        OperatorError: there is no such game, or it is closed already.
    """
    game = known_game(context, game)
    if audit.is_closed(context.connection, game):
        raise OperatorError(f"{game} is closed already")
    audit.close(context.connection, game, context.now)
    return Deed("suspend", f"game {game}", f"From now on nobody can begin a board of {game}.")


def open_game(context: CommandContext, _: Signature, game: str) -> Deed:
    """New boards of a game are made again.

    Raises:
        OperatorError: there is no such game, or it is not closed.
    """
    game = known_game(context, game)
    if not audit.is_closed(context.connection, game):
        raise OperatorError(f"{game} is not closed")
    audit.open_again(context.connection, game)
    return Deed("restore", f"game {game}", f"Players can begin boards of {game} again.")


def known(context: CommandContext, number: int) -> BoardRow:
    """A board, locked.

    Raises:
        OperatorError: there is none of that number.
    """
    board = boards.lock(context.connection, number)
    if board is None:
        raise OperatorError(f"there is no board {number}; `pbmserv board list` shows them all")
    return board


def running(context: CommandContext, number: int) -> BoardRow:
    """A board that is proposed or active, locked.

    Raises:
        OperatorError: there is none, or it is over.
    """
    board = known(context, number)
    if board.status not in RUNNING:
        raise OperatorError(f"board {number} is {board.status}; this needs one that runs")
    return board


def _after(days: int) -> str:
    return f"after {days} days" if days else "never"


def known_game(context: CommandContext, name: str) -> str:
    """The key of a game, however large its letters are written.

    Raises:
        OperatorError: there is none of that name.
    """
    key = name.strip().lower()
    if key not in context.services.registry:
        names = ", ".join(found.info.key for found in context.services.registry)
        raise OperatorError(f"there is no game {name}; there are: {names}")
    return key


def _start_anew(context: CommandContext, board: BoardRow, seats: Sequence[int]) -> None:
    """The clocks of some seats begin now, if they run; a worker looks at once what is due."""
    found = board.clocks or (SeatClock(),) * board.seats
    anew = tuple(
        SeatClock(context.now, (), clock.used)
        if seat in seats and clock.since is not None
        else clock
        for seat, clock in enumerate(found)
    )
    times = Times(anew if board.clocks else (), context.now)
    clocks.set_times(context.connection, board.id, times)


def _letters(
    board: BoardRow, event: str, by: Signature, old: str = "", new: str = ""
) -> list[Notification]:
    words = {
        "event": event,
        "why": by.why,
        "old": old,
        "new": new,
        "undecided": list(board.undecided),
        "ratings": [],
    }
    return [
        Notification.sitter(
            sitter, Part("operator-board", words, board.id, board.plies, sitter.seat)
        )
        for sitter in board.sitters
    ]


def hides(context: CommandContext, number: int | None, player_id: int | None) -> bool:
    """Whether a board runs, or another one of a player's does, so that a letter to them about it
    may show what nobody else may know yet."""
    board = boards.load(context.connection, number) if number else None
    if board is not None and board.status in RUNNING:
        return True
    return bool(player_id and leaving.running(context.connection, player_id))
