"""A server with two players and their boards, and texts that nobody but their writer may read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from indoors import PASSWORD, Indoors, Posted, address_of
from sqlalchemy import func, select

from pbmserv.store.tables.mail import outbox

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
HELLO = "Good evening from the other side of town!"
SMALL = "-size=4x4 -atoms=3 -unrated"


def challenged(server: Indoors, by: str = "alice", to: str = "bob") -> Posted:
    """The letter of a new challenge to the one who is asked."""
    letters = server.send(address_of(by), f"blackbox challenge {by} {to} {SMALL}")
    return next(letter for letter in letters if letter.recipient == address_of(to))


def hidden(server: Indoors) -> list[Posted]:
    """The letters to alice of a new board on which all atoms are hidden: hers at A2, C4 and D1."""
    letters = server.reply(challenged(server), "b3,c1,d3")
    challenge = next(letter for letter in letters if letter.recipient == ALICE)
    own = server.reply(challenge, "a2,c4,d1")
    return [letter for letter in (challenge, *own) if letter.recipient == ALICE]


def poison(server: Indoors, letters: list[Posted]) -> tuple[str, tuple[str, ...]]:
    """A text with one harmless line, and what of it must go to nobody."""
    secret_line = next(
        line for letter in letters for line in letter.text.split("\n") if "hidden at" in line
    )
    drawn = next(
        line for letter in letters for line in letter.text.split("\n") if line.count("@") > 0
    )
    token = letters[0].reply_to.partition("+")[2].partition("@")[0]
    lines = (
        f"prefs alice {PASSWORD} digest=off",
        f"change password alice {PASSWORD} another-word",
        f"# {secret_line.strip()}",
        f"* {drawn.strip()}",
        "A2, C4",
        f"It goes to {letters[0].reply_to}.",
        f"https://links.example/?url=http%3A%2F%2Fgames.example%2Fb%2F{token}&data=05%7C01",
        f"{token[:15]}=",
        token[15:].upper(),
        HELLO,
    )
    secret = (PASSWORD, "another-word", "hidden at", drawn.strip(), "A2", "C4")
    secret += (token, token[:15], token[15:].upper())
    return "\n".join(lines), secret


def last_letter(server: Indoors) -> int:
    """The number of the newest letter, 0 before the first one."""
    with server.server.database.reading.connect() as connection:
        return connection.execute(select(func.max(outbox.c.id))).scalar() or 0


def words_to_others(server: Indoors, writer: str, after: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the kind of each letter to others than *writer*, and the words of players in it.

    Letters up to the number *after* are left out.
    """
    others = outbox.c.recipient != writer, outbox.c.id > after
    rows = server.server.rows(select(outbox.c.letter, outbox.c.words).where(*others))
    for row in rows:
        yield from ((row.letter, text) for text in _words_in(row.words))


def _words_in(words: Mapping[str, Any]) -> Iterator[str]:
    for key, value in words.items():
        if key in {"said", "says"} and isinstance(value, str):
            yield value
        elif isinstance(value, Mapping):
            yield from _words_in(value)
        elif isinstance(value, list):
            yield from (
                text for part in value if isinstance(part, Mapping) for text in _words_in(part)
            )
