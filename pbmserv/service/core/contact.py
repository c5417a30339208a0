"""Blocks between persons: whose words reach a player, and who may sit at one board.

A block holds between persons, under all their names (`store.accounts.persons`). The blocked player
does not notice it: words at a board seem to be passed on, and everything else is refused as by a
player who wants no challenges or messages at all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace

from pbmserv.errors import Refused
from pbmserv.mail.letter_kinds import kind_of
from pbmserv.service.core.command_state import Speaker
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Notification, Part
from pbmserv.service.core.said import UNSAID
from pbmserv.store.accounts import blocks, persons, players
from pbmserv.store.accounts.persons import Persons
from pbmserv.store.accounts.players import Player
from pbmserv.store.boards import challenges

# -- blocks ----------------------------------------------------------------------------------


def marks_of(context: CommandContext, player_ids: Collection[int]) -> list[str]:
    """Return the marks of players' mailboxes by every key."""
    mailboxes = persons.mailboxes_of(context.connection, player_ids)
    ring = context.services.mail_domain.ring
    return [mark for mailbox in mailboxes for mark in ring.marks(mailbox)]


def newest_marks_of(context: CommandContext, player_ids: Collection[int]) -> list[str]:
    """Return the marks of players' mailboxes by the newest key, which are stored."""
    mailboxes = persons.mailboxes_of(context.connection, player_ids)
    ring = context.services.mail_domain.ring
    return [ring.marks(mailbox)[0] for mailbox in mailboxes]


def blocked_pairs(
    context: CommandContext, player_ids: Collection[int], known_persons: Persons | None = None
) -> set[tuple[int, int]]:
    """Return the pairs of players of whom the first blocks the second.

    Two names of one person block each other only by name.

    Args:
        known_persons: the players by person, if the caller has them.
    """
    connection = context.connection
    people = known_persons or persons.persons_of(connection, player_ids)
    by_name = blocks.by_name(connection, people.by_player)
    if not by_name:  # each block of a mailbox has a name, too
        return set()
    pairs = {
        (people.by_player[blocker], people.by_player[blocked])
        for blocker, blocked in by_name
        if blocked in people.by_player
    }
    marked = blocks.by_mailbox(connection, people.by_player)
    for person in {people.by_player[player_id] for player_id in player_ids}:
        marks = set(marks_of(context, people.ids_of_person(person)))
        pairs |= {(people.by_player[blocker], person) for blocker, mark in marked if mark in marks}
    exact = set(by_name)
    return {
        (blocker, blocked)
        for blocker in player_ids
        for blocked in player_ids
        if (
            (blocker, blocked) in exact
            if people.same(blocker, blocked)
            else (people.by_player[blocker], people.by_player[blocked]) in pairs
        )
    }


def keep_blocks_on_deleted(context: CommandContext, player_id: int) -> None:
    """Keep the blocks on a player whose account is about to be deleted."""
    blockers = blocks.blockers_of(context.connection, player_id)
    if blockers:
        ids = persons.ids_of_person(context.connection, player_id)
        marks = newest_marks_of(context, ids)
        for blocker in blockers:
            blocks.block(context.connection, blocker, player_id, marks)


# -- words -----------------------------------------------------------------------------------


def reaches(context: CommandContext, writer_id: int, reader: Player) -> bool:
    """Return whether a player's words reach another one, who may be the same person."""
    people = persons.persons_of(context.connection, {writer_id, reader.id})
    if (reader.id, writer_id) in blocked_pairs(context, {writer_id, reader.id}, people):
        return False
    if reader.messages == "all" or people.same(writer_id, reader.id):
        return True
    return reader.messages == "played" and challenges.have_played(
        context.connection, people.ids_of_person(reader.id), people.ids_of_person(writer_id)
    )


def without_blocked_words(
    context: CommandContext, notifications: Iterable[Notification]
) -> Iterator[Notification]:
    """Yield letters without the words that do not reach their readers.

    A letter of words alone is dropped. Words of operators to everybody reach all who asked for
    them.
    """
    for notification in notifications:
        part, kind = notification.part, kind_of(notification.part.letter)
        writer = _writer(context, part)
        reader = None
        if writer is not None and notification.player_id is not None and not kind.for_many:
            reader = players.by_id(context.connection, notification.player_id)
        if writer is None or reader is None or reaches(context, writer.id, reader):
            yield notification
        elif not kind.only_words:
            yield replace(notification, part=replace(part, words={**part.words, "said": UNSAID}))


def _writer(context: CommandContext, part: Part) -> Player | None:
    """Return the player whose words are in a letter; `None` if it has none."""
    words = part.words
    if not words.get("said") or not words.get("by"):
        return None
    return players.account_of(context.connection, words["by"])


# -- boards ----------------------------------------------------------------------------------


def refuse_blocked_players(
    context: CommandContext, speaker_id: int, others: Collection[Speaker]
) -> None:
    """Refuse to bring a player to one board with others if there is a block between them.

    Args:
        speaker_id: the player who asks for the board, or accepts it.
        others: the players that the speaker would meet.

    Raises:
        Refused: there is one. It tells whether the speaker blocks the other player by name, and
            nothing else.
    """
    pairs = blocked_pairs(context, {speaker_id, *(player.player_id for player in others)})
    if not pairs:
        return
    by_name = dict.fromkeys(blocks.by_name(context.connection, [speaker_id]))
    for player in others:
        if (speaker_id, player.player_id) in by_name:
            raise Refused("you-block", part=player.userid, example=f"prefs unblock={player.userid}")
        if {(speaker_id, player.player_id), (player.player_id, speaker_id)} & pairs:
            raise Refused("unavailable", part=player.userid)


def refuse_blocks_among(context: CommandContext, invited: Collection[Player]) -> None:
    """Refuse to bring players to one board if one of them blocks another.

    Raises:
        Refused: one does. It does not tell which.
    """
    if len(invited) > 1 and blocked_pairs(context, {player.id for player in invited}):
        raise Refused("not-together", part=", ".join(player.userid for player in invited))
