"""Orders of operators: calls of functions that carry out deeds, to send to another process.

An order is made by `order` from the function itself, so that the types of its arguments are checked
where it is given. It travels as the name of the function and its arguments.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Concatenate, ParamSpec, get_type_hints

from pydantic import BaseModel, ConfigDict, create_model

from pbmserv.service.core.context import CommandContext
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
from pbmserv.service.operators.deeds import Deed, Signature

P = ParamSpec("P")


def _name_of(function: Callable[..., Deed]) -> str:
    return f"{function.__module__.rpartition('.')[2]}.{function.__name__}"


DEEDS: Mapping[str, Callable[..., Deed]] = {
    _name_of(deed): deed
    for deed in (
        announcements.announce,
        announcements.stop,
        announcements.resume,
        blocked_senders.block,
        blocked_senders.unblock,
        boards.end_board,
        boards.hand_over,
        boards.set_deadline,
        events.create_event,
        events.postpone,
        events.cancel,
        events.remove,
        events.decide,
        games.close_game,
        games.open_game,
        games.resume_game,
        kept_mails.drop_mail,
        ladders.remove,
        ladders.settle,
        ladders.annul,
        letters.retry_letters,
        letters.retry_failed,
        letters.flush,
        letters.hold_letter,
        letters.drop_letter,
        lost_mailboxes.erase,
        lost_mailboxes.export,
        lost_mailboxes.rename,
        merging.merge,
        people.suspend,
        people.restore,
        people.reset,
        people.reachable,
        ratings.set_rated,
        ratings.rebuild_ratings,
        reply_keys.rotate,
        reply_keys.retire,
    )
}
"""Functions that an order can call, by their names such as ``people.suspend``."""


@dataclass(frozen=True, slots=True)
class Order:
    """A call of one of `DEEDS`, checked when it is made and when another process reads it.

    Attributes:
        deed: the name of the function.
        arguments: its arguments by name, without the context and the signature.
    """

    deed: str
    arguments: Mapping[str, Any]

    def __post_init__(self) -> None:
        """Check that the function takes these arguments.

        Raises:
            ValueError: it does not, or there is no such function.
        """
        if self.deed not in DEEDS:
            raise ValueError("there is no such deed")
        _arguments_of(self.deed).model_validate(self.arguments)

    def __call__(self, context: CommandContext, by: Signature) -> Deed:
        """Carry out the order; raise the errors of its function."""
        return DEEDS[self.deed](context, by, **self.arguments)


def order(
    deed: Callable[Concatenate[CommandContext, Signature, P], Deed],
    *args: P.args,
    **kwargs: P.kwargs,
) -> Order:
    """Return the order to call one of `DEEDS` with these arguments."""
    bound = inspect.signature(deed).bind_partial(None, None, *args, **kwargs).arguments
    return Order(_name_of(deed), dict(list(bound.items())[2:]))


@cache
def _arguments_of(deed: str) -> type[BaseModel]:
    """Return a model of a function's arguments."""
    function = DEEDS[deed]
    types = get_type_hints(function)
    names = list(inspect.signature(function).parameters)[2:]
    fields: dict[str, Any] = {name: (types[name], ...) for name in names}
    return create_model(deed, __config__=ConfigDict(strict=True, extra="forbid"), **fields)
