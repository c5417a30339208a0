"""Finished games as text: what is written is read again, and plays back to the same end."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import examples
from hypothesis import given
from hypothesis import strategies as st
from played_out import GAMES, played_out
from rows import rows
from typer.testing import CliRunner

from pbmserv.cli.main import app as pbmserv
from pbmserv.engine.position import replay
from pbmserv.engine.record import (
    GameRecord,
    Ply,
    Scoresheet,
    read_record,
    result_of,
    write_record,
)
from pbmserv.engine.registry import AnyGame
from pbmserv.engine.types import Seat
from pbmserv.errors import NotUnderstood

words = st.text(
    st.characters(min_codepoint=33, max_codepoint=0x17F, blacklist_categories=("Cc", "Cs", "Zs")),
    min_size=1,
    max_size=90,
)
moves = st.lists(words, min_size=1, max_size=4).map(" ".join)
userids = st.from_regex(r"[a-z0-9_-]{2,20}", fullmatch=True)


@st.composite
def sheets(draw: st.DrawFn) -> Scoresheet:
    names = tuple(draw(st.lists(userids, min_size=1, max_size=4, unique=True)))
    plies = draw(
        st.lists(st.tuples(st.integers(0, len(names) - 1), moves, st.booleans()), max_size=12)
    )
    record = GameRecord(
        "blackbox",
        draw(st.integers(1, 99)),
        len(names),
        tuple(draw(st.lists(st.from_regex(r"-[a-z]{1,30}", fullmatch=True), max_size=6))),
        draw(st.binary(max_size=32)),
        tuple(Ply(n, Seat(seat), text, free) for n, (seat, text, free) in enumerate(plies, 1)),
    )
    return Scoresheet(record, names, draw(st.integers(0, 10**6)), "2026-03-05", "alice 1 (solved)")


@pytest.mark.slow
@examples(8)
@given(sheets(), st.booleans())
def test_a_written_score_sheet_is_read_back(sheet: Scoresheet, mailed: bool) -> None:
    text = write_record(sheet)
    assert all(len(line) <= 76 for line in text.splitlines())
    if mailed:
        text = f"Hello,\r\n\r\n{text}\r\n-- \r\nsomebody\r\n".replace("\n", "\r\n")
    assert read_record(text) == sheet


def test_a_blank_where_a_line_is_folded_is_kept() -> None:
    for length in range(40, 80):
        ply = Ply(1, Seat(0), f"{'x' * length} {'y' * 40}", free=False)
        record = GameRecord("blackbox", 1, 1, (), b"", (ply,))
        sheet = Scoresheet(record, ("alice",), 12, "2026-03-05", "alice 1 (solved)")
        assert read_record(write_record(sheet)) == sheet


@rows("game", GAMES, ids=lambda game: game.info.key)
@rows("seed", [b"one", b"another"])
def test_a_game_plays_back_to_the_same_end(game: AnyGame, seed: bytes) -> None:
    full = played_out(game, (), seed)
    states = [step.state for step in replay(game, full)]
    outcome = game.outcome(states[-1])
    assert outcome is not None
    names = tuple(f"player{seat}" for seat in range(full.seats))
    result = result_of(names, outcome.places, outcome.reason)
    sheet = Scoresheet(full, names, 12, "2026-03-05", result)
    again = read_record(write_record(sheet))
    assert again == sheet
    assert [step.state for step in replay(game, again.record)] == states


SHEET = """pbmserv record 1
game: blackbox
rules: 1
board: 12
players: alice, bob
options:
ended: 2026-03-05
result: alice 1, bob 2 (resigned)

1. alice: b3,d3,f2,h8
2. bob: resign
end
"""


@rows(
    ("old", "new", "code", "line"),
    [
        ("pbmserv record", "somebody's record", "record.none", 0),
        ("record 1", "record 2", "record.version", 0),
        ("game: blackbox\n", "", "record.missing", 0),
        ("players: alice, bob", "players: alice, alice", "record.players", 0),
        ("rules: 1", "rules: one", "record.number", 0),
        ("options:", "my options", "record.line", 6),
        ("2. bob", "3. bob", "record.line", 11),
        ("2. bob", "2. carol", "record.line", 11),
        ("end\n", "", "record.no-end", 0),
    ],
)
def test_a_fault_is_reported_with_its_line(old: str, new: str, code: str, line: int) -> None:
    assert read_record(SHEET).names == ("alice", "bob")
    with pytest.raises(NotUnderstood) as refused:
        read_record(SHEET.replace(old, new))
    assert refused.value.refusal.code == code
    assert refused.value.refusal.values["line"] == line


@given(st.text(max_size=300))
def test_garbage_is_refused(text: str) -> None:
    with pytest.raises(NotUnderstood):
        read_record(f"pbmserv record 1\n{text}")


@rows(
    ("change", "complaint"),
    [
        (("alice", "alice"), ""),
        (("alice 1, bob 2", "alice 2, bob 1"), "The record says alice 2, bob 1 (resigned), but"),
        (("F2", "B3"), "cannot play"),
    ],
)
def test_the_command_replay_fails_if_the_rules_have_changed(
    tmp_path: Path, change: tuple[str, str], complaint: str
) -> None:
    file = tmp_path / "game.txt"
    sheet = SHEET.replace("b3,d3,f2,h8", "B3,D3,F2,G7").replace(*change)
    file.write_text(sheet, encoding="utf-8")
    result = CliRunner().invoke(pbmserv, ["replay", str(file), "--last"])
    assert (result.exit_code != 0) == bool(complaint)
    assert complaint in result.stderr
