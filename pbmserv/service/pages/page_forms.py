"""The forms that anybody may send, except those of boxes hidden by hand (`solo.hot_seat`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pbmserv.service.core.page_form import PageForm


@dataclass(frozen=True, slots=True)
class ConfirmForm(PageForm[bool]):
    """Confirms a signup; the result is whether it is confirmed.

    Attributes:
        signup: its number.
    """

    name: ClassVar[str] = "confirm"
    signup: int


@dataclass(frozen=True, slots=True)
class SignupForm(PageForm[Mapping[str, Any] | None]):
    """Signs up; the result has the values of a `Refusal`, or is `None`.

    Attributes:
        network: of the reader; ``""`` if it is unknown.
    """

    name: ClassVar[str] = "signup"
    userid: str
    address: str
    network: str


@dataclass(frozen=True, slots=True)
class UnsubscribeForm(PageForm[bool]):
    """Ends a subscription; the result is whether its link was valid."""

    name: ClassVar[str] = "unsubscribe"
    token: str


@dataclass(frozen=True, slots=True)
class PageLinkForm(PageForm[bool]):
    """Asks for a letter with the link of a player's own page; the result says nothing.

    Attributes:
        who: a userid or a mail address.
    """

    name: ClassVar[str] = "page_link"
    who: str
