"""Mails that ask for as much work as a mail can: what each of them takes, in processor time.

`python -m benchmarks.heavy` prints a line for each; its arguments are parts of names.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.heavy_world import PASSWORD, Cost, World, address, mail, world
from benchmarks.table import Line, at_most

MOST_S = 0.5
"""Seconds of processor time that any mail may take, from its octets to its 250."""

LARGEST = ("-size=26x26", "-atoms=40-400")
WIDE = "!a1-z26"
ME = f"alice {PASSWORD}"

Build = Callable[[World], tuple[str, str, str]]
"""Makes what a mail needs; its subject, its body, and where it goes ("" = the server's address)."""


def _hidden(*, atoms: int = 40) -> list[tuple[int, str, bool]]:
    """Both players of one of the largest boards have hidden their atoms, far from the ports."""
    cells = [f"{'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[2 + n % 22]}{3 + n // 22}" for n in range(atoms)]
    return [(seat, ",".join(cells), False) for seat in range(2)]


def _free(count: int, text: tuple[str, ...], seats: int = 1) -> list[tuple[int, str, bool]]:
    return [(n % seats, text[n // seats % len(text)], True) for n in range(count)]


def _many(command: str, count: int = 50) -> tuple[str, str, str]:
    return "multiple", "\n".join([command] * count), ""


def _two(w: World, *more: tuple[int, str, bool], atoms: int = 40) -> int:
    return w.board(LARGEST, ("alice", "bob"), [*_hidden(atoms=atoms), *more])


def _race(w: World, *more: tuple[int, str, bool], seats: int = 8, options: tuple[str, ...] = ()) -> int:
    names = ("alice", *(f"racer{n}" for n in range(seats - 1)))
    box = ("-race", "-size=26x26", "-atoms=40", "-seed=heavy")
    return w.board((*box, *options), names, more)


def _wide(count: int) -> str:
    """As many seals of the whole board as a move has room for."""
    return ",".join([WIDE] * count)


def _cells(count: int, sign: str = "+") -> str:
    return ",".join(f"{sign}{'abcdefghijklmnopqrstuvwxyz'[n % 26]}{1 + n // 26}" for n in range(count))


def _tall() -> str:
    """A move of a thousand characters that seals and opens rows, columns and areas."""
    return ",".join(f"!{c}" for c in "abcdefghijklmnopqrstuvwxyz" * 13)[:990].rpartition(",")[0]


def _alternating(w: World) -> str:
    return "!a1-z26,+a1," * 80


def _boards(w: World, count: int, make: Callable[[World], int]) -> list[int]:
    return [make(w) for _ in range(count)]


def _list(command: str, numbers: list[int], rest: str = "") -> tuple[str, str, str]:
    return "multiple", "\n".join(f"{command} {n} {ME} {rest}".rstrip() for n in numbers), ""


def _transcript(moves: list[str], box: str = "w26h26m40M40#heavy") -> str:
    head = f"pbmserv transcript 1\ngame: blackbox\nbox: {box}\noptions: -practice -guesses=99 -fair -clue\nseconds: 0\n\n"
    return head + "\n".join(f"{n}. {m}" for n, m in enumerate(moves, 1)) + "\nend\n"


def _long_game(w: World, plies: int, text: tuple[str, ...]) -> int:
    return _two(w, *_free(plies, text, 2))


def _queue(w: World) -> str:
    fact = "#"
    inner = "c"
    for port in "dfhjlnprt"[:9]:
        inner = f"if {fact}: {port} else ({inner})"
    return "g " + inner


def _conditions(terms: int) -> str:
    return "g if " + " or ".join(["a=# and b=% "] * terms) + ": c else d"


def _cheap_end(w: World) -> int:
    """A race of one that one wrong guess ends."""
    return w.board(("-race", "-size=2x2", "-atoms=1", "-seed=x"), ("alice",), [])


def _show_names(w: World, names: int) -> str:
    return " ".join(["alice", "bob", *(f"racer{n}" for n in range(7))][:names])


def _big_words(w: World) -> tuple[str, str, str]:
    b = _two(w)
    return f"blackbox chat {b} {ME}", ("words and words " * 50 + "\n") * 1250, ""


def _tray(w: World, text: str, count: int = 50, make: Callable[[World], int] = _two) -> tuple[str, str, str]:
    numbers = _boards(w, count, make)
    return "Re: x", "\n".join(f"{n}: {text}" for n in numbers), w.player_address("alice")


def _deep(w: World) -> tuple[str, str, str]:
    return "RAW", _mime(w), ""


def _mime(w: World) -> str:
    parts = "".join(
        f"--b{n}\nContent-Type: multipart/mixed; boundary=b{n + 1}\n\n" for n in range(18)
    )
    text = "\n".join([f"blackbox load {ME}"] * 50)
    filler = "--b18\nContent-Type: text/plain; name=x\nContent-Disposition: attachment\n\n" + "x\n" * 4000 + "\n"
    return (
        "Content-Type: multipart/mixed; boundary=b0\n\n" + parts
        + f"--b18\nContent-Type: text/plain\n\n{text}\n\n" + filler * 70 + "--b18--\n"
    )


def _finished(w: World) -> int:
    n = 40
    plies = [*_hidden(), *_free(n, (_cells(190).upper(), _cells(190, "/").upper()), 2), (0, "resign", False)]
    return w.board(LARGEST, ("alice", "bob"), plies)


HEAVY: Mapping[str, Build] = {
    "an ordinary move": lambda w: (f"blackbox move {w.board((), ('alice', 'bob'), [(0, 'A1,B2,C3,D4', False), (1, 'A1,B2,C3,D4', False)])} {ME} g", "", ""),
    "moves that seal all, over and over": lambda w: _list("blackbox move", [_two(w)] * 50, _wide(120)),
    "moves that seal all, in a race of eight": lambda w: _list("blackbox move", [_race(w)] * 50, _wide(120)),
    "moves that seal and mark in turns": lambda w: _list("blackbox move", [_two(w)] * 50, _alternating(w)[:980].rstrip(",")),
    "moves that mark many cells": lambda w: _list("blackbox move", [_two(w)] * 50, _cells(230)),
    "moves that mark many cells, fifty boards": lambda w: _list("blackbox move", _boards(w, 50, _two), _cells(230)),
    "moves of rows and columns": lambda w: _list("blackbox move", [_two(w)] * 50, _tall()),
    "moves to fifty small boards": lambda w: _list("blackbox move", _boards(w, 50, lambda v: v.board((), ("alice", "bob"), [(0, "A1,B2,C3,D4", False), (1, "A1,B2,C3,D4", False)])), "g"),
    "refused moves on a long board": lambda w: _list("blackbox move", [_long_game(w, 2000, ("+A1", "/A1"))] * 50, "zz"),
    "a look at a board of 10,000 plies": lambda w: (f"blackbox show {_long_game(w, 10_000, ('+A1', '/A1'))}", "", ""),
    "moves at boards of 2,000 plies": lambda w: _list("blackbox move", _boards(w, 10, lambda v: _long_game(v, 2000, ("+A1", "/A1"))), "+b2"),
    "looks at boards of long moves": lambda w: _list("blackbox showas", [], "") if False else ("multiple", "\n".join(f"blackbox show {n}" for n in _boards(w, 20, lambda v: _long_game(v, 100, (_cells(190).upper(), _cells(190, "/").upper())))), ""),
    "games with 60 cold boards": lambda w: (f"blackbox games alice", "" if _boards(w, 60, lambda v: _long_game(v, 100, ("+A1", "/A1"))) else "", ""),
    "previews by a stranger": lambda w: _many(f"blackbox preview {_two(w)} {_wide(120)}"),
    "previews by a stranger, many cells": lambda w: _many(f"blackbox preview {_two(w)} {_cells(230)}"),
    "previews of a race": lambda w: _many(f"blackbox preview {_race(w)} {_cells(230)}"),
    "previews on fifty boards": lambda w: ("multiple", "\n".join(f"blackbox preview {n} {_cells(230)}" for n in _boards(w, 50, _two)), ""),
    "show, fifty boards": lambda w: ("multiple", "\n".join(f"blackbox show {n}" for n in _boards(w, 50, _two)), ""),
    "show, five hundred boards": lambda w: ("multiple", "\n".join("blackbox show " + " ".join(str(n)for n in b) for b in [_boards(w, 10, _two) for _ in range(50)]), ""),
    "show, five hundred times a race": lambda w: ("multiple", "\n".join("blackbox show " + " ".join(f"{n}#{t}" for t in range(200)) for n in [_race(w)]*50), ""),
    "show all of many": lambda w: ("multiple", "\n".join([f"all show {_show_names(w, 9)} all"] * 50) if _boards(w, 10, _race) else "", ""),
    "showas all": lambda w: ("multiple", "\n".join([f"blackbox showas {ME} all"] * 50) if _boards(w, 10, _race) else "", ""),
    "show next": lambda w: ("multiple", "\n".join([f"all show {_show_names(w, 9)} next"] * 50), ""),
    "games all": lambda w: _many(f"all games {' '.join(['alice'] * 9)} all"),
    "games next": lambda w: _many(f"all games {_show_names(w, 9)} next"),
    "history of many": lambda w: _many(f"all history {' '.join(['alice', 'bob'] * 150)}"),
    "ratings of many": lambda w: _many(f"blackbox ratings {' '.join(['alice', 'bob'] * 150)}"),
    "standings": lambda w: _many("all standings"),
    "record": lambda w: ("multiple", "\n".join(f"blackbox record {n}" for n in _boards(w, 50, _finished)), ""),
    "help, everything": lambda w: _many("help move challenge signup show prefs rules blackbox commands replies time " * 15),
    "unknown commands": lambda w: _many("blackbox mvoeeeee 12 alice secret g"),
    "unknown userids": lambda w: _many("blackbox challenge alice " + "zzzyzzzyzzzyzzzyzzzy"),
    "undo and redo": lambda w: ("multiple", "\n".join(f"blackbox {c} {n} {ME}" for n in [_race(w, *_free(1000, ("+A1", "/A1")), *_free(500, ("undo",)), seats=1, options=("-practice",))] for c in ("undo", "redo") * 25), ""),
    "undo after a thousand undos": lambda w: ("multiple", "\n".join(f"blackbox undo {n} {ME}" for n in [_race(w, *_free(1100, ("+A1", "/A1")), *_free(1000, ("undo",)), seats=1, options=("-practice",))] for _ in range(50)), ""),
    "queues, nested": lambda w: _list("blackbox queue", [_two(w)] * 50, _queue(w)),
    "queues of many conditions": lambda w: _list("blackbox queue", [_two(w, (0, "A", False))] * 50, _conditions(40)),
    "queues of many moves": lambda w: _list("blackbox queue", [_two(w, (0, "A", False))] * 50, "; ".join("+a1 +b2".split()[:1] * 49)),
    "queues of wide moves": lambda w: _list("blackbox queue", [_two(w, (0, "A", False))] * 50, "; ".join([_wide(6)] * 18)),
    "queues that play twenty moves": lambda w: _list("blackbox queue", _boards(w, 50, lambda v: _race(v, seats=1)), "; ".join("abcdefghijklmnopqrst")),
    "submits": lambda w: _list("blackbox submit", [_two(w)] * 50, _cells(230)),
    "checks": lambda w: _list("blackbox check", [_two(w, (0, _cells(300).upper(), True))] * 50),
    "checks with ways": lambda w: _list("blackbox check", [_two(w, (0, _cells(300).upper(), True))] * 50, "a"),
    "guesses with clues": lambda w: _list("blackbox move", [_race(w, (0, _cells(40).upper(), True), seats=1, options=("-clue", "-guesses=99", "-practice"))] * 50, "?"),
    "load of 60 wide moves": lambda w: (f"blackbox load {ME}", _transcript([",".join(["!A1-Z26"] * 120)] * 60), ""),
    "load of 300 moves": lambda w: (f"blackbox load {ME}", _transcript(["+A1", "/A1"] * 150), ""),
    "load of 300 long moves": lambda w: (f"blackbox load {ME}", _transcript([_cells(190).upper(), _cells(190, "/").upper()] * 150), ""),
    "load of 300 restarts": lambda w: (f"blackbox load {ME}", _transcript(["A", "restart"] * 150), ""),
    "load fifty times, nested parts": _deep,
    "load fifty times": lambda w: _raw_load(50),
    "load in 499 lines of a digest": lambda w: ("Re: x", "\n".join(["1: load"] * 499), w.player_address("alice")),
    "save": lambda w: _list("blackbox save", _boards(w, 50, lambda v: _race(v, *_free(300, (_cells(190).upper(), _cells(190, "/").upper())), seats=1))),
    "replays": lambda w: _list("blackbox replay", []) if False else ("multiple", "\n".join(f"blackbox replay {n} alice" for n in _boards(w, 50, _cheap_end)), ""),
    "solos of the largest size": lambda w: _many("blackbox solo alice -size=26x26 -atoms=300", 50),
    "solo, id of the largest size": lambda w: _many("blackbox solo alice -id=w26h26m400M400#heavy", 50),
    "challenges of eight": lambda w: _many("blackbox challenge alice " + " ".join(f"racer{n}" for n in range(7)) + " -race -size=26x26 -atoms=300"),
    "seeks": lambda w: _many(f"blackbox seek {ME} 8 -race -size=26x26 -atoms=300"),
    "messages": lambda w: _many(f"message {ME} bob " + " ".join(f"racer{n}" for n in range(7))),
    "a mebibyte of words": _big_words,
    "scores": lambda w: _many("blackbox scores 26x26/40"),
    "week": lambda w: _many("blackbox week"),
    "prefs": lambda w: _many(f"prefs {ME} tz=Europe/Berlin digest=daily@07:30 remind=2d,6h accept=ask"),
    "away": lambda w: ("multiple", "\n".join([f"away {ME} until 2026-12-24", f"back {ME}"] * 25), ""),
    "exports": lambda w: _many(f"export {ME}"),
    "rematch": lambda w: _list("blackbox rematch", _boards(w, 50, _finished)),
    "resign": lambda w: _list("blackbox resign", _boards(w, 50, lambda v: _race(v))),
    "subscribe": lambda w: _list("subscribe", _boards(w, 50, _two)),
    "digest reply, fifty lines": lambda w: _tray(w, _cells(230)),
    "digest reply, fifty small boards": lambda w: _tray(w, "g", make=lambda v: v.board((), ("alice", "bob"), [(0, "A1,B2,C3,D4", False), (1, "A1,B2,C3,D4", False)])),
    "reply with a long move": lambda w: ("Re: x", _cells(230), w.reply_address("alice", _two(w), 3)),
    "reply with five long lines": lambda w: ("Re: x", "\n".join([_cells(230)] * 5), w.reply_address("alice", _two(w), 3)),
    "a placement of four hundred atoms": lambda w: (f"blackbox move {w.board(LARGEST, ('alice', 'bob'), [])} {ME} " + _cells(400, ""), "", ""),
    "a solve in a race": lambda w: (f"blackbox solve {_race(w, seats=1)} {ME}", "", ""),
}  # fmt: skip


def _raw_load(count: int) -> tuple[str, str, str]:
    return "RAW", (
        "Content-Type: multipart/mixed; boundary=b\n\n--b\nContent-Type: text/plain\n\n"
        + "\n".join([f"blackbox load {ME}"] * count)
        + "\n\n--b\nContent-Type: text/plain; name=x.txt\nContent-Disposition: attachment; filename=x.txt\n\n"
        + _transcript(["+A1", "/A1"] * 150) + "\n--b--\n"
    ), ""


@dataclass(frozen=True, slots=True)
class Found:
    name: str
    cost: Cost


def _folded(text: str) -> str:
    return "\n".join(re.sub("(.{800,900}[, ])", "\\1\n ", line) if len(line) > 990 else line for line in text.split("\n"))


def run(w: World, name: str, number: int) -> Cost:
    """What one of them takes."""
    subject, body, to = HEAVY[name](w)
    raw = mail("alice", subject, _folded(body), number)
    if subject == "RAW":
        head, _, rest = mail("alice", "multiple", "", number).partition(b"\r\n\r\n")
        raw = head + b"\r\n" + body.replace("\n", "\r\n").encode()
    return w.post(address("alice"), raw, to)


def measure(names: list[str]) -> list[Found]:
    found = []
    with tempfile.TemporaryDirectory() as folder, world(Path(folder)) as w:
        w.sign_up("alice", "bob", *(f"racer{n}" for n in range(7)))
        run(w, "an ordinary move", 0)
        for number, name in enumerate(HEAVY, 1):
            if not names or any(part in name for part in names):
                try:
                    cost = run(w, name, number)
                except Exception as error:
                    print("FAILED", name, repr(error)[:200])
                    w.letters2() if False else None
                    continue
                found.append(Found(name, cost))
                print(f"{cost.taken:8.3f} {cost.letters:8.3f} {cost.made:3d} letters {cost.octets:8d} octets  {name}  {cost.reply[:40]}", flush=True)
    return found


if __name__ == "__main__":
    measure(sys.argv[1:])
