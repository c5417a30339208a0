"""A log that cannot be written stops nobody, and the number of lost lines is reported."""

from __future__ import annotations

import errno
import json
import logging
import os
import sys
import threading
from collections.abc import Iterator

import pytest

from pbmserv import log
from pbmserv.log import writing
from pbmserv.log.writing import BackgroundHandler

MOST_WAITING = 1_000


class Pipe:
    """stderr as a pipe that nobody reads for a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reading, self.writing = os.pipe()
        self._stream = os.fdopen(self.writing, "w")
        self._monkeypatch = monkeypatch

    def configure(self, style: log.Style = "text") -> None:
        """Log to the pipe; pytest replaces stderr when a test begins."""
        self._monkeypatch.setattr(sys, "stderr", self._stream)
        log.configure("info", style)

    def read(self, until: str) -> str:
        text = ""
        while until not in text:
            text += os.read(self.reading, 1 << 20).decode()
        return text

    def close(self) -> None:
        os.close(self.reading)
        self._stream.close()


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    monkeypatch.setattr(writing, "MOST_WAITING", MOST_WAITING)
    opened = Pipe(monkeypatch)
    yield opened
    opened.close()
    logging.captureWarnings(False)  # the next test has other warnings to capture


def flushed() -> None:
    for handler in logging.getLogger().handlers:
        if isinstance(handler, BackgroundHandler):
            handler.wait()


@pytest.mark.slow
def test_a_full_pipe_blocks_nobody_and_the_loss_is_reported(pipe: Pipe) -> None:
    pipe.configure()
    ours = logging.getLogger("pbmserv.receive")
    lines = 4 * MOST_WAITING  # a pipe itself holds about 1,000

    def chatter() -> None:
        for number in range(lines):
            ours.info("mail", extra={"mail": number, "outcome": "taken"})

    mail = threading.Thread(target=chatter)
    mail.start()
    mail.join(60)
    assert not mail.is_alive()
    lost = log.lost()
    assert lost > 0
    read = pipe.read('"log lines were lost"')
    mail_lines = [line for line in read.splitlines() if " mail=" in line]
    assert f"lost={lost}" in read
    assert len(mail_lines) == lines - lost
    ours.info("mail", extra={"mail": "after"})
    assert "mail=after" in pipe.read("mail=after")


def test_a_full_disk_stops_nobody_and_the_log_continues_later(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe.configure()
    ours = logging.getLogger("pbmserv.receive")
    write = os.write

    def full(number: int, octets: bytes) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as disk:
        disk.setattr(os, "write", full)
        for number in range(7):
            ours.info("mail", extra={"mail": number})
        flushed()
    assert os.write is write
    assert log.lost() == 7
    ours.info("mail", extra={"mail": "next"})
    read = pipe.read("lost=7")
    assert "mail=next" in read


def test_the_end_of_a_process_writes_the_waiting_lines(pipe: Pipe) -> None:
    pipe.configure()
    for number in range(30):
        logging.getLogger("pbmserv.send").info("letter", extra={"letter": number})
    for handler in logging.getLogger().handlers:
        if isinstance(handler, BackgroundHandler):
            handler.close()
    assert len(pipe.read("letter=29").splitlines()) == 30


@pytest.mark.slow
def test_the_end_of_a_process_does_not_wait_for_a_stuck_pipe(
    pipe: Pipe, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pbmserv.log.writing.LAST_WORDS_S", 0.05)
    pipe.configure()
    for number in range(MOST_WAITING):
        logging.getLogger("pbmserv.send").info("letter", extra={"letter": number})
    for handler in logging.getLogger().handlers:
        if isinstance(handler, BackgroundHandler):
            handler.close()


def test_json_has_an_object_in_each_line_with_numbers_as_numbers_and_no_secret(
    pipe: Pipe,
) -> None:
    pipe.configure("json")
    logging.getLogger("pbmserv.receive").info(
        "mail %s",
        "taken",
        extra={
            "mail": 12,
            "ms": 1.5,
            "level": "mine",
            "ok": True,
            "nothing": None,
            "endless": float("inf"),
            "password": "hush",
            "to": "smtp://u:hush@mx",
            "odd": "a\nb\x7f\u2028",
        },
    )
    try:
        raise FileNotFoundError(2, "No such file")
    except FileNotFoundError:
        logging.getLogger("pbmserv.x").exception("failed")
    first, second = pipe.read("FileNotFoundError").splitlines()
    assert "hush" not in first
    assert first.isprintable()
    content = json.loads(first)
    time = content.pop("time")
    assert time.endswith("Z")
    assert content == {
        "level": "info",
        "room": "receive",
        "event": "mail taken",
        "mail": 12,
        "ms": 1.5,
        "level_": "mine",
        "ok": True,
        "nothing": None,
        "endless": "inf",
        "password": "***",
        "to": "smtp://u:***@mx",
        "odd": "a\nb\x7f\u2028",
    }
    failed = json.loads(second)
    assert (failed["fault"], failed["because"]) == (
        "FileNotFoundError",
        "[Errno 2] No such file",
    )
    assert failed["at"].startswith("test_log_writing.py:")


def test_wrong_arguments_of_a_line_stop_nobody() -> None:
    wrong = {"name": "pbmserv.x", "msg": "%d letters", "args": ("seven",), "levelname": "INFO"}
    assert '"%d letters"' in log.TextFormatter().format(logging.makeLogRecord(wrong))
