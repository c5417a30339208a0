"""The deed that merges two accounts of one person."""

from __future__ import annotations

from pbmserv.errors import OperatorError
from pbmserv.plurals import counted
from pbmserv.service.accounts.absences import end_presumed_absence
from pbmserv.service.accounts.new_addresses import boards_again
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification
from pbmserv.service.operators.deeds import Deed, Signature
from pbmserv.service.operators.people import account_part, human_named
from pbmserv.service.ratings import rebuilding
from pbmserv.store import clocks, teams
from pbmserv.store.accounts import blocks, persons, players
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import boards
from pbmserv.store.delivery import unsent_letters
from pbmserv.store.operators import merging


def merge(context: CommandContext, by: Signature, userid: str, into: str) -> Deed:
    """Merge two accounts of one person: what the first one owns goes to *into*.

    docs/operating/day-to-day.md lists what moves, and what happens if both own the same. All
    ratings are computed again.

    Raises:
        OperatorError: one is unknown or not active, both are the same, or they share a board.
    """
    old, new = human_named(context, userid), human_named(context, into)
    _refuse_to_merge(context, old, new)
    connection = context.connection
    if old.unreachable_since is not None:
        end_presumed_absence(context, old, old.unreachable_since)
    running = boards.running_of(connection, old.id)
    team = teams.of_players(connection, [old.id])
    seats = merging.merge(connection, old, new, running, context.now)
    clocks.look_again(connection, new.id, context.now)
    _silence_blocked_persons(context, new.id)
    rebuilding.rebuild(connection)
    letter = Notification(new.address, new.id, account_part("merged", into, by, other=userid))
    letters = (letter, *boards_again(context, new.id, running))
    all_seats = counted(seats, "seat")
    summary = f"{userid} is part of {into} now: {all_seats}, {len(running)} of them running."
    own_team = teams.of_players(connection, [new.id])
    if team is not None and own_team is not None and team.id != own_team.id:
        summary += f" It has left the team {team.name}, since {into} is in another one."
    facts = {"into": into, "seats": seats}
    return Deed("merge", f"user {userid}", summary, letters, facts)


def _silence_blocked_persons(context: CommandContext, reader_id: int) -> None:
    """Remove the words of blocked persons, under any of their names, from unsent letters."""
    connection = context.connection
    own_ids = persons.ids_of_person(connection, reader_id)
    pairs = blocks.by_name(connection, own_ids)
    # Two names of one person block each other only by name.
    writers = {blocked for reader, blocked in pairs if reader == reader_id}
    blocked_ids = {blocked for _, blocked in pairs} - own_ids
    people = persons.persons_of(connection, blocked_ids)
    writers.update(*map(people.ids_of_person, blocked_ids))
    userids = players.userids(connection, sorted(writers)).values()
    unsent_letters.silence(connection, [reader_id], set(userids))


def _refuse_to_merge(context: CommandContext, old: Player, new: Player) -> None:
    """Refuse to merge accounts that are not active, are the same, or share a board."""
    if old.id == new.id:
        raise OperatorError("you cannot merge an account with itself")
    for player in (old, new):
        if not player.active:
            raise OperatorError(f"{player.userid} is {player.state}; both must be active")
    shared = merging.boards_of_both(context.connection, old.id, new.id)
    if shared:
        first = ", ".join(map(str, shared[:5]))
        raise OperatorError(
            f"{old.userid} and {new.userid} play each other (board {first}), "
            "so you cannot merge them"
        )
