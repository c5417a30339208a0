"""The table of letters: the properties of each kind that is more than a plain answer.

The words of a kind are in ``templates/letters/NAME.j2``; the service decides when to send it.
Store, service and letters use this table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pbmserv.mail.reply_address import Purpose


@dataclass(frozen=True, slots=True)
class Question:
    """The question that a reply to a letter answers.

    Attributes:
        purpose: the purpose of the letter's reply address.
        about, number: names of the letter's words that hold these parts of the address; ``""`` for
            none.
    """

    purpose: Purpose
    about: str = ""
    number: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class LetterKind:
    """The properties of all letters of a kind.

    Attributes:
        can_wait: it can go into the digest; results and all answers are sent at once.
        subscription: the subscription that its reader would end: ``digest``, ``broadcasts``,
            ``announcements``, ``challenges``, ``invitations``, ``reminders``, ``follow``,
            ``daily``, ``event``, ``ladder``, ``team``, or ``single`` (news of one's own boards,
            which can come once a day instead); ``""`` for an answer.
        question: the question that a reply answers; `None` if a reply is about the letter's board.
        asks_stranger: its address is not confirmed, and a reply only confirms it.
        asks_of_itself: the question is about this very letter.
        to_old_address: it goes to a player's former address, so replies speak for no player.
        to_followers: it goes to followers of a board, and is part of a thread.
        reaches_others: another player caused it, and not by a turn on a board.
        for_many: the writer of the mail that caused it did not choose its readers.
        never_hushed: limits on answers do not apply, because its reader may have nothing else.
        always_tried: it also goes to an address that was given up. Its reader has just requested
            it, to see whether the address works again, or because they have no other way back in.
        soon_stale: it is not sent late, when a given up address works again.
        only_words: it holds only the words of another player.
        own_words: it holds only words that its reader has sent to others.
        lists_people: it names players who have nothing to do with its reader's boards.
        tells_turn: it shows a board after a turn; a later letter about the board may replace it.
        waits_for_bot: it is held until the bot has moved, so that one letter shows both moves.
        waits_for_coach: it is held until the coach has finished.
        beyond_record: its board differs from the record, so no other letter's drawing fits.
        leaves_nothing: after it is sent, not even its recipient is kept.
        has_files: it may have attachments.
        shows_no_board: it tells nothing about boards, so operators may read it at any time.
    """

    can_wait: bool = False
    subscription: str = ""
    question: Question | None = None
    asks_stranger: bool = False
    asks_of_itself: bool = False
    to_old_address: bool = False
    to_followers: bool = False
    reaches_others: bool = False
    for_many: bool = False
    never_hushed: bool = False
    always_tried: bool = False
    soon_stale: bool = False
    only_words: bool = False
    own_words: bool = False
    lists_people: bool = False
    tells_turn: bool = False
    waits_for_bot: bool = False
    waits_for_coach: bool = False
    beyond_record: bool = False
    leaves_nothing: bool = False
    has_files: bool = False
    shows_no_board: bool = False

    @property
    def has_entries(self) -> bool:
        """Whether its words have an entry for each of several boards; a reply names the board."""
        return self.question == Question(Purpose.TRAY)


NAMED_IN_WORDS: Mapping[str, str] = {"event": "event", "ladder": "game", "team": "team"}
"""The word of a letter that names what its reader would end, by the kind of subscription. It stays
as long as the letter's row, because a List-Unsubscribe link never expires."""

_PLAIN = LetterKind()
"""An answer to one reader without special properties, which has no row."""

_BOARDLESS = LetterKind(shows_no_board=True)
"""An answer about an account, an address or a command."""

KINDS: Mapping[str, LetterKind] = {
    # Accounts and addresses.
    "address-asked": LetterKind(
        shows_no_board=True, question=Question(Purpose.KEEP_ADDRESS, "change")
    ),
    "address-changed": _BOARDLESS,
    "address-confirm": LetterKind(
        shows_no_board=True,
        question=Question(Purpose.ADDRESS, "change"),
        asks_stranger=True,
        always_tried=True,
        soon_stale=True,
    ),
    "address-moved": LetterKind(shows_no_board=True, to_old_address=True),
    "address-refused": _BOARDLESS,
    "address-stopped": _BOARDLESS,
    "away-asked": LetterKind(question=Question(Purpose.AWAY), soon_stale=True),
    "came-back": _BOARDLESS,
    "confirm": LetterKind(
        shows_no_board=True,
        question=Question(Purpose.CONFIRM, "signup"),
        asks_stranger=True,
        never_hushed=True,
    ),
    "delete-asked": LetterKind(
        shows_no_board=True, question=Question(Purpose.DELETE, number="day")
    ),
    "deleted": LetterKind(leaves_nothing=True),
    "export": LetterKind(has_files=True),
    "operator-account": _BOARDLESS,
    "page-link": LetterKind(never_hushed=True, soon_stale=True),
    "password-changed": _BOARDLESS,
    "whoami": _BOARDLESS,
    "reset": LetterKind(
        shows_no_board=True,
        question=Question(Purpose.RESET, number="mark"),
        never_hushed=True,
        always_tried=True,
        soon_stale=True,
    ),
    "reset-sent": _BOARDLESS,
    "signed-off": _BOARDLESS,
    "signoff-asked": LetterKind(
        shows_no_board=True, question=Question(Purpose.SIGNOFF, number="day")
    ),
    "signup-dropped": _BOARDLESS,
    "signup-sent": _BOARDLESS,
    "stranger": LetterKind(question=Question(Purpose.CONFIRM, "signup"), asks_stranger=True),
    "unreachable": LetterKind(lists_people=True),
    "unsubscribed": _BOARDLESS,
    "welcome": LetterKind(shows_no_board=True, never_hushed=True),
    "invitation": LetterKind(
        subscription="invitations",
        question=Question(Purpose.INVITED, "invitation"),
        asks_stranger=True,
        soon_stale=True,
    ),
    # Words for others.
    "announcement": LetterKind(subscription="announcements", for_many=True),
    "broadcast": LetterKind(subscription="broadcasts", for_many=True),
    "broadcast-asked": LetterKind(
        question=Question(Purpose.BROADCAST), asks_of_itself=True, own_words=True
    ),
    "broadcast-sent": LetterKind(own_words=True),
    "chat": LetterKind(can_wait=True, subscription="single", reaches_others=True, only_words=True),
    "chat-sent": LetterKind(own_words=True),
    "message": LetterKind(
        can_wait=True,
        subscription="single",
        question=Question(Purpose.MESSAGE, "peer"),
        reaches_others=True,
        only_words=True,
    ),
    "message-sent": LetterKind(own_words=True),
    "team-chat": LetterKind(
        subscription="team",
        question=Question(Purpose.TEAM, "team"),
        reaches_others=True,
        only_words=True,
        lists_people=True,
    ),
    "service-notice": LetterKind(for_many=True),
    # Boards.
    "begin-asked": LetterKind(question=Question(Purpose.BEGIN, "number")),
    "board": LetterKind(can_wait=True, subscription="single", tells_turn=True, waits_for_bot=True),
    "challenge": LetterKind(can_wait=True, subscription="challenges", reaches_others=True),
    "declined": LetterKind(can_wait=True, subscription="single"),
    "follow": LetterKind(to_followers=True),
    "followed": LetterKind(can_wait=True, subscription="follow", to_followers=True, for_many=True),
    "hint": LetterKind(waits_for_coach=True),
    "preview": LetterKind(beyond_record=True),
    "reminder": LetterKind(subscription="reminders", soon_stale=True),
    "reminders": LetterKind(
        subscription="reminders",
        question=Question(Purpose.TRAY),
        asks_of_itself=True,
        soon_stale=True,
    ),
    "report": LetterKind(waits_for_coach=True),
    "result": LetterKind(tells_turn=True, waits_for_bot=True),
    "saved": LetterKind(has_files=True),
    "started": LetterKind(
        can_wait=True, subscription="single", reaches_others=True, waits_for_bot=True
    ),
    "submitted": LetterKind(beyond_record=True),
    "time-given": LetterKind(can_wait=True, subscription="single"),
    "unanswered": LetterKind(can_wait=True, subscription="single"),
    # Lists, tables and the daily box.
    "ladder": LetterKind(lists_people=True),
    "ladder-news": LetterKind(can_wait=True, subscription="ladder", lists_people=True),
    "daily": LetterKind(subscription="daily", lists_people=True),
    "games": LetterKind(lists_people=True),
    "help": _BOARDLESS,
    "history": LetterKind(lists_people=True),
    "more": LetterKind(lists_people=True),
    "ratings": LetterKind(lists_people=True),
    "standings": LetterKind(lists_people=True),
    # Events.
    "event": LetterKind(lists_people=True),
    "event-begins": LetterKind(
        subscription="event",
        question=Question(Purpose.TRAY),
        asks_of_itself=True,
        lists_people=True,
    ),
    "event-ends": LetterKind(
        subscription="event",
        question=Question(Purpose.TRAY),
        asks_of_itself=True,
        lists_people=True,
    ),
    "event-entry": LetterKind(lists_people=True),
    "event-invited": LetterKind(
        subscription="event",
        question=Question(Purpose.EVENT_INVITED, "event"),
        lists_people=True,
    ),
    "event-news": LetterKind(subscription="event", lists_people=True),
    "events": LetterKind(lists_people=True),
    "team": LetterKind(lists_people=True),
    "team-invited": LetterKind(
        subscription="challenges",
        question=Question(Purpose.TEAM_INVITED, "team"),
        reaches_others=True,
        lists_people=True,
    ),
    "team-news": LetterKind(subscription="team", lists_people=True),
    "teams": LetterKind(lists_people=True),
    # Answers to mails with no effect, or with many; the digest and its parts.
    "game-stopped": _BOARDLESS,
    "kept": _BOARDLESS,
    "too-many": _BOARDLESS,
    "tray": LetterKind(subscription="digest", question=Question(Purpose.TRAY), asks_of_itself=True),
}


def kind_of(letter: str) -> LetterKind:
    """Return the properties of a kind by its name; a kind without a row is a plain answer."""
    return KINDS.get(letter, _PLAIN)


def letters_that(trait: Callable[[LetterKind], bool]) -> tuple[str, ...]:
    """Return the names of all kinds with a property, for SQL statements."""
    return tuple(letter for letter, kind in KINDS.items() if trait(kind))
