"""Attributions that a mail program broke over several lines: none of their words are the player's.

The cases cover every attribution of `mail_quotes.ATTRIBUTIONS`, broken at each blank, ``<`` and
``>`` and in front of the colon at its end, and every verb that the program knows.
"""
# ruff: noqa: RUF001 - letters of other alphabets are meant

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from pathlib import Path

import pytest
from examples import DEEP
from hypothesis import given
from hypothesis import strategies as st
from mail_quotes import ATTRIBUTIONS
from own_domain import HOUSE
from rows import rows

from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.phrases import WROTE, WROTE_UNSPACED
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.mail.envelope import Envelope

CASES = Path(__file__).parent / "read_wrongly"
QUOTE = (
    "> Your move on board 1  -- Reply above this line --\n>\n> Since your last move:\n> resign\n"
)
ADDRESS = "pbmserv@games.example.org"
KNOWN = {
    **ATTRIBUTIONS,
    "english, mailto": f"On Nov 26, 2026, at 11:14, pbmserv <{ADDRESS}<mailto:{ADDRESS}>> wrote:",
    "no verb, no colon": f'"pbmserv" {ADDRESS} – November 26, 2026 11:14 AM',
}
VERBS = sorted(WROTE.union(WROTE_UNSPACED))


def broken(attribution: str, pieces: int) -> Iterator[str]:
    """Yield an attribution in so many lines, for each choice of places to break it.

    A dash alone in a line begins a signature, so no piece is one.
    """
    places = [
        at
        for at in range(1, len(attribution))
        if attribution[at] in " \u00a0<>" or attribution[at - 1] in "<>"
    ]
    if attribution.endswith((":", "：")):
        places.append(len(attribution) - 1)
    for chosen in combinations(places, pieces - 1):
        ends = (*chosen, len(attribution))
        starts = (0, *chosen)
        lines = [attribution[a:b].strip(" \u00a0") for a, b in zip(starts, ends, strict=True)]
        if all(lines) and "–" not in lines:
            yield "\n".join(lines)


def misread(attribution: str, most_pieces: int = 3 if DEEP else 2) -> Iterator[str]:
    """Yield each reply with a broken attribution of which more, or less, than the move is read."""
    for pieces in range(1, most_pieces + 1):
        for lines in broken(attribution, pieces):
            for reply in (
                f"g\n\n{lines}\n\n{QUOTE}",
                f"g\n\n{lines}\n{QUOTE}",
                f"{lines}\n\n{QUOTE}\ng\n",
                f"{lines}\n{QUOTE}\ng\n",
            ):
                if read_new_text(reply).text != "g":
                    yield reply


@rows("line", KNOWN.values(), ids=KNOWN)
def test_a_broken_attribution_is_left_out_as_a_whole(line):
    assert list(misread(line)) == []


def test_an_attribution_may_break_at_two_places():
    assert list(misread(KNOWN["english, mailto"], most_pieces=3)) == []


@rows("verb", VERBS)
def test_an_attribution_with_any_verb_may_break_before_its_colon_or_bracket(verb):
    for line in (f"pbmserv <{ADDRESS}>\n{verb}:", f"pbmserv <{ADDRESS}> {verb}\n26.11.2026 11:14:"):
        assert read_new_text(f"g\n\n{line}\n\n{QUOTE}").text == "g"
        assert read_new_text(f"{line}\n{QUOTE}\ng\n").text == "g"


@rows("name", ["attribution_top.eml", "attribution_bottom.eml"])
def test_a_mail_with_a_broken_attribution_is_the_move_alone(name):
    raw = (CASES / name).read_bytes().replace(b"\n", b"\r\n")
    envelope = Envelope("alice@players.example", "pbmserv+x@games.example.org", raw)
    mail = read_mail(envelope, HOUSE)
    assert read_new_text(mail.text, mail.sender).text == "9"


@rows("text", (CASES / "attributions.txt").read_text(encoding="utf-8").split("%%\n")[1:])
def test_the_attributions_of_the_list_are_left_out(text):
    assert read_new_text(text).text == "g"


@rows(
    "words",
    [
        "Good luck!",
        "I will be away on Monday.",
        "OK then",
        "Thanks,",
        "Hi Bob,",
        "write to <me@players.example> if I am late",
        "3",
        "see you on 3 March, then",
    ],
)
@pytest.mark.parametrize("language", ["english", "danish", "russian"])
def test_words_above_an_attribution_stay(words, language):
    line = ATTRIBUTIONS[language]
    assert read_new_text(f"g\n\n{words}\n\n{line}\n{QUOTE}").text == f"g\n\n{words}"
    assert read_new_text(f"g\n{words}\n{line}\n{QUOTE}").text == f"g\n{words}"


@rows(
    "words",
    [
        "my address is <me@players.example",
        "call me: alice@players.example, 10:00",
        "write to alice@players.example",
        "I moved on 3 March 2026 at 10:00",
    ],
)
def test_words_right_above_a_quote_stay(words):
    assert read_new_text(f"g\n{words}\n> resign\n").text == f"g\n{words}"


LINES = st.lists(st.sampled_from(["> wrote:", ">:", ">> wrote:", "> resign", ">", "> 12:", ">12"]))
HEADS = st.sampled_from(
    ["g <a@b.example", "On 3 Mar 2026 Bob <b@b.example", "g <", "b@b.example", "hello", "3 < 4"]
)


@given(st.lists(HEADS, max_size=3), LINES)
def test_no_quoted_line_loses_its_mark(heads, quoted):
    read = read_new_text("\n".join([*heads, *quoted, "", "h"])).text
    assert not {"resign", "12:", "12", "wrote:", ":"}.intersection(read.split("\n"))
