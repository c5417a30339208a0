"""The mails of mbox files, Maildirs and single files, as ``pbmserv verify`` reads them."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from pbmserv.verifying import mailboxes
from pbmserv.verifying.mailboxes import TooLong, files_of, mails_of


def read(octets: bytes) -> list[bytes | TooLong]:
    return list(mails_of(io.BytesIO(octets)))


def test_a_file_without_a_separator_is_one_mail_with_crlf() -> None:
    assert read(b"Subject: x\n\nFrom here on\r\n") == [b"Subject: x\r\n\r\nFrom here on\r\n"]


def test_an_mbox_is_divided_at_separators_below_blank_lines() -> None:
    octets = b"From a\nSubject: 1\n\nx\nFrom there\n\nFrom b\nSubject: 2\n\ny\n"
    first = b"Subject: 1\r\n\r\nx\r\nFrom there\r\n\r\n"
    assert read(octets) == [first, b"Subject: 2\r\n\r\ny\r\n"]


def test_an_escaped_line_of_an_mbox_is_read_as_it_was() -> None:
    octets = b"From a\nSubject: 1\n\n>From you\n>>From me\n>Fro\n"
    assert read(octets) == [b"Subject: 1\r\n\r\nFrom you\r\n>From me\r\n>Fro\r\n"]


def test_a_mail_that_is_too_long_hides_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mailboxes, "LONGEST", 20)
    long, short = read(b"From a\nSubject: " + b"x" * 30 + b"\n\nFrom b\nSubject: 2\n\n")
    assert isinstance(long, TooLong)
    assert short == b"Subject: 2\r\n\r\n"


def test_folders_of_a_maildir_are_read_and_other_hidden_ones_are_not(tmp_path: Path) -> None:
    for name in ("cur/1", "new/.2", "tmp/3", ".Sent/cur/4", ".cache/5", "notes/6", "notes/.7"):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    names = [str(file.relative_to(tmp_path)) for file in files_of(tmp_path)]
    assert names == [".Sent/cur/4", "cur/1", "new/.2", "notes/6"]
