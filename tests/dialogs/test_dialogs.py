"""Every dialog in this folder, played on each kind of database."""

from __future__ import annotations

from pathlib import Path

import pytest
from dialog_play import DialogFailed, Play
from dialog_reader import read_dialog
from running import start

DIALOGS = sorted(Path(__file__).parent.glob("*.dialog"))


@pytest.mark.parametrize("path", DIALOGS, ids=lambda path: path.stem)
def test_dialog(path: Path, database_url: str, tmp_path: Path) -> None:
    dialog = read_dialog(path)
    parted = ""
    with start(database_url, tmp_path, web="", **dialog.settings) as server:
        try:
            Play(dialog, server).play()
        except DialogFailed as failed:
            parted = str(failed)
    if parted:
        pytest.fail(parted, pytrace=False)
