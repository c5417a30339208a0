"""Commands in plain words, and sentences that only resemble them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.grammar.plain_words import LONGEST, meant_command
from pbmserv.commands.reading.replies import read_reply
from pbmserv.commands.table.model import Command
from pbmserv.errors import Misread

SAID = {
    "I give up": "resign",
    "Ich gebe auf!": "resign",
    "can I undo?": "undo",
    "Can I take back my last move, please?": "undo",
    "rematch?": "rematch",
    "Let's play another game!": "rematch",
    "How do I guess?": "help tutorial",
    "What am I supposed to do now?": "help tutorial",
    "help me please": "help tutorial",
    "the rules?": "help blackbox",
    "I'd like to play against the computer": "challenge house-beginner",
    "Is it my turn?": "games",
    "what is my rating": "ratings",
    "Today's box please": "daily",
    "digest on": "prefs digest=daily",
    "Digest off": "prefs digest=off",
    "digest=off tz=Europe/Berlin": "prefs digest=off tz=Europe/Berlin",
    "format spoken": "prefs format=spoken",
    "I'm on holiday until 24 December": "away until 24 December",
    "We're away till friday!": "away until friday",
    "Please stop sending me emails": "signoff",
}


@rows(("text", "command"), SAID.items())
def test_plain_words_mean_a_command(text: str, command: str) -> None:
    assert meant_command(text) == command


@rows(
    "text",
    [
        *("", "please", "I give up coffee", "how are you?", "How do you like it?", "why?"),
        *("play chess", "nice move", "I'm away until you come", "??", "g,+b2", "b3", "?"),
        *("resign my passw0rd", "digest", "yes", "no", "accept remind", "undo " * 20),
    ],
)
def test_similar_sentences_mean_no_command(text: str) -> None:
    assert not meant_command(text)


@rows("command", sorted(set(SAID.values())))
def test_each_of_them_is_a_command_of_a_reply(command: str) -> None:
    text = next(line for line, what in SAID.items() if what == command)
    line = read_reply(text, {"blackbox"}, plainly=True).lines[0]
    ends = isinstance(line.meaning, Misread) and line.meaning.refusal.code == "stands-alone"
    is_command = line.without_writer is not None and line.without_writer() is not None
    assert (
        isinstance(line.meaning, Command)
        or (ends and line.meaning.refusal.example == command)
        or (is_command and command.startswith("challenge"))
    )
    assert line.echo == text


@given(st.text(max_size=LONGEST + 5))
def test_any_text_is_read(text: str) -> None:
    assert isinstance(meant_command(text), str)
    read_reply(text, {"blackbox"}, plainly=True)
