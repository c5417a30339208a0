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
from pbmserv.games.blackbox.bots.levels import LEVELS, STRENGTH, random_layout
from pbmserv.games.blackbox.bots.trees import orientations, port_orientations
from pbmserv.games.blackbox.game import GAME
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import Options
from pbmserv.games.blackbox.rays import HIT, trace_all
from pbmserv.games.blackbox.views import View
from pbmserv.views.texts import render_text

FILE = Path(levels.__file__).parent / STRENGTH
MEASURED = json.loads(FILE.read_text())["levels"]


def help_text() -> str:
    page = topic("house-best", ["blackbox"])
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


def test_each_port_is_turned_as_its_cells_are() -> None:
    board = geometry(6, 4)
    layout = {1, 8, 15}
    real = trace_all(board, layout)
    for cells, ports in zip(orientations(board), port_orientations(board), strict=True):
        turned = trace_all(board, {cells[cell] for cell in layout})
        for port, out in enumerate(real):
            assert turned[ports[port]] == (HIT if out == HIT else ports[out])


def moves(level: str, options: Options, number: int) -> list[str]:
    """Play a game of a level against an opponent who does nothing."""
    lot = Rng(b"levels", number)
    state = box_to_solve(options, random_layout(options, lot))
    moves_made = []
    while state.outcome is None:
        view = GAME.view(state, ALICE)
        moves_made.append(LEVELS[level].choose(view, Rng(b"moves", 100 * number + len(moves_made))))
        state = GAME.apply(state, ALICE, GAME.parse(view, moves_made[-1]), lot).state
        state = replace(state, turns=state.turns + 1)
    return moves_made


def test_the_best_plays_by_the_tree_turned_in_many_ways() -> None:
    options = GAME.options(("-size=5x5", "-atoms=3"), 2)
    games = [moves("house-best", options, number) for number in range(12)]
    assert len({game[0] for game in games}) > 3, "no port is always the first"
    assert sum(map(len, games)) / 12 < 6.5


@pytest.mark.usefixtures("reread_trees")
def test_without_its_tree_the_best_plays_as_well_as_it_can(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(trees, "FOLDER", str(tmp_path))
    game = moves("house-best", GAME.options(("-size=5x5", "-atoms=3"), 2), 1)
    assert game[-1].endswith("?")


@pytest.mark.parametrize("level", ["house-beginner", "house-casual"])
def test_weak_levels_guess_early_and_fire_where_nothing_can_be_learnt(level: str) -> None:
    options = GAME.options(("-size=4x4", "-atoms=1"), 2)
    games = [moves(level, options, number) for number in range(12)]
    wrong = sum(sum(move.endswith("?") for move in game) - 1 for game in games)
    assert wrong > 5
    careful = [moves("house-easy", options, number) for number in range(12)]
    assert all(sum(move.endswith("?") for move in game) == 1 for game in careful)


def test_a_beginner_guesses_nothing_that_contradicts_what_it_remembers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    remembered: list[View] = []

    def remember(view: View, remembers: int, rng: Rng) -> View:
        remembered.append(half_forgotten(view, remembers, rng))
        return remembered[-1]

    half_forgotten = levels._half_forgotten
    monkeypatch.setattr(levels, "_half_forgotten", remember)
    options, guesses = GAME.options(("-size=5x5", "-atoms=3"), 2), 0
    for number in range(6):
        lot = Rng(b"memory", number)
        state = box_to_solve(options, random_layout(options, lot))
        while state.outcome is None:
            view = GAME.view(state, ALICE)
            text = LEVELS["house-beginner"].choose(view, Rng(b"choice", 100 * number + state.turns))
            state = GAME.apply(state, ALICE, GAME.parse(view, text), lot).state
            state = replace(state, turns=state.turns + 1)
            if text.endswith("?"):
                own = remembered[-1].own
                assert own is not None
                rays = trace_all(options.board, state.boxes[ALICE].markers)
                assert all(rays[port] == out for port, out in own.results)
                guesses += 1
    assert guesses >= 6
