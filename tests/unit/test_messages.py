"""Messages between stages: each comes out as it went in, and nothing else is read."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rows import rows
from sqlalchemy.exc import OperationalError

from pbmserv.engine.types import Move, Seat
from pbmserv.errors import OperatorError, ServerFault, StoreAway
from pbmserv.monitoring.vitals import Vital
from pbmserv.outbound.results import Failed, Later, Sent, Untried
from pbmserv.service.bots.bot_moves import Thought
from pbmserv.service.limits.rates import Over
from pbmserv.service.operators import (
    announcements,
    blocked_senders,
    boards,
    events,
    games,
    kept_mails,
    ladders,
    letters,
    lost_mailboxes,
    merging,
    people,
    ratings,
    reply_keys,
)
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.health import RelayState, Slots
from pbmserv.service.operators.orders import DEEDS, Order, order
from pbmserv.service.pages.page_requests import PageRequest
from pbmserv.stages import messages
from pbmserv.stages.door import TryLater
from pbmserv.stages.messages import (
    REQUESTS,
    ActForBot,
    AskState,
    CarryOutOrder,
    ClaimLetters,
    KeepReport,
    LookAgain,
    Misread,
    NoteStops,
    ProbeWrite,
    PutOffBot,
    ReleaseLostLetters,
    RenewLetters,
    Request,
    RetryKeptMail,
    SettleLetters,
    StageState,
    StoreForm,
    StorePress,
)
from pbmserv.store.boards.game_pauses import Stop
from pbmserv.store.bots import ReportRequest
from pbmserv.store.delivery.letter_claims import ClaimedLetter

NOW = datetime(2026, 3, 1, 12, 30, 15, 250_001, tzinfo=UTC)
BY = Signature("olga", "it was asked for")
WORDS = {"a": [1, 2.5, None, True, {"ä": "\n\x00"}]}
OVER = Over("player", "7", 3, "hour", NOW)
LETTERS = [
    ClaimedLetter("board", "a@x.example", WORDS, "<1@x>", created_at=NOW, id=7),
    ClaimedLetter("help", "b@x.example", {}, "<2@x>", seat=1, created_at=NOW, id=8, effort=30),
]
RESULTS = (
    Sent(1),
    Later(2, NOW, "450 later"),
    Failed(3, "550"),
    Untried(4, NOW, "x"),
)
ORDERS: tuple[Order, ...] = (
    order(people.suspend, "alice", end_games=True),
    order(people.restore, "alice"),
    order(people.reset, "alice"),
    order(people.reachable, "alice"),
    order(merging.merge, "alice", "bob"),
    order(boards.end_board, 3),
    order(events.create_event, "league", "blackbox", "2027-03-01"),
    order(events.postpone, 1, "2027-03-01"),
    order(events.cancel, 1),
    order(events.remove, 1, "alice"),
    order(events.decide, 3, "draw"),
    order(ladders.remove, "blackbox", "alice"),
    order(ladders.settle, 3, "alice"),
    order(ladders.annul, 3),
    order(boards.hand_over, 3, "alice", "bob"),
    order(boards.set_deadline, 3, ["--nagtime=3"]),
    order(ratings.set_rated, 3, rated=False),
    order(ratings.rebuild_ratings),
    order(games.close_game, "blackbox"),
    order(games.open_game, "blackbox"),
    order(games.resume_game, "blackbox"),
    order(kept_mails.drop_mail, 3),
    order(letters.retry_letters, [1, 2]),
    order(letters.hold_letter, 3),
    order(letters.drop_letter, 3),
    order(letters.retry_failed, "2026-03-21"),
    order(letters.flush),
    order(announcements.announce, "We move", "On Sunday.\n\nStay.", is_service=True),
    order(blocked_senders.block, "spam.example", "2026-12-31"),
    order(blocked_senders.unblock, "spam.example"),
    order(lost_mailboxes.erase, "alice"),
    order(lost_mailboxes.export, "alice", "alice@new.example"),
    order(lost_mailboxes.rename, "alice", "alicia"),
    order(reply_keys.rotate),
    order(reply_keys.retire, 90),
    order(announcements.stop, 3),
    order(announcements.resume, 3),
)
STATE = StageState(
    vitals=(Vital("play", True, 0.5, 300.0),),
    slots={"smtp": Slots(1, 20)},
    relay=RelayState(2, is_open=True, fault="no connection"),
    texts=(1, 2),
    counted=b"\xff",
    doing="arrival 3 for 1.0 s",
    certificate_ends=NOW,
    damage="Tree 5 page 7",
    since=NOW,
)
EXCHANGES: list[tuple[Request[Any], Any]] = [
    (AskState(), STATE),
    (ProbeWrite(), None),
    (ClaimLetters("here", 16), LETTERS),
    (ClaimLetters("here", 1), []),
    (ReleaseLostLetters("here", (1, 2)), None),
    (ReleaseLostLetters("here", ()), None),
    (RenewLetters((1, 2)), None),
    (SettleLetters(RESULTS), None),
    (NoteStops((Stop("a", "nim", NOW, "post1", "nim.py, line 3"),)), None),
    (ActForBot(3, Thought(4, Seat(1), Move("a,g+b2", free=True))), None),
    (ActForBot(3, None), None),
    (PutOffBot(3), None),
    (KeepReport(ReportRequest(3, 4, 1), WORDS), None),
    *((CarryOutOrder(BY, order), "done; nothing lost\n") for order in ORDERS),
    (RetryKeptMail(9, BY), "Mail 9 is carried out."),
    (LookAgain(), None),
    (StoreForm(b'{"form": "confirm", "signup": 3}'), 17),
    (StorePress(PageRequest(7, 1, 12, 9, "k", "g,+b2", "Hello!")), 18),
    (StorePress(PageRequest(7, 1, 0, 0, "k", "back")), OVER),
]


@rows(("request_", "answer"), EXCHANGES)
def test_requests_and_answers_come_out_as_they_went_in(request_: Request[Any], answer: Any) -> None:
    line = messages.request_line(request_)
    assert line.count(b"\n") == 1
    assert messages.read_request(line) == request_
    line = messages.answer_line(request_, answer)
    assert line.count(b"\n") == 1
    assert messages.read_answer(request_, line) == answer


def test_every_request_and_every_order_is_tried() -> None:
    assert {type(request) for request, _ in EXCHANGES} == set(REQUESTS.values())
    assert sorted(order.deed for order in ORDERS) == sorted(DEEDS)


@rows("request_", [request for request, _ in EXCHANGES])
def test_a_request_with_anything_wrong_in_it_is_not_read(request_: Request[Any]) -> None:
    name = type(request_).__name__
    good = json.loads(messages.request_line(request_).partition(b" ")[2])[0]
    for wrong in wrong_values(good):
        with pytest.raises(Misread) as raised:
            messages.read_request(f"{name} {json.dumps([wrong])}\n".encode())
        assert "WRONG" not in str(raised.value)


def wrong_values(good: dict[str, Any]) -> list[Any]:
    """Return values that only resemble a request: a field too many, each one missing or wrong."""
    wrong: list[Any] = [None, [], "WRONG", {**good, "extra": "WRONG"}]
    for name in good:
        if name not in {"values", "words"}:
            wrong.append({**good, name: {"other": ["WRONG"]}})
        wrong.append({key: value for key, value in good.items() if key != name})
    return wrong


def full_disk() -> OperationalError:
    cause = sqlite3.OperationalError("database or disk is full")
    cause.sqlite_errorname = "SQLITE_FULL"
    return OperationalError("INSERT INTO mail VALUES (?)", ("hunter2",), cause)


@rows(
    ("error", "kind", "sentence"),
    [
        (OperatorError("there is no player eve"), OperatorError, "there is no player eve"),
        (TryLater("the database could not take it"), StoreAway, "the database could not take it"),
        (full_disk(), StoreAway, "database or disk is full"),
        (ServerFault("no game is installed"), ServerFault, "no game is installed"),
        (ValueError("hunter2 is not a number"), ServerFault, "ValueError"),
    ],
)
def test_an_error_comes_out_with_its_reason_and_without_values(
    error: Exception, kind: type[Exception], sentence: str
) -> None:
    request_, _ = EXCHANGES[0]
    with pytest.raises(kind) as raised:
        messages.read_answer(request_, messages.error_line(error))
    assert (type(raised.value), str(raised.value)) == (kind, sentence)


@given(st.binary(max_size=200))
def test_no_octets_are_read_as_anything_else(octets: bytes) -> None:
    with pytest.raises(Misread):
        messages.read_request(octets)
