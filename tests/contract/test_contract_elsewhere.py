"""A game in a package of its own keeps the contract with files of its own, and the suite notices
where it does not."""

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
from test_contract_foresight import (
    test_a_check_tells_only_what_the_view_does as check_checks,
)
from test_contract_foresight import (
    test_a_free_move_does_what_its_preview_shows as check_free_moves,
)
from test_contract_foresight import (
    test_a_preview_is_what_a_move_would_do_and_never_more_than_the_view_tells as check_previews,
)

from pbmserv.engine.registry import AnyGame
from pbmserv.views.environment import environment

GAME = '''
    """Heaps with notes, previews and a check."""

    from dataclasses import dataclass, replace

    from heaps import Heap, Heaps, HeapView

    from pbmserv.engine.types import Move, Note, Preview, Step
    from pbmserv.errors import Illegal


    @dataclass(frozen=True)
    class Noted(Heap):
        noted: frozenset = frozenset()


    class Tiny(Heaps):
        info = replace(Heaps.info, key="tiny")

        def setup(self, seats, options, rng):
            return Noted()

        def parse(self, view, text):
            if text.strip().lower() != "note":
                return super().parse(view, text)
            if view.heap.outcome or view.seat is None:
                raise Illegal("heaps.not-now", part="note")
            return Move("note", free=True)

        def apply(self, state, seat, move, rng):
            if not move.free:
                return super().apply(state, seat, move, rng)
            note = Note("did", seat, frozenset({seat}), {"what": "note"})
            return Step(replace(state, noted=state.noted | {seat}), {None: ""}, (note,))

        def preview(self, view, seat, text):
            move = self.parse(replace(view, seat=seat), text)
            step = self.apply(view.heap, seat, move, None)
            return Preview(move, HeapView(step.state, view.seat), step.notes)

        def check(self, view):
            if view.seat not in view.heap.noted:
                raise Illegal("heaps.not-now", part="check")
            return (Note("did", view.seat, frozenset({view.seat}), {"what": "note"}),)

        def drawn(self, view, text):
            raise Illegal("heaps.not-now", part=text)


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


def test_a_hook_that_cannot_be_loaded_is_not_left_out(game: AnyGame) -> None:
    (folder(game) / "hook.py").write_text("import pbm_nowhere\n")
    with pytest.raises(ModuleNotFoundError, match="pbm_nowhere"):
        hook(game)


def test_previews_and_checks_are_made_of_its_own_moves(
    game: AnyGame, monkeypatch: pytest.MonkeyPatch
) -> None:
    for check in (check_previews, check_free_moves, check_checks):
        check(game, ())
    preview, unheard = type(game).preview, type(game).drawn
    for name, broken, check in (
        ("preview", lambda self, view, seat, _: unheard(self, view, "2"), check_previews),
        ("preview", lambda self, view, seat, _: preview(self, view, seat, "1"), check_free_moves),
        ("check", lambda self, view: unheard(self, view, "check"), check_checks),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(type(game), name, broken)
            with pytest.raises(AssertionError):
                check(game, ())
