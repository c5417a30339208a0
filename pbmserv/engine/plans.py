"""Plans, which are moves for future turns with conditions.

::

    plan      = move [";" ["then"] plan | choice] | choice | "(" plan ")"
    choice    = "if" condition (":" | "then") plan ["else" plan] | move "if" condition ["else" plan]
    condition = all {"or" all}
    all       = one {"and" one}
    one       = "not" one | "(" condition ")" | fact

``g; c`` plays g in the next turn and c in the following one. ``g if #: c else j`` plays g, and
chooses between c and j in the following turn. An ``else`` belongs to the nearest ``if`` before it.
Only the game can read moves and facts. Here they are the text between the words above. In place
of a move, ``resign`` gives the game up.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pbmserv.engine.protocol import Answering, Conditional, implements, only_meaning
from pbmserv.engine.record import WITHDRAW
from pbmserv.engine.registry import AnyGame
from pbmserv.errors import Illegal, MoveError, NotUnderstood

LONGEST = 1000
"""The longest plan that a player may write, in characters."""

DEEPEST = 10
"""The deepest nesting of choices."""

MOST_MOVES = 50

_LEVELS = 100
"""The deepest nesting of brackets, choices and ``not``, far more than useful plans have."""

_TOKEN = re.compile(r"[:;()]|[^\s:;()]+")
_SIGNS = frozenset(":;()")
PLAN_WORDS = frozenset({"if", "then", "else", "and", "or", "not"})
"""Words of the grammar."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A condition that the game can judge, such as ``a=#``."""

    text: str


@dataclass(frozen=True, slots=True)
class Not:
    """The negation of a condition."""

    condition: Condition


@dataclass(frozen=True, slots=True)
class Every:
    """``… and …``: two or more conditions, none of them an `Every`."""

    conditions: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """``… or …``: two or more conditions, none of them an `Either`."""

    conditions: tuple[Condition, ...]


Condition = Fact | Not | Every | Either


@dataclass(frozen=True, slots=True)
class Play:
    """A move for the next turn, and a plan for the turns after it."""

    move: str
    then: Plan | None = None


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision between two plans, made when the turn comes."""

    condition: Condition
    yes: Plan
    no: Plan | None = None


Plan = Play | Choice


def read_plan(text: str) -> Plan:
    """Read a plan as a person wrote it.

    Raises:
        NotUnderstood | Illegal: the refusal names the wrong part.
    """
    if len(text) > LONGEST:
        raise Illegal("plan-too-long", length=len(text), limit=LONGEST)
    return parse_plan(text)


def parse_plan(text: str) -> Plan:
    """Read a plan of any length, such as one that `print_plan` made; raises as `read_plan`."""
    return _PlanParser(text).whole()


def print_plan(plan: Plan) -> str:
    """Return the canonical text of a plan, so that ``parse_plan(print_plan(plan)) == plan``."""
    if isinstance(plan, Play):
        if plan.then is None:
            return plan.move
        between = "; " if isinstance(plan.then, Play) else " "
        return f"{plan.move}{between}{print_plan(plan.then)}"
    yes = print_plan(plan.yes)
    if plan.no is None:
        return f"if {_print_condition(plan.condition)}: {yes}"
    if _takes_else(plan.yes):
        yes = f"({yes})"
    return f"if {_print_condition(plan.condition)}: {yes} else {print_plan(plan.no)}"


def moves_of(plan: Plan | None) -> Iterator[str]:
    """Yield the moves of a plan in the order in which they are written."""
    if isinstance(plan, Play):
        yield plan.move
        yield from moves_of(plan.then)
    elif plan is not None:
        yield from moves_of(plan.yes)
        yield from moves_of(plan.no)


def play_due(plan: Plan | None, holds: Callable[[str], bool]) -> Play | None:
    """Return the play of a plan for this turn, `None` if no choice of it fits.

    Args:
        plan: the plan.
        holds: returns whether the player knows a fact to be true now.
    """
    while isinstance(plan, Choice):
        plan = plan.yes if _is_true(plan.condition, holds) else plan.no
    return plan


def checked_plan(game: AnyGame, view: Any, plan: Plan) -> Plan:
    """Return a plan with canonical moves and facts, checked as far as its player's view allows.

    If the game is `Conditional`, each move must be legal after the moves before it. In other games
    a move only needs to be understood, since another player's move may make it legal. Conditions
    need a game that is `Answering`.

    Raises:
        NotUnderstood | Illegal | Ambiguous: a move or condition is wrong.
    """
    if isinstance(plan, Play) and plan.move.lower() == WITHDRAW:
        return Play(WITHDRAW)
    answering: Any = game if implements(game, Answering) else None
    foreseeing: Any = game if implements(game, Conditional) else None
    if isinstance(plan, Choice):
        if answering is None:
            condition = _print_condition(plan.condition)
            raise Illegal("plan-no-conditions", part=f"if {condition}", game=game.info.title)
        return Choice(
            _checked_condition(answering, view, plan.condition),
            checked_plan(game, view, plan.yes),
            None if plan.no is None else checked_plan(game, view, plan.no),
        )
    try:
        move = game.parse(view, plan.move)
    except MoveError as error:
        meaning = only_meaning(game, view, plan.move)
        if meaning is None:
            if isinstance(error, NotUnderstood) or foreseeing is not None:
                raise
            return replace(plan, then=plan.then and checked_plan(game, view, plan.then))
        move = meaning
    expected = view if foreseeing is None else foreseeing.expect(view, move)
    return Play(move.text, plan.then and checked_plan(game, expected, plan.then))


def _checked_condition(game: Answering[Any], view: Any, condition: Condition) -> Condition:
    if isinstance(condition, Fact):
        return Fact(game.condition(view, condition.text))
    if isinstance(condition, Not):
        return Not(_checked_condition(game, view, condition.condition))
    return type(condition)(tuple(_checked_condition(game, view, c) for c in condition.conditions))


def _is_true(condition: Condition, holds: Callable[[str], bool]) -> bool:
    match condition:
        case Fact(text):
            return holds(text)
        case Not(inner):
            return not _is_true(inner, holds)
        case Every(conditions):
            return all(_is_true(c, holds) for c in conditions)
        case Either(conditions):
            return any(_is_true(c, holds) for c in conditions)


def _takes_else(plan: Plan) -> bool:
    """Return whether an ``else`` behind this plan would be part of it."""
    if isinstance(plan, Play):
        return plan.then is not None and _takes_else(plan.then)
    return plan.no is None or _takes_else(plan.no)


def _print_condition(condition: Condition) -> str:
    match condition:
        case Fact(text):
            return text
        case Not(inner):
            words = _print_condition(inner)
            return f"not ({words})" if isinstance(inner, Every | Either) else f"not {words}"
        case Every(conditions):
            return " and ".join(
                f"({_print_condition(c)})" if isinstance(c, Either) else _print_condition(c)
                for c in conditions
            )
        case Either(conditions):
            return " or ".join(map(_print_condition, conditions))


class _PlanParser:
    """A parser of plans, with a method for each rule of the grammar."""

    def __init__(self, text: str) -> None:
        self._tokens = _TOKEN.findall(text)
        self._at = 0
        self._moves = 0
        self._levels = 0

    def whole(self) -> Plan:
        """Read the whole text as a plan."""
        if not self._tokens:
            raise NotUnderstood("plan-empty")
        plan = self._plan(0)
        if self._peek():
            raise NotUnderstood("plan-unexpected", part=self._rest())
        return plan

    def _plan(self, depth: int) -> Plan:
        self._deeper()
        if self._take("("):
            plan = self._plan(depth)
            self._close()
        elif self._take("if"):
            plan = self._choice(depth)
        else:
            plan = self._play(depth)
        self._levels -= 1
        return plan

    def _play(self, depth: int) -> Plan:
        move = self._run(PLAN_WORDS - {"and"}).strip(", ")
        if not move:
            raise NotUnderstood("plan-move-missing", part=self._rest())
        self._moves += 1
        if self._moves > MOST_MOVES:
            raise Illegal("plan-too-many", part=move, limit=MOST_MOVES)
        if self._peek() == ";" and self._peek(1) in {"", "else", ")"}:
            self._at += 1  # people end a part of a plan with a semicolon
        elif self._take(";"):
            self._take("then")
            return Play(move, self._plan(depth))
        if not self._take("if"):
            return Play(move)
        begin = self._at
        condition = self._either()
        if self._peek() not in {":", "then"}:  # "c3 if a1": the condition stands behind its move
            return Choice(condition, Play(move), self._plan(depth) if self._take("else") else None)
        self._at = begin
        return Play(move, self._choice(depth))

    def _choice(self, depth: int) -> Choice:
        if depth == DEEPEST:
            raise Illegal("plan-too-deep", part="if " + self._rest(), limit=DEEPEST)
        condition = self._either()
        if not self._take(":") and not self._take("then"):
            raise NotUnderstood("plan-then-missing", part=self._rest())
        yes = self._plan(depth + 1)
        return Choice(condition, yes, self._plan(depth + 1) if self._take("else") else None)

    def _either(self) -> Condition:
        conditions = [self._every()]
        while self._take("or"):
            conditions.append(self._every())
        return joined(Either, conditions)

    def _every(self) -> Condition:
        conditions = [self._one()]
        while self._take("and"):
            conditions.append(self._one())
        return joined(Every, conditions)

    def _one(self) -> Condition:
        self._deeper()
        condition: Condition
        if self._take("not"):
            condition = Not(self._one())
        elif self._take("("):
            condition = self._either()
            self._close()
        else:
            text = self._run().strip(", ")
            if not text:
                raise NotUnderstood("plan-condition-missing", part=self._rest())
            condition = Fact(text)
        self._levels -= 1
        return condition

    def _deeper(self) -> None:
        self._levels += 1
        if self._levels > _LEVELS:
            raise Illegal("plan-too-deep", part=self._rest(), limit=DEEPEST)

    def _close(self) -> None:
        if not self._take(")"):
            raise NotUnderstood("plan-bracket", part=self._rest())

    def _run(self, words: Collection[str] = PLAN_WORDS) -> str:
        """Read the text up to the next of *words* or a sign of the grammar."""
        start = self._at
        while (token := self._peek()) and token not in _SIGNS and token not in words:
            self._at += 1
        return " ".join(self._tokens[start : self._at])

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at].lower() if at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _rest(self) -> str:
        return " ".join(self._tokens[self._at : self._at + 8])


def joined(kind: type[Every | Either], conditions: Sequence[Condition]) -> Condition:
    """Join conditions into one. Nested ones of the same kind are flattened."""
    flat: list[Condition] = []
    for condition in conditions:
        flat += condition.conditions if isinstance(condition, kind) else [condition]
    return flat[0] if len(flat) == 1 else kind(tuple(flat))
