"""The mail and the tables of docs/reading.md say what the server does with each line."""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from own_domain import HOUSE
from rows import rows

from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.inbound.message import read_mail
from pbmserv.inbound.quotes.attributions import (
    has_quote_behind_attribution,
    lines_of_attribution,
    lines_of_stamp,
)
from pbmserv.inbound.quotes.line_signs import (
    ends_text,
    has_marker,
    header_role,
    is_closing,
    is_quoted,
)
from pbmserv.inbound.quotes.program_lines import program_line
from pbmserv.inbound.quotes.reply import read_new_text
from pbmserv.inbound.quotes.signatures import lines_of_signature
from pbmserv.mail.envelope import Envelope

PAGE = Path(__file__).parents[2] / "docs" / "reading.md"
GAMES = {"blackbox": "Blackbox"}
CODE = re.compile(r"`([^`]+)`")

RECOGNISERS = {
    "line_signs.is_quoted": is_quoted,
    "line_signs.has_marker": lambda line: has_marker(line.casefold()),
    "line_signs.ends_text": lambda line: ends_text(line.casefold()),
    "line_signs.header_role": lambda line: header_role(line) != "",
    "line_signs.is_closing": is_closing,
    "attributions.lines_of_attribution": lambda line: lines_of_attribution((), line) == 0,
    "attributions.has_quote_behind_attribution": has_quote_behind_attribution,
    "attributions.lines_of_stamp": lambda line: lines_of_stamp([line]) == 1,
    "program_lines.program_line": lambda line: program_line(line.casefold()) != "",
    "signatures.lines_of_signature": lambda line: lines_of_signature(["g", "", line]) == 1,
}
"""The functions that the page names, each asked about a line alone."""

WEAK_SIGNS = frozenset(("line_signs.header_role", "line_signs.is_closing"))
"""Functions whose lines are new text if no other sign is near them."""


def table(head: str) -> list[list[str]]:
    """Return the cells of the rows below the head of a table."""
    _, _, below = PAGE.read_text(encoding="utf-8").partition(f"{head}\n")
    lines = below.split("\n\n")[0].splitlines()[1:]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines]


def code(cell: str) -> str:
    """Return the text of a cell in code marks, without an explanation behind it."""
    text = CODE.match(cell)
    assert text is not None, cell
    return text[1]


SIGNS = [
    (code(line), code(name)) for line, _, name in table("| line | written by | recognised by |")
]
WORDS = [code(line) for line, _ in table("| line | why |")]
REPLIES = [
    (code(text), code(meaning), code(place))
    for text, meaning, place in table("| new text | meaning | read by |")
]


def test_the_mail_of_the_page_is_a_move_and_words_for_the_opponent():
    raw = PAGE.read_bytes().split(b"```")[1].strip().replace(b"\n", b"\r\n")
    envelope = Envelope("alice@players.example", "pbmserv@games.example", raw)
    mail = read_mail(envelope, HOUSE)
    new_text = read_new_text(mail.text, mail.sender)
    reading = read_reply_to(Answered.PLAIN_LETTER, new_text.text, GAMES)
    assert new_text.text == "g,+b2\n\nGood luck!"
    assert reading.lines[0].echo == "g,+b2"
    assert reading.words == "Good luck!"


@rows(("line", "name"), SIGNS)
def test_a_line_is_recognised_by_the_function_that_the_page_names(line, name):
    assert RECOGNISERS[name](line)


@rows(("line", "name"), [row for row in SIGNS if row[1] not in WEAK_SIGNS])
def test_a_recognised_line_is_not_new_text(line, name):
    quote = "> resign\n" if "attributions" in name else ""
    assert read_new_text(f"g\n\n{line}\n{quote}").text == "g"


@rows("line", WORDS)
def test_a_line_that_only_looks_so_is_new_text(line):
    assert read_new_text(f"g\n\n{line}\n").text == f"g\n\n{line}"


@rows(("text", "meaning", "place"), REPLIES)
def test_a_reply_has_the_meaning_that_the_page_says(text, meaning, place):
    reading = read_reply_to(Answered.PLAIN_LETTER, text.replace("⏎", "\n"), GAMES)
    assert type(reading.lines[0].meaning).__name__ == meaning
    module, _, function = place.partition(".")
    assert hasattr(import_module(f"pbmserv.commands.reading.{module}"), function)


def test_each_function_of_the_table_has_a_line():
    assert {name for _, name in SIGNS} == RECOGNISERS.keys()
