"""Every dialog in this folder on SQLite; dialogs that say so run on PostgreSQL, too.

The example of each refusal is sent back as a reply: it works, and uses only what the player has
written. Most dialogs run in the test's own thread; those of `THROUGH_SOCKETS` run from SMTP to a
Maildir.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from blackbox_alone import every_game
from dialog_play import DialogFailed, Play
from dialog_reader import ALSO, Dialog, read_dialog
from examples_tried import Trying, check
from indoors import HandedIn, indoors
from running import Correspondence, start

from pbmserv.engine import registry

DIALOGS = sorted(Path(__file__).parent.glob("*.dialog"))

THROUGH_SOCKETS = {
    *("house", "odd-characters", "robots", "same-mail-twice", "save", "signup"),
    *("strange-addresses", "unreachable", "whole-game"),
}
"""Dialogs about refusals of SMTP, octets, copies, reports, attachments and the bots' thread, and a
game from the signup to its end."""

WITH_FORMS = {"challenge-answered-in-prose", "signup-not-clearly-yes"}
"""Dialogs whose examples are forms to fill in, or answers."""


def _is_also_on_postgresql(path: Path) -> bool:
    return f"\n{ALSO}\n" in path.read_text("utf-8")


PLAYS = [("sqlite", path) for path in DIALOGS]
PLAYS += [("postgresql", path) for path in DIALOGS if _is_also_on_postgresql(path)]


@pytest.mark.parametrize(
    ("database_url", "path"),
    PLAYS,
    indirect=["database_url"],
    ids=[f"{kind}-{path.stem}" for kind, path in PLAYS],
)
def test_dialog(
    path: Path, database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dialog = read_dialog(path)
    if dialog.has_every_game:
        monkeypatch.setattr(registry, "announced", every_game)
    failure = ""
    with _server(dialog, database_url, tmp_path) as server:
        try:
            Play(dialog, server).play()
        except DialogFailed as failed:
            failure = str(failed)
    if failure:
        pytest.fail(failure, pytrace=False)
    if isinstance(server, Trying):
        assert server.tried or path.stem in WITH_FORMS
        for tried in server.tried:
            check(tried)


@contextmanager
def _server(dialog: Dialog, database_url: str, folder: Path) -> Iterator[Correspondence]:
    if dialog.path.stem in THROUGH_SOCKETS:
        with start(database_url, folder, web="", **dialog.settings) as server:
            yield server
    else:
        # The default of a server.
        settings = {"signup": "confirm", **dialog.settings}
        with indoors(folder, database_url, **settings) as handed:
            if handed.server.database.is_sqlite and _has_examples(dialog.path):
                yield Trying(handed, folder, settings)
            else:
                yield HandedIn(handed)


def _has_examples(path: Path) -> bool:
    return "Try this" in path.read_text("utf-8")


def test_the_dialogs_that_need_sockets_exist() -> None:
    assert {path.stem for path in DIALOGS} >= THROUGH_SOCKETS
