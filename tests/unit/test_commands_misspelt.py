"""Misspelt commands that are understood or suggested, and words that are not commands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rows import rows

from pbmserv.commands.grammar.command_names import find_command
from pbmserv.commands.grammar.words import words_of
from pbmserv.commands.table.catalogue import (
    BY_NAME,
    BY_SYNONYM,
    MEANT_BY,
    command_meant,
    suggested_command,
)
from pbmserv.commands.table.row_types import Trait
from pbmserv.commands.table.spelling import is_misspelling

GAMES = {"blackbox": "Blackbox"}

UNDERSTOOD = {
    "accept": "accpet acept accetp",
    "away": "awya aawy",
    "back": "abck bakc",
    "broadcast": "brodcast boradcast broadcats",
    "challenge": "challange chalenge challege challnege chellenge",
    "change address": "chnage address, change adress, change addres",
    "change password": "chnage password, change pasword, pasword",
    "chat": "caht chta",
    "check": "chekc cehck chcek",
    "confirm": "confrim cofirm comfirm",
    "daily": "dialy daliy",
    "export": "exprot exoprt",
    "forgot": "forgto fogrot frogot",
    "games": "gamse gmaes",
    "help": "hlep hepl",
    "hint": "hitn hnit hinst",
    "history": "histroy hisotry histoy",
    "list": "lsit lits",
    "load": "laod",
    "message": "mesage massage messgae",
    "move": "mvoe moev moove omve",
    "notify": "notfiy noitfy",
    "prefs": "perfs prfes prefrences",
    "preview": "preveiw perview pre-view",
    "queue": "qeue quue",
    "ratings": "ratigns raitngs ratins",
    "record": "recrod reocrd recod",
    "redo": "reod",
    "reject": "rejcet rejetc",
    "rematch": "remacth rematach re-match",
    "replay": "repaly relpay",
    "report": "reprot repotr reoprt anaylse",
    "restart": "resart restrat",
    "save": "svae saev",
    "scores": "socres scroes",
    "seek": "seke sekk",
    "show": "shwo sohw hsow",
    "showas": "shwoas showsa",
    "signup": "singup signpu sigunp",
    "solo": "sollo soloo",
    "standings": "standigns stadnings",
    "submit": "submti sumbit submitt",
    "subscribe": "subscirbe subcribe subsribe",
    "undo": "unod udno",
    "unsubscribe": "unsubscirbe unsubcribe unsubsribe",
    "week": "wekk",
    "whoami": "whomai whoaim",
}
"""Words that people wrote for commands, all of which are done without a question."""

ASKED = {
    "challenge": "chalange",
    "daily": "dayly",
    "delete": "deltee delte dleete",
    "load": "lod",
    "queue": "queueu",
    "reject": "regect",
    "resign": "resing reisgn resgin rezign",
    "signoff": "singoff signof",
    "solve": "slove sovle",
}
"""Words that are not clear enough, or whose command cannot be taken back."""

NOT_COMMANDS = [
    # Userids and names of games.
    *("alice", "bob", "carol", "dave", "marc", "boris", "chet", "chad", "heidi", "liz", "saul"),
    *("blackbox", "chess", "hex", "house-hard", "go", "nim"),
    # Moves and parts of commands.
    *("a1", "b2", "13n", "+b2", "g,+b2", "/a1", "?1", "g", "14", "12#7", "-size=8x8", "next"),
    *("active", "until", "else", "pass", "swap", "propose", "draw"),
    # English words that are one edit away from a command, or nearly.
    *("love", "more", "mode", "moved", "movie", "shot", "slow", "snow", "shows", "shown", "lost"),
    *("last", "lists", "listen", "let", "seen", "see", "weak", "seeks", "heck", "checks", "chick"),
    *("held", "hell", "helps", "helped", "hand", "hit", "mint", "what", "that", "hat", "cheat"),
    *("bank", "pack", "lack", "black", "way", "sway", "awry", "say", "have", "gave", "saves"),
    *("road", "lead", "loan", "under", "undone", "dairy", "daisy", "game", "names"),
    *("except", "accent", "expert", "exports", "summit", "submits", "reply", "relay", "resort"),
    *("retort", "reports", "records", "recorded", "forget", "forgets", "stores", "cores"),
    *("messages", "passwords", "setting", "registers", "subscriber", "broadcasts", "restarts"),
    *("challenges", "challenged", "confirms", "confirmed", "signal", "notice", "project"),
]  # fmt: skip


def words_in(table: dict[str, str]) -> list[tuple[str, str]]:
    return [
        (word, name)
        for name, text in table.items()
        for word in (text.split(", ") if "," in text else text.split())
    ]


def command_of(line: str) -> str | None:
    head = find_command(words_of(line), GAMES)
    return head.row.name if head is not None and head.row is not None else None


@rows(("word", "name"), words_in(UNDERSTOOD))
def test_a_clear_misspelling_is_understood_without_a_question(word: str, name: str) -> None:
    assert command_of(f"{word} alice secret") == name
    assert command_of(f"blackbox {word.upper()} alice") == name


@rows(("word", "name"), words_in(ASKED))
def test_an_unclear_misspelling_is_asked_about(word: str, name: str) -> None:
    assert command_of(f"{word} alice secret") is None
    assert suggested_command(word) == name


@rows("word", [*NOT_COMMANDS, *MEANT_BY])
def test_other_words_are_not_taken_for_a_command(word: str) -> None:
    assert command_meant(word) is None
    assert command_of(f"{word} is nice") in {None, "help" if word in GAMES else None}


def test_no_name_or_synonym_is_a_misspelling_of_another_command() -> None:
    spellings = {**BY_NAME, **BY_SYNONYM}
    assert not [
        (word, name)
        for word, row in spellings.items()
        for name, other in spellings.items()
        if row is not other and is_misspelling(word, name)
    ]


@given(name=st.sampled_from(sorted(BY_NAME)), data=st.data())
def test_neighbours_that_change_places_are_understood_in_every_name(
    name: str, data: st.DataObject
) -> None:
    if len(name) < 4:
        return
    at = data.draw(st.integers(0, len(name) - 2))
    word = name[:at] + name[at + 1] + name[at] + name[at + 2 :]
    if word in BY_NAME or word.split() != word.split(" ") or word.count(" ") != name.count(" "):
        return
    row = command_meant(word)
    assert row is not None
    assert row is BY_NAME[name]
    is_final = Trait.FINAL in row.traits
    assert command_of(f"{word} alice secret") == (None if is_final else row.name)
