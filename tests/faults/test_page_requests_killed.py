"""A press of a page in real processes: play's ring answers it, and a killed play carries it out
once."""

from __future__ import annotations

import contextlib
import os
import re
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from email import message_from_bytes, policy
from email.message import EmailMessage
from pathlib import Path
from time import monotonic

import pytest
from browser_tab import Tab
from processes import Process, Sink, wait_until
from programs import free_port
from smtp_client import Wire, mail
from sqlalchemy import func, select

from pbmserv.stages.questions import PATIENCE_S
from pbmserv.store.core.database import Database, mail_url
from pbmserv.store.tables.boards import plies
from pbmserv.store.tables.mail import arrivals

pytestmark = pytest.mark.slow

ALICE, OURS = "alice@players.example", "pbmserv@games.example"


def newest(sink: Sink, count: int) -> EmailMessage:
    wait_until(lambda: len(sink.taken) >= count, f"{count} letters")
    letters = [
        message_from_bytes(copies[0], policy=policy.default) for copies in sink.taken.values()
    ]
    letter = letters[-1]
    assert isinstance(letter, EmailMessage)
    return letter


def link_in(letter: EmailMessage) -> tuple[int, str]:
    """Return port and path of the page of the board."""
    body = letter.get_body(("plain",))
    assert body is not None
    link = re.search(r"http://[\w.]+:(\d+)(/b/[a-z2-7]+)", body.get_content())
    assert link is not None, body.get_content()
    return int(link[1]), link[2]


@contextlib.contextmanager
def pressing_while_stopped(tab: Tab, port: str, play: int, url: str) -> Iterator[None]:
    """Stop play, press, and yield as soon as the press is stored; then the page gets its answer.

    A play that was stopped in a transaction locks the database, so that the page refuses the press.
    """
    database = Database(mail_url(url))

    def newest_arrival() -> int:
        with database.reading.connect() as connection:
            return connection.execute(select(func.max(arrivals.c.id))).scalar_one() or 0

    before = newest_arrival()  # the door may not have removed the settled ones yet

    def is_stored() -> bool:
        return newest_arrival() > before

    with contextlib.closing(database), ThreadPoolExecutor(1) as pool:
        for _ in range(10):
            os.kill(play, signal.SIGSTOP)
            pressed = replace(tab)
            answer = pool.submit(pressed.press, port)
            wait_until(lambda done=answer.done: is_stored() or done(), "the press is stored")
            if is_stored():
                yield
                assert answer.result().status in {200, 202}, pressed.html
                return
            os.kill(play, signal.SIGCONT)
    raise AssertionError(pressed.html)


@pytest.mark.sqlite_alone  # on PostgreSQL `test_kills` kills play
def test_a_press_is_carried_out_once_though_play_is_killed(
    database: Database, tmp_path: Path, sink: Sink
) -> None:
    settings = {"relay": f"smtp://127.0.0.1:{sink.port}", "web": "127.0.0.1:0"}
    with Process(tmp_path, database.url, **settings) as process:
        for number, line in enumerate(("signup alice wonder-land", "blackbox solo alice"), 1):
            with Wire(process.port) as wire:
                raw = mail(
                    ALICE, f"{line}{' wonder-land' * (number > 1)}", "", Message_ID=f"<{number}>"
                )
                assert wire.mail(ALICE, OURS, raw).startswith("250")
            letter = newest(sink, number)
        tab = Tab(*link_in(letter)).load()
        assert tab.press("5").status == 200

        def moves() -> int:
            with database.reading.connect() as connection:
                return int(connection.execute(select(func.count()).select_from(plies)).scalar_one())

        before = moves()
        # Not a fixed port: the first ray may have come out of it.
        port = next(port for port in "678" if f'name="tap" value="{port}"' in tab.html)
        play = process.stages()["play"]
        with pressing_while_stopped(tab, port, play, database.url):
            os.kill(play, signal.SIGKILL)
        wait_until(lambda: moves() > before, "the press is carried out")
        assert moves() == before + 1


def test_pages_without_a_door_say_so_and_refuse_a_move_at_once(tmp_path: Path, sink: Sink) -> None:
    url, port = f"sqlite:///{tmp_path}/pbmserv.sqlite3", free_port()
    settings = {"relay": f"smtp://127.0.0.1:{sink.port}", "web": f"127.0.0.1:{port}"}
    with Process(tmp_path, url, **settings) as process:
        assert "moves " not in process.greeting
        for number, line in enumerate(("signup alice wonder-land", "blackbox solo alice"), 1):
            raw = mail(
                ALICE, f"{line}{' wonder-land' * (number > 1)}", "", Message_ID=f"<{number}>"
            )
            with Wire(process.port) as wire:
                assert wire.mail(ALICE, OURS, raw).startswith("250")
            letter = newest(sink, number)
        tab = Tab(*link_in(letter)).load()
        assert tab.press("5").status == 200
    with Process(tmp_path, url, arguments=["--only", "web"], **settings) as process:
        assert "moves      need a door beside these pages" in process.greeting
        # A tab raises an error with the page of a status from 500 on.
        with pytest.raises(AssertionError, match=r'"door":\{"ok":false,"state":"failing"'):
            Tab(port, "/healthz").load()
        tab.load()
        begun = monotonic()
        with pytest.raises(AssertionError, match="Nothing has changed, and your games are safe"):
            tab.press("6")
        assert tab.status == 503
        assert monotonic() - begun < PATIENCE_S  # a page beside a door would wait for it
    assert "no door runs beside the pages" in process.errors
