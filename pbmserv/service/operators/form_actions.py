"""The actions that forms of the operators' pages offer, and the orders that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from pbmserv.errors import OperatorError
from pbmserv.service.operators import (
    announcements,
    blocked_senders,
    boards,
    events,
    games,
    kept_mails,
    ladders,
    letters,
    lost_mailboxes,
    merging,
    people,
    ratings,
    reply_keys,
)
from pbmserv.service.operators.deeds import Deed
from pbmserv.service.operators.orders import Order, order

Fields: TypeAlias = Mapping[str, str]

LARGEST = 2**63 - 1
"""Largest number of a row; databases accept no larger one in a query."""
TIMES = ("nagtime", "forfeittime", "totaltime")
"""Fields for the times of a board, each with a number of days."""
LONGEST_TIME = 365
LONGEST_AGE = 3_650
"""Largest number of days since the newest letter of a key."""


@dataclass(frozen=True, slots=True)
class Action:
    """An action that a form offers.

    Attributes:
        fields: names of the form's fields, as at the command line.
        order: makes the order from the fields; raises OperatorError if a field is wrong. `None` for
            ``inbox retry``, which is not a deed: it carries out a mail.
    """

    fields: tuple[str, ...]
    order: Callable[[Fields], Order] | None = None


def _action(deed: Callable[..., Deed], **fields: Callable[[Fields, str], Any]) -> Action:
    """Return an action whose form has a field for each argument of a deed, in their order."""
    return Action(
        tuple(fields),
        lambda values: order(deed, *[read(values, name) for name, read in fields.items()]),
    )


def number_in(fields: Fields, name: str, least: int = 1, most: int = LARGEST) -> int:
    """Return the number in a field.

    Raises:
        OperatorError: it is not one, or out of range.
    """
    text = fields.get(name, "").strip()
    is_number = text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))
    if not is_number or not least <= int(text) <= most:
        limits = "" if most == LARGEST else f" from {least} to {most}"
        raise OperatorError(f"{name} is a number{limits}")
    return int(text)


def _word(fields: Fields, name: str) -> str:
    text = fields.get(name, "").strip().lower()
    if not text:
        raise OperatorError(f"fill in {name}")
    return text


def _text(fields: Fields, name: str) -> str:
    return fields.get(name, "")


def _announcement(fields: Fields) -> Order:
    title, text = _text(fields, "title"), _text(fields, "text").replace("\r\n", "\n")
    return order(announcements.announce, title, text, is_service=bool(fields.get("service")))


def _suspension(fields: Fields) -> Order:
    end_games = bool(fields.get("end_games"))
    return order(people.suspend, _word(fields, "userid"), end_games=end_games)


def _deadline(fields: Fields) -> Order:
    named = [name for name in TIMES if fields.get(name, "").strip()]
    times = [f"--{name}={number_in(fields, name, 0, LONGEST_TIME)}" for name in named]
    return order(boards.set_deadline, number_in(fields, "board"), times)


def _rated(fields: Fields, *, rated: bool) -> Order:
    return order(ratings.set_rated, number_in(fields, "board"), rated=rated)


def _retry(fields: Fields) -> Order:
    if fields.get("failed"):
        return order(letters.retry_failed, _text(fields, "since"))
    return order(letters.retry_letters, [number_in(fields, "named")])


ACTIONS: Mapping[str, Action] = {
    "announce": Action(("title", "text", "service"), _announcement),
    "announcement stop": _action(announcements.stop, announcement=number_in),
    "announcement resume": _action(announcements.resume, announcement=number_in),
    "block": _action(blocked_senders.block, sender=_word, until=_text),
    "unblock": _action(blocked_senders.unblock, sender=_word),
    "inbox retry": Action(("numbers",)),
    "inbox drop": _action(kept_mails.drop_mail, number=number_in),
    "outbox retry": Action(("named", "failed", "since"), _retry),
    "outbox flush": _action(letters.flush),
    "outbox hold": _action(letters.hold_letter, letter=number_in),
    "outbox drop": _action(letters.drop_letter, letter=number_in),
    "user suspend": Action(("userid", "end_games"), _suspension),
    "user restore": _action(people.restore, userid=_word),
    "user reachable": _action(people.reachable, userid=_word),
    "user reset": _action(people.reset, userid=_word),
    "user merge": _action(merging.merge, userid=_word, into=_word),
    "user erase": _action(lost_mailboxes.erase, userid=_word),
    "user export": _action(lost_mailboxes.export, userid=_word, to=_text),
    "user rename": _action(lost_mailboxes.rename, userid=_word, new=_word),
    "event create": _action(events.create_event, kind=_word, game=_word, starts=_text),
    "event postpone": _action(events.postpone, event=number_in, starts=_text),
    "event cancel": _action(events.cancel, event=number_in),
    "event remove": _action(events.remove, event=number_in, player=_word),
    "event decide": _action(events.decide, board=number_in, result=_word),
    "ladder remove": _action(ladders.remove, game=_word, player=_word),
    "ladder settle": _action(ladders.settle, board=number_in, winner=_word),
    "ladder annul": _action(ladders.annul, board=number_in),
    "rotate-keys": _action(reply_keys.rotate),
    "retire-keys": _action(reply_keys.retire, days=partial(number_in, least=0, most=LONGEST_AGE)),
    "board end": _action(boards.end_board, board=number_in),
    "board hand-over": _action(boards.hand_over, board=number_in, old=_word, new=_word),
    "board deadline": Action(("board", *TIMES), _deadline),
    "game suspend": _action(games.close_game, game=_word),
    "game restore": _action(games.open_game, game=_word),
    "game resume": _action(games.resume_game, game=_word),
    "rating exclude": Action(("board",), partial(_rated, rated=False)),
    "rating include": Action(("board",), partial(_rated, rated=True)),
    "rating rebuild": _action(ratings.rebuild_ratings),
}
"""Actions that forms offer, by the name of the command."""
