"""A game in a package of its own keeps the contract with files of its own."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import import_module, invalidate_caches
from pathlib import Path
from shutil import copytree
from textwrap import dedent

import pytest
from contract_play import folder, hook
from contract_transcript import scripts, transcript
from heaps import TEMPLATES

from pbmserv.engine.registry import AnyGame
from pbmserv.views.environment import environment

GAME = '''
    """Heaps with notes."""

    from dataclasses import replace

    from heaps import Heaps

    from pbmserv.engine.types import Move, Note, Step


    class Tiny(Heaps):
        info = replace(Heaps.info, key="tiny")

        def parse(self, view, text):
            return Move("note", free=True) if text == "note" else super().parse(view, text)

        def apply(self, state, seat, move, rng):
            if not move.free:
                return super().apply(state, seat, move, rng)
            note = Note("did", seat, frozenset({seat}), {"what": "note"})
            return Step(state, {None: ""}, (note,))


    GAME = Tiny()
'''


@pytest.fixture
def game(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnyGame]:
    package = tmp_path / "pbm_tiny"
    contract = package / "contract" / "tiny"
    contract.mkdir(parents=True)
    (package / "__init__.py").write_text(dedent(GAME))
    (contract / "hook.py").write_text('FREE = ("note",)\n')
    (contract / "draw.moves").write_text("options:\n0 note\n0 1\n1 swap\n")
    copytree(TEMPLATES / "games" / "heaps", package / "templates" / "games" / "tiny")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        environment().loader,
        "searchpath",
        [*environment().loader.searchpath, str(package / "templates")],
    )
    invalidate_caches()
    yield import_module("pbm_tiny").GAME
    for name in [name for name in sys.modules if name.split(".")[0] == "pbm_tiny"]:
        del sys.modules[name]


def test_its_files_lie_in_its_package(game: AnyGame, tmp_path: Path) -> None:
    assert folder(game) == tmp_path / "pbm_tiny" / "contract" / "tiny"
    (script,) = scripts(game)
    assert "note: You played note." in transcript(game, script.read_text())
    game_hook = hook(game)
    assert game_hook is not None
    assert game_hook.FREE == ("note",)
