"""The grammar of plans: what is written is what is meant, and it prints as it reads."""

from __future__ import annotations

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.plans import (
    DEEPEST,
    LONGEST,
    MOST_MOVES,
    Choice,
    Condition,
    Either,
    Every,
    Fact,
    Not,
    Plan,
    Play,
    joined,
    parse_plan,
    play_due,
    print_plan,
    read_plan,
)
from pbmserv.errors import Illegal, MoveError, NotUnderstood, Refusal
from pbmserv.views.texts import refusal_sentence


@rows(
    ("written", "printed"),
    [
        ("g", "g"),
        ("  g,  +b2 ", "g, +b2"),
        ("g; c; j", "g; c; j"),
        ("g; then c; then j", "g; c; j"),
        ("fire g and mark c3", "fire g and mark c3"),  # one move, for the game to read
        ("g;", "g"),
        ("g if #: c else j", "g if #: c else j"),
        ("G IF # THEN c ELSE j", "G if #: c else j"),
        ("g, if # then c, else j", "g if #: c else j"),
        ("g; if #: c; else j;", "g if #: c else j"),
        ("if a=# then c else j", "if a=#: c else j"),
        ("if #: c; d else j; k", "if #: c; d else j; k"),
        ("g if #: (c if %: d) else e", "g if #: (c if %: d) else e"),
        ("g if #: c if %: d else e else j", "g if #: c if %: d else e else j"),
        ("g if #: c else if %: d else e", "g if #: c else if %: d else e"),
        ("(((g)))", "g"),
        ("if not (# or %) and 9: c", "if not (# or %) and 9: c"),
        ("if (# or %) or 9: c", "if # or % or 9: c"),
        ("if not not #: c", "if not not #: c"),
    ],
)
def test_a_plan_has_one_spelling(written: str, printed: str) -> None:
    assert print_plan(read_plan(written)) == printed
    assert read_plan(printed) == read_plan(written)


def test_an_else_belongs_to_the_nearest_if() -> None:
    plan = read_plan("if #: c if %: d else e")
    assert plan == Choice(Fact("#"), Play("c", Choice(Fact("%"), Play("d"), Play("e"))))


def test_the_move_behind_a_condition_is_for_the_turn_after() -> None:
    plan = read_plan("g if #: c else j")
    assert play_due(plan, lambda _: False) == plan
    assert isinstance(plan, Play)
    assert play_due(plan.then, lambda fact: fact == "#") == Play("c")
    assert play_due(plan.then, lambda _: False) == Play("j")
    assert play_due(read_plan("if #: c"), lambda _: False) is None
    assert play_due(read_plan("if # and not % or 9: c"), lambda fact: fact == "#") == Play("c")
    assert play_due(None, lambda _: True) is None


@rows(
    ("written", "code", "part"),
    [
        ("", "plan-empty", ""),
        ("   ", "plan-empty", ""),
        ("g; ; c", "plan-move-missing", "; c"),
        ("else j", "plan-move-missing", "else j"),
        ("if : c", "plan-condition-missing", ": c"),
        ("if not: c", "plan-condition-missing", ": c"),
        ("g if", "plan-condition-missing", ""),
        ("if #, c else j", "plan-then-missing", "else j"),
        ("if #", "plan-then-missing", ""),
        ("if #:", "plan-move-missing", ""),
        ("(g", "plan-bracket", ""),
        ("if (#: c", "plan-bracket", ": c"),
        ("g)", "plan-unexpected", ")"),
        ("g or c", "plan-unexpected", "or c"),
        ("g else j", "plan-unexpected", "else j"),
        ("(g) if #: c", "plan-unexpected", "if # : c"),
    ],
)
def test_a_refusal_names_the_unreadable_part(written: str, code: str, part: str) -> None:
    with pytest.raises(NotUnderstood) as refused:
        read_plan(written)
    assert (refused.value.refusal.code, refused.value.refusal.part) == (code, part)
    assert refusal_sentence(refused.value.refusal).endswith(".")


def chain(depth: int) -> str:
    return "if #: " * depth + "g"


def test_there_are_limits() -> None:
    for written, code in (
        ("g" * (LONGEST + 1), "plan-too-long"),
        (chain(DEEPEST + 1), "plan-too-deep"),
        ("(" * 300 + "g", "plan-too-deep"),
        ("if " + "not " * 200 + "#: g", "plan-too-deep"),
        ("; ".join(["g"] * (MOST_MOVES + 1)), "plan-too-many"),
    ):
        with pytest.raises(Illegal) as refused:
            read_plan(written)
        assert refused.value.refusal.code == code
        assert refusal_sentence(refused.value.refusal).endswith(".")
    read_plan(chain(DEEPEST))
    read_plan("; ".join(["g"] * MOST_MOVES))


facts = st.sampled_from(["#", "%", "detour", "9", "a=#", "b=14"]).map(Fact)
conditions: st.SearchStrategy[Condition] = st.recursive(
    facts,
    lambda inner: (
        inner.map(Not)
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined(Every, parts))
        | st.lists(inner, min_size=2, max_size=3).map(lambda parts: joined(Either, parts))
    ),
    max_leaves=6,
)
moves = st.sampled_from(["g", "+b2,c", "?", "!b2-d4, 14", "pass"])
plans: st.SearchStrategy[Plan] = st.recursive(
    moves.map(Play),
    lambda inner: (
        st.builds(Play, moves, inner) | st.builds(Choice, conditions, inner, st.none() | inner)
    ),
    max_leaves=8,
)


def depth(plan: Plan | None) -> int:
    if plan is None:
        return 0
    if isinstance(plan, Play):
        return depth(plan.then)
    return 1 + max(depth(plan.yes), depth(plan.no))


@pytest.mark.slow
@given(plan=plans)
@examples(10)
def test_a_printed_plan_is_read_as_the_same_plan(plan: Plan) -> None:
    text = print_plan(plan)
    if depth(plan) <= DEEPEST:
        assert parse_plan(text) == plan
        assert print_plan(parse_plan(text)) == text


@given(
    text=st.text("gc9#%=+,:;() ", max_size=40)
    | st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            ["if", "then", "else", "and", "or", "not", "(", ")", ":", ";", "#", "g", "c"]
        ),
        max_size=30,
    ).map(" ".join)
)
@examples(10)
def test_anything_written_is_a_plan_or_refused(text: str) -> None:
    refusal: Refusal | None = None
    try:
        plan = read_plan(text)
    except MoveError as error:
        refusal = error.refusal
    if refusal is None:
        assert parse_plan(print_plan(plan)) == plan
    else:
        assert refusal_sentence(refusal).endswith(".")
