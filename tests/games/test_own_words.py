"""A game is explained in its own words: nothing of Blackbox reaches the players of another one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from asgi_client import load_all, site_of
from blackbox_alone import every_game
from examples import DEEP
from indoors import address_of, indoors
from rows import rows

from pbmserv.commands.help_topics import help_pages
from pbmserv.commands.table.catalogue import ROWS
from pbmserv.commands.table.row_types import Scope
from pbmserv.engine.registry import Registry
from pbmserv.games.tictactoe import TicTacToe
from pbmserv.testing.server import server
from pbmserv.views.environment import environment

BLACKBOX = re.compile(
    r"\b(?:black ?box|box(?:es)?|atoms?|ports?|markers?|seals?|rays?|reflections?|detours?"
    r"|probes?)\b",
    re.IGNORECASE,
)
OTHERS = sorted(entry.name for entry in every_game() if entry.name != "blackbox")
SOME = OTHERS if DEEP else ["battleships"]
"""Games that are asked alone; `test_played_by_mail` reads letters of all of them."""
SERVERS = [*([key] for key in SOME), OTHERS]
"""The games of servers without Blackbox: some alone, and all together."""
REPLIES = ("this is no move at all", "what does # mean?", "queue nonsense", "#", "report", "hint")
"""Words that are about boxes on a server with Blackbox."""
PAGES = (
    *("/", "/help", "/help/tutorial", "/help/moves", "/help/solo", "/help/event", "/help/proof"),
    *("/today", "/daily", "/hide", "/events", "/seeks", "/standings", "/players/anna"),
    *("/proof", "/game/1", "/signup", "/api/", "/nothing"),
)
NOT_THERE = ("/help/solo", "/today", "/daily", "/hide", "/nothing")


def rules_of(key: str) -> Any:
    (entry,) = [entry for entry in every_game() if entry.name == key]
    return entry.load()


def words_of_blackbox(text: str) -> list[str]:
    visible = re.sub(
        r"<(?:style|script).*?</(?:style|script)>|<[^>]*>|https?:\S+", " ", text, flags=16
    )
    return BLACKBOX.findall(visible)


@rows("keys", SERVERS, ids="+".join)
def test_help_is_about_the_games(keys: list[str]) -> None:
    infos = {game.info.key: game.info for game in Registry([rules_of(key) for key in keys])}
    titles = {key: info.title for key, info in infos.items()}
    for page in help_pages(titles, boxes=False):
        values = {"infos": infos, "info": infos.get(page.subject), **page.values}
        text = environment().get_template(page.template).render(values)
        assert not words_of_blackbox(text), page.subject
        assert page.subject in keys or max(map(len, text.splitlines())) <= 76, page.subject


class FirstVersion(TicTacToe):
    """Three in a row.

    These are the old rules.
    """

    key, bots = "versions", {}


class SecondVersion(FirstVersion):
    """Three in a row.

    These are the new rules.
    """

    version = 2


def test_help_explains_the_newest_version_of_a_game() -> None:
    with server(SecondVersion(), FirstVersion()) as mails:
        (letter,) = mails.send(mails.sign_up("anna"), "help versions")
    assert "These are the new rules." in letter.text


WRONG = ("{line}", "{line} 99", "{line} 1 anna wonder-land nonsense")
"""Wrong forms of each command."""


def test_no_refusal_s_example_names_a_game_that_is_not_here() -> None:
    """Players, guests and replies write each command in wrong forms to a server of two games.

    In a usual run, a player writes each command in one of the forms.
    """
    keys = ["hex", "liar"]
    anna = "anna@players.example"
    rules = [rules_of(key) for key in keys]
    with server(*rules) as mails:
        mails.challenge("hex", ["anna", "bela"])
        board = mails.newest(anna)
        names = [f"{keys[-1]} {row.name}" if row.scope is Scope.GAME else row.name for row in ROWS]
        if DEEP:
            lines = [form.format(line=name) for name in names for form in WRONG]
        else:
            lines = [WRONG[at % 3].format(line=name) for at, name in enumerate(names)]
        for at in range(0, len(lines), 12):
            mails.send(anna, "multiple", "\n".join(lines[at : at + 12]))
        for name in names[:: 1 if DEEP else 6]:
            mails.send("guest@elsewhere.example", name)
        for words in (*REPLIES, *(row.name for row in ROWS[:: 1 if DEEP else 6])):
            mails.reply(board, words)
        mails.send(anna, "events")
        letters = [letter.text + letter.html for letter in mails.letters]
    for letter in letters:
        quoted = re.sub(r"(?m)^.*(?:You wrote|Not done: ).*$", "", letter)
        assert not words_of_blackbox(quoted), letter
        for example in re.findall(r"(?m)^ *Try this: +(.*)$", letter):
            named = set(example.split()) & {entry.name for entry in every_game()}
            assert named <= set(keys), example


@pytest.mark.parametrize("keys", SERVERS, ids="+".join)
def test_pages_are_about_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: list[str]
) -> None:
    games = [rules_of(key) for key in keys]
    monkeypatch.setattr(Registry, "installed", classmethod(lambda cls: cls(games)))
    key = keys[-1]
    with indoors(tmp_path) as house:
        house.sign_up("anna", "bela")
        anna, bela = map(address_of, ("anna", "bela"))
        house.send(anna, f"{key} challenge anna wonder-land bela")
        (letter,) = [
            letter for letter in house.send(bela, "accept 1 bela wonder-land") if letter.seat == 0
        ]
        page = re.search(r"/b/[a-z2-7]+", letter.text)
        assert page is not None
        answers = load_all(site_of(house.server), *PAGES, f"/ladder/{key}", page[0])
    for path, answer in answers.items():
        assert answer.status == (404 if path in NOT_THERE else 200), path
        assert not words_of_blackbox(answer.body.decode()), path
