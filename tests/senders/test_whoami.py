"""A proven sender learns which players have the address; nobody else does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from dns_zone import Zone
from indoors import PASSWORD, Indoors, Posted, address_of, indoors
from signing import DOMAIN, publish, writes


@pytest.fixture
def house(tmp_path: Path) -> Iterator[Indoors]:
    """Yield a house with alice and bob, whose domain signs mails."""
    zone = Zone()
    publish(zone, DOMAIN)
    with indoors(tmp_path, names=zone) as house:
        house.sign_up("alice", "bob")
        yield house


def answer(house: Indoors, who: str, subject: str, *, sign: bool = True) -> Posted:
    """Return the only answer to a mail."""
    (letter,) = writes(house, who, subject, sign=sign)
    return letter


def test_a_proven_sender_gets_the_players_of_the_address(house: Indoors) -> None:
    text = answer(house, "alice", "whoami").one_line
    assert "so it proves who wrote it" in text
    assert "Players with the address of this mail: alice." in text
    assert "leave the password of these players out" in text
    assert "bob" not in text
    text = answer(house, "lewis", "whoami").one_line
    assert "No player has the address of this mail." in text


def test_a_proven_sender_needs_no_password(house: Indoors) -> None:
    for subject in ("whoami alice", "whoami alice -"):
        text = answer(house, "alice", subject).one_line
        assert "You speak as alice: the mail proves to come from an address of theirs." in text
    assert answer(house, "alice", "whoami bob").kind == "refusal"


def test_without_proof_a_player_s_address_is_like_any_other(house: Indoors) -> None:
    player = answer(house, "alice", "whoami", sign=False)
    stranger = answer(house, "zelda", "whoami", sign=False)
    for text, other in ((player.text, stranger.text), (player.html, stranger.html)):
        assert text.replace("alice@", "zelda@") == other.replace("alice@", "zelda@")
    assert player.subject == stranger.subject


def test_an_answer_to_somebody_else_names_no_players_of_the_sender(house: Indoors) -> None:
    letter = answer(house, "bob", f"whoami alice {PASSWORD}")
    assert letter.recipient == address_of("alice")
    assert "Players with the address" not in letter.one_line


def test_a_letter_from_before_a_reset_proves_nothing(house: Indoors) -> None:
    letters = house.send(address_of("alice"), f"prefs alice {PASSWORD}")
    (reset,) = house.send(address_of("alice"), "forgot alice")
    house.reply(reset, "password another-word")
    (letter,) = house.reply(letters[0], "whoami")
    assert letter.kind == "refusal"
    assert "You speak as" not in letter.text
