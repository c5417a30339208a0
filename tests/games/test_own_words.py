"""A game is explained in its own words: nothing of Blackbox reaches the players of another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from asking_pages import all_asked, site_of
from indoors import address_of, indoors
from one_game import every_game

from pbmserv.commands.help_topics import topic
from pbmserv.engine.registry import Registry
from pbmserv.testing.server import server
from pbmserv.views.environment import environment

BLACKBOX = re.compile(
    r"\b(?:black ?box|atoms?|ports?|markers?|seals?|rays?|reflections?|detours?|probes?)\b",
    re.IGNORECASE,
)
HELP = ("moves", "queue", "tutorial", "challenge", "house", "times", "replies", "digest", "move")
OTHERS = sorted(entry.name for entry in every_game() if entry.name != "blackbox")
MOVES = {"battleships": "random", "liar": "2 threes", "chess": "e4", "connect4": "D"}


def rules_of(key: str) -> Any:
    (entry,) = [entry for entry in every_game() if entry.name == key]
    return entry.load()


def words_of_blackbox(text: str) -> list[str]:
    visible = re.sub(
        r"<(?:style|script).*?</(?:style|script)>|<[^>]*>|https?:\S+", " ", text, flags=16
    )
    return BLACKBOX.findall(visible)


@pytest.mark.parametrize("key", OTHERS)
def test_help_is_about_the_game(key: str) -> None:
    (game,) = Registry([rules_of(key)])
    for subject in (*HELP, key):
        page = topic(subject, [key])
        values = {**page.values, "infos": {}, "info": game.info}
        text = environment().get_template(page.template).render(values)
        assert not words_of_blackbox(text), subject
        assert subject == key or max(map(len, text.splitlines())) <= 76, subject


@pytest.mark.parametrize("key", OTHERS)
def test_letters_are_about_the_game(key: str) -> None:
    with server(rules_of(key)) as mails:
        mails.challenge(key, ["anna", "bela"])
        mails.reply(mails.newest("anna@players.example"), MOVES.get(key, "b2"))
        mails.reply(mails.newest("anna@players.example"), "this is no move at all")
        mails.reply(mails.newest("anna@players.example"), "resign")
        letters = [letter.text + letter.html for letter in mails.letters]
    assert len(letters) > 5
    for letter in letters:
        assert not words_of_blackbox(letter), letter


@pytest.mark.parametrize("key", ["connect4", "battleships"])
def test_pages_are_about_the_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    rules = rules_of(key)
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls([rules])))
    with indoors(tmp_path) as house:
        house.sign_up("anna", "bela")
        anna, bela = map(address_of, ("anna", "bela"))
        house.send(anna, f"{key} challenge anna wonder-land bela")
        (letter,) = [one for one in house.send(bela, "accept 1 bela wonder-land") if one.seat == 0]
        page = re.search(r"/b/[a-z2-7]+", letter.text)
        assert page is not None
        # Not "/help": its list has the commands for solo games, all of which are Blackbox.
        paths = ("/", "/help/tutorial", "/help/moves", "/standings", "/players/anna")
        answers = all_asked(site_of(house.server), *paths, page[0])
    for path, answer in answers.items():
        assert answer.status == 200, path
        assert not words_of_blackbox(answer.body.decode()), path
