"""Letters that are put into Maildirs on this machine, and read back."""

from __future__ import annotations

import os
from dataclasses import replace
from mailbox import Maildir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.errors import RelayPermanent, RelayTemporary
from pbmserv.outbound.mailbox import Mailbox
from pbmserv.outbound.maildir import MaildirRelay, folder_of
from pbmserv.outbound.relay import OutgoingLetter

LETTER = OutgoingLetter(
    id=7,
    message_id="<12.7.1.f00d@play.example>",
    envelope_sender="bounce+x@play.example",
    recipient="Ada@Player.example",
    raw=b"Subject: Board 12\r\nTo: ada@player.example\r\n\r\n 1 # . . \r\n.dot\r\n",
)


def files(box: Path) -> list[str]:
    return sorted(str(path.relative_to(box)) for path in box.rglob("*") if path.is_file())


def numbered(n: int) -> OutgoingLetter:
    return replace(LETTER, id=n, message_id=f"<{n}@play.example>")


def test_a_letter_is_a_file_in_new_that_any_mail_reader_opens(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    box = Maildir(tmp_path / "ada@player.example", create=False)
    [message] = list(box)
    assert message["Subject"] == "Board 12"
    assert message["Return-Path"] == "<bounce+x@play.example>"
    assert message.get_subdir() == "new"
    assert not list((tmp_path / "ada@player.example" / "tmp").iterdir())


@pytest.mark.parametrize("flags", ["", ":2,", ":2,S", ":2,RS", ":2,FRST", ":2,DFPRST"])
def test_delivering_again_after_a_crash_makes_no_second_copy(tmp_path: Path, flags: str) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    MaildirRelay(tmp_path).deliver(LETTER)
    box = tmp_path / "ada@player.example"
    [path] = (box / "new").iterdir()
    path.rename(box / "cur" / (path.name + flags))
    MaildirRelay(tmp_path).deliver(LETTER)
    assert files(box) == [f"cur/{path.name}{flags}"]


def test_letters_are_read_in_the_order_of_making_also_after_reading_some(tmp_path: Path) -> None:
    """Several threads deliver, and the disk may keep the one with the older letter waiting."""
    letters = [
        replace(numbered(n), raw=b"Subject: %d\r\n\r\n" % n, made_at_ns=10**18 + n)
        for n in range(20)
    ]
    relay = MaildirRelay(tmp_path)
    for letter in [*letters[1::2], *letters[::2]]:
        relay.deliver(letter)
    box = Mailbox(tmp_path, "ADA@player.example")
    first, *others = list(box.messages(unread_only=True))
    box.mark_seen(first.key)
    assert [message.seen for message in box.messages()] == [True] + [False] * 19
    assert [message.key for message in box.messages(unread_only=True)] == [
        other.key for other in others
    ]
    lines = [message.raw.splitlines()[1] for message in box.messages()]
    assert lines == [b"Subject: %d" % n for n in range(20)]


def test_a_file_s_name_does_not_number_letters(tmp_path: Path) -> None:
    """The owner of a Maildir cannot count the letters to other players."""
    MaildirRelay(tmp_path / "a").deliver(LETTER)
    MaildirRelay(tmp_path / "b").deliver(replace(LETTER, id=8))
    assert files(tmp_path / "a") == files(tmp_path / "b")
    MaildirRelay(tmp_path / "b").deliver(replace(LETTER, envelope_sender="bounce+y@play.example"))
    assert len(files(tmp_path / "b")) == 2


@pytest.mark.parametrize(
    "wrong",
    [
        "",
        "../a@x",
        "..",
        ".a",
        ".@x",
        "..@x",
        "a/b@x",
        "/etc/passwd",
        "a\0b@x",
        "a\nb@x",
        "a\\b@x",
        "a" * 256,
    ],
)
def test_an_address_that_could_lead_elsewhere_is_refused(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(RelayPermanent):
        MaildirRelay(tmp_path / "mail").deliver(replace(LETTER, recipient=wrong))
    assert not (tmp_path / "mail").exists()


@given(st.text(max_size=300))
def test_every_address_names_a_child_of_the_root_or_is_refused(address: str) -> None:
    root = Path("/mail")
    try:
        folder = folder_of(root, address)
    except RelayPermanent:
        return
    assert folder.parent == root
    assert os.path.normpath(folder) == str(folder)
    assert len(os.fsencode(folder.name)) <= 255


def test_a_disk_that_says_no_is_a_reason_to_try_later(tmp_path: Path) -> None:
    (tmp_path / "mail").write_text("a file where the folder should be")
    with pytest.raises(RelayTemporary):
        MaildirRelay(tmp_path / "mail").deliver(LETTER)


def test_a_maildir_deleted_under_a_running_server_is_made_again(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)
    relay.deliver(LETTER)
    folder = tmp_path / "ada@player.example"
    folder.rename(tmp_path / "elsewhere")
    relay.deliver(numbered(8))
    assert len(files(folder)) == 1
