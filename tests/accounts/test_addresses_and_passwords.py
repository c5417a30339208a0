"""Changing where letters go and what the password is, and who hears of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from indoors import HandedIn, indoors
from running import Correspondence, Letter, MovableClock

pytestmark = pytest.mark.slow

WORK, HOME, PHONE = "alice@work.example", "alice@home.example", "alice@phone.example"


def changing(server: Correspondence, *to: str) -> dict[str, Letter]:
    """Ask for a change of address; the letters it leads to, by their recipients."""
    server.send("alice@players.example", f"change address alice secret {' '.join(to)}")
    return by_address(server)


def by_address(server: Correspondence) -> dict[str, Letter]:
    new_letters = server.letters()
    letters = {str(letter.message["To"]): letter for letter in new_letters}
    assert len(letters) == len(new_letters), [
        (str(f.message["To"]), f.subject) for f in new_letters
    ]
    return letters


def test_the_first_new_address_to_answer_takes_the_place_of_the_old_ones(
    server: Correspondence,
) -> None:
    old = server.sign_up("alice")
    bob = server.sign_up("bob")
    server.send(old, "blackbox challenge alice bob")
    board = by_address(server)[old]

    letters = changing(server, HOME, PHONE)
    assert set(letters) == {old, HOME, PHONE}
    assert letters[HOME].subject == "Is this your address, alice?"
    assert "to go to alice@home.example, and to add alice@phone.example." in letters[old].one_line
    assert 'reply "reject"' in letters[old].text

    # Until somebody answers there, everything is as before; and who reads a letter that came to
    # an address that was only named cannot speak for alice.
    server.reply(letters[HOME], "games")
    assert "who you are" in server.letter(HOME).text
    server.send(old, "forgot alice")
    assert server.letter(old).subject == "A new password for alice"

    server.reply(letters[PHONE], "yes")
    goodbye = server.letter(old)
    assert goodbye.subject == "Letters to alice no longer come here"
    assert "postmaster@games.example" in goodbye.text
    assert [f.subject for f in server.letters(PHONE)] == [
        "Your address was changed, alice",
        "Your move: Blackbox 1 against bob",
    ]

    # Letters in the old mailbox are dead; the board came anew to where letters go now.
    server.reply(board, "resign", sender=old)
    assert "no longer valid" in server.letter(old).one_line

    # The one that was named first gets them from when it answers.
    server.reply(letters[HOME], "yes", sender=HOME)
    assert server.letter(HOME).subject == "Your address was changed, alice"
    server.reply(letters[HOME], "yes", sender=HOME)
    assert "nothing left to decide" in server.letter(HOME).text
    server.send(bob, "message bob secret alice", "Hello!")
    assert {str(f.message["To"]) for f in server.letters()} == {bob, HOME}


def test_the_old_address_can_stop_it(server: Correspondence) -> None:
    old = server.sign_up("alice")
    letters = changing(server, HOME)
    server.reply(letters[old], "what is this?")
    assert 'nothing but "reject"' in server.letter(old).one_line
    server.reply(letters[old], "reject")
    assert server.letter(old).subject == "Your address stays, alice"
    server.reply(letters[old], "reject")
    assert "nothing left to decide" in server.letter(old).text
    server.reply(letters[HOME], "yes")
    assert "nothing left to decide" in server.letter(HOME).text

    # Whoever gets such a letter by mistake can say so, too.
    letters = changing(server, HOME)
    server.reply(letters[HOME], "reject")
    assert server.letter(HOME).subject == "Not the address of alice"
    server.reply(letters[HOME], "yes")
    assert "nothing left to decide" in server.letter(HOME).text


def test_one_address_more_and_one_less(server: Correspondence) -> None:
    old = server.sign_up("alice")
    letters = changing(server, old, HOME)
    assert "becomes one of yours" in letters[old].text
    server.reply(letters[HOME], "yes")
    assert server.letter(old).subject == "Your address was changed, alice"
    assert not server.letters(HOME)

    # Both are confirmed, so that one of them goes needs no question.
    letters = changing(server, HOME)
    assert letters[HOME].subject == "Your address was changed, alice"
    assert letters[old].subject == "Letters to alice no longer come here"
    server.send(HOME, f"change address alice secret {HOME}")
    assert "go to alice@home.example already" in server.letter(HOME).text

    server.send(HOME, "prefs alice secret")
    server.reply(server.letter(HOME), f"change address {PHONE}")
    assert "Not done" in server.letter(HOME).text
    assert PHONE not in {str(f.message["To"]) for f in server.letters()}


def test_a_new_password_is_told_to_every_address_once(server: Correspondence) -> None:
    old = server.sign_up("alice")
    letters = changing(server, old, HOME)
    server.reply(letters[HOME], "yes")
    server.letters()
    waiting = changing(server, PHONE)

    server.send(WORK, "change password alice secret better-one")
    new_letters = by_address(server)
    assert set(new_letters) == {old, HOME}
    assert all(f.subject == "Your new password, alice" for f in new_letters.values())
    assert "better-one" not in "".join(f.text + f.html for f in new_letters.values())
    # Who asked for the other address may have known the old password.
    server.reply(waiting[PHONE], "yes")
    assert "nothing left to decide" in server.letter(PHONE).text

    server.send(old, "forgot alice")
    server.reply(server.letter(old), "password best-one")
    assert set(by_address(server)) == {old, HOME}
    server.send(old, "prefs alice best-one")
    assert server.letter(old).subject == "Your preferences, alice"


REFUSED = "The userid and password do not match."


def test_guesses_are_slowed_down_and_nothing_tells_it(server: Correspondence) -> None:
    alice = server.sign_up("alice")
    thief = "thief@elsewhere.example"
    for userid in ("alice", "nobody"):
        answers = set()
        for number in range(8):
            server.send(thief, f"prefs {userid} guess-{number}")
            answers.add(without_dates(server.letter(thief)))
        assert len(answers) == 1
        assert REFUSED in answers.pop()

    # Even the right one is not looked at now, and the answer is the same.
    server.send(thief, "prefs alice secret")
    assert REFUSED in server.letter(thief).text
    assert not server.letters(alice)
    # The player is not locked out, neither by password nor by reply.
    server.send(alice, "prefs alice secret")
    letter = server.letter(alice)
    assert letter.subject == "Your preferences, alice"
    server.reply(letter, "games")
    assert server.letter(alice)

    clock = server.server.clock
    assert isinstance(clock, MovableClock)
    clock.move(minutes=10)
    server.send(thief, "prefs alice secret")
    assert server.letter(alice).subject == "Your preferences, alice"


def without_dates(letter: Letter) -> str:
    return letter.subject + letter.text + letter.html


def test_several_addresses_at_signup(tmp_path: Path) -> None:
    with indoors(tmp_path, signup="confirm") as house:
        server = HandedIn(house)
        server.send(WORK, f"signup alice secret {HOME} {PHONE}")
        letters = by_address(server)
        assert set(letters) == {WORK, HOME}
        server.reply(letters[HOME], "yes")
        letters = by_address(server)
        assert set(letters) == {HOME, PHONE}
        assert letters[HOME].subject == "Welcome, alice"
        server.reply(letters[PHONE], "yes")
        server.letters()
        server.send(PHONE, "forgot alice")
        assert {str(f.message["To"]) for f in server.letters()} == {HOME, PHONE}
        server.send(WORK, "signup gone-12 secret")
        assert "Nobody can have" in server.letter(WORK).text


def test_names_and_passwords_of_examples_are_nobody_s(server: Correspondence) -> None:
    """The button on the first page writes such a letter, and some send it as it stands."""
    dave = "dave@players.example"
    server.send(dave, "signup yourname password")
    refused = server.letter(dave)
    assert 'Nobody can have "yourname" as a userid' in refused.one_line
    assert "signup dave PASSWORD" in refused.text
    server.send(dave, "signup dave Password")
    assert 'The word "password" in our examples stands for' in server.letter(dave).one_line

    alice = server.sign_up("alice")
    server.send(alice, "forgot alice")
    reset = server.letter(alice)
    server.reply(reset, "password NEWPASSWORD")
    assert "password of your own" in server.letter(alice).one_line
    server.reply(reset, "password cat-and-hat")
    assert server.letter(alice).subject == "Your new password, alice"
