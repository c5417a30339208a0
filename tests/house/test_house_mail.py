"""Playing against the house by mail: one letter for each turn, and no other exceptions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from sqlalchemy import func, select, update
from sqlalchemy.exc import OperationalError

from pbmserv.engine.ratings import NEWCOMER, Rating, anchor
from pbmserv.errors import OperatorError
from pbmserv.games.blackbox.bots.levels import Level
from pbmserv.games.blackbox.game import GAME, Blackbox
from pbmserv.log import TextFormatter
from pbmserv.service.boards import bot_turns
from pbmserv.service.operators import boards as operating_boards
from pbmserv.service.operators import merging, people
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.overviews import user_facts
from pbmserv.service.operators.ratings import set_rated
from pbmserv.service.ratings import rebuilding
from pbmserv.store.boards import boards, moves
from pbmserv.store.tables.boards import boards as board_table
from pbmserv.store.tables.bots import house_turns
from pbmserv.store.tables.mail import outbox
from pbmserv.store.tables.ratings import ratings, scores

pytestmark = pytest.mark.slow

ALICE, BOB = address_of("alice"), address_of("bob")
HIDING = "b3,d3,a1,f2"


@pytest.fixture
def server(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database_url) as inside:
        inside.sign_up("alice", "bob")
        yield inside


def only_letter(letters: list[Posted], to: str = ALICE) -> Posted:
    """Return the only letter."""
    (letter,) = letters
    assert letter.recipient == to
    return letter


def begun(server: Indoors, words: str = "house") -> Posted:
    """Return a board with all atoms hidden, on which alice is to fire."""
    started = only_letter(server.begin(ALICE, f"blackbox challenge alice {words}"))
    assert started.kind == "started"
    return only_letter(server.reply(started, HIDING))


def unused(letter: Posted) -> str:
    """Return the first port that the letter lists as unused."""
    return letter.text.partition("Ports not used yet:")[2].split()[0]


def waiting(server: Indoors) -> int:
    """Return the boards on which the house is to move, and the letters that wait for it."""
    with server.server.database.reading.connect() as connection:
        turns = connection.execute(select(func.count()).select_from(house_turns)).scalar_one()
        kept = select(func.count()).select_from(outbox).where(outbox.c.state == "coming")
        return int(turns + connection.execute(kept).scalar_one())


def record(server: Indoors, board: int = 1) -> list[tuple[int, str]]:
    with server.server.database.reading.connect() as connection:
        return [(ply.seat, ply.text) for ply in moves.record(connection, board)]


def test_no_clock_runs_while_the_house_is_to_move(server: Indoors) -> None:
    """It may be down for days, and loses no game on time."""
    letter = begun(server)
    server.reply_unread(letter, unused(letter))
    with server.server.database.reading.connect() as connection:
        board = boards.load(connection, 1)
    assert board is not None
    assert [clock.since for clock in board.clocks] == [None, None]


def test_a_game_goes_to_its_end_and_counts_for_the_person_alone(server: Indoors) -> None:
    letter = begun(server, "house-hard")
    while letter.kind != "result":
        letter = only_letter(server.reply(letter, unused(letter)))
    assert "house-hard found all the atoms and won board 1" in letter.text
    assert "Since your last move:" in letter.text
    assert "* You fired port" in letter.text
    assert 'Reply "rematch"' in letter.text
    strong = GAME.info.strength["house-hard"]["rating"]
    assert "Your Blackbox rating: " in letter.text
    assert "chance of winning" not in letter.text  # of a first rating it would be made up
    assert (
        f"house-hard: {strong}. We measured that rating, and games do not change it." in letter.text
    )
    assert f"house-hard: {strong} (measured; games do not change it)" in " ".join(
        letter.html.split()
    )
    again = only_letter(server.reply(letter, "rematch"))
    assert again.subject == "Your move: Blackbox 2 against house-hard"
    assert "hide 4 atoms" in again.text
    moved = only_letter(server.reply(again, HIDING))
    assert "* house-hard fired port" in moved.text
    with server.server.database.reading.connect() as connection:
        rows = connection.execute(select(ratings).order_by(ratings.c.player_id)).all()
    person, bot = rows
    assert person.games == bot.games == 1
    assert person.mu < NEWCOMER.mu, "a loss"
    assert Rating(bot.mu, bot.sigma) == anchor(GAME.info.strength["house-hard"]["mu"])
    assert person.opponents == 0, "the house helps nobody to a place"
    assert rebuilding.check(server.server.database).differences == 0


def test_queued_moves_are_answered_in_one_letter(server: Indoors) -> None:
    begun(server)
    letter = only_letter(server.send(ALICE, f"blackbox queue 1 alice {PASSWORD} 4; 5; 6"))
    moves = [seat for seat, _ in record(server)]
    assert moves == [1, 0, 0, 1, 0, 1, 0, 1] or "could not be played" in letter.text
    assert letter.text.count("* house fired port") == moves[2:].count(1)


def test_in_a_race_with_people_the_house_waits_for_them_and_then_hurries(server: Indoors) -> None:
    own, challenge = server.send(
        ALICE, "blackbox challenge alice bob house -race -size=5x5 -atoms=2"
    )
    if own.recipient != ALICE:
        own, challenge = challenge, own
    assert record(server) == []
    server.reply(challenge, "accept")
    assert {seat for seat, _ in record(server)} == {2}
    assert record(server)[-1][1].endswith("?")
    assert not server.letters()
    server.reply(own, "resign")
    done = {letter.recipient: letter for letter in server.reply(challenge, "+a1,+b1,?")}
    assert set(done) == {ALICE, BOB}
    assert "house solved" in done[ALICE].one_line
    with server.server.database.reading.connect() as connection:
        # Tables of scores keep solved boxes of people, and neither of the two solved this one.
        assert connection.execute(select(scores.c.player_id)).all() == []


def test_a_race_against_the_house_alone_tells_nothing_before_its_end(server: Indoors) -> None:
    words = "blackbox challenge alice house-hard house-easy -race -size=5x5 -atoms=2"
    started = only_letter(server.begin(ALICE, words))
    assert "you hear how it did only when you are done" in started.one_line
    fired = only_letter(server.reply(started, "3"))
    assert "house-hard" not in fired.text.partition("* ")[2].partition("Board 1:")[0]
    done = only_letter(server.reply(fired, "+a1,+b1,?"))
    assert done.kind == "result"
    assert "house-hard  solved" in done.text


def test_a_digest_player_gets_the_answer_at_once(server: Indoors) -> None:
    letter = begun(server)
    server.send(ALICE, f"prefs alice {PASSWORD} digest=daily@07:30")
    assert "* house fired port" in only_letter(server.reply(letter, "5")).text


def test_a_letter_does_not_wait_for_a_house_that_cannot_move(
    server: Indoors, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    letter = begun(server)
    for choose in (lambda *_: "no move at all", lambda *_: sys.exit(3)):
        caplog.clear()
        with monkeypatch.context() as broken:
            broken.setattr(Level, "choose", choose)
            own = only_letter(server.reply(letter, unused(letter)))
        assert "house fired" not in own.text
        assert "house to move" in own.text
        (error_record,) = [record for record in caplog.records if record.levelname == "ERROR"]
        line = TextFormatter().format(error_record)
        assert '"the house cannot move; it is put off" board=1 fault=' in line
        assert "no move at all" not in line
        letter = only_letter(server.live(hours=2))
        assert "* house fired port" in letter.text
        assert waiting(server) == 0


def gone_away(*_: object) -> str:
    raise OperationalError("SELECT", None, Exception("gone away"))


def test_a_database_that_is_away_puts_no_board_off(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    letter = begun(server)
    server.reply_unread(letter, "5")
    with monkeypatch.context() as broken:
        broken.setattr(Level, "choose", gone_away)
        with pytest.raises(OperationalError):
            server.server.bot_worker.run_once()
    assert waiting(server) == 2
    assert "* house fired port" in only_letter(server.letters()).text


def test_a_dropped_letter_does_not_keep_the_move(server: Indoors) -> None:
    letter = begun(server)
    server.reply_unread(letter, "5")
    with server.server.database.writing.begin() as connection:
        connection.execute(update(outbox).where(outbox.c.state == "coming").values(state="failed"))
    assert "* house fired port" in only_letter(server.letters()).text


def test_a_board_that_ends_meanwhile_needs_no_move(server: Indoors) -> None:
    letter = begun(server)
    server.reply_unread(letter, "5")
    plies = len(record(server))
    signed = Signature("olga", "Both asked for it.")
    server.operators.do(signed, partial(operating_boards.end_board, number=1))
    kinds = {letter.kind for letter in server.letters()}
    assert kinds == {"board", "operator-board"}
    assert len(record(server)) == plies
    assert waiting(server) == 0


def test_operators_see_the_house_and_cannot_treat_it_as_a_person(server: Indoors) -> None:
    letter = begun(server)
    facts = dict(server.look(lambda context: user_facts(context, userid="house"))[0])
    assert facts["state"] == "house"
    assert facts["letters to"] == "(nowhere)"
    assert facts["running"] == "1"
    signed = Signature("olga", "Let us see.")
    for deed in (
        partial(people.suspend, userid="house", end_games=True),
        partial(people.restore, userid="house"),
        partial(people.reset, userid="house"),
        partial(merging.merge, userid="alice", into="house"),
    ):
        with pytest.raises(OperatorError, match="is the server itself"):
            server.operators.do(signed, deed)
    server.reply(letter, "resign")
    server.operators.do(signed, partial(set_rated, number=1, rated=True))
    server.letters()
    server.send(ALICE, f"blackbox challenge alice {PASSWORD} house house-easy -race")
    with pytest.raises(OperatorError, match="with bots that are not rated"):
        server.operators.do(signed, partial(set_rated, number=2, rated=True))


def test_only_so_many_boards_with_one_house(
    server: Indoors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bot_turns, "MOST", 2)
    words = "challenge alice house-easy -size=2x2 -atoms=1"
    letter = only_letter(server.begin(ALICE, f"blackbox {words}"))
    assert only_letter(server.reply(letter, words)).kind == "started"
    refused = only_letter(server.reply(letter, words))
    assert "You play 2 games with house-easy" in refused.text
    assert only_letter(server.reply(letter, words.replace("-easy", ""))).kind == "started"


def test_leaving_ends_games_with_the_house(server: Indoors) -> None:
    begun(server)
    question = only_letter(server.send(ALICE, f"delete alice {PASSWORD}"))
    server.reply(question, "yes")
    with server.server.database.reading.connect() as connection:
        status = connection.execute(select(board_table.c.status)).scalar_one()
    assert status in {"finished", "declined"}
    assert waiting(server) == 0


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_a_report_that_cannot_be_worked_out_keeps_no_letter_waiting_and_can_be_asked_for_again(
    server: Indoors, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.begin(ALICE, "blackbox solo alice -size=4x4 -atoms=1")
    letter = only_letter(server.send(ALICE, f"blackbox solve 1 alice {PASSWORD}"))
    for fault in (ValueError, SystemExit):

        def fail(*_: object, fault: type[BaseException] = fault) -> None:
            raise fault("atoms at B2")

        with monkeypatch.context() as broken:
            broken.setattr(Blackbox, "report", staticmethod(fail))
            letter = only_letter(server.reply(letter, "report"))
        assert "No report on board 1" in letter.text
        assert "the coach cannot work a report out" in caplog.text
        assert "B2" not in caplog.text
        caplog.clear()
    again = only_letter(server.reply(letter, "report"))
    assert "The coach needs" in again.text
    assert not caplog.records
