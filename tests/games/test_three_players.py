"""Games of three or more go on without a player who leaves, and what is drawn then stays secret."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from blackbox_alone import every_game
from indoors import PASSWORD, Indoors, address_of, indoors

from pbmserv.engine import registry
from pbmserv.engine.adapter import adapted
from pbmserv.engine.position import opening
from pbmserv.engine.record import GameRecord
from pbmserv.engine.types import Move, Seat
from pbmserv.games import liar

NAMES = ("alice", "bob", "carol")


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Indoors]:
    """A house with a board of three, at which alice has bid."""
    monkeypatch.setattr(registry, "announced", every_game)
    with indoors(tmp_path) as house:
        house.sign_up(*NAMES)
        house.send(address_of("alice"), f"liar challenge alice {PASSWORD} bob carol")
        for name in ("bob", "carol"):
            house.send(address_of(name), f"liar accept 1 {name} {PASSWORD}")
        house.send(address_of("alice"), f"liar move 1 alice {PASSWORD} 2 twos")
        yield house


def test_nobody_can_know_the_dice_that_are_rolled_after_a_player_has_left() -> None:
    """They come from the secret seed of the board, and not from numbers that everybody has."""
    game = adapted(liar.GAME)
    rolled = set()
    for seed in (b"one", b"two", b"three"):
        position = opening(game, GameRecord("liar", 1, 3, (), seed * 8))
        position = position.move(Seat(0), Move("2 twos")).withdraw(Seat(1))
        rolled.add(position.state.state.dice)
        again = opening(game, GameRecord("liar", 1, 3, (), seed * 8))
        again = again.move(Seat(0), Move("2 twos")).forfeit(Seat(1))
        assert again.state.state.dice == position.state.state.dice, "by the ply alone"
    assert len(rolled) == 3


def test_a_group_need_not_name_its_writer(house: Indoors) -> None:
    letters = house.send(address_of("alice"), "liar challenge bob carol")
    kinds = {letter.recipient.partition("@")[0]: letter.kind for letter in letters}
    assert kinds == {"alice": "challenged", "bob": "challenge", "carol": "challenge"}
    (refusal,) = house.send(address_of("alice"), "chess challenge bob carol")
    assert "You can challenge only for yourself" in refusal.one_line
    letters = house.send(address_of("alice"), "blackbox challenge bob carol -race")
    assert len(letters) == 3


def test_three_who_seek_are_all_named(house: Indoors) -> None:
    for name in NAMES:
        letters = house.send(address_of(name), f"liar seek {name} {PASSWORD} 3")
    (letter,) = [letter for letter in letters if letter.recipient == address_of("bob")]
    assert " were all looking for Liar's dice" in letter.one_line


def test_others_who_have_begun_go_on_without_a_player_who_has_not_moved(house: Indoors) -> None:
    letters = house.send(address_of("carol"), f"liar resign 1 carol {PASSWORD}")
    kinds = {letter.recipient.partition("@")[0]: letter.kind for letter in letters}
    assert kinds == dict.fromkeys(NAMES, "board")
    house.send(address_of("bob"), f"liar move 1 bob {PASSWORD} 3 twos")
    (show,) = house.send(address_of("alice"), "liar show 1")
    assert "To move: alice." in show.one_line


def test_others_who_have_begun_go_on_without_a_player_who_is_late(house: Indoors) -> None:
    house.send(address_of("bob"), f"liar move 1 bob {PASSWORD} 3 twos")
    letters = house.live(days=20) + house.live(days=3) + house.live(days=3)
    texts = [letter.one_line for letter in letters if letter.recipient == address_of("alice")]
    assert "carol took too long." in texts[0]
    assert "will not be played" not in texts[0]


def test_days_are_given_to_the_player_whose_move_it_is(house: Indoors) -> None:
    letters = house.send(address_of("alice"), f"liar give 1 alice {PASSWORD} 3d")
    lines = {letter.recipient.partition("@")[0]: letter.one_line for letter in letters}
    assert set(lines) == {"alice", "bob"}
    assert "You gave bob 3 more days on board 1, and we have told bob." in lines["alice"]
    assert "alice gives you 3 more days on board 1." in lines["bob"]


def test_a_bank_of_days_is_given_to_all_opponents(house: Indoors) -> None:
    line = f"liar challenge alice {PASSWORD} bob carol --totaltime=30"
    house.send(address_of("alice"), line)
    for name in ("bob", "carol"):
        house.send(address_of(name), f"liar accept 2 {name} {PASSWORD}")
    house.send(address_of("alice"), f"liar move 2 alice {PASSWORD} 2 twos")
    letters = house.send(address_of("alice"), f"liar give 2 alice {PASSWORD} 3d")
    assert "You gave bob and carol 3 more days" in letters[0].one_line
    assert len(letters) == 3


def test_a_board_that_was_called_off_is_nobody_s_move(house: Indoors) -> None:
    house.send(address_of("alice"), f"liar challenge alice {PASSWORD} bob carol")
    for name in ("bob", "carol"):
        house.send(address_of(name), f"liar accept 2 {name} {PASSWORD}")
    house.send(address_of("bob"), f"liar resign 2 bob {PASSWORD}")
    letters = house.send(address_of("bob"), f"chat 2 bob {PASSWORD}", "Sorry, no time.")
    talks = [letter for letter in letters if letter.kind == "chat"]
    assert len(talks) == 2
    assert not [talk for talk in talks if "your move" in talk.text]


def test_a_player_who_is_out_is_told_so_and_not_how_to_move(house: Indoors) -> None:
    house.send(address_of("alice"), f"liar challenge alice {PASSWORD} bob carol -dice=1")
    for name in ("bob", "carol"):
        house.send(address_of(name), f"liar accept 2 {name} {PASSWORD}")
    house.send(address_of("alice"), f"liar move 2 alice {PASSWORD} 1 six")
    for name in ("bob", "carol", "alice"):
        letters = house.send(address_of(name), f"liar move 2 {name} {PASSWORD} liar")
        out = [letter for letter in letters if "You are out of the game." in letter.one_line]
        if out:
            break
    (letter,) = out
    name = letter.recipient.partition("@")[0]
    assert "You are out of this game, and the others go on." in letter.text
    assert "Your next move" not in letter.text
    for line, refusal in (
        ("3 fives", '"3 fives" cannot be played now: you are out of this game.'),
        ("roll", '"roll" is not a move of Liar\'s dice. You are out of this game.'),
        ("resign", '"resign" cannot be played now: you are out of this game.'),
        ("queue 3 fives", "You are out of the game on board 2, so no turn of yours will come."),
    ):
        (answer,) = house.reply(letter, line)
        assert answer.recipient == address_of(name)
        assert refusal in answer.one_line, line


def test_a_silent_newcomer_does_not_end_the_game_of_others_who_have_begun(house: Indoors) -> None:
    house.send(address_of("bob"), f"liar move 1 bob {PASSWORD} 3 twos")
    house.live(days=15)
    for end in ("", " abort", " draw"):
        (refusal,) = house.send(address_of("alice"), f"liar claim 1 alice {PASSWORD}{end}")
        assert "one of them cannot end it for the others" in refusal.one_line
    house.send(address_of("carol"), f"liar move 1 carol {PASSWORD} 4 twos")
    (show,) = house.send(address_of("alice"), "liar show 1")
    assert "To move: alice." in show.one_line
