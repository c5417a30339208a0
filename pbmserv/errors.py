"""Exceptions that packages raise for each other.

::

    PbmError
    ├── PlayerError            a player's mistake: a refusal explains it, nothing has changed
    │   ├── Misread            a command line that cannot be read
    │   │   └── OptionError    a wrong option of a challenge
    │   ├── MoveError          a move that the rules refuse
    │   │   ├── NotUnderstood  text that is not a move
    │   │   ├── Illegal        a move that is not allowed now or there
    │   │   └── Ambiguous      text that could be several moves
    │   └── Refused            refused by the service (unknown board, not your turn …)
    ├── OperatorError          an operator's mistake: shown on the terminal, nothing has changed
    ├── MailError              a mail that cannot be read or must not be answered
    ├── MustWait               a letter that is made later: making it hung
    └── ServerFault            our fault: the operator learns the reason, players do not
        ├── StartRefused       an operator must change something before the next start
        │   └── ConfigError    wrong settings (found before anything binds)
        ├── GameAway           a board's game is stopped or not installed: its mails wait
        ├── StoreAway          a store or its stage cannot be reached: try again
        │   └── DoorAway       no door takes forms and moves of pages
        ├── StillWorking       a page's request is stored and not carried out yet
        ├── NotDone            our code failed on a page's request; nothing has changed
        ├── NamesUnavailable   no name server answered
        └── RelayError         the relay did not accept a letter
            ├── RelayTemporary   try again later
            │   └── RelayDown    the relay accepts no letters now
            │       └── RelayRefusesUs  nor later, until the operator does something
            └── RelayPermanent   the relay will never accept this letter

A `PlayerError` carries a `Refusal`: the code and the values of a sentence (its words are in
templates), the part of the input that is wrong, and an example that would work.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self


@dataclass(frozen=True, slots=True)
class Refusal:
    """A refusal, as data for its template.

    Attributes:
        code: the sentence, for example ``"blackbox.port-used"``. It names a block, with ``_`` for
            each ``-``, in a file of ``templates/refusals/``, or in
            ``templates/games/<game>/refusals.j2`` if it begins with the game's key and a dot.
        part: the wrong part of the input, as the sender wrote it.
        values: values in the sentence; only strings and numbers.
        example: an input that would work instead; ``""`` for none. It consists of the sender's own
            words: it never suggests a move, a game or a date that the sender did not name. If a
            word is missing, the example is a form to fill in (`is_form`).
    """

    code: str
    part: str = ""
    values: Mapping[str, str | int] = field(default_factory=dict)
    example: str = ""


_FORM = re.compile(r"\b[A-Z]{4,}\b", re.ASCII)


def is_form(example: str) -> bool:
    """Return whether an example has words that its reader must replace, such as PASSWORD."""
    return _FORM.search(example) is not None


class PbmError(Exception):
    """The base class of our exceptions; never raised itself."""


class PlayerError(PbmError):
    """A mistake that the player can correct; a refusal letter explains it."""

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
        """Return the error with another example; ``""`` for none."""
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
    """A move that the rules refuse; the player keeps the turn."""


class NotUnderstood(MoveError):
    """The text is not a move of this game."""


class Illegal(MoveError):
    """The text is a move of this game that is not allowed now."""


class Ambiguous(MoveError):
    """The text could mean several moves."""


class Refused(PlayerError):
    """The service refuses a command: unknown board, not your turn, wrong password …"""


class OperatorError(PbmError):
    """An operator's command that cannot be carried out; the text says why and what to do."""


class MailError(PbmError):
    """A mail that cannot be read, or that must not be answered."""


class ServerFault(PbmError):
    """Our fault or the operator's; players never see its text."""


class GameAway(ServerFault):
    """A board cannot be shown or played now: its game is stopped, or not installed.

    Its record is kept; mails and letters about it wait.

    Attributes:
        game: the key of the game.
        is_stopped: whether the game is stopped because its rules hung; else it is not installed.
    """

    def __init__(self, game: str, *, is_stopped: bool) -> None:
        super().__init__(f"the game {game} is {'stopped' if is_stopped else 'not installed'}")
        self.game = game
        self.is_stopped = is_stopped


class StoreAway(ServerFault):
    """A store, or the stage that writes to it, cannot be reached now.

    It may have carried out the request. The request can be repeated, which does no harm.
    """


class DoorAway(StoreAway):
    """The door cannot store a form or a move of a page now; nothing was stored."""


class MustWait(PbmError):
    """A letter must wait, because a process that rendered it hung and was killed."""


class StartRefused(ServerFault):
    """The server cannot start before an operator changes something; each start would fail alike."""


class ConfigError(StartRefused):
    """A setting is wrong. The text names it and says what to write."""


class StillWorking(ServerFault):
    """The request is stored and will be carried out, but not yet."""


class NotDone(ServerFault):
    """Our code failed on a form or press of a page. Nothing has changed, and it can be repeated."""


class NamesUnavailable(ServerFault):
    """Name servers do not answer, so it is unknown whether a name exists."""


class RelayError(ServerFault):
    """The relay did not accept a letter."""


class RelayTemporary(RelayError):
    """The relay may accept the letter later (4xx, no connection)."""


class RelayDown(RelayTemporary):
    """The relay accepts no letters now: no connection, no login, or a reply of 421."""


class RelayRefusesUs(RelayDown):
    """The relay rejects us (5xx about our login, sender or right to relay)."""


class RelayPermanent(RelayError):
    """The relay will never accept the letter (5xx)."""
