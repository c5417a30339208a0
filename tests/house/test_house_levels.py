"""The levels of the house: help shows the measurements, and each level plays as measured."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from test_house_solver import ALICE, box_to_solve

from pbmserv.commands.help_topics import topic
from pbmserv.engine.ratings import NEWCOMER, anchor, rate
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import BOT_USERIDS
from pbmserv.games.blackbox.bots import levels, trees
from pbmserv.games.blackbox.bots.hiding import random_layout
from pbmserv.games.blackbox.bots.levels import LEVELS, STRENGTH
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.options import Options
from pbmserv.views.texts import render_text

FILE = Path(levels.__file__).parent / STRENGTH
MEASURED = json.loads(FILE.read_text())["levels"]


def help_text() -> str:
    page = topic("house-best", {"blackbox": "Blackbox"})
    return render_text(page.template, {**page.values, "infos": {"blackbox": GAME.info}})


def test_the_levels_are_those_that_were_measured_in_their_order() -> None:
    assert tuple(MEASURED) == tuple(LEVELS) == BOT_USERIDS
    assert GAME.info.strength == MEASURED


def test_they_are_told_apart_by_what_was_measured() -> None:
    """By two standard errors of the turns, though the boxes are the same, and in all else, too."""
    rows = list(MEASURED.values())
    assert all(row["games"] >= 600 for row in rows)
    for weaker, stronger in pairwise(rows):
        error = (weaker["turns_error"] ** 2 + stronger["turns_error"] ** 2) ** 0.5
        assert weaker["turns"] - stronger["turns"] > 2 * error
        assert weaker["probes"] > stronger["probes"]
        assert weaker["points"] > stronger["points"]
        assert weaker["mu"] < stronger["mu"]
        assert weaker["rating"] < stronger["rating"]
    assert all(row["turn_ms"] < 150 for row in rows)


def test_ratings_are_anchored_where_everybody_begins() -> None:
    assert MEASURED["house"]["mu"] == NEWCOMER.mu
    assert all(anchor(row["mu"]).shown == row["rating"] for row in MEASURED.values())


def test_a_newcomer_who_wins_every_second_game_against_the_beginner_stays_near_1000() -> None:
    beginner = anchor(MEASURED["house-beginner"]["mu"])
    shown, rating = [], NEWCOMER
    for number in range(10):
        rating = rate([rating, beginner], [2, 1] if number % 2 == 0 else [1, 2])[0]
        shown.append(rating.shown)
    assert (shown[3], shown[9]) == (1004, 1062)


def test_help_says_what_was_measured() -> None:
    text = help_text()
    for userid, row in MEASURED.items():
        figures = f"{row['rating']} {row['turns']:.2f} {row['probes']:.2f} {row['points']:.2f}"
        line = next(
            line for line in text.splitlines() if line.split()[:2] == [userid, str(row["rating"])]
        )
        assert " ".join(line.split()) == f"{userid} {figures} {row['lost_percent']:.1f} %"
    least = min(row["games"] for row in MEASURED.values())
    assert f"{least:,} boxes or more" in " ".join(text.split())


def played(level: str, options: Options, number: int) -> tuple[list[str], bool]:
    """Play a game against an opponent who does nothing.

    Returns:
        The moves, and whether the level has won.
    """
    lot = Rng(b"strength", number)
    state = box_to_solve(options, random_layout(options, lot))
    moves_made = []
    while state.outcome is None:
        view = GAME.view(state, ALICE)
        chances = Rng(b"chances", 100 * number + len(moves_made) + 1)
        moves_made.append(LEVELS[level].choose(view, chances))
        state = GAME.apply(state, ALICE, GAME.parse(view, moves_made[-1]), lot).state
        state = replace(state, turns=state.turns + 1)
    return moves_made, state.outcome.reason == "solved"


@pytest.mark.usefixtures("reread_trees")
def test_without_its_tree_the_best_plays_as_well_as_it_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trees, "FOLDER", str(tmp_path))
    moves, _ = played("house-best", GAME.options(("-size=5x5", "-atoms=3"), 2), 1)
    assert moves[-1].endswith("?")
