"""Removes the personal data of a player from all rows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Connection, and_, delete, func, or_, select, update

from pbmserv.commands.reserved_userids import NEUTRAL
from pbmserv.mail.letter_kinds import letters_that
from pbmserv.store import audit
from pbmserv.store.accounts import blocks, leaving
from pbmserv.store.accounts import players as player_rows
from pbmserv.store.accounts.players import Player
from pbmserv.store.core.statements import change_rows, delete_rows, in_chunks
from pbmserv.store.delivery import bounces
from pbmserv.store.tables.accounts import (
    PlayerState,
    absences,
    address_changes,
    addresses,
    invitations,
    notices,
    players,
    signups,
)
from pbmserv.store.tables.boards import followers, plies, seats, seeks
from pbmserv.store.tables.events import events
from pbmserv.store.tables.mail import UNSENT, LetterState, MailState, inbox, outbox

_LISTS = letters_that(lambda kind: kind.lists_people)


def erase(connection: Connection, player: Player) -> str:
    """Remove all personal data of a player who has no running board; return the neutral userid.

    Boards stay, with their moves and results, under the neutral userid and without chat.
    """
    ever = _addresses_ever(connection, player)
    own = _only_own(connection, player.id, ever)
    neutral = neutral_userid(connection, player.id)
    erased = Player(
        id=player.id,
        userid=neutral,
        password_hash="",
        address="",
        reply_epoch=player.reply_epoch + 1,
        state=PlayerState.DELETED,
        accept="none",
    )
    change_rows(connection, players, {"id": player.id}, **erased.columns, digest_due=None)
    names = {player.userid: neutral, **_rename_merged(connection, player.userid)}
    for userid, name in names.items():
        audit.rename(connection, userid, name)
    _erase_mails(connection, player.id, ever, own)
    _erase_letters(connection, player, names, own)
    leaving.drop_plans_and_notes(connection, player.id)
    for table in (absences, addresses, address_changes, followers, invitations, notices, seeks):
        delete_rows(connection, table, player_id=player.id)
    change_rows(connection, events, {"owner_id": player.id}, name="")
    bounces.forget_strangers(connection, ever)
    blocks.forget_by(connection, player.id)
    connection.execute(delete(signups).where(signups.c.id.in_(_signups(connection, player.id))))
    return neutral


def neutral_userid(connection: Connection, player_id: int) -> str:
    """Return ``gone-`` and the player's number, with zeros appended if that userid is taken."""
    neutral = f"{NEUTRAL}{player_id}"
    while player_rows.account_of(connection, neutral) is not None:
        neutral += "0"
    return neutral


def _rename_merged(connection: Connection, userid: str) -> dict[str, str]:
    """Rename accounts that were merged into this one; return the neutral userids by userid."""
    names = {}
    for name in audit.merged_into(connection, userid):
        part = player_rows.account_of(connection, name)
        if part is not None and part.state == PlayerState.DELETED:
            names[name] = neutral_userid(connection, part.id)
            values = {"userid": names[name], "tz": "UTC", "remind": ""}
            change_rows(connection, players, {"id": part.id}, **values)
    return names


def _addresses_ever(connection: Connection, player: Player) -> list[str]:
    """Return every address that was confirmed for this player at some time.

    Other addresses that the player named are left out: anybody can name any address.
    """
    ever = set(player_rows.addresses_of(connection, player.id))
    for statement in (
        select(address_changes.c.address).where(
            address_changes.c.player_id == player.id, address_changes.c.confirmed_at.is_not(None)
        ),
        select(signups.c.address).where(signups.c.player_id == player.id),
    ):
        ever |= set(connection.execute(statement).scalars())
    return sorted(ever)


def _only_own(connection: Connection, player_id: int, ever: Sequence[str]) -> list[str]:
    """Return those addresses that no other player has now."""
    shared = connection.execute(
        select(addresses.c.address).where(
            addresses.c.address.in_(ever), addresses.c.player_id != player_id
        )
    ).scalars()
    return sorted(set(ever) - set(shared))


def _signups(connection: Connection, player_id: int) -> list[int]:
    """Return the requests that created this player, and all others of their batches."""
    batches = select(signups.c.batch).where(signups.c.player_id == player_id)
    rows = connection.execute(select(signups.c.id).where(signups.c.batch.in_(batches)))
    return list(rows.scalars())


def _confirmations(connection: Connection, player: Player) -> list[int]:
    """Return the letters that asked for a confirmation of the signup."""
    requests = _signups(connection, player.id)
    addresses_asked = select(signups.c.address).where(signups.c.id.in_(requests))
    rows = connection.execute(
        select(outbox.c.id, outbox.c.words).where(
            outbox.c.letter == "confirm",
            outbox.c.player_id.is_(None),
            outbox.c.recipient.in_(addresses_asked),
        )
    )
    return [row.id for row in rows if row.words.get("signup") in requests]


def _boards_by_reader(connection: Connection, player_id: int) -> Mapping[int, list[int]]:
    """Return the boards of the player that others get letters about, by reader."""
    own = select(seats.c.board_id).where(seats.c.player_id == player_id)
    boards_by_reader: dict[int, list[int]] = {}
    for table in (seats, followers):
        for row in connection.execute(
            select(table.c.player_id, table.c.board_id).where(
                table.c.board_id.in_(own), table.c.player_id != player_id
            )
        ):
            boards_by_reader.setdefault(row.player_id, []).append(row.board_id)
    return boards_by_reader


def _written_to(connection: Connection, player_id: int) -> list[str]:
    """Return the userids to whom the player has sent messages, according to the answers."""
    userids: set[str] = set()
    for words in connection.execute(
        select(outbox.c.words).where(
            outbox.c.player_id == player_id, outbox.c.letter.in_(("message-sent", "summary"))
        )
    ).scalars():
        userids.update(words.get("to", ()))
        for line in words.get("lines", ()):
            for part in line["parts"]:
                userids.update(part["words"].get("to", ()))
    return sorted(userids)


def _erase_mails(
    connection: Connection, player_id: int, ever: Sequence[str], own: Sequence[str]
) -> None:
    """Blank the mails that this player sent; their rows stay, so that no copy is carried out.

    If another player has the address, too, mails that wait for the operator are kept: they may be
    the other player's.
    """
    moves = (
        select(plies.c.mail_id)
        .join(seats, and_(seats.c.board_id == plies.c.board_id, seats.c.seat == plies.c.seat))
        .where(seats.c.player_id == player_id, plies.c.mail_id.is_not(None))
    )
    for whose in (
        inbox.c.player_id == player_id,
        inbox.c.sender.in_(own),
        and_(inbox.c.sender.in_(ever), inbox.c.state != MailState.KEPT),
        inbox.c.id.in_(moves),
    ):
        connection.execute(
            update(inbox)
            .where(whose, inbox.c.state == MailState.KEPT)
            .values(state=MailState.IGNORED)
        )
        connection.execute(
            update(inbox)
            .where(whose)
            .values(raw=b"", octets=0, sender="", peer="", error="", found="")
        )


def _erase_letters(
    connection: Connection, player: Player, names: Mapping[str, str], own: Sequence[str]
) -> None:
    """Blank letters to the player; remove the player's names and words from letters to others.

    Args:
        names: neutral userid by userid of the player.
    """
    written_to = _written_to(connection, player.id)  # before these letters lose their words
    _blank_letters_to(connection, player, own)
    boards_by_reader = _boards_by_reader(connection, player.id)
    for reader, shared in boards_by_reader.items():
        for chunk in in_chunks(shared):
            about = and_(outbox.c.player_id == reader, outbox.c.board_id.in_(chunk))
            _erase_names(connection, about, names)
    _erase_from_other_letters(connection, player.id, names, written_to, list(boards_by_reader))


def _blank_letters_to(connection: Connection, player: Player, own: Sequence[str]) -> None:
    """Blank letters to the player, or to an address that is only the player's."""
    to_player = or_(
        outbox.c.player_id == player.id,
        and_(outbox.c.player_id.is_(None), outbox.c.recipient.in_(own)),
        outbox.c.id.in_(_confirmations(connection, player)),
    )
    connection.execute(
        update(outbox)
        .where(to_player, outbox.c.state.in_(UNSENT))
        .values(state=LetterState.FAILED, due_at=None)
    )
    connection.execute(
        update(outbox)
        .where(to_player)
        .values(recipient="", words={}, in_reply_to="", error="deleted")
    )


def _erase_from_other_letters(
    connection: Connection,
    player_id: int,
    names: Mapping[str, str],
    written_to: Sequence[str],
    board_readers: Sequence[int],
) -> None:
    """Erase the player's names from letters to others that are not about one of their boards.

    Args:
        names: neutral userid by userid of the player.
        written_to: userids to whom the player has sent messages.
        board_readers: ids of the players who got letters about the player's boards.
    """
    readers = select(players.c.id).where(
        or_(players.c.userid.in_(written_to), players.c.id.in_(board_readers))
    )
    to_anybody = outbox.c.player_id.is_(None)
    own_boards = select(seats.c.board_id).where(seats.c.player_id == player_id)
    # Digests and reports are about many boards, so their readers select them.
    about_several = and_(
        outbox.c.letter.in_(("summary", *letters_that(lambda kind: kind.has_entries))),
        or_(outbox.c.player_id.in_(readers), to_anybody),
    )
    about_boards = or_(about_several, and_(to_anybody, outbox.c.board_id.in_(own_boards)))
    messages = and_(outbox.c.letter == "message", outbox.c.player_id.in_(readers))
    invitations_sent = outbox.c.letter == "invitation"
    lists = outbox.c.letter.in_(_LISTS)
    _erase_names(connection, or_(about_boards, messages, invitations_sent, lists), names)


def _erase_names(
    connection: Connection, which: ColumnElement[bool], names: Mapping[str, str]
) -> None:
    """Replace the player's names in letters to others, and remove the player's words."""
    letters = select(outbox.c.id, outbox.c.words).where(which, func.length(outbox.c.words) > 0)
    for userid, neutral in names.items():
        for row in connection.execute(letters).all():
            words = without_name(row.words, userid, neutral)
            if words != row.words:
                change_rows(connection, outbox, {"id": row.id}, words=words)


def without_name(words: Any, userid: str, neutral: str) -> Any:
    """Return the words of a letter with *userid* replaced and without the words that it said."""
    match words:
        case dict():
            result = {key: without_name(value, userid, neutral) for key, value in words.items()}
            if "said" in result and words.get("by") == userid:
                result["said"] = ""
            if isinstance(echo := result.get("echo"), str):  # a line of a mail
                name = rf"(?<![\w-]){re.escape(userid)}(?![\w-])"
                result["echo"] = re.sub(name, neutral, echo, flags=re.IGNORECASE)
            return result
        case list() | tuple():
            return [without_name(value, userid, neutral) for value in words]
        case _:
            return neutral if words == userid else words
