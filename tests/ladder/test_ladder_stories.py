"""Ladders as their players live them, by mail and in virtual time."""

from __future__ import annotations

import pytest
from asgi_client import load_all, site_of
from headers import one_line
from running import Correspondence, Letter
from sqlalchemy import select, update

from pbmserv.service.ladder import tables
from pbmserv.service.schedule import scheduler
from pbmserv.store.ladders import ladder_challenges, ladder_places, ladders
from pbmserv.store.tables.accounts import addresses
from pbmserv.store.tables.ladders import ladder_games, ladder_moves

pytestmark = pytest.mark.slow

PEOPLE = ("alice", "bob", "carol", "dave", "erin", "frank")


@pytest.fixture
def server(handed_in: Correspondence) -> Correspondence:
    return handed_in


def address(name: str) -> str:
    return f"{name}@players.example"


class Climbers:
    """The players of a ladder of Blackbox, who write to a server."""

    def __init__(self, server: Correspondence, names: tuple[str, ...] = PEOPLE) -> None:
        self.server = server
        for name in names:
            server.sign_up(name)
            server.send(address(name), f"ladder join {name} secret blackbox")
        assert len(server.letters()) == len(names)

    def say(self, name: str, subject: str) -> str:
        """Send a mail; return the text of the answer."""
        self.server.send(address(name), subject)
        return self.server.letter(address(name)).one_line

    def challenges(self, name: str, whom: str = "") -> int:
        """Begin a challenge; return its board."""
        line = f"blackbox ladder challenge {name} secret {whom}".strip()
        self.server.send(address(name), line)
        letters = self.server.letters()
        assert len(letters) == 2, [letter.one_line for letter in letters]
        return int(letters[0].subject.split("Blackbox ")[1].split()[0].rstrip(":"))

    def plays_alone(self, name: str) -> None:
        """Give a sign of life."""
        self.server.send(address(name), f"blackbox solo {name} secret -size=4x4 -atoms=1")
        self.server.reply(self.server.letters(address(name))[-1], "1")
        self.server.letters()

    def resigns(self, name: str, board: int) -> None:
        self.server.send(address(name), f"blackbox resign {board} {name} secret")

    def news(self) -> dict[str, str]:
        """Let a minute pass; return the new letters by reader."""
        self.server.live(minutes=1)
        letters: dict[str, str] = {}
        for letter in self.server.letters():
            name = letter.recipient.partition("@")[0]
            letters[name] = f"{letters.get(name, '')} {letter.one_line}".strip()
        return letters

    def order(self) -> list[str]:
        with self.server.server.database.reading.connect() as connection:
            ladder = ladders.of_game(connection, "blackbox")
            assert ladder is not None
            places = ladder_places.places(connection, ladder.id)
        assert [place.rank for place in places] == list(range(1, len(places) + 1))
        return [place.userid for place in places]


def test_a_month_on_a_ladder(server: Correspondence) -> None:
    climbers = Climbers(server)
    assert climbers.order() == list(PEOPLE)
    # Frank challenges the highest, who does not want to play.
    server.send(address("frank"), "blackbox ladder challenge frank secret")
    letters = server.letters()
    assert len(letters) == 2
    assert all("Blackbox ladder" in letter.one_line for letter in letters)
    climbers.resigns("alice", 1)
    news = climbers.news()
    assert "alice resigned: you won board 1" in news["frank"]
    assert "You went from 6 to 1 on the Blackbox ladder by your game against alice" in news["frank"]
    assert "You went from 1 to 2 on the Blackbox ladder: frank won board 1." in news["alice"]
    assert climbers.order() == ["frank", "alice", "bob", "carol", "dave", "erin"]
    # Dave challenges Bob and never moves; Carol challenges Alice, who never moves.
    of_dave, of_carol = climbers.challenges("dave", "bob"), climbers.challenges("carol", "alice")
    server.send(address("bob"), f"blackbox move {of_dave} bob secret b2,f4,c7,g2")
    server.send(address("carol"), f"blackbox move {of_carol} carol secret b2,f4,c7,g2")
    server.letters()
    absence = climbers.say("carol", "away carol secret until 2 March 2026")
    assert f"Board {of_carol} belongs to an event" in absence
    server.live(days=5)
    reminders = [letter for letter in server.letters() if letter.subject.startswith("Reminder")]
    assert sorted(letter.recipient for letter in reminders) == [address("alice"), address("dave")]
    server.live(days=3, hours=20)
    server.letters()
    server.live(days=1, hours=4)
    news = climbers.news()
    assert "since your time was up on board" in news["dave"]
    assert "since your time was up on board" in news["alice"]
    assert "bob was late" not in str(news)
    assert climbers.order() == ["frank", "bob", "carol", "alice", "erin", "dave"]
    # Bob and Frank play, and in the middle Frank, who is first, goes away and is deleted.
    climbers.challenges("bob", "frank")
    server.live(days=2)
    server.send(address("frank"), "delete frank secret")
    (question,) = server.letters(address("frank"))
    server.reply(question, "yes")
    server.letters()
    assert climbers.news().get("bob", "").count("You went from") == 0
    assert climbers.order() == ["bob", "carol", "alice", "erin", "dave"]
    # The page tells all of it.
    site = site_of(server.server)
    pages = load_all(
        site,
        "/ladder",
        "/ladder/blackbox",
        "/ladder/blackbox/ladder.atom",
        "/api/ladders",
        "/api/ladders/blackbox",
        "/ladder/chess",
        "/api/ladders/nothing",
    )
    page = one_line(pages["/ladder/blackbox"].body.decode())
    assert "dave was late: from 5 to 6" in page
    assert "frank" not in page
    assert "gone-" in page
    assert "won a challenge: from 6 to 1" in page
    feed = pages["/ladder/blackbox/ladder.atom"].body.decode()
    assert feed.count("<entry>") == 10
    assert '"rank":1,"userid":"bob"' in pages["/api/ladders/blackbox"].body.decode()
    assert pages["/ladder/chess"].status == 404
    assert pages["/api/ladders/nothing"].status == 404
    assert "5 players, bob is first" in one_line(pages["/ladder"].body.decode())


def test_a_server_that_was_down_for_a_week_carries_out_the_results_in_their_order(
    server: Correspondence,
) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    first, second = climbers.challenges("carol", "bob"), climbers.challenges("bob", "alice")
    climbers.resigns("bob", first)  # carol goes above bob
    server.live(seconds=1)
    climbers.resigns("alice", second)  # and then bob, now third, above alice
    server.sleep(days=7)
    server.letters()
    assert climbers.order() == ["bob", "alice", "carol"]
    with server.server.database.reading.connect() as connection:
        moves = connection.execute(select(ladder_moves.c.board_id).order_by(ladder_moves.c.id))
        assert list(moves.scalars())[3:] == [first, second]
    # A second look at a result changes nothing.
    with server.server.database.writing.begin() as connection:
        assert ladder_challenges.claim(connection, first, server.server.clock.now()) is None
    server.server.scheduler.run_once()
    assert climbers.order() == ["bob", "alice", "carol"]
    assert server.letters() == []


def test_who_challenged_whom_is_judged_when_the_game_ends(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    up, over = climbers.challenges("carol", "bob"), climbers.challenges("carol", "alice")
    climbers.resigns("alice", over)
    climbers.news()
    assert climbers.order() == ["carol", "alice", "bob"]
    climbers.resigns("carol", up)  # bob, the defender of old, is now the lower one
    climbers.news()
    assert climbers.order() == ["bob", "carol", "alice"]


def test_a_challenger_reads_the_name_of_an_opponent_who_left(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob"))
    board = climbers.challenges("bob", "alice")
    climbers.say("alice", "ladder leave alice secret blackbox")
    answer = climbers.say("bob", "ladder show bob secret blackbox")
    assert f"Board {board}: bob challenges alice." in answer


def test_a_stranger_reads_the_top_alone(
    server: Correspondence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "TOP", 1)
    climbers = Climbers(server, ("alice", "bob"))
    server.sign_up("carol")
    answer = climbers.say("carol", "ladder show carol secret blackbox")
    assert "There are 2 players; these are the first. To join" in answer


def test_a_player_has_at_most_three_challenges_and_pairs_rest_for_seven_days(
    server: Correspondence,
) -> None:
    climbers = Climbers(server)
    climbers.say("bob", "prefs bob secret block=frank")
    boards = [climbers.challenges("frank") for _ in range(3)]  # not with bob, who would refuse
    assert "3 challenges of yours are running" in climbers.say(
        "frank", "ladder challenge frank secret"
    )
    climbers.resigns("frank", boards[0])
    climbers.news()
    answer = climbers.say("frank", "ladder challenge frank secret alice")
    assert "7 days after a game, on 8 March 2026, you can play again." in answer
    assert "Try this: blackbox ladder challenge erin" in answer
    server.live(days=7)
    server.letters()
    climbers.challenges("frank", "alice")


def test_no_more_challenges_come_in_than_the_rank_takes(server: Correspondence) -> None:
    climbers = Climbers(server, (*PEOPLE, "gina", "hugo"))
    for name in ("bob", "carol", "dave", "erin", "frank"):
        climbers.challenges(name, "alice")
    answer = climbers.say("gina", "ladder challenge gina secret alice")
    assert "alice has 5 challengers, the most for number 1." in answer
    assert "Try this: blackbox ladder challenge bob" in answer


def test_silent_players_leave_after_45_days_outside_an_absence(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    climbers.say("bob", "away bob secret until 20 March 2026")
    server.live(days=44)
    climbers.plays_alone("carol")
    server.letters()
    server.live(days=2)
    (letter,) = server.letters()
    assert letter.recipient == address("alice")
    assert (
        "You have been silent for 45 days, so your place on the Blackbox ladder" in letter.one_line
    )
    assert climbers.order() == ["bob", "carol"]
    server.live(days=17)
    assert climbers.order() == ["bob", "carol"]
    server.live(days=3)
    assert climbers.order() == ["carol"]


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_ninety_days_at_first_place_lead_to_the_hall_of_fame(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob"))
    for _ in range(3):
        server.live(days=29)
        for name in ("alice", "bob"):
            climbers.plays_alone(name)
        server.letters()
    server.live(days=2)
    assert server.letters() == []
    server.live(days=2)
    (letter,) = server.letters()
    assert letter.recipient == address("alice")
    assert "your name is in the hall of fame of the Blackbox ladder" in letter.one_line
    server.live(days=2)
    assert server.letters() == [], "once"
    climbers.resigns("alice", climbers.challenges("bob"))
    climbers.news()
    server.live(days=8)
    climbers.resigns("bob", climbers.challenges("alice"))
    climbers.news()
    page = load_all(site_of(server.server), "/ladder/blackbox")["/ladder/blackbox"]
    text = one_line(page.body.decode())
    assert "Hall of fame" in text
    assert "93 days: 1 March 2026 to 2 June 2026" in text
    assert "to 10 June 2026" not in text, "bob's eight days are too short"


def test_letters_about_movements_can_be_ended_and_come_back(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    board = climbers.challenges("bob")
    climbers.resigns("alice", board)
    server.letters()
    server.live(minutes=1)
    letters = {letter.recipient: letter for letter in server.letters()}
    _unsubscribe(server, letters[address("alice")])
    ended = server.letter(address("alice"))
    assert "You get no more letters about movements on that ladder." in ended.one_line
    board = climbers.challenges("carol", "alice")
    climbers.resigns("alice", board)
    assert "You went from" not in climbers.news()["alice"]
    server.reply(ended, "ladder join blackbox")
    again = server.letter(address("alice")).one_line
    assert "You get letters about movements on this ladder again." in again


def _unsubscribe(server: Correspondence, letter: Letter) -> None:
    by_mail = letter.message["List-Unsubscribe"].split("mailto:")[1].split("?")[0]
    server.send(letter.recipient, "unsubscribe", to=by_mail)


def test_a_broken_result_is_put_off_and_stops_no_other(
    server: Correspondence, monkeypatch: pytest.MonkeyPatch
) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    boards = climbers.challenges("bob", "alice"), climbers.challenges("carol", "alice")
    for board in boards:
        climbers.resigns("alice", board)
    carry_out = scheduler.settling.carry_out_result

    def failing(context, board):
        if board == boards[0]:
            raise RuntimeError("a fault")
        return carry_out(context, board)

    monkeypatch.setattr(scheduler.settling, "carry_out_result", failing)
    climbers.news()
    assert climbers.order() == ["carol", "alice", "bob"]
    monkeypatch.undo()
    server.live(hours=2)
    assert climbers.order() == ["carol", "bob", "alice"]
    with server.server.database.reading.connect() as connection:
        rows = connection.execute(select(ladder_games.c.due_at, ladder_games.c.result)).all()
    assert [tuple(row) for row in rows] == [(None, "up"), (None, "up")]


def test_two_players_who_are_both_late_keep_their_places(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob"))
    climbers.challenges("bob")  # neither hides any atoms
    server.live(days=11)
    server.live(minutes=1)
    assert climbers.order() == ["alice", "bob"]
    with server.server.database.reading.connect() as connection:
        assert list(connection.execute(select(ladder_games.c.result)).scalars()) == ["none"]


def test_a_challenger_who_is_away_is_not_late_with_the_defender(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob"))
    climbers.challenges("bob")  # neither hides any atoms
    climbers.say("bob", "away bob secret until in 12 days")
    server.live(days=11)
    server.live(minutes=1)
    assert climbers.order() == ["bob", "alice"]


def test_a_ladder_game_is_unrated_if_somebody_never_moved(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob"))
    board = climbers.challenges("bob")
    server.send(address("bob"), f"blackbox move {board} bob secret b2,f4,c7,g2")
    climbers.resigns("alice", board)
    assert climbers.order() == ["alice", "bob"], "the scheduler moves them"
    server.letters()
    climbers.news()
    assert climbers.order() == ["bob", "alice"]
    answer = climbers.say("alice", "blackbox ratings alice")
    assert "alice has not ended a rated game of Blackbox yet." in answer


def test_two_names_that_have_become_one_person_do_not_meet(server: Correspondence) -> None:
    climbers = Climbers(server, ("alice", "bob", "carol"))
    with server.server.database.writing.begin() as connection:
        ids = connection.execute(select(addresses.c.player_id).order_by(addresses.c.player_id))
        first, _, third = ids.scalars().all()
        one_mailbox = update(addresses).where(addresses.c.player_id.in_([first, third]))
        connection.execute(one_mailbox.values(mailbox="alice@players.example"))
    answer = climbers.say("carol", "ladder challenge carol secret alice")
    assert "You cannot challenge yourself, under whatever name." in answer
    assert "Try this: blackbox ladder challenge bob" in answer
