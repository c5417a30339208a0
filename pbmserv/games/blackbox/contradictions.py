"""Rays that contradict markers: their results differ from those among the atoms."""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from string import ascii_letters

from pbmserv.engine.types import Value
from pbmserv.games.blackbox.geometry import Geometry
from pbmserv.games.blackbox.rays import (
    HIT,
    HIT_MARK,
    REFLECTION_MARK,
    exit_of,
    kind_of,
    spectrum,
)
from pbmserv.games.blackbox.seeded_numbers import SeededNumbers

_LASERS = {HIT_MARK: 0x2000, REFLECTION_MARK: 0x1000}
_BALL, _LOCK = 3, 4


def differing_ports(board: Geometry, atoms: Collection[int], markers: Collection[int]) -> list[int]:
    """Return the ports whose results differ between markers and atoms."""
    real, guessed = spectrum(board, frozenset(atoms)), spectrum(board, frozenset(markers))
    return [port for port in range(len(real)) if real[port] != guessed[port]]


def two_results(board: Geometry, port: int, real: int, guessed: int) -> dict[str, Value]:
    """Return the values of a note on a ray's result and its result among the markers.

    Args:
        board: the board.
        port: the port where the ray enters.
        real: the result; see `rays.trace`.
        guessed: the result among the markers.
    """
    return {
        "port": board.ports[port],
        "result": kind_of(port, real),
        "exit": exit_of(board, port, real),
        "guessed_result": kind_of(port, guessed),
        "guessed_exit": exit_of(board, port, guessed),
    }


def ends_of(port: int, exit_port: int) -> frozenset[int]:
    """Return the ports that a ray marks.

    Args:
        port: the port where it enters.
        exit_port: its result; see `rays.trace`.
    """
    return frozenset({port, port if exit_port == HIT else exit_port})


def beam_shown(
    board: Geometry,
    marks: Sequence[str],
    markers: Collection[int],
    locked: Collection[int],
    ports: Collection[int],
) -> int:
    """Return the port that Simon Tatham's program shows to prove that the markers are wrong.

    It is drawn from the SHA-1 of the ``grid`` in ``blackbox.c``, which has 32 bits for each square,
    row by row. The lasers are around the arena, and each marker is a ball.

    Args:
        board: the board.
        marks: the marks of all ports.
        markers: the cells with a marker.
        locked: the cells with a lock.
        ports: the ports to choose from.
    """
    width = board.width + 2
    grid = [0] * (width * (board.height + 2))
    for (column, row), mark in zip(board.port_places, marks, strict=True):
        detour = ascii_letters.find(mark) + 1 if mark else 0
        grid[row * width + column] = _LASERS.get(mark, detour)
    for cell in board.cells:
        row, column = divmod(cell, board.width)
        ball, lock = _BALL * (cell in markers), _LOCK * (cell in locked)
        grid[(row + 1) * width + column + 1] = ball | lock
    numbers = SeededNumbers(struct.pack(f"<{len(grid)}I", *grid))
    return [port for port in board.clockwise if port in ports][numbers.below(len(ports))]
