"""Every dialog in this folder, played on each kind of database.

Most are handed to the server in the test's own thread, since what they are about begins behind the
door; those of `THROUGH_SOCKETS` go all the way, from SMTP to a Maildir.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from dialog_play import DialogFailed, Play
from dialog_reader import Dialog, read_dialog
from indoors import HandedIn, indoors
from running import Correspondence, start

DIALOGS = sorted(Path(__file__).parent.glob("*.dialog"))

THROUGH_SOCKETS = {
    *("house", "odd-characters", "robots", "same-mail-twice", "save", "signup"),
    *("strange-addresses", "unreachable", "whole-game"),
}
"""What may differ there: refusals of SMTP, octets, copies, reports, attachments, the bots' thread;
and a game from the signup to its end."""


@pytest.mark.parametrize("path", DIALOGS, ids=lambda path: path.stem)
def test_dialog(path: Path, database_url: str, tmp_path: Path) -> None:
    dialog = read_dialog(path)
    parted = ""
    with _server(dialog, database_url, tmp_path) as server:
        try:
            Play(dialog, server).play()
        except DialogFailed as failed:
            parted = str(failed)
    if parted:
        pytest.fail(parted, pytrace=False)


@contextmanager
def _server(dialog: Dialog, database_url: str, folder: Path) -> Iterator[Correspondence]:
    if dialog.path.stem in THROUGH_SOCKETS:
        with start(database_url, folder, web="", **dialog.settings) as server:
            yield server
    else:
        # As a server is when nothing is set.
        settings = {"signup": "confirm", **dialog.settings}
        with indoors(folder, database_url, **settings) as handed:
            yield HandedIn(handed)


def test_those_through_sockets_are_there() -> None:
    assert {path.stem for path in DIALOGS} >= THROUGH_SOCKETS
