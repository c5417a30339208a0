"""Nobody can have the server send their words to somebody else by a mail in that one's name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import cycle
from pathlib import Path

import pytest
from examples import DEEP
from headers import read, written
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from rows import rows

from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.row_types import Row

pytestmark = pytest.mark.slow

LINK = "https://evil.example/win?prize=1"
LINKS = (LINK, "evil.example/win", "www.evil.example", "mailto:a@evil.example", "b@evil.example",
         "-size=evil.example", "--nagtime=evil.example", "tz=evil.example", "EVIL.EXAMPLE",
         "\uff45\uff56\uff49\uff4c.example", "\u201cevil.example\u201d", "<a href=//evil.example>",
         "+b2,evil.example", "1:evil.example", "block=evil.example", "?evil.example")  # fmt: skip
PHRASE = ("zebra", "quagmire", "jackpot")
VICTIM = "victim@far.example"
ALICE = address_of("alice")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("reflector"), signup="confirm") as inside:
        inside.sign_up("alice", "bob")
        inside.send(ALICE, f"blackbox challenge alice {PASSWORD} bob")
        yield inside


def everything(letter: Posted) -> str:
    """Return the headers of a letter without its own address, and each of its parts."""
    message = read(letter.raw)
    del message["To"]
    headers = "\n".join(f"{name}: {value}" for name, value in message.items())
    parts = [part.get_content() for part in message.walk() if not part.is_multipart()]
    return "\n".join([headers, *map(str, parts)])


def check(letters: list[Posted], what: object) -> None:
    """Hold letters against the promise."""
    for letter in letters:
        text = everything(letter).lower()
        assert "evil" not in text, (what, letter.kind, text)
        words = {word for word in PHRASE if word in text}
        assert len(words) < 2, (what, letter.kind, text)


def lines(row: Row) -> Iterator[str]:
    """A command with a link, and with words, in the place of each of its arguments, and behind."""
    words = (
        row.example.replace("NEWPASSWORD", "horse-shoe").replace("PASSWORD", "horseshoe").split()
    )
    begins = next(at for at, word in enumerate(words) if word in row.name.split())
    for at in range(begins + 1, len(words) + 1):
        for number, marker in enumerate((LINK, " ".join(PHRASE), LINKS[at % len(LINKS)])):
            behind = words[at + 1 :] if number else words[at:]
            yield " ".join([*words[:at], marker, *behind])
    yield f"{row.name} {LINK}"
    yield f"{row.name} {' '.join(PHRASE)}"
    yield f"{LINK} {row.name} 1"


@rows("row", ROWS, ids=lambda row: row.name)
def test_no_command_repeats_a_strangers_words(server: Indoors, row: Row) -> None:
    every = list(lines(row))[:: 1 if DEEP else 16]
    senders = cycle((VICTIM, ALICE) if len(row.name) % 2 else (ALICE, VICTIM))
    check(server.send(next(senders), every[0]), every[0])
    check(server.send(next(senders), "multiple", "\n".join(every)), every)
    if DEEP:
        check(server.send(next(senders), "", f"{every[1]}\n\n{LINK} {' '.join(PHRASE)}"), every[1])


@rows("marker", LINKS)
def test_no_place_of_a_mail_is_repeated(server: Indoors, marker: str) -> None:
    senders = cycle((VICTIM, ALICE, ALICE) if len(marker) % 2 else (ALICE, VICTIM, VICTIM))
    subjects = (
        marker,
        f"Re: {marker}",
        f"blackbox preview 1 {' '.join(PHRASE)} {marker}",
        f"scores 1 {marker}",
        f"help {marker}",
        f"{marker} help",
        f"blackbox {marker}",
        f"signup {marker} horseshoe",
        f"signup carol horseshoe {marker}",
        f"signup carol {marker} a@far.example",
        f"forgot {marker}",
        f"whoami {marker} horseshoe",
        f"blackbox challenge {marker}",
        f"blackbox challenge alice {marker} bob",
        f"blackbox challenge alice bob {marker}",
        f"blackbox solo alice {marker}",
        f"blackbox move 1 alice {marker} a",
        f"load {marker}",
        f"prefs alice {marker} tz={marker}",
        f"away alice {marker} until {marker}",
        f"1: {marker}",
        "multiple",
        "",
    )
    at, step = LINKS.index(marker), 1 if DEEP else 22
    for subject in subjects[at % step :: step]:
        check(server.send(next(senders), subject, f"{marker}\n\n{marker}"), subject)


@rows("marker", LINKS[:4] if DEEP else LINKS[:1])
def test_no_header_and_no_file_name_is_repeated(server: Indoors, marker: str) -> None:
    plain = re.sub(r"[^a-z.]", "", marker)
    for name, value in (
        ("From", f'"{marker}" <{VICTIM}>'),
        ("Reply-To", f"{marker} <reply@{plain}>"),
        ("Sender", f"sender@{plain}"),
        ("Message-ID", f"<{plain}@{plain}>"),
        ("References", f"<{plain}@{plain}>"),
        ("In-Reply-To", f"<{plain}@{plain}>"),
        ("List-Id", f"<{plain}>"),
        ("Organization", marker),
        ("User-Agent", marker),
        ("Content-Description", marker),
        ("Content-Disposition", f'inline; filename="{marker}"'),
    ):
        server.mails += 1
        headers = {
            "From": VICTIM,
            "To": "pbmserv@games.example",
            "Subject": "load",
            "Message-ID": f"<{server.mails}@players.example>",
        }
        raw = written({**headers, name: value}, "hello there, nothing to load")
        check(server.send_raw(VICTIM, raw), name)


def test_no_reply_repeats_words_to_somebody_else(server: Indoors) -> None:
    """A reply address of one's own, and somebody else's From."""
    mine = "mallory@players.example"
    (question,) = server.send(mine, "signup mallory horseshoe")
    other = [letter for letter in server.send(ALICE, "forgot alice") if letter.kind == "reset"]
    for marker in LINKS if DEEP else LINKS[::4]:
        for letter in (question, *other):
            for text in (marker, f"yes {marker}", f"{marker} yes", f"password {marker} {marker}"):
                server.send_unread(VICTIM, f"Re: {marker}", text, letter.reply_to)
                letters = [reply for reply in server.letters() if reply.recipient == VICTIM]
                check(letters, (letter.kind, text))


def test_a_proven_writer_still_reads_the_own_words(tmp_path: Path) -> None:
    with indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        server.send(ALICE, f"blackbox challenge alice {PASSWORD} bob")
        (letter,) = server.send(ALICE, f"blackbox move 1 alice {PASSWORD} evil.example")
        assert "evil.example" in letter.text
