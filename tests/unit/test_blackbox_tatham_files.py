"""Files of Simon Tatham's Black Box: files of his program, and ours for it.

``tests/golden/blackbox/saved`` holds files of version 20230122 (Debian), played by hand.
"""

from __future__ import annotations

from pathlib import Path
from string import ascii_letters

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.errors import MoveError, NotUnderstood, PlayerError
from pbmserv.games.blackbox.contradictions import beam_shown, differing_ports
from pbmserv.games.blackbox.game_ids import GameId, atoms_of, is_plain, read_id
from pbmserv.games.blackbox.geometry import geometry
from pbmserv.games.blackbox.options import ENDLESS, Scoring
from pbmserv.games.blackbox.practice import Practice, at_no_charge, begin, resumed
from pbmserv.games.blackbox.rays import HIT, trace
from pbmserv.games.blackbox.saving import load
from pbmserv.games.blackbox.tatham_files import (
    MARK,
    MOST_CHECKS,
    read_saved_game,
    write_saved_game,
)
from pbmserv.games.blackbox.transcripts import MOST_MOVES, read_transcript, write_transcript
from pbmserv.views.texts import refusal_sentence

SAVED = Path(__file__).parents[1] / "golden" / "blackbox" / "saved"


def saved(name: str) -> str:
    return (SAVED / f"{name}.sav").read_text()


def practice(identity: str = "w8h8m3M6#tea") -> Practice:
    return begin(read_id(identity), Scoring.PRACTICE, ENDLESS, fair=True, clue=True)


def moves(game: Practice) -> list[str]:
    return list(game.texts)


def shown(game: Practice) -> tuple[object, ...]:
    """Return all that a player sees of a game."""
    box = game.state.boxes[0]
    return box.marks, box.markers, box.sealed, game.over


def states(text: str) -> list[str]:
    """Return the lines of a file that describe the game."""
    return [line for line in text.splitlines() if not line.startswith("UI ")]


# -- files of his program ----------------------------------------------------------------------


def test_balls_beams_and_locks_of_his_files_are_read() -> None:
    game = read_saved_game(saved("locks"))
    assert moves(game)[:5] == ["A", "+B2", "+C3", "!D4", "!E"]
    assert moves(game)[5] == "!A6,!B6,!C6,!D6,!F6,!G6,!H6"  # E6 is locked with its column
    assert moves(game)[6:] == ["D", "+B5", "?"]
    assert game.done == len(game.texts) - 1  # the check was undone
    (note,) = [note for note in game.redo().notes if note.kind.startswith("clue")]
    assert note.kind == "clue-mark"


def test_restart_and_giving_up_are_steps() -> None:
    game = read_saved_game(saved("restarted"))
    assert moves(game)[-6:] == ["restart", "H", "+E5", "lock E5", "lock E", "solve"]
    assert not game.over
    assert game.redo().over
    back = game
    while back.done:
        back = back.undo()
    assert shown(back) == shown(practice())


def test_a_locked_ball_shows_no_other_beam_than_there() -> None:
    """The lots that choose the beam depend on locks: the file has one on a ball when it checks."""
    game = read_saved_game(saved("locked_ball"))
    board, marks = game.options.board, game.state.boxes[0].marks
    assert [number for number, port in enumerate(board.clockwise) if marks[port]] == [2, 7]
    assert "lock A3" in moves(game)
    assert states(write_saved_game(game))[:7] == states(saved("locked_ball"))[:7]


class HisBoard:
    """The board of his program after the moves of a file: balls, locks and marked ports."""

    def __init__(self, game: GameId) -> None:
        self.board = geometry(game.width, game.height)
        self.atoms = atoms_of(game)
        self.balls: set[int] = set()
        self.locks: set[int] = set()
        self.marks = [""] * len(self.board.ports)
        self.detours = 0

    def play(self, move: str) -> None:
        board, width = self.board, self.board.width
        if move == "R":
            self.check()
        elif move.startswith("F"):
            self.fire(board.clockwise[int(move[1:])])
        elif move.startswith(("LC", "LR")):
            first = int(move[2:]) - 1
            line = set(
                board.cells[first::width]
                if move[1] == "C"
                else board.cells[first * width :][:width]
            )
            is_full = len(line & self.locks) > len(line) // 2
            self.locks = self.locks - line if is_full else self.locks | line
        else:
            column, row = map(int, move.lstrip("TLB").split(","))
            changed = self.balls if move.startswith("T") else self.locks
            changed ^= {(row - 1) * width + column - 1}

    def fire(self, port: int) -> None:
        if self.marks[port]:
            return
        result = trace(self.board, self.atoms, port)
        if result in {HIT, port}:
            self.marks[port] = "#" if result == HIT else "%"
            return
        self.marks[port] = self.marks[result] = ascii_letters[self.detours]
        self.detours += 1

    def check(self) -> None:
        wrong = differing_ports(self.board, self.atoms, self.balls)
        if wrong and not any(self.marks[port] for port in wrong):
            self.fire(beam_shown(self.board, self.marks, self.balls, self.locks, wrong))


@given(st.data())
def test_any_file_of_his_gives_his_board_at_each_step(data: st.DataObject) -> None:
    """Balls, locks and marked ports, also in the file that is written for him again."""
    identity = data.draw(st.sampled_from(["w2h3m1M6#62898", "w3h3m2M2#pbm", "w4h3m0M3#tea"]))
    game = read_id(identity)
    across, down = st.integers(1, game.width), st.integers(1, game.height)
    places = st.builds("{},{}".format, across, down)
    moves = st.one_of(
        places.map("T{}".format),
        places.map("LB{}".format),
        across.map("LC{}".format),
        down.map("LR{}".format),
        st.integers(0, 2 * (game.width + game.height) - 1).map("F{}".format),
        st.just("R"),
    )
    his, played = HisBoard(game), []
    for move in data.draw(st.lists(moves, max_size=25)):
        if move == "R":
            solved = not differing_ports(his.board, his.atoms, his.balls)
            if solved or not game.least <= len(his.balls) <= game.most:
                continue
        played.append(move)
        his.play(move)
    text = with_states(played, identity=identity)
    for read in (read_saved_game(text), read_saved_game(write_saved_game(read_saved_game(text)))):
        box = read.state.boxes[0]
        assert box.markers == his.balls
        assert box.sealed | box.locked == his.locks
        assert box.locked == his.locks & his.balls
        assert list(box.marks) == his.marks


@rows("name", ["locks", "checks", "restarted", "wide", "locked_ball"])
def test_a_game_that_was_read_is_written_for_his_program_again(name: str) -> None:
    game = read_saved_game(saved(name))
    again = read_saved_game(write_saved_game(game))
    assert shown(again) == shown(game)
    assert write_saved_game(again) == write_saved_game(game)
    assert states(write_saved_game(game))[:7] == states(saved(name))[:7]


def test_his_program_loaded_and_saved_files_written_here() -> None:
    """Checked by hand with six games played at random: not one octet was different."""
    text = saved("ours")
    assert write_saved_game(read_saved_game(text)) == text


# -- round trips -------------------------------------------------------------------------------

BOXES = ["w5h5m3M3#pbm", "w4h3m0M3#tea", "w8h8m5M5#123456789012345", "w27h5m2M2#wide"]
SOME = ["+b2", "+c1", "/b2", "+d3,+a1", "!c", "!2", "!b2", "!a1-c2", "+a2,!a2", "?", "+b1,?", "a,?"]
STEPS = ("undo", "redo", "restart", "solve")


@given(st.data())
def test_any_game_goes_there_and_back(data: st.DataObject) -> None:
    game = practice(data.draw(st.sampled_from(BOXES)))
    for _ in range(data.draw(st.integers(0, 25))):
        what = data.draw(st.sampled_from([*STEPS, *SOME, *game.view.unused_ports[:9]]))
        try:
            game = getattr(game, what)() if what in STEPS else game.play(what)
        except MoveError:
            continue
    text = write_saved_game(game)
    again = read_saved_game(text)
    assert shown(again) == shown(game)
    assert write_saved_game(again) == text
    while game.done < len(game.texts):
        game = game.redo()
    while again.done < len(again.texts):
        again = again.redo()
    assert shown(again) == shown(game)


@rows("seed", ["tea", "tea ", " two words ", "a:b#c", "\ttabs\t", "th\u00e9", "\U0001f349"])
def test_a_seed_survives_files_as_it_is(seed: str) -> None:
    game = practice(f"w8h8m3M6#{seed}").play("a")
    his = write_saved_game(game)
    plain = f"\nSEED    :{len(seed)}:{seed}\n"
    assert (plain if is_plain(seed) else f":{seed.encode().hex()}\n") in his
    words = load(his, lambda _board: (), at_no_charge).options
    assert all(len(word.split()) == 1 for word in words), "records separate words by blanks"
    ours = write_transcript(game.transcript(0))
    mailed = "\r\n".join(line.rstrip() for line in ours.splitlines())
    stripped = "\r\n".join(line.rstrip() for line in his.splitlines())
    for again in (
        read_saved_game(his),
        read_saved_game(stripped),  # mail programs remove blanks
        resumed(read_transcript(ours)),
        resumed(read_transcript(mailed)),
    ):
        assert again.game.seed == seed
        assert shown(again) == shown(game)
        assert write_saved_game(again) == his


def test_a_seed_of_another_version_is_kept_beside_its_box() -> None:
    text = saved("locks").replace("SEED    :3:tea", "HEXSEED :4:ff00")
    game = read_saved_game(text)
    assert game.game.cells == read_saved_game(saved("locks")).game.cells
    assert "HEXSEED :4:ff00" in write_saved_game(game)
    again = resumed(read_transcript(write_transcript(game.transcript(0))))
    assert again.game == game.game
    with pytest.raises(NotUnderstood):
        read_saved_game(text.replace(":4:ff00", ":4:ff0x"))


# -- strangers' files --------------------------------------------------------------------------


def with_states(moves: list[str], at: int = 0, identity: str = "w8h8m3M6#tea") -> str:
    """Return a file with these moves."""
    lines = write_saved_game(practice(identity)).splitlines()[:7]
    count, at = str(len(moves) + 1), at or len(moves) + 1
    lines += [f"NSTATES :{len(count)}:{count}", f"STATEPOS:{len(str(at))}:{at}"]
    return "\n".join([*lines, *(f"MOVE    :{len(move)}:{move}" for move in moves)]) + "\n"


@rows(
    ("old", "new", "code"),
    [
        ("SAVEFILE", "SAVFILE", "saved-missing"),
        ("VERSION :1:1", "VERSION :1:2", "saved-game"),
        ("Black Box", "Net Puzzl", "saved-game"),
        ("DESC    ", "DESK    ", "saved-missing"),
        ("CPARAMS :8:", "CPARAMS :9:", "saved-line"),
        ("SEED    :3:tea", "SEED    :2:tea", "saved-line"),
        ("MOVE    :2:F0", "MOVE    :2:F9", None),
        ("MOVE    :2:F0", "MOVE    :3:F32", "saved-move"),
        ("MOVE    :2:F0", "MOVE    :2:X0", "saved-move"),
    ],
)
def test_a_fault_in_a_file_is_named(old: str, new: str, code: str | None) -> None:
    text = saved("locks").replace(old, new, 1)
    if code is None:
        read_saved_game(text)
        return
    with pytest.raises(NotUnderstood) as caught:
        read_saved_game(text)
    assert caught.value.refusal.code == f"blackbox.{code}"
    assert refusal_sentence(caught.value.refusal).endswith((".", '".'))


@given(st.data())
def test_a_spoilt_file_is_read_or_refused(data: st.DataObject) -> None:
    lines = saved(data.draw(st.sampled_from(["locks", "checks", "restarted"]))).splitlines()
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(lines) - 1))
        match data.draw(st.sampled_from(["drop", "twice", "text", "number", "swap"])):
            case "drop":
                del lines[at]
            case "twice":
                lines.insert(at, lines[at])
            case "text":
                lines[at] = lines[at][:9] + data.draw(st.text(max_size=20))
            case "number":
                move = f"{data.draw(st.sampled_from('TFLRS'))}{data.draw(st.integers(-9, 99))}"
                lines[at] = f"MOVE    :{len(move)}:{move}"
            case _:
                lines[at], lines[0] = lines[0], lines[at]
        lines = lines or [MARK]
    try:
        read_saved_game("\n".join(lines))
    except PlayerError as error:
        refusal_sentence(error.refusal)  # which raises for a code without a sentence


def test_a_file_that_takes_long_is_refused_before_it_is_tried() -> None:
    with pytest.raises(NotUnderstood) as caught:
        read_saved_game(with_states(["T1,1", "T2,1", "T3,1", *["R"] * (MOST_CHECKS + 1)]))
    assert f"more than {MOST_CHECKS} times" in refusal_sentence(caught.value.refusal)
    with pytest.raises(NotUnderstood) as caught:
        read_saved_game(with_states(["S"] * (MOST_MOVES + 1)))
    assert f"more than {MOST_MOVES} moves" in refusal_sentence(caught.value.refusal)
    with pytest.raises(PlayerError):
        read_saved_game(saved("wide").replace("9:w27h5", "9:w99h9"))
    with pytest.raises(PlayerError):
        read_saved_game(MARK + "\n" + "x" * 300_000)
