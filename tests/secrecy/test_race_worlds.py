"""Races in two worlds: what another racer does changes no octet of a player's letters and pages.

Told before the end are, by the rules: who has accepted, who has given up, and who is still playing.
So the other racer does everything here but these.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from examples import DEEP
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from running import Letter
from worlds import draw_from_a_counter, with_numbered_hashes

ALICE, BOB, CAROL = map(address_of, ("alice", "bob", "carol"))
BEGIN = f"blackbox challenge alice {PASSWORD} bob -race -size=5x5 -atoms=3 -guesses=9 -hints -clue"

HERS = (
    "move 1 alice {p} +b2",
    "undo 1 alice {p}",
    "undo 1 alice {p}",
    "move 1 alice {p} +b2,!c3",
    "move 1 alice {p} !d1",
    "undo 1 alice {p}",
    "showas alice {p} 1",
    "move 1 alice {p} 1",
    "undo 1 alice {p}",
    "showas alice {p} 1#1",
    "showas alice {p} 1#0",
    "showas alice {p} 1#9",
    "move 1 alice {p} 2#1",
    "move 1 alice {p} 2#2",
    "submit 1 alice {p} 3",
    "confirm 1 alice {p}",
    "check 1 alice {p}",
    "check 1 alice {p} 4",
    "preview 1 alice {p} +c3,?",
    "preview 1 +c3",
    "queue 1 alice {p} 4; 5 if #: a else b",
    "queue 1 alice {p} -",
    "show 1",
    "show 1#2",
    "show alice",
    "games alice",
    "games bob",
    "history alice",
    "record 1",
    "replay 1 alice",
    "report 1 alice {p}",
    "save 1 alice {p}",
    "redo 1 alice {p}",
    "restart 1 alice {p}",
    "rematch 1 alice {p}",
    "scores",
    "standings",
    "ratings alice",
    "whoami alice {p}",
    "prefs alice {p}",
    "hint 1 alice {p}",
    "move 1 alice {p} +a1,+a2,+a3,?",
    "subscribe 1 alice {p}",
    "blackbox solo alice {p} -seed=tea -size=3x3 -atoms=1 -practice",
    "move 2 alice {p} 1",
    "export alice {p}",
    "showas alice {p} next",
)
"""Every command that tells something of a race while it runs."""

HIS = (
    "move 1 bob {p} !a1",
    "move 1 bob {p} +c4,!b1",
    "undo 1 bob {p}",
    "move 1 bob {p} 3",
    "move 1 bob {p} c",
    "move 1 bob {p} +d4,!e5",
    "hint 1 bob {p}",
    "queue 1 bob {p} 4; e",
    "move 1 bob {p} +a1,+b1,+c1,?",
    "showas bob {p} 1",
    "submit 1 bob {p} 2",
    "check 1 bob {p}",
)


def begun(world: Indoors) -> None:
    for userid in ("alice", "bob", "carol"):
        world.send(address_of(userid), f"signup {userid} {PASSWORD}")
    world.send(ALICE, BEGIN)
    world.send(BOB, f"accept 1 bob {PASSWORD}")
    world.send(CAROL, f"subscribe 1 carol {PASSWORD}")


@contextmanager
def indoors_drawing(patch: pytest.MonkeyPatch, folder: Path) -> Iterator[Indoors]:
    """Open a server whose keys and boxes are the same in each world."""
    draw_from_a_counter(patch)
    with indoors(folder) as world:
        yield world


def without_nonces(letter: Letter) -> str:
    """A letter without what is drawn by lot, or counts the mails and letters of all players."""
    drawn = {"Message-ID", "References", "In-Reply-To", "List-Unsubscribe", "Feedback-ID"}
    drawn |= {"Thread-Index"}
    head = [(name, value) for name, value in letter.message.items() if name not in drawn]
    whole = f"{head}\n{letter.text}\n{letter.html}\n{attached(letter)}"
    return re.sub(r"[0-9a-f]{16,}|=-?=[\w=-]+|boundary=\S+", "NONCE", whole)


def attached(letter: Letter) -> str:
    files = [part.get_content() for part in letter.message.iter_attachments()]
    return re.sub(r'"id": \d+', '"id": N', "\n".join(map(str, files)))


def letters_to_both(folder: Path, dice: random.Random | None) -> list[tuple[str, list[str]]]:
    """Return all letters to alice and a follower; with *dice* bob plays, too."""
    folder.mkdir()
    sent: list[tuple[str, list[Posted]]] = []
    with pytest.MonkeyPatch.context() as patch, indoors_drawing(patch, folder) as world:
        begun(world)
        for command in HERS:
            his = 0 if dice is None else dice.randrange(4)
            for words in [dice.choice(HIS) for _ in range(his)] if dice else ():
                for letter in world.send(BOB, words.format(p=PASSWORD)):
                    assert letter.recipient == BOB, (words, letter.subject)
            line = command.format(p=PASSWORD)
            letters = world.send(ALICE, line)
            assert letters, command
            sent.append((command, letters))
    numbered = iter(with_numbered_hashes(letter.raw for _, letters in sent for letter in letters))
    return [
        (command, [without_nonces(Letter(letter.id, next(numbered))) for letter in letters])
        for command, letters in sent
    ]


def test_moves_of_another_racer_change_no_letter(tmp_path: Path) -> None:
    alone = letters_to_both(tmp_path / "alone", None)
    for seed in range(20 if DEEP else 1):
        beside = letters_to_both(tmp_path / f"beside-{seed}", random.Random(seed))
        for (command, letters), (_, others) in zip(alone, beside, strict=True):
            for letter, other in zip(letters, others, strict=True):
                assert letter.splitlines() == other.splitlines(), (seed, command)


def test_a_list_does_not_count_the_turns_of_the_last_racer(tmp_path: Path) -> None:
    with indoors(tmp_path) as world:
        begun(world)
        world.send(BOB, f"solve 1 bob {PASSWORD}")
        (before,) = world.send(CAROL, "games alice")
        world.send(ALICE, f"move 1 alice {PASSWORD} 1")
        (after,) = world.send(CAROL, "games alice")
    assert "alice to move" in before.text
    assert before.text == after.text
