"""A letter that cannot be made holds up no other letter, and not the end of the server."""

from __future__ import annotations

import pytest
from indoors import Indoors, address_of

from pbmserv.store.boards import boards
from pbmserv.store.operators.letters import letter_lines


def test_a_letter_whose_board_cannot_be_read_waits_for_another_try(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    house.send_unread(address_of("alice"), "blackbox challenge alice wonder-land bob")

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(boards, "load", broken)
    house.server.sender.run_once()
    waiting = house.server.read(letter_lines, ("queued",), "", 9)
    assert [row.attempts for row in waiting] == [1, 1]
