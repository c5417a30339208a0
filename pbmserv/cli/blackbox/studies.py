"""``pbmserv blackbox study``: statistics of all layouts of a board.

It needs numba (the extra ``house``); 7x7 with 4 atoms takes a minute and a half.
"""

from __future__ import annotations

from math import comb

from pbmserv.cli.blackbox.arguments import Params
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.cli.output import say
from pbmserv.extras import require

MOST = 10_000_000
"""The most layouts of a board to study; 8x8 with 5 atoms has 7,624,512."""


def study(params: Params = "7x7/4") -> None:
    """Look at all layouts of a board, and print what a solver can expect.

    It counts layouts, those that rays cannot tell apart, and what probes tell; how
    many probes and points a greedy player needs, one who tries every port, and
    players who leave much to chance; when to guess, and which boxes are the
    hardest.

    Example: pbmserv blackbox study 5x5/3
    """
    with politely("study"):
        require("numba")
        from rich.console import Console

        from pbmserv.games.blackbox.game_ids import read_parameters
        from pbmserv.games.blackbox.options import Options

        kind = read_parameters(params)
        if kind.least != kind.most or not kind.least:
            raise Unusable("name one number of atoms. Example: 7x7/4")
        layouts = comb(kind.width * kind.height, kind.least)
        if layouts > MOST:
            raise Unusable(f"{params} has {layouts:,} layouts; {MOST:,} are the most.")
        options = Options.of(kind)
        with Console(stderr=True).status("compiling") as status:
            from pbmserv.cli.blackbox.study_numba import study_lines

            lines = list(study_lines(options, status.update))
        for name, value in lines:
            say(f"{name:<60} {value}")
