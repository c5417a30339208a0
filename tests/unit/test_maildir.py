"""Letters that are put into Maildirs on this machine, and read back."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from mailbox import Maildir
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pbmserv.errors import RelayPermanent, RelayTemporary
from pbmserv.outbound.mailbox import Mailbox, addresses
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


def test_the_file_has_lf_line_ends_and_keeps_trailing_blanks(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    [stored] = Mailbox(tmp_path, "ada@player.example").messages(unread_only=True)
    assert stored.raw.endswith(b"\n\n 1 # . . \n.dot\n")
    assert b"\r" not in stored.raw


@pytest.mark.parametrize("flags", ["", ":2,", ":2,S", ":2,RS", ":2,FRST", ":2,DFPRST"])
def test_delivering_again_after_a_crash_makes_no_second_copy(tmp_path: Path, flags: str) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    MaildirRelay(tmp_path).deliver(LETTER)
    box = tmp_path / "ada@player.example"
    [path] = (box / "new").iterdir()
    path.rename(box / "cur" / (path.name + flags))
    MaildirRelay(tmp_path).deliver(LETTER)
    assert files(box) == [f"cur/{path.name}{flags}"]


def test_another_letter_of_the_same_number_is_another_letter(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)
    relay.deliver(LETTER)
    relay.deliver(replace(LETTER, message_id="<after-a-new-database@play.example>"))
    relay.close()
    assert len(files(tmp_path / "ada@player.example")) == 2


def test_many_threads_may_deliver_at_once(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)

    def deliver() -> None:
        for n in range(10):
            relay.deliver(numbered(n))

    threads = [threading.Thread(target=deliver) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(files(tmp_path / "ada@player.example")) == 10


def test_letters_are_read_in_the_order_of_arrival_also_after_reading_some(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)
    for n in range(20):
        relay.deliver(replace(numbered(n), raw=b"Subject: %d\r\n\r\n" % n))
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


def test_marking_keeps_other_flags_and_minds_nothing_missing(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    folder, box = tmp_path / "ada@player.example", Mailbox(tmp_path, LETTER.recipient)
    [stored] = box.messages()
    (folder / "new" / stored.key).rename(folder / "cur" / f"{stored.key}:2,FT")
    box.mark_seen(stored.key)
    box.mark_seen(stored.key)
    box.mark_seen("gone")
    assert files(folder) == [f"cur/{stored.key}:2,FST"]


def test_a_key_never_leads_out_of_the_mailbox(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    (tmp_path / "treasure").write_text("gold")
    Mailbox(tmp_path, LETTER.recipient).mark_seen("../../treasure")
    assert (tmp_path / "treasure").read_text() == "gold"


def test_a_mailbox_that_does_not_exist_is_empty(tmp_path: Path) -> None:
    box = Mailbox(tmp_path, "nobody@player.example")
    assert list(box.messages()) == []
    box.mark_seen("anything")
    assert addresses(tmp_path / "nowhere") == []


def test_the_addresses_are_those_with_a_maildir(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)
    for who in ("bob@player.example", "Ada@player.example"):
        relay.deliver(replace(LETTER, recipient=who))
    (tmp_path / "notes").mkdir()
    (tmp_path / ".index").write_text("")
    assert addresses(tmp_path) == ["ada@player.example", "bob@player.example"]


def test_foreign_dot_files_are_no_letters(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(LETTER)
    (tmp_path / "ada@player.example" / "cur" / ".nfs0001").write_text("")
    assert len(list(Mailbox(tmp_path, LETTER.recipient).messages())) == 1


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


def test_an_address_that_begins_with_a_dot_has_a_folder_that_is_shown(tmp_path: Path) -> None:
    MaildirRelay(tmp_path).deliver(replace(LETTER, recipient=".ada@player.example"))
    assert [box.name for box in tmp_path.iterdir()] == ['".ada"@player.example']
    assert len(list(Mailbox(tmp_path, ".ada@player.example").messages())) == 1


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
    with pytest.raises(RelayTemporary):
        relay.deliver(numbered(8))
    relay.deliver(numbered(8))
    assert len(files(folder)) == 1


def test_half_a_letter_is_not_left_behind(tmp_path: Path) -> None:
    relay = MaildirRelay(tmp_path)
    relay.deliver(LETTER)
    folder = tmp_path / "ada@player.example"
    (folder / "new").rename(folder / "away")
    with pytest.raises(RelayTemporary):
        relay.deliver(numbered(8))
    assert not list((folder / "tmp").iterdir())
