"""Somebody writes in a victim's name: the answers, which go to the victim, stay few and short."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from indoors import PASSWORD, Indoors, Posted, address_of, indoors

pytestmark = pytest.mark.slow

ALICE = address_of("alice")
VICTIM, MALLORY = "victim@v.example", "mallory@evil.example"
ELSEWHERE = "198.51.100.3"
LIMITS = {
    "rate_refusals": "5/hour; 10/day",
    "rate_answers": "5/hour; 12/day",
    "rate_confirmations": "2/day",
    "rate_resets": "1/day",
}
"""Like the limits of an operator who sets none, but smaller."""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Indoors]:
    """Alice and bob, and all limits on letters."""
    with indoors(tmp_path, signup="confirm", **LIMITS) as opened:
        opened.sign_up("alice", "bob")
        yield opened


def forged(
    server: Indoors, subject: str, body: str = "", *, author: str = VICTIM, peer: str = ELSEWHERE
) -> None:
    """Mallory's mail with somebody else's From, and an envelope sender that is never the same."""
    server.send_unread(f"m{server.mails}@evil.example", subject, body, From=author, peer=peer)


def kinds(letters: list[Posted], to: str = VICTIM) -> Counter[str]:
    return Counter(letter.kind for letter in letters if letter.recipient == to)


def lines(line: str, count: int) -> str:
    return "\r\n".join(line.format(n) for n in range(count))


def test_help_that_nobody_asked_for(server: Indoors) -> None:
    for n in range(8):
        forged(server, "help", f"different words {n}")
    assert kinds(server.letters()) == {"help": 5, "no-more-answers": 1}
    counted: Counter[str] = Counter()
    for _ in range(3):
        counted += kinds(server.live(hours=5))
        for n in range(6):
            forged(server, "list", f"still other words {n}")
        counted += kinds(server.letters())
    assert counted["list"] == 7  # 12 a day
    assert counted.total() <= 10


def test_refusals_and_answers_have_one_budget(server: Indoors) -> None:
    for n in range(8):
        forged(server, f"nonsense {n}")
        forged(server, "list", f"different words {n}")
    assert sum(kinds(server.letters()).values()) <= 6


def test_signups_in_somebody_s_name(server: Indoors) -> None:
    for n in range(8):
        forged(server, f"signup {'carol' if n % 2 else f'u{n}'} secret-word{n}")
    letters = server.letters()
    counted = kinds(letters)
    assert counted["confirm"] == 2
    assert sum(counted.values()) <= 2 + 6
    refusal = next(letter for letter in letters if letter.kind == "refusal")
    assert "to confirm something a few times today" in refusal.one_line
    assert "secret-word" not in refusal.text
    # In one mail, and with the victim among other addresses.
    forged(server, "multiple", lines("signup w{} secret-word", 50))
    forged(server, "multiple", lines("signup v{} secret-word " + VICTIM, 50), author=MALLORY)
    assert kinds(server.letters())["confirm"] == 0
    server.live(days=1)
    forged(server, "multiple", lines("signup x{} secret-word", 50))
    (report, *questions) = sorted(server.letters(), key=lambda letter: letter.kind != "summary")
    assert set(kinds(questions)) == {"confirm"}
    assert kinds(questions)["confirm"] <= 2
    assert len(report.raw) < 60_000


def test_new_passwords_that_the_player_did_not_ask_for(server: Indoors) -> None:
    answers = set()
    for n in range(4):
        forged(server, "forgot alice", f"{n}", author=f"x{n}@evil.example")
        forged(server, "forgot lewis", f"{n}", author=f"y{n}@evil.example")
    letters = server.letters()
    assert kinds(letters, ALICE) == {"reset": 1}
    for letter in letters:
        if letter.recipient != ALICE:
            answers.add(letter.text.replace("alice", "lewis"))
    assert len(answers) == 1  # also when the player gets no letter any more
    assert sum(letter.recipient != ALICE for letter in letters) == 8
    forged(server, "multiple", lines("forgot alice", 50))
    assert kinds(server.letters(), ALICE) == {}
    # Asked for in her own name, too; the letters that she has do what they say.
    forged(server, "forgot alice", author=ALICE)
    assert kinds(server.letters(), ALICE) == {"reset-sent": 1}
    first = next(letter for letter in letters if letter.kind == "reset")
    assert {letter.kind for letter in server.reply(first, "password better-one")} == {
        "password-changed"
    }


def test_a_report_is_never_long(server: Indoors) -> None:
    forged(server, "multiple", lines("help", 50))
    (same,) = server.letters()
    assert len(same.raw) < 30_000
    assert same.text.count("(see 1)") == 49
    words = ("help", "help move", "help commands", "help signup", "help blackbox", "help replies")
    forged(server, "multiple", "\r\n".join([*words, *(f"help {word} prefs" for word in words)]))
    (long,) = server.letters()
    assert len(long.raw) < 60_000
    assert "(not shown)" in long.text
    assert "send that line again in a mail of its own" in long.one_line
    forged(server, "multiple", lines("help x{0} y{0} z{0} v{0} w{0}", 50))
    (unknown,) = server.letters()
    assert len(unknown.raw) < 60_000


def test_a_player_at_home_is_not_silenced_by_a_forger(server: Indoors) -> None:
    """Her password was right from there; his mails come from elsewhere."""

    def writes(subject: str, body: str = "") -> Counter[str]:
        forged(server, subject, body, author=ALICE, peer="192.0.2.7")
        return kinds(server.letters(), ALICE)

    assert writes(f"prefs alice {PASSWORD}") == {"prefs": 1}
    for n in range(8):
        forged(server, "list", f"{n}", author=ALICE)
    assert kinds(server.letters(), ALICE) == {"list": 5, "no-more-answers": 1}
    for n in range(8):
        assert writes(f"prefs alice {PASSWORD}", f"{n}") == {"prefs": 1}
    # Her envelope's sender is the same each time, as a mail program's is.
    for n in range(8):
        for subject, kind in ((f"prefs alice {PASSWORD}", "prefs"), ("list", "list")):
            letters = server.send(ALICE, subject, f"h{n}", peer="192.0.2.7")
            assert kinds(letters, ALICE) == {kind: 1}
