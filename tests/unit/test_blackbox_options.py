"""The options of a challenge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.errors import OptionError, is_form
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.options import CLASSIC, PRACTICE, RACE, Options


def refused(*words: str, seats: int = 2) -> OptionError:
    with pytest.raises(OptionError) as caught:
        GAME.options(words, seats)
    return caught.value


def test_a_challenge_without_options_is_classic_and_rated() -> None:
    options = GAME.options((), 2)
    assert options == CLASSIC
    assert (options.width, options.height, options.atoms, options.guesses) == (7, 7, "4", 3)
    assert GAME.rated(options)
    assert GAME.describe(options) == ()


def test_options_are_read_in_any_order_and_case() -> None:
    options = GAME.options(("-FAIR", "-Atoms=3-5", "-size=8X10", "-clue", "-guesses=1"), 2)
    assert options == Options(8, 10, 3, 5, 1, fair=True, clue=True)
    assert GAME.describe(options) == ("-size=8x10", "-atoms=3-5", "-guesses=1", "-fair", "-clue")


def test_default_values_written_out_are_still_classic() -> None:
    assert GAME.options(("-size=7x7", "-atoms=4-4", "-guesses=3"), 2) == CLASSIC


@rows("word", ["-size=8x7", "-atoms=5", "-guesses=2", "-fair", "-clue", "-unrated"])
def test_any_change_of_the_rules_is_unrated(word: str) -> None:
    assert not GAME.rated(GAME.options((word,), 2))


@rows(
    ("words", "code", "part"),
    [
        (["-colour=red"], "option-unknown", "-colour=red"),
        (["fair"], "option-unknown", "fair"),
        (["--fair"], "option-unknown", "--fair"),
        ([""], "option-unknown", ""),
        (["-scoring=timed"], "option-race", "-scoring=timed"),
        (["-seed=x"], "option-race", "-seed=x"),
        (["-id=w8h8m5"], "option-race", "-id=w8h8m5"),
        (["-Practice"], "option-race", "-Practice"),
        (["-race", "-practice"], "practice-alone", "-practice"),
        (["-race", "-scoring=best"], "scoring", "-scoring=best"),
        (["-race", "-id=w3h3m1M1#x", "-size=8x8"], "option-id", "-size=8x8"),
        (["-race", "-size=3x4", "-id=w3h3m1M1#x"], "option-id", "-size=3x4"),
        (["-race", "-id=w3h3m1M1#x", "-size=3x3", "-atoms=2"], "option-id", "-atoms=2"),
        (["-race", "-id=w3h3m1M1#x", "-seed=x"], "option-id", "-seed=x"),
        (["-race", "-id=nonsense"], "id-form", "nonsense"),
        (["-race", "-seed="], "option-no-value", "-seed="),
        (["-fair", "-FAIR"], "option-repeated", "-FAIR"),
        (["-size"], "option-no-value", "-size"),
        (["-atoms="], "option-no-value", "-atoms="),
        (["-clue=yes"], "option-value", "-clue=yes"),
        (["-size=big"], "size-form", "-size=big"),
        (["-size=1x7"], "size-range", "-size=1x7"),
        (["-size=7x27"], "size-range", "-size=7x27"),
        (["-atoms=few"], "atoms-form", "-atoms=few"),
        (["-atoms=0"], "atoms-none", "-atoms=0"),
        (["-atoms=5-3"], "atoms-order", "-atoms=5-3"),
        (["-atoms=50"], "atoms-many", "-atoms=50"),
        (["-atoms=3-5", "-size=2x2"], "atoms-many", "-atoms=3-5"),
        (["-guesses=some"], "guesses-form", "-guesses=some"),
        (["-guesses=0"], "guesses-range", "-guesses=0"),
        (["-guesses=100"], "guesses-range", "-guesses=100"),
    ],
)
def test_each_wrong_word_has_its_own_refusal(words: list[str], code: str, part: str) -> None:
    refusal = refused(*words).refusal
    assert (refusal.code, refusal.part) == (f"blackbox.{code}", part)
    if refusal.example and not is_form(refusal.example):
        GAME.options(refusal.example.split(), 2)


def test_options_that_agree_may_stand_beside_a_game_id() -> None:
    alone = GAME.options(["-race", "-id=w3h4m1M2#x"], 1)
    assert GAME.options(["-size=3x4", "-race", "-id=w3h4m1M2#x", "-atoms=1-2"], 1) == alone


@rows(
    ("words", "example"),
    [
        (["-size=90x1"], "-size=26x2"),
        (["-atoms=0"], "-atoms=1"),
        (["-atoms=0-5"], "-atoms=1-5"),
        (["-atoms=50"], "-atoms=49"),
        (["-atoms=3-5", "-size=2x2"], "-atoms=3-4"),
        (["-guesses=100"], "-guesses=99"),
        (["-scoring=timed"], "-race -scoring=timed"),
        (["-size=big"], "-size=SIZE"),
        (["-id=w8h8m5"], "-race -id=GAMEID"),
    ],
)
def test_an_example_is_the_nearest_to_what_was_written(words: list[str], example: str) -> None:
    assert refused(*words).refusal.example == example


@rows("seats", [1, 3])
def test_it_takes_two(seats: int) -> None:
    assert refused(seats=seats).refusal.code == "blackbox.seats"


@given(
    size=st.tuples(st.integers(2, 26), st.integers(2, 26)),
    least=st.integers(1, 4),
    more=st.integers(0, 3),
    guesses=st.integers(1, 99),
    flags=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_described_options_are_read_back(
    size: tuple[int, int], least: int, more: int, guesses: int, flags: tuple[bool, bool, bool]
) -> None:
    width, height = size
    options = Options(width, height, least, min(least + more, width * height), guesses, *flags)
    assert GAME.options(GAME.describe(options), 2) == options


@given(
    size=st.tuples(st.integers(2, 6), st.integers(2, 6)),
    least=st.integers(0, 5),
    more=st.integers(0, 3),
    seed=st.sampled_from(["", "tea", "#a:b"]),
    practice=st.booleans(),
)
def test_a_fixed_box_is_read_back_with_its_seed(
    size: tuple[int, int], least: int, more: int, seed: str, practice: bool
) -> None:
    """Also one with an atom in every cell: its ID alone would allow one less."""
    width, height = size
    most = min(least + more, width * height)
    kind = replace(PRACTICE if practice else RACE, width=width, height=height, practice=practice)
    options = replace(kind, least=min(least, most), most=most, seed=seed, clue=True)
    fixed = GAME.fixed(options, Rng(b"fixed", 0))
    again = GAME.options(GAME.describe(fixed), 1)
    assert again == fixed
    assert (again.least, again.most, again.seed) == (options.least, options.most, seed)
    box = GAME.setup(1, again, Rng(b"other", 1)).boxes[0]
    assert box.atoms == atoms_of(read_id(box.id))
    assert GAME.without_box(again) == replace(options, seed="")


def test_records_of_older_versions_with_a_full_box_are_read() -> None:
    """They have an ID that no new board may have."""
    words = ["-race", "-id=w2h2m4M4:021f21fe6cc601bf2b29"]
    options = GAME.options(words, 1)
    assert (options.least, options.most) == (4, 4)
    assert GAME.setup(1, options, Rng(b"old", 0)).boxes[0].atoms == frozenset(range(4))
    with pytest.raises(OptionError, match="atoms-full"):
        GAME.describe(options)
