"""Letters of those who have their mail read to them: every fact of the view is in the words."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, address_of, indoors
from letter_reading import check_form, seen_in
from random_moves import some_move, some_options

from pbmserv.games.blackbox.views import BoxView

ALICE, BOB = "alice", "bob"
KINDS = {
    "? ": r"markers? on ",
    "?@": r"markers? on an? ?atoms? at |markers on atoms at ",
    "?x": r"markers? without an atom on ",
    " @": r"atoms? (?:that (?:was|were) not found )?at ",
    ". ": r"sealed ",
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Indoors]:
    with indoors(tmp_path_factory.mktemp("spoken")) as opened:
        opened.sign_up(ALICE, BOB)
        for userid in (ALICE, BOB):
            opened.send(address_of(userid), f"prefs {userid} {PASSWORD} format=spoken")
        yield opened


def part_about(box: BoxView, whose: str, words: str) -> str:
    """The part of the letter that is about one box."""
    _, title, rest = words.partition(whose)
    assert title, (whose, words)
    return re.split(r"(?:Your box|The box of \w+), \d+ columns|Board \d+:|Both boxes", rest)[0]


def check_box(box: BoxView, mine: bool, name: str, words: str) -> None:
    sentences = part_about(box, "Your box," if mine else f"The box of {name},", words)
    assert f"{box.board.width} columns by {box.board.height} rows" in sentences
    assert f"{box.guesses_left or 'no'} guess" in sentences
    if not box.filled:
        assert "No atoms are hidden in it yet" in sentences
        return
    for label, mark in zip(box.board.ports, box.marks, strict=True):
        spoken = {"#": "hit", "%": "reflection"}.get(mark)
        if mark and spoken is None:
            spoken = f"ray {'capital ' if mark.isupper() else ''}{mark}"
            assert re.search(rf"Ray (?:capital )?{mark} joins ports? [^.]*\b{label}\b", sentences)
        assert (re.search(rf"port {label} {spoken}\b", sentences) is not None) == bool(mark)
    for row in box.drawn.rows:
        sentence = re.search(rf"Row {row.left}: ([^.]*)\.", sentences)
        sentence_read = sentence[1] if sentence else ""
        for column, cell in zip(box.board.top, row.cells, strict=True):
            named = re.search(rf"\b{column}{row.left}\b", sentence_read)
            assert (named is not None) == bool(cell.strip()), (column, row.left, sentences)
            if named:
                kinds = [
                    part for part in sentence_read.split("; ") if named[0] in re.split(r"\W+", part)
                ]
                assert re.match(KINDS[cell], kinds[0]), (cell, sentence_read)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(40 if DEEP else 1))
def test_every_fact_of_the_view_is_told(server: Indoors, seed: int) -> None:
    dice = random.Random(seed)
    letters = server.send(address_of(ALICE), f"blackbox challenge alice bob {some_options(dice)}")
    board = letters[0].board
    facts = 0
    for _ in range(14):
        newest = {letter.recipient: letter for letter in letters}
        last = newest[address_of(dice.choice((ALICE, BOB)))]
        view = seen_in(server, last)
        if view.outcome:
            break
        letters += server.reply(last, some_move(view, dice))
    if not seen_in(server, letters[-1]).outcome:
        letters += server.reply(letters[-1], "resign")
    for letter in letters:
        check_form(letter)
        assert not letter.has_html
        assert "|" not in letter.text
        if letter.kind not in {"board", "result", "refusal"} or letter.board != board:
            continue
        view, words = seen_in(server, letter), letter.one_line
        for box in view.shown:
            check_box(box, box.seat == view.seat, (ALICE, BOB)[box.seat], words)
            facts += 1
        if view.outcome is None and "to accept" not in words:
            assert ("our move on board" in words or "your turn" in words or "hide" in words) or (
                "waiting for" in words or "to move" in words
            )
            assert re.search(r"[Rr]eply with", words)
            if view.may_act and view.has_hidden:
                assert f"Ports not used yet: {' '.join(view.unused_ports)}" in words
    assert facts > 4


def test_news_say_what_happened_and_how_things_stand(server: Indoors) -> None:
    new_letters = server.send(address_of(ALICE), "blackbox challenge alice bob")
    (challenge,) = (letter for letter in new_letters if letter.recipient == address_of(BOB))
    server.send(address_of(ALICE), f"blackbox move {challenge.board} alice {PASSWORD} b3,d3,a1,f2")
    server.reply(challenge, "c3,b5,e5,g6")
    server.send(address_of(ALICE), f"blackbox move {challenge.board} alice {PASSWORD} 3,+c3")
    letters = server.send(address_of(BOB), f"blackbox move {challenge.board} bob {PASSWORD} 3")
    (news,) = (letter for letter in letters if letter.recipient == address_of(ALICE))
    words = news.one_line
    assert (
        "Since your last move: * bob fired port 3: hit (#). "
        "* You have 3 guesses left, 1 of 4 markers set and 27 unused ports." in words
    )
