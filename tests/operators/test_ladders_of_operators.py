"""Operators take players off a ladder, and settle or annul challenges; all is audited."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, address_of, indoors

from pbmserv.errors import OperatorError
from pbmserv.service.operators import deeds, ladders
from pbmserv.service.operators.deeds import Signature

OLGA = Signature("olga", "Both asked for it.")
NAMES = ("ann", "bob", "cleo")


def _challenge(server: Indoors, name: str, other: str) -> int:
    line = f"blackbox ladder challenge {name} {PASSWORD} {other}"
    server.send(address_of(name), line)
    boards = server.look(partial(ladders.place_lines, game="blackbox", most=9))
    (board,) = [row[3].split()[0] for row in boards if row[1] == name]
    return int(board)


def _order(server: Indoors) -> list[str]:
    rows = server.look(partial(ladders.place_lines, game="blackbox", most=9))
    return [row[1] for row in rows]


@pytest.mark.both_databases
def test_an_operator_looks_after_a_ladder(database_url: str, tmp_path: Path) -> None:
    with indoors(tmp_path, database_url) as server:
        server.server.scheduler.begin()
        server.sign_up(*NAMES)
        operators = server.operators
        with pytest.raises(OperatorError, match="nobody has joined the ladder of blackbox"):
            server.look(partial(ladders.place_lines, game="blackbox", most=9))
        for name in NAMES:
            server.send(address_of(name), f"ladder join {name} {PASSWORD} blackbox")
        assert _order(server) == ["ann", "bob", "cleo"]
        board = _challenge(server, "cleo", "ann")
        with pytest.raises(OperatorError, match="dan does not play on board 1; these do"):
            operators.do(OLGA, partial(ladders.settle, number=board, winner="dan"))
        operators.do(OLGA, partial(ladders.settle, number=board, winner="cleo"))
        with pytest.raises(OperatorError, match="board 1 does not run"):
            operators.do(OLGA, partial(ladders.settle, number=board, winner="cleo"))
        server.live(minutes=2)
        assert _order(server) == ["cleo", "ann", "bob"]
        with pytest.raises(OperatorError, match="has moved the players"):
            operators.do(OLGA, partial(ladders.annul, number=board))
        second = _challenge(server, "bob", "ann")
        server.letters()
        operators.do(OLGA, partial(ladders.annul, number=second))
        assert {letter.recipient for letter in server.letters()} == {
            address_of("ann"),
            address_of("bob"),
        }
        server.live(minutes=2)
        assert _order(server) == ["cleo", "ann", "bob"]
        assert server.look(ladders.ladder_lines) == [("blackbox", "3", "0", "cleo")]
        with pytest.raises(OperatorError, match="board 99 is no challenge"):
            operators.do(OLGA, partial(ladders.annul, number=99))
        server.letters()
        operators.do(OLGA, partial(ladders.remove, game="blackbox", userid="cleo"))
        (letter,) = server.letters()
        assert "taken you off the Blackbox ladder: Both asked for it." in letter.one_line
        assert _order(server) == ["ann", "bob"]
        with pytest.raises(OperatorError, match="cleo is not on the ladder"):
            operators.do(OLGA, partial(ladders.remove, game="blackbox", userid="cleo"))
        audited = server.look(partial(deeds.entries, target="ladder blackbox", most=9))
        assert [entry.action for entry in audited] == ["remove"]
        audited = server.look(partial(deeds.entries, target=f"board {second}", most=9))
        assert [entry.action for entry in audited] == ["annul"]
