"""A game that is stopped or not installed keeps its boards, and other games do not wait for it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from asgi_client import load_all, site_of
from heaps import HEAPS, show_heaps
from indoors import Indoors, address_of, indoors
from seating import HIDINGS
from sqlalchemy import select

from pbmserv.engine.registry import Registry
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.games import resume_game
from pbmserv.service.operators.orders import order
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import inbox, outbox

ANNA, BELA = map(address_of, ("anna", "bela"))
BY = Signature("olga", "it is mended")
STOPPED = "Heaps is stopped for now"
House = Callable[..., AbstractContextManager[Indoors]]


@pytest.fixture
def opened(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[], AbstractContextManager[Indoors]]:
    """Open a server; without *heaps*, that game is not installed."""
    show_heaps()

    @contextmanager
    def open_server(*, heaps: bool = True) -> Iterator[Indoors]:
        games = [*Registry.installed()]
        with monkeypatch.context() as patch:
            installed = [*games, HEAPS] if heaps else games
            patch.setattr(Registry, "installed", classmethod(lambda cls: cls(installed)))
            with indoors(tmp_path, database_url) as house:
                house.server.play_stage.note_games()
                yield house

    return open_server


def begin(house: Indoors) -> None:
    """Begin board 1, of heaps, and board 2, of Blackbox."""
    house.sign_up("anna", "bela")
    for board, game in enumerate(("heaps", "blackbox"), 1):
        house.send(BELA, f"{game} challenge bela wonder-land anna")
        house.send(ANNA, f"{game} accept {board} anna wonder-land")


def stop(house: Indoors, number: int) -> None:
    """Note one of the two stops after which the game is stopped."""
    stops = [
        Stop(f"stop {number}", "heaps", house.server.clock.now(), "play", "bad_plugin.py, line 3")
    ]
    house.server.play_stage.note_stops(stops)


def played(house: Indoors) -> int:
    return house.server.count(plies)


def states(house: Indoors) -> list[str]:
    return house.server.column(select(inbox.c.state).order_by(inbox.c.id))


def errors(house: Indoors) -> list[str]:
    """Why letters about a board were not sent."""
    rows = select(outbox.c.error).where(outbox.c.board_id == 1, outbox.c.state == "queued")
    return house.server.column(rows)


def shown(house: Indoors, *paths: str) -> dict[str, int]:
    """Return the status of each page."""
    answers = load_all(site_of(house.server), *paths)
    return {path: answer.status for path, answer in answers.items()}


def test_the_moves_and_clocks_of_a_stopped_game_wait_until_it_is_resumed(
    opened: House, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "pbmserv.receive")
    with opened() as house:
        begin(house)
        stop(house, 1)
        stop(house, 1)  # the next process reports it again
        assert house.letters() == []
        stop(house, 2)
        assert {letter.recipient for letter in house.letters()} == {ANNA, BELA}

        # A move waits, without another letter; the other game goes on.
        assert house.send(BELA, "heaps move 1 bela wonder-land 3") == []
        assert states(house)[-1] == "paused"
        assert caplog.records[-1].__dict__["because"] == "the game heaps is stopped"
        house.server.play_stage.put_off_mails.run_once()
        assert played(house) == 0
        house.send(BELA, f"blackbox move 2 bela wonder-land {HIDINGS[0]}")
        assert played(house) == 1

        # Of several commands, those about it are refused.
        both = "heaps move 1 bela wonder-land 2\nblackbox move 2 bela wonder-land 1"
        (answer, *_) = house.send(BELA, "multiple", both)
        assert "it is stopped until a person has looked at it" in answer.one_line
        (refused,) = house.send(BELA, "heaps challenge bela wonder-land anna")
        assert "Heaps" in refused.text
        assert "is stopped until a person" in refused.one_line
        (listed,) = house.send(BELA, "games bela")
        assert "cannot be shown now" in listed.text

        # Its clocks stand still: after a year nobody has lost.
        house.live(days=365)
        summary = house.operators.do(BY, order(resume_game, "HEAPS")).summary
        assert summary.startswith("heaps goes on")
        house.server.play_stage.put_off_mails.run_once()
        assert "bela has taken 3" in "".join(letter.text for letter in house.letters())
        house.live(days=6)
        assert not any("1" in letter.subject for letter in house.letters())

        # Two more stops would stop it again; one alone does not.
        stop(house, 3)
        shown_board = house.send(ANNA, "heaps showas anna wonder-land 1")[0]
        house.reply(shown_board, "1")
        assert states(house)[-1] == "done"

        # Nor do stops count from before it was resumed, even on the same day.
        stop(house, 4)
        house.operators.do(BY, order(resume_game, "heaps"))
        house.live(minutes=1)
        stop(house, 5)
        house.send(BELA, "heaps move 1 bela wonder-land 1")
        assert states(house)[-1] == "done"


@pytest.mark.sqlite_alone
def test_letters_and_pages_of_a_stopped_game_wait(opened: House) -> None:
    with opened() as house:
        begin(house)
        house.send_unread(BELA, "heaps move 1 bela wonder-land 3")
        stop(house, 1)
        stop(house, 2)
        for _ in range(2):
            house.server.sender.run_once()
        waits = "waits: the game heaps is stopped"
        assert errors(house) == [waits, waits]
        house.send_unread(BELA, "prefs bela wonder-land public=yes")
        assert shown(house, "/game/1") == {"/game/1": 503}
        house.operators.do(BY, order(resume_game, "heaps"))
        assert {letter.recipient for letter in house.letters() if letter.board == 1} == {ANNA, BELA}
        assert shown(house, "/game/1") == {"/game/1": 200}


@pytest.mark.parametrize("database_url", ["postgresql"], indirect=True)
def test_the_boards_of_a_game_that_is_not_installed_wait_for_it(opened: House) -> None:
    with opened() as house:
        begin(house)
        letters = house.send(BELA, "heaps move 1 bela wonder-land 3")
        (board,) = [letter for letter in letters if letter.recipient == ANNA]
    with opened(heaps=False) as house:
        house.mails = 100
        (waits,) = house.reply(board, "1")
        assert waits.subject == "The game heaps is stopped for now"
        assert "because it is not installed" in waits.one_line
        assert house.reply(board, "2") == []
        (listed,) = house.send(BELA, "games bela")
        assert "heaps (not installed)" in listed.one_line
        assert shown(house, "/players/bela", "/", "/game/1", "/standings", "/api/players/bela") == {
            "/players/bela": 200,
            "/": 200,
            "/game/1": 503,
            "/standings": 200,
            "/api/players/bela": 200,
        }
        house.live(days=365)
        house.server.play_stage.put_off_mails.run_once()
        assert played(house) == 1
    with opened() as house:
        assert not house.letters()
        house.server.play_stage.put_off_mails.run_once()
        assert played(house) == 2  # the second reply was to the same turn


@pytest.mark.sqlite_alone
def test_a_player_can_leave_though_a_game_is_gone(opened: House) -> None:
    with opened() as house:
        begin(house)
        house.send(BELA, "heaps move 1 bela wonder-land 3")
    with opened(heaps=False) as house:
        house.mails = 100
        (question,) = house.send(BELA, "delete bela wonder-land")
        assert "deleted" in {letter.kind for letter in house.reply(question, "yes")}
        (listed,) = house.send(ANNA, "games anna")
        assert "no active games" in listed.text


@pytest.mark.sqlite_alone
def test_an_entry_in_an_event_can_be_taken_back_though_the_game_is_gone(opened: House) -> None:
    with opened() as house:
        house.sign_up("bela")
        house.send(BELA, "league bela wonder-land join heaps")
    with opened(heaps=False) as house:
        house.mails = 100
        (left,) = house.send(BELA, "event bela wonder-land leave 1")
        assert "You have left" in left.one_line


@pytest.mark.sqlite_alone
def test_questions_about_a_game_that_is_gone_can_be_answered_with_no(opened: House) -> None:
    friends = ("friend@far.example", "other@far.example")
    with opened() as house:
        house.sign_up("bela")
        (question,) = house.send(BELA, "heaps challenge bela house")
        sent = [
            house.send(BELA, f"heaps challenge bela wonder-land {friend}") for friend in friends
        ]
    invitations = [letter for letters in sent for letter in letters if letter.recipient in friends]
    with opened(heaps=False) as house:
        house.mails = 100
        (dropped,) = house.reply(question, "no")
        assert "heaps (not installed)" in dropped.one_line
        for invitation, answer in zip(invitations, ("no", "never"), strict=True):
            told = {letter.recipient: letter.one_line for letter in house.reply(invitation, answer)}
            assert "heaps (not installed)" in told[BELA]
            assert "Not done" not in told[invitation.recipient]
