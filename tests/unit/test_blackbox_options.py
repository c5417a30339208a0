"""The options of a challenge."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.errors import OptionError
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.options import CLASSIC, PRACTICE, RACE, Options


def test_a_challenge_without_options_is_classic_and_rated() -> None:
    options = GAME.options((), 2)
    assert options == CLASSIC
    assert (options.width, options.height, options.atoms, options.guesses) == (7, 7, "4", 3)
    assert GAME.rated(options)
    assert GAME.describe(options) == ()


def test_neither_players_nor_bots_get_the_box_of_a_race_with_its_options() -> None:
    for box in ("-seed=tea", "-id=w5h5m3M3:7adc79f9429f8d72"):
        state = GAME.setup(1, GAME.options(("-race", box), 1), Rng(b"box", 0))
        seen = GAME.view(state, Seat(0)).options
        assert (seen.id, seen.seed) == ("", "")


def test_options_are_read_in_any_order_and_case() -> None:
    options = GAME.options(("-FAIR", "-Atoms=3-5", "-size=8X10", "-clue", "-guesses=1"), 2)
    assert options == Options(8, 10, 3, 5, 1, fair=True, clue=True)
    assert GAME.describe(options) == ("-size=8x10", "-atoms=3-5", "-guesses=1", "-fair", "-clue")


@rows("word", ["-size=8x7", "-atoms=5", "-guesses=2", "-fair", "-clue", "-unrated"])
def test_any_change_of_the_rules_is_unrated(word: str) -> None:
    assert not GAME.rated(GAME.options((word,), 2))


@rows(
    ("words", "code"),
    [
        (["-race", "-practice"], "practice-alone"),
        (["-race", "-scoring=best"], "scoring"),
        (["-race", "-id=w3h3m1M1#x", "-size=8x8"], "option-id"),
        (["-atoms=few"], "atoms-form"),
        (["-guesses=some"], "guesses-form"),
        (["-guesses=0"], "guesses-range"),
    ],
)
def test_each_wrong_word_has_its_own_refusal(words: list[str], code: str) -> None:
    """Dialogs have the other mistakes, most of them `options-wrong.dialog`."""
    with pytest.raises(OptionError) as caught:
        GAME.options(words, 2)
    assert (caught.value.refusal.code, caught.value.refusal.part) == (f"blackbox.{code}", words[-1])


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
