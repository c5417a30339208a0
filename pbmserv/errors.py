"""Every error that crosses a room's door, in one tree.

::

    PbmError
    ├── PlayerError            theirs: said kindly to the player, nothing changed
    │   ├── Misread            the command line could not be read
    │   │   └── OptionError    an option of a challenge is wrong
    │   ├── MoveError          a move was refused by the rules
    │   │   ├── NotUnderstood  the text is no move at all
    │   │   ├── Illegal        the text is a move, but not now or not there
    │   │   └── Ambiguous      the text could be more than one move
    │   └── Refused            the service said no (unknown board, not your turn …)
    ├── OperatorError          theirs who run the server: said on their terminal, nothing changed
    ├── MailError              a mail that cannot be read or must not be answered
    └── ServerFault            ours: the operator is told, the player hears no detail
        ├── ConfigError        the settings are wrong (before anything binds)
        ├── NamesUnavailable   no name server gave an answer
        └── RelayError         the next hop did not take a letter
            ├── RelayTemporary   try again later
            │   ├── RelayBusy    the recipient's domain wants fewer letters
            │   └── RelayDown    the relay takes no letter at all now
            │       └── RelayRefusesUs  nor will it, until the operator does something
            └── RelayPermanent   this letter will never be taken

A `PlayerError` carries a `Refusal`: which sentence (words live in templates,
so it is a code plus its values), which part of the input it is about, and an
example that would work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why something was refused, as data for the refusal template.

    Attributes:
        code: key of the sentence, e.g. ``"blackbox.port-used"``. It is a block of
            ``templates/refusals.j2`` (server) or of
            ``templates/games/<game>/refusals.j2`` (codes that begin with the
            game's key and a dot).
        part: the offending part of the input, as the sender wrote it.
        values: what the sentence mentions; strings and numbers only.
        example: an input that would work in its place ("" = none), made of the sender's own words:
            nobody is offered a move, a game or a date that they did not name. Where a word of
            theirs is missing, it is a form to fill in (`is_form`).
    """

    code: str
    part: str = ""
    values: Mapping[str, str | int] = field(default_factory=dict)
    example: str = ""


_FORM = re.compile(r"\b[A-Z]{4,}\b", re.ASCII)


def is_form(example: str) -> bool:
    """Whether an example has words in it that its reader has yet to fill in, such as PASSWORD."""
    return _FORM.search(example) is not None


class PbmError(Exception):
    """Root of the tree; never raised itself."""


class PlayerError(PbmError):
    """Something a player can put right; rendered as a refusal letter."""

    def __init__(
        self,
        code: str,
        *,
        part: str = "",
        example: str = "",
        **values: str | int,
    ) -> None:
        super().__init__(code)
        self.refusal = Refusal(code, part, values, example)

    def offering(self, example: str) -> Self:
        """Return this refusal with another example; "" for none."""
        refusal = self.refusal
        return type(self)(refusal.code, part=refusal.part, example=example, **refusal.values)

    def __str__(self) -> str:
        shown = ", ".join(f"{k}={v!r}" for k, v in self.refusal.values.items())
        return f"{self.refusal.code}({self.refusal.part!r}{', ' if shown else ''}{shown})"


class Misread(PlayerError):
    """A command line that could not be read."""


class OptionError(Misread):
    """An option of a challenge that is unknown or has a wrong value."""


class MoveError(PlayerError):
    """A move that the rules refuse; no turn is lost."""


class NotUnderstood(MoveError):
    """The text is no move of this game at all."""


class Illegal(MoveError):
    """The text is a move of this game, but it may not be made now."""


class Ambiguous(MoveError):
    """The text could mean more than one move."""


class Refused(PlayerError):
    """The service said no: unknown board, not your turn, wrong password …"""


class OperatorError(PbmError):
    """Something an operator asked for that cannot be done; says why and what can."""


class MailError(PbmError):
    """A mail that cannot be read, or that must not be answered."""


class ServerFault(PbmError):
    """Our fault, or the operator's; a player never sees its text."""


class StoreAway(ServerFault):
    """A store, or the stage that writes to it, cannot be reached now; it may have done what it was
    asked all the same. Nothing is wrong with that, and it can be asked again."""


class SetAside(PbmError):
    """A letter is to wait: a process that made it did not come back, and was killed."""


class ConfigError(ServerFault):
    """A setting is wrong. The message names it and says what would be right."""


class StillWorking(ServerFault):
    """What was asked for is stored and will be done, but was not yet."""


class NamesUnavailable(ServerFault):
    """No name server gave an answer now, which is not the same as "there is no such name"."""


class RelayError(ServerFault):
    """The next hop did not take a letter."""


class RelayTemporary(RelayError):
    """The next hop may take the letter later (4xx, no connection)."""


class RelayBusy(RelayTemporary):
    """The recipient's domain wants fewer letters for a while: its others wait, too."""


class RelayDown(RelayTemporary):
    """No letter gets through now: no connection, no login, or the relay said 421."""


class RelayRefusesUs(RelayDown):
    """The relay wants nothing from us (5xx about our login, sender or right to relay)."""


class RelayPermanent(RelayError):
    """The next hop will never take the letter (5xx)."""
