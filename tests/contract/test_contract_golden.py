"""Every registered game has golden transcripts, and still produces them word for word."""

from __future__ import annotations

from pathlib import Path

from contract_play import GAMES, folder
from contract_transcript import scripts, transcript
from rows import rows

from pbmserv.engine.registry import AnyGame

SCRIPTS = [(game, script) for game in GAMES for script in scripts(game)]


@rows("game", GAMES, ids=lambda game: game.info.key)
def test_a_golden_transcript_exists(game: AnyGame) -> None:
    assert scripts(game), f"{folder(game)} has no .moves file"


@rows(("game", "script"), SCRIPTS, ids=[f"{game.info.key} {s.stem}" for game, s in SCRIPTS])
def test_the_transcript_is_told_again(game: AnyGame, script: Path) -> None:
    assert transcript(game, script.read_text()) == script.with_suffix(".transcript").read_text()
