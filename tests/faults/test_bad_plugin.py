"""A plug-in whose rules break down harms its own boards only; the others go on."""

from __future__ import annotations

import http.client
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from email import message_from_bytes
from functools import cache
from pathlib import Path

import pytest
from bad_plugin import BAD_HEAPS, announce
from browser_tab import Tab, page_of
from heaps import Heaps
from indoors import PASSWORD, address_of, indoors
from processes import Process, Sink, wait_until
from running import start
from seating import HIDINGS, Table, seat_pairs
from smtp_client import Wire, mail
from sqlalchemy import select

from pbmserv.engine.registry import Registry
from pbmserv.store.boards.positions import Positions
from pbmserv.store.core.database import Database
from pbmserv.store.operators.letters import letter_lines
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import inbox

pytestmark = pytest.mark.slow

FAILING = ("raise", "recurse", "hoard", "exit")
"""Ways in which rules fail at once."""
OTHERS = 4
"""Boards of a good game."""
WEB = "127.0.0.1:0"
SECONDS = 1
"""Seconds that one mail may take, on PostgreSQL twice as long; the default is 15."""


@dataclass
class House:
    """A server with a bad plug-in, and boards of it, of a good game, and of both with bots."""

    process: Process
    database: Database
    sink: Sink
    bad_tables: list[Table]
    good: list[Table]
    dreaming: list[Table]
    solving: Table
    start: Callable[[], Process]

    def send(self, table: Table, seat: int, words: str) -> None:
        """Send a move; it gets its 250."""
        player = table.players[seat]
        name = f"<{table.board}.{seat}.{words[:8]}@players.example>"
        raw = mail(player.address, "Re: board", words, Message_ID=name)
        with Wire(self.process.port) as wire:
            assert wire.mail(player.address, table.addresses[seat], raw).startswith("250")

    def letters(self, address: str) -> list[str]:
        """Subjects of the letters that have come there."""
        heads = [_head(copies[0]) for copies in list(self.sink.taken.values())]
        return [subject for to, subject in heads if address in to]

    def recipients(self, subject: str) -> Counter[str]:
        """Return the number of letters of this subject to each address."""
        heads = [_head(copies[0]) for copies in list(self.sink.taken.values())]
        return Counter(to for to, got in heads if got == subject)

    def restarted(self) -> House:
        """Stop the server, and start another one."""
        assert self.process.stop() == 0
        return replace(self, process=self.start())

    def played(self) -> Counter[tuple[int, int]]:
        """(board, seat) of every move, and how often."""
        with self.database.reading.connect() as connection:
            rows = connection.execute(select(plies.c.board_id, plies.c.seat))
            return Counter((row.board_id, row.seat) for row in rows)

    def kept(self) -> list[str]:
        """Why mails are kept for the operator."""
        with self.database.reading.connect() as connection:
            query = select(inbox.c.error).where(inbox.c.state == "kept")
            return list(connection.execute(query).scalars())


@cache
def _head(letter: bytes) -> tuple[str, str]:
    """To whom it goes, and its subject."""
    message = message_from_bytes(letter)
    return str(message["To"]), str(message["Subject"])


@pytest.fixture
def house(database: Database, tmp_path: Path, sink: Sink, monkeypatch: pytest.MonkeyPatch) -> House:
    games = [*Registry.installed(), BAD_HEAPS]
    with monkeypatch.context() as patch:
        patch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
        with start(tmp_path, database.url) as preparing:
            bad_tables = seat_pairs(preparing.server, len(FAILING) + 2, "w", game="heaps")
            good = seat_pairs(preparing.server, OTHERS)
            (solving,) = seat_pairs(preparing.server, 1, "s", bot=True)
            dreaming = seat_pairs(preparing.server, 2, "d", game="heaps", bot=True)
    monkeypatch.setenv("PYTHONPATH", announce(tmp_path / "plug-in"))
    relay = f"smtp://127.0.0.1:{sink.port}"

    def begin() -> Process:
        return Process(tmp_path, database.url, relay=relay, web=WEB, mail_seconds=str(SECONDS))

    return House(begin(), database, sink, bad_tables, good, dreaming, solving, begin)


@pytest.mark.parametrize(
    ("database_url", "way"),
    # What differs on PostgreSQL is who notices that a process has ended.
    [("sqlite", "loop"), ("postgresql", "abort")],
    indirect=["database_url"],
)
def test_rules_that_never_end_or_end_the_process(house: House, way: str) -> None:
    bad, other = house.bad_tables[:2]
    house.send(bad, 0, way)
    for table in house.good:
        house.send(table, 0, HIDINGS[0])
    house.send(other, 0, "1")

    promised = Counter({(table.board, 0): 1 for table in house.good})
    writers = [table.players[0].address for table in house.good]
    wait_until(lambda: house.played() >= promised, "what others wrote is carried out")
    wait_until(lambda: all(map(house.letters, writers)), "and answered")

    # The bad mail is tried again, alone, and then kept; its writer is told.
    wait_until(lambda: bool(house.kept()), "it is kept")
    (why,) = house.kept()
    assert "was stopped 2 times" in why
    assert "was stopped 2 times" in house.process.command("inbox", "list")
    wait_until(lambda: bool(house.letters(bad.players[0].address)), "its writer is told")

    # Its game is stopped: all who play it are told, once, and the operator why.
    stopped = "Heaps is stopped for now"
    everybody = {player.address for table in house.bad_tables for player in table.players}
    wait_until(lambda: set(house.recipients(stopped)) >= everybody, "its players are told")
    wait_until(lambda: "package=bad_plugin" in house.process.errors, "the log tells it")
    for words in (house.process.errors, house.process.command("status")):
        assert "bad_plugin.py" in words
        assert "heaps is stopped" in words or "a game is stopped" in words

    # Mails about it wait, also one that came just before, and other games do not.
    promised |= house.played()
    house.send(bad, 0, "2")
    for table in house.good:
        house.send(table, 1, HIDINGS[1])
    promised |= Counter({(table.board, 1): 1 for table in house.good})
    wait_until(lambda: house.played() == promised, "others go on")

    # That lasts after a restart, until an operator says that it may go on.
    house = house.restarted()
    wait_until(lambda: "heaps is stopped" in house.process.command("status"), "still stopped")
    assert house.played() == promised
    house.process.command("game", "resume", "heaps", "--why", "it is mended")
    promised |= Counter({(bad.board, 0): 1, (other.board, 0): 1})
    wait_until(lambda: house.played() == promised, "it goes on")
    assert len(house.kept()) == 1
    assert house.recipients(stopped).most_common(1)[0][1] == 1
    assert house.process.stop() == 0


@pytest.mark.sqlite_alone  # `test_kills` ends post on PostgreSQL, with letters in hand
def test_letters_that_are_never_made(house: House) -> None:
    bad, other = house.bad_tables[:2]
    house.send(bad, 0, "3")
    house.send(other, 0, "1")
    for table in house.good:
        house.send(table, 0, HIDINGS[0])
    writers = [table.players[0].address for table in [*house.good, other]]
    wait_until(lambda: all(map(house.letters, writers)), "others get their letters")
    readers = [player.address for player in bad.players]
    stopped = "Heaps is stopped for now"
    wait_until(lambda: set(house.recipients(stopped)) >= set(readers), "the game is stopped")
    assert all(house.letters(reader) == [stopped] for reader in readers)
    assert house.played()[bad.board, 0] == 1  # the move stands
    for table in house.good:
        house.send(table, 1, HIDINGS[1])
    wait_until(
        lambda: all(len(house.letters(writer)) > 1 for writer in writers[:-1]), "letters go on"
    )
    assert house.process.stop() == 0
    assert house.process.errors.count("a letter keeps post for too long") == 2


@pytest.mark.sqlite_alone  # `test_killed_house` ends the bots on PostgreSQL
def test_a_bot_that_never_comes_back(house: House) -> None:
    bad, other = house.dreaming
    house.send(bad, 0, "pass")
    wait_until(lambda: house.played()[bad.board, 0] == 1, "it is the bot's turn")
    house.send(house.solving, 0, HIDINGS[0])  # bots of other packages do not wait
    wait_until(lambda: house.played()[house.solving.board, 1] == 1, "the other bot hides")
    assert "a board keeps the bots for too long" not in house.process.errors
    house.send(other, 0, "1")
    wait_until(lambda: house.played()[other.board, 1] == 1, "the bot moves on the other board")
    wait_until(lambda: bool(house.letters(bad.players[0].address)), "the answer waits no longer")
    assert house.played()[bad.board, 1] == 0
    assert house.process.stop() == 0
    assert house.process.errors.count("a board keeps the bots for too long") == 1
    assert house.process.errors.count("does not come back from a board") == 1


@pytest.mark.sqlite_alone  # on PostgreSQL threads of web read
def test_a_page_that_is_never_made(house: House) -> None:
    bad = house.bad_tables[0]
    house.send(bad, 0, "2")
    wait_until(lambda: len(house.sink.taken) == 2, "both get their letters")
    letter = next(iter(house.sink.taken.values()))[0]
    page = re.search(r"/b/[a-z2-7]+", letter.decode())
    assert page is not None
    match = re.search(r"http://127\.0\.0\.1:(\d+)", house.process.greeting)
    assert match is not None

    def status_of(path: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=60)
        try:
            connection.request("GET", path)
            return connection.getresponse().status
        except OSError:
            return 0
        finally:
            connection.close()

    def visit(path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", int(match[1]), timeout=60)
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 303
        where = answer.headers["Location"]
        connection.close()
        return where

    assert status_of("/standings") == 200
    assert status_of(visit(page[0])) == 0
    line = "a request keeps web for too long"
    wait_until(lambda: line in house.process.errors, "web is ended")
    wait_until(lambda: status_of("/standings") == 200, "others' pages come again")
    for table in house.good:
        house.send(table, 0, HIDINGS[0])
    writers = [table.players[0].address for table in house.good]
    wait_until(lambda: all(map(house.letters, writers)), "mail goes on")
    assert house.process.stop() == 0


@pytest.mark.sqlite_alone
def test_rules_that_fail(house: House) -> None:
    promised: Counter[tuple[int, int]] = Counter()
    writers: set[str] = set()
    *bad, third, fourth = house.bad_tables
    for number, (table, way) in enumerate(zip(bad, FAILING, strict=True)):
        house.send(table, 0, way)
        other, seat = (third, fourth)[number // 2], number % 2
        house.send(other, seat, "1")
        promised[other.board, seat] += 1
        for good in house.good[number :: len(FAILING)]:
            house.send(good, 0, HIDINGS[0])
            promised[good.board, 0] += 1
        writers.add(table.players[0].address)
        wait_until(lambda: house.played() == promised, "what others wrote is carried out")
        wait_until(lambda: len(house.kept()) == len(writers), "it is kept")
        wait_until(lambda: all(map(house.letters, writers)), "its writer is told")
        assert all("bad_plugin.py" in why for why in house.kept())
        house.send(table, 0, "2")
        promised[table.board, 0] += 1
        wait_until(lambda: house.played() == promised, "its board goes on")
    assert "has died" not in house.process.errors
    assert house.process.stop() == 0


def breaks_down(*_: object) -> None:
    raise ZeroDivisionError("these rules are bad")


def leaves(*_: object) -> None:
    sys.exit(3)


@pytest.mark.sqlite_alone
@pytest.mark.parametrize(
    ("broken", "rule"),
    [
        ("apply", breaks_down),
        ("view", lambda *_: None),  # a template breaks down
    ],
)
@pytest.mark.usefixtures("heaps_installed")
def test_a_board_that_cannot_be_shown(
    database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    broken: str,
    rule: Callable[..., None],
) -> None:
    monkeypatch.setattr(Positions, "remember", lambda *_: None)  # whoever looks replays the record
    sentence, good = "Board 1 cannot be shown now", "Blackbox 2"
    with start(tmp_path, database.url) as server:
        anna, bela = server.sign_up("anna"), server.sign_up("bela")
        for board, game in enumerate(("heaps", "blackbox"), 1):
            server.send(bela, f"{game} challenge bela anna")
            server.send(anna, f"{game} accept {board} anna secret")
        server.send(bela, "heaps move 1 bela secret 3")
        server.send(anna, "prefs anna secret digest=daily@07:30")
        first = next(
            letter for letter in server.letters(anna) if letter.subject.endswith("Heaps 1")
        )
        monkeypatch.setattr(Heaps, broken, rule)

        server.send(anna, "multiple", "heaps showas anna secret 1\nblackbox showas anna secret 2")
        both = server.letter(anna)
        assert sentence in both.text
        assert sentence in both.html
        assert "2. done: blackbox showas anna" in both.text
        server.reply(both, "2: chat Hello!\n\n> your move")
        assert "Hello!" in server.letters(bela)[-1].text
        server.letters(anna)
        server.reply(both, "games")
        listed = " ".join(server.letter(anna).text.split())
        assert ("cannot be shown now" in listed) == (broken == "apply")
        assert "2 Blackbox bela - anna" in listed
        server.live(days=1)
        digest = server.letter(anna)
        assert sentence in digest.text
        assert good in digest.text
        page = re.search(r"http://games\.example(/mine/[a-z2-7]+)", digest.text)
        assert page is not None
        tab = Tab(server.web_port, page[1]).load()
        assert tab.status == 200
        assert sentence in tab.text
        assert "Blackbox 2" in tab.text or "board 2" in tab.text
        with pytest.raises(AssertionError, match="A fault of ours"):
            Tab(server.web_port, page_of(first)).load()
        assert tab.load().status == 200  # web goes on
    logged = [record for record in caplog.records if record.message == "a board cannot be shown"]
    assert {(record.board, record.game) for record in logged} == {(1, "heaps")}
    assert all(record.exc_info for record in logged)


@pytest.mark.sqlite_alone
@pytest.mark.parametrize("rule", [breaks_down, leaves])
@pytest.mark.usefixtures("heaps_installed")
def test_a_letter_that_can_never_be_made(
    database_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    rule: Callable[..., None],
) -> None:
    with indoors(tmp_path, database_url) as house:
        house.sign_up("anna", "bela")
        anna, bela = map(address_of, ("anna", "bela"))
        house.send(bela, f"heaps challenge bela {PASSWORD} anna")
        house.send(anna, f"heaps accept 1 anna {PASSWORD}")
        house.send_unread(bela, f"heaps move 1 bela {PASSWORD} 3")
        monkeypatch.setattr(Heaps, "view", rule)
        for hours in (0, 3):
            house.move_clock(hours=hours)
            house.server.sender.run_once()
        waiting = house.server.read(letter_lines, ("queued",), "", 9)
        assert [(row.about, row.attempts) for row in waiting] == [("1 (heaps)", 2)] * 2
        house.move_clock(days=6)
        house.server.sender.run_once()
        new_letters = house.letters()
    assert {letter.recipient for letter in new_letters} == {anna, bela}
    for letter in new_letters:
        assert letter.subject == "Board 1 cannot be shown now"
        text = letter.one_line
        assert "All moves on it are kept, and a person will look at it." in text
    logged = [record for record in caplog.records if record.message == "a letter could not be made"]
    assert sorted((record.letter, record.board, record.game) for record in logged) == [
        (row.id, 1, "heaps") for row in reversed(waiting)
    ]
    assert all(record.exc_info for record in logged)
