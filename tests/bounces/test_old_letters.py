"""Storage of letters: octets for days, words for weeks, and very little for good."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from duplicate_events import create_as_operator
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from posting import come_back
from sqlalchemy import event, func, select, text, update

from pbmserv.errors import OperatorError, ServerFault
from pbmserv.service.operators.deeds import Signature
from pbmserv.service.operators.letters import letter_text, retry_letters
from pbmserv.store.delivery import inbox as mails
from pbmserv.store.delivery import old_letters, outbox
from pbmserv.store.tables.mail import MailState, inbox
from pbmserv.store.tables.mail import outbox as rows
from pbmserv.views.shown_boards import ShownBoards

pytestmark = pytest.mark.slow

SIGNED = Signature("olga", "it was asked for")
ALICE, BOB = map(address_of, ("alice", "bob"))


@pytest.fixture
def house(database_url: str, tmp_path: Path) -> Iterator[Indoors]:
    with indoors(tmp_path, database=database_url) as server:
        server.sign_up("alice", "bob")
        yield server


def challenged(house: Indoors) -> list[Posted]:
    """Return the letters of a challenge, the answer first."""
    letters = house.send(ALICE, "blackbox challenge alice bob -size=4x4 -atoms=1 --forfeittime=90")
    house.make_letters()
    return letters


def row(house: Indoors, letter: Posted) -> dict[str, object] | None:
    with house.server.database.reading.connect() as connection:
        mapping = connection.execute(select(rows).where(rows.c.id == letter.id)).mappings().first()
    return dict(mapping) if mapping else None


def made_again(house: Indoors, letter: Posted) -> bytes:
    """Return the mail that the composer makes now from a letter's row and the record."""
    with house.server.database.reading.connect() as connection:
        queued = outbox.letter(connection, letter.id)
        assert queued is not None
        composer = house.server.outbox.composer
        return composer.bytes_of(ShownBoards(connection, composer.positions), queued)


def test_the_record_gives_the_same_mail_for_weeks(house: Indoors) -> None:
    letters = challenged(house)
    assert {letter.recipient for letter in letters} == {ALICE, BOB}
    house.live(days=29)
    for letter in letters:
        assert made_again(house, letter) == letter.raw


def test_a_letter_that_comes_back_after_weeks_is_made_from_the_record(house: Indoors) -> None:
    _, challenge = challenged(house)
    house.live(days=4)
    come_back(house, challenge)
    again = next(letter for letter in house.live(days=1) if letter.kind == challenge.kind)
    assert (again.recipient, again.subject) == (challenge.recipient, challenge.subject)
    assert (again.text, again.html) == (challenge.text, challenge.html)
    assert again.message["Message-ID"] == challenge.message["Message-ID"]


def test_old_letters_keep_what_links_and_replies_need(
    house: Indoors, caplog: pytest.LogCaptureFixture
) -> None:
    answer, challenge = challenged(house)
    house.live(days=29)
    assert row(house, answer)["recipient"] == ALICE
    house.live(days=4)
    assert row(house, answer) is None, "nobody can refer to an answer any more"
    bare = row(house, challenge)
    assert bare is not None
    gone = {"recipient": "", "words": {}, "message_id": "", "in_reply_to": "", "error": ""}
    assert {name: bare[name] for name in gone} == gone
    with pytest.raises(ServerFault, match="its words were deleted"):
        made_again(house, challenge)

    with house.server.database.reading.connect() as connection:
        before = connection.execute(select(func.count()).select_from(rows)).scalar()
    for letter in (answer, challenge):
        assert come_back(house, letter) == []
        assert house.live(days=1) == [], "nothing is sent again"
    with house.server.database.reading.connect() as connection:
        assert connection.execute(select(func.count()).select_from(rows)).scalar() == before

    chat = house.send(BOB, f"blackbox chat 1 bob {PASSWORD}", "Still there?")
    assert {letter.kind for letter in chat} == {"chat", "chat-sent"}
    assert caplog.records == [], "words that were deleted are no fault"

    (link,) = re.findall(r"mailto:([^?>]+)", str(challenge.message["List-Unsubscribe"]))
    (confirmation,) = house.send(BOB, "unsubscribe", to=link)
    assert confirmation.kind == "unsubscribed"


def test_an_old_digest_can_still_be_answered(house: Indoors) -> None:
    house.send(BOB, f"prefs bob {PASSWORD} digest=daily@07:30")
    number = challenged(house)[0].board
    digest = next(letter for letter in house.live(days=1) if letter.kind == "tray")
    house.live(days=33)
    assert row(house, digest)["words"] == {
        "waiting": [{"board": number, "turn": 1}],
        "more": [],
        "news": [],
    }
    letters = house.reply(digest, f"{number}: a1")
    assert "refusal" not in {
        kind for letter in letters for kind in (letter.kind, *letter.inside)
    }, letters


def test_old_letters_about_an_event_can_still_be_ended(house: Indoors) -> None:
    create_as_operator(house, "blackbox")
    for userid in ("alice", "bob"):
        house.send(address_of(userid), f"event {userid} {PASSWORD} join 1")
    letters = [*house.live(days=4), *house.live(days=15)]
    house.make_letters()
    about_event = [letter for letter in letters if letter.kind in {"event-begins", "event-ends"}]
    house.live(days=40)
    for letter in about_event:
        (link,) = re.findall(r"mailto:([^?>]+)", str(letter.message["List-Unsubscribe"]))
        (confirmation,) = house.send(letter.recipient, "unsubscribe", to=link)
        assert confirmation.kind == "unsubscribed"
    assert len(about_event) == 4


@pytest.mark.parametrize("state", ["queued", "parked"])
def test_a_waiting_letter_keeps_everything(house: Indoors, state: str) -> None:
    (_, challenge) = challenged(house)
    with house.server.database.writing.begin() as connection:
        connection.execute(update(rows).where(rows.c.id == challenge.id).values(state=state))
    house.server.clock.move(days=400)
    while house.server.expiry.step():
        pass
    assert made_again(house, challenge) == challenge.raw


def test_operators_look_at_a_letter_and_send_it_again(house: Indoors) -> None:
    _, challenge = challenged(house)
    with house.server.database.writing.begin() as connection:
        connection.execute(update(rows).where(rows.c.id == challenge.id).values(state="failed"))
    house.live(days=4)
    _, shown = house.look(lambda context: letter_text(context, challenge.id))
    assert challenge.subject in shown
    house.operators.do(SIGNED, partial(retry_letters, numbers=[challenge.id]))
    assert [letter.text for letter in house.letters()] == [challenge.text]
    house.live(days=40)
    with pytest.raises(OperatorError, match="has been sent"):
        house.operators.do(SIGNED, partial(retry_letters, numbers=[challenge.id]))


def test_a_search_for_old_letters_and_mails_reads_no_rows_that_stay_for_good(
    tmp_path: Path,
) -> None:
    executed: list[tuple[str, Any]] = []
    with indoors(tmp_path) as server, server.server.database.reading.connect() as connection:
        event.listen(
            connection, "before_cursor_execute", lambda *call: executed.append((call[2], call[3]))
        )
        now = server.server.clock.now()
        old_letters.with_words(connection, now, 9)
        mails.with_text(connection, MailState.DONE, now, 9)
        searches = zip(tuple(executed), ("ix_outbox_over", "ix_inbox_text"), strict=True)
        for (statement, parameters), index in searches:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters).all()
            assert any(index in step[-1] for step in plan), plan
            assert not any(step[-1].startswith("SCAN") for step in plan), plan


def test_packed_values_take_less_room(house: Indoors) -> None:
    house.send(ALICE, f"prefs alice {PASSWORD} tz=Europe/Berlin", "x" * 20_000)
    with house.server.database.reading.connect() as connection:
        mail = connection.execute(text("SELECT max(length(raw)) FROM inbox")).scalar()
        whole = max(map(len, connection.scalars(select(inbox.c.raw))))
    assert whole > 20_000
    assert mail < 2_000
