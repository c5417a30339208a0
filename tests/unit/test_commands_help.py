"""Help pages and the table of commands agree, and every refusal has a sentence."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from rows import rows

import pbmserv.commands
from pbmserv.commands.grammar.examples import STRANGER, example
from pbmserv.commands.help_topics import help_pages, topic
from pbmserv.commands.reading.board_lines import Answered, read_reply_to
from pbmserv.commands.reading.mail import read_new_mail
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.errors import PlayerError
from pbmserv.views.environment import environment
from pbmserv.views.texts import refusal_sentence

GAMES = {"blackbox": "Blackbox"}


def page(subject, games=GAMES):
    topic_page = topic(subject, games)
    return environment().get_template(topic_page.template).render(topic_page.values)


@rows("row", ROWS, ids=[f"{row.name}-{row.page}" for row in ROWS])
def test_every_row_has_its_page(row):
    text = page(row.name) if row.in_line else page("forgot" if row.page == "forgot" else row.name)
    if topic(row.name, GAMES).values["row"] is row:
        assert row.form("blackbox") in text
        assert row.example in text
    assert row.summary in page("index")
    assert row.form("blackbox") in page("")


def test_examples_are_about_games_of_the_server():
    assert topic("ladder", {"chess": "Chess"}).values["example"] == "ladder chess"
    assert not topic("resign", {"chess": "Chess"}).values["example"]


@rows(
    "page",
    [page for page in help_pages(GAMES) if page.template.startswith("help/")]
    + [topic("frobnicate", GAMES), topic("chalenge", GAMES)],
    ids=lambda page: page.subject,
)
def test_a_page_fits_a_mail(page):
    text = environment().get_template(page.template).render(page.values)
    assert text.isascii()
    assert text.endswith("\n")
    assert not [line for line in text.splitlines() if len(line) > 76 or line != line.rstrip()]
    assert "\n\n\n" not in text


def test_commands_in_the_tutorial_are_understood():
    commands = re.findall(r"^ {5}((?:signup|list|blackbox) ?.*)$", page("tutorial"), re.MULTILINE)
    assert len(commands) >= 4
    for command in commands:
        (line,) = read_new_mail(command, "", GAMES).lines
        assert not isinstance(line.meaning, PlayerError), command


def filled_in(form):
    """Return a form with words in place of its placeholders."""
    words = {
        "BOARD": "12",
        "USERID": "alice",
        "FRIEND": "bob",
        "PASSWORD": "secret",
        "DATE": "friday",
    }
    words |= {"ADDRESS": "alice@example.org", "PLAN": "g", "MOVE": "g", "NAME=VALUE": "format=text"}
    return " ".join(words.get(word, word) for word in form.split(" "))


def test_an_example_of_every_row_is_understood():
    for row in ROWS:
        if row.command and row.in_line:
            text = filled_in(example(row, None, GAMES, {}, STRANGER))
            (line,) = read_new_mail(text, "", GAMES).lines
            assert not isinstance(line.meaning, PlayerError), row.name


# The codes of all refusals in the source of the package, so that none is forgotten.

SOURCE = "".join(
    path.read_text(encoding="utf-8")
    for path in Path(pbmserv.commands.__file__).parent.rglob("*.py")
)
CODES = sorted(
    set(re.findall(r'(?:Misread|refusal|peek)\(\s*"([a-z-]+)"', SOURCE)) | {"unknown-game"}
)


@cache
def garbled():
    """Return refusals of all kinds, from lines that are cut, extended and misspelt."""
    lines = [row.example for row in ROWS if row.command and row.in_line]
    lines += [" ".join(line.split()[:n]) for line in lines for n in range(1, 6)]
    lines += [f"{line} {more}" for line in lines for more in ("b!", "--x=1", "-", "alice 3")]
    lines += ["blackbox " + line for line in ("challenge alice alice", "games !", "xx", "resign x")]
    lines += [
        "Hello",
        "solve 1",
        "blackbox solo alice bob",
        "blackbox challenge friend@",
        "blackbox challenge one@far.example two@far.example",
        "chess show 1 2",
        "chess move 1 a b",
        "list chess",
        "show bob!",
    ]
    lines += ["signup house secret", "signup -al secret", "signup alice -", "signup alice abc"]
    lines += [
        "signup alice " + "x" * 201,
        "signup secret a@b",
        "signup alice secret nowhere",
        "blackbox chalenges a",
    ]
    lines += ["signup alice secret " + " ".join(f"a{i}@b.org" for i in range(6))]
    lines += [
        "blackbox challenge " + " ".join(f"p{i}" for i in range(9)),
        "event create " + "a " * 99,
        "blackbox challenge alice bob --speed=3",
        "show " + "9 " * 2000,
    ]
    lines += ["show " + " ".join(map(str, range(1, 30))), "blackbox challenge a1 --nagtime=x"]
    lines += [
        "blackbox move 12 alice g,+b2",
        "blackbox queue 12 alice secret ''",
        "away alice secret",
    ]
    lines += [
        "away alice secret until doomsday",
        "away alice secret from friday",
        "prefs alice secret nice",
        "change address a1 secret",
    ]
    lines += [
        "blackbox 12 move alice secret g",
        "12 resign alice secret",
        "change userid al secret",
    ]
    lines += ["blackbox challenge a1 b1 --nagtime=99999999999", "away until friday"]
    lines += ["play bob", "newplayer alice secret", "blackbox resgin 12 alice secret", "list xyz"]
    lines += ["prefs alice secret" + " tz=UTC" * 21, "blackbox seek alice secret two"]
    lines += ["message alice secret " + " ".join(f"p{i}" for i in range(9)), "show 1 alice"]
    lines += ["league alice secret", "event alice secret" + " x" * 31]
    readings = [read_new_mail(line, "", GAMES) for line in lines]
    readings.append(read_new_mail("challenge alice bob", "", {"a": "A", "b": "B"}))
    readings.append(read_reply_to(Answered.QUESTION, "412: g\nwhat else?", GAMES))
    readings.append(read_new_mail("", "multiple", GAMES))
    readings += [
        read_reply_to(Answered.QUESTION, line, GAMES) for line in ("resign or not", "my password")
    ]
    return [
        line.meaning.refusal
        for reading in readings
        for line in reading.lines
        if isinstance(line.meaning, PlayerError)
    ]


def test_every_refusal_has_a_sentence_of_its_own():
    sentences = {}
    for refusal in garbled():
        text = refusal_sentence(refusal)
        assert text.endswith((".", "?", ")")), (refusal, text)
        sentences.setdefault(refusal.code, text)
    assert sorted({*sentences, "no-commands"}) == CODES
    assert len(set(sentences.values())) == len(sentences)


def test_an_example_in_a_refusal_works():
    for refusal in garbled():
        example = filled_in(refusal.example)
        if refusal.code in {"stands-alone", "reply-password", "tray-line"}:
            reading = read_reply_to(Answered.QUESTION, example, GAMES)
        else:
            reading = read_new_mail(example, "", GAMES)
        assert not isinstance(reading.lines[0].meaning, PlayerError), refusal
