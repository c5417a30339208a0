"""Links that begin a reply with a move in it: the mail they make is carried out as it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from letter_reading import Page
from mailto_links import drafts_of, links_of
from rows import rows

from pbmserv.letters.replies import Mailto

pytestmark = pytest.mark.slow

ALICE, BOB = map(address_of, ("alice", "bob"))
SIZES = ("2x2 -atoms=1", "26x26 -atoms=40", *(("8x3", "7x7", "10x10") if DEEP else ()))

WORDS = ("check", "help", "chat")
"""Links of a letter with a board besides moves."""


def begun(server: Indoors, size: str) -> int:
    """The number of a board on which alice is to move after a few moves."""
    first = server.send(ALICE, f"blackbox challenge alice bob -size={size}")[0]
    assert first.board is not None
    count = int(size.partition("atoms=")[2] or 4)
    cells = [f"{c}{n}" for n in range(1, 27) for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"]
    width, height = map(int, size.split(maxsplit=1)[0].split("x"))
    fits = [c for c in cells if ord(c[0]) - 65 < width and int(c[1:]) <= height]
    moves = ",".join(fits[:count]), ",".join(fits[-count:]), "1,+a1,+b2,!c", "a,+a1,+b2"
    for userid, move in zip(("alice", "bob") * 2, moves, strict=True):
        server.send(address_of(userid), f"blackbox move {first.board} {userid} {PASSWORD} {move}")
    return first.board


def looked_at(server: Indoors, board: int) -> tuple[Posted, Posted]:
    """The same as alice and bob see it."""
    mine = server.send(ALICE, f"blackbox showas alice {PASSWORD} {board}")
    theirs = server.send(BOB, f"blackbox showas bob {PASSWORD} {board}")
    return mine[-1], theirs[-1]


@contextmanager
def opened(folder: Path) -> Iterator[Indoors]:
    with indoors(folder, address="pbmserv@a-rather-long-name.games.example.org") as server:
        server.sign_up("alice", "bob")
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    with opened(tmp_path) as server:
        yield server


@dataclass
class Sizes:
    """A board of each size, as alice and bob see it; nothing is moved there any more."""

    server: Indoors
    letters: dict[str, tuple[Posted, Posted]]


@pytest.fixture(scope="module")
def sizes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sizes]:
    with opened(tmp_path_factory.mktemp("sizes")) as server:
        yield Sizes(server, {size: looked_at(server, begun(server, size)) for size in SIZES})


def test_a_link_makes_a_mail_that_is_carried_out_as_it_is(server: Indoors) -> None:
    letters = server.send(ALICE, "blackbox challenge alice bob")
    challenge = next(letter for letter in letters if letter.recipient == BOB)
    letters = server.reply(challenge, "c3,b5,e5,g6")
    accepted = next(letter for letter in letters if letter.recipient == ALICE)
    letters = server.reply(accepted, "b3,d3,a1,f2")
    letter = next(letter for letter in letters if letter.recipient == ALICE)
    links = links_of(letter.html)
    assert len(links) == 28 + 49
    assert {draft.to for draft in links.values()} == {letter.reply_to}
    for label, then in (
        ("B3", "You put a marker on B3."),
        ("C4", "You put a marker on C4."),
        ("B3: your marker, take off", "You took the marker off B3."),
        ("14", "You fired port 14:"),
    ):
        draft = links[label]
        # Phones put their own words below.
        body = f"{draft.body}\n\nSent from my iPhone\n"
        letters = server.send(ALICE, draft.subject, body, draft.to)
        (answer,) = (letter for letter in letters if letter.recipient == ALICE)
        assert then in answer.text
        links = links_of(answer.html)
    assert "1" not in links  # it is bob's turn now
    assert "A1" in links
    (bobs_letter,) = (letter for letter in letters if letter.recipient == BOB)
    assert "alice fired port 14" in bobs_letter.text
    assert "iPhone" not in bobs_letter.text


@rows("size", SIZES)
def test_all_links_of_a_board_are_moves_of_its_reader(sizes: Sizes, size: str) -> None:
    mine, theirs = sizes.letters[size]
    width, height = map(int, size.split(maxsplit=1)[0].split("x"))
    bodies = [draft.body for draft in drafts_of(mine.html) if draft.body.strip() not in WORDS]
    ports = [body for body in bodies if body[0] not in "+/?"]
    cells = [body for body in bodies if body[0] in "+/"]
    assert len(ports) == 2 * (width + height) - marked(mine)
    assert len(set(bodies)) == len(bodies)
    assert len(cells) in {width * height, 0}
    assert cells or width * height + 2 * (width + height) > 120
    assert all(len(letter.html.encode()) < 60_000 for letter in (mine, theirs))
    others = [draft.body.strip() for draft in drafts_of(theirs.html)]
    assert all(body[0] in "+/" or body in WORDS for body in others)
    assert {draft.to for draft in drafts_of(mine.html)} == {mine.reply_to}
    for body in bodies[:: max(1, len(bodies) // 4)]:
        letters = sizes.server.reply(mine, f"preview {body}")
        assert [letter.kind for letter in letters] == ["preview"], letters[0].text


def marked(letter: Posted) -> int:
    """Return the number of marked ports of the reader's own box."""
    box = Page(letter.html).boards[0].grid
    ends = (end for row in box[1:-1] for end in (row[0], row[-1]))
    return sum(map(bool, (*box[0], *box[-1], *ends)))


def test_spectators_drafts_and_finished_games_have_no_links(server: Indoors) -> None:
    number = begun(server, "7x7")
    for letter in (
        *server.send("carol@players.example", f"blackbox show {number}"),
        *server.send(ALICE, f"blackbox preview {number} 2"),
        *server.send(ALICE, f"blackbox resign {number} alice {PASSWORD}"),
    ):
        assert links_of(letter.html) == {}
        assert "not used, fire" not in letter.html


def test_each_board_of_a_report_has_links_of_its_own(server: Indoors) -> None:
    for _ in range(2):
        begun(server, "8x8")
    (report,) = server.send(ALICE, "multiple", f"showas alice {PASSWORD} 1 2")
    addresses = {draft.to for draft in drafts_of(report.html)}
    assert len(addresses) == 2
    assert report.reply_to not in addresses


def test_signs_in_a_link_are_encoded() -> None:
    link = Mailto("pbmserv+abc@games.example", "Blackbox 1")("+b3,?\nToo \u00e4&b=c")
    assert link == (
        "mailto:pbmserv+abc@games.example?subject=Blackbox%201"
        "&body=%2Bb3%2C%3F%0D%0AToo%20%C3%A4%26b%3Dc"
    )


def test_the_buttons_of_a_refusal_are_replies_that_work(server: Indoors) -> None:
    begun(server, "7x7")
    (refused,) = server.send(ALICE, f"blackbox move 1 alice {PASSWORD} 5,+b99")
    assert refused.kind == "refusal"
    assert Page(refused.html).boards == []
    example, show = [draft for draft in drafts_of(refused.html) if draft.to == refused.reply_to]
    assert f"Try this:   {example.body}" in refused.text
    assert show.body == "show"
    for draft in (example, show):
        answers = server.send(ALICE, draft.subject, draft.body, draft.to)
        assert "refusal" not in {letter.kind for letter in answers}
