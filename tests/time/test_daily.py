"""The box of the day: the same for all, at everybody's hour, never twice and never early."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from solutions import box_of, solution

from pbmserv.games.blackbox.bots import trees
from pbmserv.games.blackbox.bots.difficulty import grade
from pbmserv.games.blackbox.game_ids import atoms_of
from pbmserv.games.blackbox.options import Grade, Options
from pbmserv.service.schedule import scheduler
from pbmserv.service.solo.daily_box import day_of
from pbmserv.store.shared_boxes.day_numbers import number_of

pytestmark = pytest.mark.slow

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    """A server at noon, UTC, of a Sunday."""
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob", "carol")
        yield server


@pytest.fixture
def one_house(tmp_path: Path) -> Iterator[Indoors]:
    """A server on SQLite alone, for promises that other tests hold on both databases."""
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob", "carol")
        yield server


def answer(house: Indoors, letter: Posted) -> str:
    """A ray, and the guess that solves the box of a letter."""
    return f"1,{solution(box_of(house.server, letter.board))}"


def days(house: Indoors, hours: int, step: int = 1) -> list[Posted]:
    """The boxes that come while time passes hour by hour."""
    letters = []
    for _ in range(0, hours, step):
        letters += [letter for letter in house.live(hours=step) if letter.kind == "daily"]
    return letters


def test_everybody_gets_the_same_box_at_their_hour(house: Indoors) -> None:
    house.send(BOB, f"prefs bob {PASSWORD} tz=Asia/Tokyo")
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 18:00")
    house.send(BOB, f"blackbox daily bob {PASSWORD} 23:30")  # 14:30 UTC
    letters = days(house, 24)
    assert [letter.recipient for letter in letters] == [BOB, ALICE]
    assert box_of(house.server, letters[0].board) == box_of(house.server, letters[1].board)
    assert len({letter.board for letter in letters}) == 2
    number = number_of(day_of(house.server.clock.now() - timedelta(days=1)))
    assert all(f"Daily Box {number}" in letter.text for letter in letters)
    for letter in letters:
        assert box_of(house.server, letter.board).text.partition(":")[2] not in letter.raw.decode()


def test_the_first_comes_at_once_where_the_hour_is_over(house: Indoors) -> None:
    settled, first = house.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    assert "Today's is on its way." in settled.one_line
    (second,) = days(house, 24)
    assert box_of(house.server, first.board) != box_of(house.server, second.board)


def test_nobody_gets_a_box_twice_whatever_they_change(house: Indoors) -> None:
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 13:00")
    seen = {}
    for turn in range(7):
        for daily in days(house, 4, 2):
            day = day_of(house.server.clock.now())
            assert seen.setdefault(day, daily.board) == daily.board
        zone = ("Pacific/Kiritimati", "UTC", "Pacific/Pago_Pago")[turn % 3]
        house.send(ALICE, f"prefs alice {PASSWORD} tz={zone}")
        for daily in house.send(ALICE, f"blackbox daily alice {PASSWORD} {turn % 24:02}:00"):
            if daily.kind == "daily":
                day = day_of(house.server.clock.now())
                assert seen.setdefault(day, daily.board) == daily.board
        house.send(ALICE, f"blackbox daily alice {PASSWORD} off")
        house.send(ALICE, f"blackbox daily alice {PASSWORD} {turn % 24:02}:30")
    assert len(seen) == 2


def test_nothing_comes_while_away(one_house: Indoors) -> None:
    house = one_house
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 13:00")
    house.send(ALICE, f"away alice {PASSWORD} until in 2 days")
    assert days(house, 48, 8) == []
    assert len(days(house, 72, 8)) == 2
    house.send(ALICE, f"away alice {PASSWORD} from in 2 days until in 3 days")
    assert [len(days(house, 24, 8)) for _ in range(4)] == [1, 1, 0, 0]
    assert len(days(house, 24, 8)) == 1


@pytest.mark.both_databases
def test_a_box_that_fails_is_put_off_and_stops_no_other(
    house: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = []

    def failing(context, player_id):
        tries.append(player_id)
        raise RuntimeError("a fault")

    house.send(ALICE, f"blackbox daily alice {PASSWORD} 13:00")
    with monkeypatch.context() as patch:
        patch.setattr(scheduler.daily_box, "give_due_boxes", failing)
        house.live(hours=2)
        house.live(minutes=2)
    assert len(tries) == 1
    assert [letter.recipient for letter in days(house, 2)] == [ALICE]


def test_a_streak_a_line_to_share_and_the_week(house: Indoors) -> None:
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 13:00")
    house.send(BOB, f"blackbox daily bob {PASSWORD} 13:00")
    results: list[Posted] = []
    for day in range(4):
        for daily in days(house, 24, 8):
            move = answer(house, daily)
            if daily.recipient == BOB and day == 2:
                house.send(BOB, f"blackbox solve {daily.board} bob {PASSWORD}")
            else:
                results += [x for x in house.reply(daily, move) if x.kind == "result"]
    last = [result for result in results if result.recipient == ALICE][-1]
    assert "That makes 4 boxes solved in a row." in last.one_line
    assert "| 1 probe |" in last.one_line
    for name in answer(house, last).replace("+", "").split(",")[1:-1]:
        line = next(line for line in last.text.split("\n") if "| 1 probe |" in line)
        assert name not in line
    (table,) = house.send(CAROL, "blackbox week")
    rows = [line.split() for line in table.text.split("\n") if line.strip()[:1].isdigit()]
    assert [row[1] for row in rows] == ["alice", "bob"]
    assert [row[2] for row in rows] == ["3", "2"], "the Sunday was another week"
    assert [row[4] for row in rows] == ["4", "1"]


def test_a_box_brings_yesterdays_best_along(house: Indoors) -> None:
    for userid in ("alice", "bob", "carol"):
        house.send(address_of(userid), f"blackbox daily {userid} {PASSWORD} 13:00")
    for daily in days(house, 24, 8):
        assert "fewest points" not in daily.text
        if daily.recipient == CAROL:
            house.reply(daily, "resign")
            continue
        last = house.reply(daily, "8")[0] if daily.recipient == BOB else daily
        house.reply(last, answer(house, daily).partition(",")[2])  # without a ray of its own
    for daily in days(house, 24, 8):
        table = daily.text.partition("Yesterday's box in the fewest points:")[2]
        rows = [line.split() for line in table.split("\n") if line.strip()[:1].isdigit()]
        assert [row[:2] for row in rows] == [["1", "alice"], ["2", "bob"]]
        assert int(rows[0][2]) < int(rows[1][2])
        assert "Yesterday's box in the fewest points" in daily.html
        assert "carol" not in table


def test_the_week_gets_harder_and_letters_and_pages_name_the_grade(one_house: Indoors) -> None:
    house = one_house
    house.send(ALICE, f"blackbox daily alice {PASSWORD} 13:00")
    grades = []
    for day in days(house, 7 * 24, 8):
        game = box_of(house.server, day.board)
        options = Options(game.width, game.height, game.least, game.most)
        true = grade(options, atoms_of(game))
        assert true is not None
        assert f"This box is {true}: " in day.one_line
        headline = day.text.split("\n", 1)[0]
        assert re.fullmatch(rf"Daily Box \d+: {true} .*", headline)
        assert f"This box is {true}: " in day.html
        (result,) = [x for x in house.reply(day, answer(house, day)) if x.kind == "result"]
        assert re.search(rf"Daily Box \d+ \({true}\) \| 1 probe \|", result.text)
        grades.append(true)
    assert grades[0] is Grade.FIENDISH, "the server begins on a Sunday"
    assert grades[1:] == sorted(grades[1:], key=list(Grade).index)
    assert set(grades) == set(Grade)


@pytest.mark.usefixtures("reread_trees")
def test_a_box_without_a_grade_says_so(
    one_house: Indoors, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "FOLDER", str(tmp_path))
    _, daily = one_house.send(ALICE, f"blackbox daily alice {PASSWORD} 07:30")
    assert "Nobody knows how hard it is." in daily.one_line
    assert "Nobody knows how hard it is." in daily.html
    (result,) = one_house.reply(daily, answer(one_house, daily))
    assert re.search(r"Daily Box \d+ \| 1 probe \|", result.text)
