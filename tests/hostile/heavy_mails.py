"""Mails that ask for as much work as one mail can, each with the boards that it needs.

Add each mail that costs more than these. `test_cost.py` and `make bench` measure it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase

from pbmserv.games.blackbox.game_ids import described, read_id
from tests.hostile.heavy_world import PASSWORD, PLAYERS, Cost, World, address, mail

LARGEST = ("-size=26x26", "-atoms=40-400")
ME = f"alice {PASSWORD}"
LONG_MOVE = ",".join(f"+{ascii_lowercase[n % 26]}{1 + n // 26}" for n in range(230))
MARKED = ",".join(f"+{ascii_uppercase[n % 26]}{1 + n // 26}" for n in range(190))
UNMARKED = MARKED.replace("+", "/")
ALL_OVER = ",".join(["!a1-z26"] * 120)
"""A move that seals and opens the whole board as often as its length allows."""
ROWS = ",".join(f"!{ascii_lowercase[n % 26]}" for n in range(330))
SMALL_STEPS = ("+A1", "/A1")
FULL = 850
"""Free moves that a seat of a board for two may make (`service.boards.plies.MOST_WORK`)."""


@dataclass(frozen=True, slots=True)
class Heavy:
    """A mail from alice.

    Attributes:
        subject, body: of the mail.
        to: recipient; "" for the server's own address.
        parts: whether the body begins with its own Content-Type.
    """

    subject: str
    body: str
    to: str = ""
    parts: bool = False


Build = Callable[[World], Heavy]
Plies = Iterable[tuple[int, str, bool]]


# -- boards ----------------------------------------------------------------------------------


def _large(w: World, *more: tuple[int, str, bool]) -> int:
    """Create one of the largest boards with 40 atoms in each box and more plies."""
    atoms = ",".join(f"{ascii_uppercase[2 + n % 22]}{3 + n // 22}" for n in range(40))
    return w.board(LARGEST, ("alice", "bob"), [(0, atoms, False), (1, atoms, False), *more])


def _small(w: World) -> int:
    atoms = "A1,B2,C3,D4"
    return w.board((), ("alice", "bob"), [(0, atoms, False), (1, atoms, False)])


def _race(
    w: World, *more: tuple[int, str, bool], seats: int = 8, options: Sequence[str] = ()
) -> int:
    box = ("-race", "-size=26x26", "-atoms=40", "-seed=heavy")
    return w.board((*box, *options), ("alice", *PLAYERS[2:])[:seats], more)


def _practice(w: World, *more: tuple[int, str, bool]) -> int:
    return _race(w, *more, seats=1, options=("-practice",))


def _free(count: int, texts: Sequence[str], seats: int = 1) -> Plies:
    return [(n % seats, texts[n // seats % len(texts)], True) for n in range(count)]


def _full(w: World) -> int:
    """Create a board with as many free moves of both players as are allowed."""
    return _large(w, *_free(2 * FULL - 10, SMALL_STEPS, 2))


def _long(w: World) -> int:
    """Create a full board with moves of the greatest length."""
    return _large(w, *_free(54, (MARKED, UNMARKED), 2))


def _over(w: World) -> int:
    return _large(w, *_free(54, (MARKED, UNMARKED), 2), (0, "resign", False))


GIVEN_UP = ((0, "resign", False), (0, "restart", True))
GUESSED = (0, "?", False)


def _restarted(w: World, times: int = 900) -> int:
    """Create a practice board that was given up and restarted as often as possible."""
    return _race(w, *GIVEN_UP * times, seats=1, options=("-practice",))


def _guessed(w: World, times: int = 900) -> int:
    """Create a practice board with as many wrong guesses as possible, each with a clue."""
    marked = (0, ",".join(MARKED.split(",")[:40]), True)
    return _race(w, marked, *[GUESSED] * times, seats=1, options=("-practice",))


def _boards(w: World, make: Callable[[World], int], count: int = 50) -> list[int]:
    with w.at_once():
        return [make(w) for _ in range(count)]


# -- mails -----------------------------------------------------------------------------------


def _many(command: str) -> Heavy:
    return Heavy("multiple", "\n".join([command] * 50))


def _games_on_boards_of_guesses(w: World) -> Heavy:
    _boards(w, _guessed, 10)
    return Heavy("blackbox games alice active", "")


def _on(command: str, numbers: Iterable[int], rest: str = "") -> Heavy:
    """Return lines about several boards, or about one board several times."""
    return Heavy("multiple", "\n".join(f"blackbox {command} {n} {ME} {rest}" for n in numbers))


def _look(command: str, numbers: Iterable[int], rest: str = "") -> Heavy:
    return Heavy("multiple", "\n".join(f"blackbox {command} {n} {rest}" for n in numbers))


def _digest(w: World, text: str, make: Callable[[World], int]) -> Heavy:
    lines = [f"{n}: {text}" for n in _boards(w, make)]
    return Heavy("Re: x", "\n".join(lines), w.player_address("alice"))


def _reply(w: World, text: str) -> Heavy:
    return Heavy("Re: x", text, w.address_of("alice", _large(w), 3))


def _transcript(moves: Sequence[str]) -> str:
    head = (
        "pbmserv transcript 1\ngame: blackbox\nbox: w26h26m40M40#heavy\n"
        "options: -practice -guesses=99 -fair -clue\nseconds: 0\n\n"
    )
    return head + "\n".join(f"{n}. {move}" for n, move in enumerate(moves, 1)) + "\nend\n"


def _load(moves: Sequence[str]) -> Heavy:
    return Heavy(f"blackbox load {ME}", _transcript(moves))


def _saved_game(moves: Sequence[str]) -> Heavy:
    """Return a saved game of Simon Tatham's program on the largest board with three atoms."""
    game = read_id("w26h26m3M3#heavy")
    parameters, description = game.parameters, described(game).partition(":")[2]
    states = [(move, description) if move == "RESTART" else ("MOVE", move) for move in moves]
    count = str(len(states) + 1)
    head = (
        ("SAVEFILE", "Simon Tatham's Portable Puzzle Collection"),
        ("VERSION", "1"),
        ("GAME", "Black Box"),
        ("PARAMS", parameters),
        ("CPARAMS", parameters),
        ("DESC", description),
        ("NSTATES", count),
        ("STATEPOS", count),
    )
    lines = (f"{key:<8}:{len(value)}:{value}" for key, value in (*head, *states))
    return Heavy(f"blackbox load {ME}", "\n".join(lines) + "\n")


def _loads(file: str, *, depth: int = 1, more: str = "") -> Heavy:
    """Return fifty lines that each load the file below them, in nested multiparts."""
    front = "".join(
        f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(depth - 1)
    )
    last = f"--b{depth - 1}"
    lines = "\n".join([f"blackbox load {ME}"] * 50)
    named = "Content-Type: text/plain; name=x\nContent-Disposition: attachment; filename=x\n\n"
    body = (
        f"Content-Type: multipart/mixed; boundary=b0\n\n{front}{last}\nContent-Type: text/plain\n"
        f"\n{lines}\n\n{more}{last}\n{named}{file}\n{last}--\n"
    )
    return Heavy("multiple", body, parts=True)


def _fillers(depth: int) -> str:
    named = "Content-Type: text/plain; name=y\nContent-Disposition: attachment\n\n"
    return (f"--b{depth - 1}\n{named}" + "x\n" * 4_000) * 70


def _nested_plan() -> str:
    plan = "c"
    for port in "dfhjlnprt":
        plan = f"if #: {port} else ({plan})"
    return f"g {plan}"


def _plans(w: World, plan: str) -> Heavy:
    """Return plans of a player who has to wait."""
    return _on("queue", [_large(w, (0, "A", False))] * 50, plan)


def _undo_and_redo(board: int) -> Heavy:
    return Heavy("multiple", "\n".join(
        f"blackbox {command} {board} {ME}" for command in ("undo", "redo") * 25))  # fmt: skip


def _everybody(which: str, command: str) -> Heavy:
    return _many(f"all {command} {' '.join(PLAYERS)} {which}")


HEAVY: Mapping[str, Build] = {
    "an ordinary move": lambda w: Heavy(f"blackbox move {_small(w)} {ME} g", ""),
    # Moves.
    "moves that seal all, over and over": lambda w: _on("move", [_large(w)] * 50, ALL_OVER),
    "moves that seal all, in a race of eight": lambda w: _on("move", [_race(w)] * 50, ALL_OVER),
    "moves of rows and columns": lambda w: _on("move", [_large(w)] * 50, ROWS),
    "moves that mark many cells": lambda w: _on("move", [_large(w)] * 50, LONG_MOVE),
    "moves that mark many cells, fifty boards": lambda w: _on(
        "move", _boards(w, _large), LONG_MOVE),
    "moves on fifty small boards": lambda w: _on("move", _boards(w, _small), "g"),
    "moves on full boards": lambda w: _on("move", _boards(w, _full, 6), "g"),
    "refused moves on full boards": lambda w: _on("move", _boards(w, _full, 6), "zz"),
    "refused moves on boards of long moves": lambda w: _on("move", _boards(w, _long, 8), "zz"),
    "a placement of four hundred atoms": lambda w: _on(
        "move", [w.board(LARGEST, ("alice", "bob"), ())], LONG_MOVE.replace("+", "")),
    "guesses with clues": lambda w: _on("move", [_practice(w, (0, MARKED[:39], True))] * 50, "?"),
    "moves on a board that is full of undos": lambda w: _on("undo", [_practice(
        w, *_free(990, SMALL_STEPS), *_free(980, ("undo",)))] * 50),
    "undo and redo": lambda w: _undo_and_redo(
        _practice(w, *_free(900, SMALL_STEPS), *_free(500, ("undo",)))),
    "resigning races of eight": lambda w: _on("resign", _boards(w, _race)),
    # Plans and looks ahead.
    "plans, nested": lambda w: _plans(w, _nested_plan()),
    "plans of many conditions": lambda w: _plans(
        w, "g if " + " or ".join(["a=# and b=%"] * 40) + ": c"),
    "plans of many moves": lambda w: _plans(w, "; ".join(["+a1"] * 49)),
    "plans of guesses": lambda w: _on("queue", [_guessed(w, 1)] * 50, "; ".join(["?"] * 45)),
    "plans of wide moves": lambda w: _plans(w, "; ".join([",".join(["!a1-z26"] * 2)] * 45)),
    "plans that are carried out": lambda w: _on(
        "queue", _boards(w, lambda v: _race(v, seats=1)), "; ".join(ascii_lowercase[:20])),
    "submits": lambda w: _on("submit", [_large(w)] * 50, LONG_MOVE),
    "previews that seal all": lambda w: _look("preview", [_large(w)] * 50, ALL_OVER),
    "previews that mark many cells": lambda w: _look("preview", _boards(w, _large), LONG_MOVE),
    "previews of a race": lambda w: _look("preview", [_race(w)] * 50, LONG_MOVE),
    "checks": lambda w: _on("check", [_large(w, (0, MARKED, True))] * 50),
    "checks with ways": lambda w: _on("check", [_large(w, (0, MARKED, True))] * 50, "a"),
    # Looks.
    "a look at a full board": lambda w: Heavy(f"blackbox show {_full(w)}", ""),
    "looks at full boards": lambda w: _look("show", _boards(w, _full, 6)),
    "looks at boards of long moves": lambda w: _look("show", _boards(w, _long, 8)),
    "looks at fifty boards": lambda w: _look("show", _boards(w, _large)),
    "looks at five hundred boards": lambda w: Heavy("multiple", "\n".join(
        "blackbox show " + " ".join(map(str, _boards(w, _small, 10))) for _ in range(50))),
    "looks at a race, turn by turn": lambda w: _look(
        f"show 1{''.join(f' 1#{turn}' for turn in range(200))}", [_race(w)] * 50),
    "show everybody, all": lambda w: _everybody("all", "show"),
    "show everybody, next": lambda w: _everybody("next", "show"),
    "showas all": lambda w: _many(f"blackbox showas {ME} all"),
    "games of everybody": lambda w: _everybody("all", "games"),
    "games of everybody, next": lambda w: _everybody("next", "games"),
    "history of everybody": lambda w: _many("all history " + " ".join(PLAYERS * 30)),
    "ratings of everybody": lambda w: _many("blackbox ratings " + " ".join(PLAYERS * 30)),
    "standings": lambda w: _many("all standings"),
    "scores": lambda w: _many("blackbox scores 26x26/40"),
    "looks at boards of restarts": lambda w: Heavy("blackbox show " + " ".join(
        map(str, _boards(w, _restarted, 10))), ""),
    "looks at boards of guesses": lambda w: Heavy("blackbox show " + " ".join(
        map(str, _boards(w, _guessed, 10))), ""),
    "looks at boards with room for guesses": lambda w: Heavy("blackbox show " + " ".join(
        map(str, _boards(w, lambda v: _guessed(v, 70), 10))), ""),
    "games on boards of guesses": _games_on_boards_of_guesses,
    "hints on large boards": lambda w: _on("hint", _boards(w, _practice, 20)),
    "records": lambda w: _look("record", _boards(w, _over, 8)),
    "help about everything": lambda w: _many("help move challenge signup show prefs rules " * 15),
    "unknown userids": lambda w: _many("blackbox challenge alice zzzyzzzyzzzyzzzyzzzy"),
    # Files.
    "a file of sixty wide moves": lambda w: _load([ALL_OVER.upper()] * 60),
    "a file of many moves": lambda w: _load(SMALL_STEPS * 150),
    "a file of many long moves": lambda w: _load((MARKED, UNMARKED) * 100),
    "a file of restarts": lambda w: _load(("A", "restart") * 150),
    "a file, fifty times": lambda w: _loads(_transcript(SMALL_STEPS * 150)),
    "a file in deep parts, fifty times": lambda w: _loads("x", depth=18, more=_fillers(18)),
    "a file that a digest asks for": lambda w: Heavy(
        "Re: x", "\n".join(["1: load"] * 499), w.player_address("alice")),
    "a saved game of restarts": lambda w: _saved_game(("S", "RESTART") * 650),
    "a saved game of locked columns": lambda w: _saved_game(
        [f"LC{1 + n % 26}" for n in range(1_900)]),
    "a saved game of checks": lambda w: _saved_game(
        ["T1,1", "T2,1", "T3,1", *(["R", "T3,1", "T4,1", "T4,1", "T3,1"] * 30)]),
    "a file of restarts on a large board": lambda w: _load(("solve", "restart") * 140),
    "a file of guesses": lambda w: _load([MARKED[:159], *["?"] * 280]),
    "files of boards of guesses": lambda w: _on("save", _boards(
        w, lambda v: _guessed(v, 70), 3)),
    "files of full boards": lambda w: _on("save", _boards(
        w, lambda v: _practice(v, *_free(50, (MARKED, UNMARKED))))),
    # New boards, letters to others, and the rest.
    "solos of the largest size": lambda w: _many("blackbox solo alice -size=26x26 -atoms=300"),
    "races of eight": lambda w: _many(
        f"blackbox challenge alice {' '.join(PLAYERS[2:])} -race -size=26x26 -atoms=300"),
    "rematches": lambda w: _on("rematch", _boards(w, _over, 8)),
    "seeks": lambda w: _many(f"blackbox seek {ME} 8 -race -size=26x26 -atoms=300"),
    "messages to everybody": lambda w: _many(f"message {ME} {' '.join(PLAYERS[1:])}"),
    "a mebibyte of words": lambda w: Heavy(
        f"blackbox chat {_large(w)} {ME}", ("words and words " * 50 + "\n") * 1_250),
    "preferences": lambda w: _many(f"prefs {ME} tz=Europe/Berlin digest=daily@07:30"),
    "exports": lambda w: _many(f"export {ME}"),
    "a reply of one long move": lambda w: _reply(w, LONG_MOVE),
    "a reply of five long lines": lambda w: _reply(w, "\n".join([LONG_MOVE] * 5)),
    "a digest answered, fifty large boards": lambda w: _digest(w, LONG_MOVE, _large),
    "a digest answered, fifty small boards": lambda w: _digest(w, "g", _small),
}  # fmt: skip
"""The mails by name. Boards of one mail also exist for the following ones."""


def cost_of(w: World, name: str) -> Cost:
    """Return the cost of one of `HEAVY`."""
    w.tidy()
    heavy_mail = HEAVY[name](w)
    return w.post(
        address("alice"),
        mail(heavy_mail.subject, heavy_mail.body, parts=heavy_mail.parts),
        heavy_mail.to,
    )
