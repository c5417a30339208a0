"""Commands about people: accounts, preferences, messages.

In a reply to one of our letters the address says who speaks, so `who` is ``None`` there.
"""

from __future__ import annotations

from dataclasses import dataclass

from pbmserv.commands.table.game_commands import ReplyMove
from pbmserv.commands.table.terms import Credentials, Secret


@dataclass(frozen=True, slots=True)
class Signup:
    """``signup userid password [address…]`` (also ``add``)."""

    userid: str
    password: Secret
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangePassword:
    """``change password userid old new``; in a reset reply ``password NEW``: who is None."""

    who: Credentials | None
    new: Secret


@dataclass(frozen=True, slots=True)
class ChangeAddress:
    """``change address userid password address…``: from now on these, once they are confirmed."""

    who: Credentials | None
    addresses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Forgot:
    """``forgot userid``"""

    userid: str


@dataclass(frozen=True, slots=True)
class Yes:
    """A bare ``yes``/``ok``/``confirm`` in reply to a letter that asks.

    Attributes:
        below: the lines below it, if any; one of them may be a move.
        unsaid: the reply has no words, which is an answer only to who asks whether an address
            is somebody's at all.
    """

    below: ReplyMove | None = None
    unsaid: bool = False


@dataclass(frozen=True, slots=True)
class Prefs:
    """``prefs userid password name=value…``; without settings it tells the present ones."""

    who: Credentials | None
    settings: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Away:
    """``away userid password until DATE``; `until` is the date as it was written."""

    who: Credentials | None
    until: str


@dataclass(frozen=True, slots=True)
class Back:
    """``back userid password``: an absence ends now."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class SignOff:
    """``signoff userid password``: no more mail; a letter asks first."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Delete:
    """``delete userid password``: all personal data goes; a letter asks first."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Export:
    """``export userid password``: all data kept on the player, as an attachment."""

    who: Credentials | None


@dataclass(frozen=True, slots=True)
class Message:
    """``message userid password to…``; the words are in the body."""

    who: Credentials | None
    to: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Broadcast:
    """``broadcast userid password``: words to everybody who wants them; operators only."""

    who: Credentials | None
