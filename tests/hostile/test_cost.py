"""No request costs more than half a second of processor time, even on the largest boards.

Each row asks a server that has nothing in memory for as much as it can: mails with their letters,
pages and pictures, letters about many boards. `heavy_mails.py` has more mails.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path
from time import process_time
from typing import Any
from urllib.parse import quote

import pytest
from asgi_client import fetch, load_page, site_of
from examples import DEEP
from growth import allowed
from sqlalchemy import select

from pbmserv.engine.position import Position, opening, work_of
from pbmserv.engine.record import GameRecord, Ply
from pbmserv.engine.rng import Rng
from pbmserv.engine.types import Seat
from pbmserv.games.blackbox.game import GAME
from pbmserv.mail.reply_address import Purpose, ReplyAddress
from pbmserv.service.core.actor import NOBODY
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outbox_rows import outbox_row
from pbmserv.service.core.outcome import Notification
from pbmserv.service.delivery import digest, waiting_boards
from pbmserv.store.boards import boards
from pbmserv.store.delivery import outbox
from pbmserv.store.tables.boards import boards as board_rows

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parent.parent.parent
MOST_S = 0.5
"""Seconds of processor time; see `growth.allowed`."""
HEAVIEST = ("plans of wide moves", "moves that seal all, in a race of eight")
"""The heaviest mails. A deep run and `make bench` measure all mails."""
MANY = 45 if DEEP else 5
"""Boards of one reader, each as full as can be."""


@pytest.fixture(autouse=True)
def _no_collections() -> Iterator[None]:
    """Keep the garbage of earlier tests in this process out of what is measured."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def hostile(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The modules `heavy_mails` and `heavy_world`."""
    monkeypatch.syspath_prepend(ROOT)

    class Modules:
        mails: Any = importlib.import_module("tests.hostile.heavy_mails")
        world: Any = importlib.import_module("tests.hostile.heavy_world")

    return Modules


@pytest.fixture
def world(hostile: Any, tmp_path: Path) -> Iterator[Any]:
    with hostile.world.world(tmp_path) as heavy:
        hostile.mails.cost_of(heavy, "an ordinary move")  # compiles templates
        yield heavy


def as_table(costs: dict[str, float]) -> str:
    return "\n".join(f"{seconds:6.3f} {name}" for name, seconds in costs.items())


def test_no_mail_with_its_letters_costs_more(world: Any, hostile: Any) -> None:
    names = list(hostile.mails.HEAVY) if DEEP else HEAVIEST
    costs = {name: hostile.mails.cost_of(world, name).whole for name in names}
    for name in [name for name, seconds in costs.items() if seconds >= MOST_S]:
        # A busy machine is slow now and then, a heavy mail each time.
        costs[name] = min(costs[name], hostile.mails.cost_of(world, name).whole)
    assert max(costs.values()) < allowed(MOST_S), as_table(costs)


# -- pages -----------------------------------------------------------------------------------


def _full(world: Any, hostile: Any) -> int:
    """One of the largest boards, with as many moves as there is room for, half of them long."""
    mails = hostile.mails
    long = mails._free(36, (mails.MARKED, mails.UNMARKED), 2)
    return int(mails._large(world, *mails._free(1_000, mails.SMALL_STEPS, 2), *long))


def _race(world: Any, hostile: Any) -> int:
    """A race of eight on the largest board, with as many markers as can be."""
    mails = hostile.mails
    marked = [(seat, mails.MARKED, True) for seat in range(8)]
    return int(mails._race(world, *marked, *((seat, "resign", False) for seat in range(8))))


def _finish(world: Any, number: int) -> None:
    with world.server.database.writing.connect() as connection, connection.begin():
        seats = select(board_rows.c.seats).where(board_rows.c.id == number)
        places = [1] * connection.execute(seats).scalar_one()
        outcome = {"places": places, "scores": [], "reason": "resigned", "seat": 0}
        boards.finish(connection, number, outcome, world.now)


def test_no_page_costs_more(world: Any, hostile: Any) -> None:
    over, race = _full(world, hostile), _race(world, hostile)
    restarted = hostile.mails._restarted(world)
    for number in (over, race, restarted):
        _finish(world, number)
    with world.at_once():
        full = [_full(world, hostile) for _ in range(MANY)]
    ring = world.server.mail_domain.ring
    day = world.now.date().toordinal() - date(1970, 1, 1).toordinal()
    own = ring.token(ReplyAddress(Purpose.PAGE, world.ids["alice"], 0, day, 0))
    board = ring.token(ReplyAddress(Purpose.BOARD, world.ids["alice"], full[0], 3, 0))
    wide = quote(hostile.mails.ALL_OVER[:990])
    paths = (
        *(f"/game/{over}", f"/game/{race}", f"/game/{race}.png", f"/game/{restarted}"),
        *(f"/api/boards/{over}", f"/mine/{own}"),
        *(f"/b/{board}?check=all", f"/b/{board}?move={wide}", "/today?tap=A&check=all"),
    )
    if DEEP:
        paths += (
            *(f"/game/{over}.svg?turn=1", f"/game/{restarted}.png", f"/api/boards/{restarted}"),
            *("/players/alice", f"/b/{board}", "/standings", "/daily", "/games.atom"),
            "/api/boards",
        )
    costs, statuses = dict[str, float](), dict[str, int]()
    world.restart()
    site = site_of(world.server)

    async def ask() -> None:
        for path in ("/", f"/game/{over}", f"/game/{over}.png", f"/api/boards/{race}"):
            await fetch(site, path)  # compiles templates
        for path in paths:
            world.restart()  # nothing is in memory
            fresh = site_of(world.server)
            await fetch(fresh, "/")
            begun = process_time()
            answer = await load_page(fresh, path)
            costs[path] = process_time() - begun
            statuses[path] = answer.status

    asyncio.run(ask())
    assert max(costs.values()) < allowed(MOST_S), as_table(costs)
    large = {path for path, status in statuses.items() if status != 200}
    assert large == {path for path in paths if f"/{restarted}" in path}
    assert {statuses[path] for path in large} == {503}


# -- letters about many boards ----------------------------------------------------------------


def test_no_letter_about_many_boards_costs_more(world: Any, hostile: Any) -> None:
    with world.at_once():
        full = [_full(world, hostile) for _ in range(MANY)]
    alice = world.ids["alice"]

    def reminders(context: Any) -> Any:
        rows = [boards.load(context.connection, number) for number in full]
        due = [
            waiting_boards.Due(row, row.sitters[0], world.now, None)
            for row in rows
            if row is not None
        ]
        return [waiting_boards.reminders(context, due)]

    makers: dict[str, Callable[[Any], Any]] = {
        "a digest": lambda context: digest.gathered(context, alice, ()),
        "a reminder": reminders,
    }
    costs = dict[str, float]()
    for name, make in makers.items():
        world.restart()
        begun = process_time()
        with world.server.database.writing.connect() as connection, connection.begin():
            context = CommandContext(world.server.services, connection, NOBODY, world.now)
            (part,) = make(context)
            letter = outbox_row(context, Notification("alice@players.example", alice, part))
            outbox.add(connection, [letter], world.now)
        costs[f"{name}, until it is queued"] = process_time() - begun
        named = [item["board"] for item in part.words["waiting"]], part.words["more"]
        assert sorted(named[0] + named[1]) >= full
        assert named[0]
        assert named[1]
        begun = process_time()
        (raw,) = [letter.raw for letter in world.letters()]
        costs[f"{name}, made"] = process_time() - begun
        text = raw.decode()
        assert all(str(number) in text for number in named[1])
    assert max(costs.values()) < allowed(MOST_S), as_table(costs)


# -- prices ------------------------------------------------------------------------------------


def _played(words: tuple[str, ...], plies: list[tuple[str, bool]]) -> tuple[Position, float]:
    """A practice board after these plies, and the processor time that they took."""
    options = GAME.fixed(GAME.options(("-race", "-practice", *words), 1), Rng(b"cost", 0))
    record = GameRecord("blackbox", 1, 1, GAME.describe(options), b"cost")
    position, taken = opening(GAME, record), 0.0
    for number, (text, free) in enumerate(plies, 1):
        begun = process_time()
        position = position.play(Ply(number, Seat(0), text, free))
        taken += process_time() - begun
    return position, taken


def test_the_price_of_a_ply_covers_its_work_on_every_board() -> None:
    """A unit of work of any kind of ply takes at most a few times as long as a marker."""
    columns = ",".join(f"!{chr(65 + n)}" for n in range(26))
    kinds = {
        "markers": [("+A1", True), ("/A1", True)],
        "seals of everything": [("!A1-Z26", True)],
        "seals of columns": [(columns, True)],
        "seals of small areas": [("!A1-B2", True)],
        "guesses": [(f"/{'ABC'[n % 3]}2,+{'BCA'[n % 3]}2,?", False) for n in range(30)],
        "giving up": [("resign", False), ("restart", True)],
        "giving up and going back": [("resign", False), ("undo", True)],
        "hints": [("hint", True)],
    }
    too_dear = dict[str, float]()
    for atoms in ("3", "40", "400"):
        words = ("-size=26x26", f"-atoms={atoms}", "-guesses=99")
        _, taken = _played(words, kinds["markers"] * 100)
        unit = taken / 200
        for name, plies in kinds.items():
            if name == "guesses":
                if atoms != "3":
                    continue
                plies = [("+A2,+E5,+F6", True), *plies]  # noqa: PLW2901
            position, taken = _played(words, plies * max(1, 60 // len(plies)))
            if taken > 6 * unit * position.work:
                too_dear[f"{name}, {atoms} atoms"] = taken / position.work / unit
            same = [work_of(GAME, position.state, ply) for ply in ("!A", "?", "resign")]
            assert same == [work_of(GAME, position.at(0).state, x) for x in ("!A", "?", "resign")]
    assert not too_dear
