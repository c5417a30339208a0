"""Every dialog in this folder on SQLite; dialogs that say so run on PostgreSQL, too.

The example of each kind of refusal is sent back as a reply: it works, and uses only what the player
has written. Of kinds that several dialogs meet, one tries it (`TRIED_IN`).

Most dialogs run in the test's own thread; those of `THROUGH_SOCKETS` run from SMTP to a Maildir.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from blackbox_alone import every_game
from dialog_play import DialogFailed, Play
from dialog_reader import ALSO, Dialog, read_dialog
from examples_tried import Trying, check
from indoors import HandedIn, indoors
from migrated import migrated
from running import Correspondence, Letter, remember_password, start

from pbmserv.engine import registry

DIALOGS = sorted(Path(__file__).parent.glob("*.dialog"))

THROUGH_SOCKETS = {
    *("house", "odd-characters", "robots", "same-mail-twice", "save", "signup"),
    *("strange-addresses", "unreachable", "whole-game"),
}
"""Dialogs about refusals of SMTP, octets, copies, reports, attachments and the bots' thread, and a
game from the signup to its end."""

TRIED_IN = {
    "backgammon.no-option": "duplicate-dice-refused",
    "bad-credentials": "forgot",
    "bad-time": "options-wrong",
    "blackbox.not-a-move": "moves-among-words",
    "blackbox.option-race": "grades",
    "blackbox.option-repeated": "options-wrong",
    "blackbox.option-unknown": "options-wrong",
    "blackbox.option-value": "options-wrong",
    "blackbox.parameters-form": "scores",
    "blackbox.two-probes": "moves-among-words",
    "challenge-not-you": "house-refused",
    "event-boxes": "duplicate-refused",
    "event-boxes-drawn": "duplicate-refused",
    "event-entries": "duplicate-refused",
    "event-newcomer": "event",
    "event-option-unfit": "duplicate-refused",
    "event-until": "event",
    "no-boards": "forgot",
    "no-such-board": "not-your-turn",
    "no-such-player": "replay-wrong",
    "no-such-turn": "number-of-a-move",
    "not-a-command": "newcomer",
    "not-over": "rematch",
    "not-raced": "practice",
    "not-your-board": "not-your-turn",
    "only-one-player": "solo",
    "option-sign": "options-without-sign",
    "stands-alone": "people-write",
    "time-long": "clock-wrong",
    "tray-which": "report-answered",
    "unknown-command": "unknown-command",
    "unsubscribe-what": "seeking",
    "which-move": "people-write",
}
"""Kinds of refusals that several dialogs meet, each with the dialog that tries its example."""

WITH_FORMS = {"challenge-answered-in-prose", "signup-not-clearly-yes"}
"""Dialogs whose examples are forms to fill in, or answers."""


def _is_also_on_postgresql(path: Path) -> bool:
    return f"\n{ALSO}\n" in path.read_text("utf-8")


PLAYS = [("sqlite", path) for path in DIALOGS]
PLAYS += [("postgresql", path) for path in DIALOGS if _is_also_on_postgresql(path)]


class Beginnings:
    """Stopped servers with the boards that dialogs begin with: most begin with the same one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._prepared: dict[object, tuple[Path, dict[str, Letter]]] = {}

    def copy(self, dialog: Dialog, folder: Path) -> dict[str, Letter]:
        """Copy a server with the dialog's first boards; return its players' newest letters."""
        settings = tuple(dialog.settings.items())
        key = (dialog.seated, dialog.games, settings, dialog.has_every_game)
        if key not in self._prepared:
            self._prepared[key] = self._make(dialog, self._folder / f"{len(self._prepared)}")
        prepared_folder, newest = self._prepared[key]
        shutil.copytree(prepared_folder, folder, dirs_exist_ok=True)
        return newest

    def _make(self, dialog: Dialog, folder: Path) -> tuple[Path, dict[str, Letter]]:
        folder.mkdir()
        url = migrated(folder / "pbmserv.sqlite3")
        with _server(dialog, url, folder) as server:
            newest = Play(dialog, server).begin()
            return folder, {to: Letter(letter.id, letter.raw) for to, letter in newest.items()}


@pytest.fixture(scope="module")
def beginnings(tmp_path_factory: pytest.TempPathFactory) -> Beginnings:
    return Beginnings(tmp_path_factory.mktemp("beginnings"))


@pytest.mark.parametrize(
    ("database_url", "path"),
    PLAYS,
    indirect=["database_url"],
    ids=[f"{kind}-{path.stem}" for kind, path in PLAYS],
)
def test_dialog(
    path: Path,
    database_url: str,
    tmp_path: Path,
    beginnings: Beginnings,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dialog = read_dialog(path)
    if dialog.has_every_game:
        monkeypatch.setattr(registry, "announced", every_game)
    failure = ""
    is_copied = dialog.games and "sqlite" in database_url and path.stem not in THROUGH_SOCKETS
    newest = beginnings.copy(dialog, tmp_path) if is_copied else None
    with _server(dialog, database_url, tmp_path) as server:
        for userid, password in dialog.seated if is_copied else ():
            remember_password(server.server, userid, password)
        try:
            Play(dialog, server).play(newest)
        except DialogFailed as failed:
            failure = str(failed)
    if failure:
        pytest.fail(failure, pytrace=False)
    if isinstance(server, Trying):
        assert server.met or path.stem in WITH_FORMS
        assert server.met >= {code for code, stem in TRIED_IN.items() if stem == path.stem}
        for tried in server.tried:
            check(tried)


@contextmanager
def _server(dialog: Dialog, database_url: str, folder: Path) -> Iterator[Correspondence]:
    if dialog.path.stem in THROUGH_SOCKETS:
        with start(folder, database_url, web="", **dialog.settings) as server:
            yield server
    else:
        # The default of a server.
        settings = {"signup": "confirm", **dialog.settings}
        with indoors(folder, database_url, **settings) as handed:
            if handed.server.database.is_sqlite and _has_examples(dialog.path):
                stem = dialog.path.stem
                elsewhere = {code for code, tries in TRIED_IN.items() if tries != stem}
                yield Trying(handed, folder, settings, elsewhere)
            else:
                yield HandedIn(handed)


def _has_examples(path: Path) -> bool:
    return "Try this" in path.read_text("utf-8")


def test_the_dialogs_that_are_named_here_exist() -> None:
    assert {path.stem for path in DIALOGS} >= THROUGH_SOCKETS
