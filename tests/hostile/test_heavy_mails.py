"""The heaviest mails that we know of: their work is counted, and has an end.

A usual run lets a mail spend an eighth of what it may. What is not counted stands out there all the
more; what all of it takes is measured by `make bench`.
"""

from __future__ import annotations

import importlib
from collections import Counter
from pathlib import Path

import pytest
from examples import DEEP
from sqlalchemy import func, select

from pbmserv.engine.position import Position, work_of
from pbmserv.games.blackbox.moves import Element
from pbmserv.service.core.budget import ALLOWED, Budget, Work
from pbmserv.service.mails import mail_service
from pbmserv.store.boards import boards
from pbmserv.store.tables.mail import inbox

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent.parent
SHARE = 1 if DEEP else 8
MOST_PLIES = ALLOWED // SHARE // Work.PLY.price
MOST_LOOKED_UP = 1_500 // SHARE
"""Boards: a command may look its own up several times."""
MOST_ELEMENTS = 70_000 // SHARE
MOST_LETTERS = 60 if DEEP else 30
LOOKS_UP = (Work.BOARD, Work.COMMAND, Work.COMMAND, Work.MOVE, Work.DRAWN)
"""Each of these looks one board up, a command its own twice."""


class Counting(Budget):
    """Tells what it was spent on."""

    def __init__(self) -> None:
        super().__init__(ALLOWED // SHARE)
        self.counts: Counter[Work] = Counter()

    def charge(self, work: Work, amount: int) -> None:
        self.counts[work] += amount
        super().charge(work, amount)

    def spend(self, work: Work, amount: int = 1) -> None:
        self.counts[work] += amount
        super().spend(work, amount)


class Watch:
    """What was really done, whoever counts it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.done: Counter[str] = Counter()
        self.budgets: list[Counting] = []
        play, made = Position.play, Element.__init__

        def played(position, ply):
            self.done["plies"] += work_of(position.game, position.state, ply.text)
            return play(position, ply)

        def read(element, *args, **named):
            self.done["elements"] += 1
            made(element, *args, **named)

        def counting(ask):
            def asked(*args):
                self.done["boards"] += 1
                return ask(*args)

            return asked

        def budget():
            self.budgets.append(Counting())
            return self.budgets[-1]

        monkeypatch.setattr(Position, "play", played)
        monkeypatch.setattr(Element, "__init__", read)
        monkeypatch.setattr(boards, "load", counting(boards.load))
        monkeypatch.setattr(boards, "lock", counting(boards.lock))
        monkeypatch.setattr(mail_service, "Budget", budget)


@pytest.mark.timeout(600)
def test_no_mail_asks_for_more_than_one_mail_may(monkeypatch, tmp_path) -> None:
    monkeypatch.syspath_prepend(ROOT)
    heavy = importlib.import_module("tests.hostile.heavy_mails")
    mails = heavy.HEAVY
    watch = Watch(monkeypatch)
    with importlib.import_module("tests.hostile.heavy_world").world(tmp_path) as world:
        for name in mails:
            watch.done.clear()
            watch.budgets.clear()
            cost = heavy.cost_of(world, name)
            assert cost.reply.startswith("250"), (name, cost)
            assert cost.made <= MOST_LETTERS, (name, cost.made)
            assert watch.done["plies"] <= 2 * MOST_PLIES, (name, watch.done)
            assert watch.done["boards"] <= MOST_LOOKED_UP, (name, watch.done)
            assert watch.done["elements"] <= MOST_ELEMENTS, (name, watch.done)
            (budget,) = watch.budgets
            assert budget.spent == sum(work.price * n for work, n in budget.counts.items())
            charged = sum(budget.counts[work] for work in LOOKS_UP)
            assert watch.done["boards"] <= charged, (name, watch.done, budget.counts)
        with world.server.database.reading.connect() as connection:
            kept = select(func.count()).where(inbox.c.state == "kept")
            assert connection.execute(kept).scalar_one() == 0  # nothing failed in another way
