"""``pbmserv blackbox study``: statistics of all layouts of a board.

With numba (the extra ``house``), 7x7 with 4 atoms takes a minute and a half. Without numba, plain
Python computes the statistics that do not take too long, and the others are left out.
"""

from __future__ import annotations

from math import comb

from pbmserv.cli.blackbox.arguments import Params
from pbmserv.cli.blackbox.refusals import Unusable, politely
from pbmserv.cli.blackbox.study_lines import shown_steps
from pbmserv.cli.output import say
from pbmserv.extras import why_missing

MOST = 10_000_000
"""The most layouts of a board to study; 8x8 with 5 atoms has 7,624,512."""

MOST_PLAIN = 250_000
"""The most layouts for plain Python; 7x7 with 4 atoms takes a minute."""


def study(params: Params = "7x7/4") -> None:
    """Look at all layouts of a board, and print what a solver can expect.

    It counts layouts, those that rays cannot tell apart, and what probes tell; how
    many probes and points a greedy player needs, one who tries every port, and
    players who leave much to chance; when to guess, and which boxes are the
    hardest.

    Example: pbmserv blackbox study 5x5/3
    """
    with politely("study"):
        from pbmserv.games.blackbox.game_ids import read_parameters
        from pbmserv.games.blackbox.options import Options

        kind = read_parameters(params)
        if kind.least != kind.most or not kind.least:
            raise Unusable("name one number of atoms. Example: 7x7/4")
        layouts = comb(kind.width * kind.height, kind.least)
        if layouts > MOST:
            raise Unusable(f"{params} has {layouts:,} layouts; {MOST:,} are the most.")
        missing = why_missing("numba")
        if missing and layouts > MOST_PLAIN:
            raise Unusable(f"{layouts:,} layouts are too many for plain Python: {missing}")
        options = Options.of(kind)
        with shown_steps(3 if missing else 9) as steps:
            if missing:
                from pbmserv.cli.blackbox.study_plain import plain_lines

                lines = list(plain_lines(options, steps))
            else:
                steps.begin("compiling")
                from pbmserv.cli.blackbox.study_numba import compiled_lines

                lines = list(compiled_lines(options, steps))
        for name, value in lines:
            say(f"{name:<60} {value}")
        if missing:
            say(f"The rest is left out: {missing}")
