"""The shapes of rows: the arguments that commands of one kind have in common.

A row is made from a shape and says only in what it differs:
``AT_BOARD.row("resign", Resign, "give a game up")``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypedDict, Unpack

from pbmserv.commands.table.command_types import Command
from pbmserv.commands.table.row_types import (
    BOARD,
    ON_A_BOARD,
    PASSWORD,
    USERID,
    Arguments,
    Parameter,
    Place,
    Row,
    Scope,
    Trait,
)


class Details(TypedDict, total=False):
    """Attributes of a `Row` that few rows have."""

    synonyms: tuple[str, ...]
    newcomers: tuple[str, ...]
    subjects: tuple[str, ...]
    from_arguments: Callable[[Arguments], Command]
    places: frozenset[Place]
    shares_page: str
    traits: Trait
    proof: tuple[Parameter, ...]


@dataclass(frozen=True, slots=True)
class Shape:
    """Fields that the rows of one kind of command share.

    Attributes:
        scope: whether the name of a game stands in front.
        parameters: the first parameters of each row.
        example: the words of an example in their places.
        proof: `Row.proof` without the parameters that a row adds.
        traits: the traits of each row.
    """

    scope: Scope
    parameters: tuple[Parameter, ...] = ()
    example: str = ""
    proof: tuple[Parameter, ...] = ()
    traits: Trait = Trait.NONE

    def row(
        self,
        name: str,
        command: type[Command] | None,
        summary: str,
        *,
        more: tuple[Parameter, ...] = (),
        example: str = "",
        also: tuple[str, ...] = (),
        **details: Unpack[Details],
    ) -> Row:
        """Return the row of a command of this shape.

        Args:
            name: the spelling that letters and pages use.
            command: the type of the command; see `Row.command`.
            summary: one line for the help index.
            more: parameters after those of the shape.
            example: the words of the example in their places.
            also: other spellings of the name.
            details: further attributes of the row.
        """
        game = "blackbox" if self.scope is Scope.GAME else ""
        if self.proof:
            details.setdefault("proof", (*self.proof, *more))
        details["traits"] = self.traits | details.get("traits", Trait.NONE)
        return Row(
            names=(name, *also),
            command=command,
            summary=summary,
            scope=self.scope,
            parameters=(*self.parameters, *more),
            example=" ".join(filter(None, (game, name, self.example, example))),
            **details,
        )


AT_BOARD = Shape(Scope.GAME, ON_A_BOARD, "12 alice PASSWORD")
"""A player acts at a board: ``blackbox resign 12 alice PASSWORD``."""

_LOOKS_AT_ANY_BOARD = Trait.ANY_BOARD | Trait.LOOKS

ABOUT_BOARD = Shape(Scope.GAME, (BOARD,), "12", proof=ON_A_BOARD, traits=_LOOKS_AT_ANY_BOARD)
"""Anybody looks at a board: ``blackbox record 12``."""

FOLLOWING = Shape(Scope.SERVER, ON_A_BOARD, "12 alice PASSWORD", traits=_LOOKS_AT_ANY_BOARD)
"""A player follows a board of any game: ``subscribe 12 alice PASSWORD``."""

ABOUT_MYSELF = Shape(Scope.SERVER, (USERID, PASSWORD), "alice PASSWORD")
"""A player manages the account: ``away alice PASSWORD until friday``."""

MYSELF_IN_GAME = Shape(Scope.GAME, (USERID, PASSWORD), "alice PASSWORD")
"""A player asks for something in a game: ``blackbox seek alice PASSWORD``."""

NEW_GAME = Shape(Scope.GAME, proof=(USERID, PASSWORD))
"""A player starts a game with players or options: ``blackbox challenge alice bob``."""

IN_GAME = Shape(Scope.GAME)
"""A command of a game with parameters of its own: ``blackbox replay 12 alice``."""

LOOKING_IN_GAME = Shape(Scope.GAME, traits=Trait.LOOKS)
"""Anybody looks at players, boards or scores of a game: ``blackbox ratings alice``."""

ON_SERVER = Shape(Scope.SERVER)
"""A command without a game, with parameters of its own: ``forgot alice``."""

ANYWHERE = Shape(Scope.BOTH, traits=Trait.LOOKS)
"""Anybody asks about the server or, after its name, about a game: ``help move``."""


def in_section(section: str, *rows: Row) -> tuple[Row, ...]:
    """Return the rows under a heading of the help index."""
    return tuple(replace(row, section=section) for row in rows)
