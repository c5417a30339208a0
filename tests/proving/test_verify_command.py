"""`pbmserv verify` on a player's own files, and on those of an attacker."""

from __future__ import annotations

import re
import resource
from collections.abc import Sequence
from pathlib import Path
from time import process_time

import pytest
from mailboxes_of_games import as_mbox
from rows import rows
from test_games_proven import changed, played, record_in
from typer.testing import CliRunner

from pbmserv.cli.main import app


def verify(*files: Path, code: int = 0) -> str:
    """Run the command, and return what it prints."""
    result = CliRunner().invoke(app, ["verify", *map(str, files)])
    assert result.exit_code == code, (result.output, result.exception)
    assert max(map(len, result.stdout.splitlines()), default=0) <= 76
    return result.output


def words(output: str) -> str:
    return " ".join(output.split())


def files_in(folder: Path, mails: Sequence[bytes]) -> None:
    folder.mkdir(parents=True)
    for number, mail in enumerate(mails):
        (folder / f"{number}.eml").write_bytes(mail)


def test_an_mbox_file_a_maildir_and_single_files_prove_a_game(tmp_path: Path) -> None:
    mails = played("backgammon")["anna"]
    mbox = tmp_path / "mbox"
    mbox.write_bytes(as_mbox(mails))
    files_in(tmp_path / "Maildir" / "cur", mails[:9])
    files_in(tmp_path / "Maildir" / "new", mails[9:])
    files_in(tmp_path / "single", mails)
    for path in (mbox, tmp_path / "Maildir", tmp_path / "single"):
        assert "Board 1, Backgammon: anna - bela: proven" in verify(path)
    assert "proven" in verify(*sorted((tmp_path / "single").iterdir()))


def test_a_record_that_was_saved_beside_the_letters_is_enough(tmp_path: Path) -> None:
    mails = played("liar")["anna"]
    (tmp_path / "mbox").write_bytes(as_mbox(mails[:-1]))
    (tmp_path / "liar-1.txt").write_text(record_in(mails))
    assert "but no record" in words(verify(tmp_path / "mbox", code=1))
    assert "proven" in verify(tmp_path / "mbox", tmp_path / "liar-1.txt")


def test_a_changed_record_is_wrong_and_the_exit_code_says_so(tmp_path: Path) -> None:
    mails = changed(played("blackbox")["bela"], lambda text: text.replace("B2,C3", "B3,C3"))
    (tmp_path / "mbox").write_bytes(as_mbox(mails))
    output = verify(tmp_path / "mbox", code=1)
    assert "Board 1, Blackbox: anna - bela: WRONG" in output
    assert '! Move 1 by anna in the record, "B3,C3"' in words(output)


def test_no_server_and_no_network_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a connection")

    monkeypatch.setattr("socket.socket.connect", refuse)
    monkeypatch.setattr("sqlite3.connect", refuse)
    (tmp_path / "mbox").write_bytes(as_mbox(played("solo")["anna"]))
    assert "proven" in verify(tmp_path / "mbox")


def test_a_mailbox_without_letters_says_so(tmp_path: Path) -> None:
    (tmp_path / "mbox").write_bytes(b"From x\nSubject: hello\n\nNo game.\n")
    assert "No letter about a board was found in 1 mail." in verify(tmp_path / "mbox", code=1)
    assert "cannot read" in verify(tmp_path / "nothing", code=1)


# -- files of an attacker --------------------------------------------------------------------------


def test_a_hundred_megabytes_of_other_mails_take_little_memory(tmp_path: Path) -> None:
    mbox = tmp_path / "mbox"
    with mbox.open("wb") as file:
        file.write(as_mbox(played("liar")["anna"]))
        noise = b"From x\nSubject: noise\n\n" + b"y" * 70 + b"\n"
        file.write((noise + b"z" * 1_000_000 + b"\n\n") * 50)
        file.write(b"From x\nSubject: endless\n\n" + b"one line without an end " * 2_000_000)
    assert mbox.stat().st_size > 95_000_000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    output = verify(mbox)
    assert "1 mail was left out" in output
    assert "proven" in output
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000, "60 MB"


HOSTILE = {
    "nested": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" * 20_000,
    "parts": b"Content-Type: multipart/mixed; boundary=b\r\n\r\n"
    + b"--b\r\n\r\npbmserv record 1\r\n" * 50_000,
    "octets": bytes(range(256)) * 4_000,
    "fields": b"Pbmserv-Record: board=1\r\n" * 2_000 + b"\r\n",
    "numbers": b"Pbmserv-Record: board=999999999; seat=9; turns=999999; pledge="
    + b"0" * 64 + b"; record=" + b"0" * 64 + b"\r\nDate: Thu, 99 Foo 99999 99:99:99\r\n\r\n",
    "escapes": b"Subject: \x1b[2Jgone\r\nDate: x\r\n\r\npbmserv record 1\r\n\x1b[31m\r\nend\r\n",
    "record": b"\r\npbmserv record 1\r\ngame: blackbox\r\nrules: 1\r\nplayers: a, b\r\n"
    b"options: -size=26x26 -atoms=676\r\nseed: 00\r\n\r\n1. a: A1\r\nend\r\n",
    "blackbox": b"\r\npbmserv record 1\r\ngame: ../../etc\r\nrules: 1\r\nplayers: a\r\n"
    b"seed: 00\r\n\r\nend\r\n",
    "hex": b"\r\npbmserv record 1\r\ngame: liar\r\nrules: 9999999999999999999\r\n"
    b"players: a, b\r\nseed: zz\r\nmixed: 1=x\r\n\r\nend\r\n",
}  # fmt: skip


@rows("name", HOSTILE)
def test_hostile_mails_are_no_exception_and_hide_no_proof(tmp_path: Path, name: str) -> None:
    from_house = b"From: pbmserv <pbmserv@games.example>\r\n"
    (tmp_path / "bad.eml").write_bytes(from_house + HOSTILE[name])
    (tmp_path / "mbox").write_bytes(as_mbox(played("liar")["anna"]))
    result = CliRunner().invoke(app, ["verify", str(tmp_path / "bad.eml"), str(tmp_path / "mbox")])
    assert result.exit_code in {0, 1}, result.exception
    assert "\x1b" not in result.output
    if name != "record":
        assert "Board 1, Liar's dice: anna - bela: proven" in result.output


@rows(
    ("moves", "count", "sentence"),
    [
        (("+A1", "/A1"), 3_000, "ends before the game does"),
        (("!A1-Z26", "!A1-Z26"), 6_000, "longer than any that a server allows"),
    ],
)
def test_a_record_with_endless_moves_takes_little_time(
    tmp_path: Path, moves: tuple[str, str], count: int, sentence: str
) -> None:
    lines = "".join(f"{n}. a (free): {moves[n % 2]}\n" for n in range(3, count))
    text = (
        "pbmserv record 1\ngame: blackbox\nrules: 1\nboard: 7\nplayers: a, b\n"
        "options: -size=26x26\nresult: a 1, b 2 (solved)\nseed: 00\n\n"
        f"1. a: A1,B1,C1,D1\n2. b: A1,B1,C1,D1\n{lines}end\n"
    )
    (tmp_path / "long.txt").write_text(text)
    before = process_time()
    assert sentence in words(verify(tmp_path / "long.txt", code=1))
    assert process_time() - before < 10


def test_a_forged_letter_is_named_as_unsigned(tmp_path: Path) -> None:
    mails = list(played("liar")["anna"])
    signed = [
        b"DKIM-Signature: v=1; a=rsa-sha256; d=games.example; s=a; b=x\r\n" + mail
        if b"Pbmserv-Record" in mail
        else mail
        for mail in mails
    ]
    letters = [mail for mail in mails if b"Feedback-ID: board" in mail]
    forged = re.sub(rb" record=[0-9a-f]{8}", b" record=00000000", letters[-1])
    forged = b"DKIM-Signature: v=1; d=elsewhere.example; s=a; b=x\r\n" + forged
    (tmp_path / "mbox").write_bytes(as_mbox([*signed, forged]))
    output = words(verify(tmp_path / "mbox", code=1))
    assert "which is not signed, does not fit" in output
    (tmp_path / "mbox").write_bytes(as_mbox(signed))
    assert "The signatures of the letters (DKIM) are not checked here" in words(
        verify(tmp_path / "mbox")
    )
