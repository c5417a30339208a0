"""``pbmserv blackbox check``: which marks the markers explain."""

from __future__ import annotations

import typer

from pbmserv.cli.blackbox.ending import politely
from pbmserv.cli.blackbox.evidence import Markers, Marks, Which, marks_seen, subject
from pbmserv.cli.output import say


def check(which: Which, marks: Marks = "", markers: Markers = "") -> None:
    """Say which marks these markers explain: every marked port is fired through the markers.

    For a box that is played elsewhere write the results down: --marks "A:# B:% C:14". Exit code 1
    means that some mark is not explained.

    Example: pbmserv blackbox check 7x7 --marks "A:1 B:# C:#" --markers "G1 B2 B4 F5"
    """
    with politely("check"):
        from pbmserv.engine.types import Seat
        from pbmserv.games.blackbox import GAME
        from pbmserv.games.blackbox.checking import check_markers
        from pbmserv.render.letters import note_sentences

        about = subject(which)
        view = about.view(marks_seen(about, marks), markers, "", opened=False)
        notes = check_markers(view)
        for line in note_sentences(GAME, notes, ["you"], Seat(0)):
            say(line)
        if any(note.kind == "check-wrong" for note in notes):
            raise typer.Exit(1)
