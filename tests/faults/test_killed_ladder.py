"""The plug is pulled while a ladder game's result waits, and right after it was carried out."""

from __future__ import annotations

from email import message_from_bytes, policy
from pathlib import Path

import pytest
from processes import Process, Sink, wait_until
from smtp_client import Wire, mail
from sqlalchemy import select

from pbmserv.store.core.database import Database
from pbmserv.store.ladders import ladder_places, ladders
from pbmserv.store.tables.ladders import ladder_games, ladder_moves

pytestmark = pytest.mark.slow

OURS = "pbmserv@games.example"


def subjects(sink: Sink) -> list[str]:
    """Subjects of the letters that came, each once."""
    letters = (
        message_from_bytes(copies[0], policy=policy.default) for copies in sink.taken.values()
    )
    return [str(letter["Subject"]) for letter in letters]


@pytest.mark.sqlite_alone  # on PostgreSQL `test_kills` kills whole servers
def test_a_result_moves_the_players_once(database: Database, tmp_path: Path, sink: Sink) -> None:
    relay = f"smtp://127.0.0.1:{sink.port}"
    process = Process(tmp_path, database.url, relay=relay)

    def says(name: str, subject: str, letters: int) -> None:
        with Wire(process.port) as wire:
            raw = mail(f"{name}@players.example", subject, "", Message_ID=f"<{letters}@p>")
            assert wire.mail(f"{name}@players.example", OURS, raw).startswith("250")
        wait_until(lambda: len(sink.taken) >= letters, f"{letters} letters")

    def results() -> list[str | None]:
        with database.reading.connect() as connection:
            return list(connection.execute(select(ladder_games.c.result)).scalars())

    says("alice", "signup alice wonder-land", 1)
    says("bob", "signup bob tool-belt", 2)
    says("alice", "ladder join alice wonder-land blackbox", 3)
    says("bob", "ladder join bob tool-belt blackbox", 4)
    says("bob", "ladder challenge bob tool-belt alice", 6)
    says("alice", "blackbox resign 1 alice wonder-land", 8)
    process.kill()
    assert results() == [None], "the scheduler had not looked yet"

    process = Process(tmp_path, database.url, relay=relay)
    wait_until(lambda: results() == ["up"], "the result")
    process.kill()

    process = Process(tmp_path, database.url, relay=relay)
    wait_until(lambda: len(sink.taken) >= 10, "the letters about the movement")
    assert process.stop() == 0
    news = [
        subject for subject in subjects(sink) if "Blackbox ladder" in subject and " to " in subject
    ]
    assert sorted(news) == ["Down to 2 on the Blackbox ladder", "Up to 1 on the Blackbox ladder"]
    with database.reading.connect() as connection:
        ladder = ladders.of_game(connection, "blackbox")
        assert ladder is not None
        order = [place.userid for place in ladder_places.places(connection, ladder.id)]
        causes = connection.execute(select(ladder_moves.c.why)).scalars().all()
    assert order == ["bob", "alice"]
    assert sorted(causes) == ["joined", "joined", "up"]
