"""Orders of operators: deeds with typed arguments that can be sent to another process.

Calling an order carries it out. It raises the errors of the function that it calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from pbmserv.service.core.context import CommandContext
from pbmserv.service.operators import (
    announcements,
    blocked_senders,
    boards,
    events,
    kept_mails,
    ladders,
    letters,
    lost_mailboxes,
    people,
    reply_keys,
)
from pbmserv.service.operators.deeds import Deed, Signature


@dataclass(frozen=True, slots=True)
class SuspendUser:
    """Bar a player, and end the player's games if *end_games*."""

    userid: str
    end_games: bool
    name: Literal["user suspend"] = "user suspend"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return people.suspend(context, by, self.userid, end_games=self.end_games)


@dataclass(frozen=True, slots=True)
class RestoreUser:
    """Let a barred player play again."""

    userid: str
    name: Literal["user restore"] = "user restore"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return people.restore(context, by, self.userid)


@dataclass(frozen=True, slots=True)
class ResetUser:
    """Send a player a letter to choose a new password."""

    userid: str
    name: Literal["user reset"] = "user reset"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return people.reset(context, by, self.userid)


@dataclass(frozen=True, slots=True)
class ReachUser:
    """Send letters to a player's given-up addresses again."""

    userid: str
    name: Literal["user reachable"] = "user reachable"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return people.reachable(context, by, self.userid)


@dataclass(frozen=True, slots=True)
class MergeUser:
    """Merge a player's account into another one of the same person."""

    userid: str
    into: str
    name: Literal["user merge"] = "user merge"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return people.merge(context, by, self.userid, self.into)


@dataclass(frozen=True, slots=True)
class EndBoard:
    """End a board without a result."""

    number: int
    name: Literal["board end"] = "board end"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.end_board(context, by, self.number)


@dataclass(frozen=True, slots=True)
class HandOverBoard:
    """Give a seat of a board to another player."""

    number: int
    old: str
    new: str
    name: Literal["board hand-over"] = "board hand-over"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.hand_over(context, by, self.number, self.old, self.new)


@dataclass(frozen=True, slots=True)
class SetDeadline:
    """Change the times of a board, given as options of a challenge."""

    number: int
    times: tuple[str, ...]
    name: Literal["board deadline"] = "board deadline"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.set_deadline(context, by, self.number, self.times)


@dataclass(frozen=True, slots=True)
class SetRated:
    """Set whether a board counts for the ratings."""

    number: int
    rated: bool
    name: Literal["board rated"] = "board rated"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.set_rated(context, by, self.number, rated=self.rated)


@dataclass(frozen=True, slots=True)
class RebuildRatings:
    """Compute all ratings again."""

    name: Literal["rating rebuild"] = "rating rebuild"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.rebuild_ratings(context, by)


@dataclass(frozen=True, slots=True)
class CloseGame:
    """Close a game for new boards."""

    game: str
    name: Literal["game suspend"] = "game suspend"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.close_game(context, by, self.game)


@dataclass(frozen=True, slots=True)
class OpenGame:
    """Open a closed game again."""

    game: str
    name: Literal["game restore"] = "game restore"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.open_game(context, by, self.game)


@dataclass(frozen=True, slots=True)
class ResumeGame:
    """Let a game go on that was stopped because its rules hung."""

    game: str
    name: Literal["game resume"] = "game resume"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return boards.resume_game(context, by, self.game)


@dataclass(frozen=True, slots=True)
class DropMail:
    """Delete the text of a kept mail."""

    number: int
    name: Literal["inbox drop"] = "inbox drop"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return kept_mails.drop_mail(context, by, self.number)


@dataclass(frozen=True, slots=True)
class RetryLetters:
    """Send letters now."""

    numbers: tuple[int, ...]
    name: Literal["outbox retry"] = "outbox retry"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return letters.retry_letters(context, by, self.numbers)


@dataclass(frozen=True, slots=True)
class HoldLetter:
    """Hold a letter until it is retried or dropped."""

    number: int
    name: Literal["outbox hold"] = "outbox hold"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return letters.hold_letter(context, by, self.number)


@dataclass(frozen=True, slots=True)
class DropLetter:
    """Never send a letter."""

    number: int
    name: Literal["outbox drop"] = "outbox drop"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return letters.drop_letter(context, by, self.number)


@dataclass(frozen=True, slots=True)
class Announce:
    """Send an announcement to all players, to those who want none only if *is_service*."""

    title: str
    text: str
    is_service: bool
    name: Literal["announce"] = "announce"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return announcements.announce(
            context, by, self.title, self.text, is_service=self.is_service
        )


@dataclass(frozen=True, slots=True)
class StopAnnouncement:
    """Stop an announcement."""

    number: int
    name: Literal["stop-announcement"] = "stop-announcement"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return announcements.stop(context, by, self.number)


@dataclass(frozen=True, slots=True)
class ResumeAnnouncement:
    """Let a stopped announcement go on."""

    number: int
    name: Literal["resume-announcement"] = "resume-announcement"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return announcements.resume(context, by, self.number)


@dataclass(frozen=True, slots=True)
class BlockSender:
    """Refuse the mail of a sender until a day, ``""`` for no end."""

    sender: str
    until: str
    name: Literal["block"] = "block"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return blocked_senders.block(context, by, self.sender, self.until)


@dataclass(frozen=True, slots=True)
class UnblockSender:
    """Take the mail of a blocked sender again."""

    sender: str
    name: Literal["unblock"] = "unblock"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return blocked_senders.unblock(context, by, self.sender)


@dataclass(frozen=True, slots=True)
class EraseUser:
    """Delete all personal data of a player."""

    userid: str
    name: Literal["user erase"] = "user erase"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return lost_mailboxes.erase(context, by, self.userid)


@dataclass(frozen=True, slots=True)
class ExportUser:
    """Send all data of a player to an address."""

    userid: str
    to: str
    name: Literal["user export"] = "user export"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return lost_mailboxes.export(context, by, self.userid, self.to)


@dataclass(frozen=True, slots=True)
class RenameUser:
    """Give a player another userid."""

    userid: str
    new: str
    name: Literal["user rename"] = "user rename"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return lost_mailboxes.rename(context, by, self.userid, self.new)


@dataclass(frozen=True, slots=True)
class CreateEvent:
    """Create an event that begins on a day."""

    kind: str
    of: str
    starts: str
    name: Literal["event create"] = "event create"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return events.create_event(context, by, self.kind, self.of, self.starts)


@dataclass(frozen=True, slots=True)
class PostponeEvent:
    """Let an event begin on another day."""

    event: int
    starts: str
    name: Literal["event postpone"] = "event postpone"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return events.postpone(context, by, self.event, self.starts)


@dataclass(frozen=True, slots=True)
class CancelEvent:
    """End an event that has not begun."""

    event: int
    name: Literal["event cancel"] = "event cancel"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return events.cancel(context, by, self.event)


@dataclass(frozen=True, slots=True)
class RemoveFromEvent:
    """Take a player out of an event."""

    event: int
    player: str
    name: Literal["event remove"] = "event remove"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return events.remove(context, by, self.event, self.player)


@dataclass(frozen=True, slots=True)
class DecideMatch:
    """Give a game of an event a result."""

    match: int
    result: str
    name: Literal["event decide"] = "event decide"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return events.decide(context, by, self.match, self.result)


@dataclass(frozen=True, slots=True)
class RemoveFromLadder:
    """Take a player out of a ladder."""

    of: str
    player: str
    name: Literal["ladder remove"] = "ladder remove"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return ladders.remove(context, by, self.of, self.player)


@dataclass(frozen=True, slots=True)
class SettleChallenge:
    """Give the board of a challenge a winner."""

    number: int
    winner: str
    name: Literal["ladder settle"] = "ladder settle"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return ladders.settle(context, by, self.number, self.winner)


@dataclass(frozen=True, slots=True)
class AnnulChallenge:
    """Let a challenge move nobody."""

    number: int
    name: Literal["ladder annul"] = "ladder annul"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return ladders.annul(context, by, self.number)


@dataclass(frozen=True, slots=True)
class RetireKeys:
    """Retire keys of reply addresses that have signed no letter for some days."""

    days: int
    name: Literal["retire-keys"] = "retire-keys"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return reply_keys.retire(context, by, self.days)


@dataclass(frozen=True, slots=True)
class RotateKeys:
    """Add a key that signs reply addresses from the next reload on."""

    name: Literal["rotate-keys"] = "rotate-keys"

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        return reply_keys.rotate(context, by)


Order: TypeAlias = (
    SuspendUser
    | RestoreUser
    | ResetUser
    | ReachUser
    | MergeUser
    | EndBoard
    | HandOverBoard
    | SetDeadline
    | SetRated
    | RebuildRatings
    | CloseGame
    | OpenGame
    | ResumeGame
    | DropMail
    | RetryLetters
    | HoldLetter
    | DropLetter
    | Announce
    | StopAnnouncement
    | ResumeAnnouncement
    | BlockSender
    | UnblockSender
    | EraseUser
    | ExportUser
    | RenameUser
    | CreateEvent
    | PostponeEvent
    | CancelEvent
    | RemoveFromEvent
    | DecideMatch
    | RemoveFromLadder
    | SettleChallenge
    | AnnulChallenge
    | RetireKeys
    | RotateKeys
)
