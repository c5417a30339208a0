"""A sender of too much is put off, and told so once a day; nobody else suffers for it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from running import Letter, Running, start
from smtp_client import Wire, mail
from sqlalchemy import func, select

from pbmserv.errors import Refused
from pbmserv.mail.envelope import NOWHERE, Source, Verdict
from pbmserv.service.core.actor import Actor
from pbmserv.service.core.command_state import CurrentCommand
from pbmserv.service.core.flood_limits import refuse_too_many_questions
from pbmserv.service.limits.rates import Rates, Reply, Traffic
from pbmserv.store.tables.mail import inbox

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"
ALICE, BOB = "alice@players.example", "bob@players.example"
PASSWORD = "wonder-land"
OVER = "451 4.7.1 too many mails from you"


class StandingClock:
    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@pytest.fixture
def clock() -> StandingClock:
    return StandingClock()


@pytest.fixture
def busy(database_url: str, tmp_path: Path) -> Iterator[Running]:
    with start(
        tmp_path,
        database_url,
        signup="open",
        lmtp="127.0.0.1:0",
        rate_player="3/hour",
        rate_address="6/hour",
        rate_network="8/2 hours",
    ) as running:
        running.send(ALICE, f"signup alice {PASSWORD}")
        running.send(BOB, f"signup bob {PASSWORD}")
        running.letters()
        running.live(hours=3)
        yield running


def taken(server: Running) -> int:
    counted = select(func.count()).select_from(inbox).where(inbox.c.state != "later")
    return int(server.server.value(counted))


def subjects(letters: list[Letter]) -> list[str]:
    return [letter.subject for letter in letters]


def test_addresses_networks_and_players(busy: Running) -> None:
    # An address, from wherever it writes.
    stranger = "stranger@players.example"
    assert [busy.send(stranger, f"help {n}")[:3] for n in range(6)] == ["250"] * 6
    assert len(busy.letters()) == 6
    before = taken(busy)
    for n in range(3):
        assert busy.send(stranger, f"list {n}").startswith(OVER)
    (letter,) = busy.letters(stranger)  # once a day
    assert letter.subject == "Too many mails at once"
    assert "More than 6 mails in an hour have come from you" in letter.text
    assert "from 2026-03-01 16:00 UTC on mails are taken again" in letter.text
    # After three tries nothing is even read any more, and nothing was kept.
    assert busy.send(stranger, "list").startswith(OVER)
    assert taken(busy) == before

    # A machine is put off as well, and not told.
    robot = "robot@players.example"
    for n in range(8):
        busy.send(robot, f"help {n}", Precedence="bulk")
    assert busy.letters(robot) == []

    # Somebody else, and the same one an hour later.
    assert busy.send(BOB, "list").startswith("250")
    assert len(busy.letters(BOB)) == 1
    busy.live(hours=1)
    assert busy.send(stranger, "list").startswith("250")
    assert len(busy.letters(stranger)) == 1

    # A network: the operator's own mail server is none. Three texts above its limit are read.
    codes = []
    for n in range(12):
        with Wire(busy.port, source=f"127.0.2.{n + 1}") as wire:
            assert wire.ask(f"MAIL FROM:<n{n}@players.example>").startswith("250")
            named = answer = wire.ask(f"RCPT TO:<{OURS}>")
            if answer.startswith("250"):
                assert wire.ask("DATA").startswith("354")
                raw = mail(f"n{n}@players.example", "list", Message_ID=f"<{n}@n.example>")
                answer = wire.ask(raw + b"\r\n.\r\n")
            codes.append((named[:3], answer[:3]))
    assert codes == [("250", "250")] * 8 + [("250", "451")] * 3 + [("451", "451")]
    assert len(busy.letters()) == 8  # addresses in a flood may be anybody's: they are not told


def test_a_player_by_reply_address_and_by_password(busy: Running) -> None:
    busy.send(ALICE, f"message alice {PASSWORD} bob", "Good morning!")
    question = next(letter for letter in busy.letters() if str(letter.message["To"]) == BOB)
    home = "bob-at-home@players.example"  # nobody knows it: the reply address says who it is
    for n in range(3):
        assert busy.reply(question, f"Good day, the {n}th!", sender=home).startswith("250")
    assert busy.reply(question, "And one more!", sender="bob-at-work@players.example").startswith(
        OVER
    )
    notices = [letter for letter in busy.letters(BOB) if letter.subject == "Too many mails at once"]
    assert len(notices) == 1
    assert "More than 3 mails in an hour" in notices[0].text
    busy.letters()

    # Alice has written once; by a password two more are taken, however many commands they have.
    many = f"showas alice {PASSWORD}\nprefs alice {PASSWORD}\ngames alice"
    assert busy.send(ALICE, "multiple", many).startswith("250")
    assert busy.send(ALICE, f"prefs alice {PASSWORD}").startswith("250")
    before = taken(busy)
    # Whose mail it is comes out when it is carried out: it waits, and the player is told.
    assert busy.send(ALICE, f"prefs alice {PASSWORD} format=text").startswith("250")
    assert busy.send("other@players.example", f"prefs alice {PASSWORD}").startswith("250")
    assert taken(busy) == before
    assert subjects(busy.letters())[-1] == "Too many mails at once"
    assert busy.letters() == []
    # A wrong password counts for nobody, so a stranger cannot use a player's mails up.
    for n in range(4):
        assert busy.send(f"s{n}@players.example", "prefs bob wrong-word").startswith("250")
    busy.live(hours=1)
    assert busy.send(ALICE, f"prefs alice {PASSWORD}").startswith("250")


def test_naming_recipients_uses_nobody_s_mails_up(database_url: str, tmp_path: Path) -> None:
    with start(tmp_path, database_url, signup="open", rate_address="4/hour") as server:
        server.send(ALICE, f"signup alice {PASSWORD}")
        server.letters()
        for n in range(3):
            with Wire(server.port, source=f"127.0.3.{n + 1}") as wire:
                for _ in range(12):
                    assert wire.ask(f"MAIL FROM:<{ALICE}>").startswith("250")
                    for _ in range(5):
                        assert wire.ask(f"RCPT TO:<{OURS}>").startswith("250")
                    assert wire.ask("RSET").startswith("250")
        for n in range(3):
            assert server.send(ALICE, f"games alice {PASSWORD}", f"{n}").startswith("250")
        assert len(server.letters(ALICE)) == 3
        # She is told, too, when she has really sent too much; the tries are all hers.
        assert server.send(ALICE, "list").startswith(OVER)
        assert subjects(server.letters(ALICE)) == ["Too many mails at once"]


def test_a_forger_elsewhere_uses_nobody_s_mails_up(database_url: str, tmp_path: Path) -> None:
    """He sends whole mails in her name: from his network, that is, or through our mail server."""
    with start(
        tmp_path, database_url, signup="open", rate_address="4/hour", lmtp="127.0.0.1:0"
    ) as server:
        server.send(ALICE, f"signup alice {PASSWORD}")
        server.letters()
        for n in range(6):
            with Wire(server.port, source="127.0.3.9") as wire:
                wire.begin(ALICE, OURS)
                raw = mail(ALICE, "list", Message_ID=f"<{n}@evil.example>")
                assert wire.ask(raw + b"\r\n.\r\n")[:3] == ("250" if n < 4 else "451")
        codes = []
        for n, client in enumerate(["203.0.113.5"] * 5 + ["192.0.2.7"]):
            with Wire(server.lmtp_port, hello="LHLO mta.games.example") as wire:
                wire.begin(ALICE, OURS)
                raw = mail(ALICE, "list", Message_ID=f"<mta-{n}@evil.example>")
                raw = (
                    f"Received: from x (x [{client}])\r\n\tby mta.games.example\r\n".encode() + raw
                )
                codes.append(wire.ask(raw + b"\r\n.\r\n")[:3])
        assert codes == ["250"] * 4 + ["451", "250"]
        assert server.send(ALICE, f"prefs alice {PASSWORD}").startswith("250")


def test_by_lmtp_each_recipient_is_answered_for_itself(busy: Running) -> None:
    for n in range(5):
        busy.send(ALICE, f"help {n}")
    with Wire(busy.lmtp_port, hello="LHLO mta.games.example") as wire:
        wire.begin(ALICE, OURS, OURS.upper())  # the sixth mail, and the seventh
        raw = mail(ALICE, "list", Message_ID="<lmtp@players.example>")
        replies = [wire.ask(raw + b"\r\n.\r\n")[:3], wire.answer()[:3]]
    assert replies == ["250", "451"]


def test_windows_move_and_our_own_mail_servers_are_free(clock: StandingClock) -> None:
    traffic = Traffic(Rates("", "2/minute; 3/hour", "1/minute", "", "", "", ""), clock)
    unknown = Source("", "a@b.example")
    assert traffic.count_mail(unknown, 0, direct=False) is None
    assert traffic.count_mail(unknown, 0, direct=False) is None
    over = traffic.count_mail(unknown, 0, direct=False)
    assert over is not None
    assert (over.kind, over.most, over.span) == ("address", 2, "minute")
    assert over.again == clock.moment + timedelta(minutes=1)
    clock.moment += timedelta(minutes=1)
    assert traffic.count_mail(unknown, 0, direct=False) is None
    over = traffic.count_mail(unknown, 0, direct=False)
    assert over is not None
    assert (over.most, over.span) == (3, "hour")
    null = Source("192.0.2.0/24", "")
    assert all(traffic.count_mail(null, 0, direct=False) is None for _ in range(3))
    assert traffic.count_mail(null, 0, direct=True) is None
    over = traffic.count_mail(null, 0, direct=True)
    assert over is not None
    assert (over.kind, over.who) == ("network", "192.0.2.0/24")


def test_the_same_words_are_answered_twenty_times_a_week(clock: StandingClock) -> None:
    traffic = Traffic(Rates("", "", "", "", "", "", ""), clock)
    counts = [traffic.count_idle_mail("a", "help", "answered", "", NOWHERE) for _ in range(22)]
    assert counts == [Reply.SEND] * 19 + [Reply.LAST] + [Reply.NONE] * 2
    assert traffic.count_idle_mail("b", "help", "answered", "", NOWHERE) is Reply.SEND
    clock.moment += timedelta(days=7)
    assert traffic.count_idle_mail("a", "help", "answered", "", NOWHERE) is Reply.SEND


@pytest.mark.parametrize("is_verified", [True, False])
def test_only_a_verified_writer_asks_at_the_own_address_without_limit(
    clock: StandingClock, is_verified: bool
) -> None:
    traffic = Traffic(Rates("", "", "", "", "", "2/day", ""), clock)
    context: Any = SimpleNamespace(
        actor=Actor(
            address="Alice@Players.example", verdict=Verdict("pass" if is_verified else "fail")
        ),
        current=CurrentCommand(),
        services=SimpleNamespace(traffic=traffic),
    )
    for _ in range(2):
        refuse_too_many_questions(context, [ALICE])
    if is_verified:
        refuse_too_many_questions(context, [ALICE])
    else:
        with pytest.raises(Refused, match="asked-often"):
            refuse_too_many_questions(context, [ALICE])
