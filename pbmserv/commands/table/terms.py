"""What commands are made of: passwords, who speaks, which board."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Secret:
    """A password as typed; it never shows itself in a repr."""

    text: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Credentials:
    """``userid password`` as they stood in the command; userid in lower case."""

    userid: str
    password: Secret


VOUCHED = Secret("-")
"""Stands in a password's place: the mail itself proves who sent it."""


@dataclass(frozen=True, slots=True)
class BoardRef:
    """A board, and the number of the move to look at or to make (``12#7``)."""

    board: int
    number: int | None = None


@dataclass(frozen=True, slots=True)
class NotTried:
    """Stands in the place of what a mail says and nobody has carried out or passed on.

    Attributes:
        why: ``"limit"`` (too many commands above), ``"stop"`` (``quit`` above), ``"prose"`` (too
            many lines above that are no command), ``"blank"`` (a blank line above), ``"below"``
            (it stands below a command that ends the reading), ``"budget"`` (what stands above is as
            much work as one mail may ask for) or ``"apart"`` (it may be a move, or an initial below
            a move); of words for others also ``"password"`` (the writer's is in
            them), ``"some-password"`` (another one of the same mail), ``"letter"`` (it stands in
            a letter that is answered), ``"link"`` (a reply address of ours), ``"quoted"`` or
            ``"unproven"`` (nothing shows who wrote them).
        more: further commands that are not listed one by one.
        example: a command that would be right.
    """

    why: str
    more: int = 0
    example: str = ""


@dataclass(frozen=True, slots=True)
class Sender:
    """What is known of whoever wrote a line that was refused, so that the refusal can say more.

    Attributes:
        userid: of the player whose mail it seems to be; ``""`` = a stranger.
        board: one of that player's boards; 0 = none.
        is_player: whether a word is somebody's userid, and so no secret.
    """

    userid: str
    board: int
    is_player: Callable[[str], bool]


STRANGER = Sender("", 0, lambda _: False)
"""Nothing is known, not even which words are userids."""
