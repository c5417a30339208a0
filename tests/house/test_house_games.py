"""The house kindly refuses games without bots, and levels that a game does not have."""

from __future__ import annotations

from pathlib import Path
from types import MappingProxyType

import pytest
from heaps import HEAPS, Heaps, show_heaps
from indoors import address_of, indoors

from pbmserv.engine.registry import Registry

ALICE = address_of("alice")


def test_what_the_house_does_not_play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    show_heaps()
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls([HEAPS])))
    with indoors(tmp_path) as server:
        server.sign_up("alice")
        (letter,) = server.send(ALICE, "heaps challenge alice house-hard")
        assert "The house plays Heaps as house, but not as house-hard." in letter.one_line
        assert "heaps challenge alice house" in letter.one_line
        monkeypatch.setattr(Heaps, "bots", MappingProxyType({}))
        (letter,) = server.send(ALICE, "heaps challenge alice house")
        assert "The house does not play Heaps." in letter.one_line
        assert '"seek" finds' in letter.one_line
