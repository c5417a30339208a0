"""What stands beside the board: facts about the game, and what happened last."""

from __future__ import annotations

from collections.abc import Sequence

from pbmserv.engine.types import Note
from pbmserv.games.blackbox.cli.terminal.board import Pointing
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.options import MOST_GUESSES
from pbmserv.games.blackbox.practice import Practice, Scoring
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.views import BoxView


def facts(practice: Practice, seconds: int) -> str:
    """The state of the game in a few lines."""
    options, box = practice.options, practice.view.boxes[0]
    lines = [
        f"{options.width}x{options.height}, {_atoms(options.atoms)}",
        "",
        f"Markers  {_markers(len(box.markers), options.least, options.most)}",
        f"Guesses  {_guesses(box.guesses_left)}",
        f"Ports    {sum(map(bool, box.marks))} of {len(box.marks)} show a mark",
        f"Time     {seconds // 60}:{seconds % 60:02}",
    ]
    if practice.scoring is not Scoring.PRACTICE:
        lines.append(f"Score    {practice.score(seconds).total} ({practice.scoring})")
    return "\n".join(lines)


def test_ray(box: BoxView, port: int, found: int) -> str:
    """What a ray into a fired port does among the markers, beside what the mark there says."""
    label, ports = box.board.ports[port], box.board.ports
    told = box.result(port)
    mine = "#" if found == HIT else "%" if found == port else ports[found]
    went = {"#": "is absorbed", "%": "comes back"}
    was = {"#": "it was absorbed", "%": "it came back"}
    said = f"Through your markers a ray into {label} {went.get(mine, f'comes out at {mine}')}"
    if mine == told:
        return f"{said}, as it did."
    return f"{said}, but {was.get(told, f'it came out at {told}')}."


def pointed_out(board: Geometry, notes: Sequence[Note]) -> Pointing:
    """What the notes of an opened box, or of a check, point at."""
    wrong: set[str] = set()
    ends: set[str] = set()
    for note in notes:
        ports = note.values.get("ports", ())
        if note.kind == "contradicted" and isinstance(ports, tuple):
            wrong.update(ports)
        elif note.kind == "check-wrong":
            wrong.add(str(note.values["port"]))
        elif note.kind == "distinguishing":
            ends.update((str(note.values["port"]), str(note.values["exit"])))
    return Pointing(ports=_numbers(board, ends), wrong=_numbers(board, wrong))


def _numbers(board: Geometry, labels: set[str]) -> frozenset[int]:
    return frozenset(port for port, label in enumerate(board.ports) if label in labels)


def _atoms(count: str) -> str:
    if "-" in count:
        return f"{count.replace('-', ' to ')} atoms"
    return f"{count} atom{'' if count == '1' else 's'}"


def _markers(have: int, least: int, most: int) -> str:
    if have < least:
        return f"{have}, {least - have} missing"
    return f"{have}, {have - most} too many" if have > most else f"{have}, ready to guess"


def _guesses(left: int) -> str:
    return "as many as you like" if left > MOST_GUESSES // 2 else f"{left} left"
