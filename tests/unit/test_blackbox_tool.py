"""``pbmserv blackbox``: game IDs, boards and checks at the command line, alone and in pipes."""

from __future__ import annotations

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from rows import rows
from typer.testing import CliRunner, Result

from pbmserv.cli.blackbox import app
from pbmserv.games.blackbox.bots.difficulty import grade, is_unique
from pbmserv.games.blackbox.game_ids import atoms_of, read_id
from pbmserv.games.blackbox.options import Grade, Options
from pbmserv.games.blackbox.rays import trace_all

GOLDEN = Path(__file__).resolve().parent.parent / "golden" / "blackbox"
VECTORS: dict[str, list[dict[str, Any]]] = json.loads((GOLDEN / "sgt_vectors.json").read_text())
GENERATED: dict[str, list[str]] = json.loads((GOLDEN / "sgt_generate.json").read_text())["series"]
SEEDED = "w8h8m5M5#123456789012345"
DESCRIBED = "w8h8m5M5:9fef256fb015513fe87e0c4c"
CELLS = "D1 G1 B3 F5 D7"
COMMANDS = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
FULL_SCREEN = {"play"}
THINKING = {"analyse"}


def run(*arguments: str, typed: str | bytes = "") -> Result:
    return CliRunner().invoke(app, list(arguments), input=typed)


def printed(*arguments: str, typed: str = "") -> str:
    result = run(*arguments, typed=typed)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=pytest.mark.slow) if name in THINKING else name
        for name in sorted(COMMANDS - FULL_SCREEN)
    ],
)
def test_the_example_of_each_command_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "numba", None)  # compiling takes too long
    shown = re.sub(r"\s+", " ", printed(name, "--help"))
    match = re.search(r"Example: (pbmserv blackbox .*?) ╭", shown)
    assert match, shown
    output = b""
    for part in re.split(r" \| | && ", match[1]):
        words, _, target = part.partition(" > ")
        program, game, *arguments = shlex.split(words)
        assert (program, game) == ("pbmserv", "blackbox")
        result = CliRunner().invoke(app, arguments, input=output)
        assert (result.exit_code, result.stderr) == (0, "")
        output = result.stdout_bytes
    assert output or target


@rows("vector", VECTORS["ids"] + VECTORS["seeds"], ids=lambda v: v["id"])
def test_decode_prints_the_id_and_the_cells(vector: dict[str, Any]) -> None:
    cells = [f"{chr(65 + x)}{y + 1}" for x, y in vector["balls"]]
    assert printed("decode", vector["id"]).split() == [vector["id"], *cells]
    described = vector["id"].partition("#")[0] + ":" + vector.get("desc", "")
    wanted = described if "desc" in vector else vector["id"]
    assert printed("decode", vector["id"], "--form", "id").split() == [wanted, *cells]


def test_encode_is_the_way_back() -> None:
    assert printed("encode", "8x8", *CELLS.split()) == DESCRIBED + "\n"
    assert printed("encode", "w8h8m5M5", *CELLS.lower().split()) == DESCRIBED + "\n"
    ids = printed("generate", "20", "9x6/1-9")
    assert printed("encode", typed=printed("decode", typed=ids)) == ids
    assert printed("decode", "8x8/5#tea ").startswith("w8h8m5M5:")  # nobody sees the blank


def test_generate_makes_boxes_of_a_grade_and_such_as_are_unique() -> None:
    options = Options(7, 7, 4, 4)
    for wanted in Grade:
        chosen = ("4", "7x7/4", "--difficulty", wanted, "--unique")
        ids = printed("generate", *chosen).split()
        assert len(set(ids)) == 4
        boxes = [atoms_of(read_id(game_id)) for game_id in ids]
        assert {grade(options, box) for box in boxes} == {wanted}
        assert all(is_unique(options, box) for box in boxes)
    again = printed("generate", "3", *chosen[1:], "--seed", "tea", "--form", "seed")
    assert again == printed("generate", "3", *chosen[1:], "--seed", "tea", "--form", "seed")
    assert all(re.fullmatch(r"w7h7m4M4#tea(-[0-9]+)?", game_id) for game_id in again.split())


def test_a_box_is_unique_if_no_other_shows_the_same_at_all_ports() -> None:
    """All 764 ambiguous spectra of 6x6 with 4 atoms have 1,636 layouts; here 3x3 with 2."""
    options = Options(3, 3, 2, 2)
    spectra = {
        combination: tuple(trace_all(options.board, combination))
        for combination in combinations(range(9), 2)
    }
    shared = Counter(spectra.values())
    assert {shared[spectrum] > 1 for spectrum in spectra.values()} == {True, False}
    for layout, spectrum in spectra.items():
        assert is_unique(options, layout) == (shared[spectrum] == 1)
        if shared[spectrum] == 1:
            assert is_unique(options, layout, rays=1) is None  # not looked at all others
    assert is_unique(Options(3, 3, 0, 0), ()) is True


def test_generate_makes_fresh_boxes_and_repeats_seeds() -> None:
    fresh = printed("generate", "50", "8x8/5-6").split()
    assert len(set(fresh)) == 50
    assert {len(atoms_of(read_id(line))) for line in fresh} <= {5, 6}
    seeds = printed("generate", "2", "--form", "seed").split()
    assert all(re.fullmatch(r"w7h7m4M4#[0-9]{15}", line) for line in seeds)
    named = printed("generate", "3", "8x8/5", "--seed", "tea time", "--form", "seed")
    assert named.splitlines() == [f"w8h8m5M5#tea time{n}" for n in ("", "-1", "-2")]
    described = printed("generate", "3", "8x8/5", "--seed", "tea time")
    assert described == printed("generate", "3", "8x8/5", "--seed", "tea time")
    lines = printed("decode", "--form", "id", typed=named).splitlines()
    assert described.split() == [line.split()[0] for line in lines]


@rows("text", list(GENERATED))
def test_generate_makes_the_boxes_that_his_program_makes(text: str) -> None:
    assert printed("generate", "4", text).split() == GENERATED[text]
    if "#" in text:
        seed = text.partition("#")[2]
        series = printed("generate", "4", text, "--form", "seed").splitlines()
        assert [game_id.partition("#")[2] for game_id in series] == [
            f"{seed}{n}" for n in ("", "-1", "-2", "-3")
        ]
        lines = printed("decode", "--form", "id", typed="\n".join(series)).splitlines()
        assert [line.split()[0] for line in lines] == GENERATED[text]


def test_game_and_load_say_what_an_argument_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file may have the name of a game ID; a game ID may be too long for a file name."""
    monkeypatch.chdir(tmp_path)
    small = "w4h4m2M2#tea"
    assert printed("save", "game", "w4h4m2M2#pbm", "--moves", "A", "--save-suffix", ".sav")
    (tmp_path / "game0.sav").rename(tmp_path / small)
    of_file = printed("analyse", small)
    assert of_file == printed("analyse", "--load", small)
    assert of_file != printed("analyse", "--game", small)
    cells = [f"{column}{row}" for column in "ABCDEFGH" for row in range(1, 26)]
    long = printed("encode", "26x26/200", *cells).strip()
    assert len(long) > 255
    for words in (["play", long], ["play", "--game", long]):
        assert "this needs a terminal" in run(*words).stderr


def test_show_draws_the_house_board() -> None:
    shown = printed(
        *("show", SEEDED, "--marks", "A 9, 6", "--markers", "D1,B2", "--seals", "3c", "--solution")
    )
    board = [line.rstrip() for line in shown.splitlines()]
    assert board[:6] == [
        SEEDED,
        "",
        "      A  B  C  D  E  F  G  H",
        "     |a |  |  |  |  |  |  |  |",
        "     |=======================|",
        " 1|  |  |  |  |?@|  |  | @|  |# |9",
    ]
    assert " 2|a |  |?x|  |  |  |  |  |  |  |10" in board
    assert " 3|  |  | @|. |  |  |  |  |  |  |11" in board
    closed = printed("show", SEEDED, "--marks", "all")
    assert "@" not in closed
    assert "?" not in closed


def test_check_tells_which_marks_the_markers_explain() -> None:
    right = run("check", SEEDED, "--marks", "all", "--markers", CELLS)
    assert right.exit_code == 0
    assert "Your markers explain all 2" in right.stdout
    wrong = run("check", "7x7", "--marks", "A:% B:# C:#", "--markers", "G1 B2 B4 F5")
    assert (wrong.exit_code, wrong.stderr) == (1, "")
    assert wrong.stdout.splitlines() == [
        "Your markers explain 2 of 3 results so far (B, C).",
        "Port A gave reflection (%), but with your markers it would give detour to 1.",
        "There are 4 markers on your board; a guess needs 4.",
    ]


def test_games_are_saved_with_what_was_taken_back_and_loaded_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    ids = printed("generate", "3", "8x8/5", "--seed", "tea", "--form", "seed")
    moves = ("--moves", "A; 4,+b2; undo", "--suffix", ".box")
    assert printed("save", "game", *moves, typed=ids).split() == [
        "game0.box",
        "game1.box",
        "game2.box",
    ]
    shown = printed("load", "game1.box").splitlines()
    assert shown[0] == "w8h8m5M5#tea-1"
    assert shown[-3:] == ["1. A", "2. 4,+B2 (undone)", "practice, 0 seconds"]
    assert "?" not in shown[6]
    assert printed("load", "-", typed=Path("game1.box").read_text()).splitlines() == shown
    assert "@" not in "".join(shown)
    assert "@" in printed("load", "game1.box", "--solution")
    before = Path("game1.box").read_bytes()
    again = run("save", "game", "--suffix", ".box", typed=ids)
    assert (again.exit_code, again.stdout) == (2, "")
    assert "game0.box exists already, so nothing was saved." in again.stderr
    assert Path("game1.box").read_bytes() == before


@rows(
    ("arguments", "typed", "message"),
    [
        (["save", "game", SEEDED, "--moves", "A;A"], "", "Port A already shows a"),
        (["save", "no/game", SEEDED], "", "no/game0.txt cannot be written: No such file"),
        (["load", "nothing.txt"], "", "nothing.txt cannot be read: No such file"),
        (["load", "-"], "Hello", 'It has no line "pbmserv transcript 1"'),
        (["load", "-"], b"\xff\xfe", "standard input is not text, so it is not a game."),
        (["generate", "1", "8"], "", '"8" does not describe a box'),
        (["generate", "1", "9x9", "--difficulty", "easy"], "", "grades only on 5x5/3, 6x6/3,"),
        (["play", "--game", "--load", SEEDED], "", "--game and --load contradict each other."),
        (["play", "--load", SEEDED], "", "cannot be read: No such file"),
        (["analyse", "--load", SEEDED], "", "cannot be read: No such file"),
        (["analyse", "--game", __file__], "", "is not a game ID."),
        (["decode", "hello"], "", '"hello" is not a game ID.'),
        (["decode"], f"{SEEDED}\nhello\n", 'line 2: "hello" is not a game ID.'),
        (["encode", "8x8"], "", "name the cells behind the size."),
        (["encode", "8x8/5", "D1"], "", "8x8/5 needs 5 atoms, but you named 1."),
        (["show", "8x8", "--marks", "A"], "", 'write what port "A" shows behind it, such as A:#'),
        (["show", "8x8", "--marks", "all"], "", "--marks all needs a game ID, not just a size."),
        (["show", "8x8", "--marks", "A1"], "", '"A1": there is no port A1 on a 8x8 board.'),
        (["check", "8x8", "--marks", "A:# 4:A"], "", '"4:A" contradicts a port before it'),
        (["rays", "nothing"], "", '"nothing" is not a game ID.'),
    ],
)
def test_a_wrong_argument_is_refused_in_one_line(
    arguments: list[str], typed: str | bytes, message: str
) -> None:
    result = run(*arguments, typed=typed)
    assert result.exit_code == (1 if "cannot be written" in message else 2)
    assert result.stderr.startswith(f"pbmserv blackbox {arguments[0]}: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def program(*arguments: str, **more: Any) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-m", "pbmserv", "blackbox", *arguments]
    return subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": root},
        **more,
    )


@pytest.mark.slow
def test_a_reader_that_leaves_ends_it_quietly() -> None:
    with program("generate", "100000") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


@pytest.fixture
def heeded() -> Iterator[None]:
    """Ctrl-C, by programs that a test starts: tests in a shell's background ignore it, and what
    is ignored stays so in children."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.slow
@pytest.mark.usefixtures("heeded")
def test_ctrl_c_ends_it_quietly() -> None:
    with program("decode", stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdin.write(SEEDED.encode() + b"\n")
        process.stdin.flush()
        assert process.stdout.readline().decode() == f"{SEEDED} {CELLS}\n"
        # One that comes between Python's look for signals and its wait for a line is seen with the
        # next: who presses Ctrl-C in vain presses it again.
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(60)
        assert process.stderr.read() == b""
    assert process.returncode == 130


def test_analyse_says_the_same_of_an_id_a_saved_game_and_simon_tathams_file(tmp_path: Path) -> None:
    moves = "B; 4; undo; +b2,+c3,?"
    analysis = printed("analyse", "w4h4m2M2#tea", "--moves", moves)
    assert "You gave up after 1 probe." in analysis
    assert "The coach needs" in analysis
    assert "wrong guess" in analysis
    for suffix in (".txt", ".sav"):
        words = ("--moves", moves, "--suffix", suffix)
        (file,) = printed("save", str(tmp_path / "game"), "w4h4m2M2#tea", *words).split()
        assert printed("analyse", file) == analysis
    assert printed("analyse", "-", typed=(tmp_path / "game0.txt").read_text()) == analysis


def test_analyse_reads_the_record_of_a_board(tmp_path: Path) -> None:
    record = (
        "pbmserv record 1\ngame: blackbox\nrules: 1\nboard: 12\nplayers: alice, bob\n"
        "options: -size=4x4 -atoms=1\nended: 2026-03-05\nresult: bob 1, alice 2 (resigned)\n\n"
        "1. alice: B2\n2. bob: C3\n3. alice: B\n4. bob: 3\n5. alice: resign\nend\n"
    )
    (tmp_path / "game.txt").write_text(record)
    analysis = printed("analyse", str(tmp_path / "game.txt"))
    alice, _, bob = analysis.partition("bob had fired 1 probe.")
    assert "alice gave up after 1 probe." in alice
    assert "The coach needs 1 probe." in alice
    assert "The coach needs 2 probes." in bob
