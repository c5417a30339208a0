"""Handles due clocks of boards: reminders, lost games, and challenges without an answer.

The scheduler passes one due board at a time; a transaction locks it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pbmserv.engine.clocks import (
    REMIND_AHEAD,
    Forfeit,
    Person,
    Remind,
    SeatClock,
    Server,
    Wait,
    clock_after_reminder,
    decide,
    forfeit_at,
)
from pbmserv.engine.position import Position
from pbmserv.service.boards import game_pauses, plan_runs, plies
from pbmserv.service.boards.acceptance import players_for_board
from pbmserv.service.boards.followers import news_of_declined_board
from pbmserv.service.boards.lateness import late_seats
from pbmserv.service.boards.resigning import goes_on_without
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer, Notification, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.service.delivery import waiting_boards
from pbmserv.service.delivery.waiting_boards import Due
from pbmserv.service.time import timekeeping
from pbmserv.store import clocks, heartbeats
from pbmserv.store.boards import boards
from pbmserv.store.boards.boards import BoardRow, Sitter
from pbmserv.store.clocks import Times
from pbmserv.store.events import events
from pbmserv.store.shared_boxes import shared_boxes
from pbmserv.store.tables.boards import RUNNING, BoardStatus

SOON = REMIND_AHEAD + timedelta(hours=10)
"""Boards that are due in this time can share a reminder, since a reminder within `REMIND_AHEAD` may
be put off to the next morning."""

LOOK_AGAIN = timedelta(hours=1)
"""Time until a board is checked again whose game cannot be played; `resume` checks all at once."""


def handle_due_board(context: CommandContext, board_id: int) -> Sequence[Notification] | None:
    """Remind players of a due board, or end it, and set its next due time.

    Returns:
        The letters; `None` if nothing was done, since another process has the board, or an outage
        must be recorded first.
    """
    if not clocks.claim(context.connection, board_id, context.now):
        return None
    board = boards.lock(context.connection, board_id)
    if board is None or board.status not in RUNNING:
        clocks.set_times(context.connection, board_id, Times((), None))
        return []
    if not game_pauses.runs(context, board):
        clocks.put_off(context.connection, board_id, context.now + LOOK_AGAIN)
        return []
    if not board.clocks:
        clocks.set_times(context.connection, board_id, timekeeping.first_times(context, board))
        return []
    running = _running_clocks(context, board)
    return None if running is None else running.remind_or_end()


def deadline_of(context: CommandContext, board: BoardRow, player_id: int) -> datetime | None:
    """Return when a player's time at a board is over, as far as known now.

    `None`: the board does not wait for the player, or for as long as it takes.
    """
    if board.status not in RUNNING or not board.clocks:
        return None
    running = _running_clocks(context, board)
    return None if running is None else running.deadline_of(player_id)


def remind_in_digest(
    context: CommandContext, number: int, player_id: int, ahead: timedelta
) -> Due | None:
    """Note that a digest reminds of a board; return `None` if that is not due before the next one.

    Args:
        ahead: time from this digest to the next one.
    """
    if not clocks.hold(context.connection, number):
        return None  # a turn is being made there; the next digest reminds
    return _remind(context, number, player_id, ahead)


def _remind(context: CommandContext, number: int, player_id: int, ahead: timedelta) -> Due | None:
    board = boards.lock(context.connection, number)
    if board is None or board.status not in RUNNING or not board.clocks:
        return None
    if not game_pauses.runs(context, board):
        return None
    running = _running_clocks(context, board)
    return None if running is None else running.remind(player_id, ahead)


def _running_clocks(context: CommandContext, board: BoardRow) -> _RunningClocks | None:
    """Return the running clocks of a board; `None` if an outage must be recorded first."""
    up_since = heartbeats.up_since(context.connection, context.now)
    if up_since is None:
        return None
    since = min(
        (clock.since for clock in board.clocks if clock.since is not None), default=context.now
    )
    server = timekeeping.server_of(context, board, since)
    return _RunningClocks(context, board, replace(server, up_since=up_since))


class _RunningClocks:
    """The running clocks of one board, and the reminders and ends that are due by them now."""

    def __init__(self, context: CommandContext, board: BoardRow, server: Server) -> None:
        self._context = context
        self._board = board
        self._server = server
        self._terms = board.terms.for_answer() if board.undecided else board.terms
        self._running = [
            (sitter, clock)
            for sitter, clock in zip(board.sitters, board.clocks, strict=True)
            if clock.since is not None
        ]
        self._people = {sitter.seat: self._person(sitter, clock) for sitter, clock in self._running}

    def remind_or_end(self) -> Sequence[Notification]:
        """Remind the players who are to be reminded, or end the board; return the letters."""
        decisions = [
            (sitter, clock, self._decide(sitter, clock)) for sitter, clock in self._running
        ]
        late = [
            (sitter, clock, decision)
            for sitter, clock, decision in decisions
            if isinstance(decision, Forfeit)
        ]
        if not late:
            return self._remind_all(
                (sitter, clock)
                for sitter, clock, decision in decisions
                if isinstance(decision, Remind)
            )
        if self._is_ended_by_event():
            clocks.set_times(
                self._context.connection, self._board.id, Times(self._board.clocks, None)
            )
            return []
        notifications = self._end(late)  # a board that ends now needs no reminders
        if not self._terms.alone:
            return notifications
        # No other player has waited, so only followers are told.
        return [notification for notification in notifications if notification.part.seat is None]

    def _remind_all(self, due: Iterable[tuple[Sitter, SeatClock]]) -> Sequence[Notification]:
        """Note that players are reminded, and return their letters."""
        seat_clocks = list(self._board.clocks)
        letters: list[Notification] = []
        for sitter, clock in due:
            after = self._clock_if_reminded(sitter, clock, REMIND_AHEAD)
            assert after is not None, "what is due now is covered by a reminder now"
            seat_clocks[sitter.seat] = after
            letters.append(self._reminder(sitter, after))
        self._store(seat_clocks)
        return letters

    def remind(self, player_id: int, ahead: timedelta) -> Due | None:
        """Note that a digest reminds a player of this board; return `None` if that is not due.

        Args:
            ahead: time from this digest to the next one.
        """
        if any(isinstance(self._decide(*running), Forfeit) for running in self._running):
            return None  # `handle_due_board` ends it
        seat_clocks = list(self._board.clocks)
        for sitter, clock in self._running:
            if sitter.player_id != player_id:
                continue
            after = self._clock_if_reminded(sitter, clock, ahead)
            if after is not None:
                seat_clocks[sitter.seat] = after
                self._store(seat_clocks)
                return self._due(sitter, after)
        return None

    def deadline_of(self, player_id: int) -> datetime | None:
        """Return when a player's time is over; see `deadlines.deadline_of`."""
        for sitter, clock in self._running:
            if sitter.player_id == player_id:
                return self._due(sitter, clock).lost_at
        return None

    def _is_ended_by_event(self) -> bool:
        """Return whether the board has a box of an event that ends now, with all its boxes."""
        context, event_id = self._context, self._board.event_id
        ends_at = events.end_of(context.connection, event_id) if event_id is not None else None
        if ends_at is None or context.now < ends_at:
            return False
        shared = shared_boxes.of_board(context.connection, self._board.id)
        return shared is not None and shared.is_open

    def _store(self, seat_clocks: Sequence[SeatClock]) -> None:
        """Store the clocks, and the time at which the board is due again."""
        decisions = [self._decide(sitter, seat_clocks[sitter.seat]) for sitter, _ in self._running]
        due_times = [
            decision.until if isinstance(decision, Wait) else self._context.now
            for decision in decisions
        ]
        due = min((moment for moment in due_times if moment is not None), default=None)
        clocks.set_times(self._context.connection, self._board.id, Times(tuple(seat_clocks), due))

    def _clock_if_reminded(
        self, sitter: Sitter, clock: SeatClock, ahead: timedelta
    ) -> SeatClock | None:
        """Return the clock after a reminder now; `None` if none is due within *ahead*."""
        person = self._people[sitter.seat]
        return clock_after_reminder(
            clock, self._terms, person, self._server, self._context.now, ahead
        )

    def _other_due_boards(self, sitter: Sitter) -> Iterator[Due]:
        """Yield the player's other boards that are nearly due."""
        context, until = self._context, self._context.now + SOON
        numbers = clocks.due_of_player(
            context.connection,
            sitter.player_id,
            until,
            except_board=self._board.id,
            most=waiting_boards.MOST_DRAWN - 1,
        )
        for number in numbers:
            if not clocks.claim(context.connection, number, until):
                continue  # another process has it, and reminds of it
            due = _remind(context, number, sitter.player_id, REMIND_AHEAD)
            if due is not None:
                yield due

    def _person(self, sitter: Sitter, clock: SeatClock) -> Person:
        assert clock.since is not None
        return timekeeping.person_at(self._context, self._board, sitter, clock.since)

    def _decide(self, sitter: Sitter, clock: SeatClock) -> Wait | Remind | Forfeit:
        person = self._people[sitter.seat]
        return decide(clock, self._terms, person, self._server, self._context.now)

    def _due(self, sitter: Sitter, clock: SeatClock) -> Due:
        assert clock.since is not None
        person = self._people[sitter.seat]
        lost = forfeit_at(clock, self._terms, person, self._server, self._context.now)
        event_id = self._board.event_id
        if lost is not None and event_id is not None:
            lost = min(lost, events.end_of(self._context.connection, event_id) or lost)
        return Due(self._board, sitter, clock.since, lost)

    def _reminder(self, sitter: Sitter, clock: SeatClock) -> Notification:
        """Return a reminder of this board and of the player's other boards that are nearly due."""
        others = tuple(self._other_due_boards(sitter))
        if not others:
            return self._reminder_of_board(sitter, clock)
        part = waiting_boards.reminders(self._context, (self._due(sitter, clock), *others))
        return Notification(sitter.address, sitter.player_id, part)

    def _reminder_of_board(self, sitter: Sitter, clock: SeatClock) -> Notification:
        board, due = self._board, self._due(sitter, clock)
        words = {
            "event": "news",
            "undecided": list(board.undecided),
            "asked_by": players_for_board(self._context, board),
            "since": _iso(due.since),
            "forfeit_at": _iso(due.lost_at),
            "tz": sitter.tz,
        }
        return Notification.sitter(
            sitter, Part("reminder", words, board.id, board.plies, sitter.seat)
        )

    def _end(self, late: Sequence[tuple[Sitter, SeatClock, Forfeit]]) -> Sequence[Notification]:
        """End the board for its late players; the first of them loses it."""
        position = self._context.position(self._board)
        moved = position.moved()
        if position.apart and moved:
            return self._drop_out(late)
        # A player who has never moved may not know of the board, which a forger can have begun. So
        # nobody loses anything, as with "resign". Players of an event have entered it, and three or
        # more who have begun go on.
        is_bound = self._board.of_event or goes_on_without(self._board, position)
        not_begun = not is_bound and any(sitter.seat not in moved for sitter, _, _ in late)
        if self._board.undecided or not_begun:
            return self._not_played([sitter.userid for sitter, _, _ in late])
        sitter, clock, forfeit = late[0]
        why = _reason(sitter, clock, self._terms.total if forfeit.total else None)
        why["bank"] = self._terms.has_bank
        why["lost_by_both"] = self._is_lost_by_both(sitter)
        after = (
            position.lapse(sitter.seat) if why["lost_by_both"] else position.forfeit(sitter.seat)
        )
        forfeited = _forfeit(self._context, self._board, sitter, after, why)
        return plan_runs.play_queued_moves(self._context, forfeited).letters(sitter)

    def _is_lost_by_both(self, loser: Sitter) -> bool:
        """Return whether the other player was late, too, so that the event or ladder of the board
        counts it as won by nobody."""
        if not self._board.of_event or len(self._running) < 2:
            return False
        return len(late_seats(self._context, self._board, loser.seat)) == 2

    def _drop_out(
        self, late: Sequence[tuple[Sitter, SeatClock, Forfeit]]
    ) -> Sequence[Notification]:
        """End a race for the late players only, since each plays alone."""
        notifications: list[Notification] = []
        for sitter, clock, _ in late:
            board = boards.lock(self._context.connection, self._board.id)
            assert board is not None
            position = self._context.position(board)
            why = _reason(sitter, clock, None)
            after = position.forfeit(sitter.seat)
            notifications += _forfeit(self._context, board, sitter, after, why).letters(sitter)
        return notifications

    def _not_played(self, late: Sequence[str]) -> Sequence[Notification]:
        """Decline the board, which counts for nothing.

        Args:
            late: userids of the late players.
        """
        board = self._board
        boards.set_status(self._context.connection, board.id, BoardStatus.DECLINED)
        words = {"late": list(late), "answer": bool(board.undecided)}
        notifications = tuple(
            Notification.sitter(
                sitter, Part("unanswered", words, board.id, board.plies, sitter.seat)
            )
            for sitter in board.sitters
        )
        return notifications + news_of_declined_board(
            self._context, replace(board, status=BoardStatus.DECLINED)
        )


def _iso(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat()


def _reason(sitter: Sitter, clock: SeatClock, total: int | None) -> dict[str, Any]:
    """Return the reason of a forfeit, for letters.

    Args:
        total: the days of the whole game, if those are used up.
    """
    return {
        "by": sitter.userid,
        "since": _iso(clock.since),
        "reminded": _iso(next(iter(clock.reminded), None)),
        "total": total,
    }


def _forfeit(
    context: CommandContext,
    board: BoardRow,
    sitter: Sitter,
    after: Position,
    why: Mapping[str, Any],
) -> Answer:
    """End a board because a player is late.

    Args:
        after: the position after that.
        why: see `_reason`.
    """
    answer = plies.log_ply(context, board, sitter, after, UNSAID)
    zones = {other.player_id: other.tz for other in board.sitters}

    def with_reason(part: Part, player_id: int | None) -> Part:
        if part.seat is None:  # a follower
            return part
        reason = {**why, "tz": zones.get(player_id or 0, "UTC")}
        return replace(part, words={**part.words, "forfeit": reason})

    notifications = tuple(
        replace(notification, part=with_reason(notification.part, notification.player_id))
        for notification in answer.notifications
    )
    return Answer(
        tuple(with_reason(part, sitter.player_id) for part in answer.parts), notifications
    )
