"""A kind of event is one class and one file of words."""

from __future__ import annotations

import pytest
from blackbox_alone import every_game
from jinja2 import nodes

from pbmserv.engine import registry
from pbmserv.engine.registry import Registry
from pbmserv.errors import Refused
from pbmserv.service.events.kinds.registry import PLAYERS, SERVERS
from pbmserv.views.environment import environment
from pbmserv.views.overrides import shipped_text
from pbmserv.views.texts import refusal_sentence


def _blocks(name: str) -> set[str]:
    tree = environment().parse(shipped_text(f"events/{name}.j2"))
    return {block.name for block in tree.find_all(nodes.Block)}


@pytest.mark.parametrize("word", sorted({*SERVERS, *PLAYERS}))
def test_each_kind_has_words_that_are_used(word: str) -> None:
    assert _blocks(word) <= _blocks("kind")  # a misspelt block would never be printed


def test_a_player_reads_why_a_game_has_no_duplicate_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "announced", every_game)
    reversi = Registry.installed().newest("reversi")
    SERVERS["cup"].refuse_impossible(reversi, "events")
    with pytest.raises(Refused) as refused:
        PLAYERS["duplicate"].refuse_impossible(reversi, "events")
    assert refusal_sentence(refused.value.refusal) == (
        f"{reversi.info.title} has neither boxes that each player can solve alone "
        "nor dice or deals, so it has no duplicate events."
    )


@pytest.mark.parametrize(("is_own", "command"), [(True, "event join 7"), (False, "team enter go")])
def test_a_captain_reads_how_to_enter_a_match_of_teams(is_own: bool, command: str) -> None:
    say = environment().get_template("events/say.j2").module.say  # type: ignore[attr-defined]
    assert say("entry", {"kind": "team", "event": 7, "game": "go", "own": is_own}) == command
